#!/bin/sh
# SPDX-License-Identifier: MIT
#
# coverage.sh: run the simulator's host tests, built with --coverage, and hold what they
# ran of it against the least that is allowed.
#
# usage: tests/coverage.sh FOLDER PROGRAM...
#
# FOLDER is the build of the programs.  Prints a table of all files, then TAP; leaves in
# FOLDER/uncovered.txt the lines that did not run.
set -eu

folder=$1
shift
least=95
log=$folder/programs.log

# Earlier runs left their counts.
find "$folder" -name '*.gcda' -delete

failed=
for program; do
	timeout -k 10 400 "$program" </dev/null >"$log" 2>&1 && continue
	echo "# $program failed:"
	tail -n 20 "$log" | sed 's/^/# | /'
	failed="$failed ${program##*/}"
done

# All in one call: what is compiled twice, for two kinds of test, is one file to it.  The
# notes of a file that is gone speak of headers as they were then.
git ls-files 'sim/model/*.[ch]' 'sim/process/*.[ch]' 'sim/map/*.[ch]' >"$folder/sources.txt"
find "$folder" -name '*.gcno' | while read -r notes; do
	name=${notes##*/}
	[ -n "$(git ls-files "*/${name%.gcno}.c")" ] || rm "$notes"
done
find "$folder" -name '*.gcno' -exec gcov -t -r {} + >"$folder/gcov.txt" 2>"$folder/gcov.log"

exec awk -f tests/coverage.awk -v least=$least -v failed="$failed" \
	-v uncovered="$folder/uncovered.txt" -v reasons=tests/README.md "$folder/sources.txt" "$folder/gcov.txt"
