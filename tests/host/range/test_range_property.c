// SPDX-License-Identifier: MIT
/*
 * agate_range.c against a flat model: thousands of random calls.  The model knows where each
 * of them has to go, or why it fails.
 */
#include "range_helpers.h"
#include "range_model.h"

#define BYTES	RANGE_MODEL_BYTES
#define NODES	120u
#define STEPS	9000u

struct world {
	struct agate_range range;
	struct range_model model;
	struct agate_range_node nodes[NODES];
	u64 random;
};

static void step_insert(struct world *w, size_t i)
{
	struct range_request q = {
		.size = 1 + random_below(&w->random, random_below(&w->random, 6) ? 12 : BYTES),
		.align = 1ull << random_below(&w->random, 7),
		.last = U64_MAX,
		.mode = random_below(&w->random, 3),
	};
	int at, ret;

	if (!random_below(&w->random, 3))
		q.first = w->model.start + random_below(&w->random, BYTES);
	if (!random_below(&w->random, 3))
		q.last = w->model.start + random_below(&w->random, BYTES);
	at = range_model_place(&w->model, &q);
	ret = agate_range_insert(&w->range, &w->nodes[i], q.size, q.align, q.first, q.last,
				 q.mode);
	if (q.first > q.last) {
		assert_int_equal(ret, -EINVAL);
	} else if (at < 0) {
		assert_int_equal(ret, -ENOSPC);
	} else {
		assert_int_equal(ret, 0);
		assert_u64(w->nodes[i].start, w->model.start + at);
		assert_u64(w->nodes[i].size, q.size);
		range_model_own(&w->model, &w->nodes[i], i + 1);
	}
}

static void step_reserve(struct world *w, size_t i)
{
	struct range_request q = { .size = 1 + random_below(&w->random, 20), .align = 1,
			     .last = U64_MAX };
	size_t offset = random_below(&w->random, BYTES);
	int ret = agate_range_reserve(&w->range, &w->nodes[i], w->model.start + offset, q.size);

	if (q.size - 1 > U64_MAX - (w->model.start + offset)) {
		assert_int_equal(ret, -EINVAL);
	} else if (!range_model_possible(&w->model, &q, offset)) {
		assert_int_equal(ret, -ENOSPC);
	} else {
		assert_int_equal(ret, 0);
		assert_u64(w->nodes[i].start, w->model.start + offset);
		range_model_own(&w->model, &w->nodes[i], i + 1);
	}
}

static void run(u64 start, u64 seed)
{
	struct world *w = calloc(1, sizeof(*w));
	size_t step, i;

	assert_non_null(w);
	w->model.start = start;
	w->random = seed;
	agate_range_init(&w->range, start, BYTES);
	for (step = 0; step < STEPS; step++) {
		i = random_below(&w->random, NODES);
		if (agate_range_node_allocated(&w->nodes[i])) {
			range_model_own(&w->model, &w->nodes[i], 0);
			agate_range_remove(&w->range, &w->nodes[i]);
			assert_false(agate_range_node_allocated(&w->nodes[i]));
		} else if (random_below(&w->random, 4)) {
			step_insert(w, i);
		} else {
			step_reserve(w, i);
		}
		check_range(&w->range, start, BYTES);
		assert_true(range_model_has_holes(&w->model, &w->range,
						  random_below(&w->random, BYTES)));
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
