#!/bin/sh
# SPDX-License-Identifier: MIT
#
# score.sh: add up what suite.sh wrote down; the last line of `make test`.
#
# usage: tests/score.sh SUITE...
#
# Every suite named must have a score, exactly one: a suite that never ran is a
# failure.
set -u

score=${BUILD:-build}/tests/score
for suite; do
	n=$(awk -v s="$suite" '$1 == s' "$score" | wc -l)
	[ "$n" = 1 ] || {
		printf '  %-8s %s ran %d times\n' FAIL "$suite" "$n"
		echo "$suite 0 1" >>"$score"
	}
done
# A race that one look did not hit: no failure, but a test to be made better.
for suite; do
	log=${BUILD:-build}/logs/$(echo "$suite" | tr / -).log
	[ ! -e "$log" ] || sed -n 's/^ok [0-9]* - \(.*\) # at the second look$/\1/p' "$log"
done | sed 's/^/  2nd LOOK /'
awk '{ passed += $2; failed += $3 }
     END { printf "%d passed, %d failed\n", passed, failed; exit failed || !passed }' "$score"
