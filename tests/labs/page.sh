#!/bin/bash
# SPDX-License-Identifier: MIT
#
# page.sh: does tests/labs/README.md, "How a lab is made", lead to a lab?  As TAP.
#
# usage: tests/labs/page.sh
#
# Follows the page with lab 90 in a copy of the project: puts its files where they belong, and
# runs the commands of the page, each in its turn, with the lab's name.
set -u
. tests/tap.sh

export DEPS=skip
build=$(realpath "${BUILD:-build}")
page=$PWD/tests/labs/README.md lab=$PWD/tests/labs/90-fill
project=$build/tests/page/project
said=$build/tests/page/said
followed=$build/tests/page/followed

# The sources, and what `make test-build` has made as far as grading needs it.
copy_project()
{
	git ls-files -co --exclude-standard | grep -vE '^(book|docs)/' | while read -r file; do
		[ ! -e "$file" ] || echo "$file"
	done | tar -c -T - | tar -x -C "$project" || return
	(cd "$build" && cp -a bin lib driver firmware grader guest parts sim userspace vm \
		./*.list "$project/build") || return
	# The suites beside this one have folders in labs.
	(cd "$build/tests" && cp -a guest kmod "$project/build/tests" &&
		find labs -maxdepth 1 -type f | xargs cp -a --parents -t "$project/build/tests") || return
	rm -rf "$project/build/driver/debug/kbuild"
}

complain()
{
	tail -n 25 "$said"
}

# The commands of the page, a line each.
commands()
{
	awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on' "$page"
}

# follow COMMAND: a line of the page, with this lab's name in it
follow()
{
	printf '%s\n' "$1" >>"$followed"
	if ! commands | grep -qxF -- "$1"; then
		echo "the page does not say: $1" >"$said"
		return 1
	fi
	bash -c "$(printf '%s\n' "$1" | sed 's/NN-topic/90-fill/g; s/NN/90/g')" >"$said" 2>&1
}

says()
{
	grep -qE -- "$1" "$said"
}

score()
{
	"$build/tests/labs/verdict" build/results/result.json >verdict 2>&1 &&
		grep -qx "score $1 of 100" verdict
}

# graded NAME COMMAND SCORE
graded()
{
	follow "$2" && score "$3"
	result $? "$1"
}

# Each line of the map and of the list that the page has you write.
register()
{
	sed -i '/^LIBRARY_PARTS/s/$/ 90-fill/' userspace/module.mk
	sed -i 's/^global:$/&\n\tagate_fill;/' userspace/libagate-labs.map
	grep -q '90-fill' userspace/module.mk && grep -q agate_fill userspace/libagate-labs.map &&
		grep -q '`LIBRARY_PARTS` in `userspace/module.mk`' "$page" &&
		grep -q '`userspace/libagate-labs.map`' "$page"
}

committed()
{
	git init -q && git add -A && git -c user.name=A -c user.email=a@example.org commit -qm all
}

first_mutants()
{
	follow 'tests/labs/mutants.sh NN fast' && says '^1\.\.3$' &&
		[ "$(grep -c '^ok' "$said")" = 3 ]
}

rm -rf "$build/tests/page"
mkdir -p "$project/build/tests"
echo 1..13
copy_project >"$said" 2>&1
result $? "the project is copied"
cd "$project" || exit 1
unset BUILD
cp -r "$lab"/. . && register >"$said" 2>&1
result $? "the lab's files are in their places, and the build knows them"
# Built from here on: only what the lab adds.
echo 'make test-build' >"$followed"
follow 'scripts/starter.sh NN-topic 0 labs/NN-topic' && grep -q 'STEP 1:' labs/90-fill/agate_fill.c
result $? "the starter is made"
graded "the solution gets all points" 'make grade LAB=NN FROM=solutions' 100
graded "the starter gets none" 'make grade LAB=NN' 0
says 'STEP 1 is not written yet .*: ranges$'
result $? "and is told which step is to be written"
follow 'scripts/starter.sh NN-topic 1 build/step/NN-topic'
graded "after step 1 its test passes" 'make grade LAB=NN FROM=build/step' 40
follow 'make check LAB=NN FROM=solutions' && says 'OK  ' && ! says 'ADVICE|FAIL'
result $? "make check has nothing to say of the solution"
committed >"$said" 2>&1
result $? "the lab is committed"
first_mutants
result $? "each bug is caught by its test"
follow 'mkdir -p build/other' && follow 'cp -r tests/alternatives/NN-topic/by-index build/other/NN-topic'
graded "another right file gets all points" 'make grade LAB=NN FROM=build/other' 100
rm -r build/other/90-fill
cp -r tests/alternatives/90-fill/by-copies build/other/90-fill
graded "and so does a third" 'make grade LAB=NN FROM=build/other' 100
commands | grep -vxF -f "$followed" >"$said"
[ ! -s "$said" ]
result $? "there is no command on the page that was not run"
