#!/bin/sh
# SPDX-License-Identifier: MIT
#
# collect.sh: collect the console texts beside this file again.
#
# usage: tests/grader/explain/collect.sh OUT [FLAVOUR-NAME]...
#
# Builds kmod/ for both kernels, triggers each of its faults in a guest of its own, and
# keeps the kernel's output in OUT/FLAVOUR-NAME.txt. samples.inc lists the texts that are
# worth keeping, and what the grader has to find in them.  Those that begin with "hung"
# are the output of vm_where_hung() for tests/vm/kmod.  The texts are those of Linux 6.1;
# the folder 6.12 has some of Linux 6.12, which looks different.  LIMIT is the time limit of
# a guest in seconds.
set -eu

BUILD=${BUILD:-build}
here=$(dirname "$0")
param=/sys/module/agate/parameters/what
sysrq='echo w >/proc/sysrq-trigger; echo l >/proc/sysrq-trigger; sleep 0.5'

# The shell commands that trigger NAME in the guest.
trigger()
{
	case $1 in
	wait-forever | loop-forever | loop-irqs-off | mutex-twice)
		echo "(echo $1 >$param &); sleep 0.5; $sysrq" ;;
	loop-in-irq | loop-locked | spin-twice)
		echo "(echo $1 >$param &); sleep 5; $sysrq" ;;
	hung-task)
		echo "echo 3 >/proc/sys/kernel/hung_task_timeout_secs; (echo wait-forever >$param &)"
		echo "sleep 8" ;;
	soft-lockup)
		echo "echo 2 >/proc/sys/kernel/watchdog_thresh; (echo loop-forever >$param &); sleep 6" ;;
	memory-leak)
		echo "cd /sys/kernel/debug; echo clear >kmemleak; echo memory-leak >$param; sleep 6"
		echo "echo scan >kmemleak; echo scan >kmemleak; sleep 1"
		echo "while IFS= read -r l; do echo \"\$l\" >/dev/kmsg; done <kmemleak" ;;
	dma-left)
		echo "echo dma-left >$param; rmmod agate" ;;
	*)
		echo "echo $1 >$param; sleep 0.5" ;;
	esac
}

# The part between our marks, without lines that differ from machine to machine, and
# without the lines that a panic adds to an oops.  Keep the registers only if an oops
# shows its cause nowhere else.
trim()
{
	tr -d '\r' | sed -n '/ AGATE-MARK$/,/ AGATE-END$/p' | grep -v ' AGATE-\(MARK\|END\)$' |
		sed -e "s|[^ ]*/\(broken_[a-z]*\.c\)|labs/02-gem-object/\1|; s| tsc: .*| tsc:|" \
			-e '/Kernel panic - not syncing: Fatal exception/q' |
		if [ "$1" = debug ]; then
			grep -vE '\] (R[0-9A-Z]{2}: [0-9a-f]{16} |Code: |RSP: |FS: |CS: |CR2: )'
		else
			cat
		fi | head -n 260
}

# one FLAVOUR NAME
one()
{
	{
		"$BUILD/bin/agate-vm" run --kernel "$BUILD/guest/kernel-$1" \
			--initramfs "$BUILD/guest/initramfs.cpio.gz" --sim "$BUILD/bin/agate-sim" \
			--timeout "${LIMIT:-60}" --console "$out/$1-$2.log" \
			"put:$out/$1/agate.ko:/run/agate/agate.ko" \
			'exec:insmod /run/agate/agate.ko && echo AGATE-MARK >/dev/kmsg' \
			"exec:$(trigger "$2"); echo AGATE-END >/dev/kmsg; sleep 0.2" || true
	} >"$out/$1-$2.run" 2>&1
	trim "$1" <"$out/$1-$2.log" >"$out/$1-$2.txt"
	printf '%5d lines  %s\n' "$(wc -l <"$out/$1-$2.txt")" "$1-$2"
}

out=$1
shift
[ $# -gt 0 ] || set -- $(cd "$here" && ls fast-*.txt debug-*.txt | sed 's|\.txt$||')
for flavour in fast debug; do
	case " $*" in
	*" $flavour-"*) ;;
	*) continue ;;
	esac
	mkdir -p "$out/$flavour"
	cp "$here"/kmod/* "$out/$flavour"
	guest/kernel-make.sh "$BUILD/guest/kernel-$flavour" M="$(realpath "$out/$flavour")" modules \
		>"$out/$flavour/build.log" 2>&1
done
for sample; do
	one "${sample%%-*}" "${sample#*-}"
done
