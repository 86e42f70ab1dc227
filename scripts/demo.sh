#!/bin/sh
# SPDX-License-Identifier: MIT
#
# demo.sh: have the simulated GPU draw the gem.
#
# usage: scripts/demo.sh DIR
#
# Writes DIR/gem.png, DIR/events.jsonl (the GPU's event log), DIR/trace.json (the same as a
# picture, for ui.perfetto.dev), DIR/map.svg and DIR/map.txt (its address spaces) and
# DIR/console.log (the guest kernel's output).  GPU is midgard or bifrost, COHERENCY the
# protocol that it offers and that the driver is told to use: ace, ace-lite or none, CACHE=off
# makes new BOs for each pass.  BOS says what memory they have: paged, contiguous, imported from
# a second GPU, which the guest then has (its log and trace are events.jsonl.1 and
# trace.json.1), vram, or spilled: the card's memory, or that and system memory.  The card then
# has VRAM MiB of it (48), of which the CPUs reach VISIBLE MiB (all).  FLIP=on has the card's
# display show the picture, which also writes it to DIR/frames/frame-00001.png: BOS is contiguous,
# vram or spilled then.  VM=on draws in an address space of the program's own, on a machine with a
# card; BOS is paged, vram or spilled then.  SUSPEND=always takes the GPU's power away whenever it has no job, so also
# between any two passes.  SUSPEND=system has the whole system sleep again and again while the GPU
# draws: all devices suspend and resume, and a card's memory loses what it holds.  OVERCOMMIT=N
# has the program make other BOs, too, which want N times the card's memory: they and those of the
# picture evict each other between the two jobs of each pass; BOS is vram or spilled then.  The
# picture is always the same.
set -eu

out=$1
BUILD=${BUILD:-build}
GPU=${GPU:-midgard}
COHERENCY=${COHERENCY:-ace}
CACHE=${CACHE:-on}
BOS=${BOS:-paged}
FLIP=${FLIP:-off}
VM=${VM:-off}
OVERCOMMIT=${OVERCOMMIT:-0}
gpus=1
card=
firmware=put:$BUILD/firmware/agate/card.fw:/lib/firmware/agate/card.fw
case $BOS in
paged | contiguous) ;;
imported) gpus=2 ;;
vram | spilled)
	VRAM=${VRAM:-48}
	VISIBLE=${VISIBLE:-$VRAM}
	case $VRAM$VISIBLE in
	*[!0-9]*)
		echo "VRAM=$VRAM, VISIBLE=$VISIBLE: they are MiB" >&2
		exit 1
		;;
	esac
	card="--card --vram $VRAM --vram-visible $VISIBLE $firmware" ;;
*)
	echo "BOS=$BOS: they are paged, contiguous, imported, vram or spilled" >&2
	exit 1
	;;
esac
SUSPEND=${SUSPEND:-idle}
case $CACHE in
on | off) ;;
*)
	echo "CACHE=$CACHE: it is on or off" >&2
	exit 1
	;;
esac
case $FLIP$BOS in
oncontiguous) card="--card --vram 16 $firmware" ;;
onvram | onspilled | off*) ;;
on*)
	echo "FLIP=on BOS=$BOS: the display shows contiguous, vram and spilled BOs" >&2
	exit 1
	;;
*)
	echo "FLIP=$FLIP: it is on or off" >&2
	exit 1
	;;
esac
vm=
case $VM$BOS in
off*) ;;
onpaged)
	card="--card --vram 16 $firmware"
	vm=--vm ;;
onvram | onspilled) vm=--vm ;;
on*)
	echo "VM=on BOS=$BOS: an address space of its own has paged, vram and spilled BOs" >&2
	exit 1
	;;
*)
	echo "VM=$VM: it is on or off" >&2
	exit 1
	;;
