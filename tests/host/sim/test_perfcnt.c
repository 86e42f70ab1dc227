// SPDX-License-Identifier: MIT
/*
 * Performance counters: the contents and the address of a dump, its time, and its
 * behaviour when its page is missing.
 */
#include "gpu_bench.h"

#include <string.h>

#define DUMP	0x8000u		/* offset of the dump in the mapping */
#define BLOCKS	7		/* JM, tiler, MMU and L2, four shader cores */

static uint32_t word(const struct bench *b, unsigned int block, unsigned int n)
{
	return get32(b, PA + DUMP + block * 256 + n * 4);
}

/* Enable the counters like Panfrost: all of them, manually, through address space 0. */
static void enable(struct bench *b)
{
	wr(b, GPU_INT_CLEAR, GPU_IRQ_CLEAN_CACHES_COMPLETED | GPU_IRQ_PERFCNT_SAMPLE_COMPLETED);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_CLEAR);
	wr(b, GPU_PRFCNT_JM_EN, 0xffffffff);
	wr(b, GPU_PRFCNT_SHADER_EN, 0xffffffff);
	wr(b, GPU_PRFCNT_MMU_L2_EN, 0xffffffff);
	wr(b, GPU_PRFCNT_TILER_EN, 0xffffffff);
	wr(b, GPU_PERFCNT_CFG, GPU_PERFCNT_CFG_AS(0) |
	   GPU_PERFCNT_CFG_MODE(GPU_PERFCNT_CFG_MODE_MANUAL));
	wr64(b, GPU_PERFCNT_BASE_LO, VA + DUMP);
}

static void sample(struct bench *b)
{
	wr(b, GPU_INT_CLEAR, GPU_IRQ_CLEAN_CACHES_COMPLETED | GPU_IRQ_PERFCNT_SAMPLE_COMPLETED);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	poll_reg(b, GPU_INT_RAWSTAT, GPU_IRQ_PERFCNT_SAMPLE_COMPLETED,
		 GPU_IRQ_PERFCNT_SAMPLE_COMPLETED);
}

static struct bench *bench_counting(void)
{
	struct bench *b = bench_ready();

	enable(b);
	return b;
}

/* Three NULL jobs on slot 0; a fill of a page on slot 1. */
static void work(struct bench *b)
{
	const struct agate_compute_payload fill = {
		.op = AGATE_COMPUTE_FILL, .dst = VA + 0x2000, .size = 4096,
	};

	put_job(b, 0x000, AGATE_JOB_NULL, VA + 0x40);
	put_job(b, 0x040, AGATE_JOB_NULL, VA + 0x80);
	put_job(b, 0x080, AGATE_JOB_NULL, 0);
	put_job(b, 0x100, AGATE_JOB_COMPUTE, 0);
	memcpy(b->ram + (PA - RAM_BASE) + 0x120, &fill, sizeof(fill));
	start_job(b, 0, VA, 0);
	settle(b);
	start_job(b, 1, VA + 0x100, 0);
	settle(b);
}

static void test_what_work_counts(void **state)
{
	struct bench *b = bench_counting();
	uint32_t cores;

	(void)state;
	work(b);
	sample(b);
	/* Messages: the line was already up at the second job.  A NULL job: 8 + 1 + 4 cycles. */
	assert_int_equal(word(b, 0, 4), 1);
	assert_int_equal(word(b, 0, 8), 3);
	assert_int_equal(word(b, 0, 10), 39);
	/* The fill: 8 + 4 for the header, 16 to start, 2 + 4096 / 16 to write. */
	assert_int_equal(word(b, 0, 16), 1);
	assert_int_equal(word(b, 0, 18), 286);
	assert_int_equal(word(b, 0, 24), 0);
	assert_int_equal(word(b, 0, 6), 39 + 286);
	assert_int_equal(word(b, 1, 5), 0);
	/* Two pages were walked to, then found again. */
	assert_int_equal(word(b, 2, 5), 2);
	assert_int_equal(word(b, 2, 6), 2);
	assert_true(word(b, 2, 4) > 0);
	/* Read: four headers of 32 bytes and a payload of 64: 192.  Written: 4096 and
	 * four times the 16 bytes of a job's status. */
	assert_int_equal(word(b, 2, 8), 12);
	assert_int_equal(word(b, 2, 9), 260);
	/* All work except headers was done by a shader core. */
	cores = word(b, 3, 5) + word(b, 4, 5) + word(b, 5, 5) + word(b, 6, 5);
	assert_int_equal(cores, 274);
	assert_int_equal(word(b, 3, 4), 0);
	bench_free(b);
}

