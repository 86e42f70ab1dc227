#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Build a course kernel and print the directory that holds it.
#
#   guest/build-kernel.sh fast|debug
#
# The source is the one that scripts/kernel-source.sh finds: the distribution's tarball, or
# what KERNEL_SRC= names, a tarball or a clean tree.  The result lives in the cache,
# outside the tree, keyed by source, options and compiler:
#
#   bzImage, vmlinux   to boot, and to decode addresses or attach gdb with
#   modules/*.ko       vgem, vkms and the kernel's own tests, without debug information
#   flavour, ram       "fast" or "debug"; the MiB of RAM it wants
#   (the rest)         a prepared tree for out-of-tree modules: make -C DIR M=...
#
# Any number of these may run at once.  If a directory lacks its `complete` file, its
# build was killed, and the script builds it again from scratch; it unpacks a source again
# that was removed, because modules need it.
#
# A build prints its progress every ten seconds (PROGRESS_SECONDS=).  After a build the
# script removes the kernels that nobody used lately, except for the last three of each
# flavour, and the sources that no kernel needs any more.

set -euo pipefail
export LC_ALL=C
# The locks are taken here: kernel-make.sh need not.
export KERNEL_LOCKED=1

here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)

say()
{
	local word=$1

	shift
	printf '  %-8s %s\n' "$word" "$*" >&2
}

die()
{
	printf 'build-kernel: %s\n' "$*" >&2
	exit 1
}

# The base directory specification says to ignore a path that is not absolute.
cache_dir()
{
	case ${XDG_CACHE_HOME:-} in
	/*) echo "$XDG_CACHE_HOME/agate" ;;
	*)
		[ -n "${HOME:-}" ] || die "HOME is not set: no place for the cache"
		echo "$HOME/.cache/agate"
		;;
	esac
}

# Run a step with its output in the log; on failure show the end of that output.
logged()
{
	local log=$1

	shift
	if ! "$@" >>"$log" 2>&1; then
		tail -n 25 "$log" >&2
		die "failed: $* (whole log: $log)"
	fi
}

# The number of objects that a log lists.
objects()
{
	grep -cE '^  (CC|AS) ' "$1" 2>/dev/null || true
}

# The expected number of objects: that of the last build of this flavour.
objects_expected()
{
	local last

	last=$(find "$cache" -maxdepth 2 -path "$cache/kernel-$flavour-*/objects" -printf '%T@ %p\n' |
		sort -rn | sed -n '1s/^[^ ]* //p')
	if [ -n "$last" ]; then
		cat "$last"
	elif [ "$flavour" = fast ]; then
		echo 1250
	else
		echo 1300
	fi
}

# how_far LOG EXPECTED START: one line on the build that writes this log.
how_far()
{
	local compiled percent

	compiled=$(objects "$1")
	percent=$((compiled * 100 / $2))
	say KERNEL "$flavour: $((percent < 99 ? percent : 99)) % compiled" \
		"($compiled of about $2 files), $((SECONDS - $3)) s"
}

# compile LOG COMMAND...: like logged(), and prints its progress.  The process that
# reports progress has no child and holds no lock, so nothing waits for it when it is told
# to stop.
compile()
{
	local log=$1 expected start=$SECONDS reporter status=0

	expected=$(objects_expected)
	(
		exec 9>&- {never}<> <(:)
		while true; do
			read -rt "${PROGRESS_SECONDS:-10}" -u "$never" || true
			kill -0 $$ 2>/dev/null || break
			how_far "$log" "$expected" "$start"
		done
	) &
	reporter=$!
	(logged "$@") || status=$?
	kill "$reporter" 2>/dev/null || true
	wait "$reporter" 2>/dev/null || true
	return $status
}

hash16()
{
	sha256sum | cut -c1-16
}

# The options that the fragments ask for: one line per option, the last one wins.
wanted()
{
	awk '/^CONFIG_[A-Za-z0-9_]+=/ { split($0, f, "="); want[f[1]] = $0 }
	     /^# CONFIG_[A-Za-z0-9_]+ is not set$/ { want[$2] = $0 }
	     END { for (o in want) print want[o] }' "$@" | sort
}

# unsanitized LIST: variables for make, one for each object that KASAN leaves out.
unsanitized()
{
	sed -n 's/^[a-z].*/KASAN_SANITIZE_&=n/p' /dev/null "$@"
}

# Kconfig drops an option silently when something that it depends on is missing.
check_config()
{
	local final=$1 line name missing=0

	shift
	while IFS= read -r line; do
		case $line in
		'# '*)
			name=${line#\# }
			name=${name%% *}
			if grep -q "^$name=" "$final"; then
				printf 'not wanted, but set: %s\n' "$name" >&2
				missing=1
			fi
			;;
		*)
			if ! grep -qxF -- "$line" "$final"; then
				printf 'wanted, but missing: %s\n' "$line" >&2
				missing=1
			fi
			;;
		esac
	done < <(wanted "$@")
	return $missing
}

