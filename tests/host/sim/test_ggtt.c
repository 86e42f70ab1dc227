// SPDX-License-Identifier: MIT
/*
 * The GGTT: entries and what makes them fail, the cache, the usable range, groups of 64 KiB.
 * The test is the engine.
 */
#include "ggtt_bench.h"

#include <string.h>

#define LAST		0xfdffu		/* entry of the last usable page */

static struct bench *set_up(bool ggtt_64k)
{
	const struct agate_sim_config config = {
		.gpu = AGATE_SIM_MIDGARD, .card = true, .vram_total = VRAM_TOTAL,
		.ggtt_64k = ggtt_64k, .seed = 1,
	};

	return bench_new_with(&config);
}

/* ---- Entries --------------------------------------------------------------------- */

static void test_an_engine_reaches_memory(void **state)
{
	struct bench *b = set_up(false);
	uint64_t pa;

	(void)state;
	b->gsm[FIRST] = IN_RAM + 0x3000;
	b->gsm[FIRST + 1] = IN_VRAM | (VRAM_SIZE + 0x1000);
	b->gsm[LAST] = IN_VRAM;
	put64(b, RAM_BASE + 0x3000, 0x111);
	put64(b, AGATE_PHYS_VRAM, 0x333);
	assert_int_equal(engine_reads(b, ADDR, 0), 0x111);
	assert_int_equal(ggtt_write(b->sim, ADDR + 0x1008, 0, &(uint64_t){ 0x222 }, 8), 0);
	assert_int_equal(engine_reads(b, ADDR + 0x1008, 0), 0x222);
	assert_int_equal(engine_reads(b, 0x0fdff000, 0), 0x333);
	assert_int_equal(ggtt_translate(b->sim, ADDR + 0x1ff8, 0, GGTT_READ, &pa), AGATE_REASON_NONE);
	assert_int_equal(pa, AGATE_PHYS_VRAM + VRAM_SIZE + 0x1ff8);
	assert_int_equal(ggtt_write(b->sim, ADDR + 0xff8, 0, &(uint64_t){ 0x444 }, 8), 0);
	assert_int_equal(get64(b, RAM_BASE + 0x3ff8), 0x444);
	no_hint(b);
	assert_int_equal(counter(b, AGATE_CNT_GGTT_STALE), 0);
	bench_free(b);
}

static void test_entries_that_fail(void **state)
{
	static const struct {
		uint64_t entry;
		enum agate_mover_reason reason;
		bool hint;
	} bad[] = {
		{ 0, AGATE_REASON_ENTRY, false },
		{ RAM_BASE, AGATE_REASON_ENTRY, false },
		{ UINT64_MAX & ~AGATE_GGTT_PRESENT, AGATE_REASON_ENTRY, false },
		{ 0xa5a5a5a5a5a5a5a5, AGATE_REASON_ENTRY, true },	/* lost with the power */
		{ IN_RAM | 1ull << 40, AGATE_REASON_ENTRY, true },
		{ IN_RAM | 1ull << 63, AGATE_REASON_ENTRY, true },
		{ IN_RAM | AGATE_GGTT_PAT(1), AGATE_REASON_ENTRY, true },	/* bifrost's */
		{ 0x1000 | AGATE_GGTT_PRESENT, AGATE_REASON_BUS, false },	/* no RAM there */
		{ IN_VRAM | VRAM_TOTAL, AGATE_REASON_BUS, false },
		{ IN_VRAM | AGATE_GGTT_ADDR, AGATE_REASON_BUS, false },
		{ AGATE_PHYS_VRAM | AGATE_GGTT_PRESENT, AGATE_REASON_BUS, false },
	};
	struct bench *b = set_up(false);
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		forget_events(b);
		b->gsm[FIRST + i] = bad[i].entry;
		/* Of that VF, so that nothing but the entry itself is wrong. */
		engine_fails(b, ADDR + 0x1000 * i, AGATE_GGTT_VF_OF(bad[i].entry), bad[i].reason);
		assert_int_equal(hinted(b, "a GGTT entry has reserved bits"), bad[i].hint);
	}
	bench_free(b);
}

