#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mutants.sh: is each bug that a lab's tests exist for caught by the test it is filed
# under?  As TAP.
#
# usage: tests/labs/mutants.sh NN fast|debug|first [SHARD SHARDS]
#
# tests/mutants/NN/TEST[--WHAT].patch is a bug put into the solution.  TEST has to fail,
# with an explanation that names the rule.
#
#   fast   the bugs that show on the fast kernel, each graded by its test alone
#   debug  those of tests that only the debug kernel runs, likewise
#   first  all, graded by all tests up to the first that fails, which has to be TEST; on
#          the fast kernel all tests have to pass where only the debug kernel sees the bug
#
# A verdict is kept, and not looked for again until something that it depends on changes: of
# the solution, the code that is left when the bug is in it.
set -u
lab=$1 mode=$2 shard=${3:-1} shards=${4:-1}
. tests/labs/grade.sh
. tests/tap.sh

work=$BUILD/tests/mutants/$lab
debug_only=" $(lab_says debug-only | xargs) "

is_debug()
{
	local test=${1##*/}
	test=${test%.patch}
	[[ $debug_only == *" ${test%%--*} "* ]]
}

# The patches of this shard, one a line.
patches()
{
	git ls-files "tests/mutants/$lab/*.patch" | while read -r patch; do
		case $mode in
		fast) is_debug "$patch" || echo "$patch" ;;
		debug) ! is_debug "$patch" || echo "$patch" ;;
		first) echo "$patch" ;;
		esac
	done | awk -v s="$shard" -v n="$shards" 'NR % n == s % n'
}

# mutate NAME PATCH: the mutant's folder of sources, as FROM= wants it; none when the patch
# does not apply.  A patch that applies some lines further on leaves no copy of the file there.
# Compiled parts stay, and are used again where nothing has changed.
mutate()
{
	rm -rf "${work:?}/$1/tree"
	mkdir -p "$work/$1/tree/solutions"
	cp -r "solutions/$folder" "$work/$1/tree/solutions/"
	patch -s -p1 -F0 --no-backup-if-mismatch -d "$work/$1/tree" <"$2" \
		>"$work/$1/patch.log" 2>&1 || rm -rf "${work:?}/$1/tree"
}

# Says why a mutant was not caught as it should have been; nothing when it was.
judge()
{
	local patch=$1 name=${1##*/} options=()
	name=${name%.patch}
	test=${name%%--*} dir=$work/$name
	if [ ! -d "$dir/tree" ]; then
		sed 's/^/# /' "$dir/patch.log"
		echo "# the patch does not apply"
		return
	fi
	! is_debug "$patch" || options+=(--debug)
	if [ "$mode" = first ]; then options+=(--stop-on-fail); else options+=(--test "$test"); fi
	grade "$dir" "$dir/tree/solutions" "${options[@]}" || return
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

flavours=fast
[ "$mode" = fast ] || flavours="fast debug"
# shellcheck disable=SC2046,SC2086 # lists of names
same_for_all $(grade_inputs $flavours)

leave_without "$(patches)"
echo "1..$(patches | wc -l)"
for patch in $(patches); do
	name=${patch##*/} name=${name%.patch}
	mutate "$name" "$patch"
	kept "$lab/$name" "judge $patch" "$patch" "words:$work/$name/tree"
done
