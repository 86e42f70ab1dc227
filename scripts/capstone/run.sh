#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh: draw the gem while everything goes wrong that can, and show that on a page.
#
# usage: scripts/capstone/run.sh DIR
#
# First a GPU without a card draws FRAMES frames, undisturbed.  Then CLIENTS programs draw the same
# on a card, whose memory is a sixth of what they want, and show each frame on its display.  The
# first one draws in the address space that the kernel gives it, where the tiler heap grows; each of
# the others has SPACES of its own, and draws every frame in the next one.  Meanwhile two interrupts
# are lost, one is late, the MMU does not answer, and the whole system sleeps.
# Writes DIR/undisturbed, DIR/frames (what the display showed), DIR/clients (what each program
# wrote), DIR/events.jsonl (the GPU's log), the console of each guest, and what page.sh makes of
# them.  GPU is midgard or bifrost.
set -eu

out=$1
here=$(dirname "$0")
BUILD=${BUILD:-build}
GPU=${GPU:-midgard}
FRAMES=${FRAMES:-6}
CLIENTS=3
SPACES=2
VRAM=16
# Each client's other BOs want so many times the card's memory.
OVERCOMMIT=2
guest=/run/agate
case $GPU in
midgard | bifrost) ;;
*)
	echo "GPU=$GPU: it is midgard or bifrost" >&2
	exit 1
	;;
esac
case $FRAMES in
*[!0-9]* | 0* | '' | 1 | [0-9][0-9][0-9]*)
	echo "FRAMES=$FRAMES: it is 2 to 99" >&2
	exit 1
	;;
esac
options="--size 256 --frames $FRAMES"
rm -rf "$out"
mkdir -p "$out/frames" "$out/undisturbed" "$out/clients"

say() { printf '  %-8s %s\n' "$1" "$2"; }

# machine NAME OPTION... -- STEP...: a guest with the driver's and the program's files
machine()
{
	console=$out/$1.log
	shift
	for word; do
		shift
		if [ "$word" = -- ]; then
			set -- "$@" "put:$BUILD/driver/fast/agate.ko:$guest/agate.ko" \
				"put:$BUILD/lib/libagate.so:$guest/lib/libagate.so.0" \
				"put:$BUILD/bin/agate-gem:$guest/bin/agate-gem" \
				"put:$here/story.sh:$guest/story.sh"
		else
			set -- "$@" "$word"
		fi
	done
	guest_run "$@" || {
		status=$?
		[ $status = $QEMU_ENDED ] || return $status
		say AGAIN "QEMU ended by itself: its last words are above"
		rm -f "$out/frames"/*
		guest_run "$@"
	}
}

# QEMU before 8.2 has a race: while one processor moves a device's addresses, as it does when the
# system wakes, a write of the other one may reach the wrong device.  That may refuse it with an
# assertion, which ends QEMU.
QEMU_ENDED=242

guest_run()
{
	"$BUILD/bin/agate-vm" run --kernel "$BUILD/guest/kernel-fast" \
		--initramfs "$BUILD/guest/initramfs.cpio.gz" --sim "$BUILD/bin/agate-sim" \
		--sim-arg --gpu --sim-arg "$GPU" --timeout "${LIMIT:-900}" --console "$console" "$@"
}

undisturbed()
{
	say GUEST "undisturbed: one client, no card"
	machine undisturbed -- "exec:insmod $guest/agate.ko timeout_ms=10000" \
		"exec:cd $guest && bin/agate-gem -o gem.png $options && tar -cf frames.tar gem*.png" \
		"exec:rmmod agate" "get:$guest/frames.tar:$out/undisturbed.tar"
	tar -C "$out/undisturbed" -xf "$out/undisturbed.tar"
	rm "$out/undisturbed.tar"
}

# A lost interrupt costs a job the driver's timeout.
disturbed()
{
	say GUEST "$CLIENTS clients, $VRAM MiB of VRAM; interrupts are lost, the MMU hangs, the system sleeps"
	machine disturbed --sim-log "$out/events.jsonl" --card --vram $VRAM --vram-visible 8 \
		--sim-arg --scanout-dir --sim-arg "$out/frames" --sim-arg --inject --sim-arg \
		drop-irq:100:job,delay-irq:200:12000000:job,stick-as:700,drop-irq:300:card -- \
		"put:$BUILD/firmware/agate/card.fw:/lib/firmware/agate/card.fw" \
		"exec:insmod $guest/agate.ko timeout_ms=5000" \
		"exec:$guest/story.sh $CLIENTS $SPACES $options --vram --overcommit $OVERCOMMIT --flip" \
		"exec:rmmod agate" "get:$guest/frames.tar:$out/clients.tar"
	tar -C "$out/clients" -xf "$out/clients.tar"
	rm "$out/clients.tar"
}

undisturbed
disturbed
exec "$here/page.sh" "$out" $CLIENTS $((VRAM << 20)) $((CLIENTS * OVERCOMMIT * VRAM << 20)) "$GPU" \
	$((CLIENTS + (CLIENTS - 1) * SPACES))
