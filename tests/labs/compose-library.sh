#!/bin/sh
# SPDX-License-Identifier: MIT
#
# compose-library.sh: what userspace/compose-lab.sh promises, as TAP.
#
# usage: tests/labs/compose-library.sh
#
# The rules are those of compose.sh, whose code it shares; this looks at what is the
# library's own.  Needs build/parts/library and build/lib/libagate.so.
set -u
. tests/tap.sh

build=$(realpath "${BUILD:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

lab=08-bo
mkdir -p "$work/build" "$work/labs/$lab"
cp -r userspace include scripts solutions "$work"
cp -r "$build/parts" "$work/build"
ln -s "$build/bin" "$work/build"
cd "$work" || exit 1
export BUILD=build LABS=labs

cat >labs/$lab/lab.json <<END
{
	"schema": "agate/lab/v1", "lab": "$lab", "kind": "library", "steps": 0,
	"files": ["agate_bo.c", "agate_sparse_array.c"],
	"exports": ["agate_bo_alloc", "agate_bo_create", "agate_bo_export", "agate_bo_free",
		"agate_bo_import", "agate_bo_mmap", "agate_bo_reference", "agate_bo_set_label", "agate_bo_unreference",
		"agate_bo_wait", "agate_sparse_array_fini", "agate_sparse_array_get",
		"agate_sparse_array_init"],
	"allow": ["agate_ioctl", "agate_bo_cache_*", "agate_bo_mark_*", "agate_bo_not_there", "mmap", "munmap", "fcntl", "lseek"]
}
END

cache=09-bo-cache
mkdir -p "labs/$cache"
cat >labs/$cache/lab.json <<END
{
	"schema": "agate/lab/v1", "lab": "$cache", "kind": "library", "steps": 0,
	"files": ["agate_bo_cache.c"],
	"exports": ["agate_bo_cache_bucket", "agate_bo_cache_evict_all", "agate_bo_cache_fetch",
		"agate_bo_cache_fini", "agate_bo_cache_init", "agate_bo_cache_obtain",
		"agate_bo_cache_put"],
	"allow": ["agate_bo_alloc", "agate_bo_free", "agate_bo_madvise", "agate_bo_madvise_label",
		"agate_bo_set_label", "agate_bo_wait"]
}
END

# start: a student who has the solution.
start()
{
	rm -rf student
	cp -r solutions/$lab student
}

compose()
{
	userspace/compose-lab.sh out $lab=student >said 2>&1
}

complain()
{
	tail -n 20 said out/*.log
}

compiled()
{
	grep -q "$1" out/compile.log
}

ruled()
{
	grep -qxF "$1" out/symbols.log
}

said()
{
	grep -qF "$1" said
}

# shown LIBRARY [VERSION]: the functions that it shows; AGATE_1 is for everybody
shown()
{
	nm -D --defined-only "$1" | sed -n "s/^[0-9a-f]* [A-Z] \\(.*@@${2:-AGATE_1}\\)\$/\\1/p" | sort
}

echo 1..20

start
compose
status=$?
shown out/libagate.so >ours
shown "$build/lib/libagate.so" >theirs
[ -s ours ]
check "a solution takes the reference's place" "0 0" "$status $?" cmp ours theirs
[ "$(shown out/libagate.so AGATE_LABS)" = "$(shown "$build/userspace/labs/libagate.so" AGATE_LABS)" ] &&
	[ -n "$(shown out/libagate.so AGATE_LABS)" ]
check "and shows the labs' test programs what they call" 0 $? true
check "which the library that is installed does not" 0 0 \
	[ -z "$(shown "$build/lib/libagate.so" AGATE_LABS)" ]

inode=$(stat -c %i out/libagate.so)
compose
check "what is up to date stays" 0 $? [ "$inode" = "$(stat -c %i out/libagate.so)" ]

sum=$(cksum out/libagate.so)
sed -i 's/^void agate_sparse_array_fini.*/&\n/' student/agate_sparse_array.c
touch -d 2001-01-01 student/agate_sparse_array.c
compose
check "one file of two can change" 0 $? [ "$sum" != "$(cksum out/libagate.so)" ]

userspace/compose-lab.sh reference >said 2>&1
status=$?
shown reference/libagate.so >ours
check "no lab at all is the reference" 0 $status cmp ours theirs

start
sed -i 's/^void agate_sparse_array_fini(/static void array_fini(/' student/agate_sparse_array.c
compose
check "a symbol that is missing is named" 11 $? ruled \
	"$lab: does not define agate_sparse_array_fini, which other files of the driver need"
check "and no library is left" 0 0 [ ! -e out/libagate.so ]

start
echo 'int agate_spare = 1;' >>student/agate_bo.c
compose
check "one too many, too" 11 $? ruled \
	"agate_bo.c: defines agate_spare, which is not what lab 08 exports: make it static"

start
echo 'void agate_sparse_array_fini(struct agate_sparse_array *arr) { (void)arr; }' >>student/agate_bo.c
compose
check "so is one that both files define" 11 $? ruled \
	"agate_sparse_array.c: defines agate_sparse_array_fini, and so does agate_bo.c"

start
cat >>student/agate_bo.c <<END
#include <stdlib.h>
int (*volatile agate_bo_wait_hook)(const char *);
__attribute__((used)) static int run(void) { return system("true"); }
END
sed -i 's/^int (\*volatile/static &/' student/agate_bo.c
compose
check "one that is not allowed, too" 11 $? ruled \
	"agate_bo.c:$(grep -n 'system(' student/agate_bo.c | sed 's/:.*//'): uses system, which lab 08 does not allow"

start
cat >>student/agate_bo.c <<END
void agate_bo_not_there(void);
__attribute__((used)) static void run(void) { agate_bo_not_there(); }
END
compose
check "and one that is allowed and that nobody has" 11 $? ruled \
	"libagate.so: uses agate_bo_not_there, which neither it nor a library has"

start
echo 'static int spare(unsigned int a, int b) { return a < b; }' >>student/agate_bo.c
compose
check "a warning is only shown" 0 $? compiled '^student/agate_bo.c:.*warning: .spare. defined'

start
echo '__attribute__((used)) static int *spare(int b) { return b; }' >>student/agate_bo.c
compose
check "unless it hides an error" 10 $? compiled 'student/agate_bo.c:.*W\(error=\)\?int-conversion'

start
echo >student/own.h
echo '#include "own.h"' >>student/agate_bo.c
compose
check "a header that is not handed in cannot be used" 10 $? \
	compiled 'includes student/own.h, which is not among lab 08'

rm -rf cached
cp -r solutions/$cache cached
userspace/compose-lab.sh out $lab=solutions/$lab $cache=cached >said 2>&1
status=$?
shown out/libagate.so >ours
check "two labs take their places together" 0 $status cmp ours theirs

# As it is before anything is written: no cache, but a whole library.
cat >cached/agate_bo_cache.c <<END
#include <errno.h>
#include "agate_bo.h"
int agate_bo_cache_init(struct agate_bo_cache *c) { return c ? -EOPNOTSUPP : 0; }
void agate_bo_cache_fini(struct agate_device *d) { (void)d; }
unsigned int agate_bo_cache_bucket(uint64_t s) { return s > 0; }
struct agate_bo *agate_bo_cache_fetch(struct agate_device *d, uint64_t s, uint32_t f,
				      const char *l, bool w)
{ return d && s && f && l && w ? NULL : NULL; }
int agate_bo_cache_obtain(struct agate_device *d, uint64_t s, uint32_t f, const char *l,
			  struct agate_bo **b)
{ return agate_bo_alloc(d, s, f, l, b); }
bool agate_bo_cache_put(struct agate_bo *b) { return !b; }
void agate_bo_cache_evict_all(struct agate_device *d) { (void)d; }
END
userspace/compose-lab.sh out $cache=cached >said 2>&1
status=$?
shown out/libagate.so >ours
check "and so does one that is still absent" 0 $status cmp ours theirs

kernel_lab=02-gem-object
userspace/compose-lab.sh out $kernel_lab=student >said 2>&1
check "a lab of the driver is none of the library" 1 $? said "$kernel_lab: not a part"

start
sed -i 's/^	uint64_t va;/	uint64_t more;\n&/' userspace/agate_bo.h
compose
check "a changed header makes the parts too old" 1 $? said 'older than its sources'
rm build/parts/library/*.sum
compose
check "also where their sources are not at hand" 1 $? said "other headers: $lab;"
