// SPDX-License-Identifier: MIT
/*
 * The L2 under each protocol: which writes become visible to whom, and when; and
 * its lines.
 */
#include "l2_bench.h"

#include <string.h>

/* ---- COHERENCY_ENABLE ------------------------------------------------------ */

static void test_none_is_what_a_reset_leaves(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	assert_int_equal(rd(b, GPU_COHERENCY_ENABLE), 31);
	wr(b, GPU_COHERENCY_ENABLE, GPU_COHERENCY_ACE_LITE);
	assert_int_equal(rd(b, GPU_COHERENCY_ENABLE), 0);
	wr(b, GPU_COHERENCY_ENABLE, GPU_COHERENCY_ACE);
	assert_int_equal(rd(b, GPU_COHERENCY_ENABLE), 1);
	bench_reset(b);
	assert_int_equal(rd(b, GPU_COHERENCY_ENABLE), 31);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void offers(enum agate_sim_coherency coherency, uint32_t features, uint32_t refused)
{
	struct agate_sim_config config = { .coherency = coherency };
	struct bench *b = bench_new_with(&config);

	assert_int_equal(rd(b, GPU_COHERENCY_FEATURES), features);
	wr(b, GPU_COHERENCY_ENABLE, GPU_COHERENCY_NONE);
	assert_false(hinted(b, "that the GPU does not have"));
	wr(b, GPU_COHERENCY_ENABLE, refused);
	assert_true(hinted(b, "that the GPU does not have"));
	assert_int_equal(rd(b, GPU_COHERENCY_ENABLE), 31);
	bench_free(b);
}

static void test_only_what_is_offered(void **state)
{
	(void)state;
	offers(AGATE_SIM_COHERENCY_ACE, 3, 2);
	offers(AGATE_SIM_COHERENCY_ACE_LITE, 1, GPU_COHERENCY_ACE);
	offers(AGATE_SIM_COHERENCY_NONE, 0, GPU_COHERENCY_ACE_LITE);
}

static void test_a_protocol_begins_with_the_power(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	wr(b, GPU_COHERENCY_ENABLE, GPU_COHERENCY_ACE);	/* as it is */
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	wr(b, GPU_COHERENCY_ENABLE, GPU_COHERENCY_NONE);
	assert_true(hinted(b, "COHERENCY_ENABLE was changed while the L2 is on"));
	/* still ACE */
	store(b, OUT, MARKER, 0);
	assert_int_equal(get64(b, PA + OUT), MARKER);
	wr(b, GPU_SHADER_PWROFF_LO, 0xf);
	wr(b, GPU_TILER_PWROFF_LO, 1);
	poll_reg(b, GPU_SHADER_PWRTRANS_LO, 0xf, 0);
	poll_reg(b, GPU_TILER_PWRTRANS_LO, 1, 0);
	wr(b, GPU_L2_PWROFF_LO, 1);
	poll_reg(b, GPU_L2_PWRTRANS_LO, 1, 0);
	wr(b, GPU_L2_PWRON_LO, 1);
	poll_reg(b, GPU_L2_READY_LO, 1, 1);
	wr(b, GPU_SHADER_PWRON_LO, 0xf);
	poll_reg(b, GPU_SHADER_READY_LO, 0xf, 0xf);
	/* now NONE */
	store(b, OUT, OTHER, 0);
	assert_int_equal(get64(b, PA + OUT), MARKER);
	bench_free(b);
}

static void test_sizes(void **state)
{
	static const uint32_t wrong[] = { 64, 2048, 5000, 12288, 8u << 20 };
	struct agate_sim_config config = { .l2_size = 4096 };
	struct bench *b = bench_new_with(&config);
	unsigned int i;

	(void)state;
	assert_int_equal(rd(b, GPU_L2_FEATURES), 0x070c0206);
	bench_free(b);
	config.l2_size = 4u << 20;
	b = bench_new_with(&config);
	assert_int_equal(rd(b, GPU_L2_FEATURES), 0x07160206);
	bench_free(b);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		config.l2_size = wrong[i];
		assert_false(bench_can_be(&config));
	}
	config.l2_size = 4096;
	config.coherency = AGATE_SIM_COHERENCY_NONE + 1;
	assert_false(bench_can_be(&config));
}

/* ---- ACE --------------------------------------------------------------------- */

