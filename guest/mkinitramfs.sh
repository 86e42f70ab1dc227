#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Pack the guest's first file system.
#
#   guest/mkinitramfs.sh INIT OUT.cpio.gz
#   guest/mkinitramfs.sh --inputs
#
# The second form prints the files of this machine that go into it, with size and time: an
# upgrade of a package can bring a file that is older than the last initramfs.  It runs before
# every command, so it starts one program.
#
# It contains PID 1, busybox, the shared libraries that guest programs link with, and the
# descriptions of terminals that programs with a screen look up.  The launcher copies
# everything else that a run needs into the guest.  The same input gives the same bytes, so
# a rebuild does not cost a new snapshot.

set -euo pipefail
export LC_ALL=C

libs=(libc.so.6 libm.so.6 libgcc_s.so.1 libdrm.so.2 libcmocka.so.0 libpng16.so.16 libz.so.1 libjansson.so.4
	libncursesw.so.6 libtinfo.so.6)
libdir=/lib/x86_64-linux-gnu
# Their descriptions are in one of these folders, each in a folder of its first letter.
terminals="dumb linux vt100 xterm xterm-256color"
terminfo="/lib/terminfo /usr/share/terminfo"

die()
{
	printf 'mkinitramfs: %s\n' "$*" >&2
	exit 1
}

# library_paths: the path of each library, a line each; the file may have another name
library_paths()
{
	/sbin/ldconfig -p | awk -v names="${libs[*]}" '
		/x86-64/ && !($1 in path) { path[$1] = $NF }
		END {
			n = split(names, name, " ")
			for (i = 1; i <= n; i++)
				print name[i] in path ? path[name[i]] : name[i]
		}' | while IFS= read -r found; do
		[[ $found == /* ]] || die "$found is not installed"
		echo "$found"
	done | xargs -r -d '\n' realpath
}

busybox=$(command -v busybox) || die "busybox-static is not installed"
loader=/lib64/ld-linux-x86-64.so.2

descriptions=()
for terminal in $terminals; do
	file=
	for folder in $terminfo; do
		[ ! -e "$folder/${terminal:0:1}/$terminal" ] || file=$folder/${terminal:0:1}/$terminal
	done
	[ -n "$file" ] || die "no description of the terminal $terminal: install ncurses-base"
	descriptions+=("$file")
done

# Where a library is in another folder, the loader's cache changes with it.
print_inputs()
{
	local lib inputs=("$busybox" "$loader" /etc/ld.so.cache "${descriptions[@]}")

	for lib in "${libs[@]}"; do
		[ ! -e "$libdir/$lib" ] || inputs+=("$libdir/$lib")
	done
	exec stat -L -c '%n %i %s %Y' "${inputs[@]}"
}

[ "${1:-}" != --inputs ] || print_inputs
! readelf -l "$busybox" | grep INTERP >/dev/null || die "$busybox is not static: install busybox-static"
paths=$(library_paths)
mapfile -t paths <<<"$paths"
init=$1
out=$2

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,etc,root,proc,sys,dev,tmp,run,lib64} "$root$libdir"
install -m 755 "$init" "$root/init"
install -m 755 "$busybox" "$root/bin/busybox"
busybox --list-full | while IFS= read -r applet; do
	mkdir -p "$root/$(dirname "$applet")"
	[ -e "$root/$applet" ] || ln -s /bin/busybox "$root/$applet"
done

for i in "${!libs[@]}"; do
	install -m 755 "${paths[i]}" "$root$libdir/${libs[i]}"
	strip --strip-debug "$root$libdir/${libs[i]}"
done
for file in "${descriptions[@]}"; do
	install -D -m 644 "$file" "$root$file"
done
install -m 755 "$loader" "$root/lib64/ld-linux-x86-64.so.2"

printf 'root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nuser:x:1000:\n' >"$root/etc/group"
printf "PS1='guest:\\\\w# '\nexport PS1\n" >"$root/etc/profile"

find "$root" -exec touch -h -d @0 {} +
(cd "$root" && find . -mindepth 1 -print0 | sort -z |
	cpio --null --quiet --reproducible -o -H newc -R 0:0) | gzip -n -6 >"$out.part"
mv "$out.part" "$out"
