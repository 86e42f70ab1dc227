#!/bin/sh
# SPDX-License-Identifier: MIT
#
# kernel-source.sh: which Linux is the course kernel, and where is its source?
#
# usage: scripts/kernel-source.sh source      prints the tarball or tree to build from;
#                                             fails, and says why, when there is none
#        scripts/kernel-source.sh version     prints its version: 6.1 or 6.12
#        scripts/kernel-source.sh wanted      prints the versions that would do, the best
#                                             one first; nothing when KERNEL_SRC says
#
# The source is a package of the distribution, or the tarball or tree that KERNEL_SRC
# names.  KERNEL=6.1 or KERNEL=6.12 chooses between packages; otherwise this script takes
# what is installed, of two packages the one that the system has as its own.
set -eu
export LC_ALL=C

SOURCES=${AGATE_SOURCES:-/usr/src}
OS_RELEASE=${AGATE_OS_RELEASE:-/etc/os-release}
here=$(cd "$(dirname "$0")" && pwd)

die()
{
	printf 'kernel-source: %s\n' "$*" >&2
	exit 1
}

# The versions that would do, the best one first.
wanted()
{
	case ${KERNEL:-} in
	6.1 | 6.12) echo "$KERNEL" ;;
	'')
		case $(. "$OS_RELEASE" 2>/dev/null; echo "${ID:-} ${VERSION_ID:-}") in
		'debian 12') echo 6.1 6.12 ;;
		*) echo 6.12 6.1 ;;
		esac
		;;
	*) die "KERNEL=$KERNEL is neither 6.1 nor 6.12; KERNEL_SRC= names any other source" ;;
	esac
}

# package_source VERSION: the tarball of that package, if it is installed
package_source()
{
	find "$SOURCES" -maxdepth 1 -name "linux-source-$1.tar.*" 2>/dev/null | sort | head -n 1
}

find_source()
{
	if [ -n "${KERNEL_SRC:-}" ]; then
		[ -e "$KERNEL_SRC" ] || die "KERNEL_SRC=$KERNEL_SRC does not exist"
		realpath "$KERNEL_SRC"
		return
	fi
	versions=$(wanted)
	for version in $versions; do
		found=$(package_source "$version")
		[ -z "$found" ] || { echo "$found"; return; }
	done
	die "$SOURCES has no linux-source-${versions% *}.tar.*, and KERNEL_SRC is not set"
}

# A tarball usually has its version in its name; the Makefile of any other says it.
version_of()
{
	if [ -d "$1" ]; then
		"$here/../guest/kernel-make.sh" "$1" -s kernelversion
		return
	fi
	named=$(basename "$1" | sed -nE 's/^linux[-_](source-)?([0-9]+\.[0-9]+).*\.tar.*$/\2/p')
	[ -z "$named" ] || { echo "$named"; return; }
	tar -xOf "$1" --wildcards --no-wildcards-match-slash --occurrence=1 '*/Makefile' |
		sed -nE 's/^(VERSION|PATCHLEVEL) *= *([0-9]+)$/\2/p' | paste -s -d .
}

case ${1-} in
source) find_source ;;
version)
	source=$(find_source)
	version=$(version_of "$source" | grep -oE '^[0-9]+\.[0-9]+') ||
		die "$source: no kernel's source"
	echo "$version"
	;;
wanted) [ -n "${KERNEL_SRC:-}" ] || wanted ;;
*) die "usage: $0 source|version|wanted" ;;
esac