static void test_ace_hides_nothing(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_ACE);

	(void)state;
	store(b, OUT, MARKER, 0);
	assert_int_equal(get64(b, PA + OUT), MARKER);
	assert_int_equal(job_status(b, 0), AGATE_EXC_DONE);
	put64(b, PA + OUT, OTHER);
	assert_int_equal(load(b, VA + OUT), OTHER);
	bench_reset(b);
	assert_int_equal(counter(b, AGATE_CNT_DIRTY_LOST), 0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

/* ---- ACE-Lite ------------------------------------------------------------------ */

static void test_ace_lite_keeps_what_the_gpu_writes(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_ACE_LITE);

	(void)state;
	store(b, OUT, MARKER, 0);
	assert_int_equal(get64(b, PA + OUT), 0);
	assert_int_equal(job_status(b, 0), 0);
	assert_int_equal(load(b, VA + OUT), MARKER);
	gpu_command(b, GPU_CMD_CLEAN_CACHES);
	assert_int_equal(get64(b, PA + OUT), MARKER);
	assert_int_equal(job_status(b, 0), AGATE_EXC_DONE);
	/* a clean line does not hide a CPU's writes */
	put64(b, PA + OUT, OTHER);
	assert_int_equal(load(b, VA + OUT), OTHER);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_ace_lite_snoops_the_cpus(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_ACE_LITE);

	(void)state;
	store(b, OUT, MARKER, CLEAN);
	/* another payload, without any flush at the start */
	store(b, OUT + 8, OTHER, CLEAN);
	assert_int_equal(get64(b, PA + OUT), MARKER);
	assert_int_equal(get64(b, PA + OUT + 8), OTHER);
	assert_int_equal(counter(b, AGATE_CNT_STALE_LINES), 0);
	bench_free(b);
}

static void test_ace_lite_walks_see_the_tables(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_ACE_LITE);

	(void)state;
	store(b, OUT, MARKER, CLEAN);
	/* the seventeenth page, in a line of the table that walks have read */
	put64(b, TABLE_L3 + 8 * 16, 0x400580c1);
	store(b, 0x10000, MARKER, CLEAN);
	assert_int_equal(get64(b, 0x40058000), MARKER);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

/* ---- None ------------------------------------------------------------------------ */

static void test_none_reads_stale_lines(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);

	(void)state;
	store(b, OUT, MARKER, CLEAN);
	assert_int_equal(get64(b, PA + OUT), MARKER);
	assert_int_equal(counter(b, AGATE_CNT_STALE_LINES), 0);
	/* a new payload, and the GPU has the old one */
	store(b, OUT + 8, OTHER, CLEAN);
	assert_int_equal(get64(b, PA + OUT + 8), 0);
	assert_true(hinted(b, "a stale line of the L2 was read"));
	assert_true(counter(b, AGATE_CNT_STALE_LINES) > 0);
	/* a clean does not invalidate */
	gpu_command(b, GPU_CMD_CLEAN_CACHES);
	store(b, OUT + 8, OTHER, CLEAN);
	assert_int_equal(get64(b, PA + OUT + 8), 0);
	gpu_command(b, GPU_CMD_CLEAN_INV_CACHES);
	store(b, OUT + 8, OTHER, CLEAN);
	assert_int_equal(get64(b, PA + OUT + 8), OTHER);
	bench_free(b);
}

static void test_a_stale_line_is_told_once(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);

	(void)state;
	store(b, OUT, MARKER, CLEAN);
	store(b, OUT + 8, OTHER, CLEAN);
	assert_true(counter(b, AGATE_CNT_STALE_LINES) > 0);
	forget_events(b);
	store(b, OUT + 16, OTHER, CLEAN);
	assert_false(hinted(b, "stale line"));
	/* bytes that are the same are not stale, whoever wrote them */
	gpu_command(b, GPU_CMD_CLEAN_INV_CACHES);
	store(b, OUT, MARKER, CLEAN | JS_CONFIG_DISABLE_DESCRIPTOR_WR_BK);
	forget_events(b);
	store(b, OUT, MARKER, CLEAN | JS_CONFIG_DISABLE_DESCRIPTOR_WR_BK);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_job_edges_are_enough(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		store(b, OUT + 8 * i, MARKER + i, EDGES);
		assert_int_equal(get64(b, PA + OUT + 8 * i), MARKER + i);
		assert_int_equal(job_status(b, 0), AGATE_EXC_DONE);
	}
	assert_int_equal(counter(b, AGATE_CNT_STALE_LINES), 0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_an_edge_that_is_missing(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);

	(void)state;
	/* without a clean at the end, nothing reaches memory */
	store(b, OUT, MARKER, JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE);
	assert_int_equal(get64(b, PA + OUT), 0);
	/* a clean at the start writes the remaining bytes, but does not fetch the new payload */
	store(b, OUT + 8, OTHER, JS_CONFIG_START_FLUSH_CLEAN | CLEAN);
	assert_int_equal(get64(b, PA + OUT), MARKER);
	assert_int_equal(get64(b, PA + OUT + 8), 0);
	bench_free(b);
}

