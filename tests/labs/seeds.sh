#!/bin/bash
# SPDX-License-Identifier: MIT
#
# seeds.sh: the solution gets full marks whatever numbers the grader draws, as TAP.
#
# usage: tests/labs/seeds.sh NN TIMES
set -u
lab=$1 times=$2
. tests/labs/grade.sh
. tests/tap.sh

work=$BUILD/tests/seeds/$lab

full_marks()
{
	grade "$work" solutions --debug --seed "$1" || return
	[ "$score/$max" = 100/100 ] || {
		echo "# $score of $max, first failed: $first"
		told "$work" "$first"
	}
}

echo "1..$times"
for i in $(seq "$times"); do
	seed=$(od -An -N 4 -tu4 /dev/urandom | xargs)
	no_findings "$lab: seed $seed" "$(full_marks "$seed")"
done
