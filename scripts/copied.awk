# SPDX-License-Identifier: MIT
#
# copied.awk: how many copies the card's mover ended, and how many bytes they moved.
#
# usage: awk -v side=src|dst [-v length_is=BYTES] -f scripts/copied.awk EVENTS
#
# EVENTS is the GPU's log; VRAM is on that side of the copies: src, what left it, or dst, what came
# into it.  With length_is only copies of that length count.

BEGIN {
	vram = "\"" side "\": \"0x80"
	long_enough = "\"len\": " (length_is ? length_is : "[0-9]+") ","
}

/"event": "mover_end".*"op": "COPY".*"ended": "done"/ && index($0, vram) && $0 ~ long_enough {
	n++
	sub(/.*"len": /, "")
	bytes += $0 + 0
}

END { printf "%d %.0f\n", n, bytes }
