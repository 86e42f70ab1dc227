/* SPDX-License-Identifier: MIT */
/*
 * What tests of the range allocator share: its invariants, and short names for its calls.
 */
#ifndef AGATE_TEST_RANGE_HELPERS_H
#define AGATE_TEST_RANGE_HELPERS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <linux/errno.h>
#include <linux/limits.h>

#include "agate_range.h"

#define BEST	AGATE_RANGE_BEST
#define LOW	AGATE_RANGE_LOW
#define HIGH	AGATE_RANGE_HIGH

/* Two numbers of 64 bits, with both values in the message. */
#define assert_u64(a, b)	assert_int_equal((uintmax_t)(a), (uintmax_t)(b))

/* The tree is balanced, its heights and parents are right; returns how many nodes it has. */
size_t check_tree(const struct agate_tree *tree);

/* The space is [start, start + size), and all its records agree with each other. */
void check_range(const struct agate_range *r, u64 start, u64 size);

/* Insert without bounds; returns the new start, and fails the test if there is none. */
u64 insert(struct agate_range *r, struct agate_range_node *n, u64 size, u64 align,
	   enum agate_range_mode mode);

/* Numbers that are the same in every run. */
u64 random_below(u64 *state, u64 limit);

#endif /* AGATE_TEST_RANGE_HELPERS_H */
