// SPDX-License-Identifier: MIT
/*
 * Every register: its value after creation and after a reset, and whether it
 * can be written.  Values are worked out from hardware.md, not from the model.
 */
#include "gpu_bench.h"

enum kind {
	RO,		/* a write changes nothing and is reported */
	RW,		/* keeps all 32 bits */
	WO,		/* reads 0 */
};

struct reg {
	uint32_t offset;
	enum kind kind;
	uint32_t value;
};

static const struct reg regs[] = {
	{ 0x000, RO, 0x0a860010 },	/* GPU_ID: product 0x0a86, r0p1 */
	{ 0x004, RO, 0x07130206 },	/* L2: 128-bit bus, 512 KiB, 4 ways, 64-byte lines */
	{ 0x008, RO, 0 },
	{ 0x00c, RO, 0x809 },
	{ 0x010, RO, 1 },		/* one coherent core group */
	{ 0x014, RO, 0x2830 },		/* 40 bits physical, 48 virtual */
	{ 0x018, RO, 0xff },		/* 8 address spaces */
	{ 0x01c, RO, 0x7 },		/* 3 slots */
	{ 0x030, WO, 0 }, { 0x034, RO, 0 }, { 0x038, RO, 0 }, { 0x03c, RO, 0 },
	{ 0x040, RO, 0 }, { 0x044, RO, 0 }, { 0x04c, RO, 0 },
	{ 0x050, WO, 0 },
	{ 0x064, RW, 0 }, { 0x068, RW, 0 }, { 0x06c, RW, 0 }, { 0x070, RW, 0 },
	{ 0x074, RW, 0 }, { 0x07c, RW, 0 },
	{ 0x0a0, RO, 256 }, { 0x0a4, RO, 256 }, { 0x0a8, RO, 256 }, { 0x0ac, RO, 0x0a040400 },
	{ 0x0b0, RO, 0 }, { 0x0b4, RO, 0 }, { 0x0b8, RO, 0 }, { 0x0bc, RO, 0 },
	/* JS_FEATURES: NULL is bit 1, WRITE_VALUE 2, CACHE_FLUSH 3, COMPUTE 4, TILER 7, FRAGMENT 9 */
	{ 0x0c0, RO, 0x20e }, { 0x0c4, RO, 0x09e }, { 0x0c8, RO, 0x01e },
	{ 0x0cc, RO, 0 }, { 0x0fc, RO, 0 },
	{ 0x100, RO, 0xf }, { 0x104, RO, 0 }, { 0x110, RO, 1 }, { 0x114, RO, 0 },
	{ 0x120, RO, 1 }, { 0x124, RO, 0 }, { 0xe00, RO, 0 }, { 0xe04, RO, 0 },
	{ 0x140, RO, 0 }, { 0x144, RO, 0 }, { 0x150, RO, 0 }, { 0x154, RO, 0 },
	{ 0x160, RO, 0 }, { 0x164, RO, 0 }, { 0xe10, RO, 0 }, { 0xe14, RO, 0 },
	{ 0x200, RO, 0 }, { 0x204, RO, 0 }, { 0x210, RO, 0 }, { 0x214, RO, 0 },
	{ 0x220, RO, 0 }, { 0x224, RO, 0 },
	{ 0x240, RO, 0 }, { 0x244, RO, 0 }, { 0x250, RO, 0 }, { 0x254, RO, 0 },
	{ 0x260, RO, 0 }, { 0x264, RO, 0 },
	{ 0x300, RO, 3 },		/* ACE-Lite and ACE */
	{ 0x310, RO, 0 },
	{ 0xf00, RW, 0 }, { 0xf04, RW, 0 }, { 0xf08, RW, 0 }, { 0xf0c, RW, 0 },
	{ 0x1000, RO, 0 }, { 0x100c, RO, 0 }, { 0x1010, RO, 0 }, { 0x1014, RW, 0 },
	{ 0x2000, RO, 0 }, { 0x200c, RO, 0 },
	{ 0x900c, RO, 4 },		/* operating points: how many, MHz and mV of each */
	{ 0x9010, RO, 200 }, { 0x9014, RO, 650 }, { 0x9018, RO, 400 }, { 0x901c, RO, 750 },
	{ 0x9020, RO, 600 }, { 0x9024, RO, 850 }, { 0x9028, RO, 800 }, { 0x902c, RO, 1000 },
	{ 0x8000, RO, 0 }, { 0x8004, RO, 0 }, { 0x8068, RO, 0 },
	{ 0x8800, RW, 0 }, { 0x8804, RW, 0 }, { 0x8810, RW, 0 }, { 0x8824, RW, 0 },
};

