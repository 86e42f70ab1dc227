// SPDX-License-Identifier: MIT
/*
 * agate_range.c against a flat model: an array that says of each byte which node has it.
 * Thousands of random calls; the model knows where each of them has to go, or why it fails.
 */
#include "range_helpers.h"

#include <string.h>

#define BYTES	600u
#define NODES	120u
#define STEPS	9000u

struct world {
	u64 start;
	struct agate_range range;
	struct agate_range_node nodes[NODES];
	uint8_t owner[BYTES];		/* 0: free, else a node's number + 1 */
	u64 random;
};

struct request {
	u64 size;
	u64 align;
	u64 first;
	u64 last;
	enum agate_range_mode mode;
};

/* Is [offset, offset + size) free, aligned and in bounds? */
static bool possible(const struct world *w, const struct request *q, size_t offset)
{
	const u64 start = w->start + offset;
	size_t i;

	if (q->size > BYTES || offset > BYTES - q->size || start & (q->align - 1))
		return false;
	if (start < q->first || start + (q->size - 1) > q->last)
		return false;
	for (i = offset; i < offset + q->size; i++) {
		if (w->owner[i])
			return false;
	}
	return true;
}

/* The size of the hole that an offset is in. */
static size_t hole_around(const struct world *w, size_t offset)
{
	size_t first = offset, end = offset;

	while (first && !w->owner[first - 1])
		first--;
	while (end < BYTES && !w->owner[end])
		end++;
	return end - first;
}

/* Where must it go?  -1: nowhere. */
static int expected(const struct world *w, const struct request *q)
{
	size_t best = BYTES + 1;
	int found = -1;
	size_t i;

	for (i = 0; i < BYTES; i++) {
		if (!possible(w, q, i))
			continue;
		if (q->mode == LOW)
			return i;
		if (q->mode == HIGH) {
			found = i;
		} else if (hole_around(w, i) < best) {
			best = hole_around(w, i);
			found = i;
		}
	}
	return found;
}

static void own(struct world *w, const struct agate_range_node *n, uint8_t owner)
{
	memset(&w->owner[n->start - w->start], owner, n->size);
}

static void step_insert(struct world *w, size_t i)
{
	struct request q = {
		.size = 1 + random_below(&w->random, random_below(&w->random, 6) ? 12 : BYTES),
		.align = 1ull << random_below(&w->random, 7),
		.last = U64_MAX,
		.mode = random_below(&w->random, 3),
	};
	int at, ret;

	if (!random_below(&w->random, 3))
		q.first = w->start + random_below(&w->random, BYTES);
	if (!random_below(&w->random, 3))
		q.last = w->start + random_below(&w->random, BYTES);
	at = expected(w, &q);
	ret = agate_range_insert(&w->range, &w->nodes[i], q.size, q.align, q.first, q.last,
				 q.mode);
	if (q.first > q.last) {
		assert_int_equal(ret, -EINVAL);
	} else if (at < 0) {
		assert_int_equal(ret, -ENOSPC);
	} else {
		assert_int_equal(ret, 0);
		assert_u64(w->nodes[i].start, w->start + at);
		assert_u64(w->nodes[i].size, q.size);
		own(w, &w->nodes[i], i + 1);
	}
}

static void step_reserve(struct world *w, size_t i)
{
	struct request q = { .size = 1 + random_below(&w->random, 20), .align = 1,
			     .last = U64_MAX };
	size_t offset = random_below(&w->random, BYTES);
	int ret = agate_range_reserve(&w->range, &w->nodes[i], w->start + offset, q.size);

	if (q.size - 1 > U64_MAX - (w->start + offset)) {
		assert_int_equal(ret, -EINVAL);
	} else if (!possible(w, &q, offset)) {
		assert_int_equal(ret, -ENOSPC);
	} else {
		assert_int_equal(ret, 0);
		assert_u64(w->nodes[i].start, w->start + offset);
		own(w, &w->nodes[i], i + 1);
	}
}

/* From a random place on, the holes are the model's. */
static void check_holes(const struct world *w, size_t from)
{
	u64 start = w->start + from;
	u64 size;

	while (agate_range_next_hole(&w->range, &start, &size)) {
		size_t offset = start - w->start;

		for (; from < offset; from++)
			assert_true(w->owner[from]);
		for (; from < offset + size; from++)
			assert_false(w->owner[from]);
		assert_true(from == BYTES || w->owner[from]);
		start += size;
	}
	for (; from < BYTES; from++)
		assert_true(w->owner[from]);
}

static void run(u64 start, u64 seed)
{
	struct world *w = calloc(1, sizeof(*w));
	size_t step, i;

	assert_non_null(w);
	w->start = start;
	w->random = seed;
	agate_range_init(&w->range, start, BYTES);
	for (step = 0; step < STEPS; step++) {
		i = random_below(&w->random, NODES);
		if (agate_range_node_allocated(&w->nodes[i])) {
			own(w, &w->nodes[i], 0);
			agate_range_remove(&w->range, &w->nodes[i]);
			assert_false(agate_range_node_allocated(&w->nodes[i]));
		} else if (random_below(&w->random, 4)) {
			step_insert(w, i);
		} else {
			step_reserve(w, i);
		}
		check_range(&w->range, start, BYTES);
		check_holes(w, random_below(&w->random, BYTES));
	}
	for (i = 0; i < NODES; i++) {
		if (agate_range_node_allocated(&w->nodes[i]))
			agate_range_remove(&w->range, &w->nodes[i]);
	}
	check_range(&w->range, start, BYTES);
	assert_int_equal(agate_range_fini(&w->range), 0);
	free(w);
}

static void test_at_the_bottom(void **state)
{
	(void)state;
	run(0, 1);
}

static void test_in_the_middle(void **state)
{
	(void)state;
	run(0x8000000013ull, 0x9e3779b97f4a7c15);
}

/* The last address of a space is at most U64_MAX - 1. */
static void test_at_the_top(void **state)
{
	(void)state;
	run(U64_MAX - BYTES, 20240229);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_the_bottom),
		cmocka_unit_test(test_in_the_middle),
		cmocka_unit_test(test_at_the_top),
	};

	return cmocka_run_group_tests_name("range_property", tests, NULL, NULL);
}
