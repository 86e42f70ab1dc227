#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Take a reference driver apart, so that another can be put together from most of
# its parts in less than a second.
#
# usage: kernel/parts.sh FLAVOUR, in the project's folder
#
# Writes to build/parts/FLAVOUR:
#
#   compile       compiles a file exactly as kbuild compiled the reference
#   first         the headers that kbuild has each file begin with
#   include/      the headers that kbuild made
#   frame.o       everything from kernel/
#   NN-topic.o    one part; all but its contract's symbols are local
#   agate.mod.o   what kbuild added to the driver's objects
#   module.lds    the linker's script for the whole
#   headers       stands for all headers and how they are compiled; a new file only if those change
#   symvers       what the kernel exports to modules
#   *.sum         checksums of the sources of frame.o and of each part
#
# Every part defines agate_abi_TOPIC_HASH, and the frame refers to that of each
# part: what was made for another kernel or from other headers does not link.
set -eu

. scripts/compose-lib.sh

flavour=$1
driver=$BUILD/driver/$flavour
parts=$BUILD/parts/$flavour
kernel=$(readlink -f "$BUILD/guest/kernel-$flavour")

# What kbuild recorded for one file, with the places and the file as parameters.
# Warnings are not errors here: they are advice to the author of the file.  The
# preprocessor's output (-E) and precompiled headers (-x) are no objects that objtool could
# look at.  AGATE_PCH may name what is to be included first instead: see precompile.sh.
#
# Explanations need lines and inlined functions of the debug information (-g1).  Types and variables
# would take a quarter of the compiler's time.
compile_command()
{
	record=$driver/kernel/.agate_drv.o.cmd
	top=$(realpath "$driver")
	command=$(sed -nE '1s/^(saved)?cmd_[^ ]* := //p' "$record" | sed \
		-e "s|$top/kernel/agate_drv\\.o|\"\$object\"|g" \
		-e "s|$top/kernel/agate_drv\\.c|\"\$file\"|g" \
		-e "s|-Wp,-MMD,[^ ]*|-Wp,-MD,\"\$object\".d|" \
		-e "s|-I$top/kernel |-Ikernel |; s|-I$top/include |-Iinclude |" \
		-e "s|-I$top |-I\"\$parts\"/include |" \
		-e "s|-ffile-prefix-map=$top/= ||; s|-fdebug-prefix-map=[^ ]*|-fdebug-prefix-map=\"\$PWD\"=.|" \
		-e "s|$(readlink -f "$kernel/source")|\"\$source\"|g" \
		-e 's| -I\./| -I"$kernel"/|g; s| \./| "$kernel"/|g' \
		-e "s|KBUILD_BASENAME='\"agate_drv\"'|KBUILD_BASENAME=\\\\\"\"\$name\"\\\\\"|" \
		-e 's| -Werror | |' -e 's| -g | -g1 |' -e 's| -c -o | "$@" -c -o |' \
		-e 's| *; | \&\& { case " $* " in *" -E "* \| *" -x "*) exit ;; esac; } \&\& |')
	first=$(echo "$command" | grep -o -- '-include [^ ]*' | xargs)
	command=$(echo "$command" | sed 's|-include [^ ]* ||g')
	# A place that was not recognised would be compiled for without a word.
	case $command in
	'' | *"$PWD"* | *"$kernel"* | *' ./'* | *agate_drv*)
		die "$record: not a command that can be used again. If the project was built in" \
			"another place: rm -r $BUILD/driver $BUILD/parts"
		;;
	*' -g1 '*) ;;
	*) die "$record: no option -g, whose place -g1 takes" ;;
	esac
	cat <<-END
	#!/bin/sh
	# Made by kernel/parts.sh.
	# usage: compile FILE OBJECT [FLAG...], in the project's folder
	set -eu
	file=\$1 object=\$2
	shift 2
	name=\${file##*/} name=\${name%.c}
	parts=\${0%/*}
	kernel=\$(CDPATH= cd "\${BUILD:-build}/guest/kernel-$flavour" && pwd -P)
	source=\$(CDPATH= cd "\$kernel/source" && pwd -P)
	case \${AGATE_PCH-} in
	'') set -- $(echo "$first" | sed 's|\$source|"$source"|g') "\$@" ;;
	*) set -- -include "\$AGATE_PCH" "\$@" ;;
	esac
	$command
	END
}

rm -rf "$parts.old"
[ ! -e "$parts" ] || mv "$parts" "$parts.old"
mkdir -p "$parts/include"
cp "$driver/agate_compat_gen.h" "$parts/include"
compile_command >"$parts/compile"
chmod +x "$parts/compile"
echo "$first" | tr ' ' '\n' | sed -n 's|^$source/include/\(.*\)|#include <\1>|p' >"$parts/first"
[ "$(wc -l <"$parts/first")" = "$(echo "$first" | grep -o -- '-include ' | wc -l)" ] ||
	die "$first: not all of these are the kernel's headers"
# Since Linux 6.12 kbuild keeps what is the same for all modules in an object of its own.
set -- "$driver/agate.mod.o"
[ ! -e "$driver/.module-common.o" ] || set -- "$@" "$driver/.module-common.o"

# The kernel takes the last function of a module for one that goes on to the end of its page.
# Before it optimizes a kprobe, can_optimize() decodes the whole function, here with the zeros
# behind it, two at a time.  If their number is odd, it reads a byte of the next page, which
# Linux 6.12 does not map.  So a function that nobody probes comes last: the linker gets this
# object behind all others.
as -o "$parts/text_end.o" <<-END
	.text
	.type	agate_text_end, @function
	agate_text_end:
	int3
	.section .note.GNU-stack,"",@progbits
	END
ld -r --strip-debug -o "$parts/agate.mod.o" "$@" "$parts/text_end.o"
rm "$parts/text_end.o"

# Linux that runs on one processor writes to every lock prefix that a module lists, each through
# a mapping of its own, which takes QEMU longer than all of the module's init.  The prefixes of
# a module that lists none just stay.
sed 's|^ /DISCARD/ : {|&\n  *(.smp_locks)|' "$kernel/scripts/module.lds" >"$parts/module.lds"
grep -q smp_locks "$parts/module.lds" ||
	die "$kernel/scripts/module.lds: nothing is discarded there"

abi=$(abi_hash kernel/*.h include/*.h "$parts"/include/*.h "$kernel/.config")
grep -ohE '\<agate_[a-z0-9_]+\>' kernel/agate_*.h | sort -u >"$parts/declared"
wanted=
for dir in "$driver"/solutions/*; do
	make_part "${dir##*/}" "$parts/declared" "$dir"/*.o
	wanted="$wanted -u $(abi_symbol "${dir##*/}" "$abi")"
done
rm "$parts/declared"
# shellcheck disable=SC2086 # a list of options
ld -r $wanted -o "$parts/frame.o" "$driver"/kernel/*.o
sha256sum kernel/agate_*.[ch] include/agate_*.h >"$parts/frame.sum"
{ echo "$abi" && cat "$parts/compile" "$parts/first"; } >"$parts/headers"
! cmp -s "$parts/headers" "$parts.old/headers" || mv "$parts.old/headers" "$parts/headers"
rm -rf "$parts.old"
awk '$3 == "vmlinux" { print $2 }' "$kernel/Module.symvers" | sort >"$parts/symvers.new"
mv "$parts/symvers.new" "$parts/symvers"
