#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Take the reference library apart, as kernel/parts.sh does with the driver.
#
# usage: userspace/parts.sh COMPILE LINK FRAME... -- [NN-topic OBJECT...]..., in the
#        project's folder, by module.mk
#
# COMPILE and LINK are the commands that built the reference, without file names.  Writes
# frame.o, NN-topic.o and their *.sum to build/parts/library, and two scripts, compile and
# link.
set -eu

. scripts/compose-lib.sh

parts=$BUILD/parts/library
compile=$1 link=$2
shift 2

rm -rf "$parts"
mkdir -p "$parts"
cat >"$parts/compile" <<END
#!/bin/sh
# Made by userspace/parts.sh.
# usage: compile FILE OBJECT [FLAG...], in the project's folder
set -eu
file=\$1 object=\$2
shift 2
exec $compile -MD -MF "\$object.d" "\$@" -c -o "\$object" "\$file"
END
abi=$(abi_hash userspace/*.h include/*.h)
grep -ohE '\<agate_[a-z0-9_]+\>' userspace/*.h | sort -u >"$parts/declared"

frame=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	frame="$frame $1"
	shift
done
shift

# The parts: a name, then its objects.
wanted=
while [ $# -gt 0 ]; do
	lab=$1 objects=
	shift
	while [ $# -gt 0 ] && [ "${1%.o}" != "$1" ]; do
		objects="$objects $1"
		shift
	done
	# shellcheck disable=SC2086 # a list of files
	make_part "$lab" "$parts/declared" $objects
	wanted="$wanted $(abi_symbol "$lab" "$abi")"
done
rm "$parts/declared"

# The linker of a library reports a symbol as missing only if something refers to its
# address: here, a section that is not loaded.
{
	echo '.section .note.GNU-stack, "", @progbits'
	echo '.section .agate.abi, "", @progbits'
	printf '.quad %s\n' $wanted
} | gcc -c -x assembler -o "$parts/abi.o" -
# shellcheck disable=SC2086 # a list of files
ld -r -o "$parts/frame.o" $frame "$parts/abi.o"
rm "$parts/abi.o"
cp userspace/libagate-labs.map "$parts/labs.map"
sha256sum userspace/*.[ch] userspace/libagate*.map include/agate_*.h >"$parts/frame.sum"

cat >"$parts/link" <<END
#!/bin/sh
# Made by userspace/parts.sh.
# usage: link LIBRARY OBJECT..., in the project's folder
set -eu
library=\$1
shift
exec $link
END
chmod +x "$parts/compile" "$parts/link"