/* One tile cleared, no triangle binned: by the costs of each. */
static void test_what_drawing_counts(void **state)
{
	struct bench *b = bench_counting();
	const struct agate_framebuffer fb = {
		.color = VA + 0x4000, .width = 16, .height = 16, .stride = 64,
		.format = AGATE_FORMAT_R8G8B8A8, .flags = AGATE_FB_CLEAR_COLOR,
	};
	const struct agate_fragment_payload fragment = { .framebuffer = VA + 0x3000 };
	const struct agate_tiler_context context = {
		.heap_start = VA + 0x5000, .heap_end = VA + 0x6000, .heap_top = VA + 0x5000,
		.bins = VA + 0x3200, .width = 16, .height = 16,
	};
	const struct agate_tiler_payload tiler = {
		.vertices = VA + 0x3300, .indices = VA + 0x3400, .tiler = VA + 0x3100,
		.viewport = { .width = 16, .height = 16, .far_depth = 1 },
	};
	uint8_t *ram = b->ram + (PA - RAM_BASE);
	uint32_t cores;

	(void)state;
	memcpy(ram + 0x3000, &fb, sizeof(fb));
	memcpy(ram + 0x3100, &context, sizeof(context));
	put_job(b, 0x000, AGATE_JOB_FRAGMENT, 0);
	memcpy(ram + 0x020, &fragment, sizeof(fragment));
	put_job(b, 0x100, AGATE_JOB_TILER, 0);
	memcpy(ram + 0x120, &tiler, sizeof(tiler));
	start_job(b, 0, VA, 0);
	settle(b);
	start_job(b, 1, VA + 0x100, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_DONE);
	sample(b);
	/* FRAGMENT: 32 to start, 8 for the tile, 4 for each of its 16 rows. */
	cores = word(b, 3, 4) + word(b, 4, 4) + word(b, 5, 4) + word(b, 6, 4);
	assert_int_equal(cores, 32 + 8 + 64);
	assert_int_equal(word(b, 0, 10), 12 + cores);
	assert_int_equal(word(b, 1, 5), 32);
	assert_int_equal(word(b, 0, 18), 12 + 32);
	assert_int_equal(word(b, 1, 4), 0);
	bench_free(b);
}

static void test_a_sample_starts_again_from_zero(void **state)
{
	struct bench *b = bench_counting();

	(void)state;
	work(b);
	sample(b);
	sample(b);
	assert_int_equal(word(b, 0, 8), 0);
	assert_int_equal(word(b, 0, 6), 0);
	work(b);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_CLEAR);
	put_job(b, 0, AGATE_JOB_NULL, 0);
	start_job(b, 0, VA, 0);
	settle(b);
	sample(b);
	assert_int_equal(word(b, 0, 8), 1);
	assert_int_equal(word(b, 0, 16), 0);
	bench_free(b);
}

static void test_header_and_enable_bits(void **state)
{
	struct bench *b = bench_counting();
	uint64_t before = agate_sim_time(b->sim);
	unsigned int block;
	uint64_t when;

	(void)state;
	wr(b, GPU_PRFCNT_JM_EN, 0x4);		/* words 8 to 11: slot 0 */
	work(b);
	sample(b);
	for (block = 0; block < BLOCKS; block++) {
		when = word(b, block, 0) | (uint64_t)word(b, block, 1) << 32;
		assert_true(when > before && when < agate_sim_time(b->sim));
		assert_int_equal(word(b, block, 2), block ? 0xffffffff : 0x4);
		assert_int_equal(word(b, block, 3), 0);
	}
	assert_int_equal(word(b, 0, 8), 3);
	assert_int_equal(word(b, 0, 10), 39);
	assert_int_equal(word(b, 0, 6), 0);
	assert_int_equal(word(b, 0, 16), 0);
	bench_free(b);
}

