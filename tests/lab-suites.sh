#!/bin/sh
# SPDX-License-Identifier: MIT
#
# lab-suites.sh: the suites that look at one lab: its scores, its bugs, its starter, its host
# tests, and the style.
#
# usage: tests/lab-suites.sh TABLE LAB
#
# TABLE is that of tests/queue.sh, LAB what scripts/lab.sh takes.
set -eu

BUILD=${BUILD:-build}
lab=$(scripts/lab.sh "$2")
info=$("$BUILD/bin/agate-lab-info" "labs/$lab/lab.json")
hosts=$(printf '%s\n' "$info" | sed -n 's/^host_tests /|host\//p' | tr -d '\n')
cut -d '|' -f 1 "$1" | grep -xE "style|(scores|mutants|labs/starters)/${lab%%-*}(/.*)?$hosts"
