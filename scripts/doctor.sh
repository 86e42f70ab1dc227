#!/bin/sh
# SPDX-License-Identifier: MIT
#
# doctor.sh: does this machine have everything that Agate needs, and how fast is it?
#
# usage: scripts/doctor.sh, in the project's folder
#
# Changes only $XDG_CACHE_HOME/agate/doctor.json, which tells the grader by how much to
# stretch its time limits.  Measures only what is built already.  Exit status: 0, or 1
# when a requirement is missing.
set -u
export LC_ALL=C
. scripts/packages.sh

BUILD=${BUILD:-build}
# How long a guest of `make grade` takes on the machine with scale 1, which has two cores
# and no KVM: restore, load the driver, run one program.
REFERENCE_FAST_MS=450
REFERENCE_DEBUG_MS=2600

missing=0

# say WORD NAME TEXT
say() { printf '  %-8s %-12s %s\n' "$1" "$2" "$3"; }
ok() { say OK "$1" "$2"; }
# A note is about something that makes Agate slower or limits it; a problem is about
# something without which nothing works.
note() { say NOTE "$1" "$2"; advice "$3"; }
problem() { say MISSING "$1" "$2"; advice "$3"; missing=1; }
advice() { printf '  %-8s %-12s -> %s\n' '' '' "$1"; }

# at_least HAVE WANT: versions, not decimals
at_least() { [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

# install NAME: what to type for the package that Debian calls NAME
install()
{
	echo "$(install_command "$system") $(packages_of "$system" "$1" | xargs)"
}

# The first word that looks like a version in a program's first line.
version_of()
{
	"$@" 2>/dev/null </dev/null | head -n 1 | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1
}

# tool NAME WANTED PACKAGE [COMMAND...]: needed, in this version or a later one
tool()
{
	name=$1 want=$2 package=$3
	shift 3
	[ $# -gt 0 ] || set -- "$name" --version
	if ! command -v "$1" >/dev/null; then
		problem "$name" "not there" "$(install "$package")"
		return
	fi
	have=$(version_of "$@")
	if [ "$want" = any ] || { [ -n "$have" ] && at_least "$have" "$want"; }; then
		ok "$name" "$have"
	elif [ -z "$have" ]; then
		note "$name" "does not say its version; $want or later is wanted" \
			"see what \`$*\` prints"
	else
		problem "$name" "$have is older than $want" "a newer one: $(install "$package")"
	fi
}

# library NAME WANTED PACKAGE
library()
{
	if ! have=$(pkg-config --modversion "$1" 2>/dev/null); then
		problem "$1" "not there" "$(install "$3")"
	elif at_least "$have" "$2"; then
		ok "$1" "$have"
	else
		problem "$1" "$have is older than $2" "a newer one: $(install "$3")"
	fi
}

# optional NAME FOR: in a package of that name
optional()
{
	if command -v "$1" >/dev/null; then
		ok "$1" "$(version_of "$1" --version)"
	else
		note "$1" "not there; $2 needs it" "$(install "$1")"
	fi
}

tools()
{
	tool gcc 10 gcc gcc -dumpfullversion
	tool make 4.3 make
	tool ld 2.35 binutils
	tool addr2line 2.35 binutils
	tool flex any flex
	tool bison any bison
	tool bc any bc bc --version
	tool xz any xz-utils
	tool cpio any cpio
	tool perl 5 perl perl -e 'printf "%vd\n", $^V'
	tool kmod any kmod
	tool unifdef any unifdef
	tool qemu 7.2 qemu-system-x86 qemu-system-x86_64 --version
	command -v busybox >/dev/null || problem busybox "not there" "$(install busybox-static)"
	tool pkg-config any pkg-config
	command -v pkg-config >/dev/null || return
	library jansson 2.13 libjansson-dev
	library libxxhash 0.8 libxxhash-dev
	library libdrm 2.4.100 libdrm-dev
	library cmocka 1.1.5 libcmocka-dev
	library libpng 1.6 libpng-dev
	library libelf 0.180 libelf-dev
}

more_tools()
{
	optional gdb "make gdb"
	optional sparse "make test"
	optional cppcheck "make test"
	optional clang "make test"
	optional git "make test"
}

no_sandbox()
{
	if [ "${TRUST_CONTAINER:-}" = 1 ]; then
		note bubblewrap "$1" "TRUST_CONTAINER=1: a lab's files are compiled without a sandbox"
	else
		problem bubblewrap "$1" \
			"for your own files, or in a container that is the sandbox: TRUST_CONTAINER=1"
	fi
}

# The program may exist and still fail: a container may not let it make namespaces.
sandbox()
{
	if ! command -v bwrap >/dev/null; then
		problem bubblewrap "not there; the grader compiles a lab's files in its sandbox" \
			"$(install bubblewrap)"
	elif ! bwrap --unshare-all --die-with-parent --ro-bind / / --size 65536 --tmpfs /tmp \
			true >/dev/null 2>&1; then
		no_sandbox "$(version_of bwrap --version), but it does not run here"
	else
		ok bubblewrap "$(version_of bwrap --version)"
	fi
}

cache_dir()
{
	case ${XDG_CACHE_HOME:-} in
	/*) echo "$XDG_CACHE_HOME/agate" ;;
	*) echo "${HOME:-}/.cache/agate" ;;
	esac
}

# Of the systems with packages that have names like Debian's, only Debian has the source.
kernel_advice()
{
	case $(. "$OS_RELEASE" 2>/dev/null; echo "${ID:-}") in
	debian) echo "Debian 12 has Linux 6.1, Debian 13 has Linux 6.12: make deps installs it" ;;
	*) echo "the course kernel is Linux 6.12 here: $KERNEL_ADVICE" ;;
	esac
}

# The course kernel: of two sources in reach scripts/kernel-source.sh chooses.
kernel_source()
{
	built=$(find "$cache" -maxdepth 2 -path '*/kernel-*/complete' 2>/dev/null | grep -c .)
	if source=$(scripts/kernel-source.sh source 2>"$work/said"); then
		kernel=$(scripts/kernel-source.sh version 2>"$work/said") || kernel=
	fi
	case ${kernel:-} in
	6.1 | 6.12) ok kernel "Linux $kernel, from $source" ;;
	?*) note kernel "Linux $kernel, from $source" "the driver was tried with 6.1 and 6.12" ;;
	*)
		problem kernel "$(sed 's/^kernel-source: //' "$work/said")" "$(kernel_advice)"
		;;
	esac
}

