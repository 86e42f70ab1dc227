// SPDX-License-Identifier: MIT
/*
 * agate_range.c against places worked out by hand: each mode, alignment, bounds, the ends of
 * the address space, merging, and what every error leaves behind.
 */
#include "range_helpers.h"

#include <string.h>
#include <time.h>

#define KIB	1024ull
#define SPACE	(64 * KIB)

static struct agate_range range;
static struct agate_range_node nodes[64];
static struct agate_range_node one;

static int setup(void **state)
{
	(void)state;
	memset(nodes, 0, sizeof(nodes));
	memset(&one, 0, sizeof(one));
	agate_range_init(&range, 0, SPACE);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	check_range(&range, range.head.start, SPACE);
	return 0;
}

static int put(u64 size, u64 align, u64 first, u64 last, enum agate_range_mode mode)
{
	return agate_range_insert(&range, &one, size, align, first, last, mode);
}

/* All is taken except these holes, in the order of addresses. */
static void leave_holes(const u64 (*holes)[2], size_t count)
{
	u64 at = 0;
	size_t i;

	for (i = 0; i <= count; i++) {
		u64 end = i < count ? holes[i][0] : SPACE;

		if (end > at)
			assert_int_equal(agate_range_reserve(&range, &nodes[i], at, end - at), 0);
		at = i < count ? end + holes[i][1] : end;
	}
}
#define HOLES(...) \
	leave_holes((const u64 [][2]){ __VA_ARGS__ }, \
		    sizeof((u64 [][2]){ __VA_ARGS__ }) / sizeof(u64 [2]))

/* ---- Errors ----------------------------------------------------------- */

static void test_insert_refused(void **state)
{
	(void)state;
	assert_int_equal(put(0, 1, 0, U64_MAX, LOW), -EINVAL);
	assert_int_equal(put(16, 0, 0, U64_MAX, LOW), -EINVAL);
	assert_int_equal(put(16, 3, 0, U64_MAX, LOW), -EINVAL);
	assert_int_equal(put(16, 1, 17, 16, LOW), -EINVAL);
	assert_int_equal(put(16, 1, 0, U64_MAX, HIGH + 1), -EINVAL);
	assert_false(agate_range_node_allocated(&one));
}

static void test_no_room(void **state)
{
	enum agate_range_mode mode;

	(void)state;
	for (mode = BEST; mode <= HIGH; mode++) {
		assert_int_equal(put(SPACE + 1, 1, 0, U64_MAX, mode), -ENOSPC);
		assert_int_equal(put(U64_MAX, 1, 0, U64_MAX, mode), -ENOSPC);
		assert_int_equal(put(1, 1, SPACE, U64_MAX, mode), -ENOSPC);
		assert_int_equal(put(2, 1, 0, 0, mode), -ENOSPC);
		assert_int_equal(put(1, 2 * SPACE, 1, U64_MAX, mode), -ENOSPC);
		assert_false(agate_range_node_allocated(&one));
		check_range(&range, 0, SPACE);
	}
	insert(&range, &one, SPACE, 1, LOW);
	for (mode = BEST; mode <= HIGH; mode++)
		assert_int_equal(agate_range_insert(&range, &nodes[0], 1, 1, 0, U64_MAX, mode),
				 -ENOSPC);
}

static void test_reserve_refused(void **state)
{
	static const u64 taken[][2] = {
		{ 0x1000, 0x1000 }, { 0x1fff, 1 }, { 0x1000, 1 }, { 0xfff, 2 }, { 0x1fff, 2 },
		{ 0, SPACE }, { 0x1800, 16 }, { 0x800, 0x2000 },
		/* Outside of the space. */
		{ SPACE, 1 }, { SPACE - 1, 2 }, { 1ull << 63, 16 }, { 0x3000, U64_MAX - 0x3000 },
	};
	size_t i;

	(void)state;
	assert_int_equal(agate_range_reserve(&range, &one, 0x1000, 0x1000), 0);
	for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		assert_int_equal(agate_range_reserve(&range, &nodes[0], taken[i][0], taken[i][1]),
				 -ENOSPC);
		assert_false(agate_range_node_allocated(&nodes[0]));
	}
	assert_int_equal(agate_range_reserve(&range, &nodes[0], 0x3000, 0), -EINVAL);
	assert_int_equal(agate_range_reserve(&range, &nodes[0], 0x3000, U64_MAX), -EINVAL);
	assert_int_equal(agate_range_reserve(&range, &nodes[0], U64_MAX, 2), -EINVAL);
	assert_int_equal(agate_range_reserve(&range, &nodes[0], U64_MAX, 1), -ENOSPC);
}