static const struct reg slot_regs[] = {
	{ 0x00, RO, 0 }, { 0x04, RO, 0 }, { 0x08, RO, 0 }, { 0x0c, RO, 0 },
	{ 0x10, RO, 0 }, { 0x14, RO, 0 }, { 0x18, RO, 0 }, { 0x1c, RW, 0 },
	{ 0x24, RO, 0 }, { 0x40, RW, 0 }, { 0x44, RW, 0 }, { 0x50, RW, 0 },
	{ 0x54, RW, 0 }, { 0x58, RW, 0 }, { 0x70, RW, 0 },
};

static const struct reg as_regs[] = {
	{ 0x00, RW, 0 }, { 0x04, RW, 0 }, { 0x08, RW, 0 }, { 0x0c, RW, 0 },
	{ 0x10, RW, 0 }, { 0x14, RW, 0 }, { 0x1c, RO, 0 }, { 0x20, RO, 0 },
	{ 0x24, RO, 0 }, { 0x28, RO, 0 }, { 0x30, RW, 0 }, { 0x34, RW, 0 },
	{ 0x38, RO, 0 }, { 0x3c, RO, 0 },
};

#define LENGTH(a)	(sizeof(a) / sizeof((a)[0]))

/* 3 slots and 8 address spaces: every register of the table, in each. */
static size_t all_regs(struct reg *all)
{
	size_t n = 0, i;
	unsigned int k;

	for (i = 0; i < LENGTH(regs); i++)
		all[n++] = regs[i];
	for (k = 0; k < 3; k++)
		for (i = 0; i < LENGTH(slot_regs); i++) {
			all[n] = slot_regs[i];
			all[n++].offset += 0x1800 + k * 0x80;
		}
	for (k = 0; k < 8; k++)
		for (i = 0; i < LENGTH(as_regs); i++) {
			all[n] = as_regs[i];
			all[n++].offset += 0x2400 + k * 0x40;
		}
	return n;
}

static struct reg all[512];

static void check_values(struct bench *b)
{
	size_t n = all_regs(all), i;

	for (i = 0; i < n; i++)
		if (rd(b, all[i].offset) != all[i].value && all[i].offset < 0x8000)
			fail_msg("register 0x%x reads 0x%x, not 0x%x", all[i].offset,
				 rd(b, all[i].offset), all[i].value);
}

static void test_values_after_creation(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	check_values(b);
	assert_int_equal(rd(b, GPU_INT_MASK), 0);
	assert_int_equal(rd(b, GPU_COHERENCY_ENABLE), 31);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_access_kinds(void **state)
{
	struct bench *b = bench_new();
	size_t n = all_regs(all), i;

	(void)state;
	for (i = 0; i < n; i++) {
		uint32_t before = rd(b, all[i].offset);

		if (all[i].kind == WO)
			continue;
		forget_events(b);
		wr(b, all[i].offset, 0xa5c35a3c);
		if (all[i].kind == RW) {
			assert_int_equal(rd(b, all[i].offset), 0xa5c35a3c);
			assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
		} else if (all[i].offset < 0x8000) {
			/* (reading a counter may change it: see test_counters) */
			assert_int_equal(rd(b, all[i].offset), before);
		}
		if (all[i].kind == RO && !hinted(b, "read-only") && !hinted(b, "not written"))
			fail_msg("writing 0x%x went unnoticed", all[i].offset);
	}
	bench_free(b);
}

static void test_reset_loses_everything_else(void **state)
{
	struct bench *b = bench_ready();
	size_t n = all_regs(all), i;

	(void)state;
	for (i = 0; i < n; i++)
		if (all[i].kind == RW)
			wr(b, all[i].offset, 0xffffffff);
	wr(b, GPU_INT_MASK, 0xffffffff);
	wr(b, GPU_CMD, GPU_CMD_CYCLE_COUNT_START);
	wr(b, GPU_CMD, GPU_CMD_HARD_RESET);
	poll_reg(b, GPU_INT_RAWSTAT, 0x100, 0x100);
	check_values(b);
	assert_int_equal(rd(b, GPU_INT_RAWSTAT), 0x100);
	assert_int_equal(rd(b, GPU_INT_MASK), 0);
	assert_int_equal(rd(b, JOB_INT_MASK), 0);
	assert_int_equal(rd(b, MMU_INT_MASK), 0);
	bench_free(b);
}

static void test_masks_keep_only_bits_that_exist(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_INT_MASK, 0xffffffff);
	wr(b, JOB_INT_MASK, 0xffffffff);
	wr(b, MMU_INT_MASK, 0xffffffff);
	assert_int_equal(rd(b, GPU_INT_MASK), 0x00030781);
	assert_int_equal(rd(b, JOB_INT_MASK), 0x00070007);
	assert_int_equal(rd(b, MMU_INT_MASK), 0x00ff00ff);
	bench_free(b);
}

