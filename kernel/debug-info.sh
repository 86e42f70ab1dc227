#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Link once more, with debug information, what kernel/compose-lab.sh has linked.
#
# usage: kernel/debug-info.sh FLAVOUR OUT, in the project's folder
#
# Makes OUT/agate.ko, whose code is that of OUT/agate.stripped.ko, from the objects in OUT: the
# lab's files may have changed meanwhile.  What is up to date stays.
set -u

. scripts/compose-lib.sh

[ $# = 2 ] || die "usage: $0 FLAVOUR OUT"
kernel=$(readlink -f "$BUILD/guest/kernel-$1")
out=$(plain_path "$2")
[ -e "$out/link.key" ] || die "there is no module in $out"
[ ! -e "$out/agate.ko" ] || exit 0

link_listed agate.ko $LINK_MODULE -T "$kernel/scripts/module.lds" -o || {
	rm -f "$out/agate.ko"
	die "the linker failed: $(cat "$out/link.log")"
}
