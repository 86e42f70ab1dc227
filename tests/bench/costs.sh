#!/bin/sh
# SPDX-License-Identifier: MIT
#
# costs.sh: the time of each suite of `make test`; part of `make bench`.
#
# usage: tests/bench/costs.sh [TIMES]
#
# TIMES (build/tests/times) has a line "NAME SECONDS CPU-SECONDS" for each run of a whole suite
# without kept results; a suite's last line counts.  Prints a line for each group of suites and
# for each suite that computes for more than two seconds, the most expensive ones first, and the
# total.
set -u

times=${1:-${BUILD:-build}/tests/times}
[ -s "$times" ] || {
	echo "What the suites cost is known after make test FRESH=1."
	exit 0
}
awk '
	{ seconds[$1] = $2; cpu[$1] = $3 }
	END {
		for (name in cpu) {
			group = name
			sub(/\/.*/, "", group)
			group_seconds[group] += seconds[name]
			group_cpu[group] += cpu[name]
			count[group]++
			all += cpu[name]
			if (name != group && cpu[name] > 2)
				printf "2 %s %.1f %.1f\n", name, seconds[name], cpu[name]
		}
		for (group in count)
			printf "1 %s %.1f %.1f %d\n", group, group_seconds[group], group_cpu[group], count[group]
		printf "0 all 0 %.1f\n", all
	}' "$times" | sort -k1,1n -k4,4rn | awk '
	$1 == 0 { printf "%-34s %10s %10s\n", "make test, by suite", "seconds", "CPU s"
		  all = $4; next }
	$1 == 1 { printf "%-34s %10.1f %10.1f  %3.0f %%\n", $2 ($5 > 1 ? " (" $5 ")" : ""), $3, $4,
		  100 * $4 / (all ? all : 1); next }
	{ printf "  %-32s %10.1f %10.1f\n", $2, $3, $4 }
	END { printf "%-34s %10s %10.1f\n", "together", "", all }'
