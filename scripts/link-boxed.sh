#!/bin/sh
# SPDX-License-Identifier: MIT
#
# link-boxed.sh: link objects in the box (box-lib.sh).
#
# usage: scripts/link-boxed.sh LIST RESULT COMMAND..., by compose-lib.sh
#
# COMMAND gets a path for what it makes, then the lines of LIST: options and objects.
# Gives the result to descriptor 3, and to 5 "begun" and the symbols that it lacks.
set -u

list=$1 result=$WORK/$2
shift 2

command -v ld >/dev/null || exit 1
echo begun >&5

xargs -d '\n' "$@" "$result" <"$list" || exit
# nm would take six times as long.
readelf -W -s "$result" | awk '$7 == "UND" && NF > 7 { print $8 }' >&5
cat "$result" >&3
