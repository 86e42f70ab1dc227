#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Put libagate together from a student's files and the reference's other files.
#
# usage: userspace/compose-lab.sh OUT [NN-topic=DIR ...], in the project's folder
#
# It does for the library what kernel/compose-lab.sh does for the driver, with the same
# logs and exit statuses. Makes OUT/libagate.so, which also shows what the labs' test programs
# call (libagate-labs.map); needs build/parts/library (see parts.sh).
set -u

. scripts/compose-lib.sh

[ $# -ge 1 ] || die "usage: $0 OUT [NN-topic=DIR ...]"
parts=$BUILD/parts/library

# With --no-undefined the linker names the symbols that nobody defines.
link()
{
	{ abi_defined; echo "--version-script=$parts/labs.map"; } | sed 's/^/-Wl,/' >"$out/options"
	link_boxed libagate.so userspace/libagate.map "$parts/link"
	case $? in
	0 | 10) return ;;
	esac
	abi_check "$out/link.log" "$parts/link"
	sed -n "s/.*undefined reference to .\([A-Za-z0-9_]*\).*/\1/p" "$out/link.log" | sort -u |
		sed 's/.*/libagate.so: uses &, which neither it nor a library has/' >"$out/symbols.log"
	[ ! -s "$out/symbols.log" ] || return 11
	die "the linker failed: $(cat "$out/link.log")"
}

# After a failure remove the library, so that nobody takes an old one for a new one.
trap '[ $? = 0 ] || rm -f "$1/libagate.so"' EXIT
compose_begin "$parts" "$parts/link" "$@"
look_at userspace/*.h include/*.h
compose_compile '/usr/|(userspace|include)/[a-z0-9_]+\.h$' library userspace include || exit
compose_symbols userspace/allow-common.txt || exit

link_key "$parts/link" userspace/libagate.map >"$out/link.key.new"
if ! cmp -s "$out/link.key" "$out/link.key.new" || [ ! -e "$out/libagate.so" ]; then
	rm -f "$out/link.key"
	link || exit
	mv "$out/link.key.new" "$out/link.key"
fi
