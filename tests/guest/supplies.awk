# SPDX-License-Identifier: MIT
#
# supplies.awk: do both supplies go off while the system sleeps?  From a GPU's event log: the
# card's is off in no other time, and the GPU's power input has to be off at some moment of it.
# Runtime PM leaves the card its supply.
#
# Prints each sleep in which the input stayed on, or that there was no sleep.  With `from`, the
# text of a mark, only those up to the next mark count.

BEGIN { looking = from == "" }
from != "" && /"event": "mark"/ { looking = index($0, "\"text\": \"" from "\"") > 0 }

looking && /"event": "card_power"/ {
	if (/"change": "off"/) {
		asleep = 1
		off = input_off
		sleeps++
	} else if (asleep) {
		if (!off)
			print "POWER_IN stayed on in sleep " sleeps
		asleep = 0
	}
}
/"event": "clock"/ {
	input_off = /"power_in": 0/
	if (input_off)
		off = 1
}

END {
	if (!sleeps)
		print "the card's supply never went off"
}
