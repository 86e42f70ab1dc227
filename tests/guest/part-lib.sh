# SPDX-License-Identifier: MIT
#
# part-lib.sh: make a driver of which one part has a bug.  Source it.

BUILD=${BUILD:-build}
parts=$BUILD/parts/fast
kernel=$(readlink -f "$BUILD/guest/kernel-fast")

# part_begin NN FOLDER: the drivers differ in solutions/NN-topic, and are made in a new FOLDER
part_begin()
{
	solution=$(echo solutions/"$1"-*)
	part=${solution#*/}
	work=$2
	rm -rf "$work"
	mkdir -p "$work"
}

# driver NAME PATCH: the fast kernel's driver with a part of its own, in $work/NAME
driver()
{
	mkdir -p "$work/$1/$solution"
	cp "$solution"/*.c "$work/$1/$solution/"
	if [ -n "$2" ] && ! patch -s -p1 -F0 -d "$work/$1" <"$2"; then
		echo "the patch does not apply"
		return 1
	fi
	for file in "$work/$1/$solution"/*.c; do
		"$parts/compile" "$file" "${file%.c}.o" || return
	done
	# The part that it replaces says for which kernel and headers both are.
	abi=$(nm "$parts/$part.o" | sed -n 's/.* A \(agate_abi_.*\)/\1/p')
	# shellcheck disable=SC2046 # a list of files
	ld -r -m elf_x86_64 -z noexecstack --no-warn-rwx-segments --build-id=sha1 \
		--defsym="$abi=0" -T "$kernel/scripts/module.lds" -o "$work/$1/agate.ko" "$parts/agate.mod.o" \
		"$parts/frame.o" $(ls "$parts"/[0-9]*.o | grep -v "/$part\.o$") \
		"$work/$1/$solution"/*.o
}