static void test_flush_reduction_believes_its_number(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);
	uint32_t id;

	(void)state;
	store(b, OUT, MARKER, CLEAN);
	id = rd(b, GPU_LATEST_FLUSH_ID);
	/* no flush has happened since, so this start flushes */
	wr(b, JS_FLUSH_ID_NEXT(0), id);
	store(b, OUT + 8, OTHER, EDGES | JS_CONFIG_ENABLE_FLUSH_REDUCTION);
	assert_int_equal(get64(b, PA + OUT + 8), OTHER);
	assert_int_equal(rd(b, GPU_LATEST_FLUSH_ID), id + 2);
	/* an ID from before the last flush allows the start to skip it ... */
	store(b, OUT + 16, OTHER, CLEAN);
	store(b, OUT + 24, OTHER,
	      JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE | CLEAN | JS_CONFIG_ENABLE_FLUSH_REDUCTION);
	/* ... which is wrong here, because the payload is newer than the flush */
	assert_int_equal(get64(b, PA + OUT + 24), 0);
	assert_true(hinted(b, "a stale line of the L2 was read"));
	bench_free(b);
}

static void test_a_page_table_in_a_stale_line(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);

	(void)state;
	store(b, OUT, MARKER, EDGES);
	/* entry 15 brings entries 8 to 15 into the L2; entry 16 comes later */
	put64(b, TABLE_L3 + 8 * 15, 0);
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_PT);
	store(b, 0xe000, MARKER, CLEAN);
	put64(b, TABLE_L3 + 8 * 15, 0x400580c1);
	gpu_command(b, GPU_CMD_CLEAN_CACHES);
	put_write_value(b, 0x40, 0, AGATE_WRITE_IMMEDIATE_64, VA + 0xf000, MARKER);
	start_job(b, 0, VA + 0x40, CLEAN);
	settle(b);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), 0xc3 | 3u << 8);
	assert_true(hinted(b, "a page table was read from a stale line of the L2"));
	assert_false(hinted(b, "a stale line of the L2 was read"));
	/* after a flush, the access finds the new entry */
	wr(b, MMU_INT_CLEAR, 1);
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_PT);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(get64(b, 0x40058000), MARKER);
	bench_free(b);
}

static void test_as_flushes_clean_and_invalidate(void **state)
{
	static const uint32_t commands[] = { AS_COMMAND_FLUSH_PT, AS_COMMAND_FLUSH_MEM };
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);

		store(b, OUT, MARKER, 0);
		wr64(b, AS_LOCKADDR_LO(0), LOCK_ALL);
		as_command(b, 0, AS_COMMAND_LOCK);
		assert_int_equal(get64(b, PA + OUT), 0);
		as_command(b, 0, commands[i]);
		assert_int_equal(get64(b, PA + OUT), MARKER);
		store(b, OUT + 8, OTHER, CLEAN);
		assert_int_equal(get64(b, PA + OUT + 8), OTHER);
		bench_free(b);
	}
}

static void test_update_does_not_flush(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);

	(void)state;
	store(b, OUT, MARKER, CLEAN);
	/* page 0 moves: UPDATE drops the TLB, but not the table's line */
	put64(b, TABLE_L3, 0x400580c1);
	memcpy(b->ram + 0x58000, b->ram + 0x10000, 0x1000);
	as_set_table(b, 0, TABLE_L0);
	run(b, CLEAN);
	assert_true(hinted(b, "a page table was read from a stale line of the L2"));
	assert_int_equal(get64(b, 0x40058000 + OUT), MARKER);
	assert_int_equal(count_events(b, AGATE_EV_WALK) > 0, 1);
	assert_int_equal(last_event(b, AGATE_EV_WALK)->c, 0x400100c1);
	bench_free(b);
}

/* ---- Lines ------------------------------------------------------------------------ */