static void test_vfs(void **state)
{
	struct bench *b = set_up(false);

	(void)state;
	b->gsm[FIRST] = IN_RAM | AGATE_GGTT_VF(1);
	b->gsm[FIRST + 1] = IN_RAM | AGATE_GGTT_VF(0x3ff);
	b->gsm[FIRST + 2] = IN_RAM;
	put64(b, RAM_BASE, 5);
	assert_int_equal(engine_reads(b, ADDR, 1), 5);
	assert_int_equal(engine_reads(b, ADDR + 0x1000, 0x3ff), 5);
	engine_fails(b, ADDR, 0, AGATE_REASON_VF);
	engine_fails(b, ADDR, 2, AGATE_REASON_VF);
	engine_fails(b, ADDR + 0x1000, 0x7ff, AGATE_REASON_VF);
	engine_fails(b, ADDR + 0x2000, 1, AGATE_REASON_VF);
	no_hint(b);
	bench_free(b);
}

/* An address that only RAM of the first 1 GiB would have, and a card without power. */
static void test_nobody_answers(void **state)
{
	const struct agate_sim_config config = {
		.gpu = AGATE_SIM_MIDGARD, .card = true, .dma_bits = 30,
	};
	struct bench *b = bench_new_with(&config);

	(void)state;
	b->gsm[FIRST] = IN_RAM;
	b->gsm[FIRST + 1] = IN_VRAM;
	engine_fails(b, ADDR, 0, AGATE_REASON_BUS);
	assert_int_equal(engine_reads(b, ADDR + 0x1000, 0), 0);
	bench_free(b);
}

/* ---- The cache -------------------------------------------------------------------- */

static void test_only_invalidate_empties_the_cache(void **state)
{
	struct bench *b = set_up(false);

	(void)state;
	put64(b, RAM_BASE, 1);
	put64(b, RAM_BASE + 0x1000, 2);
	b->gsm[FIRST] = IN_RAM;
	assert_int_equal(engine_reads(b, ADDR, 0), 1);
	b->gsm[FIRST] = IN_RAM + 0x1000;
	assert_int_equal(engine_reads(b, ADDR, 0), 1);
	assert_true(hinted(b, "a GGTT entry was used that changed without INVALIDATE"));
	assert_int_equal(counter(b, AGATE_CNT_GGTT_STALE), 1);
	assert_int_equal(engine_reads(b, ADDR, 0), 1);
	assert_int_equal(counter(b, AGATE_CNT_GGTT_STALE), 2);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 1);
	wr(b, GPU_CMD, GPU_CMD_HARD_RESET);	/* nothing to the card */
	settle(b);
	assert_int_equal(engine_reads(b, ADDR, 0), 1);
	wr(b, GGTT_INVALIDATE, 0);
	assert_int_equal(count_events(b, AGATE_EV_GGTT_INVALIDATE), 1);
	assert_int_equal(rd(b, GGTT_INVALIDATE), 0);
	assert_int_equal(engine_reads(b, ADDR, 0), 2);
	assert_int_equal(counter(b, AGATE_CNT_GGTT_STALE), 3);
	/* Once more after the next change, which is another one. */
	b->gsm[FIRST] = IN_RAM;
	assert_int_equal(engine_reads(b, ADDR, 0), 2);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 2);
	/* The cache keeps an entry that failed, too. */
	engine_fails(b, ADDR + 0x1000, 0, AGATE_REASON_ENTRY);
	b->gsm[FIRST + 1] = IN_RAM;
	engine_fails(b, ADDR + 0x1000, 0, AGATE_REASON_ENTRY);
	wr(b, GGTT_INVALIDATE, 1);
	assert_int_equal(engine_reads(b, ADDR + 0x1000, 0), 1);
	bench_free(b);
}

