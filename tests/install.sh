#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install.sh: what `make install` leaves in a folder is complete, as TAP.
#
# usage: tests/install.sh
#
# The manual's example is compiled against it with what pkg-config says and nothing else, and
# runs on the host tests' fake kernel.  The pages name each function and each option.
set -u
. tests/tap.sh

build=$(realpath "${BUILD:-build}")
fake=$build/tests/host/userspace/libfakekernel.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
top=$work/usr
tools="agate-gem agate-hold agate-info agate-map agate-top"

complain()
{
	tail -n 20 "$work/said"
}

functions()
{
	sed -n 's/^	\(agate_[a-z0-9_]*\);$/\1/p' userspace/libagate.map
}

# Files that are not there.
missing()
{
	{
		for tool in $tools; do
			printf '%s\n' "bin/$tool" "share/man/man1/$tool.1"
		done
		for header in agate agate_drm agate_job; do
			echo "include/agate/$header.h"
		done
		functions | sed 's|.*|share/man/man3/&.3|'
		printf '%s\n' lib/libagate.so lib/pkgconfig/agate.pc share/man/man3/libagate.3
	} | while read -r file; do
		[ -s "$top/$file" ] || echo "$file is missing"
	done
}

flags()
{
	PKG_CONFIG_PATH=$top/lib/pkgconfig pkg-config "$@" agate
}

install_to()
{
	make -s DEPS=skip install "$@" >"$work/said" 2>&1
}

compile()
{
	# shellcheck disable=SC2046 # options
	(cd "$work" && gcc -std=c11 -Wall -Wextra -Werror -o example example.c \
		$(flags --cflags --libs)) >"$work/said" 2>&1
}

# example PRELOADED: what it prints goes to $work/said.
example()
{
	LD_LIBRARY_PATH=$top/lib LD_PRELOAD=$1 "$work/example" >"$work/said" 2>&1
}

said()
{
	[ "$(cat "$work/said")" = "$1" ]
}

# Functions of which a page, or the header, says nothing.
undocumented()
{
	awk -f userspace/man/header.awk userspace/agate.h | awk '
		/^```$/ { inside = !inside; if (inside) code = ""; pending = !inside; next }
		inside { code = code $0 "\n"; next }
		pending && NF {
			if (/^[#`]/ && code ~ /\(/)
				print "nothing is said of: " code
			pending = 0
		}'
	functions | while read -r name; do
		grep -q "^[^#]*\<$name(" userspace/agate.h || echo "$name: not in agate.h"
		grep -q "\<$name(" "$top/share/man/man3/libagate.3" || echo "$name: not in libagate(3)"
	done
	sed -n 's/^[a-z].*\<\(agate_[a-z0-9_]*\)(.*/\1/p' userspace/agate.h | while read -r name; do
		functions | grep -qx "$name" || echo "$name: libagate.so does not show it"
	done
}

# Options that a tool's help has and its page has not.
options_missing()
{
	for tool in $tools; do
		"$top/bin/$tool" --help 2>&1 | grep -oE -- '--[a-z]+' | sort -u | while read -r option; do
			sed 's/\\-/-/g' "$top/share/man/man1/$tool.1" | grep -q -- "$option\>" ||
				echo "$tool(1) does not name $option"
		done
	done
}

echo 1..14
install_to "PREFIX=$top"
result $? "make install PREFIX="
no_findings "all files are there" "$(missing)"
# No file has the name of the packager's folder in it.
install_to "DESTDIR=$work/root" "PREFIX=$top"
result $? "make install DESTDIR="
check "the same files" 0 0 diff -r "$top" "$work/root$top"
flags --modversion >"$work/said" 2>&1
check "pkg-config knows the version" 0 $? said "$(sed -n 's/^AGATE_VERSION	*:= //p' userspace/module.mk)"
cp userspace/man/example.c "$work"
compile
result $? "the manual's example compiles with pkg-config's flags alone"
readelf -d "$work/example" >"$work/said" 2>&1
check "it asks for the library by its soname" 0 $? grep -q 'NEEDED.*\[libagate\.so\.0\]' "$work/said"
example ''
check "it finds no GPU here" 1 $? said "example: No such device"
example "$fake"
check "it works on the fake kernel" 0 $? said 7
no_findings "each function is documented" "$(undocumented)"
no_findings "each option is documented" "$(options_missing)"
"$top/bin/agate-top" --once --interval 10 >"$work/said" 2>&1
result $? "an installed tool runs"
"$top/bin/agate-top" --once --interval -18446744073709551516 >"$work/said" 2>&1
check "agate-top refuses a negative interval" 2 $? grep -q '^usage: ' "$work/said"
"$top/bin/agate-top" </dev/null >"$work/said" 2>&1
check "agate-top says that its screen has to have a terminal" 2 $? \
	grep -q 'have to be a terminal' "$work/said"
