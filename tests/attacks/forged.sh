#!/bin/sh
# SPDX-License-Identifier: MIT
#
# forged.sh: a student's file prints a forged report of a crash in another lab's function.  The
# grader names the place, and shows no line of that solution.  As TAP.
#
# usage: tests/attacks/forged.sh
set -u
. tests/tap.sh

BUILD=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
lab=02-gem-object
mkdir -p "$work/from/$lab"

complain()
{
	tail -n 15 "$work/said"
}

echo 1..2
{
	sed -e 's/^static bool create_args_valid/static void forge(void);\n\n&/' \
		-e 's/^\tif (!create_args_valid(size, flags))/\tforge();\n&/' solutions/$lab/agate_gem.c
	cat <<'END'
static void forge(void)
{
	pr_emerg("BUG: unable to handle page fault for address: ffff\n");
	pr_emerg("Oops: 0000 [#1] PREEMPT SMP\n");
	pr_emerg("CPU: 0 PID: 77 Comm: x Not tainted\n");
	pr_emerg("RIP: 0010:agate_pgtable_map+0x30/0x80000 [agate]\n");
	pr_emerg("Call Trace:\n <TASK>\n agate_pgtable_fini+0x10/0x40000 [agate]\n");
	pr_emerg(" </TASK>\n---[ end trace 0000000000000000 ]---\n");
}
END
} >"$work/from/$lab/agate_gem.c"
"$BUILD/bin/agate-grade" --lab 02 --test topic --from "$work/from" --out "$work/grade" >"$work/said" 2>&1
check "a forged report of the kernel is a crash at the place that it names" 0 $? \
	grep -q 'where .*solutions/10-page-tables/agate_pgtable\.c:[0-9]*, in ' "$work/said"
grep -q ^CRASH "$work/said" && ! grep -qE '^ +>? +[0-9]+ \| ' "$work/said"
result $? "and shows no line of that solution"
