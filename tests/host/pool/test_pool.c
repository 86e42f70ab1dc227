// SPDX-License-Identifier: MIT
/*
 * agate_ttm_pool.c: what is in a block and how the CPU caches it, on every way into the pool
 * and out of it; the shrinker's turns; and the limits of all cards.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/mm_types.h>

#include "agate_pool.h"

#define WC	1
#define UC	2

/* A block; all its pages are alike. */
struct block {
	struct page page;
	unsigned int order;
	unsigned int caching;
	bool dma32;
	char contents;
};

static struct agate_pool pool;
static int live;		/* blocks that are allocated */
static int allowed;		/* blocks that may still be; -1: any number */
static int changes;		/* of the caching */
static bool refuse;		/* the next ones */
static unsigned long freed;	/* pages */
static unsigned int freed_orders[16];
static size_t freed_count;

static struct block *block_of(struct page *page)
{
	return container_of(page, struct block, page);
}

/* The operations may sleep. */
static void no_lock(void)
{
	size_t i;

	for (i = 0; i < AGATE_POOL_KINDS; i++)
		assert_false(pool.lists[i].lock.locked);
}

static struct page *op_alloc(struct agate_pool *p, struct agate_pool_key key)
{
	struct block *block;

	assert_ptr_equal(p, &pool);
	no_lock();
	if (!allowed)
		return NULL;
	allowed -= allowed > 0;
	block = calloc(1, sizeof(*block));
	block->order = key.order;
	block->dma32 = key.dma32;
	live++;
	return &block->page;
}

static void op_free(struct agate_pool *p, struct page *page, unsigned int order)
{
	struct block *block = block_of(page);

	assert_ptr_equal(p, &pool);
	no_lock();
	/* The kernel would use it as a cached one. */
	assert_int_equal(block->caching, 0);
	assert_int_equal(block->order, order);
	freed += 1ul << order;
	freed_orders[freed_count++ % 16] = order;
	live--;
	free(block);
}

static int op_set_caching(struct agate_pool *p, struct page *page, unsigned int order,
			  unsigned int caching)
{
	assert_ptr_equal(p, &pool);
	no_lock();
	assert_int_equal(block_of(page)->order, order);
	if (refuse)
		return -ENOMEM;
	block_of(page)->caching = caching;
	changes++;
	return 0;
}

static void op_clear(struct agate_pool *p, struct page *page, unsigned int order)
{
	assert_ptr_equal(p, &pool);
	no_lock();
	assert_int_equal(block_of(page)->order, order);
	block_of(page)->contents = 0;
}

static const struct agate_pool_ops ops = {
	.alloc = op_alloc,
	.free = op_free,
	.set_caching = op_set_caching,
	.clear = op_clear,
};

static int setup(void **state)
{
	(void)state;
	memset(&pool, 0xee, sizeof(pool));
	agate_pool_init(&pool, &ops);
	live = 0;
	allowed = -1;
	changes = 0;
	refuse = false;
	freed = 0;
	freed_count = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	refuse = false;
	agate_pool_fini(&pool);
	assert_int_equal(agate_pool_count(&pool), 0);
	assert_int_equal(live, 0);
	return 0;
}

static struct agate_pool_key key(unsigned int caching, unsigned int order, bool dma32)
{
	return (struct agate_pool_key) { .caching = caching, .order = order, .dma32 = dma32 };
}

/* A block of that kind, zeroed; then its owner writes to it. */
static struct page *take(struct agate_pool_key k)
{
	struct page *page = agate_pool_take(&pool, k);

	assert_non_null(page);
	assert_int_equal(block_of(page)->contents, 0);
	assert_int_equal(block_of(page)->caching, k.caching);
	assert_int_equal(block_of(page)->order, k.order);
	assert_int_equal(block_of(page)->dma32, k.dma32);
	block_of(page)->contents = 'x';
	return page;
}

/* Put @count blocks into the pool. */
static void fill(struct agate_pool_key k, size_t count)
{
	struct page *pages[8];
	size_t i;

	for (i = 0; i < count; i++)
		pages[i] = take(k);
	for (i = 0; i < count; i++)
		agate_pool_give(&pool, pages[i], k);
}

/* ---- Take and give ---------------------------------------------------- */

static void test_cached(void **state)
{
	struct page *page = take(key(0, 3, false));

	(void)state;
	assert_int_equal(changes, 0);
	agate_pool_give(&pool, page, key(0, 3, false));
	assert_int_equal(live, 0);
	assert_int_equal(agate_pool_count(&pool), 0);
	assert_int_equal(changes, 0);
}

