#!/bin/sh
# SPDX-License-Identifier: MIT
#
# kernels.sh: the progress that guest/build-kernel.sh prints, and the kernels that it
# removes from the cache, as TAP.
#
# The kernels come from a source of a few lines, in a cache of their own. shellcheck
# disable=SC2317
set -u
. tests/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
cache=$work/cache/agate
: >"$work/err"

# source NAME: a tree with all that the script needs of a kernel's: it compiles 100 files,
# and waits in the middle until there is a file "go".
source_tree()
{
	mkdir -p "$work/$1"
	cat >"$work/$1/Makefile" <<-'EOF'
		.RECIPEPREFIX = >
		O ?= .
		kernelversion:
		> @echo 6.1.0-$(notdir $(CURDIR))
		tinyconfig:
		> @ln -s $(CURDIR) $(O)/source; cp Makefile $(O)/; : >$(O)/.config
		olddefconfig:
		> @:
		bzImage:
		> @for i in `seq 50`; do echo "  CC      a$$i.o"; done
		> @until [ -e source/go ]; do sleep 0.1; done
		> @for i in `seq 50`; do echo "  AS      b$$i.o"; done
		> @mkdir -p arch/x86/boot drivers/gpu/drm/vgem drivers/gpu/drm/vkms
		> @echo kernel >arch/x86/boot/bzImage
		> @for m in vgem vkms; do cp /bin/true drivers/gpu/drm/$$m/$$m.ko; done
		modules: bzImage
		module:
		> @until [ -e "$(M)/go" ]; do sleep 0.1; done
	EOF
	touch "$work/$1/go"
}

# build NAME: a kernel of that source; its folder is in $kernel.
build()
{
	kernel=$(KERNEL_SRC=$work/$1 XDG_CACHE_HOME=$work/cache PROGRESS_SECONDS=1 \
		guest/build-kernel.sh fast 2>>"$work/err")
}

said()
{
	grep -q "$1" "$work/err"
}

complain()
{
	cat "$work/err"
	find "$cache" -maxdepth 1
}

# last_used DIR DAYS
last_used()
{
	touch -d "$2 days ago" "$1/used" "$1/complete"
}

echo 1..22

for name in one two three four five; do
	source_tree $name
done

# The first build: it cannot know how many files there will be.
rm "$work/one/go"
build one &
building=$!
until_true said '% compiled (50 of about [0-9]* files), [0-9]* s'
result $? "a build says how far it is"
(build one) &
waiting=$!
until_true said 'WAIT.*another build'
result $? "another that wants the same kernel waits"
touch "$work/one/go"
wait $building && wait $waiting
result $? "and both have it in the end"
build one
one=$kernel
rm "$work/two/go"
: >"$work/err"
build two &
building=$!
until_true said '50 % compiled (50 of about 100 files)'
result $? "the next build knows from the last one how many files there are"
touch "$work/two/go"
wait $building
build two
two=$kernel
! said PRUNE
result $? "nothing is removed while there are few"

build three
three=$kernel
last_used "$one" 30
last_used "$two" 20
last_used "$three" 10

# A process builds a module against the oldest kernel.
mkdir "$work/module"
guest/kernel-make.sh "$one" M="$work/module" module &
module=$!
until_true sh -c "! flock -n '$one.lock' true"
build four
four=$kernel
[ -e "$one/complete" ]
result $? "a kernel that a module is built against stays"
touch "$work/module/go"
wait $module
: >"$work/err"
last_used "$four" 5
build five
[ ! -e "$one" ] && [ ! -e "$one.log" ] && [ ! -e "$two" ]
result $? "of those that were not used lately three stay"
[ -e "$three/complete" ] && [ -e "$four/complete" ] && [ -e "$kernel/complete" ]
result $? "the ones that were used last"
said "PRUNE.*$(basename "$one").*MB" && said "PRUNE.*$(basename "$two")"
result $? "what was removed is said"

# Like a run on another day: it uses the oldest kernel again, which is then no longer the
# oldest.
last_used "$three" 30
build three
[ "$kernel" = "$three" ] && [ "$(find "$three/used" -mtime -1)" ]
result $? "to ask for a kernel is to use it"

