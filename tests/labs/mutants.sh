#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutants.sh: is each bug that a lab's tests exist for caught, and first by the test
# it is filed under?  As TAP.
#
# usage: tests/labs/mutants.sh NN [SHARD SHARDS]
#
# tests/mutants/NN/TEST[--WHAT].patch is a bug put into the solution.  Grading stops
# at the first failure, which has to be TEST, with an explanation that names the rule.
# Those of the fast kernel have to pass where only the debug kernel sees the bug.
set -u
. tests/labs/grade.sh
. tests/tap.sh

lab=$1 shard=${2:-1} shards=${3:-1}
folder=$(scripts/lab.sh "$lab") || exit 1
work=$BUILD/tests/mutants/$lab

# The patches of this shard, one a line.
patches()
{
	git ls-files "tests/mutants/$lab/*.patch" |
		awk -v s="$shard" -v n="$shards" 'NR % n == s % n'
}

# mutate NAME PATCH: the mutant's folder of sources, as FROM= wants it.  What was compiled
# of it stays, and is taken again where nothing has changed.
mutate()
{
	rm -rf "${work:?}/$1/tree"
	mkdir -p "$work/$1/tree/solutions"
	cp -r "solutions/$folder" "$work/$1/tree/solutions/"
	patch -s -p1 -F0 -d "$work/$1/tree" <"$2" >"$work/$1/patch.log" 2>&1
}

debug_only()
{
	"$BUILD/bin/agate-lab-info" "labs/$folder/lab.json" | grep -qx "debug-only $1"
}

# Says why a mutant was not caught as it should have been; nothing when it was.
judge()
{
	name=$1 test=$2 dir=$work/$1 debug=
	if ! mutate "$name" "$3"; then
		sed 's/^/# /' "$dir/patch.log"
		echo "# the patch does not apply"
		return
	fi
	! debug_only "$test" || debug=--debug
	grade "$dir" "$dir/tree/solutions" --stop-on-fail $debug || return
	if [ "$first" = - ]; then
		echo "# survived: $score of $max"
	elif [ "$first" != "$test" ]; then
		echo "# caught by $first"
		told "$dir" "$first"
	elif ! grep -q "^ *rule  *[^ ]" "$dir/grade.log"; then
		echo "# caught, but no rule was named"
		told "$dir" "$first"
	fi
}

echo "1..$(patches | wc -l)"
for patch in $(patches); do
	name=$(basename "$patch" .patch)
	no_findings "$lab/$name" "$(judge "$name" "${name%%--*}" "$patch")"
done
