#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Run make in a kernel's tree, with nothing of the caller's settings in it.
#
# usage: guest/kernel-make.sh DIR ARG...
#
# Kbuild takes CC, ARCH, LLVM, KCFLAGS and many more from the environment and
# from the MAKEFLAGS of a make above it.  A kernel is cached under what it was
# built from, and a module must be built as its kernel was: so neither may see
# them.  A jobserver is among them; JOBS says how many jobs there may be.
#
# While a module is built against a cached kernel a lock keeps that one in the cache.
set -eu

dir=$1
shift
lock=$(realpath "$dir").lock
if [ -z "${KERNEL_LOCKED:-}" ] && [ -e "$lock" ]; then
	exec 9<"$lock"
	flock -s 9
fi
exec env -i PATH="$PATH" HOME="${HOME:-/}" LC_ALL=C ${TMPDIR:+TMPDIR="$TMPDIR"} \
	make --no-print-directory -C "$dir" -j"${JOBS:-$(nproc)}" "$@"