# Where make deps cannot install anything, all packages in one command.
system_packages()
{
	name=$(. "$OS_RELEASE" 2>/dev/null; echo "${PRETTY_NAME:-of unknown name}")
	ok system "$name"
	case $system in
	debian) ;;
	other) advice "packages that have what these Debian packages have:" ;;
	*) advice "$(install_command "$system") $(packages_of "$system" | xargs)" ;;
	esac
	[ "$system" != other ] || advice "$(packages_of debian | xargs)"
}

# free_mib PATH: of the file system that PATH is in, or will be
free_mib()
{
	path=$1
	while [ ! -e "$path" ]; do
		path=$(dirname "$path")
	done
	df -Pm "$path" | awk 'NR == 2 { print $4 }'
}

room()
{
	used=$(du -sm "$cache" 2>/dev/null | cut -f 1)
	ok cache "$cache, ${used:-0} MiB"
	need=1500
	[ "$built" -ge 2 ] || need=5000
	have=$(free_mib "$cache")
	if [ "$have" -ge "$need" ]; then
		ok disk "$have MiB free for the cache"
	else
		problem disk "$have MiB free for the cache, $need are wanted" \
			"make room, or set XDG_CACHE_HOME to a folder that has it"
	fi
	have=$(free_mib "$BUILD")
	[ "$have" -ge 1000 ] || problem disk "$have MiB free for $BUILD, 1000 are wanted" \
		"make room, or clone the project to where it is"
	have=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
	if [ "$have" -ge 2000 ]; then
		ok memory "$have MiB available"
	elif [ "$have" -ge 900 ]; then
		note memory "$have MiB available" \
			"enough for one guest; do not build and grade at the same time"
	else
		problem memory "$have MiB available, 900 are wanted" "end other programs"
	fi
	cores=$(nproc)
	if [ "$cores" -ge 2 ]; then
		ok cores "$cores"
	else
		note cores "$cores" "races in a driver show up better with two"
	fi
	busy=$(cut -d ' ' -f 1 /proc/loadavg)
	awk "BEGIN { exit !($busy > $cores) }" &&
		note load "$busy: other programs are running" \
			"measure again when they are not; they make this machine look slow"
	tmp=${TMPDIR:-/tmp}
	[ -w "$tmp" ] || problem tmp "$tmp cannot be written to" "set TMPDIR"
}

# People suspect a small /dev/shm, as containers have it, first when QEMU fails.
shared_memory()
{
	[ ! -d /dev/shm ] || ok shm "/dev/shm has $(free_mib /dev/shm) MiB; guests do not use it"
}

