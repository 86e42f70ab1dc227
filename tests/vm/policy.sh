#!/bin/sh
# SPDX-License-Identifier: MIT
#
# policy.sh: how the launcher's processes are scheduled, as TAP.
#
# Needs the fast kernel, the initramfs and build/bin/.
# shellcheck disable=SC2317
set -u
. tests/tap.sh

build=$(realpath "${BUILD:-build}")
work=$(mktemp -d)
launcher=

cleanup()
{
	[ -z "$launcher" ] || kill -9 "$launcher" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

complain()
{
	tail -n 100 "$work/out" "$work/err" "$work/qemu" "$work/sim" | cut -c 1-200
}

# As proc(5) counts them, without the name's word.
PRIORITY=40 POLICY=41 RR=2

up()
{
	grep -q '^up$' "$work/out" 2>/dev/null
}

# threads NAME: their stat, of the launcher's child of that name
threads()
{
	cat /proc/[0-9]*/stat 2>/dev/null |
		awk -v parent="$launcher" -v name="($1)" '$2 == name && $4 == parent { print $1 }' |
		while read -r pid; do
			cat "/proc/$pid/task/"*/stat
		done
}

# look WRAPPER... -- OPTION...: the threads of a run, while a program of the guest runs
look()
{
	rm -f "$work/out"
	wrapper=
	while [ "$1" != -- ]; do
		wrapper="$wrapper $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # words are meant
	$wrapper "$build/bin/agate-vm" run --kernel "$build/guest/kernel-fast" \
		--initramfs "$build/guest/initramfs.cpio.gz" --sim "$build/bin/agate-sim" \
		--timeout 120 "$@" 'exec:echo up; exec sleep 600' >"$work/out" 2>"$work/err" &
	launcher=$!
	until_true up
	seen=$?
	threads qemu-system-x86 >"$work/qemu"
	threads agate-sim >"$work/sim"
	kill "$launcher"
	wait "$launcher" 2>/dev/null
	launcher=
	return $seen
}

# count FILE CONDITION: of the threads in that file
count()
{
	awk "$2"' { n++ } END { print n + 0 }' "$work/$1"
}

usual()
{
	[ "$(count qemu "\$$POLICY == 0")" -ge 3 ] && [ "$(count qemu "\$$POLICY != 0")" = 0 ] &&
		[ "$(count sim "\$$POLICY == 0")" = 1 ]
}

# QEMU's main thread and the GPU before the virtual processors, and all before the rest
realtime()
{
	[ "$(count qemu "\$$POLICY != $RR")" = 0 ] &&
		[ "$(count qemu "\$$PRIORITY == 1")" -ge 2 ] &&
		[ "$(awk "NR == 1 { print \$$PRIORITY }" "$work/qemu")" = 2 ] &&
		[ "$(count sim "\$$POLICY == $RR && \$$PRIORITY == 2")" = 1 ]
}

turns()
{
	[ "$(cat "$work/qemu" "$work/sim" | awk "{ print \$$POLICY, \$$PRIORITY }" | sort -u)" = "$RR 1" ]
}

# Runs a command without the right to real-time priorities, which root has as well.
confined()
{
	if [ "$(id -u)" = 0 ]; then
		exec setpriv --bounding-set -sys_nice --inh-caps -sys_nice \
			prlimit --rtprio=0 "$@"
	fi
	exec prlimit --rtprio=0 "$@"
}

echo 1..5

look --
check "QEMU and the GPU run as usual processes do" 0 $? usual

if chrt --rr 2 true 2>/dev/null; then
	look -- --realtime
	check "--realtime puts both before all usual processes" 0 $? realtime
	look taskset -c 0 -- --realtime
	check "on one processor the guest and the GPU take turns" 0 $? turns
else
	result 0 "--realtime puts both before all usual processes # SKIP not permitted here"
	result 0 "on one processor the guest and the GPU take turns # SKIP not permitted here"
fi

look confined -- --realtime
check "without the right to it the run goes on" 0 $? usual
check "and says so" 0 0 grep -q 'SCHED_RR is not permitted here' "$work/err"
