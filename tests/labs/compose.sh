#!/bin/sh
# SPDX-License-Identifier: MIT
#
# compose.sh: what kernel/compose-lab.sh promises, as TAP.
#
# usage: tests/labs/compose.sh
#
# Works on a copy of what it changes: the headers, and the reference parts.  Needs
# build/parts for both flavours.
set -u
. tests/tap.sh

build=$(realpath "${BUILD:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

lab=02-gem-object
mkdir -p "$work/build" "$work/labs/$lab" "$work/student"
cp -r kernel include scripts solutions "$work"
cp -r "$build/parts" "$work/build"
for flavour in fast debug; do
	mkdir -p "$work/build/pch/$flavour"
	cp -r "$build/pch/$flavour/$lab" "$work/build/pch/$flavour"
done
ln -s "$build/guest" "$build/bin" "$work/build"
cd "$work" || exit 1
export BUILD=build LABS=labs
student=student/agate_gem.c

cat >labs/$lab/lab.json <<END
{
	"schema": "agate/lab/v1", "lab": "$lab", "files": ["agate_gem.c"],
	"exports": ["agate_gem_create", "agate_gem_create_ioctl", "agate_gem_get_label",
		"agate_gem_lookup", "agate_gem_set_label_ioctl", "agate_gem_topic_fini",
		"agate_gem_topic_init"],
	"allow": ["drm_gem_*", "agate_mmap_*", "agate_vm_*", "agate_backing_*",
		"agate_purge_forget", "agate_prime_export", "agate_mapping_*",
		"kallsyms_not_there"],
	"tests": [{"name": "ignored"}]
}
END

# start: a student who has the solution.
start()
{
	cp solutions/$lab/agate_gem.c student
}

# compose: the student's file; everything it says in $work/said
compose()
{
	kernel/compose-lab.sh fast out-fast $lab=student >said 2>&1
}

complain()
{
	tail -n 20 said out-*/*.log
}

compiled()
{
	grep -q "$1" out-fast/compile.log
}

ruled()
{
	grep -qxF "$1" out-fast/symbols.log
}

said()
{
	grep -qF "$1" said
}

# code OBJECT: its instructions.  The debug kernel's objects also hold the path by
# which the compiler was called.
code()
{
	objcopy -O binary -j .text "$1" "$1.text" && cat "$1.text"
}

# same OBJECT OBJECT: to the byte, without the debug information, of which a lab's has less
same()
{
	objcopy -g "$1" ours.o && objcopy -g "$2" theirs.o && cmp ours.o theirs.o
}

no_module()
{
	[ ! -e out-fast/agate.ko ] && [ ! -e out-fast/agate.stripped.ko ]
}

echo 1..61

# Headers that were compiled in advance, away and back
without_pch()
{
	mv build/pch pch
}

with_pch()
{
	mv pch build/pch
}

without_pch
start
compose
check "a solution takes the reference's place" 0 $? test -s out-fast/agate.stripped.ko

kernel/compose-lab.sh fast out-same $lab=solutions/$lab >said 2>&1
check "compiled as kbuild compiles it, to the byte" 0 $? \
	same "out-same/$lab/agate_gem.o" "$build/driver/fast/solutions/$lab/agate_gem.o"

kernel/compose-lab.sh debug out-debug $lab=solutions/$lab >said 2>&1
status=$?
code "out-debug/$lab/agate_gem.o" >ours
cp "$build/driver/debug/solutions/$lab/agate_gem.o" theirs.o
code theirs.o >theirs
check "and for the debug kernel to the instruction" 0 $status cmp ours theirs

with_pch

# With headers that were compiled in advance, where that cannot show.
precompiled()
{
	grep -qx precompiled out-fast/$lab/agate_gem.facts
}

interface()
{
	nm "$1" | cut -c 18- | sort
}
interface out-fast/$lab/agate_gem.o >theirs
! precompiled && rm -r out-fast && compose
status=$?
interface out-fast/$lab/agate_gem.o >ours
check "a file that begins as the lab's does is compiled with its headers in advance" 0 $status precompiled
check "and defines and needs the same" 0 0 cmp ours theirs
sed -i 's/^#include "agate_prime.h"/&\n#include <linux\/list.h>/' $student
compose
check "also when more follow" 0 $? precompiled

# begins_with LINE NAME: a file that begins with this line is compiled without
begins_with()
{
	start
	sed -i "0,/^#include/s|^#include|$1\n&|" $student
	compose
	status=$?
	! precompiled
	check "$2" 00 $status$? test -s out-fast/agate.stripped.ko
}
begins_with '#include <linux/list.h>' "not when another one comes first"
begins_with '#define DEBUG' "nor when a macro does"
start
echo 'int unused_one(void) { int nobody; return undeclared_one; }' >>$student
compose
cp out-fast/compile.log with.log
without_pch
compose
status=$?
with_pch
check "messages are the same as without" 10 $status cmp out-fast/compile.log with.log
check "and name the line" 0 0 grep -q 'undeclared_one' with.log
start
echo 'static int unused_one(void) { return 0; }' >>$student
compose
status=$?
check "so are warnings" 0 $status test "$(grep -c 'unused_one.*defined but not used' out-fast/compile.log)" = 1
start
: >student/agate_mmap.h
compose
check "a header of one's own is none of the lab's files" 10 $? \
	compiled "includes $PWD/student/agate_mmap.h, which is not among\\|includes student/agate_mmap.h, which is not among"
rm student/agate_mmap.h
cp build/pch/fast/$lab/agate_gem.c.abi abi
echo other >build/pch/fast/$lab/agate_gem.c.abi
rm -r out-fast
compose
status=$?
! precompiled
check "headers that were compiled for something else are not taken" 00 $status$? \
	test -s out-fast/agate.stripped.ko
mv abi build/pch/fast/$lab/agate_gem.c.abi
# Neither is a word that macros put together hidden by a header that ends early.
for size in 20M 1M 8; do
	truncate -s $size build/pch/fast/$lab/agate_gem.c.gch
	rm -r out-fast
	start
	compose
	status=$?
	code "out-fast/$lab/agate_gem.o" >ours
	code "out-same/$lab/agate_gem.o" >theirs
	! precompiled
	check "nor those that were cut to $size" 00 $status$? cmp ours theirs
	printf '#define JOIN(a, b) a##b\nvoid stop(void) { JOIN(as, m)("hlt"); }\n' >>$student
	compose
	check "which hide no word that macros put together" 10 $? compiled 'asm., put together by a macro'
done
start
rm -rf out-fast build/pch/fast/$lab
cp -r "$build/pch/fast/$lab" build/pch/fast
compose

# The part of the module that the kernel loads, with and without debug information
same_code()
{
	for module in agate agate.stripped; do
		code out-fast/$module.ko >$module.code
		nm -n --defined-only out-fast/$module.ko | grep -v ' [an] ' >$module.symbols
	done
	cmp agate.code agate.stripped.code && cmp agate.symbols agate.stripped.symbols
}

needs()
{
	nm -P -u "$1" | sort
}
kernel/debug-info.sh fast out-fast >said 2>&1
check "with debug information it is the same module" 0 $? same_code
needs out-fast/agate.ko >ours
needs "$build/driver/fast/agate.ko" >theirs
check "the module needs of the kernel what kbuild's module needs" 0 0 cmp ours theirs

last=$(nm -n out-fast/agate.ko | awk '$2 ~ /^[tT]$/ { last = $3 } END { print last }')
check "behind the last function there is one that nobody probes" 0 0 test "$last" = agate_text_end

where=$(addr2line -e out-fast/agate.ko -j .text \
	"0x$(nm out-fast/agate.ko | sed -n 's/ T agate_gem_lookup//p')")
check "its debug information names the student's file" 0 0 \
	test "${where%:*}" = "$PWD/$student" -o "${where%:*}" = "./$student"

rm out-fast/agate.ko
mkdir half-way
printf '#!/bin/sh\necho begun >&5; echo half of it >&3; exit 1\n' >half-way/bwrap
chmod +x half-way/bwrap
PATH=$PWD/half-way:$PATH kernel/debug-info.sh fast out-fast >said 2>&1
check "a link that does not come to its end leaves no module" 1 $? test ! -e out-fast/agate.ko
kernel/debug-info.sh fast out-fast >said 2>&1
check "and the next one makes it" 0 $? test -s out-fast/agate.ko

built="out-fast/agate.ko out-fast/agate.stripped.ko out-fast/$lab/agate_gem.o"
inode=$(stat -c %i $built)
compose
check "what is up to date stays" 0 $? test "$inode" = "$(stat -c %i $built)"

sed -i 's/return obj ? to_agate_bo(obj) : NULL;/return NULL;/' $student
touch -d '2001-01-01' $student
old=$(cksum out-fast/agate.stripped.ko)
compose
check "what has another content does not, whatever its time" 0 $? \
	test "$old" != "$(cksum out-fast/agate.stripped.ko)" -a ! -e out-fast/agate.ko

start
sed -i 's/^void agate_gem_get_label(/static __maybe_unused void get_label(/' $student
compose
check "a symbol that is missing is named" 11 $? \
	ruled "$lab: does not define agate_gem_get_label, which other files of the driver need"
check "and no module is left" 0 0 no_module

start
echo 'int agate_gem_spare; int agate_gem_spare = 1;' >>$student
compose
check "one too many, too" 11 $? \
	ruled "agate_gem.c: defines agate_gem_spare, which is not what lab 02 exports: make it static"

start
cat >>$student <<'END'
#include <linux/fs.h>
static struct file *(*volatile peek)(const char *, int, umode_t) __used = filp_open;
END
compose
check "one that is not allowed, too" 11 $? \
	ruled "agate_gem.c:$(grep -n 'volatile peek' $student | sed 's/:.*//'): uses filp_open, which lab 02 does not allow"

start
cat >>$student <<'END'
extern int kallsyms_not_there(void);
static int (*volatile spare)(void) __used = kallsyms_not_there;
END
compose
check "so is one that is allowed and that nobody has" 11 $? ruled \
	"agate.ko: uses kallsyms_not_there, which neither the driver nor the kernel has"

start
echo 'int broken(void) { return nothing; }' >>$student
compose
check "an error of the compiler is an error" 10 $? compiled "^$student:$(wc -l <$student):.*error: .nothing."
check "and no module is left either" 0 0 no_module

start
sed -i 's/^static bool label_valid(/static int spare(void) { return 1; }\n&/' $student
compose
check "a warning is only shown" 0 $? compiled "^$student:.*warning: .spare. defined but not used"
compose
check "and shown again" 0 $? compiled "^$student:.*warning: .spare. defined but not used"

start
sed -i 's/^static bool label_valid(/static int *spare(char *c) { return c; }\n&/' $student
compose
check "what kbuild never lets pass is an error" 10 $? \
	compiled 'error: .*W\(error=\)\?incompatible-pointer-types'

rm $student
compose
check "a file that is not there is missed" 10 $? compiled "^$student: error: agate_gem.c: not there"
start
compose
check "and found again" 0 $? test -s out-fast/agate.stripped.ko

mv $student elsewhere.c
ln -s ../elsewhere.c $student
compose
check "a link is not taken" 10 $? compiled "^$student: error: agate_gem.c: is a symbolic link"
rm $student
mkfifo $student
timeout 400 kernel/compose-lab.sh fast out-fast $lab=student >said 2>&1
check "nor is a pipe waited for" 10 $? compiled "^$student: error: agate_gem.c: is not a regular file"
rm $student
truncate -s 64G $student
compose
check "nor is a file without an end read" 10 $? compiled "^$student: error: agate_gem.c: is larger than"
rm $student

start
echo '#define OWN 1' >student/own.h
sed -i 's/^#include "agate_gem.h"/&\n#include "own.h"/' $student
compose
check "a header that is not handed in cannot be used" 10 $? \
	compiled "^$student:[0-9]*:1: error: includes student/own.h, which is not among lab 02"

start
cp kernel/agate_gem.h student
compose
check "nor one in a contract's place" 10 $? \
	compiled "^$student:[0-9]*:1: error: includes student/agate_gem.h, which is not among lab 02"
rm student/*.h

start
sed -i 's|^#include "agate_gem.h"|&\n#include "agate_vm.c"|' $student
compose
check "nor a file of the frame" 10 $? compiled 'includes kernel/agate_vm.c'
start

kernel/compose-lab.sh fast out-fast 99-nothing=student >said 2>&1
check "a lab that does not exist is refused" 1 $? said '99-nothing: not a part'

cp -r student other
sed -i 's/return obj ? to_agate_bo(obj) : NULL;/return NULL;/' other/agate_gem.c
compose &
kernel/compose-lab.sh fast out-other $lab=other >other/said 2>&1
status=$?
wait $!
check "two at once do not disturb each other" 00 $?$status \
	test "$(cksum <out-fast/agate.stripped.ko)" != "$(cksum <out-other/agate.stripped.ko)"

# A container may not let bubblewrap make namespaces.
mkdir no-box
printf '#!/bin/sh\necho "bwrap: no permissions" >&2; exit 1\n' >no-box/bwrap
chmod +x no-box/bwrap
PATH=$PWD/no-box:$PATH kernel/compose-lab.sh fast out-unboxed $lab=solutions/$lab >said 2>&1
check "where no box can be made nothing is compiled, and the message shows a way out" 1 $? \
	[ "$(grep -c 'bubblewrap does not run here.*TRUST_CONTAINER=1' said)" = 1 -a \
		! -e "out-unboxed/$lab/agate_gem.o" ]
export TRUST_CONTAINER=1
without_pch
PATH=$PWD/no-box:$PATH kernel/compose-lab.sh fast out-unboxed $lab=solutions/$lab >said 2>&1
check "in a container that is trusted it does without, and says so once" 0 $? \
	[ "$(grep -c 'bubblewrap does not run here' said)" = 1 ]
check "with the same result" 0 $? \
	same "out-unboxed/$lab/agate_gem.o" "$build/driver/fast/solutions/$lab/agate_gem.o"
echo 'int broken(void) { return nothing; }' >>$student
PATH=$PWD/no-box:$PATH kernel/compose-lab.sh fast out-unboxed $lab=student >said 2>&1
status=$?
! grep -q 'no permissions' out-unboxed/compile.log && [ $status = 10 ] &&
	grep -q "^$student:$(wc -l <$student):.*error: .nothing." out-unboxed/compile.log
result $? "and the same errors"
unset TRUST_CONTAINER
with_pch
start

# From here on the tree is not what the parts were made of.
cp build/parts/debug/05-mmap.o build/parts/fast
compose
check "a part for another kernel is refused by name" 1 $? said 'other headers: 05-mmap;'
check "and no module comes of it" 0 0 no_module
cp "$build/parts/fast/05-mmap.o" build/parts/fast
compose
check "the right one is taken again" 0 $? test -s out-fast/agate.stripped.ko

cp -p kernel/agate_drv.c kept
echo '/* later */' >>kernel/agate_drv.c
compose
check "a changed file of the frame makes the parts too old" 1 $? said 'older than its sources'
mv kept kernel/agate_drv.c
compose
check "the old one is what they are made of" 0 $? test -s out-fast/agate.stripped.ko
sed -i 's/^	u32 flags;/	u32 more;\n&/' kernel/agate_gem.h
compose
check "a changed header makes the parts too old" 1 $? said 'older than its sources'
rm build/parts/fast/*.sum
compose
check "also where their sources are not at hand" 1 $? said "other headers: $lab;"

words()
{
	sed 's/#.*//' "$@" | tr -s ' ' '\n' | sed -e '/^$/d' -e '/\*$/d'
}
words kernel/allow-common.txt kernel/allow-6.12.txt | sort | uniq -d >twice
sort -u build/parts/*/symvers >exported
case $(cat build/guest/kernel-fast/include/config/kernel.release) in
6.12.*) list=kernel/allow-6.12.txt ;;
*) list=kernel/allow-common.txt ;;
esac
words $list | sort | comm -23 - exported >unknown
no_findings "what every file may use exists in a course kernel, and is named once" \
	"$(sed 's/$/ is there twice/' twice; sed 's/$/ is not exported/' unknown)"

# A driver that was composed before agate_old.c moved to a part.
mkdir -p driver/kernel driver/solutions/13-job-slots
echo this kernel >id && cp id driver/.kernel
touch driver/kernel/agate_old.o driver/kernel/agate_drv.o driver/solutions/13-job-slots/agate_old.o
: >solutions/13-job-slots/agate_old.c
kernel/compose.sh driver id kernel/agate_drv.c kernel/Kbuild solutions/13-job-slots/agate_old.c
check "a composed driver has no object whose source is gone" 0 $? test ! -e driver/kernel/agate_old.o
check "and keeps the others" 0 0 test -e driver/kernel/agate_drv.o -a \
	-e driver/solutions/13-job-slots/agate_old.o