static void test_a_dump_is_as_long_as_its_blocks(void **state)
{
	struct bench *b = bench_counting();

	(void)state;
	memset(b->ram + (PA - RAM_BASE) + DUMP - 8, 0xee, 8 + BLOCKS * 256 + 8);
	sample(b);
	assert_int_equal(get64(b, PA + DUMP - 8), 0xeeeeeeeeeeeeeeee);
	assert_int_equal(get64(b, PA + DUMP + BLOCKS * 256), 0xeeeeeeeeeeeeeeee);
	assert_int_equal(word(b, BLOCKS - 1, 63), 0);
	bench_free(b);
}

static void test_it_takes_time_and_is_waited_for(void **state)
{
	struct bench *b = bench_counting();

	(void)state;
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	assert_int_equal(word(b, 0, 2), 0);
	settle(b);		/* nobody waits: nothing happens */
	assert_int_equal(word(b, 0, 2), 0);
	assert_int_equal(rd(b, GPU_STATUS), GPU_STATUS_PRFCNT_ACTIVE);
	settle(b);
	assert_int_equal(rd(b, GPU_STATUS), 0);
	assert_int_equal(word(b, 0, 2), 0xffffffff);
	bench_free(b);
}

static void test_its_interrupt(void **state)
{
	struct bench *b = bench_counting();

	(void)state;
	wr(b, GPU_INT_MASK, GPU_IRQ_PERFCNT_SAMPLE_COMPLETED);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	settle(b);
	assert_int_equal(b->messages[AGATE_VECTOR_GPU], 1);
	assert_int_equal(rd(b, GPU_INT_STAT), GPU_IRQ_PERFCNT_SAMPLE_COMPLETED);
	bench_free(b);
}

/* Bits 10:0 of the base are not there. */
static void test_base(void **state)
{
	struct bench *b = bench_counting();

	(void)state;
	wr64(b, GPU_PERFCNT_BASE_LO, VA + DUMP + 0x7ff);
	assert_int_equal(rd64(b, GPU_PERFCNT_BASE_LO), VA + DUMP);
	wr64(b, GPU_PERFCNT_BASE_LO, VA + DUMP + 0x1000 + 0x800);
	sample(b);
	assert_int_equal(get32(b, PA + DUMP + 0x1808), 0xffffffff);
	bench_free(b);
}

static void test_a_fault_waits_for_the_driver(void **state)
{
	struct bench *b = bench_counting();

	(void)state;
	put64(b, TABLE_L3 + 8 * 8, 0);
	wr(b, GPU_INT_MASK, GPU_IRQ_PERFCNT_SAMPLE_COMPLETED);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	settle(b);
	/* A write by source 3, which is not a slot. */
	assert_int_equal(rd(b, MMU_INT_STAT), 1);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), 0x303c3);
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), VA + DUMP);
	assert_int_equal(rd(b, GPU_STATUS), GPU_STATUS_PRFCNT_ACTIVE);
	work(b);	/* jobs of the same address space go on */
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_DONE);
	wr(b, MMU_INT_CLEAR, 1);
	settle(b);
	assert_int_equal(rd(b, GPU_STATUS), GPU_STATUS_PRFCNT_ACTIVE);
	put64(b, TABLE_L3 + 8 * 8, 0x400180c1);
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_PT);
	settle(b);
	assert_int_equal(rd(b, GPU_STATUS), 0);
	assert_int_equal(rd(b, GPU_INT_STAT), GPU_IRQ_PERFCNT_SAMPLE_COMPLETED);
	assert_int_equal(word(b, 0, 2), 0xffffffff);
	assert_int_equal(word(b, 0, 8), 0);	/* counted when it was asked for */
	assert_int_equal(count_events(b, AGATE_EV_FAULT), 1);
	assert_int_equal(count_events(b, AGATE_EV_FAULT_RESUMED), 1);
	bench_free(b);
}

