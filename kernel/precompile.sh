#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Compile the headers that a lab's files begin with, so that each compilation of such a file
# need not read them again: they are three quarters of its time.
#
# usage: kernel/precompile.sh FLAVOUR NN-topic, in the project's folder
#
# For each of the lab's files, in build/pch/FLAVOUR/NN-topic:
#
#   FILE.c            the headers that kbuild has a file begin with, and then the file's own
#   FILE.c.gch        what gcc makes of that, if it compiles
#   FILE.c.expanded   the same after the preprocessor, with all macro definitions
#   FILE.c.includes   the file's own
#   FILE.c.abi        what it was made for (abi_hash)
#   done              stands for all of them
#
# AGATE_PCH names FILE.c for build/parts/FLAVOUR/compile, which then compiles a file that begins
# with the same lines.  gcc takes a precompiled header only where all macros of the
# command line are the same; one of them is the file's name.  In an object that was made with
# it two instructions that do not depend on each other may have changed places.
set -eu

. scripts/compose-lib.sh

[ $# = 2 ] || die "usage: $0 FLAVOUR NN-topic"
lab=$2
parts=$BUILD/parts/$1
kernel=$(readlink -f "$BUILD/guest/kernel-$1")
pch=$BUILD/pch/$1/$lab
trusted_headers "$kernel" "$(readlink -f "$kernel/source")"

# The lines are a student's, so gcc has the limits that it has for the file itself.
precompile()
{
	[ -f "$LABS/$lab/$1" ] || return 0
	awk -f scripts/includes.awk "$LABS/$lab/$1" >"$pch.new/$1.includes"
	[ -s "$pch.new/$1.includes" ] || return 0
	cat "$parts/first" "$pch.new/$1.includes" >"$pch.new/$1"
	echo "$abi" >"$pch.new/$1.abi"
	{
		compile "$1" expanded -E -dD && compile "$1" made -x c-header &&
			no_strangers "$pch.new/$1" && mv "$pch.new/$1.made" "$pch.new/$1.gch"
	} >"$pch.new/$1.log" 2>&1
	rm -f "$pch.new/$1.made" "$pch.new/$1.made.d" "$pch.new/$1.expanded.d"
}

# A precompiled header hides what the compiler has read, so that is looked at here, once.
no_strangers()
{
	! awk -v file="$1" '{
		for (i = 1; i <= NF; i++)
			if ($i !~ /:$/ && $i != file && $i != "/dev/null" && $i != "\\")
				print $i
	}' "$1.made.d" | grep -vE "^($trusted)"
}

# compile FILE RESULT OPTION...
compile()
{
	compiled=$pch.new/$1 result=$pch.new/$1.$2
	shift 2
	(
		box_limits
		AGATE_PCH=/dev/null exec "$parts/compile" "$compiled" "$result" "$@"
	)
}

# A compiler that works with the old ones meanwhile keeps them, or does without.
rm -rf "$pch.new" "$pch.old"
mkdir -p "$pch.new"
abi=$(abi_hash kernel/*.h include/*.h "$parts"/include/*.h "$kernel/.config")
lab_info "$lab" | sed -n 's/^files \(.*\.c\)$/\1/p' | while read -r file; do
	precompile "$file"
done
: >"$pch.new/done"
[ ! -e "$pch" ] || mv "$pch" "$pch.old"
mv "$pch.new" "$pch"
rm -rf "$pch.old"
