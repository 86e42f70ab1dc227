#!/bin/sh
# SPDX-License-Identifier: MIT
#
# lab-suites.sh: the suites that look at one lab: its scores, its starter, its bugs, and the style.
#
# usage: tests/lab-suites.sh TABLE LAB
#
# TABLE is that of tests/queue.sh, LAB what scripts/lab.sh takes.
set -eu

lab=$(scripts/lab.sh "$2")
cut -d '|' -f 1 "$1" |
	grep -E "^style\$|^(scores|mutants|labs/starters|(guest|host)-mutants)/${lab%%-*}(-[a-z]+)?(/|\$)"
