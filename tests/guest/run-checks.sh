#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run-checks.sh: what a suite asks of the GPU's logs and of the display, after its programs have
# ended.  Source it at the end of run.sh.

case $suite in
two* | swiotlb-two)
	echo "1..1"
	disorder=$(for log in $logs; do awk -v turns=1000 -f tests/guest/address.awk \
		-f tests/guest/turns.awk "$log"; done)
	if [ -z "$disorder" ]; then
		echo "ok 1 - both GPUs took all turns in their order"
	else
		echo "$disorder" | sed 's/^/# /'
		echo "not ok 1 - both GPUs took all turns in their order"
	fi ;;
esac
# The display has shown each frame that a test named: those of one name are the same
# picture, and those of different names are not.
frames_right()
{
	sed -n 's/^# frame //p' "$console.out" >"$console.names"
	(cd "$frames" && cksum frame-*.png) | awk '{ print $1, $2 }' >"$console.sums"
	paste "$console.names" "$console.sums" | awk -F '\t' '
		$1 == "" || $2 == "" { print "# frame " NR ": \"" $1 "\" or its picture is missing"; bad = 1 }
		!($1 in sum) && $2 in name { print "# frame " NR " is " name[$2] ", not " $1; bad = 1 }
		$1 in sum && sum[$1] != $2 { print "# frame " NR " is not " $1; bad = 1 }
		{ sum[$1] = $2; name[$2] = $1 }
		END { exit bad || NR < '"$1"' }'
}

# The table of the card is the same in all checksums of it.
table_same()
{
	sed -n 's/^# crc //p' "$console.out" | sort | uniq -c | awk '{ n += $1 } END { exit NR != 1 || n != 2 }'
}

supplies_off()
{
	awk -f tests/guest/supplies.awk "$console.events" >"$console.supplies"
	[ -s "$console.supplies" ] || return 0
	head -n 5 "$console.supplies" | sed 's/^/# /'
	return 1
}

case $suite in
flips | moves*)
	echo "1..1"
	points=0
	point "the display showed what the tests say" frames_right 70 ;;
gpu-off)
	echo "1..1"
	points=0
	point "the display showed what the tests say" frames_right 8 ;;
suspend*)
	echo "1..3"
	points=0
	point "the display showed what the tests say" frames_right 20
	point "the table is what it was" table_same
	point "both supplies were off while the system slept" supplies_off ;;
esac
if [ "$suite" = reset ]; then
	# Probe and removal make one each.
	echo "1..1"
	if [ "$(grep -c '"event": "reset"' "$console.events")" -gt 2 ]; then
		echo "ok 1 - the GPU was reset while the driver ran"
	else
		echo "not ok 1 - the GPU was reset while the driver ran"
	fi
fi
# What the kernel says about operating points, except for what it says without a device tree to
# every driver (agate_devfreq.c).
no_opp_errors()
{
	! grep -E 'agate [0-9a-f:.]*: .*(_opp_|OPP)' "$console" |
		grep -v '_allocate_opp_table: Error finding interconnect paths: -95'
}

if [ "$suite" = dvfs ]; then
	echo "1..4"
	# Every setting of clock or supply, one a line; not those of the power input.
	awk -F '[:,}]' '/"event": "clock"/ && $10 == on { print $6 + 0, $8 + 0 }
		/"event": "clock"/ { on = $10 }
		/"text": "changing"/ { print "changing" }
		BEGIN { on = " 1" }' "$console.events" >"$console.clock"
	point "no change by a governor with one frequency" \
		[ "$(head -n 1 "$console.clock")" = changing ]
	sed -i /changing/d "$console.clock"
	# The millivolts that each frequency needs.
	need='BEGIN { need[200] = 650; need[400] = 750; need[600] = 850; need[800] = 1000 }'
	point "each frequency always has its voltage" awk "$need"'
		!($1 in need) || $2 < need[$1] { print "# " $0; bad = 1 }
		END { exit bad || NR < 20 }' "$console.clock"
	# One change after the other: of the voltage alone, or of the frequency alone.  The frequency
	# rises when the voltage has risen to what the new one needs, and falls while there is still
	# what the old one needs: so a voltage never falls before its frequency does.
	point "up by voltage and then frequency, down the other way" awk "$need"'
		BEGIN { mhz = 800; mv = 1000 }
		$1 != mhz && $2 != mv { print "# " mhz " " mv " to " $0 " at once"; bad = 1 }
		$1 > mhz && mv != need[$1] { print "# up to " $1 " MHz with " mv " mV"; bad = 1 }
		$1 < mhz && mv != need[mhz] { print "# down from " mhz " MHz with " mv " mV"; bad = 1 }
		$1 > mhz { up++ }
		$1 < mhz { down++ }
		{ mhz = $1; mv = $2 }
		END { exit bad || up < 5 || down < 5 }' "$console.clock"
	point "no error about operating points" no_opp_errors
fi
# What the driver says about the power, the GPU says, too.
power_switched()
{
	[ "$(grep -c "\"event\": \"clock\".*\"power_in\": $1" "$console.events")" -gt 20 ]
}
if [ "$suite" = power ]; then
	echo "1..2"
	points=0
	point "the power input was switched off again and again" power_switched 0
	point "the power input was switched on again and again" power_switched 1
fi
# The GPU's log has the BOs that leave in the order that the program expects.
victims()
{
	grep '^# range ' "$console.out" >"$console.ranges"
	awk -f tests/guest/address.awk -f tests/guest/victims.awk "$console.ranges" \
		"$console.events" >"$console.left"
	grep '^# [a-z_]*: leave' "$console.out" | diff - "$console.left" >"$console.diff" && return
	sed 's/^/# /' "$console.diff"
	return 1
}

if [ "$suite" = victims ]; then
	echo "1..1"
	points=0
	point "the log has those that leave, and the way to them" victims
fi