static void test_a_loss_empties_the_cache(void **state)
{
	struct bench *b = set_up(false);

	(void)state;
	b->gsm[FIRST] = IN_VRAM;
	assert_int_equal(engine_reads(b, ADDR, 0), 0);
	ggtt_set_usable(b->sim, 0x1000);
	wr(b, AGATE_CARD_POWER, 0);
	wr(b, AGATE_CARD_POWER, 1);
	assert_int_equal(rd(b, GGTT_USABLE_START), 0);
	engine_fails(b, ADDR, 0x169, AGATE_REASON_ENTRY);
	assert_true(hinted(b, "a GGTT entry has reserved bits"));
	wr(b, GGTT_INVALIDATE, 1);
	b->gsm[FIRST] = IN_VRAM;
	assert_int_equal(engine_reads(b, ADDR, 0), 0xa5a5a5a5a5a5a5a5);
	bench_free(b);
}

/* ---- The usable range -------------------------------------------------------------- */

static void is_outside(struct bench *b, uint64_t addr)
{
	uint64_t value = 0, pa = 0;

	forget_events(b);
	assert_int_equal(ggtt_read(b->sim, addr, 0, &value, 8), AGATE_REASON_NONE);
	assert_int_not_equal(value, 0);
	assert_int_not_equal(value, 0x1234);
	assert_int_equal(ggtt_write(b->sim, addr, 0, &(uint64_t){ 0x5678 }, 8), AGATE_REASON_NONE);
	assert_int_equal(ggtt_translate(b->sim, addr, 0, GGTT_READ, &pa), AGATE_REASON_NONE);
	assert_true(pa == GGTT_OUTSIDE);
	assert_true(hinted(b, "an address outside the usable GGTT"));
	assert_int_equal(count_events(b, AGATE_EV_HINT), 2);	/* for the reads, and the write */
	assert_int_equal(get64(b, RAM_BASE), 0x1234);
}

static void test_the_usable_range(void **state)
{
	struct bench *b = set_up(false);
	unsigned int i, value;

	(void)state;
	for (i = 0; i < AGATE_GGTT_NUM_ENTRIES; i++)
		b->gsm[i] = IN_RAM;
	put64(b, RAM_BASE, 0x1234);
	assert_int_equal(rd(b, GGTT_ENTRIES), 65536);
	assert_int_equal(rd(b, GGTT_RESERVED_MAX), 0x00800000);
	assert_int_equal(rd(b, GGTT_USABLE_START), 0);
	assert_int_equal(rd(b, GGTT_USABLE_END), 0x0fe00000);
	assert_int_equal(engine_reads(b, ADDR, 0), 0x1234);
	assert_int_equal(engine_reads(b, 0x0fdff000, 0), 0x1234);
	no_hint(b);
	is_outside(b, 0);
	is_outside(b, ADDR - 0x1000);
	is_outside(b, 0x0fe00000);
	is_outside(b, 0x0ffff000);
	is_outside(b, 0x10000000 + ADDR);	/* no entry at all */
	is_outside(b, 0x100000000000 + ADDR);
	/* The firmware needs less than the most. */
	ggtt_set_usable(b->sim, 0x20000);
	assert_int_equal(rd(b, GGTT_USABLE_START), 0x20000);
	forget_events(b);
	assert_int_equal(engine_reads(b, 0x20000, 0), 0x1234);
	no_hint(b);
	is_outside(b, 0x1f000);
	ggtt_set_usable(b->sim, 0);
	is_outside(b, 0x30000);
	/* A run of pages is one mistake. */
	forget_events(b);
	for (i = 0; i < 8; i++)
		ggtt_write(b->sim, 0x0ff00000 + 0x1000 * i, 0, &i, 4);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 1);
	/* So are two, one to read and one to write, by turns. */
	forget_events(b);
	for (i = 0; i < 8; i++) {
		ggtt_write(b->sim, 0x0ff40000 + 0x1000 * i, 0, &i, 4);
		ggtt_read(b->sim, 0x0ff80000 + 0x1000 * i, 0, &value, 4);
	}
	assert_int_equal(count_events(b, AGATE_EV_HINT), 2);
	bench_free(b);
}