/* ---- Places ----------------------------------------------------------- */

static void test_reserve(void **state)
{
	(void)state;
	assert_int_equal(agate_range_reserve(&range, &nodes[0], 0x1000, 0x1000), 0);
	assert_u64(nodes[0].start, 0x1000);
	assert_u64(nodes[0].size, 0x1000);
	/* Its neighbours are free, and a range may have any size. */
	assert_int_equal(agate_range_reserve(&range, &nodes[1], 0xfff, 1), 0);
	assert_int_equal(agate_range_reserve(&range, &nodes[2], 0x2000, SPACE - 0x2000), 0);
	assert_int_equal(agate_range_reserve(&range, &nodes[3], 0, 0xfff), 0);
	assert_false(agate_range_next_hole(&range, &(u64){ 0 }, &(u64){ 0 }));
}

static void test_low_and_high(void **state)
{
	(void)state;
	assert_u64(insert(&range, &nodes[0], 16, 1, LOW), 0);
	assert_u64(insert(&range, &nodes[1], 16, 1, HIGH), SPACE - 16);
	assert_u64(insert(&range, &nodes[2], 16, 1, LOW), 16);
	assert_u64(insert(&range, &nodes[3], 16, 1, HIGH), SPACE - 32);
	agate_range_remove(&range, &nodes[0]);
	assert_u64(insert(&range, &nodes[4], 8, 1, LOW), 0);
	/* Eight bytes are left there, too few for this one. */
	assert_u64(insert(&range, &nodes[5], 9, 1, LOW), 32);
	assert_u64(insert(&range, &nodes[6], 8, 1, LOW), 8);
}

static void test_best(void **state)
{
	(void)state;
	HOLES({ 0x1000, 0x500 }, { 0x2000, 0x300 }, { 0x3000, 0x400 }, { 0x4000, 0x300 });
	assert_u64(insert(&range, &nodes[10], 0x301, 1, BEST), 0x3000);
	/* Of two that are equally small, the lower one; at its low end. */
	assert_u64(insert(&range, &nodes[11], 0x280, 1, BEST), 0x2000);
	assert_u64(insert(&range, &nodes[12], 0x280, 1, BEST), 0x4000);
	assert_u64(insert(&range, &nodes[13], 0x401, 1, BEST), 0x1000);
	assert_u64(insert(&range, &nodes[14], 0x80, 1, BEST), 0x2280);
}

static void test_alignment(void **state)
{
	(void)state;
	HOLES({ 0x0ff0, 0x20 }, { 0x1ff8, 0x1008 }, { 0x4010, 0x1008 }, { 0x6000, 0x1800 });
	/* Both small ones are large enough, but only one of them after alignment. */
	assert_int_equal(put(0x1000, 0x1000, 0, U64_MAX, BEST), 0);
	assert_u64(one.start, 0x2000);
	agate_range_remove(&range, &one);
	assert_int_equal(put(0x1008, 0x1000, 0, U64_MAX, BEST), 0);
	assert_u64(one.start, 0x6000);
	agate_range_remove(&range, &one);
	assert_int_equal(put(0x10, 0x1000, 0, U64_MAX, LOW), 0);
	assert_u64(one.start, 0x1000);
	agate_range_remove(&range, &one);
	assert_int_equal(put(0x10, 0x1000, 0, U64_MAX, HIGH), 0);
	assert_u64(one.start, 0x7000);
	agate_range_remove(&range, &one);
	assert_int_equal(put(0x10, 0x8000, 0, U64_MAX, LOW), -ENOSPC);
}

/* The start may be a multiple of the alignment at address 0 only. */
static void test_huge_alignment(void **state)
{
	(void)state;
	assert_int_equal(put(16, 1ull << 63, 0, U64_MAX, LOW), 0);
	assert_u64(one.start, 0);
	assert_int_equal(agate_range_insert(&range, &nodes[0], 16, 1ull << 63, 0, U64_MAX, LOW),
			 -ENOSPC);
}