# More than three kernels, all used today.
build four
build one
build two
[ "$(find "$cache" -maxdepth 2 -name complete | wc -l)" = 5 ]
result $? "those that were used today all stay"

# One unpacked source that no kernel needs any more, and one that a kernel needs which was
# built where this cache has another path.
mkdir "$cache/linux-old" "$cache/linux-elsewhere" "$cache/kernel-fast-elsewhere"
touch "$cache/kernel-fast-elsewhere/complete"
ln -s /elsewhere/agate/linux-elsewhere "$cache/kernel-fast-elsewhere/source"
rm -rf "$one"
build one
[ ! -e "$cache/linux-old" ] && said 'PRUNE.*linux-old'
result $? "a source that no kernel was built from goes"
[ -d "$cache/linux-elsewhere" ]
result $? "one that a kernel leads to by another path stays"
rm -rf "$cache/linux-elsewhere" "$cache/kernel-fast-elsewhere"

# Both versions as packages have them: the files of a version belong to its kernel alone.
rm -rf "$cache"
mkdir "$work/src"
for version in 6.1 6.12; do
	sed "s/^> @echo 6.*/> @echo $version/; s/echo kernel >/echo $version >/" \
		"$work/one/Makefile" >"$work/two/Makefile"
	tar -C "$work" -cJf "$work/src/linux-source-$version.tar.xz" two/Makefile two/go
done

# build_version VERSION: a kernel of that package
build_version()
{
	unset KERNEL_SRC
	kernel=$(KERNEL=$1 AGATE_SOURCES=$work/src XDG_CACHE_HOME=$work/cache PROGRESS_SECONDS=1 \
		guest/build-kernel.sh fast 2>"$work/err")
}

build_version 6.1
first=$kernel
build_version 6.12
second=$kernel
[ "$first" != "$second" ] && [ ! "$first/source" -ef "$second/source" ] &&
	grep -qx 6.1 "$first/bzImage" && grep -qx 6.12 "$second/bzImage"
result $? "each version has a kernel and a source of its own"
build_version 6.1
[ "$kernel" = "$first" ] && ! said KERNEL
result $? "going back to the first compiles nothing"
build_version 6.12
[ "$kernel" = "$second" ] && ! said KERNEL && [ -e "$first/complete" ]
result $? "nor does going on to the other again"

# The answer is kept with what it depends on.  This compiler tells when it is asked for its version.
mkdir "$work/bin"
compiler()
{
	cat >"$work/bin/gcc" <<-EOF
		#!/bin/sh
		case \$1 in
		-print-prog-name=*) echo "\$0" ;;
		*) echo asked >>"$work/asked"; echo "gcc $1" ;;
		esac
	EOF
	chmod +x "$work/bin/gcc"
}

ask()
{
	: >"$work/asked"
	before=$kernel
	PATH=$work/bin:$PATH build_version 6.12
}

compiler 1
ask
ask
[ "$kernel" = "$before" ] && [ ! -s "$work/asked" ]
result $? "what was found out once is not found out again"
compiler 2
ask
[ "$kernel" != "$before" ] && [ -s "$work/asked" ]
result $? "another compiler makes another kernel"
touch "$work/src/linux-source-6.12.tar.xz"
ask
[ "$kernel" != "$before" ] && [ -s "$work/asked" ]
result $? "so does another source"
rm -rf "$kernel"
ask
[ "$kernel" = "$before" ] && [ -e "$kernel/complete" ]
result $? "a kernel that is gone is built again"
for memo in '' "$(printf 'a\nb\nc\nd')"; do
	echo "$memo" >"$cache/kernel-fast.memo"
	ask
	[ "$kernel" = "$before" ] && [ -s "$work/asked" ] || break
done
[ "$kernel" = "$before" ] && [ -s "$work/asked" ]
result $? "what is kept may be damaged"
was=$kernel
build one
[ "$kernel" != "$was" ]
other=$?
ask
[ "$other" = 0 ] && [ "$kernel" = "$was" ]
result $? "what KERNEL_SRC chose once is not chosen without it"