/* The seed decides about noise, and two reads differ. */
static void test_noise(void **state)
{
	struct bench *b = set_up(false), *again = set_up(false);
	uint8_t first[64], second[64], repeated[64];

	(void)state;
	ggtt_noise(b->sim, first, sizeof(first));
	ggtt_noise(b->sim, second, sizeof(second));
	ggtt_noise(again->sim, repeated, sizeof(repeated));
	assert_memory_equal(first, repeated, sizeof(first));
	assert_memory_not_equal(first, second, sizeof(first));
	bench_free(again);
	bench_free(b);
}

/* ---- Groups of 64 KiB ---------------------------------------------------------------- */

static void put_group(struct bench *b, uint64_t base)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		b->gsm[FIRST + i] = IN_VRAM | (base + 0x1000 * i);
	wr(b, GGTT_INVALIDATE, 1);
}

static void test_groups(void **state)
{
	struct bench *b = set_up(true);

	(void)state;
	put_group(b, 0x10000);
	assert_int_equal(phys_write(b->sim, AGATE_PHYS_VRAM + 0x17000, &(uint64_t){ 9 }, 8), 0);
	assert_int_equal(engine_reads(b, ADDR + 0x7000, 0), 9);
	put_group(b, 0x11000);		/* not aligned */
	engine_fails(b, ADDR, 0, AGATE_REASON_GROUP);
	put_group(b, 0x10000);
	b->gsm[FIRST + 15] = IN_VRAM | 0x2f000;	/* not consecutive */
	engine_fails(b, ADDR, 0, AGATE_REASON_GROUP);
	put_group(b, 0x10000);
	b->gsm[FIRST + 3] &= ~AGATE_GGTT_PRESENT;
	engine_fails(b, ADDR + 0x8000, 0, AGATE_REASON_GROUP);
	put_group(b, 0x10000);
	b->gsm[FIRST + 15] &= ~AGATE_GGTT_VRAM;
	engine_fails(b, ADDR, 0, AGATE_REASON_GROUP);
	/* System memory is used page by page, in the same group, too. */
	b->gsm[FIRST + 1] = IN_RAM;
	wr(b, GGTT_INVALIDATE, 1);
	assert_int_equal(engine_reads(b, ADDR + 0x1000, 0), 0);
	no_hint(b);
	/* All of the group is used, so all of it can be stale. */
	put_group(b, 0x10000);
	assert_int_equal(engine_reads(b, ADDR, 0), 0);
	b->gsm[FIRST + 15] = 0;
	assert_int_equal(engine_reads(b, ADDR, 0), 0);
	assert_true(hinted(b, "changed without INVALIDATE"));
	/* It is one use, however many entries it needs, and how often. */
	assert_int_equal(counter(b, AGATE_CNT_GGTT_STALE), 1);
	b->gsm[FIRST] = 0;
	assert_int_equal(engine_reads(b, ADDR, 0), 0);
	assert_int_equal(counter(b, AGATE_CNT_GGTT_STALE), 2);
	bench_free(b);
}

static void test_no_groups(void **state)
{
	struct bench *b = set_up(false);

	(void)state;
	b->gsm[FIRST] = IN_VRAM | 0x11000;
	assert_int_equal(engine_reads(b, ADDR, 0), 0);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_engine_reaches_memory),
		cmocka_unit_test(test_entries_that_fail),
		cmocka_unit_test(test_vfs),
		cmocka_unit_test(test_nobody_answers),
		cmocka_unit_test(test_only_invalidate_empties_the_cache),
		cmocka_unit_test(test_a_loss_empties_the_cache),
		cmocka_unit_test(test_the_usable_range),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_no_groups),
	};

	return cmocka_run_group_tests_name("sim-ggtt", tests, NULL, NULL);
}
