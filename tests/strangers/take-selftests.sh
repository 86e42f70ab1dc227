#!/bin/sh
# SPDX-License-Identifier: MIT
#
# take-selftests.sh: take some of the kernel's selftests out of the course kernel's source.
#
# usage: tests/strangers/take-selftests.sh DIR FILE...
#
# FILE is a path in the source's tools/testing/selftests.  DIR is made anew.
set -eu

dir=$1
shift
selftests=tools/testing/selftests
source=$(scripts/kernel-source.sh source)
rm -rf "$dir" "$dir.new"
mkdir -p "$dir.new"
if [ -d "$source" ]; then
	for file; do
		cp "$source/$selftests/$file" "$dir.new"
	done
else
	for file; do
		set -- "$@" "*/$selftests/$file"
		shift
	done
	tar -xf "$source" -C "$dir.new" --wildcards --transform 's|.*/||' "$@"
fi
mv "$dir.new" "$dir"