# Names the source without reading all of it: a package never changes a tarball
# and keeps its size and time.
source_id()
{
	if [ -d "$1" ]; then
		printf 'tree %s %s\n' "$1" "$("$here/kernel-make.sh" "$1" -s kernelversion)"
	else
		printf 'tarball %s %s\n' "$(basename "$1")" "$(stat -c '%s %Y' "$1")"
	fi
}

# Both flavours share one unpacked tree, without what x86 never compiles.
unpack()
{
	local tarball=$1 dir=$2

	# Held until the end: no other build removes a source that this one needs.
	exec 8>"$dir.lock"
	flock -s 8
	[ -e "$dir/.complete" ] || flock 8
	if [ ! -e "$dir/.complete" ]; then
		say UNPACK "$(basename "$tarball")"
		rm -rf "$dir"
		mkdir -p "$dir"
		tar -C "$dir" --strip-components=1 -xf "$tarball" \
			--exclude='*/Documentation/*.rst' \
			--exclude='*/Documentation/devicetree/bindings/*/*' \
			--exclude='*/arch/*/boot/dts/*' \
			--exclude='*/drivers/gpu/drm/amd/include/asic_reg/*' \
			--exclude='*/tools/testing/*' \
			|| { rm -rf "$dir"; die "cannot unpack $tarball"; }
		touch "$dir/.complete"
	fi
	flock -s 8
}

configure()
{
	local src=$1 out=$2 log=$3

	shift 3
	say CONFIG "$flavour"
	logged "$log" "$here/kernel-make.sh" "$src" O="$out" ARCH=x86_64 tinyconfig
	cat "$@" >>"$out/.config"
	logged "$log" "$here/kernel-make.sh" "$src" O="$out" ARCH=x86_64 olddefconfig
	check_config "$out/.config" "$@" || die "the $flavour configuration lost options"
}

# tell_missing DIR SETTING...: says which of these objects the kernel does not have: a name may
# be misspelt, or the kernel's own name may have changed.
tell_missing()
{
	local out=$1 object

	shift
	for object in "${@#KASAN_SANITIZE_}"; do
		object=${object%=n}
		[ -n "$(find "$out" -name ".$object.cmd" -print -quit)" ] ||
			say KERNEL "$flavour: there is no $object to build without KASAN"
	done
}

# Most of the directory's size is needed only to link the kernel again.
trim()
{
	local out=$1 module

	mkdir -p "$out/modules"
	while IFS= read -r module; do
		strip --strip-debug -o "$out/modules/$(basename "$module")" "$module"
	done < <(find "$out" -path "$out/modules" -prune -o -name '*.ko' -print)
	cp "$out/arch/x86/boot/bzImage" "$out/bzImage"
	find "$out" \( -path "$out/scripts" -o -path "$out/tools" -o -path "$out/modules" \) \
		-prune -o -type f \( -name '*.o' -o -name '*.a' -o -name '*.ko' \
		-o -name '.*.cmd' -o -name 'vmlinux.bin*' -o -name '.tmp_vmlinux*' \) \
		-exec rm -f {} +
}

build()
{
	local src=$1 out=$2 log=$3 start=$SECONDS settings

	shift 3
	mapfile -t settings < <(unsanitized "${lists[@]}")
	rm -rf "$out"
	mkdir -p "$out"
	: >"$log"
	configure "$src" "$out" "$log" "$@"
	say KERNEL "$flavour: compiling, some minutes (log: $log)"
	compile "$log" nice "$here/kernel-make.sh" "$out" ARCH=x86_64 \
		KBUILD_BUILD_USER=agate KBUILD_BUILD_HOST=agate \
		KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' "${settings[@]}" bzImage modules
	tell_missing "$out" "${settings[@]}"
	trim "$out"
	echo "$flavour" >"$out/flavour"
	echo "$ram" >"$out/ram"
	objects "$log" >"$out/objects"
	touch "$out/complete"
	say KERNEL "$flavour: done in $((SECONDS - start)) s"
}

# unused DIR: true when no process builds there or builds a module against it; then no
# process can begin to until descriptor 7 is closed.
unused()
{
	exec 7>>"$1.lock"
	flock -n 7
}

# old_kernels: lists the kernels of this flavour, except for the KEEP that were used last;
# those that were used today stay in any case.  Then the remains of builds that were
# killed.
old_kernels()
{
	local day=86400

	find "$cache" -maxdepth 2 -path "$cache/kernel-$flavour-*" \
		\( -name used -o -name complete \) -printf '%T@ %h\n' | sort -rn |
		awk -v keep="$KEEP" -v today=$(($(date +%s) - day)) '
			{ when = $1; sub(/^[^ ]* /, "") }
			!seen[$0]++ && ++n > keep && when < today'
	find "$cache" -maxdepth 1 -type d -name "kernel-$flavour-*" -mtime +0 \
		! -exec test -e '{}/complete' \; -print
}

