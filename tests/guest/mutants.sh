#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutants.sh: is each bug of a part of the driver that is no lab yet seen by the guest tests?
# As TAP.
#
# usage: tests/guest/mutants.sh NN SHARD SHARDS, in the project's folder
#
# tests/mutants/NN/SUITE--WHAT.patch is a bug put into solutions/NN-topic.  The driver with it
# has to fail in that suite of run.sh, where the driver without it does not.  The patch may begin
# with a line "rule: ..." that says what the bug breaks, and one "test: ..." (a basic regular
# expression) that names the
# point that has to fail: not only another one, which the bug takes along.  In suite binds a line
# "program: ..." says which program has that point, and no other one runs.
#
# Some bugs are races, and on a busy machine a race may not be hit.  So each bug gets a second look, and
# its line says when it needed that: then the test is to be given a gate, or a control.
#
# The bugs of a part that is in ONE_BOOT share a guest, which loads one driver after the other.
# There "test:" names the test of program SUITE that looks for the bug, or "table": then the
# card's table is not what it was; or "supplies": then one of them is on while the system sleeps.
set -u
lab=$1 shard=$2 shards=$3
ONE_BOOT=26
. tests/tap.sh

. tests/guest/part-lib.sh

part_begin "$lab" "$BUILD/tests/guest-mutants/$lab/$shard"

# suite NAME PATCHES: the suite that the name begins with, on the driver in $work/NAME, with the
# programs that these patches name.  A bug may make it wait for ever.  These bugs are
# looked for with one processor, because such a guest computes less.
suite()
{
	AGATE_PROGRAMS=$(sed -n 's/^program: //p' $2 | sort -u) LIMIT=120 CONSOLE=$work/$1/console \
		AGATE_KO=$work/$1/agate.ko AGATE_APPEND=maxcpus=1 \
		tests/guest/run.sh fast "${1%%--*}" >"$work/$1/run.log" 2>&1 </dev/null
}

# failed NAME POINT: has a point failed whose name begins with POINT?
failed()
{
	grep -q "^not ok [0-9]* - $2" "$work/$1/run.log"
}

# suite_until NAME PATCH POINT: the same as suite, ended as soon as that point has failed.
suite_until()
{
	: >"$work/$1/run.log"
	suite "$1" "$2" &
	while kill -0 $! 2>/dev/null; do
		if failed "$1" "$3"; then
			kill "$(cat "$work/$1/console.pid")" 2>/dev/null
			break
		fi
		sleep 0.2
	done
	wait $!
}

# Says what is wrong with a mutant; nothing when the suite saw it.
judge()
{
	name=$1
	driver "$name" "$2" || return
	point=$(sed -n 's/^test: //p' "$2")
	suite_until "$name" "$2" "$point"
	if ! failed "$name" ''; then
		echo "survived ${name%%--*}"
		tail -n 3 "$work/$name/run.log"
	elif ! failed "$name" "$point"; then
		echo "$point did not see it, but"
		grep '^not ok' "$work/$name/run.log"
	fi
}

# The mutant's name, and the rule that it breaks where the patch says that.
title()
{
	rule=$(sed -n 's/^rule: //p' "$2")
	echo "$1${rule:+: $rule}"
}

# Says what the driver without a bug does wrong where bugs of this suite are looked for.
sound()
{
	driver "$1" '' || return
	suite "$1" "$(printf '%s\n' $patches | grep "/$1--")"
	grep -q '^ok' "$work/$1/run.log" || echo "no test ran"
	grep '^not ok' "$work/$1/run.log"
}

# ---- One guest for all ----

# name_of PATCH, test_of PATCH
name_of() { basename "$1" .patch; }
test_of() { sed -n 's/^test: //p' "$1"; }

# What has to pass without a bug: each test once.
tests_of() { for patch in $1; do test_of "$patch"; done | sort -u; }

# part_of NAME TEST: what the guest printed about that driver
part_of()
{
	sed -n "/^# mutant $1 $2\$/,/^# mutant /p" "$work/run.log"
}

# supplies_of NAME: what is wrong with the supplies while that driver is there
supplies_of() { awk -v from="$1" -f tests/guest/supplies.awk "$work/console.events"; }

# failed_in NAME TEST: has it failed there?
failed_in()
{
	case $2 in
	table) [ "$(part_of "$@" | grep '^# crc' | sort -u | wc -l)" = 2 ] ;;
	supplies) supplies_of "$1" | grep -q "stayed on" ;;
	*) part_of "$@" | grep -q "^not ok [0-9]* - $2\( \|\$\)" ;;
	esac
}

# passed_in NAME TEST: has it passed there?
passed_in()
{
	case $2 in
	table) [ "$(part_of "$@" | grep '^# crc' | sort | uniq -c | awk '{ print $1 }')" = 2 ] ;;
	supplies) [ -s "$work/console.events" ] && [ -z "$(supplies_of "$1")" ] ;;
	*) part_of "$@" | grep -q "^ok [0-9]* - $2\$" ;;
	esac
}

# prepare PATCHES: the drivers, and what looks at each
prepare()
{
	driver sound '' || return
	tests_of "$1" | sed 's/^/sound /' >"$work/list"
	for patch in $1; do
		driver "$(name_of "$patch")" "$patch" || return
		echo "$(name_of "$patch") $(test_of "$patch")" >>"$work/list"
	done
}

one_boot()
{
	patches=$1
	suite=$(name_of "${patches%%
*}")
	echo "1..$(printf '%s\n' "$patches" $(tests_of "$patches") x | wc -l)"
	no_findings "the drivers can be built" "$(prepare "$patches")"
	LIMIT=$((100 + 40 * $(wc -l <"$work/list"))) CONSOLE=$work/console MUTANTS=$work \
		tests/guest/run.sh fast "${suite%%--*}-mutants" >"$work/run.log" 2>&1 </dev/null
	for test in $(tests_of "$patches"); do
		passed_in sound "$test"
		result $? "$test passes"
	done
	for patch in $patches; do
		failed_in "$(name_of "$patch")" "$(test_of "$patch")"
		result $? "$(title "$(name_of "$patch")" "$patch")"
	done
}

patches=$(git ls-files "tests/mutants/$lab/*.patch" | awk -v s="$shard" -v n="$shards" 'NR % n == s % n')
leave_without "$patches"
case " $ONE_BOOT " in
*" $lab "*)
	complain() { tail -n 20 "$work/run.log"; }
	one_boot "$patches"
	exit ;;
esac
suites=$(printf '%s\n' "$patches" | sed 's|.*/||; s|--.*||' | sort -u)
echo "1..$(printf '%s\n' "$suites" "$patches" | wc -l)"
for suite in $suites; do
	no_findings "$suite passes" "$(sound "$suite")"
done
for patch in $patches; do
	name=${patch##*/} name=${name%.patch} look=
	findings=$(judge "$name" "$patch")
	if [ -n "$findings" ]; then
		printf 'the first look: %s\n' "$findings" | sed 's/^/# /'
		findings=$(judge "$name" "$patch") look=' # at the second look'
	fi
	no_findings "$(title "$name" "$patch")$look" "$findings"
done