esac
overcommit=
case $OVERCOMMIT$BOS in
0*) ;;
[1-9]vram | 1[0-6]vram | [1-9]spilled | 1[0-6]spilled) overcommit="--overcommit $OVERCOMMIT" ;;
[1-9]* | 1[0-6]*)
	echo "OVERCOMMIT=$OVERCOMMIT BOS=$BOS: it is 1 to 16, and BOs are evicted with vram and spilled" >&2
	exit 1
	;;
*)
	echo "OVERCOMMIT=$OVERCOMMIT: it is 1 to 16" >&2
	exit 1
	;;
esac
case $SUSPEND in
always) autosuspend=" autosuspend_ms=0" ;;
idle | system) autosuspend= ;;
*)
	echo "SUSPEND=$SUSPEND: it is always, idle or system" >&2
	exit 1
	;;
esac
around=
if [ "$SUSPEND" = system ]; then
	# It ends with the program that the next command is.
	around="echo 0 >/sys/module/suspend/parameters/pm_test_delay && echo devices >/sys/power/pm_test && \
		{ while echo mem >/sys/power/state; do sleep 0.1; done & } && sleeper=\$! && \
		trap 'kill \$sleeper' EXIT &&"
fi
mkdir -p "$out"
rm -rf "$out/frames"
flip=
if [ "$FLIP" = on ]; then
	mkdir "$out/frames"
	card="--sim-arg --scanout-dir --sim-arg $out/frames $card"
	flip=--flip
fi
rm -f "$out/gem.png" "$out/events.jsonl" "$out/trace.json" "$out/map.svg" \
	"$out/map.txt" "$out/console.log" "$out/events.jsonl.1" "$out/trace.json.1"

say() { printf '  %-8s %s\n' "$1" "$2"; }

# Give jobs a long timeout: on a busy host the GPU's process may not get a core.
say GUEST "restore, plug the GPU in, load agate.ko, run agate-gem"
"$BUILD/bin/agate-vm" run --kernel "$BUILD/guest/kernel-fast" \
	--initramfs "$BUILD/guest/initramfs.cpio.gz" \
	--sim "$BUILD/bin/agate-sim" --gpus "$gpus" --sim-log "$out/events.jsonl" \
	--sim-trace "$out/trace.json" --sim-arg --log-level --sim-arg walks \
	--sim-arg --gpu --sim-arg "$GPU" --sim-arg --coherency --sim-arg "$COHERENCY" \
	--timeout "${LIMIT:-300}" --console "$out/console.log" --timings "$out/timings.json" \
	$card "put:$BUILD/driver/fast/agate.ko:/run/agate/agate.ko" \
	"put:$BUILD/lib/libagate.so:/run/agate/lib/libagate.so.0" \
	"put:$BUILD/bin/agate-info:/run/agate/bin/agate-info" \
	"put:$BUILD/bin/agate-gem:/run/agate/bin/agate-gem" \
	"exec:insmod /run/agate/agate.ko timeout_ms=10000 tell_listed=1 \
		coherency=$COHERENCY$autosuspend" \
	"exec:/run/agate/bin/agate-info" \
	"exec:$around /run/agate/bin/agate-gem --stats $flip $vm $overcommit --cache $CACHE --bos $BOS -o /run/agate/gem.png" \
	"exec:rmmod agate" \
	"get:/run/agate/gem.png:$out/gem.png"

say PICTURE "$out/gem.png"
jobs=$(grep -c '"event": "job_end"' "$out/events.jsonl")
# A heap in an address space of its own does not grow.
faults=$(grep -c '"event": "fault"' "$out/events.jsonl") || faults=0
say EVENTS "$out/events.jsonl: $jobs jobs, $faults page faults of the heap served"
"$BUILD/bin/agate-map" --svg "$out/map.svg" --text "$out/map.txt" "$out/events.jsonl"
say MAP "$out/map.svg, $out/map.txt"
say TRACE "$out/trace.json: open it at ui.perfetto.dev"