/* The same block comes back, zeroed, and its caching is not changed again. */
static void test_again(void **state)
{
	struct page *page = take(key(WC, 0, false));

	(void)state;
	agate_pool_give(&pool, page, key(WC, 0, false));
	assert_int_equal(block_of(page)->contents, 0);
	assert_int_equal(live, 1);
	assert_ptr_equal(take(key(WC, 0, false)), page);
	assert_int_equal(changes, 1);
	agate_pool_give(&pool, page, key(WC, 0, false));
}

/* Every kind keeps to itself. */
static void test_kinds(void **state)
{
	struct page *pages[AGATE_POOL_CACHINGS][AGATE_POOL_ORDERS][2];
	unsigned int c, o, d, round;

	(void)state;
	for (round = 0; round < 2; round++) {
		for (c = 0; c < AGATE_POOL_CACHINGS; c++)
			for (o = 0; o < AGATE_POOL_ORDERS; o++)
				for (d = 0; d < 2; d++)
					pages[c][o][d] = take(key(c, o, d));
		for (c = 0; c < AGATE_POOL_CACHINGS; c++)
			for (o = 0; o < AGATE_POOL_ORDERS; o++)
				for (d = 0; d < 2; d++)
					agate_pool_give(&pool, pages[c][o][d], key(c, o, d));
	}
	assert_int_equal(live, 2 * AGATE_POOL_ORDERS * 2);
}

static void test_last_first(void **state)
{
	struct page *a = take(key(UC, 1, false)), *b = take(key(UC, 1, false));

	(void)state;
	agate_pool_give(&pool, a, key(UC, 1, false));
	agate_pool_give(&pool, b, key(UC, 1, false));
	assert_ptr_equal(take(key(UC, 1, false)), b);
	agate_pool_give(&pool, b, key(UC, 1, false));
}

static void test_no_memory(void **state)
{
	(void)state;
	fill(key(WC, 0, false), 1);
	allowed = 0;
	assert_null(agate_pool_take(&pool, key(0, 0, false)));
	assert_null(agate_pool_take(&pool, key(UC, 0, false)));
	/* One is there already. */
	agate_pool_give(&pool, take(key(WC, 0, false)), key(WC, 0, false));
}

static void test_caching_refused(void **state)
{
	(void)state;
	refuse = true;
	assert_null(agate_pool_take(&pool, key(WC, 2, false)));
	assert_int_equal(live, 0);
	assert_int_equal(agate_pool_count(&pool), 0);
}

/* ---- Shrink ----------------------------------------------------------- */

static void test_count(void **state)
{
	(void)state;
	assert_int_equal(agate_pool_count(&pool), 0);
	fill(key(WC, 0, false), 3);
	fill(key(UC, 4, true), 2);
	assert_int_equal(agate_pool_count(&pool), 3 + 2 * 16);
}

static void test_scan(void **state)
{
	(void)state;
	assert_int_equal(agate_pool_scan(&pool, 10), 0);
	fill(key(WC, 0, false), 5);
	assert_int_equal(agate_pool_scan(&pool, 0), 0);
	assert_int_equal(agate_pool_scan(&pool, 2), 2);
	assert_int_equal(freed, 2);
	assert_int_equal(agate_pool_count(&pool), 3);
	assert_int_equal(agate_pool_scan(&pool, 100), 3);
	assert_int_equal(live, 0);
	/* A large block has more pages than were asked for. */
	fill(key(WC, 9, false), 2);
	assert_int_equal(agate_pool_scan(&pool, 1), 512);
	assert_int_equal(agate_pool_count(&pool), 512);
}

/* One block of each kind, then the next of each; the second call goes on. */
static void test_turns(void **state)
{
	(void)state;
	fill(key(WC, 0, false), 4);
	fill(key(WC, 1, false), 4);
	fill(key(UC, 0, false), 4);
	assert_int_equal(agate_pool_scan(&pool, 4), 4);
	assert_int_equal(freed_count, 3);
	assert_int_equal(freed_orders[0] + freed_orders[1] + freed_orders[2], 1);
	assert_int_equal(agate_pool_scan(&pool, 1), 1);
	assert_int_equal(agate_pool_scan(&pool, 1), 2);
	assert_int_equal(agate_pool_scan(&pool, 1), 1);
	assert_int_equal(agate_pool_scan(&pool, 1), 1);
}

