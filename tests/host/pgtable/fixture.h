/* SPDX-License-Identifier: MIT */
/*
 * An empty set of tables of either format, with the tests' operations and checks on
 * it.
 */
#ifndef AGATE_TEST_PGTABLE_FIXTURE_H
#define AGATE_TEST_PGTABLE_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "table_mem.h"

#define RW	(AGATE_PROT_READ | AGATE_PROT_WRITE)
#define RWNX	(RW | AGATE_PROT_NOEXEC)
#define KIB(n)	((u64)(n) << 10)
#define MIB(n)	((u64)(n) << 20)
#define GIB(n)	((u64)(n) << 30)
#define TOP	(1ull << 48)

struct fixture {
	struct table_mem mem;
	struct agate_pgtable pgt;
};

/* For cmocka: *state becomes the fixture.  A page that is not freed fails the test. */
int setup_lpae(void **state);
int setup_aarch64(void **state);
int teardown(void **state);

int map(struct fixture *f, u64 va, u64 pa, u64 size, u32 prot);

/* Unmap as the driver does; the walker must not reach the removed tables. */
int unmap(struct fixture *f, u64 va, u64 size);

u64 entry(const struct agate_pgtable_page *table, unsigned int index);

/* The walker finds this entry for va, on this level. */
void assert_leaf(struct fixture *f, u64 va, int level, u64 value);
void assert_unmapped(struct fixture *f, u64 va);

#endif /* AGATE_TEST_PGTABLE_FIXTURE_H */
