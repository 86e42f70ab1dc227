// SPDX-License-Identifier: MIT
/*
 * Around the L2: lost lines, flushes by a chain, accesses that bypass it, and
 * protected mode.
 */
#include "l2_bench.h"

/* ---- What is lost ------------------------------------------------------------------ */

static void power_off(struct bench *b)
{
	wr(b, GPU_SHADER_PWROFF_LO, 0xf);
	wr(b, GPU_TILER_PWROFF_LO, 1);
	poll_reg(b, GPU_SHADER_PWRTRANS_LO, 0xf, 0);
	poll_reg(b, GPU_TILER_PWRTRANS_LO, 1, 0);
	wr(b, GPU_L2_PWROFF_LO, 1);
	poll_reg(b, GPU_L2_PWRTRANS_LO, 1, 0);
}

static void test_power_off_loses_dirty_lines(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_ACE_LITE);

	(void)state;
	store(b, OUT, MARKER, 0);
	power_off(b);
	assert_true(hinted(b, "the L2 was powered off with dirty lines"));
	/* the one that was written, and the header's */
	assert_int_equal(counter(b, AGATE_CNT_DIRTY_LOST), 2);
	bench_power_on(b);
	gpu_command(b, GPU_CMD_CLEAN_CACHES);
	assert_int_equal(get64(b, PA + OUT), 0);
	assert_int_equal(load(b, VA + OUT), 0);
	bench_free(b);
}

static void test_power_off_after_a_clean(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);

	(void)state;
	store(b, OUT, MARKER, 0);
	gpu_command(b, GPU_CMD_CLEAN_CACHES);
	power_off(b);
	assert_int_equal(counter(b, AGATE_CNT_DIRTY_LOST), 0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	/* and it comes back empty */
	put64(b, PA + OUT, OTHER);
	bench_power_on(b);
	assert_int_equal(load(b, VA + OUT), OTHER);
	bench_free(b);
}

static void test_a_reset_loses_dirty_lines(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);

	(void)state;
	store(b, OUT, MARKER, CLEAN);
	bench_reset(b);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);

	b = ready(AGATE_SIM_COHERENCY_NONE);
	store(b, OUT, MARKER, 0);
	bench_reset(b);
	assert_true(hinted(b, "a reset lost dirty lines of the L2"));
	assert_false(hinted(b, "a reset killed a chain"));
	assert_int_equal(counter(b, AGATE_CNT_DIRTY_LOST), 2);
	assert_int_equal(get64(b, PA + OUT), 0);
	bench_free(b);
}

/* ---- CACHE_FLUSH --------------------------------------------------------------------- */

static void put_cache_flush(struct bench *b, uint32_t caches, uint32_t l2)
{
	put_job(b, 0x40, AGATE_JOB_CACHE_FLUSH, 0);
	put64(b, PA + 0x60, caches | (uint64_t)l2 << 32);
}

static uint32_t cache_flush(struct bench *b, unsigned int slot, uint32_t caches, uint32_t l2)
{
	put_cache_flush(b, caches, l2);
	start_job(b, slot, VA + 0x40, 0);
	settle(b);
	rd(b, JOB_INT_RAWSTAT);
	wr(b, JOB_INT_CLEAR, 0x10001u << slot);
	return rd(b, JS_STATUS(slot));
}

static void test_cache_flush_cleans(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);
	uint32_t id = rd(b, GPU_LATEST_FLUSH_ID);

	(void)state;
	store(b, OUT, MARKER, 0);
	assert_int_equal(cache_flush(b, 2, 0x03030007, 1), AGATE_EXC_DONE);
	assert_int_equal(get64(b, PA + OUT), MARKER);
	assert_int_equal(rd(b, GPU_LATEST_FLUSH_ID), id);
	/* its own end is not in memory: the flush was before */
	assert_int_equal(job_status(b, 0x40), 0);
	bench_free(b);
}

static void test_cache_flush_invalidates(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);
	uint32_t id = rd(b, GPU_LATEST_FLUSH_ID);

	(void)state;
	store(b, OUT, MARKER, 0);
	assert_int_equal(cache_flush(b, 1, 0, 3), AGATE_EXC_DONE);
	assert_int_equal(get64(b, PA + OUT), MARKER);
	assert_int_equal(rd(b, GPU_LATEST_FLUSH_ID), id + 1);
	put64(b, PA + OUT, OTHER);
	assert_int_equal(load(b, VA + OUT), OTHER);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_cache_flush_can_lose(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);

	(void)state;
	store(b, OUT, MARKER, 0);
	assert_int_equal(cache_flush(b, 0, 0, 2), AGATE_EXC_DONE);
	assert_true(hinted(b, "dirty lines of the L2 were invalidated without a clean"));
	assert_int_equal(counter(b, AGATE_CNT_DIRTY_LOST), 2);
	gpu_command(b, GPU_CMD_CLEAN_CACHES);
	assert_int_equal(get64(b, PA + OUT), 0);
	bench_free(b);
}

