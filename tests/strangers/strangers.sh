#!/bin/sh
# SPDX-License-Identifier: MIT
#
# strangers.sh: tests that nobody here wrote, in a guest with our driver, as TAP: a point for
# each, and a comment for each that cannot apply.
#
# usage: tests/strangers/strangers.sh [--long]
#
#   dmabuf-heap    the kernel's selftest of dma-buf heaps, with Agate as importer
#   udmabuf        the kernel's selftest of udmabuf
#   drmdevice      libdrm's: finds the GPU, and opens each of its nodes
#   dma-buf        the kernel's selftests of fences and reservations
#   drm_*          the kernel's KUnit suites of DRM; drm_mm's takes a minute: only with --long
#
# The last two test the kernel that we build, not our driver: drm_mm, dma_fence and dma_resv
# carry all that it does.
#
# The suites are those of the kernel's version: Linux 6.12 has more of them than 6.1.
#
# All of it runs on the fast kernel.  The debug kernel has CONFIG_DMABUF_DEBUG, under which
# Linux 6.1's heaps cannot sync a buffer that somebody has imported: an importer's table is
# scrambled then, and the heap reads it.  The selftest panics that kernel with vgem alone.
set -u
. tests/guest/run-lib.sh

long=${1-}
BUILD=${BUILD:-build}
GUEST=/run/agate
kernel=$BUILD/guest/kernel-fast
console=$BUILD/logs/console-strangers.log
programs='dmabuf-heap udmabuf drmdevice'
mkdir -p "$BUILD/logs"

# step PROGRAM: the step that runs it, to its end
step()
{
	echo "exec:echo '# begin $1'; $GUEST/$1 2>&1; echo \"# $1 ended \$?\""
}

# kunit_modules: the modules with suites, by their names
kunit_modules()
{
	for module in "$kernel"/modules/drm_*_test.ko; do
		[ -e "$module" ] || continue
		case ${module##*/}$long in
		drm_mm_test.ko) ;;
		*) basename "$module" .ko ;;
		esac
	done
}

# Modules that others need come first; a module that the kernel lacks is none.  A line in the
# kernel's log says which module's suites follow.
kernel_steps()
{
	for module in kunit prime_numbers drm_display_helper drm_kunit_helpers drm_buddy drm_exec; do
		echo "test ! -e $GUEST/$module.ko || insmod $GUEST/$module.ko;"
	done
	for module in $(kunit_modules); do
		echo "echo strangers: $module >/dev/kmsg; insmod $GUEST/$module.ko;" \
			"echo \"# $module loaded \$?\";"
	done
	echo "echo strangers: end >/dev/kmsg;"
	echo "insmod $GUEST/dmabuf_selftests.ko; echo \"# dma-buf ended \$?\";"
}

# The kernel's selftests of fences keep a processor for themselves, and on a busy machine for
# minutes.  Until then all that watches over RCU, processors, work queues and tasks stays on.
stop_watching()
{
	for watch in /sys/module/rcupdate/parameters/rcu_cpu_stall_suppress:1 \
		/proc/sys/kernel/watchdog:0 /sys/module/workqueue/parameters/watchdog_thresh:0 \
		/proc/sys/kernel/hung_task_timeout_secs:0; do
		echo "test ! -e ${watch%:*} || echo ${watch#*:} >${watch%:*};"
	done
}

set -- "exec:insmod $GUEST/agate.ko && insmod $GUEST/vgem.ko"
for p in $programs; do
	set -- "$@" "$(step "$p")"
done
set -- "$@" "exec:$({ stop_watching; kernel_steps; } | tr '\n' ' ')"
for module in "$kernel"/modules/*.ko; do
	set -- "put:$module:$GUEST/${module##*/}" "$@"
done
for p in dmabuf-heap udmabuf; do
	set -- "put:$BUILD/tests/strangers/$p:$GUEST/$p:0755" "$@"
done
drmdevice=$(command -v drmdevice) || drmdevice=/dev/null
# drm_buddy_test draws a size, and splits it into as many as two million blocks: 400 MiB.
{ "$BUILD/bin/agate-vm" run --kernel "$kernel" --initramfs "$BUILD/guest/initramfs.cpio.gz" \
	--sim "$BUILD/bin/agate-sim" --ram 1024 --timeout 600 --console "$console" \
	"put:$BUILD/driver/fast/agate.ko:$GUEST/agate.ko" \
	"put:$drmdevice:$GUEST/drmdevice:0755" "$@" \
	"exec:rmmod agate && echo '# module unloaded'" "exec:echo '# guest alive'" poweroff
echo "# launcher ended $?"; } >"$console.out" 2>&1

