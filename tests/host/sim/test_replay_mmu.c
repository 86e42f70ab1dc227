// SPDX-License-Identifier: MIT
/*
 * Address spaces as Panfrost serves them: enable and disable, regions to lock, and
 * faults in both orders of a driver; with io-pgtable's tables.
 */
#include "replay.h"

#define HOLE		0x8080610000ull	/* index 16 of the table: not mapped */
#define HOLE_PTE	0x40003080ull
#define HEAP		0x8080800000ull	/* index 4 of level 2: a heap that grows */
#define HEAP_PDE	0x40002020ull
#define HEAP_PA		0x40200000ull
#define BLOCK		0x200000ull

static const enum agate_sim_gpu gpus[] = { AGATE_SIM_MIDGARD, AGATE_SIM_BIFROST };
#define EACH_GPU(i)	for ((i) = 0; (i) < 2; (i)++)

static void store(struct bench *b, unsigned int as, uint64_t va)
{
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, va, 0x5ca1ab1e);
	replay_submit(b, 1, VA, JS_CONFIG_AS(as));
	settle(b);
}

static void expect_done(struct bench *b, uint64_t pa)
{
	settle(b);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), JOB_INT_DONE(1));
	assert_int_equal(rd(b, JS_STATUS(1)), 0x01);
	assert_int_equal(get64(b, pa), 0x5ca1ab1e);
	wr(b, JOB_INT_CLEAR, JOB_INT_DONE(1));
}

/* The chain starts while UPDATE is still in progress: its accesses wait. */
static void test_enable(void **state)
{
	unsigned int i, as;

	(void)state;
	EACH_GPU(i) {
		for (as = 0; as < 8; as++) {
			struct bench *b = replay_up(gpus[i]);

			replay_as_enable(b, as);
			assert_int_equal(rd64(b, AS_TRANSTAB_LO(as)), 0x40000007);
			assert_int_equal(rd64(b, AS_MEMATTR_LO(as)), 0x888d88);
			store(b, as, VA + 0x800);
			expect_done(b, PA + 0x800);
			assert_int_equal(counter(b, AGATE_CNT_AS_CMD_DROPPED), 0);
			replay_end(b);
		}
	}
}

static void test_a_coherent_table(void **state)
{
	struct bench *b = replay_up(AGATE_SIM_MIDGARD);

	(void)state;
	replay_as_set(b, 0, REPLAY_TRANSTAB(TABLE_L0) | AS_TRANSTAB_LPAE_SHARE_OUTER,
		      REPLAY_MEMATTR);
	store(b, 0, VA + 0x800);
	expect_done(b, PA + 0x800);
	replay_end(b);
}

/*
 * The driver lends an address space to one context after another: an idle context
 * loses its space.
 */
static void test_another_table(void **state)
{
	struct bench *b = replay_up(AGATE_SIM_MIDGARD);
	unsigned int n;

	(void)state;
	replay_as_enable(b, 0);
	store(b, 0, VA + 0x800);
	expect_done(b, PA + 0x800);
	/* the same addresses elsewhere, by a table that differs from level 3 on */
	put64(b, 0x40004000 + 8 * 1, 0x40005003);
	put64(b, 0x40005000 + 8 * 2, 0x40006003);
	put64(b, 0x40006000 + 8 * 3, 0x40007003);
	put64(b, 0x40007000, REPLAY_LEAF(0x40010000));
	for (n = 1; n < MAPPED_PAGES; n++)
		put64(b, 0x40007000 + 8 * n, REPLAY_LEAF(0x40080000 + 0x1000 * n));
	replay_as_set(b, 0, REPLAY_TRANSTAB(0x40004000ull), REPLAY_MEMATTR);
	store(b, 0, VA + 0x1800);
	expect_done(b, 0x40081800);
	assert_int_equal(get64(b, PA + 0x1800), 0);
	replay_end(b);
}

