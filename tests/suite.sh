#!/bin/sh
# SPDX-License-Identifier: MIT
#
# suite.sh: run one test program, judge its TAP, write down the score.
#
# usage: tests/suite.sh NAME SECONDS COMMAND...
#
# A test passed only if the program said so, said how many tests there would
# be, said a line for each of them, and then ended well.  Silence, a missing or
# wrong plan and a bad exit are failures of the suite, counted as one more
# failed test.  Appends "NAME passed failed" to build/tests/score and leaves
# all output in build/logs/NAME.log.  Exits 0 whatever the score.
set -u

name=$1 limit=$2
shift 2
build=${BUILD:-build}
log=$build/logs/$(echo "$name" | tr / -).log
mkdir -p "$build/logs" "$build/tests"
begun=$(date +%s)

# timeout(1) gives the suite a process group of its own, so that its end takes
# everything along; a Ctrl-C reaches only this shell, which passes it on.
CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 10 "$limit" "$@" </dev/null >"$log" 2>&1 &
pid=$!
trap 'kill "$pid"; wait "$pid"; exit 130' INT TERM HUP
wait "$pid"
status=$?
trap - INT TERM HUP

passed=$(grep -c '^ok [0-9]' "$log")
failed=$(grep -c '^not ok [0-9]' "$log")
planned=$(sed -n 's/^1\.\.\([0-9][0-9]*\)$/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')

why=
if [ "$status" = 124 ] || [ "$status" = 137 ]; then
	why="no end within $limit s"
elif [ "$planned" = 0 ]; then
	why="no plan (exit status $status)"
elif [ "$planned" != $((passed + failed)) ]; then
	why="$planned tests planned, $((passed + failed)) seen (exit status $status)"
elif [ "$failed" = 0 ] && [ "$status" != 0 ]; then
	why="exit status $status"
fi
[ -z "$why" ] || failed=$((failed + 1))

if [ "$failed" = 0 ]; then
	printf '  %-8s %-36s %4d tests %5d s\n' OK "$name" "$passed" $(($(date +%s) - begun))
else
	printf '  %-8s %-36s %4d of %d failed, see %s\n' FAIL "$name" "$failed" \
		$((passed + failed)) "$log"
	[ -z "$why" ] || printf '           %s\n' "$why"
	grep '^not ok [0-9]' "$log" | head -n 20 | sed 's/^/           /'
	[ -z "$why" ] || tail -n 8 "$log" | sed 's/^/           | /'
fi
echo "$name $passed $failed" >>"$build/tests/score"
