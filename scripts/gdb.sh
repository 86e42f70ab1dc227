#!/bin/bash
# SPDX-License-Identifier: MIT
#
# gdb.sh: gdb on a guest, with symbols of the kernel, the driver and a lab's file.
#
# usage: [LAB=NN] [FROM=labs|solutions|DIR] [TEST=name] [DEBUG=1]
#        scripts/gdb.sh [GDB-OPTION]..., in the project's folder
#
# The driver is the reference's, with LAB's files from FROM (default: labs). gdb starts
# when the driver is in the guest and its init function is about to run: set breakpoints,
# then `continue`. With TEST that test runs next; the command `agate-test NAME` runs a
# test at any time.  DEBUG=1 uses the debug kernel.
set -euo pipefail

. scripts/compose-lib.sh

flavour=fast
[ -z "${DEBUG:-}" ] || flavour=debug
out=$BUILD/gdb/$flavour
kernel=$BUILD/guest/kernel-$flavour
replaced=()
program=

command -v gdb >/dev/null || die "gdb is not there: install it"
gdb -nx -batch -ex 'python print(1)' >/dev/null 2>&1 || die "this gdb was built without Python"

if [ -n "${LAB:-}" ]; then
	lab=$(scripts/lab.sh "$LAB")
	info=$(lab_info "$lab")
	! grep -qx 'kind library' <<<"$info" ||
		die "lab $lab is a library, which runs outside the kernel: use gdb on its host tests"
	program=$(sed -n 's/^program //p' <<<"$info")
	program=$BUILD/tests/labs/${program:-$lab}
	replaced=("$lab=${FROM:-labs}/$lab")
	export AGATE_LAB_JSON=$LABS/$lab/lab.json
elif [ -n "${TEST:-}" ]; then
	die "TEST=$TEST needs LAB="
fi

# With types and variables, which the graded module does without, and so do precompiled headers.
status=0
COMPOSE_CFLAGS=-g2 COMPOSE_PCH='' kernel/compose-lab.sh "$flavour" "$out" "${replaced[@]}" ||
	status=$?
case $status in
0) ;;
10) cat "$out/compile.log" >&2; exit 1 ;;
11) cat "$out/symbols.log" >&2; exit 1 ;;
*) exit 1 ;;
esac
kernel/debug-info.sh "$flavour" "$out"

work=$(mktemp -d)
vm=
end()
{
	[ -z "$vm" ] || kill "$vm" 2>/dev/null || true
	[ -z "$vm" ] || wait "$vm" 2>/dev/null || true
	rm -rf "$work"
}
trap end EXIT
trap 'exit 130' TERM HUP
# ^C goes to gdb, which then stops the guest.
trap : INT

# gdb's commands write here, and the guest's shell reads it.
mkfifo "$work/commands"
exec 3<>"$work/commands"
echo 'stty -echo; PS1= PS2=; echo "READY"-' >&3

steps=("put:$out/agate.stripped.ko:/run/agate/agate.ko")
inject=$BUILD/tests/kmod/$flavour/agate_inject.ko
[ ! -e "$inject" ] || steps+=("put:$inject:/run/agate/agate_inject.ko")
[ -z "$program" ] || steps+=("put:$program:/run/agate/test")
# When a file appears here, the guest runs.
steps+=("get:/proc/version:$work/runs")

# Use TCG: its breakpoints are not instructions in the guest's memory, where an unloaded
# driver would leave them to other code.  Use a session of its own, so that ^C does not
# reach it.
mkdir -p "$BUILD/logs"
setsid "$BUILD/bin/agate-vm" shell --accel tcg --gdb "$work/gdb" --kernel "$kernel" \
	--initramfs "$BUILD/guest/initramfs.cpio.gz" --sim "$BUILD/bin/agate-sim" \
	--sim-log "$BUILD/logs/gdb-events.jsonl" --console "$BUILD/logs/console-gdb.log" \
	"${steps[@]}" <"$work/commands" 3>&- \
	> >(setsid sed -u '1,/^READY-/d') 2> >(setsid sed -u '/^agate-vm: interrupted$/d' >&2) &
vm=$!
until [ -e "$work/runs" ]; do
	kill -0 "$vm" 2>/dev/null || exit 1
	sleep 0.05
done

export AGATE_GDB_SOCKET=$work/gdb AGATE_GDB_COMMANDS=$work/commands AGATE_KO=$out/agate.ko
export AGATE_TEST=${TEST:-}
gdb -q -iex 'set confirm off' "$kernel/vmlinux" -x scripts/agate-gdb.py -ex agate-begin "$@"
