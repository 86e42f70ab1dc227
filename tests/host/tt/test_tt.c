// SPDX-License-Identifier: MIT
/*
 * agate_ttm_tt.c: the states of a BO's pages, on every way from one to another.  After each step
 * all that is given out, what the device can read, and the contents are looked at, of all BOs.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "agate_tt.h"

#define ITEMS	5u
#define WC	1

/* A BO's pages, and what they have to hold. */
struct item {
	struct agate_tt *tt;
	u8 state;
	bool swapped;
	u64 *contents;
};

static struct item items[ITEMS];
static struct agate_ttm_ctx ctx;
static struct dma_fence fence;

/* ---- Is everything as it has to be? -------------------------------------- */

static unsigned long lists_of(const struct agate_tt *tt)
{
	return (tt->count + AGATE_TT_LIST_PAGES - 1) / AGATE_TT_LIST_PAGES;
}

static void check_lists(const struct agate_tt *tt)
{
	unsigned long i;

	for (i = 0; i < tt->count; i++) {
		const __le64 *list = fake_list(tt->list_addrs[i / AGATE_TT_LIST_PAGES]);

		assert_non_null(list);
		assert_int_equal(le64_to_cpu(list[i % AGATE_TT_LIST_PAGES]), tt->pages[i]->dma);
	}
}

static bool is_listed(const struct agate_tt *tt)
{
	const struct list_head *entry;

	list_for_each(entry, &fake_device.ttm.bound) {
		if (entry == &tt->bound)
			return true;
	}
	return false;
}

static void check_item(const struct item *item)
{
	const struct agate_tt *tt = item->tt;
	unsigned long i;

	assert_int_equal(tt->state, item->state);
	assert_int_equal(is_listed(tt), item->state == AGATE_TT_BOUND);
	assert_int_equal(tt->swap != NULL, item->swapped);
	assert_int_equal(tt->pages != NULL, item->state != AGATE_TT_UNPOPULATED);
	for (i = 0; tt->pages && i < tt->count; i++)
		assert_int_equal(tt->pages[i]->contents, item->contents[i]);
	if (item->state == AGATE_TT_BOUND)
		check_lists(tt);
}

/* The items have all that is given out. */
static void check(void)
{
	struct fake want = { 0 };
	unsigned int i;

	for (i = 0; i < ITEMS; i++) {
		const struct item *item = &items[i];

		if (!item->tt)
			continue;
		check_item(item);
		want.memory++;
		want.files += item->swapped;
		if (item->state == AGATE_TT_UNPOPULATED)
			continue;
		want.memory++;
		want.pages += item->tt->count;
		want.charged[item->tt->dma32] += item->tt->count;
		if (item->state != AGATE_TT_BOUND)
			continue;
		want.memory += 2;
		want.maps++;
		want.lists += lists_of(item->tt);
	}
	assert_int_equal(fake.memory, want.memory);
	assert_int_equal(fake.files, want.files);
	assert_int_equal(fake.pages, want.pages);
	assert_int_equal(fake_device.stats.v[AGATE_STAT_PAGES].counter, want.pages);
	assert_int_equal(fake.charged[0], want.charged[0]);
	assert_int_equal(fake.charged[1], want.charged[1]);
	assert_int_equal(fake.tables, want.maps);
	assert_int_equal(fake.maps, want.maps);
	assert_int_equal(fake.lists, want.lists);
	assert_int_equal(fake.list_pages, want.lists);
	assert_int_equal(fake.page_refs, 0);
	assert_int_equal(fake_device.drm.inside, 0);
	assert_false(fake_device.ttm.bound_lock.locked);
}

/* ---- Steps ----------------------------------------------------------------- */

static struct agate_tt *create(unsigned int i, unsigned long count, u8 caching)
{
	struct item *item = &items[i];

	item->tt = agate_tt_create(&fake_device, (u64)count << PAGE_SHIFT, caching);
	assert_non_null(item->tt);
	item->state = AGATE_TT_UNPOPULATED;
	item->swapped = false;
	item->contents = calloc(count, sizeof(*item->contents));
	check();
	return item->tt;
}

static void populate(unsigned int i)
{
	assert_int_equal(agate_tt_populate(items[i].tt, &ctx), 0);
	if (items[i].state == AGATE_TT_UNPOPULATED)
		items[i].state = AGATE_TT_UNBOUND;
	items[i].swapped = false;
	check();
}

static void unpopulate(unsigned int i)
{
	unsigned long page;

	agate_tt_unpopulate(items[i].tt);
	items[i].state = AGATE_TT_UNPOPULATED;
	for (page = 0; page < items[i].tt->count; page++)
		items[i].contents[page] = 0;
	check();
}

static void bind(unsigned int i)
{
	assert_int_equal(agate_tt_bind(items[i].tt), 0);
	items[i].state = AGATE_TT_BOUND;
	check();
}

static void unbind(unsigned int i)
{
	agate_tt_unbind(items[i].tt);
	if (items[i].state == AGATE_TT_BOUND)
		items[i].state = AGATE_TT_UNBOUND;
	check();
}