static void test_a_locked_region_holds_it_back(void **state)
{
	struct bench *b = bench_counting();

	(void)state;
	wr64(b, AS_LOCKADDR_LO(0), LOCK_ALL);
	as_command(b, 0, AS_COMMAND_LOCK);
	wr(b, GPU_INT_MASK, GPU_IRQ_PERFCNT_SAMPLE_COMPLETED);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	settle(b);
	assert_int_equal(rd(b, GPU_STATUS), GPU_STATUS_PRFCNT_ACTIVE);
	as_command(b, 0, AS_COMMAND_UNLOCK);
	settle(b);
	assert_int_equal(rd(b, GPU_STATUS), 0);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 0);
	assert_int_equal(word(b, 0, 2), 0xffffffff);
	bench_free(b);
}

/* Panfrost gives a context its address space and waits only for the dump's interrupt. */
static void test_a_command_that_nobody_polls_is_waited_for(void **state)
{
	struct bench *b = bench_counting();

	(void)state;
	wr(b, GPU_INT_MASK, GPU_IRQ_PERFCNT_SAMPLE_COMPLETED);
	wr(b, AS_COMMAND(0), AS_COMMAND_UPDATE);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	settle(b);
	assert_int_equal(b->messages[AGATE_VECTOR_GPU], 1);
	assert_int_equal(rd(b, GPU_INT_STAT), GPU_IRQ_PERFCNT_SAMPLE_COMPLETED);
	assert_int_equal(word(b, 0, 2), 0xffffffff);
	assert_int_equal(count_events(b, AGATE_EV_FAULT), 0);
	bench_free(b);
}

static void test_hints(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	assert_true(hinted(b, "PERFCNT_SAMPLE is ignored unless PERFCNT_CFG says MANUAL"));
	assert_int_equal(rd(b, GPU_STATUS), 0);
	enable(b);
	forget_events(b);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	assert_true(hinted(b, "PERFCNT_SAMPLE while another is in progress is ignored"));
	poll_reg(b, GPU_STATUS, GPU_STATUS_PRFCNT_ACTIVE, 0);
	forget_events(b);
	wr(b, GPU_PERFCNT_CFG, GPU_PERFCNT_CFG_AS(5) | GPU_PERFCNT_CFG_MODE_MANUAL);
	sample(b);	/* it completes, so that nobody waits for ever */
	assert_true(hinted(b, "PERFCNT_CFG names an address space without a mapping"));
	forget_events(b);
	wr(b, GPU_PERFCNT_CFG, GPU_PERFCNT_CFG_AS(15) | GPU_PERFCNT_CFG_MODE_MANUAL);
	sample(b);
	assert_true(hinted(b, "PERFCNT_CFG names an address space without a mapping"));
	bench_free(b);
}

static void test_a_reset_takes_all_of_it(void **state)
{
	struct bench *b = bench_counting();

	(void)state;
	work(b);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	bench_reset(b);
	assert_int_equal(rd(b, GPU_STATUS), 0);
	assert_int_equal(rd(b, GPU_PERFCNT_CFG), 0);
	assert_int_equal(word(b, 0, 2), 0);
	bench_power_on(b);
	as_set_table(b, 0, TABLE_L0);
	enable(b);
	sample(b);
	assert_int_equal(word(b, 0, 8), 0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_work_counts),
		cmocka_unit_test(test_what_drawing_counts),
		cmocka_unit_test(test_a_sample_starts_again_from_zero),
		cmocka_unit_test(test_header_and_enable_bits),
		cmocka_unit_test(test_a_dump_is_as_long_as_its_blocks),
		cmocka_unit_test(test_it_takes_time_and_is_waited_for),
		cmocka_unit_test(test_its_interrupt),
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_a_fault_waits_for_the_driver),
		cmocka_unit_test(test_a_locked_region_holds_it_back),
		cmocka_unit_test(test_a_command_that_nobody_polls_is_waited_for),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_a_reset_takes_all_of_it),
	};

	return cmocka_run_group_tests_name("sim-perfcnt", tests, NULL, NULL);
}