static void test_holes_read_zero_and_are_reported(void **state)
{
	static const uint32_t holes[] = {
		0x048, 0x10c, 0x130, 0x170, 0x308, 0xffc, 0x1018, 0x1828, 0x1980, 0x2010,
		0x242c, 0x2600, 0x3000, 0x4024, 0x40d4, 0x5000, 0x7ffc, 0x80f8, 0x10000, 0xfffffffc,
		0x001, 0x022, 0x1801, 0x2403, 0x8002,
	};
	struct bench *b = bench_new();
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(holes); i++) {
		forget_events(b);
		assert_int_equal(rd(b, holes[i]), 0);
		assert_true(hinted(b, "unaligned or unknown"));
		forget_events(b);
		wr(b, holes[i], 0xffffffff);
		assert_true(hinted(b, "unaligned or unknown"));
	}
	bench_free(b);
}

static void test_gpu_id_can_be_chosen(void **state)
{
	struct agate_sim_config config = { .gpu = AGATE_SIM_MIDGARD, .gpu_id = 0x08602000 };
	struct bench *b = bench_new_with(&config);

	(void)state;
	assert_int_equal(rd(b, GPU_ID), 0x08602000);
	bench_reset(b);
	assert_int_equal(rd(b, GPU_ID), 0x08602000);
	bench_free(b);
}

static int no_read(void *ctx, uint64_t pa, void *buf, size_t len)
{
	(void)ctx, (void)pa, (void)buf, (void)len;
	return -1;
}

static int no_write(void *ctx, uint64_t pa, const void *buf, size_t len)
{
	(void)ctx, (void)pa, (void)buf, (void)len;
	return -1;
}

static void no_raise(void *ctx, unsigned int vector)
{
	(void)ctx, (void)vector;
}

static void test_senseless_configurations(void **state)
{
	static const struct agate_sim_host_ops ops = {
		.mem_read = no_read, .mem_write = no_write, .raise = no_raise,
	};
	struct agate_sim_host_ops no_ops = { 0 };
	struct agate_sim_config config = { .gpu = AGATE_SIM_MIDGARD };
	struct agate_sim *sim;

	(void)state;
	assert_null(agate_sim_create(&config, &no_ops, NULL));
	config.tlb_entries = 12;	/* not a power of two */
	assert_null(agate_sim_create(&config, &ops, NULL));
	config.tlb_entries = 2;		/* less than a set */
	assert_null(agate_sim_create(&config, &ops, NULL));
	config.tlb_entries = 0;
	config.vram_size = 4096;	/* and no VRAM */
	assert_null(agate_sim_create(&config, &ops, NULL));
	config.vram_size = 0;
	sim = agate_sim_create(&config, &ops, NULL);	/* nobody listens: fine */
	assert_non_null(sim);
	assert_int_equal(agate_sim_read32(sim, 0x7ffc), 0);
	agate_sim_destroy(sim);
	agate_sim_destroy(NULL);
}

static void test_time_is_one_cycle_an_access(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	assert_int_equal(agate_sim_time(b->sim), 0);
	rd(b, GPU_ID);
	wr(b, GPU_TILER_CONFIG, 1);
	rd(b, 0x7ffc);
	assert_int_equal(agate_sim_time(b->sim), 3);
	assert_int_equal(rd(b, GPU_TIMESTAMP_LO), 4);
	assert_int_equal(rd(b, GPU_TIMESTAMP_HI), 0);
	assert_false(agate_sim_step(b->sim, 100));
	assert_int_equal(agate_sim_time(b->sim), 5);
	bench_free(b);
}

static void test_cycle_count_runs_between_start_and_stop(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	rd(b, GPU_ID);
	assert_int_equal(rd(b, GPU_CYCLE_COUNT_LO), 0);
	wr(b, GPU_CMD, GPU_CMD_CYCLE_COUNT_START);
	assert_int_equal(rd(b, GPU_CYCLE_COUNT_LO), 1);
	assert_int_equal(rd(b, GPU_STATUS), 0x40);
	assert_int_equal(rd(b, GPU_CYCLE_COUNT_LO), 3);
	wr(b, GPU_CMD, GPU_CMD_CYCLE_COUNT_STOP);
	assert_int_equal(rd(b, GPU_CYCLE_COUNT_LO), 4);
	assert_int_equal(rd(b, GPU_CYCLE_COUNT_LO), 4);
	assert_int_equal(rd(b, GPU_STATUS), 0);
	wr(b, GPU_CMD, GPU_CMD_CYCLE_COUNT_START);
	assert_int_equal(rd(b, GPU_CYCLE_COUNT_LO), 5);
	bench_reset(b);
	assert_int_equal(rd(b, GPU_CYCLE_COUNT_LO), 0);
	bench_free(b);
}

