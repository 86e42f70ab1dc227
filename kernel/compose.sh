#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Compose a driver: DIR gets a symbolic link to each source, at the place it has in
# the project, and loses those of an earlier composition.  When KERNEL-ID, a file,
# says another kernel than last time, all that was built there goes, too: it must
# not be linked into a module for this one.
#
# usage: compose.sh DIR KERNEL-ID SOURCE...
set -eu

dir=$1
id=$2
shift 2

cmp -s "$id" "$dir/.kernel" || rm -rf "$dir"
mkdir -p "$dir"
find "$dir" -type l -delete
cp "$id" "$dir/.kernel"
for source; do
	mkdir -p "$dir/${source%/*}"
	ln -s "$(readlink -f "$source")" "$dir/$source"
done
# An object whose source has gone or moved would be linked into a part (parts.sh).
find "$dir/kernel" "$dir/solutions" -name '*.o' | while read -r object; do
	[ -e "${object%.o}.c" ] || rm "$object"
done
# Kbuild looks for it here.
ln -s kernel/Kbuild "$dir/Kbuild"
