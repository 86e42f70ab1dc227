// SPDX-License-Identifier: MIT
/*
 * TLBs: entries that stay, entries that a flush drops, and the detection of stale
 * use.
 */
#include "gpu_bench.h"

#define OLD	0x40058000ull
#define NEW	0x40059000ull
#define TARGET	0x8080604000ull		/* indices 1, 2, 3, 4 */

/* Write value to va through a job of address space as. */
static void store(struct bench *b, unsigned int as, uint64_t va, uint64_t value)
{
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, va, value);
	start_job(b, 0, VA, JS_CONFIG_AS(as));
	settle(b);
}

/* TARGET maps OLD and is in the TLB; its entry then says NEW. */
static struct bench *bench_stale(void)
{
	struct bench *b = bench_ready();

	put64(b, 0x40003020, 0x400580c1);
	store(b, 0, TARGET, 1);
	assert_int_equal(get64(b, OLD), 1);
	put64(b, 0x40003020, 0x400590c1);
	return b;
}

static void test_without_a_flush_the_old_page_is_used(void **state)
{
	struct bench *b = bench_stale();

	(void)state;
	store(b, 0, TARGET, 2);
	store(b, 0, TARGET, 3);
	assert_int_equal(get64(b, OLD), 3);
	assert_int_equal(get64(b, NEW), 0);
	assert_int_equal(counter(b, AGATE_CNT_STALE_USED), 2);
	assert_true(hinted(b, "stale translation"));
	assert_int_equal(counter(b, AGATE_CNT_HINTS), 1);	/* reported once for each entry */
	bench_free(b);
}

static void test_an_unmapped_page_stays_reachable(void **state)
{
	struct bench *b = bench_stale();

	(void)state;
	put64(b, 0x40003020, 0);
	store(b, 0, TARGET, 2);
	assert_int_equal(get64(b, OLD), 2);
	assert_int_equal(counter(b, AGATE_CNT_STALE_USED), 1);
	assert_int_equal(counter(b, AGATE_CNT_FAULTS), 0);
	bench_free(b);
}

static void test_a_change_higher_up_is_stale_too(void **state)
{
	struct bench *b = bench_stale();

	(void)state;
	put64(b, 0x40003020, 0x400580c1);
	put64(b, 0x40000008, 0);	/* the whole table is gone */
	store(b, 0, TARGET, 2);
	assert_int_equal(get64(b, OLD), 2);
	assert_true(counter(b, AGATE_CNT_STALE_USED) >= 1);
	bench_free(b);
}

static void test_new_permissions_wait_for_the_flush(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put64(b, 0x40003020, 0x40058041);	/* read-only */
	store(b, 0, TARGET, 1);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), 0x3cb);
	put64(b, 0x40003020, 0x400580c1);
	rd(b, MMU_INT_RAWSTAT);
	wr(b, MMU_INT_CLEAR, 1);
	as_command(b, 0, AS_COMMAND_UNLOCK);	/* retries, drops nothing */
	settle(b);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 1);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	as_flush(b, 0, 0x808060400e, AS_COMMAND_FLUSH_PT);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(get64(b, OLD), 1);
	bench_free(b);
}

static void flush_makes_fresh(uint64_t lockaddr, uint32_t command, bool fresh)
{
	struct bench *b = bench_stale();

	as_flush(b, 0, lockaddr, command);
	store(b, 0, TARGET, 2);
	assert_int_equal(get64(b, fresh ? NEW : OLD), 2);
	assert_int_equal(counter(b, AGATE_CNT_STALE_USED), fresh ? 0 : 1);
	bench_free(b);
}

