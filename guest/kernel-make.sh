#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Run make in a kernel's tree, without any of the caller's settings.
#
# usage: guest/kernel-make.sh DIR ARG...
#
# Kbuild takes CC, ARCH, LLVM, KCFLAGS and many more from the environment and
# from the MAKEFLAGS of a make above it.  The cache names a kernel after the inputs of its
# build, and a module must be built like its kernel: so neither may see them.  They
# include a jobserver; JOBS sets the number of jobs instead.
#
# While a module is built against a cached kernel, a lock keeps that kernel in the cache.
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