static void test_bounds(void **state)
{
	enum agate_range_mode mode;

	(void)state;
	for (mode = BEST; mode <= HIGH; mode++) {
		/* Exactly its bytes; both bounds are included. */
		assert_int_equal(put(0x100, 1, 0x1000, 0x10ff, mode), 0);
		assert_u64(one.start, 0x1000);
		agate_range_remove(&range, &one);
		assert_int_equal(put(0x100, 1, 0x1000, 0x10fe, mode), -ENOSPC);
		assert_int_equal(put(0x100, 1, 0x1001, 0x10ff, mode), -ENOSPC);
		assert_int_equal(put(0x100, 0x100, 0x1080, 0x1280, mode), 0);
		assert_u64(one.start, 0x1100);
		agate_range_remove(&range, &one);
	}
	assert_int_equal(put(0x100, 1, 0x1000, 0x1fff, LOW), 0);
	assert_u64(one.start, 0x1000);
	agate_range_remove(&range, &one);
	assert_int_equal(put(0x100, 1, 0x1000, 0x1fff, HIGH), 0);
	assert_u64(one.start, 0x1f00);
}

/* The search goes on behind holes that are too small, up to the last one in bounds. */
static void test_bounds_and_holes(void **state)
{
	(void)state;
	HOLES({ 0x800, 0x400 }, { 0x1000, 0x80 }, { 0x2000, 0x300 }, { 0x3000, 0x200 },
	      { 0x4000, 0x80 }, { 0x5000, 0x200 });
	assert_int_equal(put(0x200, 1, 0xc00, U64_MAX, BEST), 0);
	assert_u64(one.start, 0x3000);
	agate_range_remove(&range, &one);
	assert_int_equal(put(0x200, 1, 0xb00, U64_MAX, LOW), 0);
	assert_u64(one.start, 0x2000);
	agate_range_remove(&range, &one);
	assert_int_equal(put(0x200, 1, 0, 0x50ff, HIGH), 0);
	assert_u64(one.start, 0x3000);
	agate_range_remove(&range, &one);
	assert_int_equal(put(0x280, 1, 0xb00, 0x1fff, LOW), -ENOSPC);
	assert_int_equal(put(0x280, 1, 0x2400, U64_MAX, HIGH), -ENOSPC);
	assert_int_equal(put(0x301, 1, 0xb00, U64_MAX, BEST), -ENOSPC);
}

/* A space that ends at the last address but one. */
static void test_wrapping(void **state)
{
	const u64 start = U64_MAX - SPACE;

	(void)state;
	agate_range_init(&range, start, SPACE);
	assert_u64(insert(&range, &nodes[0], 16, 1, HIGH), U64_MAX - 16);
	/* Aligned up it would be at address 0. */
	assert_int_equal(put(16, 1ull << 32, 0, U64_MAX, LOW), -ENOSPC);
	assert_int_equal(put(16, 1ull << 32, 0, U64_MAX, BEST), -ENOSPC);
	assert_int_equal(put(16, 1ull << 32, 0, U64_MAX, HIGH), -ENOSPC);
	assert_int_equal(put(U64_MAX, 1, start, U64_MAX, LOW), -ENOSPC);
	assert_int_equal(put(16, 1, U64_MAX - 8, U64_MAX, LOW), -ENOSPC);
	assert_u64(insert(&range, &one, 16, 0x1000, HIGH), U64_MAX - 0xfff);
}

/* ---- Holes ------------------------------------------------------------ */

