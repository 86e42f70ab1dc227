#!/bin/sh
# SPDX-License-Identifier: MIT
#
# doctor.sh: what `make doctor` says on systems that are not this one, as TAP: which packages
# are missing, under which names, and which course kernel there is.
#
# The systems are samples of /etc/os-release, on a machine without some of its programs.
# shellcheck disable=SC2317
set -u
. tests/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
unset KERNEL KERNEL_SRC
export AGATE_OS_RELEASE="$work/os-release" AGATE_SOURCES="$work/src" BUILD="$work/build"
export XDG_CACHE_HOME="$work/cache"
mkdir "$work/bin" "$work/src" "$work/build"

# A program stands for its package: these have other names on other systems, or only there.
gone="flex gdb kmod qemu-system-x86_64 xz"
find /usr/sbin/ /usr/bin/ /usr/local/bin/ ! -type d -exec ln -sf -t "$work/bin" {} +
for program in $gone; do
	rm -f "$work/bin/$program"
done

# system LINE...: the lines of its os-release
system()
{
	printf '%s\n' "$@" >"$work/os-release"
	PATH=$work/bin scripts/doctor.sh >"$work/said" 2>&1
	status=$?
}

# says WORD NAME TEXT, with any number of spaces between
says()
{
	sed 's/  */ /g; s/^ //' "$work/said" | grep -qF "$*"
}

# advises NAME COMMAND: the line behind the one about NAME
advises()
{
	sed 's/  */ /g; s/^ //' "$work/said" |
		awk -v name="$1" -v want="-> $2" 'named { found = $0 == want } { named = $2 == name }
			found { exit } END { exit !found }'
}

# installs COMMAND QEMU XZ: each of the missing programs, by the package that holds it
installs()
{
	[ "$status" = 1 ] && advises flex "$1 flex" && advises kmod "$1 kmod" &&
		advises gdb "$1 gdb" && advises qemu "$1 $2" && advises xz "$1 $3"
}

# all_at_once COMMAND PACKAGE...: one command, which has these packages besides others
all_at_once()
{
	line=$(grep -F -m 1 -e "-> $1 gcc " "$work/said") || return
	shift
	for package; do
		case "$line " in
		*" $package "*) ;;
		*) return 1 ;;
		esac
	done
}

complain()
{
	cat "$work/said"
}

echo 1..18

[ -z "$(grep -v '^#' scripts/packages.txt | awk 'NF != 3 && NF != 0')" ]
result $? "each package has a name for each of three kinds of systems"

system ID=debian 'VERSION_ID="13"' 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"'
says OK system "Debian GNU/Linux 13 (trixie)" && installs "apt-get install" qemu-system-x86 xz-utils
result $? "Debian 13: the names of its packages"
says MISSING kernel && advises kernel \
	"Debian 12 has Linux 6.1, Debian 13 has Linux 6.12: make deps installs it"
result $? "and that make deps installs the source"

here="the course kernel is Linux 6.12 here: KERNEL_SRC= names its tarball, the latest"
here="$here linux-6.12.*.tar.xz of kernel.org"
for version in 24.04 26.04; do
	system ID=ubuntu ID_LIKE=debian "VERSION_ID=\"$version\"" "PRETTY_NAME=\"Ubuntu $version LTS\""
	says OK system "Ubuntu $version LTS" && installs "apt-get install" qemu-system-x86 xz-utils
	result $? "Ubuntu $version: the names of its packages"
	says MISSING kernel && advises kernel "$here"
	result $? "and that no package has the source of Linux 6.12"
done

system ID=fedora VERSION_ID=43 'PRETTY_NAME="Fedora Linux 43 (Workstation Edition)"'
installs "dnf install" qemu-system-x86-core xz
result $? "Fedora: the names of its packages"
all_at_once "dnf install" libdrm-devel glibc-static elfutils-libelf-devel libasan libubsan \
	libtsan ncurses-devel pkgconf-pkg-config busybox drm-utils pandoc
result $? "and all of them in one command"
advises kernel "$here"
result $? "and where the kernel comes from"

system ID=arch 'PRETTY_NAME="Arch Linux"' BUILD_ID=rolling
installs "pacman -S" qemu-system-x86 xz
result $? "Arch: the names of its packages"
all_at_once "pacman -S" libdrm cmocka jansson libelf ncurses pkgconf pandoc-cli compiler-rt
result $? "and all of them in one command"
advises kernel "$here"
result $? "and where the kernel comes from"

system ID=linuxmint 'ID_LIKE="ubuntu debian"'
installs "apt-get install" qemu-system-x86 xz-utils
result $? "a system that is like Debian has its names"
system ID=centos 'ID_LIKE="rhel fedora"'
installs "dnf install" qemu-system-x86-core xz
result $? "one that is like Fedora, those"
system ID=opensuse-tumbleweed 'ID_LIKE="opensuse suse"'
says "packages that have what these Debian packages have:" && installs install qemu-system-x86 xz-utils
result $? "and any other hears Debian's, and that they are"

# The source of a kernel, where it was found.
: >"$work/linux-6.12.9.tar.xz"
: >"$work/linux-6.8.1.tar.xz"
KERNEL_SRC=$work/linux-6.12.9.tar.xz && export KERNEL_SRC
system ID=fedora VERSION_ID=43
says OK kernel "Linux 6.12, from $work/linux-6.12.9.tar.xz"
result $? "KERNEL_SRC= with Linux 6.12 is good"
KERNEL_SRC=$work/linux-6.8.1.tar.xz
system ID=ubuntu VERSION_ID=24.04
says NOTE kernel "Linux 6.8, from" && advises kernel "the driver was tried with 6.1 and 6.12"
result $? "any other is told that nobody has tried it"