static void test_cache_flush_of_what_there_is_not(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_ACE);

	(void)state;
	assert_int_equal(cache_flush(b, 0, 0, 0), AGATE_EXC_DONE);
	assert_int_equal(cache_flush(b, 0, 8, 0), AGATE_EXC_DATA_INVALID_FAULT);
	assert_int_equal(get64(b, PA + 0x48), VA + 0x60);
	assert_int_equal(cache_flush(b, 0, 0, 4), AGATE_EXC_DATA_INVALID_FAULT);
	assert_int_equal(cache_flush(b, 0, 0x04000000, 0), AGATE_EXC_DATA_INVALID_FAULT);
	bench_free(b);
}

/* ---- Memory that is not cached --------------------------------------------------------- */

static void test_attribute_nc_goes_past_it(void **state)
{
	struct agate_sim_config config = {
		.gpu = AGATE_SIM_BIFROST, .seed = 1, .coherency = AGATE_SIM_COHERENCY_NONE,
	};
	struct bench *b = bench_ready_with(&config);

	(void)state;
	/* 0x80806[01]0000: pages of attribute 0, and page 1 of attribute 5 */
	put64(b, TABLE_L3, 0x40010443);
	put64(b, TABLE_L3 + 8, 0x40011457);
	as_set_aarch64(b, 0, TABLE_L0, AS_TRANSCFG_MODE_AARCH64_4K);
	put_write_value(b, 0, VA + 0x40, AGATE_WRITE_IMMEDIATE_64, VA + OUT, MARKER);
	put_write_value(b, 0x40, 0, AGATE_WRITE_IMMEDIATE_64, VA + 0x1000 + OUT, MARKER);
	run(b, 0);
	assert_int_equal(get64(b, PA + OUT), 0);
	assert_int_equal(get64(b, PA + 0x1000 + OUT), MARKER);
	put64(b, PA + 0x1000 + OUT, OTHER);
	assert_int_equal(load(b, VA + 0x1000 + OUT), OTHER);
	bench_free(b);
}

static void test_walks_can_go_past_it(void **state)
{
	struct agate_sim_config config = {
		.gpu = AGATE_SIM_BIFROST, .seed = 1, .coherency = AGATE_SIM_COHERENCY_NONE,
	};
	struct bench *b = bench_ready_with(&config);

	(void)state;
	put64(b, TABLE_L3, 0x40010443);
	as_set_aarch64(b, 0, TABLE_L0,
		       AS_TRANSCFG_MODE_AARCH64_4K | AS_TRANSCFG_PTW_MEMATTR_NC);
	store(b, OUT, MARKER, EDGES);
	put64(b, TABLE_L3 + 8, 0x40011443);
	assert_int_equal(load(b, VA + 0x1000), 0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

/* ---- Protected mode ------------------------------------------------------------------------ */

static void test_protected_mode(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_ACE_LITE);

	(void)state;
	assert_int_equal(rd(b, GPU_STATUS), 0);
	wr(b, GPU_CMD, GPU_CMD_SET_PROTECTED_MODE);
	assert_int_equal(rd(b, GPU_STATUS), 0x80);
	store(b, OUT, MARKER, CLEAN);
	assert_int_equal(get64(b, PA + OUT), MARKER);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_reset(b);
	assert_int_equal(rd(b, GPU_STATUS), 0);
	bench_free(b);
}

static void test_protected_mode_with_ace(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_ACE);

	(void)state;
	wr(b, GPU_CMD, GPU_CMD_SET_PROTECTED_MODE);
	assert_true(hinted(b, "protected mode with ACE"));
	assert_int_equal(rd(b, GPU_STATUS), 0x80);
	bench_free(b);

	/* the other way round: the L2 comes up with ACE in protected mode */
	b = bench_new();
	wr(b, GPU_CMD, GPU_CMD_SET_PROTECTED_MODE);
	wr(b, GPU_COHERENCY_ENABLE, GPU_COHERENCY_ACE);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	wr(b, GPU_L2_PWRON_LO, 1);
	poll_reg(b, GPU_L2_READY_LO, 1, 1);
	assert_true(hinted(b, "protected mode with ACE"));
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_power_off_loses_dirty_lines),
		cmocka_unit_test(test_power_off_after_a_clean),
		cmocka_unit_test(test_a_reset_loses_dirty_lines),
		cmocka_unit_test(test_cache_flush_cleans),
		cmocka_unit_test(test_cache_flush_invalidates),
		cmocka_unit_test(test_cache_flush_can_lose),
		cmocka_unit_test(test_cache_flush_of_what_there_is_not),
		cmocka_unit_test(test_attribute_nc_goes_past_it),
		cmocka_unit_test(test_walks_can_go_past_it),
		cmocka_unit_test(test_protected_mode),
		cmocka_unit_test(test_protected_mode_with_ace),
	};

	return cmocka_run_group_tests_name("sim-l2_edges", tests, NULL, NULL);
}
