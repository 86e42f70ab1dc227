#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sources.sh: which kernel's source scripts/kernel-source.sh chooses, and which packages
# scripts/install-deps.sh installs for it, as TAP.
#
# The systems are folders with a few empty files, and an apt that only writes down what it
# is told. shellcheck disable=SC2317
set -u
. tests/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
unset KERNEL KERNEL_SRC
export AGATE_SOURCES="$work/src" AGATE_OS_RELEASE="$work/os-release"
export BUILD="$work/build" OFFERED="$work/offered" GIVEN="$work/given"

# system ID VERSION PACKAGED...: with linux-source of these versions installed
system()
{
	printf 'ID=%s\nVERSION_ID="%s"\n' "$1" "$2" >"$AGATE_OS_RELEASE"
	rm -rf "$AGATE_SOURCES"
	mkdir "$AGATE_SOURCES"
	shift 2
	for version; do
		: >"$AGATE_SOURCES/linux-source-$version.tar.xz"
	done
}

# chosen VERSION: is this the course kernel, with its own tarball?
chosen()
{
	scripts/kernel-source.sh version >"$work/said" 2>&1 && [ "$(cat "$work/said")" = "$1" ] &&
		scripts/kernel-source.sh source >"$work/said" 2>&1 &&
		[ "$(cat "$work/said")" = "$AGATE_SOURCES/linux-source-$1.tar.xz" ]
}

refused()
{
	! scripts/kernel-source.sh source >"$work/said" 2>&1 && grep -q "$1" "$work/said"
}

# The programs that install-deps.sh asks: every package is installed, except
# for those of kernels, and apt offers the kernels in $OFFERED once its lists are there.
make_programs()
{
	mkdir "$work/bin"
	cat >"$work/bin/dpkg-query" <<-'EOF'
		#!/bin/sh
		shift 3
		printf 'installed %s\n' "$@"
	EOF
	cat >"$work/bin/apt-cache" <<-'EOF'
		#!/bin/sh
		grep -qx "lists" "$GIVEN" && grep -qx "$2" "$OFFERED" && echo "  Candidate: 1"
	EOF
	cat >"$work/bin/apt-get" <<-'EOF'
		#!/bin/sh
		echo "$*" >>"$GIVEN"
		case $* in *update) echo lists >>"$GIVEN" ;; esac
	EOF
	printf '#!/bin/sh\necho 0\n' >"$work/bin/id"
	chmod +x "$work"/bin/*
}

# deps OFFERED...: runs install-deps.sh where apt offers these packages
deps()
{
	printf '%s\n' "$@" >"$OFFERED"
	: >"$GIVEN"
	PATH=$work/bin:$PATH scripts/install-deps.sh >"$work/said" 2>&1
}

installs()
{
	grep -q "install -y --no-install-recommends $1\$" "$GIVEN" &&
		grep -q 'Pattern-Only=true .*install' "$GIVEN"
}

complain()
{
	cat "$work/said" "$GIVEN" 2>/dev/null
}

echo 1..22

make_programs
system debian 12 6.1 6.12
chosen 6.1
result $? "Debian 12 with both sources has Linux 6.1"
system debian 13 6.1 6.12
chosen 6.12
result $? "Debian 13 with both has Linux 6.12"
system debian 12 6.12
chosen 6.12
result $? "a source that is installed comes before one that is not: 6.12"
system debian 13 6.1
chosen 6.1
result $? "and 6.1"
system debian 12 6.1 6.12
KERNEL=6.12 chosen 6.12
result $? "KERNEL= chooses 6.12"
system debian 13 6.1 6.12
KERNEL=6.1 chosen 6.1
result $? "and 6.1"
system debian 13 6.12
KERNEL=6.1 refused 'no linux-source-6.1.tar'
result $? "and takes no other instead"
KERNEL=6 refused 'KERNEL=6 is neither 6.1 nor 6.12'
result $? "what it does not know is refused"
system ubuntu 24.04
refused 'no linux-source-6.12.tar.*KERNEL_SRC is not set'
result $? "without a source it says what is missing"

mkdir -p "$work/any" "$work/tree"
printf '# comment\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 3\nkernelversion:\n\t@echo 6.12.3\n' |
	tee "$work/tree/Makefile" >"$work/any/Makefile"
mkdir -p "$work/any/Documentation"
printf 'VERSION = 1\nPATCHLEVEL = 2\n' >"$work/any/Documentation/Makefile"
tar -C "$work" -cJf "$work/mine.tar.xz" any/Documentation/Makefile any/Makefile
system debian 12 6.1
[ "$(KERNEL=6.1 KERNEL_SRC=$work/mine.tar.xz scripts/kernel-source.sh version)" = 6.12 ]
result $? "KERNEL_SRC comes before both, and its Makefile says the version"
[ "$(KERNEL_SRC=$work/tree scripts/kernel-source.sh version)" = 6.12 ]
result $? "that of a tree, too"
: >"$work/linux-6.1.99.tar.gz"
[ "$(KERNEL_SRC=$work/linux-6.1.99.tar.gz scripts/kernel-source.sh version)" = 6.1 ]
result $? "or the name of a tarball does"
KERNEL_SRC=$work/none refused 'KERNEL_SRC=.*none does not exist'
result $? "a path that leads nowhere is refused"

system debian 13
deps linux-source-6.12 && installs linux-source-6.12
result $? "deps installs the source that apt offers"
system debian 12
deps linux-source-6.12 linux-source-6.1 && installs linux-source-6.1
result $? "of two the system's own"
KERNEL=6.12 && export KERNEL
deps linux-source-6.12 linux-source-6.1 && installs linux-source-6.12
result $? "or the one that KERNEL= says"
unset KERNEL
system ubuntu 24.04
! deps linux-source-6.8.0 && grep -q 'KERNEL_SRC= names' "$work/said" && ! grep -q 'install' "$GIVEN"
result $? "where apt has neither, it installs nothing, and says what to do"
system debian 12 6.1
deps && [ ! -s "$GIVEN" ]
result $? "where nothing is missing it asks apt for nothing"

# A run keeps what it has found.  This dpkg-query tells when it is asked.
rm -rf "$BUILD"
export AGATE_DPKG_STATUS="$work/status"
touch -d '2001-01-01' "$AGATE_DPKG_STATUS"
printf '#!/bin/sh\nshift 3\necho asked >>"$GIVEN"\nprintf "installed %%s\\n" "$@"\n' \
	>"$work/bin/dpkg-query"
deps && grep -qx asked "$GIVEN"
result $? "the first run asks dpkg"
deps && ! grep -qx asked "$GIVEN"
result $? "the next one does not"
touch "$AGATE_DPKG_STATUS"
deps && grep -qx asked "$GIVEN"
result $? "it does when something was installed or removed since"
system debian 12
! deps && grep -q update "$GIVEN"
result $? "and when the kernel's source is gone"
