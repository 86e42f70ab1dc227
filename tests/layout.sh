#!/bin/sh
# SPDX-License-Identifier: MIT
#
# layout.sh: has every struct of the uAPI the same layout for 32- and for 64-bit programs, and
# no hole?  As TAP.
#
# usage: tests/layout.sh
#
# The compiler says in its debug information where each field is.  It needs nothing of a 32-bit
# system for that: nothing is linked, and the headers are those of this one.
set -u
. tests/tap.sh

CC=${CC:-gcc}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# layout BITS HEADER: where each field of its structs is; fails if there is a hole between two.
layout()
{
	echo "#include \"$2\"" >"$work/one.c"
	"$CC" -std=c11 -m"$1" -ffreestanding -Wpadded -Werror -g -gdwarf-4 -fno-eliminate-unused-debug-types \
		-I"$work" -Iinclude -isystem "/usr/include/$("$CC" -print-multiarch)" \
		-isystem "$(pkg-config --variable=includedir libdrm)/libdrm" \
		-c -o "$work/one.o" "$work/one.c" >"$work/said" 2>&1 &&
		readelf --debug-dump=info "$work/one.o" | awk -f tests/layout.awk
}

# same HEADER
same()
{
	layout 32 "$1" >"$work/32" && layout 64 "$1" >"$work/64" && [ -s "$work/32" ] &&
		diff "$work/32" "$work/64" >"$work/said"
}

complain() { cat "$work/said"; }

# Is every field there?  A reader that sees nothing finds no difference.
all_seen()
{
	structs=$(sed -n 's/^struct \(drm_agate_[a-z_]*\) {/\1/p' include/agate_drm.h)
	[ -n "$structs" ] || return 1
	for struct in $structs; do
		fields=$(sed -n "/^struct $struct {/,/^}/p" include/agate_drm.h | grep -c '^	__[us]')
		seen=$(grep -c "^$struct field" "$work/64")
		[ "$fields" = "$seen" ] && [ "$fields" -gt 0 ] || {
			echo "$struct: $seen fields of $fields" >"$work/said"
			return 1
		}
	done
}

# refused SED: is such a header refused?
refused()
{
	sed "$1" include/agate_drm.h >"$work/spoilt.h"
	! cmp -s include/agate_drm.h "$work/spoilt.h" && ! same spoilt.h
}

# point NAME COMMAND...
point()
{
	name=$1
	shift
	"$@"
	result $? "$name"
}

echo "1..5"
point "32 and 64 bits have the same layout, without holes" same agate_drm.h
point "every field was looked at" all_seen
point "a pointer would be found" refused 's/__u64 bo_handles;/void *bo_handles;/'
point "a field that is aligned otherwise would be found" \
	refused 's/__u32 in_sync_count;/__u32 in_sync_count, more;/'
point "a hole at the end would be found" refused '/^struct drm_agate_wait_bo {/a __u32 more;'
