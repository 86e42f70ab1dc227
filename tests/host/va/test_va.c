// SPDX-License-Identifier: MIT
/*
 * agate_va.c: what a change takes away, what stays on either side of it, and what the records of
 * the BOs say afterwards.  va_space.c looks at all records after each step.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "va_space.h"

static struct space space;

static int setup(void **state)
{
	(void)state;
	space_init(&space);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	space_fini(&space);
	return 0;
}

/* How many mappings would go? */
static unsigned int drops(const struct space_change *change)
{
	const struct list_head *entry;
	unsigned int count = 0;

	space_begin(&space, change);
	list_for_each(entry, &space.steps.drop)
		count++;
	space_give_up(&space);
	return count;
}

static void assert_pages(unsigned int page, unsigned int count)
{
	const struct agate_mapping *mapping = space_mapping(&space, page);

	assert_non_null(mapping);
	assert_int_equal(mapping->node.start, SPACE_START + page);
	assert_int_equal(mapping->node.size, count);
}

static void test_nothing_there(void **state)
{
	const struct space_change change = { .page = 10, .count = 4 };

	(void)state;
	assert_int_equal(drops(&change), 0);
	space_unmap(&space, 10, 4);
	assert_null(space_mapping(&space, 10));
	space_map(&space, 10, 4, 0, 7);
	assert_pages(10, 4);
}

static void test_same_range(void **state)
{
	(void)state;
	space_map(&space, 10, 4, 0, 0);
	space_map(&space, 10, 4, 1, 5);
	space_map(&space, 10, 4, 1, 9);
	assert_pages(10, 4);
	space_unmap(&space, 10, 4);
	assert_null(space_mapping(&space, 10));
}

/* What is below the range stays. */
static void test_left_stays(void **state)
{
	(void)state;
	space_map(&space, 10, 8, 0, 20);
	space_unmap(&space, 13, 20);
	assert_pages(10, 3);
	assert_int_equal(space_mapping(&space, 10)->offset, 20 << PAGE_SHIFT);
	assert_null(space_mapping(&space, 13));
}

/* What is above it stays, and shows the part of the BO that it showed. */
static void test_right_stays(void **state)
{
	(void)state;
	space_map(&space, 10, 8, 0, 20);
	space_unmap(&space, 2, 11);
	assert_null(space_mapping(&space, 12));
	assert_pages(13, 5);
	assert_int_equal(space_mapping(&space, 13)->offset, 23 << PAGE_SHIFT);
}

static void test_both_stay(void **state)
{
	(void)state;
	space_map(&space, 10, 8, 2, 0);
	space_map(&space, 12, 1, 1, 6);
	assert_pages(10, 2);
	assert_pages(12, 1);
	assert_pages(13, 5);
	/* And the same BO once more, between its own parts. */
	space_map(&space, 11, 3, 2, 40);
	assert_pages(10, 1);
	assert_pages(11, 3);
	assert_pages(14, 4);
}

/* Holes are skipped, and only those at the ends leave something. */
static void test_several(void **state)
{
	const struct space_change change = { .page = 12, .count = 18 };

	(void)state;
	space_map(&space, 10, 4, 0, 0);
	space_map(&space, 14, 3, 1, 0);
	space_map(&space, 20, 1, 0, 9);
	space_map(&space, 28, 6, 2, 3);
	assert_int_equal(drops(&change), 4);
	space_map(&space, 12, 18, 1, 30);
	assert_pages(10, 2);
	assert_pages(12, 18);
	assert_pages(30, 4);
	assert_int_equal(space_mapping(&space, 30)->offset, 5 << PAGE_SHIFT);
}

/* Those that only touch the range are no concern of it. */
static void test_neighbours(void **state)
{
	const struct space_change change = { .page = 14, .count = 4 };

	(void)state;
	space_map(&space, 10, 4, 0, 0);
	space_map(&space, 18, 4, 0, 4);
	assert_int_equal(drops(&change), 0);
	space_map(&space, 14, 4, 0, 4);
	assert_pages(10, 4);
	assert_pages(14, 4);
	assert_pages(18, 4);
}

/* The first and the last page that there are. */
static void test_ends_of_the_space(void **state)
{
	(void)state;
	space_map(&space, 0, SPACE_PAGES, 0, 0);
	space_map(&space, 0, 1, 1, 0);
	space_map(&space, SPACE_PAGES - 1, 1, 2, 0);
	assert_pages(1, SPACE_PAGES - 2);
	space_map(&space, 0, SPACE_PAGES, 2, 1);
	assert_pages(0, SPACE_PAGES);
}

/* A change that fails later has changed nothing; the next one finds all as it was. */
static void test_given_up(void **state)
{
	const struct space_change change = {
		.page = 12, .count = 4, .to = { .id = 1, .bo = 1, .prot = 3, .active = true },
	};

	(void)state;
	space_map(&space, 10, 8, 0, 2);
	space_begin(&space, &change);
	space_give_up(&space);
	space_begin(&space, &change);
	space_commit(&space, &change);
	assert_pages(10, 2);
	assert_pages(16, 2);
}

/* Each part keeps what the GPU may do. */
static void test_rights(void **state)
{
	(void)state;
	space_map(&space, 10, 8, 1, 0);
	space_unmap(&space, 12, 2);
	assert_int_equal(space_mapping(&space, 10)->prot, 2);
	assert_int_equal(space_mapping(&space, 14)->prot, 2);
}

/* An eviction comes between the two steps: the parts have no entries, as the whole has none. */
static void test_evicted_meanwhile(void **state)
{
	const struct space_change change = { .page = 12, .count = 2 };

	(void)state;
	space_map(&space, 10, 8, 0, 0);
	space_begin(&space, &change);
	space_set_active(&space, 10, false);
	space_commit(&space, &change);
	assert_false(space_mapping(&space, 10)->active);
	assert_false(space_mapping(&space, 14)->active);
	space_begin(&space, &(const struct space_change){ .page = 16, .count = 1 });
	space_set_active(&space, 16, true);
	space_commit(&space, &(const struct space_change){ .page = 16, .count = 1 });
	assert_true(space_mapping(&space, 15)->active);
	assert_true(space_mapping(&space, 17)->active);
}

/* The record of a BO counts each part, and lists it. */
static void test_records(void **state)
{
	(void)state;
	space_map(&space, 10, 8, 0, 0);
	assert_int_equal(space.records[0].ref.refs, 2);
	space_map(&space, 12, 2, 1, 0);
	assert_int_equal(space.records[0].ref.refs, 3);
	assert_int_equal(space.records[1].ref.refs, 2);
	space_unmap(&space, 0, 14);
	assert_int_equal(space.records[0].ref.refs, 2);
	assert_true(list_empty(&space.records[1].mappings));
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nothing_there),
		TEST(test_same_range),
		TEST(test_left_stays),
		TEST(test_right_stays),
		TEST(test_both_stay),
		TEST(test_several),
		TEST(test_neighbours),
		TEST(test_ends_of_the_space),
		TEST(test_given_up),
		TEST(test_rights),
		TEST(test_evicted_meanwhile),
		TEST(test_records),
	};

	return cmocka_run_group_tests_name("va", tests, NULL, NULL);
}
