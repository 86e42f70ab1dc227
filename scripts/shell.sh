#!/bin/sh
# SPDX-License-Identifier: MIT
#
# shell.sh: a shell in a guest with the driver loaded.
#
# usage: scripts/shell.sh
#
# Boots from scratch (COLD=0 restores the snapshot instead), so it is also the
# proof that nothing depends on the snapshot.  ^D or `exit` ends it.
set -eu

BUILD=${BUILD:-build}
cold=--cold
[ "${COLD:-1}" != 0 ] || cold=
mkdir -p "$BUILD/logs"

echo "  The driver is loaded; agate-info and agate-gem are on the PATH; ^D ends the guest."
exec "$BUILD/bin/agate-vm" shell $cold --kernel "$BUILD/guest/kernel-fast" \
	--initramfs "$BUILD/guest/initramfs.cpio.gz" \
	--sim "$BUILD/bin/agate-sim" --sim-log "$BUILD/logs/shell-events.jsonl" \
	--console "$BUILD/logs/console-shell.log" \
	"put:$BUILD/driver/fast/agate.ko:/run/agate/agate.ko" \
	"put:$BUILD/lib/libagate.so:/lib/libagate.so" \
	"put:$BUILD/bin/agate-info:/bin/agate-info" \
	"put:$BUILD/bin/agate-gem:/bin/agate-gem" \
	"exec:insmod /run/agate/agate.ko"
