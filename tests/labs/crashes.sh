#!/bin/bash
# SPDX-License-Identifier: MIT
#
# crashes.sh: from a real crash to the line, as TAP.
#
# usage: tests/labs/crashes.sh
#
# tests/grader/explain/kmod is built for both kernels and does wrong what it can in
# guests; the grader's eyes have to find the kind of mistake and its line.
set -u
. tests/tap.sh

BUILD=${BUILD:-build}
here=tests/grader/explain
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

# What was done; the kind of report; the line that did it, as the compiler sees it: it
# moves a small function's load to where the function is called.
crashes=(
	fast-null-read oops 'sink = thing_size(runtime_null);'
	fast-null-call oops 'sink = thing->call(thing);'
	fast-stack-overflow oops 'deeper(n + 1)|buf[0] = n;|static noinline int deeper'
	fast-warn-on warning 'WARN_ON(!runtime_null);'
	fast-ref-underflow refcount 'sink = refcount_dec_and_test(&thing->ref);'
	fast-irq-not-freed warning 'pci_free_irq_vectors(broken_pdev);'
	fast-mutex-twice hung-task 'mutex_lock(&first_mutex);'
	fast-loop-irqs-off lockup 'for (;;)|cpu_relax();'
	debug-use-after-free KASAN 'sink = thing_size(thing);'
	debug-both-orders lockdep 'mutex_lock(b);'
	debug-sleep-in-spin sleep 'mutex_lock(&first_mutex);'
	debug-dma-wrong-size DMA-API 'dma_unmap_single(&broken_pdev->dev, dma, 2048, DMA_TO_DEVICE);'
)

complain()
{
	tail -qn 20 "$work/said" "$work/$name.txt"
}

names=()
for ((i = 0; i < ${#crashes[@]}; i += 3)); do
	names+=("${crashes[i]}")
done
echo "1..${#names[@]}"
# A guest whose two CPUs hang does not end by itself; by then it has said all it will.
LIMIT=25 $here/collect.sh "$work" "${names[@]}" >"$work/collected" 2>&1 || {
	sed 's/^/# /' "$work/collected"
	exit 1
}

for ((i = 0; i < ${#crashes[@]}; i += 3)); do
	name=${crashes[i]} kind=${crashes[i + 1]} lines=${crashes[i + 2]}
	flavour=${name%%-*}
	"$BUILD/$here/explain_log" "$work/$name.txt" "$work/$flavour/agate.ko" "$work/$flavour" \
		broken_memory.c broken_locks.c broken_device.c >"$work/said"
	source=$(sed -n 's/^source:[[:space:]]*//p' "$work/said")
	wrong=1
	while read -r line; do
		[[ -n $source && $source == *"$line"* ]] && wrong=0
	done < <(tr '|' '\n' <<<"$lines")
	grep -qx "kind: $kind" "$work/said" || wrong=1
	result $wrong "$name: $kind, and its line"
done
