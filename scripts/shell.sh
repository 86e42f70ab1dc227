#!/bin/bash
# SPDX-License-Identifier: MIT
#
# shell.sh: a shell in a guest with a driver loaded.
#
# usage: [LAB=NN] [FROM=labs|solutions|DIR] [DRIVER=panfrost] [GPU=bifrost] [GPUS=2] [DEBUG=1]
#        [DEMO=1] [VRAM=MIB [VISIBLE=MIB]] [PUT="FILE..."] scripts/shell.sh, in the project's
#        folder
#
# The driver is the reference's or, with LAB, the one that grading would compose: that
# lab's files from FROM (default: labs), and the reference's other files.  With
# DRIVER=panfrost it is upstream's, on a GPU with the number of a T860, or of a G72 with
# GPU=bifrost.  The shell also starts when the driver's probe fails, and shows the driver's
# last lines.  DEBUG=1 uses the debug kernel, and GPUS=2 gives the guest two GPUs.
# With VRAM the GPU has a card with that much memory, of which the CPUs reach VISIBLE MiB (all).
# With DEMO=1 agate-gem draws beside the shell, so that agate-top has something to show.
# PUT has files of this system in the guest's /bin: programs, or modules of other drivers.
#
# Without LAB the guest boots from scratch, which also proves that nothing depends on the
# snapshot; COLD=0 and COLD=1 override that. ^D or `exit` ends the shell, and the script
# ignores the status of its last command.
set -euo pipefail

. scripts/compose-lib.sh

flavour=fast
[ -z "${DEBUG:-}" ] || flavour=debug
module=$BUILD/driver/$flavour/agate.ko
whose="The reference driver"
cold=${COLD:-1}
arguments=
GPU=${GPU:-midgard}
options=(--sim-arg --gpu --sim-arg "$GPU")
case ${GPUS:-1} in
1 | 2) options+=(--gpus "${GPUS:-1}") ;;
*) die "GPUS=$GPUS: there are 1 and 2" ;;
esac
case ${VRAM:-}${VISIBLE:-} in
*[!0-9]*) die "VRAM=${VRAM:-}, VISIBLE=${VISIBLE:-}: they are MiB" ;;
esac
[ -z "${VISIBLE:-}" ] || [ -n "${VRAM:-}" ] || die "VISIBLE=$VISIBLE: there is no card without VRAM="
deliver=("put:$BUILD/lib/libagate.so:/lib/libagate.so.0")
for tool in agate-info agate-gem agate-hold agate-map agate-top; do
	deliver+=("put:$BUILD/bin/$tool:/bin/$tool")
done
if [ -n "${VRAM:-}" ]; then
	options+=(--card --vram "$VRAM" --vram-visible "${VISIBLE:-$VRAM}")
	deliver+=("put:$BUILD/firmware/agate/card.fw:/lib/firmware/agate/card.fw")
fi
advice='agate-info and agate-gem are on the PATH, agate-hold, which holds BOs, and agate-top:
    agate-hold 3 &
    cat /sys/kernel/debug/dri/0/bos
    agate-top
    agate-map                 (with VRAM=64)
    (make shell DEMO=1 starts agate-gem beside the shell)'

read -ra put <<<"${PUT:-}"
for file in "${put[@]}"; do
	[ -f "$file" ] && [ -r "$file" ] || die "PUT=$file: there is no such file"
	[[ $file != *:* ]] || die "PUT=$file: a name with a colon cannot be put into the guest"
done

# The product that Panfrost takes it for.
case $GPU in
midgard) product=08602000 ;;
bifrost) product=60010000 ;;
*) die "GPU=$GPU: there are midgard and bifrost" ;;
esac
[ "${DRIVER:-panfrost}" = panfrost ] ||
	die "DRIVER=$DRIVER: the only other driver is DRIVER=panfrost"
[ -z "${DRIVER:-}" ] || [ -z "${DEMO:-}" ] ||
	die "DRIVER=$DRIVER and DEMO=$DEMO: agate-gem draws with our driver only"
[ -z "${DRIVER:-}" ] || [ -z "${LAB:-}" ] || die "DRIVER=$DRIVER and LAB=$LAB: say one of them"

if [ -n "${LAB:-}" ]; then
	[ "$LAB" != all ] || die "a shell has one driver: say which lab's, LAB=NN"
	lab=$(scripts/lab.sh "$LAB")
	info=$(lab_info "$lab")
	! grep -qx 'kind library' <<<"$info" ||
		die "lab $lab is a library, which runs outside the kernel: it has no driver to load"
	arguments=$(sed -n 's/^module_args //p' <<<"$info")
	files=${FROM:-labs}/$lab
	out=$BUILD/shell/$flavour
	status=0
	kernel/compose-lab.sh "$flavour" "$out" "$lab=$files" || status=$?
	case $status in
	0) ;;
	10) cat "$out/compile.log" >&2; exit 1 ;;
	11) cat "$out/symbols.log" >&2; exit 1 ;;
	*) exit 1 ;;
	esac
	module=$out/agate.stripped.ko
	whose="The driver with $files"
	cold=${COLD:-0}
elif [ -n "${FROM:-}" ]; then
	die "FROM=$FROM needs LAB="
elif [ -n "${DRIVER:-}" ]; then
	module=$BUILD/upstream/$flavour/agate_panfrost.ko
	whose="Upstream's Panfrost"
	options+=(--sim-arg --gpu-id --sim-arg "$product")
	deliver=()
	for source in tests/upstream/panfrost-*.c; do
		test=$(basename "$source" .c)
		deliver+=("put:$BUILD/tests/upstream/$test:/bin/$test")
	done
	# Upstream hides the performance counters otherwise.
	arguments=unstable_ioctls=1
	advice='Its tests are on the PATH: panfrost-bo, -jobs, -frame, -power, -trouble.'
fi

for file in "${put[@]}"; do
	deliver+=("put:$file:/bin/$(basename "$file"):0755")
done
[ "$cold" = 0 ] || options+=(--cold)
# A GPU that idles while its user thinks has a load for a governor to follow.  A lab's driver
# gets time that only work moves, which always shows a missing wait.
[ -n "${LAB:-}" ] || options+=(--sim-arg --idle-from-host)
mkdir -p "$BUILD/logs"

# The guest's shell runs this; there is a render node if the probe succeeded.
load="insmod /run/agate/agate.ko $arguments"
# In a session of its own it goes on when this command has ended, until it cannot draw.
beside=
[ -z "${DEMO:-}" ] || beside="setsid sh -c '(while agate-gem --size 256 --frames 8 -o /tmp/gem.png
	do :; done) </dev/null >/dev/null 2>&1 &'; "
load+=" && [ -e /dev/dri/renderD128 ] && { ${beside}exit; }"
load+='
echo "  The driver did not take the GPU; the kernel says:"
dmesg | grep agate | grep -v "taints kernel" | tail -n 5'

cat <<END
  $whose goes into a guest; ^D ends it.
  $advice
END
status=0
"$BUILD/bin/agate-vm" shell "${options[@]}" --kernel "$BUILD/guest/kernel-$flavour" \
	--initramfs "$BUILD/guest/initramfs.cpio.gz" \
	--sim "$BUILD/bin/agate-sim" --sim-log "$BUILD/logs/shell-events.jsonl" \
	--console "$BUILD/logs/console-shell.log" \
	"put:$module:/run/agate/agate.ko" \
	"${deliver[@]}" "exec:$load" || status=$?
# A status from 240 on means that agate-vm failed; it has printed the reason.
[ "$status" -lt 240 ] || exit 1