static void swapout(unsigned int i)
{
	assert_int_equal(agate_tt_swapout(items[i].tt), items[i].tt->count);
	items[i].state = AGATE_TT_UNPOPULATED;
	items[i].swapped = true;
	check();
}

static void write_all(unsigned int i, u64 value)
{
	unsigned long page;

	for (page = 0; page < items[i].tt->count; page++) {
		items[i].contents[page] = value + page;
		items[i].tt->pages[page]->contents = value + page;
	}
}

/* Nothing is freed before the fence has signalled, and then all is. */
static void park(unsigned int i)
{
	const int told = fake.told;

	agate_tt_park(items[i].tt, &fence);
	assert_int_equal(fake.told, told + 1);
	check();
	fake_signal();
	free(items[i].contents);
	items[i].tt = NULL;
	check();
	assert_true(list_empty(&fake_device.pages.parked));
}

/*
 * Let each call that may fail fail in its turn, until @step does it all.  A step that has failed
 * has changed nothing.  Return: how often it failed.
 */
static unsigned int fail_each(unsigned int i, long (*step)(struct agate_tt *tt), long error)
{
	unsigned int failures = 0;
	int at;

	for (at = 0; ; at++) {
		long ret;

		fake.fail_at = at;
		ret = step(items[i].tt);
		fake.fail_at = -1;
		if (ret >= 0)
			return failures;
		assert_int_equal(ret, error);
		failures++;
		check();
	}
}

static long step_populate(struct agate_tt *tt)
{
	return agate_tt_populate(tt, &ctx);
}

static long step_bind(struct agate_tt *tt)
{
	return agate_tt_bind(tt);
}

static int setup(void **state)
{
	(void)state;
	fake_init();
	return 0;
}

static int teardown(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ITEMS; i++) {
		if (items[i].tt)
			park(i);
	}
	assert_int_equal(fake.warnings, 0);
	return 0;
}

/* ---- Pages ------------------------------------------------------------------- */

static void test_create(void **state)
{
	struct agate_tt *tt = create(0, 3, WC);

	(void)state;
	assert_int_equal(tt->count, 3);
	assert_int_equal(tt->caching, WC);
	assert_false(tt->dma32);
	fake_device.card.features = 32 << 8;
	assert_true(create(1, 1, 0)->dma32);
	fake.fail_at = 0;
	assert_null(agate_tt_create(&fake_device, PAGE_SIZE, 0));
}

/* Pages of the BO's own kind, zero, and charged once. */
static void test_populate(void **state)
{
	(void)state;
	fake_device.card.features = 32 << 8;
	create(0, 600, WC);
	fake_device.card.features = 40 << 8;
	create(1, 1, 0);
	populate(0);
	populate(1);
	write_all(0, 7);
	populate(0);
	bind(0);
	populate(0);
}

/* Where there are no large blocks the small ones do, each given back with its own order. */
static void test_blocks(void **state)
{
	unsigned int order;

	(void)state;
	create(0, 1023, 0);
	for (order = 0; order < AGATE_POOL_ORDERS; order++) {
		fake.largest = order;
		populate(0);
		write_all(0, order);
		unpopulate(0);
	}
}

static void test_populate_fails(void **state)
{
	(void)state;
	fake.largest = 0;
	create(0, 5, 0);
	/* The charge, the array, and each page. */
	assert_int_equal(fail_each(0, step_populate, -ENOMEM), 7);
	items[0].state = AGATE_TT_UNBOUND;
	check();
}

static void test_unpopulate(void **state)
{
	(void)state;
	create(0, 40, WC);
	populate(0);
	write_all(0, 9);
	unpopulate(0);
	populate(0);
	bind(0);
	/* Not while the device may read them. */
	agate_tt_unpopulate(items[0].tt);
	assert_int_equal(fake.warnings, 1);
	fake.warnings = 0;
	check();
}

/* ---- For the GPU ------------------------------------------------------------- */

/* One list for each 512 pages, complete before the device gets it. */
static void test_bind(void **state)
{
	static const unsigned long counts[] = { 1, 511, 512, 513, 1536 };
	unsigned int i;

	(void)state;
	for (i = 0; i < ITEMS; i++) {
		create(i, counts[i], 0);
		populate(i);
		write_all(i, i);
		bind(i);
		bind(i);
	}
}

static void test_bind_refused(void **state)
{
	(void)state;
	create(0, 4, 0);
	assert_int_equal(agate_tt_bind(items[0].tt), -EINVAL);
	assert_int_equal(fake.warnings, 1);
	fake.warnings = 0;
	populate(0);
	fake.bounces = true;
	assert_int_equal(agate_tt_bind(items[0].tt), -EOPNOTSUPP);
	check();
	fake.bounces = false;
	fake_device.drm.unplugged = true;
	assert_int_equal(agate_tt_bind(items[0].tt), -ENODEV);
	check();
	fake_device.drm.unplugged = false;
	bind(0);
}

