#!/bin/sh
# SPDX-License-Identifier: MIT
#
# demo.sh: the demo's picture and event log, as TAP.
#
# usage: tests/demo.sh
#
# Runs the demo twice.  The picture must be big enough, the same bytes both
# times and the same as the model draws without any driver; the event log must
# be readable, show every page fault of the heap and every job, and have them in
# the same order both times.  Then it runs once for every other kind of GPU, of
# coherency and of memory: the same picture, and no rule broken.
set -u
. tests/tap.sh

BUILD=${BUILD:-build}

# holds NAME COMMAND...: one test.
holds()
{
	name=$1
	shift
	"$@"
	result $? "$name"
}

run_demo()
{
	scripts/demo.sh "$BUILD/tests/demo-$1"
}

big_enough()
{
	# Width and height are the first two words of the IHDR chunk, big-endian.
	set -- $(od -An -j16 -N8 -t u1 "$BUILD/tests/demo-1/gem.png")
	[ "$#" = 8 ] && [ $(($3 * 256 + $4)) -ge 512 ] && [ $(($7 * 256 + $8)) -ge 512 ]
}

# Jobs and faults, in order, without their times.  A fault that a flush made the
# GPU try again too early (fault_again) is the same fault: how often that happens
# depends on when the driver flushes for something else.
what_happened()
{
	grep -E '"event": "(fault|fault_resumed|job_start|job_end|chain_start|chain_end)"' \
		"$BUILD/tests/demo-$1/events.jsonl" | sed -E 's/"time": [0-9]+, //'
}

same_order()
{
	what_happened 1 >"$BUILD/tests/demo-1/order"
	what_happened 2 >"$BUILD/tests/demo-2/order"
	[ -s "$BUILD/tests/demo-1/order" ] &&
		diff "$BUILD/tests/demo-1/order" "$BUILD/tests/demo-2/order" | head -n 20 &&
		cmp -s "$BUILD/tests/demo-1/order" "$BUILD/tests/demo-2/order"
}

# Every fault is resumed, and at least one is the heap's.
faults_served()
{
	faults=$(grep -c '"event": "fault"' "$BUILD/tests/demo-1/events.jsonl")
	resumed=$(grep -c '"event": "fault_resumed"' "$BUILD/tests/demo-1/events.jsonl")
	echo "# $faults faults, $resumed resumed"
	[ "$faults" -ge 1 ] && [ "$faults" = "$resumed" ]
}

# As many jobs end as begin, and each line is an object with a time and an event.
readable()
{
	log=$BUILD/tests/demo-1/events.jsonl
	begun=$(grep -c '"event": "job_start"' "$log")
	ended=$(grep -c '"event": "job_end"' "$log")
	odd=$(grep -cvE '^\{"time": [0-9]+, "event": "[a-z_]+"(, "[a-z_]+": ("[^"]*"|[0-9]+))*\}$' "$log")
	echo "# $begun jobs begun, $ended ended, $odd lines not understood"
	[ "$begun" -ge 2 ] && [ "$begun" = "$ended" ] && [ "$odd" = 0 ]
}

no_hint()
{
	[ -s "$BUILD/tests/demo-$1/events.jsonl" ] &&
		! grep '"event": "hint"' "$BUILD/tests/demo-$1/events.jsonl"
}

# It opens in Perfetto, and the tracks are there that a person looks for.
trace_opens()
{
	"$BUILD/tests/host/sim/check-trace" "$BUILD/tests/demo-1/trace.json" "slot 0" "slot 1" \
		"address space 0" faults flushes "power and resets" interrupts "cores on" \
		"memory traffic (bytes)"
}

# Both maps show what is known of the demo: a heap that grew by 2 MiB a fault.
map_readable()
{
	txt=$BUILD/tests/demo-1/map.txt svg=$BUILD/tests/demo-1/map.svg
	grep -q 'lines were not understood' "$txt" && return 1
	[ "$(grep -c 'TRANSLATION_FAULT.*served after' "$txt")" = "$faults" ] &&
		[ "$(grep -c 'circle class="fault".*served after' "$svg")" = "$faults" ] &&
		grep -q 'pages of 4 KiB' "$txt" && grep -q 'level 3 at 0x' "$txt" &&
		grep -q 'Residency' "$txt" && grep -q '^<svg ' "$svg" && tail -n 1 "$svg" | grep -qx '</svg>'
}

