#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Compile the headers that a lab's files begin with, so that each compilation of such a file
# need not read them again: they are three quarters of its time.
#
# usage: kernel/precompile.sh FLAVOUR NN-topic, in the project's folder
#
# For each of the lab's files, in build/parts/FLAVOUR/pch/NN-topic:
#
#   FILE.c            the headers that kbuild has a file begin with, and then the file's own
#   FILE.c.gch        what gcc makes of that
#   FILE.c.includes   the file's own
#   FILE.c.abi        what it was made for (abi_hash)
#   done              stands for all of them
#
# With it gcc numbers what it reads in another way, and may put two instructions that do not
# depend on each other in another order.
#
# Nothing is made of headers that do not compile.  A file that begins with the same lines can be compiled with it: PCH names FILE.c for
# build/parts/FLAVOUR/compile.  The name is the file's because gcc takes a precompiled header only
# where all macros of the command line are the same, and one of them has the name.
set -eu

. scripts/compose-lib.sh

[ $# = 2 ] || die "usage: $0 FLAVOUR NN-topic"
lab=$2
parts=$BUILD/parts/$1
kernel=$(readlink -f "$BUILD/guest/kernel-$1")
pch=$parts/pch/$lab

precompile()
{
	awk -f scripts/includes.awk "$LABS/$lab/$1" >"$pch/$1.includes"
	[ -s "$pch/$1.includes" ] || return 0
	cat "$parts/first" "$pch/$1.includes" >"$pch/$1"
	echo "$abi" >"$pch/$1.abi"
	if PCH=/dev/null "$parts/compile" "$pch/$1" "$pch/$1.new" -x c-header >"$pch/$1.log" 2>&1; then
		mv "$pch/$1.new" "$pch/$1.gch"
	fi
	rm -f "$pch/$1.new" "$pch/$1.new.d"
}

rm -rf "$pch"
mkdir -p "$pch"
abi=$(abi_hash kernel/*.h include/*.h "$parts"/include/*.h "$kernel/.config")
lab_info "$lab" | sed -n 's/^files \(.*\.c\)$/\1/p' | while read -r file; do
	precompile "$file"
done
: >"$pch/done"