accelerator()
{
	known=
	for file in "$cache"/vm/accel-*; do
		[ ! -e "$file" ] || known=$(head -c 3 "$file")
	done
	if [ -n "${ACCEL:-}" ]; then
		ok accel "ACCEL=$ACCEL"
	elif [ ! -e /dev/kvm ]; then
		ok accel "tcg: there is no /dev/kvm, and none is needed"
	elif [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; then
		note accel "tcg: /dev/kvm is there, but not for you" \
			"to be faster, join its group: sudo usermod -aG kvm \$USER, and log in again"
	elif [ "$known" = tcg ]; then
		ok accel "tcg: a guest did not come up with KVM on this machine"
	elif [ "$known" = kvm ]; then
		ok accel "kvm"
	else
		ok accel "kvm, if the first guest comes up with it"
	fi
}

# How a guest gets processors beside other programs: vm/policy.c
scheduling()
{
	if at_least "$(uname -r | grep -oE '^[0-9]+(\.[0-9]+)*')" 6.12; then
		ok slices "short ones for what a guest waits for"
	else
		note slices "Linux before 6.12 gives the GPU no turn early" \
			"on a busy machine a newer kernel helps"
	fi
	# QEMU's main thread gets this priority, the highest that is wanted.
	if chrt --rr 2 true 2>/dev/null; then
		ok realtime "permitted: agate-vm --realtime is fast on a busy machine, too"
	else
		note realtime "not permitted; only agate-vm --realtime wants it" \
			"set rtprio to 2 in /etc/security/limits.conf, and log in again"
	fi
}

# once FLAVOUR: milliseconds from the launcher's start to a program's end in a guest with
# the driver
once()
{
	begun=$(date +%s%N)
	"$BUILD/bin/agate-vm" run --kernel "$BUILD/guest/kernel-$1" --timeout 120 \
		--initramfs "$BUILD/guest/initramfs.cpio.gz" --sim "$BUILD/bin/agate-sim" \
		--timings "$work/timings.json" --console "$work/console.log" \
		"put:$work/$1/agate.stripped.ko:/run/agate/agate.ko" \
		'exec:insmod /run/agate/agate.ko' 'exec:true' >"$work/log" 2>&1 </dev/null || return
	echo $((($(date +%s%N) - begun) / 1000000))
}

# measure FLAVOUR TIMES: the median; the first run does not count, because it may make the
# snapshot
measure()
{
	for i in $(seq 0 "$2"); do
		ms=$(once "$1") || return
		[ "$i" = 0 ] || echo "$ms"
	done | sort -n | awk '{ ms[NR] = $1 } END { if (NR) print ms[int((NR + 1) / 2)] }'
}

# speed FLAVOUR REFERENCE TIMES COMMAND: prints a line, and leaves the figure in $ms
speed()
{
	ms=
	for f in bin/agate-vm bin/agate-sim guest/initramfs.cpio.gz "guest/kernel-$1/bzImage" \
			"parts/$1/symvers"; do
		[ -e "$BUILD/$f" ] && continue
		say NOT-YET "$1 guest" "not built, so not measured"
		advice "$4, then make doctor again"
		return
	done
	if ! BUILD="$BUILD" kernel/compose-lab.sh "$1" "$work/$1" >"$work/log" 2>&1; then
		note "$1 guest" "the driver is not up to date: $(tail -n 1 "$work/log")" "$4"
		return
	fi
	ms=$(measure "$1" "$3")
	if [ -z "$ms" ]; then
		problem "$1 guest" "does not work: $(head -n 1 "$work/log")" \
			"if ACCEL is set, unset it; else look at $BUILD/doctor.log"
		cat "$work/log" "$work/console.log" >"$BUILD/doctor.log" 2>/dev/null
		return
	fi
	accel=$(sed -n 's/.*"accel": "\([a-z]*\)".*/\1/p' "$work/timings.json")
	factor=$(awk "BEGIN { printf \"%.2f\", $ms / $2 }")
	ok "$1 guest" "$ms ms from start to end, $factor times the reference machine's $2 ms"
}

write_result()
{
	scale=$(awk -v f="${fast_ms:-0}" -v d="${debug_ms:-0}" -v rf=$REFERENCE_FAST_MS \
		-v rd=$REFERENCE_DEBUG_MS 'BEGIN {
			s = 1
			if (f / rf > s) s = f / rf
			if (d / rd > s) s = d / rd
			printf "%.2f", s
		}')
	printf '{"scale": %s, "fast_ms": %s, "debug_ms": %s, "accel": "%s"}\n' \
		"$scale" "${fast_ms:-null}" "${debug_ms:-null}" "$accel" >"$work/doctor.json"
	if mkdir -p "$cache" && cp "$work/doctor.json" "$cache/doctor.json.$$" &&
			mv "$cache/doctor.json.$$" "$cache/doctor.json"; then
		ok limits "the grader's time limits are stretched by $scale"
	else
		rm -f "$cache/doctor.json.$$"
		problem cache "$cache cannot be written to" "set XDG_CACHE_HOME to a folder that can"
	fi
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
cache=$(cache_dir)
accel=
system=$(package_system)

system_packages
tools
more_tools
sandbox
kernel_source
room
shared_memory
accelerator
scheduling
speed fast $REFERENCE_FAST_MS 5 "make grade LAB=02 FROM=solutions"
fast_ms=$ms
speed debug $REFERENCE_DEBUG_MS 3 "make grade LAB=02 FROM=solutions DEBUG=1"
debug_ms=$ms
[ -z "$fast_ms$debug_ms" ] || write_result

if [ "$missing" = 0 ]; then
	echo "  Nothing that is needed is missing."
else
	echo "  Something that is needed is missing: see above."
fi
exit $missing
