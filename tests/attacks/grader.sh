#!/bin/sh
# SPDX-License-Identifier: MIT
#
# grader.sh: what a file that is handed in, or a folder, tries with the grader, as TAP.
#
# usage: tests/attacks/grader.sh
#
# The grader is killed, is given folders that lead elsewhere, and reads a report of the kernel that
# the file has forged.
set -u
. tests/tap.sh

BUILD=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
lab=02-gem-object
student=$work/from/$lab
mkdir -p "$student"
# Fifteen times what the solution needs.
export BOX_CPU_S=5

complain()
{
	tail -n 15 "$work/said"
}

echo 1..15

# A grader that is killed takes the compiler with it.
cat solutions/$lab/agate_gem.c tests/attacks/02/include-itself.inc >"$student/agate_gem.c"
mkdir "$work/grade"
echo '{"schema": "agate/result/v1", "score": 2, "complete": true}' >"$work/grade/result.json"
"$BUILD/bin/agate-grade" --lab 02 --from "$work/from" --out "$work/grade" >"$work/said" 2>&1 &
grader=$!
tries=0
until pgrep -f "cc1.*$student" >/dev/null || [ $tries = 1200 ] || ! kill -0 $grader 2>/dev/null; do
	tries=$((tries + 1))
	sleep 0.1
done
pgrep -f "cc1.*$student" >/dev/null
running=$?
kill -KILL $grader
wait $grader 2>/dev/null
complete=$(grep -o '"complete": [a-z]*' "$work/grade/result.json")
tries=0
while pgrep -f "$work/" >/dev/null && [ $tries -lt 100 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
[ $running = 0 ]
result $? "the compiler was running when the grader was killed"
! pgrep -f "$work/" >"$work/said"
result $? "and is not any more, nor is a script that started it"
[ "$complete" = '"complete": false' ]
result $? "and the result of an earlier run does not look like that of the killed one"

# Links where the grader writes: it must not write to what they lead to.
rm -rf "$work/grade/$lab"
mkdir -p "$work/grade/$lab/fast"
for victim in labs box compile.log; do
	echo precious >"$work/victim-$victim"
	ln -s "$work/victim-$victim" "$work/grade/$lab/fast/$victim"
done
echo precious >"$work/victim-hard"
ln "$work/victim-hard" "$work/grade/$lab/fast/objects"
ln -s "$work/victim-part" "$work/grade/result.json.part"
"$BUILD/bin/agate-grade" --lab 02 --from "$work/from" --out "$work/grade" >"$work/said" 2>&1
status=$?
check "a file that cannot be compiled within the limits is a verdict of the grader" 0 $status \
	grep -q 'does not compile within the limits' "$work/said"
[ "$(cat "$work"/victim-* | sort | uniq -c | tr -s ' ')" = ' 4 precious' ]
result $? "and links in its results are not followed"

# Results among the files that are handed in.
for odd in "$work/from" "$work/from/$lab/x" "$work/grade/../from"; do
	"$BUILD/bin/agate-grade" --lab 02 --from "$work/from" --out "$odd" >"$work/said" 2>&1
	check "results do not go to ${odd#"$work/"}" 2 $? grep -q 'overlap' "$work/said"
done
"$BUILD/bin/agate-grade" --lab 02 --from "$work/grade/$lab/fast/tree" --out "$work/grade" \
	>"$work/said" 2>&1
check "and files are not taken from the results" 2 $? grep -q 'overlap' "$work/said"

odd=$work/$(printf '\033[31m')
"$BUILD/bin/agate-grade" hint --lab 02 --test topic --out "$odd" >"$work/said" 2>&1
check "nor are hints kept in a folder whose name a shell or a terminal would run" 2 $? \
	[ ! -e "$odd" ]
grep -q 'OUT is a path without' "$work/said" && ! grep -q "$(printf '\033')" "$work/said"
result $? "and its name is not passed on"

# What cannot be written.
"$BUILD/bin/agate-grade" list >/dev/full 2>"$work/said"
check "a report that could not be written is a failure" 1 $? grep -q 'could not be written' "$work/said"
"$BUILD/bin/agate-grade" hint --lab 02 --test topic --out "$work/said/x" >"$work/words" 2>&1
check "a folder that cannot be made is named" 1 $? grep -q "$work/said/x/hints: " "$work/words"

# A report of a crash in another lab's function: the grader names the place, and shows no line of
# that solution.
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
} >"$student/agate_gem.c"
"$BUILD/bin/agate-grade" --lab 02 --test topic --from "$work/from" --out "$work/grade" >"$work/said" 2>&1
check "a forged report of the kernel is a crash at the place that it names" 0 $? \
	grep -q 'where .*solutions/10-page-tables/agate_pgtable\.c:[0-9]*, in ' "$work/said"
grep -q ^CRASH "$work/said" && ! grep -qE '^ +>? +[0-9]+ \| ' "$work/said"
result $? "and shows no line of that solution"
