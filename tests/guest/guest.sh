# SPDX-License-Identifier: MIT
#
# guest.sh: what the scripts that run guests share; sourced, not run.
#
# Wants $flavour (fast or debug) and $program, a name for the kernel's log.

BUILD=${BUILD:-build}
GUEST=/run/agate
console=$BUILD/logs/console-$flavour-$program.log

# kmemleak leaves alone what is younger than five seconds.
KMEMLEAK=/sys/kernel/debug/kmemleak
leaks="if [ -e $KMEMLEAK ]; then sleep 6; echo scan >$KMEMLEAK; sleep 1; echo scan >$KMEMLEAK; \
	cat $KMEMLEAK; fi"

# guest_run STEP...: a fresh guest with the driver delivered (not loaded); after
# the steps the module has to unload, and the guest has to be alive.
guest_run()
{
	mkdir -p "$BUILD/logs"
	"$BUILD/bin/agate-vm" run --kernel "$BUILD/guest/kernel-$flavour" \
		--initramfs "$BUILD/guest/initramfs.cpio.gz" --sim "$BUILD/bin/agate-sim" \
		--timeout "${LIMIT:-400}" --console "$console" \
		"put:$BUILD/driver/$flavour/agate.ko:$GUEST/agate.ko" "$@" \
		"exec:rmmod agate && echo '# module unloaded'" "exec:$leaks" \
		"exec:echo '# guest alive'" 2>&1 | tee "$console.out"
}

# What a kernel says when a rule was broken.
SPLAT='WARNING:|BUG:|Oops|KASAN|UBSAN|DMA-API: |possible (recursive|circular) locking|'\
'inconsistent lock state|suspicious RCU|sleeping function called|unreferenced object|'\
'blocked for more than|soft lockup|rcu.*(stall|self-detected)|Call Trace:|refcount_t|'\
'list_(add|del) corruption|Memory manager not clean|Kernel panic'

# guest_verdict: two more TAP points, about the end of the run and the log.
guest_verdict()
{
	echo "1..2"
	if grep -qx '# module unloaded' "$console.out" && grep -qx '# guest alive' "$console.out"; then
		echo "ok 1 - module unloads and the guest lives"
	else
		echo "not ok 1 - module unloads and the guest lives"
	fi
	if grep -Eq "$SPLAT" "$console" "$console.out"; then
		grep -Ehm 20 -A 3 "$SPLAT" "$console" "$console.out" | sed 's/^/# /'
		echo "not ok 2 - kernel log silent"
	elif [ ! -s "$console" ]; then
		echo "not ok 2 - kernel log silent # no log at all"
	else
		echo "ok 2 - kernel log silent"
	fi
}
