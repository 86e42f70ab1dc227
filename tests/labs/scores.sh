#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scores.sh: the solution and every other correct file get full marks on both kernels,
# the starter gets next to nothing and every failure is explained, and no graded test
# is without a mutant.  As TAP.
#
# usage: tests/labs/scores.sh NN
set -u
. tests/tap.sh
. tests/labs/grade.sh

lab=$1
folder=$(scripts/lab.sh "$lab") || exit 1
work=$BUILD/tests/scores/$lab

full_marks()
{
	grade "$work/$1" "$2" --debug || return
	[ "$score/$max" = 100/100 ] || {
		echo "# $score of $max, first failed: $first"
		told "$work/$1" "$first"
	}
}

# FROM= wants folders named as labs are; an alternative's is named after itself.
alternative()
{
	rm -rf "${work:?}/alternative-$1/$folder"
	mkdir -p "$work/alternative-$1"
	cp -r "tests/alternatives/$folder/$1" "$work/alternative-$1/$folder"
	full_marks "alternative-$1" "$work/alternative-$1"
}

# What is committed as the starter, whatever is being edited in labs/.
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

# Every test has a bug that it is the first to catch (mutants.sh proves that it is).
proven()
{
	sed -n 's/.*"id": *"[^"]*\/\([^"]*\)".*/\1/p' "$work/solution/result.json" |
		while read -r test; do
			set -- "tests/mutants/$lab/$test"*.patch
			[ -f "$1" ] || echo "# no mutant for $test"
		done
	[ "$(git ls-files "tests/mutants/$lab/*.patch" | wc -l)" -ge 12 ] ||
		echo "# fewer than 12 mutants"
	for patch in tests/mutants/"$lab"/*.patch; do
		name=$(basename "$patch" .patch)
		grep -q "/${name%%--*}\"" "$work/solution/result.json" ||
			echo "# no test for $patch"
	done
}

alternatives=$(git ls-files "tests/alternatives/$folder/*" | cut -d/ -f4 | sort -u)
echo "1..$((4 + $(echo "$alternatives" | wc -w)))"
no_findings "$lab: solution" "$(full_marks solution solutions)"
for a in $alternatives; do
	no_findings "$lab: alternative $a" "$(alternative "$a")"
done
no_findings "$lab: at least two alternatives" \
	"$([ "$(echo "$alternatives" | wc -w)" -ge 2 ] || echo "# too few")"
no_findings "$lab: starter" "$(starter)"
no_findings "$lab: every test has a mutant" "$(proven)"
