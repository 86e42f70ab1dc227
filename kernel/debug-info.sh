#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Link once more, with debug information, what kernel/compose-lab.sh has linked.
#
# usage: kernel/debug-info.sh FLAVOUR OUT, in the project's folder
#
# Makes OUT/agate.ko, whose code is that of OUT/agate.stripped.ko, from the objects in OUT: the
# lab's files may have changed meanwhile.  What is up to date stays.  Exit status: 0 or 1.
set -u

. scripts/compose-lib.sh

[ $# = 2 ] || die "usage: $0 FLAVOUR OUT"
parts=$BUILD/parts/$1
out=$(plain_path "$2")
[ -e "$out/link.key" ] || die "there is no module in $out"
[ ! -e "$out/agate.ko" ] || exit 0

# link.key has them as they were when the stripped module was linked.
parts_changed()
{
	grep -F "$parts/" "$out/linked" | xargs -d '\n' stat -L -c '%n %i %s %y' |
		grep -qvxF -f "$out/link.key"
}

! parts_changed || die "$parts has changed since $out was linked"
# Under another name until it is whole: this shell may be killed meanwhile.
# shellcheck disable=SC2086 # a list of options
link_listed agate.ko.new $LINK_MODULE -T "$parts/module.lds" -o ||
	die "the linker failed: $(cat "$out/link.log")"
mv "$out/agate.ko.new" "$out/agate.ko"
