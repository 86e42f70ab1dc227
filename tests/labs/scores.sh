#!/bin/bash
# SPDX-License-Identifier: MIT
#
# scores.sh: the solution and every other correct file get full marks on both kernels,
# the starter gets next to nothing and every failure is explained, and no graded test
# is without a mutant.  As TAP.
#
# usage: tests/labs/scores.sh NN [SHARD SHARDS ORDER]
#
# With SHARD only each SHARDS-th of the other correct files, from that one on.  ORDER is a number for
# one of the orders in which the tests may run; without it there are 24.
#
# A verdict is kept, and not looked for again until something that it depends on changes.
set -u
lab=$1
. tests/labs/grade.sh
. tests/tap.sh

work=$BUILD/tests/scores/$lab

full_marks()
{
	grade "$work/$1/results" "$2" --debug || return
	[ "$score/$max" = 100/100 ] || {
		echo "# $score of $max, first failed: $first"
		told "$work/$1/results" "$first"
	}
}

# FROM= wants folders named as labs are; an alternative's is named after itself.
alternative()
{
	rm -rf "${work:?}/alternative-$1/tree"
	mkdir -p "$work/alternative-$1/tree"
	cp -r "tests/alternatives/$folder/$1" "$work/alternative-$1/tree/$folder"
	full_marks "alternative-$1" "$work/alternative-$1/tree"
}

# The starter as it is committed, even while somebody edits labs/.
starter()
{
	rm -rf "$work/starter/labs"
	mkdir -p "$work/starter"
	git archive HEAD "labs/$folder" | tar -x -C "$work/starter"
	grade "$work/starter" "$work/starter/labs" --debug || return
	[ "$max" = 100 ] || echo "# max is $max"
	[ "$score" -le 10 ] || echo "# the starter gets $score points"
	[ "$unexplained" = 0 ] || echo "# $unexplained failures without a message or hints"
	if grep -qE '^ *CRASH ' "$work/starter/grade.log"; then
		grep -E -A 8 '^ *CRASH ' "$work/starter/grade.log" | sed 's/^/# /'
		echo "# the starter crashes"
	fi
}

# A grader with two guests begins with the tests that took longest last time: say that they took
# other times.  No test may leave anything to the one after it in its guest.  Where there was no
# memory for a second guest, the order was the lab's.  A test that needs a guest of its own waits
# until the others have run, and either of the two guests may take the first of those.
in_order()
{
	local out=$work/order-$1 begins log
	log=$out/$folder/fast-tests.log
	rm -rf "$out"
	mkdir -p "$out/$folder"
	test_names | grep -vxF "$(lab_says debug-only; lab_says own-guest)" |
		awk -v seed="$1" 'BEGIN { srand(seed) } { print $0, 60 + int(rand() * 5000) }' \
			>"$out/$folder/fast-times"
	begins=$(sort -k 2 -n "$out/$folder/fast-times" | sed -n '$s/ .*//p')
	grade "$out" solutions --guests 2 || return
	if grep -qs '^=== guest 2$' "$log" &&
		! grep -A 1 '^=== guest [0-9]*$' "$log" | grep -q "^=== $begins: "; then
		echo "# the tests did not begin with $begins:"
		sed -n 's/^=== /#   /p' "$log"
	fi
	[ "$score" = "$max" ] && [ "$max" -gt 0 ] || {
		echo "# $score of $max, first failed: $first; the guests ran:"
		sed -n 's/^=== /#   /p' "$log"
		told "$out" "$first"
	}
}

test_names()
{
	"$BUILD/tests/labs/without-prose" "labs/$folder/lab.json" |
		sed -n 's/^ *"name": "\(.*\)",*$/\1/p'
}

# Every test has a bug that it catches (mutants.sh proves that it does).
proven()
{
	test_names | while read -r test; do
		set -- "tests/mutants/$lab/$test".patch "tests/mutants/$lab/$test--"*.patch
		[ -f "$1" ] || [ -f "$2" ] || echo "# no mutant for $test"
	done
	[ "$(git ls-files "tests/mutants/$lab/*.patch" | wc -l)" -ge 12 ] ||
		echo "# fewer than 12 mutants"
	for patch in tests/mutants/"$lab"/*.patch; do
		name=$(basename "$patch" .patch)
		test_names | grep -qx "${name%%--*}" || echo "# no test for $patch"
	done
}

alternatives=$(git ls-files "tests/alternatives/$folder/*" | cut -d/ -f4 | sort -u)
# shellcheck disable=SC2046 # a list of names
same_for_all $(grade_inputs fast debug)
orders=${4:-$(seq 24)}
turns=$(echo "$alternatives" | awk -v s="${2:-1}" -v n="${3:-1}" 'NR % n == s % n')
echo "1..$((4 + $(echo "$turns" "$orders" | wc -w)))"
kept "$lab: solution" "full_marks solution solutions" "words:solutions/$folder"
for o in $orders; do
	kept "$lab: solution, tests in order $o" "in_order $o" "words:solutions/$folder"
done
for a in $turns; do
	kept "$lab: alternative $a" "alternative $a" "words:tests/alternatives/$folder/$a"
done
no_findings "$lab: at least two alternatives" \
	"$([ "$(echo "$alternatives" | wc -w)" -ge 2 ] || echo "# too few")"
kept "$lab: starter" starter "committed:labs/$folder" "labs/$folder/lab.json"
no_findings "$lab: every test has a mutant" "$(proven)"
