# SPDX-License-Identifier: MIT
#
# run-lib.sh: how a suite runs its programs in a guest, and judges how they ended.  Source
# it.  A suite sets $GUEST, the folder of its programs in the guest, $console, the file with
# the kernel's log, and $programs; $console.out has what the launcher printed.

# The kernel says one of these when a rule was broken.
SPLAT='WARNING:|BUG:|Oops|KASAN|UBSAN|DMA-API: |possible (recursive|circular) locking|'\
'inconsistent lock state|suspicious RCU|sleeping function called|unreferenced object|'\
'blocked for more than|soft lockup|rcu.*(stall|self-detected)|Call Trace:|refcount_t|'\
'list_(add|del) corruption|Memory manager not clean|Kernel panic|general protection fault|'\
'kmemleak: .*disabled|trying to register non-static key|lockdep is turned off|leaked: |'\
'usage count underflow'

# test_step PROGRAM ARGUMENT...: the step that runs a test program, to its end,
# and says how it ended: one that never started has no plan to be missed.
test_step()
{
	echo "exec:CMOCKA_MESSAGE_OUTPUT=TAP $GUEST/$*; echo \"# $1 ended \$?\""
}

# programs_of STEP...: the programs that these steps run.
programs_of()
{
	printf '%s\n' "$@" | sed -n "s|^exec:CMOCKA[^/]*$GUEST/\([a-z-]*\).*|\1|p" | sort -u
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

# ended_well: a point of TAP.
ended_well()
{
	if said 'module unloaded' && said 'guest alive' && said 'launcher ended 0' &&
		[ -n "$programs" ] && [ -z "$(unfinished)" ]; then
		echo "ok 1 - programs end, module unloads, guest lives"
	else
		echo "# did not end well:" $(unfinished)
		echo "not ok 1 - programs end, module unloads, guest lives"
	fi
}
