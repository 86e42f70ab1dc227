# SPDX-License-Identifier: MIT
#
# part-lib.sh: make a driver of which one part has a bug.  Source it.

BUILD=${BUILD:-build}
parts=$BUILD/parts/fast

# part_begin NN FOLDER: the drivers differ in solutions/NN-topic, and are made in a new FOLDER
part_begin()
{
	solution=$(echo solutions/"$1"-*)
	part=${solution#*/}
	work=$2
	rm -rf "$work"
	mkdir -p "$work"
}

# frame_files PATCH: the files of kernel/ that it changes
frame_files() { [ -z "$1" ] || sed -n 's|^+++ b/\(kernel/[a-z0-9_]*\.c\)$|\1|p' "$1"; }

# frame NAME PATCH: the objects of kernel/, those that the patch changes made anew
frame()
{
	[ -n "$(frame_files "$2")" ] || {
		echo "$parts/frame.o"
		return
	}
	for object in "$BUILD"/driver/fast/kernel/*.o; do
		file=kernel/$(basename "$object" .o).c
		if [ -e "$work/$1/$file" ]; then
			echo "$work/$1/${file%.c}.o"
		else
			echo "$object"
		fi
	done
}

# driver NAME PATCH: the fast kernel's driver with a part of its own, in $work/NAME; the patch
# may change files of kernel/, too
driver()
{
	mkdir -p "$work/$1/$solution" "$work/$1/kernel"
	cp "$solution"/*.c "$work/$1/$solution/"
	for file in $(frame_files "$2"); do
		cp "$file" "$work/$1/kernel/"
	done
	if [ -n "$2" ] && ! patch -s -p1 -F0 --no-backup-if-mismatch -d "$work/$1" <"$2"; then
		echo "the patch does not apply"
		return 1
	fi
	for file in "$work/$1/$solution"/*.c "$work/$1"/kernel/*.c; do
		[ ! -e "$file" ] || "$parts/compile" "$file" "${file%.c}.o" || return
	done
	# The part that it replaces says for which kernel and headers both are.
	abi=$(nm "$parts/$part.o" | sed -n 's/.* A \(agate_abi_.*\)/\1/p')
	# shellcheck disable=SC2046 # a list of files
	ld -r -m elf_x86_64 -z noexecstack --no-warn-rwx-segments --build-id=sha1 \
		--defsym="$abi=0" -T "$parts/module.lds" -o "$work/$1/agate.ko" "$parts/agate.mod.o" \
		$(frame "$1" "$2") $(ls "$parts"/[0-9]*.o | grep -v "/$part\.o$") \
		"$work/$1/$solution"/*.o
}