static void test_a_clean_leaves_neighbours_alone(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);

	(void)state;
	put64(b, PA + OUT, 0x0101010101010101);
	put64(b, PA + OUT + 8, 0x0202020202020202);
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_8, VA + OUT + 3, 0xee);
	run(b, 0);
	put_write_value(b, 0x40, 0, AGATE_WRITE_IMMEDIATE_16, VA + OUT + 10, 0xdddd);
	start_job(b, 0, VA + 0x40, 0);
	settle(b);
	/* a CPU writes next to them meanwhile */
	put64(b, PA + OUT, 0x0303030303030303);
	put64(b, PA + OUT + 8, 0x0404040404040404);
	put64(b, PA + OUT + 16, 0x0505050505050505);
	gpu_command(b, GPU_CMD_CLEAN_CACHES);
	assert_int_equal(get64(b, PA + OUT), 0x03030303ee030303);
	assert_int_equal(get64(b, PA + OUT + 8), 0x04040404dddd0404);
	assert_int_equal(get64(b, PA + OUT + 16), 0x0505050505050505);
	bench_free(b);
}

static void test_long_accesses_cross_lines(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);
	struct agate_exec x = { .sim = b->sim };
	uint8_t out[300], in[300];
	enum agate_run why;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(out); i++)
		out[i] = i * 7 + 1;
	assert_int_equal(agate_exec_write(&x, VA + 0xf95, out, sizeof(out), &why), 0);
	assert_int_equal(agate_exec_read(&x, VA + 0xf95, in, sizeof(in), &why), 0);
	assert_memory_equal(in, out, sizeof(out));
	for (i = 0; i < sizeof(out); i++)
		assert_int_equal(b->ram[0x10f95 + i], 0);
	gpu_command(b, GPU_CMD_CLEAN_CACHES);
	assert_memory_equal(b->ram + 0x10f95, out, sizeof(out));
	assert_int_equal(b->ram[0x10f94], 0);
	assert_int_equal(b->ram[0x10f95 + 300], 0);
	bench_free(b);
}

static void test_copies_go_through_it(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);
	struct agate_exec x = { .sim = b->sim };
	enum agate_run why;

	(void)state;
	put64(b, TABLE_L3 + 8 * 2, 0x100000c1);
	store(b, OUT, MARKER, 0);
	assert_int_equal(agate_exec_move(&x, VA + 0x1038, VA + OUT, 8, &why), 0);
	assert_int_equal(load(b, VA + 0x1038), MARKER);
	assert_int_equal(get64(b, PA + 0x1038), 0);
	gpu_command(b, GPU_CMD_CLEAN_CACHES);
	assert_int_equal(get64(b, PA + 0x1038), MARKER);
	/* no memory at one end, or at the other */
	assert_int_equal(agate_exec_move(&x, VA, VA + 0x2000, 8, &why), -1);
	assert_int_equal(why, AGATE_RUN_FAULT);
	assert_int_equal(agate_exec_move(&x, VA + 0x2000, VA, 8, &why), -1);
	assert_int_equal(why, AGATE_RUN_FAULT);
	bench_free(b);
}

static void test_vram_goes_through_it(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);

	(void)state;
	put64(b, TABLE_L3 + 8 * 1, 0x80000010c1);
	store(b, 0x1008, MARKER, JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE);
	assert_int_equal(get64(b, 0x8000001008), 0);
	gpu_command(b, GPU_CMD_CLEAN_CACHES);
	assert_int_equal(get64(b, 0x8000001008), MARKER);
	bench_free(b);
}

/* Lines of VRAM, dirty in all four ways of a set, on a card that has lost its power. */
static struct bench *ready_with_lost_lines(void)
{
	const struct agate_sim_config config = {
		.seed = 1, .card = true, .coherency = AGATE_SIM_COHERENCY_NONE, .l2_size = 4096,
	};
	struct bench *b = bench_ready_with(&config);
	struct agate_exec x = { .sim = b->sim };
	uint64_t value = MARKER;
	enum agate_run why;
	unsigned int i;

	put64(b, TABLE_L3 + 8 * 1, 0x80000010c1);
	for (i = 0; i < 4; i++)
		assert_int_equal(agate_exec_write(&x, VA + 0x1100 + i * 1024, &value, 8, &why), 0);
	wr(b, AGATE_CARD_POWER, 0);
	assert_int_equal(counter(b, AGATE_CNT_DIRTY_LOST), 0);
	forget_events(b);
	return b;
}

