#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Compose a driver: DIR gets a symbolic link to each source, and loses those of an
# earlier composition.  When the kernel is another than last time, all that was
# built there goes, too: it must not be linked into a module for this one.
#
# usage: compose.sh DIR KERNEL SOURCE...
set -eu

dir=$1
kernel=$(readlink -f "$2")
shift 2

if [ -e "$dir/.kernel" ] && [ "$(cat "$dir/.kernel")" != "$kernel" ]; then
	rm -rf "$dir"
fi
mkdir -p "$dir"
find "$dir" -maxdepth 1 -type l -delete
echo "$kernel" > "$dir/.kernel"
for source; do
	ln -s "$(readlink -f "$source")" "$dir/${source##*/}"
done