number=0
# point NAME FINDINGS: passed when there is nothing in FINDINGS
point()
{
	number=$((number + 1))
	[ -z "$2" ] || printf '%s\n' "$2" | head -n 20 | sed 's/^/# /'
	echo "$([ -z "$2" ] || echo 'not ')ok $number - $1"
}

# said_by PROGRAM: what it printed
said_by()
{
	sed -n "/^# begin $1\$/,/^# $1 ended/p" "$console.out"
}

# Its last line says how it ended; a heap that nobody imported from was not tested.
heap_findings()
{
	said 'dmabuf-heap ended 0' || said_by dmabuf-heap
	heaps=$(grep -cE '^(# )?Testing heap' "$console.out")
	[ "$heaps" -gt 0 ] || echo "the guest has no heap"
	[ "$(said_by dmabuf-heap | grep -c '(imported by agate)')" = "$heaps" ] ||
		echo "not all of $heaps heaps' buffers were imported"
}

# Linux 6.12's sixth test wants 2 GiB of huge pages: without them it ends the program (4).
udmabuf_findings()
{
	if said 'udmabuf ended 0'; then
		said_by udmabuf | grep -q 'udmabuf: ok' && return
	elif said 'udmabuf ended 4'; then
		[ "$(said_by udmabuf | grep -c '^ok [1-5] ')" = 5 ] &&
			said_by udmabuf | grep -q 'skip,no-memfd' && return
	fi
	said_by udmabuf
}

drmdevice_findings()
{
	said 'drmdevice ended 0' || said_by drmdevice
	said_by drmdevice | grep -q -A 20 'bustype 0000' || echo "no device on the PCI bus"
	for node in card0 renderD128; do
		said_by drmdevice | grep -q "Opening device node /dev/dri/$node" ||
			echo "it did not open $node"
	done
}

# suites_of MODULE: what the kernel said from this module on to the next one
suites_of()
{
	tr -d '\r' <"$console" | sed -nE 's/^\[[^]]*\] //p' |
		awk -v module="$1" '/^strangers: / { on = $2 == module } on'
}

# A suite begins with its name, and ends with a line that stands at the margin.
kunit_findings()
{
	said "$1 loaded 0" || echo "its module does not load"
	begun=$(suites_of "$1" | grep -c '^    # Subtest: ')
	[ "$begun" -gt 0 ] || echo "it has no suite"
	[ "$(suites_of "$1" | grep -cE '^ok [0-9]+ ')" = "$begun" ] || {
		echo "not all of $begun suites passed"
		suites_of "$1" | grep -E 'not ok|EXPECTATION|ASSERTION' | tail -n 15
	}
}

# unexpected_log: without the warnings that the tests of drm_rect make the kernel print: those of
# Linux 6.12 ask for the scale of a negative size.
unexpected_log()
{
	tr -d '\r' <"$console" | awk '
		/\] strangers: / { rects = /drm_rect_test$/ }
		/---\[ cut here \]---/ { block = ""; inside = 1; warned = 0 }
		!inside { print; next }
		{ block = block $0 "\n" }
		/WARNING: .* at drivers\/gpu\/drm\/drm_rect\.c:[0-9]+ drm_rect_calc_[hv]scale\+/ {
			warned = rects
		}
		/---\[ end trace / { if (!warned) printf "%s", block; inside = 0 }
		END { if (inside) printf "%s", block }'
}

point "dmabuf-heap: each heap's buffers imported by Agate" "$(heap_findings)"
point "udmabuf: the kernel's selftest" "$(udmabuf_findings)"
point "drmdevice: finds the GPU and opens its nodes" "$(drmdevice_findings)"
point "dma-buf: selftests of fences and reservations" \
	"$(said 'dma-buf ended 0' || grep 'dma-buf: ' "$console" | tail -n 5)"
for module in $(kunit_modules); do
	point "$module: KUnit" "$(kunit_findings "$module")"
done
point "the kernel's log is silent" "$(unexpected_log | cat - "$console.out" | grep -Em 10 -A 12 "$SPLAT")"
said 'launcher ended 0' || tail -n 5 "$console.out" | sed 's/^/# /'
ended_well | sed "s/^\(not \)*ok 1/\1ok $((number + 1))/"
echo "1..$((number + 1))"
cat <<'END'
# cannot apply: modetest, proptest, vbltest (libdrm): Agate has no display to set a mode on
# cannot apply: amdgpu_stress (libdrm): another driver's uAPI
# cannot apply: selftests drivers/gpu/i915.sh: another driver; drm_mm.sh: drm_mm_test has it
# cannot apply: selftest of udmabuf, with huge pages (since Linux 6.12): it wants 2 GiB of them
# cannot apply: igt-gpu-tools: Debian's package has its tools and benchmarks, not its tests
END