/* A driver's arithmetic and LOCKADDR have to agree, number by number. */
static void test_regions(void **state)
{
	static const struct {
		uint64_t start, size, lockaddr;
	} region[] = {
		{ 0x1000, 0x1000, 0xe },		/* never less than 32 KiB */
		{ 0x8000, 0x8000, 0x800e },
		{ 0x7000, 0x2000, 0xf },		/* over an edge of 32 KiB: 64 */
		{ 0x1ff000, 0x2000, 0x15 },
		{ 0x40000000, 0x200000, 0x40000014 },
		{ 0x80000000, 0x40000000, 0x8000001d },
		{ 0, 0x100000000, 0x1f },
		{ 0, ~0ull, 0x3f },			/* everything */
	};
	struct bench *b = replay_up(AGATE_SIM_MIDGARD);
	unsigned int i;

	(void)state;
	replay_as_enable(b, 0);
	for (i = 0; i < sizeof(region) / sizeof(region[0]); i++) {
		assert_int_equal(replay_region(region[i].start, region[i].size),
				 region[i].lockaddr);
		replay_flush(b, 0, region[i].start, region[i].size, AS_COMMAND_FLUSH_PT);
		assert_int_equal(rd64(b, AS_LOCKADDR_LO(0)), region[i].lockaddr);
	}
	replay_end(b);
}

/* The driver never sends UNLOCK: a flush ends the LOCK. */
static void test_a_flush_unlocks(void **state)
{
	static const uint32_t flush[] = { AS_COMMAND_FLUSH_PT, AS_COMMAND_FLUSH_MEM };
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct bench *b = replay_up(AGATE_SIM_MIDGARD);

		replay_as_enable(b, 0);
		wr64(b, AS_LOCKADDR_LO(0), replay_region(VA, 0x10000));
		replay_as_command(b, 0, AS_COMMAND_LOCK);
		replay_as_ready(b, 0);
		store(b, 0, VA + 0x800);
		assert_int_equal(rd(b, JS_STATUS(1)), 0x08);
		replay_as_command(b, 0, flush[i]);
		replay_as_ready(b, 0);
		expect_done(b, PA + 0x800);
		replay_end(b);
	}
}

/* After unmap and flush, the GPU must not reach the old memory again. */
static void test_unmap(void **state)
{
	struct bench *b = replay_up(AGATE_SIM_MIDGARD);

	(void)state;
	replay_as_enable(b, 0);
	store(b, 0, VA + 0x1800);
	expect_done(b, PA + 0x1800);
	put64(b, TABLE_L3 + 8, 0);
	replay_flush(b, 0, VA + 0x1000, 0x1000, AS_COMMAND_FLUSH_PT);
	store(b, 0, VA + 0x1808);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), MMU_INT_PAGE_FAULT(0));
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)) & 0xff, 0xc3);
	assert_int_equal(get64(b, PA + 0x1808), 0);
	bench_free(b);
}

/* ---- Faults ----------------------------------------------------------------- */

static struct bench *bench_faulted(enum agate_sim_gpu gpu, uint64_t va)
{
	struct bench *b = replay_up(gpu);

	replay_as_enable(b, 0);
	store(b, 0, va);
	assert_int_equal(b->messages[AGATE_VECTOR_MMU], 1);
	/* the first half masks, and leaves the rest to a thread */
	assert_int_equal(rd(b, MMU_INT_STAT), MMU_INT_PAGE_FAULT(0));
	wr(b, MMU_INT_MASK, 0);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), MMU_INT_PAGE_FAULT(0));
	/* 0xc0 to 0xc7: a translation fault, which a heap may serve */
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)) & 0xf8, 0xc0);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)) >> 8 & 3, AS_FAULTSTATUS_ACCESS_WRITE);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)) >> 16, 1);
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), va);
	return b;
}

/* When the thread looks again nothing is left, and it unmasks. */
static void expect_served(struct bench *b, uint64_t pa)
{
	settle(b);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 0);
	wr(b, MMU_INT_MASK, 0xffffffff);
	expect_done(b, pa);
	assert_int_equal(b->messages[AGATE_VECTOR_MMU], 1);
	assert_int_equal(counter(b, AGATE_CNT_FAULTS), 1);
	replay_end(b);
}

static void test_clear_map_flush(void **state)
{
	unsigned int i;

	(void)state;
	EACH_GPU(i) {
		struct bench *b = bench_faulted(gpus[i], HOLE);

		wr(b, MMU_INT_CLEAR, 0x10001);
		put64(b, HOLE_PTE, REPLAY_LEAF(0x40058000));
		replay_flush(b, 0, HOLE, 0x1000, AS_COMMAND_FLUSH_PT);
		expect_served(b, 0x40058000);
	}
}