static void test_vram_loses_its_power(void **state)
{
	struct bench *b = ready_with_lost_lines();
	struct agate_exec x = { .sim = b->sim };
	uint64_t value = MARKER;
	enum agate_run why;

	(void)state;
	gpu_command(b, GPU_CMD_CLEAN_CACHES);
	assert_int_equal(counter(b, AGATE_CNT_DIRTY_LOST), 4);
	assert_true(hinted(b, "dirty lines of VRAM were cleaned without its power"));
	assert_int_equal(count_events(b, AGATE_EV_HINT), 1);
	bench_free(b);

	/* One makes room for another. */
	b = ready_with_lost_lines();
	x.sim = b->sim;
	assert_int_equal(agate_exec_write(&x, VA + 0x2100, &value, 8, &why), 0);
	assert_int_equal(counter(b, AGATE_CNT_DIRTY_LOST), 1);
	assert_true(hinted(b, "dirty lines of VRAM were cleaned without its power"));
	bench_free(b);
}

static void test_where_nothing_answers(void **state)
{
	struct bench *b = ready(AGATE_SIM_COHERENCY_NONE);

	(void)state;
	put64(b, TABLE_L3 + 8 * 1, 0x100000c1);
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, VA + 0x1008, MARKER);
	start_job(b, 0, VA, EDGES);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_JOB_BUS_FAULT);
	assert_int_equal(job_status(b, 0), AGATE_EXC_JOB_BUS_FAULT);
	assert_int_equal(counter(b, AGATE_CNT_DIRTY_LOST), 0);
	bench_free(b);
}

/* Lines of one set of a 4 KiB L2 lie 1 KiB apart: 16 sets.  Walks use others. */
static unsigned int evicted(uint32_t seed)
{
	struct agate_sim_config config = {
		.seed = seed, .coherency = AGATE_SIM_COHERENCY_NONE, .l2_size = 4096,
	};
	struct bench *b = bench_ready_with(&config);
	struct agate_exec x = { .sim = b->sim };
	unsigned int i, gone = 0, count = 0;
	uint64_t value = MARKER;
	enum agate_run why;

	for (i = 0; i < 8; i++)
		assert_int_equal(agate_exec_write(&x, VA + 0x2100 + i * 1024, &value, 8, &why), 0);
	for (i = 0; i < 8; i++) {
		bool there = get64(b, PA + 0x2100 + i * 1024) == MARKER;

		gone |= there << i;
		count += there;
	}
	/* four ways hold four; the others had to make room, and were written back */
	assert_int_equal(count, 4);
	assert_int_equal(load(b, VA + 0x2100), MARKER);
	assert_int_equal(counter(b, AGATE_CNT_DIRTY_LOST), 0);
	bench_free(b);
	return gone;
}

static void test_the_seed_decides_who_goes(void **state)
{
	unsigned int seed, different = 0;

	(void)state;
	for (seed = 1; seed < 9; seed++) {
		assert_int_equal(evicted(seed), evicted(seed));
		different += evicted(seed) != evicted(1);
	}
	assert_true(different > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none_is_what_a_reset_leaves),
		cmocka_unit_test(test_only_what_is_offered),
		cmocka_unit_test(test_a_protocol_begins_with_the_power),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_ace_hides_nothing),
		cmocka_unit_test(test_ace_lite_keeps_what_the_gpu_writes),
		cmocka_unit_test(test_ace_lite_snoops_the_cpus),
		cmocka_unit_test(test_ace_lite_walks_see_the_tables),
		cmocka_unit_test(test_none_reads_stale_lines),
		cmocka_unit_test(test_a_stale_line_is_told_once),
		cmocka_unit_test(test_job_edges_are_enough),
		cmocka_unit_test(test_an_edge_that_is_missing),
		cmocka_unit_test(test_flush_reduction_believes_its_number),
		cmocka_unit_test(test_a_page_table_in_a_stale_line),
		cmocka_unit_test(test_as_flushes_clean_and_invalidate),
		cmocka_unit_test(test_update_does_not_flush),
		cmocka_unit_test(test_a_clean_leaves_neighbours_alone),
		cmocka_unit_test(test_long_accesses_cross_lines),
		cmocka_unit_test(test_copies_go_through_it),
		cmocka_unit_test(test_vram_goes_through_it),
		cmocka_unit_test(test_vram_loses_its_power),
		cmocka_unit_test(test_where_nothing_answers),
		cmocka_unit_test(test_the_seed_decides_who_goes),
	};

	return cmocka_run_group_tests_name("sim-l2", tests, NULL, NULL);
}
