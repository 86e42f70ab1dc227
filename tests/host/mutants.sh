#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mutants.sh: is each bug that the host tests of a lab exist for caught by the test it is
# filed under?  As TAP.
#
# usage: tests/host/mutants.sh LAB SHARD SHARDS TEST..., in the project's folder
#
# LAB is NN, or NN-WHAT where tests/mutants/NN is for guest tests.
# TEST is a program among the host tests, such as range or userspace-bo_cache; its source is
# test_range.c or test_bo_cache.c.  userspace-bo_cache-tsan is the same with ThreadSanitizer.
# tests/mutants/LAB/FUNCTION[--WHAT].patch is a bug put into the solution, or into a file of
# kernel/ that the tests run beside it; in the last of these programs that has it, test_FUNCTION
# has to fail, or a sanitizer or an assertion to end the program.  A leak counts if no test fails:
# a test that fails leaks what it would have freed.
set -u
lab=$1 shard=$2 shards=$3
shift 3
. tests/tap.sh

BUILD=${BUILD:-build}
nn=${lab%%-*}
solution=$(echo solutions/"$nn"-*)
# The mutants here share the objects of what is not the lab's.
work=$BUILD/tests/host-mutants/$lab/$shard
mkdir -p "$work/logs"

# program FUNCTION: which test has it
program()
{
	found=
	for test in "${tests[@]}"; do
		source=${test#userspace-}
		! grep -q "(test_$1)" tests/host/*/"test_${source%-tsan}.c" || found=$test
	done
	echo "$found"
}

# build NAME TEST...: the programs with the sources in $work/NAME/tree
build()
{
	name=$1 frame=kernel
	shift
	[ ! -d "$work/$name/tree/kernel" ] || frame=$work/$name/tree/kernel
	make -s DEPS=skip BUILD="$work" "AGATE_LAB_$nn=$work/$name/tree/$solution" \
		"AGATE_FRAME=$frame" NAMES="$*" check-host-build >"$work/$name/build.log" 2>&1
}

# run TEST: the last program of that name that was built.  A bug may make it compute for ever, or
# wait for ever.
run()
{
	(ulimit -t 120; CMOCKA_MESSAGE_OUTPUT=TAP exec timeout 400 "$work"/tests/host/*/"$1")
}

mutate()
{
	rm -rf "${work:?}/$1"
	mkdir -p "$work/$1/tree/$solution"
	cp "$solution"/*.c "$work/$1/tree/$solution/"
	# The others share the frame's objects, too.
	[ -z "$2" ] || ! grep -q '^+++ b/kernel/' "$2" || cp -r kernel "$work/$1/tree/"
	[ -z "$2" ] || patch -s -p1 -F0 --no-backup-if-mismatch -d "$work/$1/tree" <"$2" >"$work/$1/patch.log" 2>&1
}

# caught LOG FUNCTION
caught()
{
	grep -qE "^not ok .*test_$2( |\$)" "$1" && return
	if grep -q '^not ok' "$1"; then
		return 1
	fi
	grep -qE 'ERROR: (Address|Leak)Sanitizer|ThreadSanitizer|runtime error|Assertion .* failed' "$1"
}

# Says why a mutant was not caught; nothing when it was.
judge()
{
	function=${1%%--*}
	test=$(program "$function")
	if ! mutate "$1" "$2"; then
		echo "the patch does not apply"
	elif [ -z "$test" ]; then
		echo "no test is called test_$function"
	elif ! build "$1" "$test"; then
		echo "it does not compile"
		tail -n 5 "$work/$1/build.log"
	elif run "$test" >"$work/$1/run.log" 2>&1; then
		echo "survived $test"
	elif ! caught "$work/$1/run.log" "$function"; then
		echo "caught, but not by test_$function"
		grep '^not ok' "$work/$1/run.log"
	fi
}

tests=("$@")
patches=$(git ls-files "tests/mutants/$lab/*.patch" | awk -v s="$shard" -v n="$shards" 'NR % n == s % n')
leave_without "$patches"
echo "1..$((1 + $(echo "$patches" | wc -l)))"

mutate solution ''
build solution "${tests[@]}"
status=$?
for test in "${tests[@]}"; do
	[ $status != 0 ] || run "$test" >"$work/logs/$test.log" 2>&1
	status=$?
done
result $status "the solution passes"
[ $status = 0 ] || grep -hE '^not ok|Sanitizer|[Ee]rror' "$work"/logs/*.log | sed 's/^/# /'
for patch in $patches; do
	name=${patch##*/} name=${name%.patch}
	no_findings "$name" "$(judge "$name" "$patch")"
done
