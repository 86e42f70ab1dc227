#!/bin/bash
# SPDX-License-Identifier: MIT
#
# other-debian.sh: what the README promises on the other Debian, with the other compiler and
# the other Linux, as TAP: Debian 13 where this is Debian 12, and Debian 12 elsewhere.
#
# usage: tests/other-debian.sh [COMMIT]
#
# debootstrap makes a bare system in build/other-debian once.  In it a fresh clone of COMMIT,
# HEAD if there is none, gets the README's two commands.  The clone and the packages stay
# until the next run; the kernels are in the cache of this system, where each has a name of
# its own.  Needs root, and the network.
set -u
. tests/tap.sh

BUILD=${BUILD:-build}
commit=$(git rev-parse --verify -q "${1:-HEAD}^{commit}") || {
	echo "usage: $0 [COMMIT]" >&2
	exit 1
}
case $(. /etc/os-release; echo "$ID ${VERSION_ID:-}") in
'debian 12') suite=trixie linux=6.12 ;;
*) suite=bookworm linux=6.1 ;;
esac
root=$(realpath -m "$BUILD/other-debian/$suite")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/agate
log=$(realpath -m "$BUILD/logs")/other-debian
tree=/srv/agate

# Nothing of this system's settings reaches the other.
inside()
{
	local bind=()

	[ ! -e /dev/kvm ] || bind=(--dev-bind /dev/kvm /dev/kvm)
	bwrap --bind "$root" / --dev /dev "${bind[@]}" --proc /proc --tmpfs /dev/shm --tmpfs /tmp \
		--bind "$cache" /srv/.cache/agate --ro-bind /etc/resolv.conf /etc/resolv.conf \
		--cap-add ALL --die-with-parent --clearenv --setenv HOME /srv \
		--setenv PATH /usr/sbin:/usr/bin:/sbin:/bin --chdir "$1" -- "${@:2}"
}

# told STEP COMMAND...: what it prints stands in comments, and in a log of its own.
told()
{
	local step=$1

	shift
	"$@" 2>&1 </dev/null | tee "$log-$step.log" | sed -u 's/^/# /'
	return "${PIPESTATUS[0]}"
}

# The bare system has what the README wants beforehand: git, make and a compiler.
bootstrap()
{
	[ ! -e "$root/etc/apt/complete" ] || return 0
	rm -rf "$root"
	mkdir -p "$root"
	debootstrap --variant=minbase --include=ca-certificates,gcc,git,libc6-dev,make \
		"$suite" "$root" && touch "$root/etc/apt/complete"
}

fresh_clone()
{
	rm -rf "$root$tree"
	git clone -q --no-checkout --no-hardlinks . "$root$tree" &&
		git -C "$root$tree" checkout -q --detach "$commit"
}

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
	echo "1..1"
	result 0 "the README on Debian's $suite # SKIP needs root and debootstrap"
	exit 0
fi

echo 1..5
mkdir -p "$cache" "$(dirname "$log")"
told bootstrap bootstrap
result $? "a bare system: Debian's $suite"
told clone fresh_clone
result $? "a fresh clone of the project"
told demo inside "$tree" make demo && cmp "$root$tree/build/demo/gem.png" docs/gem.png
result $? "make demo: the same picture, byte for byte"
version=$(inside "$tree" scripts/kernel-source.sh version)
[ "$version" = "$linux" ]
result $? "the course kernel is the system's own: Linux $version"
told test inside "$tree" make test
result $? "make test: $(tail -n 1 "$log-test.log")"
