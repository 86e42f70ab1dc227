#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tt-mutants.sh: is each bug of the pages of placed BOs seen by the guest test that the bug names?
# As TAP.
#
# usage: tests/guest/tt-mutants.sh SHARD SHARDS, in the project's folder
#
# tests/mutants/22-tt/WHAT.patch is a bug put into solutions/22-tt.  It begins with a line
# "rule: ..." that says what the bug breaks, and one "test: PROGRAM TEST" that names who has to
# fail.  A line "load: ..." may add parameters of the driver.  All drivers share one guest, where
# each is loaded in its turn: so no bug here may bring the kernel down.
set -u
shard=$1 shards=$2
. tests/tap.sh
. tests/guest/part-lib.sh

patches=$(git ls-files 'tests/mutants/22-tt/*.patch' | awk -v s="$shard" -v n="$shards" 'NR % n == s % n')
leave_without "$patches"
part_begin 22 "$BUILD/tests/guest-mutants/22-tt/$shard"

# The test that a patch names, and the parameters.
test_of()
{
	sed -n 's/^\(test\|load\): //p' "$1" | paste -s -d ' '
}

# The tests that the patches name, each once.
tests_named()
{
	for patch in $patches; do
		test_of "$patch"
	done | sort -u
}

# plan: NAME PROGRAM TEST [PARAMETER...], a line for each driver and each test that it has to run
plan()
{
	tests_named | sed 's/^/sound /'
	for patch in $patches; do
		name=${patch##*/} name=${name%.patch}
		[ -e "$work/$name/agate.ko" ] || continue
		echo "$name $(test_of "$patch")"
	done
}

# What one line of the plan did: "ok" or "not ok", or nothing.
result()
{
	sed -n "/^# run $*\$/,/^# ran\$/p" "$work/console.out" |
		sed -n "s/^\(not ok\|ok\) [0-9]* - $3.*/\1/p" | head -n 1
}

# Says why no driver could be made, or what its test should have seen.
judge()
{
	[ -z "$(cat "$work/$1/failed" 2>/dev/null)" ] || { cat "$work/$1/failed"; return; }
	[ "$(result "$@")" = "not ok" ] || echo "$2 $3: $(result "$@")"
}

judge_sound()
{
	[ "$(result sound "$@")" = ok ] || echo "$2: $(result sound "$@")"
}

driver sound '' >"$work/sound.log"
for patch in $patches; do
	name=${patch##*/} name=${name%.patch}
	mkdir -p "$work/$name"
	driver "$name" "$patch" >"$work/$name/failed" 2>&1
done
plan >"$work/plan"
MUTANTS=$work CONSOLE=$work/console tests/guest/run.sh fast tt-mutants >"$work/run.log" 2>&1 </dev/null

echo "1..$({ tests_named; printf '%s\n' "$patches"; } | wc -l)"
tests_named >"$work/tests"
while read -r program test load; do
	# shellcheck disable=SC2086 # none, or several
	no_findings "$program $test passes${load:+, $load}" "$(judge_sound "$program" "$test" $load)"
done <"$work/tests"
for patch in $patches; do
	name=${patch##*/} name=${name%.patch}
	# shellcheck disable=SC2046 # two words or more
	no_findings "$name: $(sed -n 's/^rule: //p' "$patch")" \
		"$(judge "$name" $(test_of "$patch"))"
done
