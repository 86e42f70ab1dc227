#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh: one fuzz target: its corpus, then some seconds of fuzzing, as TAP.
#
# usage: tests/fuzz/run.sh TARGET SECONDS [FOLDER]
#
# New inputs go into FOLDER, and the next run with the same FOLDER continues from them.
# Without FOLDER every run starts from the corpus in the tree.
set -u

target=$1 seconds=$2
build=${BUILD:-build}/fuzz
program=$build/fuzz-$target
corpus=tests/fuzz/corpus/$target
crashes=$build/crashes
tmp=
found=${3-}
if [ -z "$found" ]; then
	tmp=$(mktemp -d)
	found=$tmp
	trap 'rm -rf "$tmp"' EXIT
fi
mkdir -p "$found" "$crashes"

# An input that takes longer than this hangs, even on the slowest machine.
hang=60
# Without llvm-symbolizer, gcc's addr2line names the lines.
export ASAN_OPTIONS="allow_addr2line=1:${ASAN_OPTIONS-}" UBSAN_OPTIONS="print_stacktrace=1"

# The corpus must get at least this much done.
case $target in
chain)		wants="walks faults jobs failed bytes hints" ;;
tables)		wants="walks faults jobs failed hints" ;;
compute)	wants="walks faults jobs failed bytes" ;;
tiler)		wants="walks faults jobs failed triangles pixels" ;;
queue)		wants="walks jobs hints" ;;
range)		wants="inserted reserved removed full refused" ;;
mover)		wants="jobs commands moved mover_faults frames hints" ;;
ggtt)		wants="walks jobs hints stale_entries dropped_commits" ;;
*)		wants="inputs" ;;
esac

log=$(mktemp)
trap 'rm -rf "$log" "$tmp"' EXIT
trap 'exit 130' INT TERM HUP
n=0

# result NAME STATUS: report a result; after a failure, also how to repeat it.
result()
{
	n=$((n + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n - $1"
		return
	fi
	echo "not ok $n - $1"
	file=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
	[ -z "$file" ] || echo "# to see it again: $program $file"
}

run()
{
	"$program" -timeout="$hang" -artifact_prefix="$crashes/$target-" "$@" >"$log" 2>&1
	status=$?
	cat "$log"
	return $status
}

echo "1..3"
run "$corpus"/*
status=$?
missing=
for want in $wants; do
	grep -q "^reached:.* $want=[1-9]" "$log" || missing="$missing $want"
done
# That run does not name the file: the last one that it began caused the failure.
[ "$status" = 0 ] || echo "# to see it again: $program $(sed -n 's/^Running: //p' "$log" | tail -n 1)"
result "$target: the corpus is clean" "$status"
[ -z "$missing" ] || echo "# the corpus reaches no:$missing"
result "$target: the corpus reaches what there is" "${#missing}"
run -max_total_time="$seconds" -max_len=2048 -print_final_stats=1 "$found" "$corpus"
result "$target: $seconds seconds of fuzzing are clean" $?