static void test_bind_fails(void **state)
{
	(void)state;
	create(0, 1100, 0);
	populate(0);
	write_all(0, 3);
	/* The table and its mapping, two arrays, and three lists with theirs. */
	assert_int_equal(fail_each(0, step_bind, -ENOMEM), 10);
	items[0].state = AGATE_TT_BOUND;
	check();
}

static void test_unbind(void **state)
{
	(void)state;
	create(0, 600, WC);
	create(1, 1, 0);
	populate(0);
	populate(1);
	write_all(0, 5);
	bind(0);
	bind(1);
	unbind(0);
	unbind(0);
	bind(0);
	unbind(1);
}

/* The device goes: those that are bound keep their pages, and the others are left alone. */
static void test_unbind_all(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		create(i, 20 * (i + 1), 0);
		if (i)
			populate(i);
		if (i > 1)
			bind(i);
	}
	write_all(2, 11);
	fake_device.drm.unplugged = true;
	agate_tt_unbind_all(&fake_device);
	items[2].state = items[3].state = AGATE_TT_UNBOUND;
	check();
	unbind(2);
}

/* ---- Swap ---------------------------------------------------------------------- */

static void test_swap(void **state)
{
	unsigned int round;

	(void)state;
	create(0, 70, WC);
	create(1, 3, 0);
	populate(0);
	populate(1);
	write_all(1, 1000);
	for (round = 1; round < 4; round++) {
		write_all(0, 100 * round);
		swapout(0);
		populate(0);
		bind(0);
		unbind(0);
	}
	swapout(1);
	swapout(0);
	populate(1);
}


/* The file cannot be made: -ENOMEM.  A page of it cannot be had: that error. */
static void test_swapout_fails(void **state)
{
	(void)state;
	create(0, 4, 0);
	populate(0);
	write_all(0, 50);
	fake.fail_at = 0;
	assert_int_equal(agate_tt_swapout(items[0].tt), -ENOMEM);
	check();
	for (int at = 1; at <= 4; at++) {
		fake.fail_at = at;
		assert_int_equal(agate_tt_swapout(items[0].tt), -EIO);
		check();
	}
	fake.fail_at = -1;
	bind(0);
	assert_int_equal(agate_tt_swapout(items[0].tt), -EINVAL);
	assert_int_equal(fake.warnings, 1);
	fake.warnings = 0;
	check();
}

/* The contents stay in the file until they are all read. */
static void test_swapin_fails(void **state)
{
	(void)state;
	fake.largest = 0;
	create(0, 4, 0);
	populate(0);
	write_all(0, 50);
	swapout(0);
	/* The charge, the array and the pages; then the file's pages. */
	for (int at = 0; at < 10; at++) {
		fake.fail_at = at;
		assert_int_equal(agate_tt_populate(items[0].tt, &ctx), at < 6 ? -ENOMEM : -EIO);
		check();
	}
	fake.fail_at = -1;
	populate(0);
}

/* ---- The end -------------------------------------------------------------------- */

/* In each state, and with a file. */
static void test_park(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		create(i, 30, 0);
		if (i)
			populate(i);
	}
	write_all(2, 4);
	bind(2);
	swapout(3);
	for (i = 0; i < 4; i++)
		park(i);
}

/* ---- Any way --------------------------------------------------------------------- */

static u32 seed;

static unsigned int below(unsigned int limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % limit;
}

static void step_with(unsigned int i)
{
	const u8 was = items[i].state;

	switch (below(7)) {
	case 0:
		populate(i);
		break;
	case 1:
		if (was == AGATE_TT_UNBOUND)
			unpopulate(i);
		break;
	case 2:
		if (was != AGATE_TT_UNPOPULATED)
			bind(i);
		break;
	case 3:
		unbind(i);
		break;
	case 4:
		if (was == AGATE_TT_UNBOUND)
			swapout(i);
		break;
	case 5:
		if (was != AGATE_TT_UNPOPULATED)
			write_all(i, 1 + below(1000));
		break;
	default:
		if (!below(4))
			park(i);
	}
}

static void test_any_way(void **state)
{
	unsigned int step;

	(void)state;
	seed = 1;
	for (step = 0; step < 3000; step++) {
		const unsigned int i = below(ITEMS);

		fake.largest = below(AGATE_POOL_ORDERS);
		if (items[i].tt)
			step_with(i);
		else
			create(i, 1 + below(below(8) ? 12 : 1200), below(3));
	}
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_create),
		TEST(test_populate),
		TEST(test_blocks),
		TEST(test_populate_fails),
		TEST(test_unpopulate),
		TEST(test_bind),
		TEST(test_bind_refused),
		TEST(test_bind_fails),
		TEST(test_unbind),
		TEST(test_unbind_all),
		TEST(test_swap),
		TEST(test_swapout_fails),
		TEST(test_swapin_fails),
		TEST(test_park),
		TEST(test_any_way),
	};

	return cmocka_run_group_tests_name("tt", tests, NULL, NULL);
}
