#!/bin/sh
# SPDX-License-Identifier: MIT
#
# watch.sh: grade a lab, and again whenever one of its files is saved.
#
# usage: [FROM=..] [TEST=..] [DEBUG=1] ... scripts/watch.sh LAB, in the project's folder
#
# Takes the same variables as `make grade`; checks for the packages once, not each time.
# ^C ends it.
set -eu

. scripts/compose-lib.sh

lab=$(scripts/lab.sh "${1-}")
from=${FROM:-labs}
set --
for file in $(lab_info "$lab" | sed -n 's/^files //p'); do
	[ -e "$from/$lab/$file" ] || die "$from/$lab/$file: not there; make start LAB=$lab makes it"
	set -- "$@" "$from/$lab/$file"
done

printf '%s\n' "  WATCH    $*: graded now, and whenever it is saved; ^C ends" | printable

# Run a separate make: a make above us would lend its jobs, but not to a grandchild.
unset MAKEFLAGS MFLAGS MAKELEVEL
exec "$BUILD/bin/agate-watch" "$@" -- \
	make --no-print-directory grade LAB="${lab%%-*}" DEPS=skip BUILD="$BUILD"
