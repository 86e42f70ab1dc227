// SPDX-License-Identifier: MIT
/*
 * Job slots: chains that are refused at the start, or that end, because power, a
 * core or an address space is missing.
 */
#include "slot_bench.h"

static void start_without(uint32_t off_reg, uint32_t trans_reg, uint32_t cores)
{
	struct bench *b = bench_slots();

	wr(b, off_reg, cores);
	poll_reg(b, trans_reg, 0xf, 0);
	forget_events(b);
	start_job(b, 0, N, 0);
	assert_true(hinted(b, "before power was ready"));
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_JOB_POWER_FAULT);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0x10000);
	assert_int_equal(rd64(b, JS_TAIL_LO(0)), N);
	bench_free(b);
}

static void test_jobs_without_power(void **state)
{
	(void)state;
	start_without(GPU_L2_PWROFF_LO, GPU_L2_PWRTRANS_LO, 1);
	start_without(GPU_SHADER_PWROFF_LO, GPU_SHADER_PWRTRANS_LO, 0xf);
	start_without(GPU_SHADER_PWROFF_LO, GPU_SHADER_PWRTRANS_LO, 0x8);	/* one of four */
}

static void test_a_job_right_after_reset(void **state)
{
	struct bench *b = bench_slots();

	(void)state;
	bench_reset(b);
	start_job(b, 0, N, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_JOB_POWER_FAULT);
	bench_free(b);
}

static void test_power_that_is_still_coming(void **state)
{
	struct bench *b = bench_slots();

	(void)state;
	wr(b, GPU_SHADER_PWROFF_LO, 0xf);
	poll_reg(b, GPU_SHADER_PWRTRANS_LO, 0xf, 0);
	wr(b, GPU_SHADER_PWRON_LO, 0xf);
	start_job(b, 0, N, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_JOB_POWER_FAULT);
	bench_free(b);
}

static void test_power_lost_in_the_middle(void **state)
{
	struct bench *b = bench_cyclic(0);

	(void)state;
	wr(b, GPU_L2_PWROFF_LO, 1);
	assert_true(hinted(b, "while a job runs"));
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_JOB_POWER_FAULT);
	bench_free(b);
}

static void test_a_tiler_job_needs_the_tiler(void **state)
{
	struct bench *b = bench_slots();

	(void)state;
	wr(b, GPU_TILER_PWROFF_LO, 1);
	poll_reg(b, GPU_TILER_PWRTRANS_LO, 1, 0);
	start_job(b, 1, N, 0);		/* NULL does not */
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_DONE);
	put_job(b, 0x100, AGATE_JOB_TILER, 0);
	start_job(b, 1, VA + 0x100, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_JOB_POWER_FAULT);
	bench_free(b);
}

static void test_affinity_must_name_a_core(void **state)
{
	struct bench *b = bench_slots();

	(void)state;
	wr64(b, JS_HEAD_NEXT_LO(0), N);
	wr64(b, JS_AFFINITY_NEXT_LO(0), 0xfffffff0);
	wr(b, JS_CONFIG_NEXT(0), 0);
	wr(b, JS_COMMAND_NEXT(0), JS_COMMAND_START);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_JOB_AFFINITY_FAULT);
	rd(b, JOB_INT_RAWSTAT);
	wr(b, JOB_INT_CLEAR, 0x10000);
	wr64(b, JS_AFFINITY_NEXT_LO(0), UINT64_MAX);	/* absent cores do not matter */
	wr(b, JS_COMMAND_NEXT(0), JS_COMMAND_START);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	bench_free(b);
}

static void test_an_address_space_that_does_not_exist(void **state)
{
	struct bench *b = bench_slots();

	(void)state;
	start_job(b, 0, N, JS_CONFIG_AS(8));
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_JOB_CONFIG_FAULT);
	assert_true(hinted(b, "does not exist"));
	bench_free(b);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jobs_without_power),
		cmocka_unit_test(test_a_job_right_after_reset),
		cmocka_unit_test(test_power_that_is_still_coming),
		cmocka_unit_test(test_power_lost_in_the_middle),
		cmocka_unit_test(test_a_tiler_job_needs_the_tiler),
		cmocka_unit_test(test_affinity_must_name_a_core),
		cmocka_unit_test(test_an_address_space_that_does_not_exist),
	};

	return cmocka_run_group_tests_name("sim-refused", tests, NULL, NULL);
}