# same_picture GPU COHERENCY CACHE BOS: the demo on that one.
same_picture()
{
	run=$1-$2-$3-$4
	GPU=$1 COHERENCY=$2 CACHE=$3 BOS=$4 scripts/demo.sh "$BUILD/tests/demo-$run" \
		>"$BUILD/tests/demo-$run.log" &&
		cmp "$BUILD/tests/demo-$run/gem.png" docs/gem.png && no_hint "$run" &&
		tr -d '\r' <"$BUILD/tests/demo-$run/console.log" | grep -q "coherency: $2\$"
}

# said RUN TEXT: what that demo printed.
said()
{
	grep -x "$2" "$BUILD/tests/demo-$1.log"
}

# The second GPU was there, and only lent its memory.
other_idle()
{
	log=$BUILD/tests/demo-$1/events.jsonl.1
	[ -s "$log" ] && ! grep -E '"event": "(chain_start|hint)"' "$log"
}

# Every pass ends jobs on both slots, and then the GPU has none.
power_was_off()
{
	off=$(grep -c '"event": "clock".*"power_in": 0' "$BUILD/tests/demo-$1/events.jsonl")
	echo "# the power input was switched off $off times"
	[ "$off" -ge 8 ]
}

echo "1..51"
holds "demo runs" run_demo 1
holds "demo runs again" run_demo 2
holds "picture is 512 x 512 or more" big_enough
holds "same bytes both times" cmp "$BUILD/tests/demo-1/gem.png" "$BUILD/tests/demo-2/gem.png"
holds "same bytes as in the documentation" cmp "$BUILD/tests/demo-1/gem.png" docs/gem.png
holds "same jobs and faults in the same order" same_order
holds "every job and every line of the log is whole" readable
holds "every page fault was served" faults_served
holds "no rule of the hardware was broken" no_hint 1
holds "the trace opens in Perfetto" trace_opens
holds "the maps can be read" map_readable
for other in midgard/ace-lite midgard/none bifrost/ace bifrost/ace-lite bifrost/none; do
	holds "the same picture: $other" same_picture "${other%/*}" "${other#*/}" on paged
done
holds "the same picture without the cache" same_picture midgard ace off paged
holds "it says so" said midgard-ace-off-paged 'BO cache: off'
holds "the same picture without coherency and cache" same_picture bifrost none off paged
# A pass has four BOs, and there are eight passes.
holds "the cache recycles the BOs of the first pass" said midgard-none-on-paged \
	'BO cache: 28 BOs recycled, 4 new, 0 waited.*'
# The display wrote the same picture, the only one that it has shown.
displayed()
{
	frames=$BUILD/tests/demo-$1/frames
	cmp "$frames/frame-00001.png" docs/gem.png && [ ! -e "$frames/frame-00002.png" ]
}

flipped()
{
	(FLIP=on && export FLIP && same_picture "$@")
}

for bos in contiguous imported; do
	holds "the same picture: $bos BOs" same_picture midgard ace on $bos
	holds "it says so: $bos" said midgard-ace-on-$bos "BOs: $bos"
	# The heap is as ever.
	holds "the cache takes no $bos BOs" said midgard-ace-on-$bos \
		'BO cache: 7 BOs recycled, .*'
	holds "the same picture: $bos BOs, without the cache" same_picture midgard ace off $bos
	case $bos in
	contiguous) picture=flipped ;;
	*) picture=same_picture ;;
	esac
	holds "the same picture: $bos BOs, without coherency" $picture bifrost none on $bos
done
holds "the card's display shows it, without an MMU" displayed bifrost-none-on-contiguous
holds "the second GPU only lends its memory" other_idle midgard-ace-on-imported
# moved N RUN: the card's engine carried out at least N commands, and none of them failed.
moved()
{
	log=$BUILD/tests/demo-$2/events.jsonl
	n=$(grep -c '"event": "mover_begin"' "$log")
	echo "# the mover carried out $n commands"
	[ "$n" -ge "$1" ] && ! grep '"event": "mover_fault"' "$log"
}