static void test_map_clear_flush(void **state)
{
	unsigned int i;

	(void)state;
	EACH_GPU(i) {
		struct bench *b = bench_faulted(gpus[i], HOLE);

		put64(b, HOLE_PTE, REPLAY_LEAF(0x40058000));
		wr(b, MMU_INT_CLEAR, 0x10001);
		replay_flush(b, 0, HOLE, 0x1000, AS_COMMAND_FLUSH_PT);
		expect_served(b, 0x40058000);
	}
}

/* The heap grows by 2 MiB, wherever in them the fault was: one block ... */
static void test_heap_grows_by_a_block(void **state)
{
	unsigned int i;

	(void)state;
	EACH_GPU(i) {
		struct bench *b = bench_faulted(gpus[i], HEAP + 0x123458);

		wr(b, MMU_INT_CLEAR, 0x10001);
		put64(b, HEAP_PDE, REPLAY_LEAF(HEAP_PA));
		replay_flush(b, 0, HEAP, BLOCK, AS_COMMAND_FLUSH_PT);
		settle(b);
		store(b, 0, HEAP + BLOCK - 8);	/* its last bytes: no fault any more */
		assert_int_equal(get64(b, HEAP_PA + BLOCK - 8), 0x5ca1ab1e);
		expect_served(b, HEAP_PA + 0x123458);
	}
}

/* ... or, without 2 MiB of contiguous memory, 512 pages, mapped in pieces. */
static void test_heap_grows_by_pages(void **state)
{
	struct bench *b = bench_faulted(AGATE_SIM_MIDGARD, HEAP + 0x123458);
	unsigned int n;

	(void)state;
	wr(b, MMU_INT_CLEAR, 0x10001);
	for (n = 0; n < 512; n++)		/* from the last page to the first */
		put64(b, 0x40008000 + 8 * n, REPLAY_LEAF(HEAP_PA + 0x1000 * (511 - n)));
	put64(b, HEAP_PDE, 0x40008003);
	replay_flush(b, 0, HEAP, BLOCK, AS_COMMAND_FLUSH_PT);
	expect_served(b, HEAP_PA + 0x1000 * (511 - 0x123) + 0x458);
}

/* ---- A fault that nobody serves ------------------------------------------------ */

static void test_unserved(void **state)
{
	unsigned int i;

	(void)state;
	EACH_GPU(i) {
		struct bench *b = bench_faulted(gpus[i], HOLE);

		wr(b, MMU_INT_CLEAR, 0x10001);
		/* the flush makes it fail once more, before UPDATE takes the table away */
		replay_as_disable(b, 0);
		settle(b);
		assert_int_equal(rd(b, JOB_INT_RAWSTAT), JOB_INT_FAIL(1));
		assert_int_equal(rd(b, JS_STATUS(1)), 0xc3);
		wr(b, JOB_INT_CLEAR, JOB_INT_FAIL(1));
		/* that space stays masked, the others do not */
		rd(b, MMU_INT_RAWSTAT);
		wr(b, MMU_INT_MASK, ~0x10001u);
		assert_int_equal(rd(b, MMU_INT_STAT), 0);
		assert_true(counter(b, AGATE_CNT_HINTS) <= 1);	/* the address the job touched */
		forget_events(b);
		/* until its next job: clear, unmask, enable, start */
		wr(b, MMU_INT_CLEAR, 0x10001);
		wr(b, MMU_INT_MASK, 0xffffffff);
		replay_as_enable(b, 0);
		store(b, 0, VA + 0x800);
		expect_done(b, PA + 0x800);
		assert_int_equal(rd(b, MMU_INT_RAWSTAT), 0);
		assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
		bench_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enable),
		cmocka_unit_test(test_a_coherent_table),
		cmocka_unit_test(test_another_table),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_a_flush_unlocks),
		cmocka_unit_test(test_unmap),
		cmocka_unit_test(test_clear_map_flush),
		cmocka_unit_test(test_map_clear_flush),
		cmocka_unit_test(test_heap_grows_by_a_block),
		cmocka_unit_test(test_heap_grows_by_pages),
		cmocka_unit_test(test_unserved),
	};

	return cmocka_run_group_tests_name("sim-replay_mmu", tests, NULL, NULL);
}