# Sources that this script unpacked and from which no kernel was built.  A kernel that was
# built where the cache has another path leads to them by that path.
old_sources()
{
	local tree

	for tree in "$cache"/linux-*; do
		[ -d "$tree" ] || continue
		find "$cache" -maxdepth 2 -path "$cache/kernel-*/source" -lname "*/${tree##*/}" |
			grep -q . || echo "$tree"
	done
}

# Remove `complete` first: nobody may take a half-removed kernel for a whole one.
remove()
{
	local dir=$1 size

	unused "$dir" || return 0
	size=$(du -sm "$dir" | cut -f1)
	rm -f "$dir/complete" "$dir/.complete"
	rm -rf "$dir" "$dir.log"
	say PRUNE "removed $(basename "$dir") from the cache, which no build used lately: $size MB"
}

prune()
{
	local dir

	while IFS= read -r dir; do
		remove "$dir"
	done < <(old_kernels)
	while IFS= read -r dir; do
		remove "$dir"
	done < <(old_sources)
	exec 7>&-
}

# A prepared tree is useless without the source from which it was prepared.
usable()
{
	[ -e "$out/complete" ] && [ "$out/source" -ef "$tree" ] && [ -e "$tree/Makefile" ] &&
		{ [ "$tree" = "$source" ] || [ -e "$tree/.complete" ]; }
}

# What the answers of find_out() depend on, by size and times.  gcc may be a wrapper.
depends()
{
	echo "${KERNEL:-} ${AGATE_SOURCES:-} ${AGATE_OS_RELEASE:-}"
	stat -L -c '%n %i %s %z' "$0" "$here/kernel-make.sh" "$here"/../scripts/kernel-source.sh \
		"$here"/config/* "$(command -v gcc)" "$(command -v ld)" "$(gcc -print-prog-name=cc1)" \
		"$source" "${source%/*}" "${AGATE_OS_RELEASE:-/etc/os-release}" 2>&1
}

# Sets source, tree and out, and keeps them: a dozen programs have to run for this, and make
# asks before every command.
find_out()
{
	local version id key seen

	source=$("$here/../scripts/kernel-source.sh" source)
	# Before the rest: what changes meanwhile has not been seen.
	seen=$(depends)
	version=$("$here/../scripts/kernel-source.sh" version)
	[ ! -e "$here/config/$version.config" ] || fragments+=("$here/config/$version.config")
	id=$(source_id "$source")
	key=$({ echo "$id"; wanted "${fragments[@]}"; unsanitized "${lists[@]}"
		gcc --version; ld --version; } | hash16)
	out=$cache/kernel-$flavour-$key
	log=$out.log
	tree=$source
	[ -d "$source" ] || tree=$cache/linux-$(echo "$id" | hash16)
	[ -z "${KERNEL_SRC:-}" ] || return 0
	printf '%s\n' "$source" "$tree" "$out" "$seen" >"$memo.$$"
	mv "$memo.$$" "$memo"
}

# The same from what was kept, if nothing has changed since.
remembered()
{
	local kept=()

	[ -z "${KERNEL_SRC:-}" ] && [ -e "$memo" ] && mapfile -t kept <"$memo" || return
	[ ${#kept[@]} -gt 3 ] || return
	source=${kept[0]} tree=${kept[1]} out=${kept[2]}
	[[ $out == "$cache"/* ]] && [ "$(depends)" = "$(printf '%s\n' "${kept[@]:3}")" ]
}

# Is it there?  Mark the kernel as used first: from here on no other build removes it.
used()
{
	[ ! -d "$out" ] || : >"$out/used" || die "cannot write to $out"
	usable
}

KEEP=3

case ${1:-} in
fast)
	flavour=fast ram=256
	fragments=("$here/config/base.config")
	lists=()
	;;
debug)
	flavour=debug ram=512
	fragments=("$here/config/base.config" "$here/config/debug.config")
	lists=("$here/config/debug.unsanitized")
	;;
*)
	die "usage: $0 fast|debug"
	;;
esac

cache=$(cache_dir)
[ -d "$cache" ] || mkdir -p "$cache"
memo=$cache/kernel-$flavour.memo
if remembered && used; then
	echo "$out"
	exit
fi
find_out
if ! used; then
	exec 9>"$out.lock"
	if ! flock -n 9; then
		say WAIT "another build of the $flavour kernel"
		expected=$(objects_expected)
		until flock -w "${PROGRESS_SECONDS:-10}" 9; do
			how_far "$log" "$expected" 0
		done
	fi
	[ "$tree" = "$source" ] || unpack "$source" "$tree"
	if ! usable; then
		trap 'rm -rf "$out"' EXIT
		trap 'exit 1' INT TERM HUP
		build "$tree" "$out" "$log" "${fragments[@]}"
		trap - EXIT INT TERM HUP
		touch "$out/used"
		prune
	fi
fi
echo "$out"