/* A list that somebody uses is left out, and the others are not. */
static void test_busy_list(void **state)
{
	struct agate_pool_list *busy = NULL;
	size_t i;

	(void)state;
	fill(key(WC, 0, false), 2);
	for (i = 0; i < AGATE_POOL_KINDS; i++)
		busy = pool.lists[i].count ? &pool.lists[i] : busy;
	assert_non_null(busy);
	busy->lock.locked = true;
	assert_int_equal(agate_pool_scan(&pool, 5), 0);
	assert_true(busy->lock.locked);
	assert_int_equal(agate_pool_count(&pool), 2);
	busy->lock.locked = false;
	assert_int_equal(agate_pool_scan(&pool, 5), 2);
}

/* A block that stays uncached must not go to the kernel, and must not be lost. */
static void test_scan_refused(void **state)
{
	(void)state;
	fill(key(UC, 2, false), 2);
	refuse = true;
	assert_int_equal(agate_pool_scan(&pool, 5), 0);
	assert_int_equal(agate_pool_count(&pool), 8);
	refuse = false;
	assert_int_equal(agate_pool_scan(&pool, 5), 8);
}

/* ---- Accounting ------------------------------------------------------- */

static int wakes;

static void wake(struct agate_glob *glob)
{
	assert_false(glob->lock.locked);
	wakes++;
}

static struct agate_glob glob_of(unsigned long limit, unsigned long dma32, unsigned long swap)
{
	wakes = 0;
	return (struct agate_glob) { .limit = limit, .limit_dma32 = dma32, .swap_limit = swap,
				     .wake = wake };
}

static void test_charge(void **state)
{
	struct agate_glob glob = glob_of(100, 30, 100);

	(void)state;
	assert_int_equal(agate_glob_charge(&glob, 100, false), 0);
	assert_int_equal(agate_glob_charge(&glob, 1, false), -ENOMEM);
	assert_int_equal(glob.used, 100);
	agate_glob_uncharge(&glob, 60, false);
	assert_int_equal(agate_glob_charge(&glob, 61, false), -ENOMEM);
	assert_int_equal(agate_glob_charge(&glob, ~0ul, false), -ENOMEM);
	assert_int_equal(glob.used, 40);
	assert_int_equal(agate_glob_charge(&glob, 60, false), 0);
}

static void test_charge_dma32(void **state)
{
	struct agate_glob glob = glob_of(100, 30, 100);

	(void)state;
	assert_int_equal(agate_glob_charge(&glob, 31, true), -ENOMEM);
	assert_int_equal(glob.used + glob.used_dma32, 0);
	assert_int_equal(agate_glob_charge(&glob, 30, true), 0);
	assert_int_equal(agate_glob_charge(&glob, 1, true), -ENOMEM);
	assert_int_equal(agate_glob_charge(&glob, 1, false), 0);
	assert_int_equal(glob.used, 31);
	assert_int_equal(glob.used_dma32, 30);
	agate_glob_uncharge(&glob, 1, false);
	agate_glob_uncharge(&glob, 10, true);
	assert_int_equal(glob.used, 20);
	assert_int_equal(glob.used_dma32, 20);
}

static void test_wake(void **state)
{
	struct agate_glob glob = glob_of(100, 100, 50);

	(void)state;
	assert_int_equal(agate_glob_charge(&glob, 50, false), 0);
	assert_int_equal(wakes, 0);
	assert_int_equal(agate_glob_charge(&glob, 1, false), 0);
	assert_int_equal(wakes, 1);
	assert_int_equal(agate_glob_charge(&glob, 50, false), -ENOMEM);
	assert_int_equal(wakes, 2);
	agate_glob_uncharge(&glob, 51, false);
	assert_int_equal(wakes, 2);
	/* Even if nothing is above the swap limit. */
	assert_int_equal(agate_glob_charge(&glob, 101, false), -ENOMEM);
	assert_int_equal(wakes, 3);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cached),
		TEST(test_again),
		TEST(test_kinds),
		TEST(test_last_first),
		TEST(test_no_memory),
		TEST(test_caching_refused),
		TEST(test_count),
		TEST(test_scan),
		TEST(test_turns),
		TEST(test_busy_list),
		TEST(test_scan_refused),
		cmocka_unit_test(test_charge),
		cmocka_unit_test(test_charge_dma32),
		cmocka_unit_test(test_wake),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
