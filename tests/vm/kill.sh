#!/bin/sh
# SPDX-License-Identifier: MIT
#
# kill.sh: nothing of a run stays behind, whichever part of it is killed, as TAP.
#
# A run is the launcher, QEMU and the GPUs' processes.  Each is killed in mid-run;
# then no process may be left, no file where the run could write, and no socket
# with a name.  Needs the fast kernel, the initramfs and build/bin/.
# shellcheck disable=SC2086,SC2012,SC2181,SC2317
set -u
. tests/tap.sh

build=$(realpath "${BUILD:-build}")
work=$(mktemp -d)
sockets=$work/sockets
dir=$work/run
launcher='' qemu='' sim=''

cleanup()
{
	for pid in $launcher $qemu $sim; do
		kill -9 "$pid" 2>/dev/null
	done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

# A zombie holds no resources: it only waits for its parent.
alive()
{
	[ -r "/proc/$1/stat" ] && ! grep -q '^[0-9]* (.*) Z' "/proc/$1/stat" 2>/dev/null
}

gone()
{
	for pid in "$@"; do
		! alive "$pid" || return 1
	done
}

# child NAME: the launcher's child of that name.
child()
{
	cat /proc/[0-9]*/stat 2>/dev/null |
		awk -v parent="$launcher" -v name="($1)" '$2 == name && $4 == parent { print $1 }'
}

named_sockets()
{
	awk '$8 ~ /^\/.*(agate|qemu|ivshmem)/ { print $8 }' /proc/net/unix | sort
}

up()
{
	grep -q '^up$' "$work/out" 2>/dev/null
}

# Starts a run whose program prints "up" and then keeps running.
start()
{
	rm -rf "$dir" "$work/out"
	mkdir "$dir"
	ls -A /dev/shm >"$work/shm"
	named_sockets >"$sockets"
	cd "$dir" || exit 1
	TMPDIR=$dir "$build/bin/agate-vm" run --kernel "$build/guest/kernel-fast" \
		--initramfs "$build/guest/initramfs.cpio.gz" --sim "$build/bin/agate-sim" \
		--timeout 120 "$@" >"$work/out" 2>"$work/err" &
	launcher=$!
	cd "$work" || exit 1
}

# Finds all processes once the guest's program runs.
running()
{
	until_true up || return 1
	qemu=$(child qemu-system-x86)
	sim=$(child agate-sim)
	[ -n "$qemu" ] && [ -n "$sim" ]
}

nothing_left()
{
	until_true gone $launcher $qemu $sim || {
		kill -9 $launcher $qemu $sim 2>/dev/null
		return 1
	}
	[ -z "$(ls -A "$dir")" ] &&
		ls -A /dev/shm | cmp -s - "$work/shm" &&
		named_sockets | cmp -s - "$sockets"
}

# kill_one WHAT SIGNAL STATUS: kill that process in mid-run, expect the launcher's status.
kill_one()
{
	what=$1 signal=$2 expect=$3
	start --gpus 2 'exec:echo up; exec sleep 600'
	running && [ "$(echo "$sim" | wc -l)" = 2 ]
	result $? "$what, $signal: a guest program runs"
	eval "kill -$signal \$$what"
	wait "$launcher" 2>/dev/null
	status=$?
	[ $status = "$expect" ]
	result $? "$what, $signal: the launcher ends with $expect (was $status)"
	nothing_left
	result $? "$what, $signal: no process, no file, no socket is left"
}

echo 1..19
kill_one qemu KILL 242
kill_one launcher KILL 137
kill_one launcher INT 246
kill_one launcher TERM 246

# Without its GPU the guest goes on: ALIVE in BAR2 turns to 0.  The run is no success.
bar2=/sys/bus/pci/devices/0000:00:03.0
alive_word=0x10c0
start "exec:echo 1 >$bar2/enable; word=\$((\$(sed -n '3s/ .*//p' $bar2/resource) + $alive_word));
	echo up; while [ \$(busybox devmem \$word) = 0x00000001 ]; do usleep 10000; done;
	echo the GPU is gone"
running
result $? "sim, KILL: a guest program runs"
kill -KILL "$sim"
wait "$launcher"
[ $? = 243 ] && grep -q '^the GPU is gone$' "$work/out" &&
	grep -q 'GPU.s process ended' "$work/err"
result $? "sim, KILL: the guest is told and goes on"
nothing_left
result $? "sim, KILL: no process, no file, no socket is left"

# In the middle of making a snapshot: the cache must not keep half a snapshot.
booting()
{
	qemu=$(child qemu-system-x86)
	[ -n "$qemu" ]
}

export XDG_CACHE_HOME="$work/cache"
start --accel tcg exec:true
until_true booting
result $? "launcher, KILL: boots for a snapshot"
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null
sim=''
nothing_left
result $? "launcher, KILL: the guest that boots goes too"
[ -z "$(find "$work/cache" -type f)" ]
result $? "launcher, KILL: no half snapshot is left"
start --accel tcg 'exec:echo up'
wait "$launcher"
[ $? = 0 ] && up
result $? "launcher, KILL: the next run makes the snapshot"
