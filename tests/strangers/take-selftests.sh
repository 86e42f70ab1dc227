#!/bin/sh
# SPDX-License-Identifier: MIT
#
# take-selftests.sh: take some of the kernel's selftests out of the course kernel's source.
#
# usage: tests/strangers/take-selftests.sh DIR FILE...
#
# FILE is a path in the source's tools/testing/selftests, and the same path in DIR, for the
# files include each other.  DIR is made anew.
set -eu

dir=$1
shift
selftests=tools/testing/selftests
source=$(scripts/kernel-source.sh source)
rm -rf "$dir" "$dir.new"
mkdir -p "$dir.new"
if [ -d "$source" ]; then
	for file; do
		mkdir -p "$dir.new/$(dirname "$file")"
		cp "$source/$selftests/$file" "$dir.new/$file"
	done
else
	for file; do
		set -- "$@" "*/$selftests/$file"
		shift
	done
	# The folder that a tarball begins with, and the three of $selftests.
	tar -xf "$source" -C "$dir.new" --wildcards --strip-components=4 "$@"
fi
mv "$dir.new" "$dir"
