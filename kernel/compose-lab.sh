#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Put a driver together from a student's files and, for the rest, the reference.
#
# usage: kernel/compose-lab.sh FLAVOUR OUT [NN-topic=DIR ...], in the project's folder
#
# Each lab that is named comes from the files in DIR.  Makes OUT/agate.stripped.ko, and leaves
# what kernel/debug-info.sh needs to make the same module with debug information; what is up
# to date stays.  Needs build/parts/FLAVOUR (see parts.sh), and writes nowhere but in OUT, so
# any number of these may run at once, each with an OUT of its own.
#
# COMPOSE_CFLAGS are options to compile with besides the reference's.
#
# Exit status: 0; 10 when a file does not compile, or is too large to link
# (OUT/compile.log, where warnings are, too); 11 when a symbol breaks a rule
# (OUT/symbols.log); 1 for all else.
set -u

. scripts/compose-lib.sh

[ $# -ge 2 ] || die "usage: $0 FLAVOUR OUT [NN-topic=DIR ...]"
flavour=$1
shift

kernel=$(CDPATH="" cd "$BUILD/guest/kernel-$flavour" && pwd -P) ||
	die "there is no kernel: run make"
parts=$BUILD/parts/$flavour
[ -e "$parts/symvers" ] || die "there is no $parts: run make $parts/symvers"

# Debug information makes the module fifty times as large, and few runs ask for it.
link()
{
	{ abi_defined; echo "$parts/agate.mod.o"; } >"$out/options"
	# shellcheck disable=SC2086 # a list of options
	link_boxed agate.stripped.ko "$parts/module.lds" \
		$LINK_MODULE -S -T "$parts/module.lds" -o
	case $? in
	0) ;;
	10) return 10 ;;
	*) die "the linker failed: $(cat "$out/link.log")" ;;
	esac
	sort -u "$out/undefined" | comm -23 - "$parts/symvers" >"$out/missing"
}

# A symbol that nobody has: a part for another kernel, or a function that a lab may
# use by name and that this kernel does not have.
check_missing()
{
	[ -s "$out/missing" ] || return 0
	abi_check "$out/missing" "$parts/symvers"
	sed 's/.*/agate.ko: uses &, which neither the driver nor the kernel has/' \
		"$out/missing" >"$out/symbols.log"
	return 11
}

# If this fails, remove the old module: nobody must take it for the new one.
trap '[ $? = 0 ] || rm -f "$1/agate.ko" "$1/agate.stripped.ko"' EXIT
compose_begin "$parts" "$parts/symvers" "$@"
look_at kernel/*.h include/*.h "$parts"/include/*.h "$kernel/.config"
source=$(CDPATH="" cd "$kernel/source" && pwd -P) || die "$kernel has no source: run make"
trusted_headers "$kernel" "$source"

compose_compile "$trusted" "$kernel" kernel include "$parts/include" \
	"$kernel/include" "$kernel/arch/x86/include" "$kernel/tools/objtool/objtool" \
	"$source/include" "$source/arch/x86/include" "$kernel/source -> $source" \
	"$BUILD/guest/kernel-$flavour -> $kernel" || exit
# One list for both kernels: a symbol that this one lacks does not link.
cat kernel/allow-common.txt kernel/allow-6.*.txt >"$out/allowed"
compose_symbols "$out/allowed" || exit

link_key "$parts/agate.mod.o" >"$out/link.key.new"
if ! cmp -s "$out/link.key" "$out/link.key.new" || [ ! -e "$out/agate.stripped.ko" ]; then
	rm -f "$out/link.key" "$out/agate.ko"
	link || exit
	check_missing || exit
	mv "$out/link.key.new" "$out/link.key"
fi
