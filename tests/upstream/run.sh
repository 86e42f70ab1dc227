#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh: upstream's Panfrost on this GPU, in a fresh guest, as TAP.
#
# usage: tests/upstream/run.sh fast|debug midgard|bifrost
#
# Panfrost knows real GPUs only by their number: midgard presents itself as a T860, bifrost
# as a G72.  The tests' output names each bug of upstream's that showed, with its place.
set -u
. tests/guest/splat.sh

flavour=$1 gpu=$2
BUILD=${BUILD:-build}
GUEST=/run/agate
console=$BUILD/logs/console-upstream-$flavour-$gpu.log
programs=$(basename -s .c tests/upstream/panfrost-*.c)

case $gpu in
midgard) id=08602000 ;;
bifrost) id=60010000 ;;
*)
	echo "run.sh: no GPU $gpu" >&2
	exit 2 ;;
esac

# load ARGUMENT...: the step that loads the driver, anew when it is there.
load()
{
	echo "exec:! test -d /sys/module/agate_panfrost || rmmod agate_panfrost && \
		insmod $GUEST/agate_panfrost.ko $*"
}

# test_step PROGRAM ARGUMENT...: the step that runs a test program, to its end.
test_step()
{
	echo "exec:CMOCKA_MESSAGE_OUTPUT=TAP $GUEST/$*; echo \"# $1 ended \$?\""
}

# On a busy host the GPU's process may wait for a processor longer than the half second
# that upstream gives a job.
patient=10000

guest()
{
	mkdir -p "$BUILD/logs"
	for p in $programs; do
		set -- "put:$BUILD/tests/upstream/$p:$GUEST/$p:0755" "$@"
	done
	{ "$BUILD/bin/agate-vm" run --kernel "$BUILD/guest/kernel-$flavour" \
		--initramfs "$BUILD/guest/initramfs.cpio.gz" --sim "$BUILD/bin/agate-sim" \
		--sim-arg --gpu --sim-arg "$gpu" --sim-arg --gpu-id --sim-arg "$id" \
		--sim-log "$console.events" --timeout "${LIMIT:-600}" --console "$console" \
		"put:$BUILD/upstream/$flavour/agate_panfrost.ko:$GUEST/agate_panfrost.ko" "$@" \
		"exec:rmmod agate_panfrost && echo '# module unloaded'" \
		"exec:echo '# guest alive'" poweroff
	echo "# launcher ended $?"; } 2>&1 | tee "$console.out"
}

said()
{
	grep -qx "# $1" "$console.out"
}

# Programs that did not end by themselves, or never began.
unfinished()
{
	for p in $programs; do
		said "$p ended [0-9][0-9]*" && ! said "$p ended \(12[6-9]\|1[3-9].\|2..\)" ||
			echo "$p"
	done
}

rules_broken()
{
	grep -E '"event": "(hint|truncated)"' "$console.events"
}

verdict()
{
	echo "1..3"
	if said 'module unloaded' && said 'guest alive' && said 'launcher ended 0' &&
		[ -z "$(unfinished)" ]; then
		echo "ok 1 - programs end, module unloads, guest lives"
	else
		echo "# did not end well:" $(unfinished)
		echo "not ok 1 - programs end, module unloads, guest lives"
	fi
	if [ ! -s "$console" ]; then
		echo "not ok 2 - kernel log silent # no log at all"
	elif grep -Eq "$SPLAT" "$console" "$console.out"; then
		grep -Ehm 20 -A 12 "$SPLAT" "$console" "$console.out" | sed 's/^/# /'
		echo "not ok 2 - kernel log silent"
	else
		echo "ok 2 - kernel log silent"
	fi
	if [ ! -s "$console.events" ]; then
		echo "not ok 3 - no rule of the hardware broken # no event log"
	elif [ -n "$(rules_broken)" ]; then
		rules_broken | head -n 5 | sed 's/^/# /'
		echo "not ok 3 - no rule of the hardware broken"
	else
		echo "ok 3 - no rule of the hardware broken"
	fi
}

guest "$(load timeout_ms=$patient)" "$(test_step panfrost-jobs)"
verdict
