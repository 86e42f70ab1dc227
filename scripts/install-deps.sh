#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install-deps.sh: make sure that the Debian packages for building Agate are installed.
#
# usage: scripts/install-deps.sh [--list]
#
# Installs the missing packages, with sudo if necessary.  On another distribution, or
# without root, lists exactly what to install and fails.  With KERNEL_SRC set, the
# distribution's kernel source is not needed.
set -eu

# One line per purpose: host build, guest kernel, guest, checks.
PACKAGES="
gcc make libc6-dev pkg-config libdrm-dev libcmocka-dev libjansson-dev libpng-dev
xz-utils flex bison bc libelf-dev kmod
qemu-system-x86 busybox-static cpio
bubblewrap
sparse cppcheck git perl patch unifdef clang libclang-rt-14-dev
gdb
"
[ -n "${KERNEL_SRC-}" ] || PACKAGES="$PACKAGES linux-source-6.1"

# One query for all of them: this runs before every command.
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

# Advice for systems on which this script cannot install packages.
ways_out()
{
	echo "With the same things from elsewhere, run make with DEPS=skip; KERNEL_SRC= names a"
	echo "Linux 6.1 tarball or tree to take instead of the package linux-source-6.1."
}

if [ "${1-}" = --list ]; then
	echo $PACKAGES
	exit 0
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "This is not a Debian system.  Agate needs what these Debian 12 packages hold:" >&2
	echo "  $(echo $PACKAGES)" >&2
	ways_out >&2
	exit 1
fi

want=$(missing)
[ -n "$want" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
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
printf '  %-8s %s\n' INSTALL "$want"
if ! {
	$as_root apt-get -o DPkg::Lock::Timeout=120 update &&
	$as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends $want
} >"$log" 2>&1; then
	tail -n 5 "$log" >&2
	echo "apt-get failed; the whole log is in $log" >&2
	ways_out >&2
	exit 1
fi