visible_part()
{
	(VRAM=48 VISIBLE=8 && export VRAM VISIBLE && same_picture bifrost none off vram)
}

# A pass has three BOs there, which begin with zeros, and a command for each 2 MiB.
holds "the same picture: all in VRAM" flipped midgard ace on vram
holds "the card's display shows it by the global table" displayed midgard-ace-on-vram
holds "it says so: vram" said midgard-ace-on-vram "BOs: vram"
holds "the mover cleared it" moved 24 midgard-ace-on-vram
holds "the same picture: all in VRAM, of which the CPUs reach 8 MiB, on the other GPU" \
	visible_part
VRAM=3 VISIBLE=3
export VRAM VISIBLE
holds "the same picture: 3 MiB of VRAM" same_picture midgard ace on spilled
holds "some of it was there" moved 8 midgard-ace-on-spilled
unset VRAM VISIBLE
# copied RUN SIDE [LENGTH]: commands of the mover, and their bytes, with VRAM as src or as dst; all, or
# those of that length.
copied()
{
	awk -v side="$2" -v length_is="${3:-}" -f scripts/copied.awk "$BUILD/tests/demo-$1/events.jsonl"
}

# left_and_came_back RUN: BOs did, not only those that the program made for that.  The one with the
# jobs and bins of a pass comes before its first job, leaves, and comes back for its second one:
# 4 KiB, and 16 bytes for each of 48 x 48 tiles.
left_and_came_back()
{
	# shellcheck disable=SC2046 # words are meant
	set -- $(copied "$1" src) $(copied "$1" dst) $(copied "$1" src 40960) $(copied "$1" dst 40960)
	echo "# $2 bytes were copied out of VRAM, and $4 into it; the bins $5 and $7 times"
	[ "$2" -ge $((64 << 20)) ] && [ "$4" -ge $((48 << 20)) ] && [ "$5" -ge 8 ] && [ "$7" -ge 16 ]
}

VRAM=16 OVERCOMMIT=4
export VRAM OVERCOMMIT
holds "the same picture: a quarter of the VRAM that is asked for" same_picture midgard ace-lite on vram
holds "it asked for that much" said midgard-ace-lite-on-vram 'other BOs in VRAM: 32, used 64 times'
holds "BOs left VRAM with what the next job needs, and came back" \
	left_and_came_back midgard-ace-lite-on-vram
unset VRAM OVERCOMMIT
stays()
{
	[ "$(copied "$1" src)" = "0 0" ]
}
holds "none did where there was room for all" stays midgard-ace-on-vram
VM=on
export VM
# Its heap is there from the beginning, so nothing faults.
no_fault()
{
	! grep '"event": "fault"' "$BUILD/tests/demo-$1/events.jsonl"
}
holds "the same picture in an address space of its own" same_picture bifrost ace on spilled
holds "it says so: VM" said bifrost-ace-on-spilled 'address spaces of its own: 1'
holds "no job touched what is not bound there" no_fault bifrost-ace-on-spilled
holds "the same picture there, in system memory, without coherency" same_picture midgard none off paged
unset VM
SUSPEND=system
export SUSPEND
# The card lost its power at least twice, and got it back as often.
slept_with_card()
{
	log=$BUILD/tests/demo-$1/events.jsonl
	off=$(grep -c '"event": "card_power".*"change": "off"' "$log")
	on=$(grep -c '"event": "card_power".*"change": "on"' "$log")
	echo "# the card lost its power $off times"
	[ "$off" -ge 2 ] && [ "$on" = "$off" ]
}
holds "the same picture when the system sleeps while the GPU draws" same_picture midgard ace off vram
holds "the card's memory was lost meanwhile" slept_with_card midgard-ace-off-vram
SUSPEND=always
holds "the same picture when the GPU is off between the passes" same_picture bifrost none on paged
holds "the GPU was off between the passes" power_was_off bifrost-none-on-paged