static void test_flushes_drop_the_locked_region(void **state)
{
	(void)state;
	/* width 14 is 32 KiB: 0x8080600000 .. 0x8080607fff has the page */
	flush_makes_fresh(0x808060000e, AS_COMMAND_FLUSH_PT, true);
	flush_makes_fresh(0x808060400e, AS_COMMAND_FLUSH_MEM, true);
	/* the neighbouring 32 KiB have not */
	flush_makes_fresh(0x808060800e, AS_COMMAND_FLUSH_PT, false);
	flush_makes_fresh(0x80805f800e, AS_COMMAND_FLUSH_MEM, false);
	/* 2^22 bytes at 0x8080400000 have; address bits up to the width do not count */
	flush_makes_fresh(0x8080400015, AS_COMMAND_FLUSH_PT, true);
	flush_makes_fresh(0x80807ff015, AS_COMMAND_FLUSH_PT, true);
	/* everything */
	flush_makes_fresh(0x000000003f, AS_COMMAND_FLUSH_PT, true);
	flush_makes_fresh(0x000000002f, AS_COMMAND_FLUSH_PT, true);
	/* the lower half of the address space */
	flush_makes_fresh(0x000000002e, AS_COMMAND_FLUSH_PT, true);
	/* a quarter of it that does not have the page */
	flush_makes_fresh(0x40000000002d, AS_COMMAND_FLUSH_PT, false);
}

static void test_a_region_below_32k_is_32k(void **state)
{
	struct bench *b = bench_stale();

	(void)state;
	as_flush(b, 0, 0x808060000b, AS_COMMAND_FLUSH_PT);	/* 4 KiB without the page */
	assert_true(hinted(b, "less than 32 KiB"));
	store(b, 0, TARGET, 2);
	assert_int_equal(get64(b, NEW), 2);
	bench_free(b);
}

static void test_a_flush_without_lock_drops_nothing(void **state)
{
	struct bench *b = bench_stale();

	(void)state;
	as_command(b, 0, AS_COMMAND_FLUSH_MEM);
	assert_true(hinted(b, "without a locked region"));
	store(b, 0, TARGET, 2);
	assert_int_equal(get64(b, OLD), 2);
	bench_free(b);
}

static void test_lock_and_unlock_drop_nothing(void **state)
{
	struct bench *b = bench_stale();

	(void)state;
	wr64(b, AS_LOCKADDR_LO(0), LOCK_ALL);
	as_command(b, 0, AS_COMMAND_LOCK);
	as_command(b, 0, AS_COMMAND_UNLOCK);
	store(b, 0, TARGET, 2);
	assert_int_equal(get64(b, OLD), 2);
	bench_free(b);
}

static void test_update_drops_all(void **state)
{
	struct bench *b = bench_stale();

	(void)state;
	as_command(b, 0, AS_COMMAND_UPDATE);
	store(b, 0, TARGET, 2);
	assert_int_equal(get64(b, NEW), 2);
	assert_int_equal(counter(b, AGATE_CNT_STALE_USED), 0);
	bench_free(b);
}

static void test_reset_drops_all(void **state)
{
	struct bench *b = bench_stale();

	(void)state;
	bench_reset(b);
	bench_power_on(b);
	as_set_table(b, 0, TABLE_L0);
	store(b, 0, TARGET, 2);
	assert_int_equal(get64(b, NEW), 2);
	bench_free(b);
}

static void test_address_spaces_do_not_share(void **state)
{
	struct bench *b = bench_stale();

	(void)state;
	as_set_table(b, 1, TABLE_L0);
	as_flush(b, 1, LOCK_ALL, AS_COMMAND_FLUSH_MEM);	/* does not affect space 0 */
	store(b, 1, TARGET, 2);
	assert_int_equal(get64(b, NEW), 2);
	store(b, 0, TARGET, 3);
	assert_int_equal(get64(b, OLD), 3);
	bench_free(b);
}

static void test_a_block_is_one_entry_and_goes_as_one(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put64(b, 0x40002020, 0x402000c1);	/* 2 MiB at 0x8080800000 */
	store(b, 0, 0x8080800000, 1);
	store(b, 0, 0x80809ff000, 1);
	assert_int_equal(counter(b, AGATE_CNT_WALKS), 2);	/* and the job's page */
	/* locking any part of the block drops it */
	as_flush(b, 0, 0x808098000e, AS_COMMAND_FLUSH_PT);
	store(b, 0, 0x8080800000, 2);
	assert_int_equal(counter(b, AGATE_CNT_WALKS), 3);
	bench_free(b);
}