static void test_power_override_wants_its_key(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_PWR_OVERRIDE1, 0x123);
	assert_int_equal(rd(b, GPU_PWR_OVERRIDE1), 0);
	assert_true(hinted(b, "without the key"));
	wr(b, GPU_PWR_KEY, GPU_PWR_KEY_UNLOCK);
	wr(b, GPU_PWR_OVERRIDE1, 0x123);
	assert_int_equal(rd(b, GPU_PWR_OVERRIDE1), 0x123);
	wr(b, GPU_PWR_OVERRIDE0, 0x456);	/* one write a key */
	assert_int_equal(rd(b, GPU_PWR_OVERRIDE0), 0);
	bench_free(b);
}

static void test_clean_caches_completes_and_counts(void **state)
{
	struct bench *b = bench_ready();
	uint32_t id = rd(b, GPU_LATEST_FLUSH_ID);

	(void)state;
	/* only flushes that invalidate are counted */
	wr(b, GPU_CMD, GPU_CMD_CLEAN_CACHES);
	assert_int_equal(last_event(b, AGATE_EV_FLUSH)->a, 7);
	assert_int_equal(rd(b, GPU_INT_RAWSTAT) & 0x20000, 0);
	wr(b, GPU_CMD, GPU_CMD_CLEAN_INV_CACHES);
	assert_true(hinted(b, "another is in progress"));
	poll_reg(b, GPU_INT_RAWSTAT, 0x20000, 0x20000);
	assert_int_equal(rd(b, GPU_LATEST_FLUSH_ID), id);
	wr(b, GPU_INT_CLEAR, 0x20000);
	wr(b, GPU_CMD, GPU_CMD_CLEAN_INV_CACHES);
	poll_reg(b, GPU_INT_RAWSTAT, 0x20000, 0x20000);
	assert_int_equal(rd(b, GPU_LATEST_FLUSH_ID), id + 1);
	bench_free(b);
}

static void test_unknown_gpu_command(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_CMD, GPU_CMD_NOP);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	wr(b, GPU_CMD, 99);
	assert_true(hinted(b, "unknown GPU_CMD"));
	bench_free(b);
}

static void test_counters_are_seen_by_the_guest_and_survive_reset(void **state)
{
	struct bench *b = bench_new();
	uint64_t hints;

	(void)state;
	rd(b, 0x7ffc);
	rd(b, 0x7ffc);
	hints = counter(b, AGATE_CNT_HINTS);
	assert_int_equal(hints, 2);
	assert_int_equal(rd64(b, AGATE_COUNTER_LO(AGATE_CNT_HINTS)), 2);
	wr(b, AGATE_COUNTER_LO(AGATE_CNT_HINTS), 0);
	assert_int_equal(rd64(b, AGATE_COUNTER_LO(AGATE_CNT_HINTS)), 3);	/* that one */
	wr(b, GPU_CMD, GPU_CMD_HARD_RESET);
	poll_reg(b, GPU_INT_RAWSTAT, 0x100, 0x100);
	assert_int_equal(rd64(b, AGATE_COUNTER_LO(AGATE_CNT_HINTS)), 3);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_after_creation),
		cmocka_unit_test(test_access_kinds),
		cmocka_unit_test(test_reset_loses_everything_else),
		cmocka_unit_test(test_masks_keep_only_bits_that_exist),
		cmocka_unit_test(test_holes_read_zero_and_are_reported),
		cmocka_unit_test(test_gpu_id_can_be_chosen),
		cmocka_unit_test(test_senseless_configurations),
		cmocka_unit_test(test_time_is_one_cycle_an_access),
		cmocka_unit_test(test_cycle_count_runs_between_start_and_stop),
		cmocka_unit_test(test_power_override_wants_its_key),
		cmocka_unit_test(test_clean_caches_completes_and_counts),
		cmocka_unit_test(test_unknown_gpu_command),
		cmocka_unit_test(test_counters_are_seen_by_the_guest_and_survive_reset),
	};

	return cmocka_run_group_tests_name("sim-regs", tests, NULL, NULL);
}
