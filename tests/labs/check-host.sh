#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check-host.sh: what `make check` says of labs with host tests, as TAP.
#
# usage: tests/labs/check-host.sh
#
# Labs 10 and 08 stand for those of the driver and of libagate.
set -u
. tests/labs/check-lib.sh

describe 10-page-tables '"pgtable"' '"dma_*", "free_pages", "get_zeroed_page", "agate_*"' \
	agate_pgtable.c agate_pgtable_lpae.c agate_pgtable_aarch64.c
describe 08-bo '"userspace-sparse_array"' '"agate_*", "mmap", "munmap", "fcntl", "lseek"' \
	agate_bo.c agate_sparse_array.c

echo 1..8

tables=$work/10-page-tables/agate_pgtable.c
start 10-page-tables
check_lab 10
check "host tests run with the student's files" 0 $? said 'OK       host/pgtable '
sed -i 's/^	return 0;/	return -ENOMEM;/' "$tables"
check_lab 10
check "and fail with them" 1 $? said 'FAIL     host/pgtable ' 'not ok'
start 10-page-tables
sed -i '/^void agate_pgtable_fini(/,/^{/s/^{/&\n\tstatic int over[4];\n\tvolatile int i = 4;\n\tint at __attribute__((unused)) = over[i];\n/' "$tables"
check_lab 10
check "what a sanitizer sees is shown" 1 $? said "runtime error: index 4 out of bounds" "$tables:"
start 10-page-tables
sed -i '0,/^#include/s//#include <linux\/xarray.h>\n&/' "$tables"
check_lab 10
check "host tests that cannot be built fail, too" 1 $? \
	said 'the host tests do not build' 'linux/xarray.h'

# Of such a name checkpatch, and make for the host tests, would have a shell run a part.
odd="$work/&echo>ran&"
mkdir "$odd"
start 10-page-tables
mv "$work/10-page-tables" "$odd"
scripts/check.sh 10 "$odd" >"$work/said" 2>&1
check "a folder with a name that a shell would run is refused" 1 $? \
	said "$odd/10-page-tables: FROM is a path without spaces"
[ ! -e ran ] && [ ! -e ranfiles ]
result $? "and the name is run by nobody"
rm -f ran ranfiles

start 08-bo
check_lab bo
check "the library's as well: a solution" 0 $? \
	said "OK       $work/08-bo compiles" 'OK       host/userspace-sparse_array '
sed -i 's/(index & mask) \* arr->elem_size/(index \& mask >> 1) * arr->elem_size/' \
	"$work/08-bo/agate_sparse_array.c"
check_lab bo
check "and what is wrong" 1 $? said 'FAIL     host/userspace-sparse_array '
