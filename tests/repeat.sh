#!/bin/sh
# SPDX-License-Identifier: MIT
#
# repeat.sh: run a test program again and again, as TAP: one point for each run.
#
# usage: tests/repeat.sh TIMES COMMAND...
#
# A run passes when the program exits with 0, and said at least one "ok" and no "not ok".
set -u
. tests/tap.sh

times=$1
shift
said=$(mktemp)
trap 'rm -f "$said"' EXIT
trap 'exit 1' INT TERM HUP

complain()
{
	cat "$said"
}

for i in $(seq "$times"); do
	"$@" >"$said" 2>&1 && grep -q '^ok ' "$said" && ! grep -q '^not ok ' "$said"
	result $? "run $i"
done
echo "1..$number"
