#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench.sh: measure, and print the table; `make bench`.
#
# usage: tests/bench/bench.sh
#
# From restore to verdict: a whole run of the launcher, from its start to its exit, with
# restore, GPU, insmod, one job and its report; several times, on both kernels.  Then the
# benchmarks of the model alone, those of guest-bench inside one guest, and our driver
# beside upstream's.
set -eu

BUILD=${BUILD:-build}
out=$BUILD/bench
runs=${RUNS:-7}
samples=$out/samples.jsonl
mkdir -p "$out" "$BUILD/logs"
: >"$samples"

# vm FLAVOUR STEP...: one run of the launcher, with $beside it what makes the machine busy.
beside=
vm()
{
	flavour=$1
	shift
	# shellcheck disable=SC2086 # words are meant
	$beside "$BUILD/bin/agate-vm" run --kernel "$BUILD/guest/kernel-$flavour" \
		--initramfs "$BUILD/guest/initramfs.cpio.gz" --sim "$BUILD/bin/agate-sim" \
		--timeout 600 --console "$BUILD/logs/console-bench.log" \
		--timings "$out/timings.json" "$@"
}

# part NAME KEY: one sample, in milliseconds since the start of the run, from the
# launcher's timings.
part()
{
	value=$(tr -d '\n' <"$out/timings.json" | sed -n "s/.*\"$2_ns\": *\([0-9]*\).*/\1/p")
	echo "{\"name\": \"$1\", \"unit\": \"ms\", \"samples\": [$(echo "$value" |
		awk '{ printf "%.1f", $1 / 1e6 }')]}" >>"$samples"
}

for flavour in fast debug; do
	printf '  %-8s %s\n' BENCH "restore to verdict, $flavour kernel, $runs runs" >&2
	i=0
	vm "$flavour" "exec:true"		# makes the snapshot if there is none
	while [ "$i" -lt "$runs" ]; do
		vm "$flavour" "put:$BUILD/driver/$flavour/agate.ko:/run/agate.ko" \
			"put:$BUILD/tests/guest/one-job:/run/one-job:0755" \
			"exec:insmod /run/agate.ko coherency=ace" "exec:/run/one-job" >"$out/one-job.log" 2>&1
		part "restore_to_verdict_$flavour" total
		part "restored_$flavour" restored
		part "gpu_plugged_$flavour" plugged
		part "guest_ready_$flavour" ready
		i=$((i + 1))
	done
done

printf '  %-8s %s\n' BENCH "the model: tiler and rasteriser, copies, the mover, translations, jobs" >&2
for bench in raster copy mover translate null; do
	"$BUILD/tests/bench/$bench-bench" >>"$samples"
done

printf '  %-8s %s\n' BENCH "the library alone: lookups, a full cache" >&2
"$BUILD/tests/bench/lookup-bench" >>"$samples"

printf '  %-8s %s\n' BENCH "driver and GPU, fast kernel" >&2
vm fast "put:$BUILD/driver/fast/agate.ko:/run/agate.ko" \
	"put:$BUILD/guest/kernel-fast/modules/vgem.ko:/run/vgem.ko" \
	"put:$BUILD/tests/bench/guest-bench:/run/guest-bench:0755" \
	"put:$BUILD/tests/bench/cache-bench:/run/cache-bench:0755" \
	"exec:insmod /run/agate.ko coherency=ace && insmod /run/vgem.ko" \
	"exec:/run/guest-bench" "exec:/run/cache-bench" >>"$samples"

printf '  %-8s %s\n' BENCH "memory with a placement on a card, fast kernel" >&2
vm fast --card --vram 64 --vram-visible 16 \
	"put:$BUILD/firmware/agate/card.fw:/lib/firmware/agate/card.fw" \
	"put:$BUILD/driver/fast/agate.ko:/run/agate.ko" \
	"put:$BUILD/tests/bench/card-bench:/run/card-bench:0755" \
	"put:$BUILD/tests/bench/vm-bench:/run/vm-bench:0755" \
	"exec:insmod /run/agate.ko coherency=ace" "exec:/run/card-bench" "exec:/run/vm-bench" >>"$samples"

# drivers WORD OPTION...: driver-bench with that word, our driver and Panfrost in turns, both
# on the same GPU, with a number that Panfrost knows.  Panfrost maps BOs cached, as ours
# does: x86 takes long to make pages write-combining.
drivers()
{
	word=$1
	shift
	vm fast --sim-arg --gpu-id --sim-arg 08602000 "$@" \
		"put:$BUILD/driver/fast/agate.ko:/run/agate.ko" \
		"put:$BUILD/upstream/fast/agate_panfrost.ko:/run/agate_panfrost.ko" \
		"put:$BUILD/tests/bench/driver-bench:/run/driver-bench:0755" \
		"exec:set -e
		round=0
		while [ \$round -lt $runs ]; do
			insmod /run/agate.ko coherency=ace
			/run/driver-bench agate $word
			rmmod agate
			insmod /run/agate_panfrost.ko coherent=1 timeout_ms=10000
			/run/driver-bench panfrost $word
			rmmod agate_panfrost
			round=\$((round + 1))
		done"
}

printf '  %-8s %s\n' BENCH "our driver and upstream's Panfrost in turns, $runs rounds" >&2
drivers '' >>"$samples"

printf '  %-8s %s\n' BENCH "the same jobs beside eight busy processes" >&2
beside="${0%/*}/../busy.sh 8"
drivers jobs | sed -E 's/"(agate|panfrost)_/"\1_busy_/g' >>"$samples"

# Only if the host permits it; compared with our driver on the machine as it was before.
if chrt --rr 2 true 2>/dev/null; then
	drivers jobs --realtime | sed -E 's/"name": "(agate|panfrost)_/&realtime_/
		s/"against": "panfrost_/"against": "agate_/' >>"$samples"
fi
beside=

printf '  %-8s %s\n' BENCH "page tables beside io-pgtable, fast kernel" >&2
vm fast "put:$BUILD/tests/bench/agate_pgtable_bench.ko:/run/bench.ko" \
	"exec:insmod /run/bench.ko" \
	"exec:cat /sys/kernel/debug/agate_pgtable_bench" >>"$samples"

printf '  %-8s %s\n' BENCH "range allocator beside drm_mm, fast kernel" >&2
vm fast "put:$BUILD/tests/bench/agate_range_bench.ko:/run/bench.ko" \
	"exec:insmod /run/bench.ko" \
	"exec:cat /sys/kernel/debug/agate_range_bench" >>"$samples"

printf '  %-8s %s\n' BENCH "the card's global table beside drm_mm, fast kernel" >&2
vm fast "put:$BUILD/tests/bench/agate_ggtt_bench.ko:/run/bench.ko" \
	"exec:insmod /run/bench.ko" \
	"exec:cat /sys/kernel/debug/agate_ggtt_bench" >>"$samples"

"$BUILD/tests/bench/report" "$out/bench.json" <"$samples"
printf '  %-8s %s\n' JSON "$out/bench.json" >&2
"${0%/*}/costs.sh"
