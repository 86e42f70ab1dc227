#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install-deps.sh: make sure that the packages for building Agate are installed.
#
# usage: scripts/install-deps.sh [--list [SYSTEM] | --book], in the project's folder
#
# Installs what is missing, with sudo if necessary, where apt-get is there.  On another
# distribution, or without root, lists exactly what to install and fails.  The kernel's
# source is the package that kernel-source.sh wants; with KERNEL_SRC set, none is needed.
#
# --list prints the packages for this system, or for SYSTEM (debian, fedora, arch), without
# the kernel's source.  --book installs what `make book` needs, and no kernel's source.
set -eu
. scripts/packages.sh

# Without the second option apt takes the name of a package that does not exist for a
# pattern, and installs what matches.
APT_OPTIONS="-o DPkg::Lock::Timeout=120 -o APT::Cmd::Pattern-Only=true"

DPKG_STATUS=${AGATE_DPKG_STATUS:-/var/lib/dpkg/status}

# Left by a run that found everything, with what it depended on besides files: this script
# runs before every command, and dpkg takes its time.
found=${BUILD:-build}/packages.found
asked="${KERNEL-}|${KERNEL_SRC-}|${AGATE_SOURCES-}|${AGATE_OS_RELEASE-}|$PATH"

# Was everything there, and has dpkg installed or removed nothing since?
still_there()
{
	{ read -r was && read -r source; } 2>/dev/null <"$found" && [ "$was" = "$asked" ] &&
		[ -e "$source" ] || return
	for file in "$DPKG_STATUS" "$0" scripts/packages* scripts/kernel-source.sh; do
		[ "$found" -nt "$file" ] || return
	done
}

# One query for all of them.
missing()
{
	have=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $PACKAGES 2>/dev/null |
		sed -n 's/^installed //p' | tr '\n' ' ')"
	for p in $PACKAGES; do
		case $have in
		*" $p "*) ;;
		*) printf '%s ' "$p" ;;
		esac
	done
}

offered()
{
	apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]'
}

# The package with the source that the course kernel lacks: the best one that apt offers.
kernel_package()
{
	for version in $versions; do
		! offered "linux-source-$version" || { echo "linux-source-$version"; return; }
	done
	return 1
}

# Advice for systems on which this script cannot install packages.
ways_out()
{
	echo "With the same things from elsewhere, run make with DEPS=skip."
	[ -z "$versions" ] || echo "The course kernel is Linux 6.12: $KERNEL_ADVICE."
}

if [ "${1-}" = --list ]; then
	packages_of "${2:-$(package_system)}" | xargs
	exit 0
fi

source=
if [ "${1-}" = --book ]; then
	PACKAGE_LIST=scripts/packages-book.txt
	versions= found=
else
	! still_there || exit 0
	versions=$(scripts/kernel-source.sh wanted)
	if source=$(scripts/kernel-source.sh source 2>/dev/null); then
		versions=
	fi
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	system=$(package_system)
	echo "This system has no apt-get, so install what Agate needs by hand:" >&2
	echo "  $(install_command "$system") $(packages_of "$system" | xargs)" >&2
	[ "$system" != other ] || echo "These are the names of Debian's packages." >&2
	ways_out >&2
	exit 1
fi

PACKAGES=$(packages_of debian | xargs)
# Before the query: what dpkg does meanwhile must count.
if [ -n "$found" ]; then
	mkdir -p "${found%/*}"
	printf '%s\n' "$asked" "$source" >"$found.$$"
fi
want=$(missing)
if [ -z "$want$versions" ]; then
	[ -z "$found" ] || mv "$found.$$" "$found"
	exit 0
fi
[ -z "$found" ] || rm -f "$found.$$"

as_root=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		[ -z "$versions" ] || want="$want$(kernel_package || echo linux-source-6.12)"
		echo "These packages are missing, and there is no sudo to install them with:" >&2
		echo "  $want" >&2
		echo "As root: apt-get install --no-install-recommends $want" >&2
		ways_out >&2
		exit 1
	fi
	as_root=sudo
fi

log=${BUILD:-build}/logs/install-deps.log
mkdir -p "$(dirname "$log")"

failed()
{
	tail -n 5 "$log" >&2
	echo "apt-get failed; the whole log is in $log" >&2
	ways_out >&2
	exit 1
}

# apt knows what it offers only after it has fetched its lists.
$as_root apt-get $APT_OPTIONS update >"$log" 2>&1 || failed
if [ -n "$versions" ] && ! kernel=$(kernel_package); then
	echo "apt offers no package linux-source-$(echo $versions | sed 's/ / and no linux-source-/g')." >&2
	echo "Take Linux 6.12: $KERNEL_ADVICE." >&2
	exit 1
fi
want="$want${kernel-}"
printf '  %-8s %s\n' INSTALL "$want"
$as_root env DEBIAN_FRONTEND=noninteractive \
	apt-get $APT_OPTIONS install -y --no-install-recommends $want >>"$log" 2>&1 || failed