static void test_faults_are_not_cached(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	store(b, 0, 0x8080610000, 1);		/* index 16: not mapped */
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 1);
	wr(b, MMU_INT_CLEAR, 1);
	put64(b, 0x40003080, 0x400580c1);
	as_command(b, 0, AS_COMMAND_UNLOCK);	/* a retry is enough */
	settle(b);
	assert_int_equal(get64(b, OLD), 1);
	bench_free(b);
}

/* Touch n pages, twice; returns how many misses the second round had. */
static uint64_t second_round_misses(uint32_t entries, uint32_t seed, unsigned int n)
{
	struct agate_sim_config config = {
		.gpu = AGATE_SIM_MIDGARD, .seed = seed, .tlb_entries = entries,
	};
	struct bench *b = bench_new_with(&config);
	uint64_t before;
	unsigned int i;

	bench_power_on(b);
	put_tables(b);
	for (i = 0; i < n; i++)
		put64(b, 0x40003000 + 8 * (64 + i), 0x400580c1);
	as_set_table(b, 0, TABLE_L0);
	for (i = 0; i < n; i++)
		store(b, 0, VA + 0x40000 + 0x1000 * i, i);
	before = counter(b, AGATE_CNT_TLB_MISSES);
	for (i = 0; i < n; i++)
		store(b, 0, VA + 0x40000 + 0x1000 * i, i);
	before = counter(b, AGATE_CNT_TLB_MISSES) - before;
	bench_free(b);
	return before;
}

static void test_capacity(void **state)
{
	(void)state;
	/* 16 sets of 4 ways: three of these pages and the job's own fit in each */
	assert_int_equal(second_round_misses(64, 1, 48), 0);
	assert_true(second_round_misses(64, 1, 300) > 200);
	assert_int_equal(second_round_misses(512, 1, 300), 0);
}

static void test_replacement_follows_the_seed(void **state)
{
	uint64_t misses = second_round_misses(16, 1, 24);

	(void)state;
	assert_int_equal(second_round_misses(16, 1, 24), misses);
	assert_true(second_round_misses(16, 2, 24) != misses ||
		    second_round_misses(16, 3, 24) != misses ||
		    second_round_misses(16, 4, 24) != misses);
}

static void test_hits_misses_and_walks_are_counted(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	/* header, payload, the value, the header's status: 4 accesses, 2 pages */
	store(b, 0, TARGET, 1);
	assert_int_equal(counter(b, AGATE_CNT_TLB_MISSES), 2);
	assert_int_equal(counter(b, AGATE_CNT_TLB_HITS), 2);
	assert_int_equal(counter(b, AGATE_CNT_WALKS), 2);
	assert_int_equal(count_events(b, AGATE_EV_WALK), 2);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_flush_the_old_page_is_used),
		cmocka_unit_test(test_an_unmapped_page_stays_reachable),
		cmocka_unit_test(test_a_change_higher_up_is_stale_too),
		cmocka_unit_test(test_new_permissions_wait_for_the_flush),
		cmocka_unit_test(test_flushes_drop_the_locked_region),
		cmocka_unit_test(test_a_region_below_32k_is_32k),
		cmocka_unit_test(test_a_flush_without_lock_drops_nothing),
		cmocka_unit_test(test_lock_and_unlock_drop_nothing),
		cmocka_unit_test(test_update_drops_all),
		cmocka_unit_test(test_reset_drops_all),
		cmocka_unit_test(test_address_spaces_do_not_share),
		cmocka_unit_test(test_a_block_is_one_entry_and_goes_as_one),
		cmocka_unit_test(test_faults_are_not_cached),
		cmocka_unit_test(test_capacity),
		cmocka_unit_test(test_replacement_follows_the_seed),
		cmocka_unit_test(test_hits_misses_and_walks_are_counted),
	};

	return cmocka_run_group_tests_name("sim-tlb", tests, NULL, NULL);
}