/* Three neighbours go in each order: in the end one hole is left. */
static void test_merged(void **state)
{
	static const int orders[6][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	size_t i, j;

	(void)state;
	for (i = 0; i < 6; i++) {
		for (j = 0; j < 3; j++)
			insert(&range, &nodes[j], j < 2 ? SPACE / 4 : SPACE / 2, 1, LOW);
		for (j = 0; j < 3; j++) {
			agate_range_remove(&range, &nodes[orders[i][j]]);
			assert_false(agate_range_node_allocated(&nodes[orders[i][j]]));
			check_range(&range, 0, SPACE);
		}
		assert_u64(insert(&range, &one, SPACE, 1, i % 3), 0);
		agate_range_remove(&range, &one);
	}
}

static void test_next_hole(void **state)
{
	u64 start = 0, size = 0;

	(void)state;
	assert_true(agate_range_next_hole(&range, &start, &size));
	assert_u64(start, 0);
	assert_u64(size, SPACE);
	HOLES({ 0, 0x10 }, { 0x1000, 0x100 }, { 0xf000, 0x1000 });
	start = 0x10;
	assert_true(agate_range_next_hole(&range, &start, &size));
	assert_u64(start, 0x1000);
	assert_u64(size, 0x100);
	/* From the middle of a hole on, only what is behind. */
	start = 0x10ff;
	assert_true(agate_range_next_hole(&range, &start, &size));
	assert_u64(start, 0x10ff);
	assert_u64(size, 1);
	start += size;
	assert_true(agate_range_next_hole(&range, &start, &size));
	assert_u64(start, 0xf000);
	assert_u64(size, 0x1000);
	start += size;
	assert_false(agate_range_next_hole(&range, &start, &size));
	assert_u64(start, SPACE);
	assert_u64(size, 0x1000);
}

static void test_fini(void **state)
{
	(void)state;
	assert_int_equal(agate_range_fini(&range), 0);
	insert(&range, &one, SPACE, 1, LOW);
	assert_int_equal(agate_range_fini(&range), -EBUSY);
	agate_range_remove(&range, &one);
	assert_int_equal(agate_range_fini(&range), 0);
}

static void test_each_node(void **state)
{
	struct agate_range_node *n;
	u64 sum = 0, at = 0;

	(void)state;
	insert(&range, &nodes[0], 1, 1, HIGH);
	insert(&range, &nodes[1], 2, 1, LOW);
	insert(&range, &nodes[2], 4, 1, HIGH);
	agate_range_for_each_node(n, &range) {
		assert_true(n->start >= at);
		at = n->start + n->size;
		sum += n->size;
	}
	assert_u64(sum, 7);
}

/* ---- Time ------------------------------------------------------------- */

#define CALLS	2000u

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/*
 * Seconds for CALLS pairs beside @count holes, all of them too small.  Every other call has bounds,
 * which leave out one of them: it begins at another place.
 */
static double time_beside(size_t count, enum agate_range_mode mode)
{
	struct agate_range_node *many = calloc(count, sizeof(*many));
	struct agate_range r;
	double start;
	size_t i;

	assert_non_null(many);
	agate_range_init(&r, 0, 2 * count + 4);
	/* A large hole at the end that the search reaches last. */
	for (i = 0; i < count; i++) {
		u64 at = mode == HIGH ? 2 * i + 5 : 2 * i + 1;

		assert_int_equal(agate_range_reserve(&r, &many[i], at, 1), 0);
	}
	memset(&one, 0, sizeof(one));
	start = now();
	for (i = 0; i < CALLS; i++) {
		const u64 first = i % 2, last = i % 2 ? 2 * count + 2 : U64_MAX;

		assert_int_equal(agate_range_insert(&r, &one, 3, 1, first, last, mode), 0);
		agate_range_remove(&r, &one);
	}
	start = now() - start;
	free(many);
	return start;
}

/* 256 times as many nodes cost a few times as much: a walk over them would cost 256 times. */
static void test_logarithmic(void **state)
{
	enum agate_range_mode mode;

	(void)state;
	for (mode = BEST; mode <= HIGH; mode++) {
		double ratio = 1e9;
		int i;

		for (i = 0; i < 3; i++) {
			double few = time_beside(400, mode);
			double times = time_beside(400 * 256, mode) / few;

			ratio = times < ratio ? times : ratio;
		}
		assert_true(ratio < 40);
	}
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_insert_refused),
		TEST(test_no_room),
		TEST(test_reserve_refused),
		TEST(test_reserve),
		TEST(test_low_and_high),
		TEST(test_best),
		TEST(test_alignment),
		TEST(test_huge_alignment),
		TEST(test_bounds),
		TEST(test_bounds_and_holes),
		TEST(test_wrapping),
		TEST(test_merged),
		TEST(test_next_hole),
		TEST(test_fini),
		TEST(test_each_node),
		TEST(test_logarithmic),
	};

	return cmocka_run_group_tests_name("range", tests, NULL, NULL);
}
