// SPDX-License-Identifier: MIT
/*
 * Reset and power domains: order, latency, completion, and the detection of every
 * driver that does not wait.
 */
#include "gpu_bench.h"

#define SINGLE	GPU_IRQ_POWER_CHANGED_SINGLE
#define ALL	GPU_IRQ_POWER_CHANGED_ALL

static void test_reset_takes_time_and_says_when_done(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_CMD, GPU_CMD_SOFT_RESET);
	assert_int_equal(last_event(b, AGATE_EV_RESET)->a, 1);
	assert_int_equal(rd(b, GPU_INT_RAWSTAT), 0);
	settle(b);		/* the driver polled, so idle time is skipped */
	assert_int_equal(rd(b, GPU_INT_RAWSTAT), GPU_IRQ_RESET_COMPLETED);
	bench_free(b);
}

static void test_reset_by_interrupt(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_CMD, GPU_CMD_SOFT_RESET);
	wr(b, GPU_INT_MASK, GPU_IRQ_RESET_COMPLETED);	/* accepted during a reset */
	assert_int_equal(b->messages[AGATE_VECTOR_GPU], 0);
	settle(b);
	assert_int_equal(b->messages[AGATE_VECTOR_GPU], 1);
	assert_int_equal(rd(b, GPU_INT_STAT), GPU_IRQ_RESET_COMPLETED);
	bench_free(b);
}

static void test_writes_before_reset_completed_are_lost(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_CMD, GPU_CMD_SOFT_RESET);
	settle(b);		/* nobody asked: however slow the driver, it is not over */
	wr(b, GPU_TILER_CONFIG, 0x55);
	wr(b, GPU_L2_PWRON_LO, 1);
	assert_true(hinted(b, "before RESET_COMPLETED"));
	poll_reg(b, GPU_INT_RAWSTAT, 0x100, 0x100);
	assert_int_equal(rd(b, GPU_TILER_CONFIG), 0);
	assert_int_equal(rd(b, GPU_L2_PWRTRANS_LO), 0);
	bench_free(b);
}

static void test_a_hard_reset_helps_against_a_soft_one(void **state)
{
	struct agate_sim_config config = {
		.gpu = AGATE_SIM_MIDGARD, .reset_latency = AGATE_SIM_LATENCY_STUCK,
		.hard_reset_latency = 500,
	};
	struct bench *b = bench_new_with(&config);
	uint64_t start;

	(void)state;
	wr(b, GPU_CMD, GPU_CMD_SOFT_RESET);
	wr(b, GPU_INT_MASK, GPU_IRQ_RESET_COMPLETED);
	assert_false(agate_sim_step(b->sim, 1000));
	assert_int_equal(rd(b, GPU_INT_RAWSTAT), 0);
	wr(b, GPU_CMD, GPU_CMD_SOFT_RESET);		/* that does not */
	assert_true(hinted(b, "is lost"));
	forget_events(b);
	wr(b, GPU_CMD, GPU_CMD_HARD_RESET);
	start = agate_sim_time(b->sim);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	assert_int_equal(last_event(b, AGATE_EV_RESET)->a, GPU_CMD_HARD_RESET);
	assert_int_equal(rd(b, GPU_INT_MASK), 0);	/* it has begun again */
	wr(b, GPU_INT_MASK, GPU_IRQ_RESET_COMPLETED);
	settle(b);
	assert_int_equal(last_event(b, AGATE_EV_IRQ)->time, start + 500);
	bench_power_on(b);
	bench_free(b);
}

static void test_a_hard_reset_that_sticks_is_final(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_HARD_RESET, AGATE_SIM_LATENCY_STUCK);
	bench_reset(b);			/* this does not affect a soft reset */
	wr(b, GPU_CMD, GPU_CMD_HARD_RESET);
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_HARD_RESET, 0);
	wr(b, GPU_INT_MASK, GPU_IRQ_RESET_COMPLETED);
	wr(b, GPU_CMD, GPU_CMD_HARD_RESET);
	assert_true(hinted(b, "is lost"));
	wr(b, GPU_CMD, GPU_CMD_SOFT_RESET);
	settle(b);
	assert_int_equal(b->messages[AGATE_VECTOR_GPU], 0);
	bench_free(b);
}

static void test_reset_kills_jobs_and_power(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_job(b, 0, AGATE_JOB_NULL, VA);	/* for ever */
	start_job(b, 0, VA, 0);
	agate_sim_step(b->sim, 100);
	wr(b, GPU_CMD, GPU_CMD_SOFT_RESET);
	assert_int_equal(rd(b, JS_STATUS(0)), 0);
	poll_reg(b, GPU_INT_RAWSTAT, 0x100, 0x100);
	assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
	assert_int_equal(rd(b, GPU_SHADER_READY_LO), 0);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0);
	assert_false(agate_sim_step(b->sim, 1));
	bench_free(b);
}

static void test_power_on_in_order(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_L2_PWRON_LO, 1);
	assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
	assert_int_equal(rd(b, GPU_L2_PWRTRANS_LO), 1);
	settle(b);
	assert_int_equal(rd(b, GPU_L2_READY_LO), 1);
	assert_int_equal(rd(b, GPU_L2_PWRTRANS_LO), 0);
	assert_int_equal(rd(b, GPU_INT_RAWSTAT), SINGLE | ALL);
	wr(b, GPU_INT_CLEAR, SINGLE | ALL);
	wr(b, GPU_SHADER_PWRON_LO, 0x5);
	wr(b, GPU_TILER_PWRON_LO, 1);
	poll_reg(b, GPU_SHADER_READY_LO, 0xf, 0x5);
	poll_reg(b, GPU_TILER_READY_LO, 1, 1);
	wr(b, GPU_SHADER_PWRON_LO, 0xf);
	assert_int_equal(rd(b, GPU_SHADER_PWRTRANS_LO), 0xa);
	assert_int_equal(rd(b, GPU_SHADER_READY_LO), 0x5);
	poll_reg(b, GPU_SHADER_READY_LO, 0xf, 0xf);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_changed_all_waits_for_the_last(void **state)
{
	struct bench *b = bench_new();
	unsigned int i;

	(void)state;
	bench_power_on(b);
	wr(b, GPU_INT_CLEAR, SINGLE | ALL);
	wr(b, GPU_SHADER_PWROFF_LO, 0x1);
	for (i = 0; i < 9; i++)
		rd(b, GPU_ID);		/* ten cycles later */
	wr(b, GPU_SHADER_PWROFF_LO, 0x2);
	while (!(rd(b, GPU_INT_RAWSTAT) & SINGLE))
		;
	assert_int_equal(rd(b, GPU_INT_RAWSTAT), SINGLE);
	assert_int_equal(rd(b, GPU_SHADER_READY_LO), 0xc);
	assert_int_equal(rd(b, GPU_SHADER_PWRTRANS_LO), 0x2);
	while (!(rd(b, GPU_INT_RAWSTAT) & ALL))
		;
	assert_int_equal(rd(b, GPU_SHADER_PWRTRANS_LO), 0);
	bench_free(b);
}

static void test_latency_is_counted_in_accesses(void **state)
{
	struct agate_sim_config config = { .gpu = AGATE_SIM_MIDGARD, .power_latency = 10 };
	struct bench *b = bench_new_with(&config);
	unsigned int i;

	(void)state;
	wr(b, GPU_L2_PWRON_LO, 1);
	for (i = 1; i < 10; i++)
		assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
	assert_int_equal(rd(b, GPU_L2_READY_LO), 1);
	bench_free(b);
}

static void test_a_driver_that_does_not_wait_is_caught(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_L2_PWRON_LO, 1);
	settle(b);		/* a slow driver that sleeps but does not look */
	wr(b, GPU_SHADER_PWRON_LO, 0xf);
	assert_true(hinted(b, "before the L2 is ready"));
	poll_reg(b, GPU_L2_READY_LO, 1, 1);
	settle(b);
	assert_int_equal(rd(b, GPU_SHADER_READY_LO), 0);
	assert_int_equal(rd(b, GPU_SHADER_PWRTRANS_LO), 0);
	bench_free(b);
}

static void test_waiting_by_interrupt(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_INT_MASK, ALL);
	wr(b, GPU_L2_PWRON_LO, 1);
	settle(b);
	assert_int_equal(b->messages[AGATE_VECTOR_GPU], 1);
	assert_int_equal(rd(b, GPU_L2_READY_LO), 1);
	bench_free(b);
}

static void test_tiler_needs_the_l2(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_TILER_PWRON_LO, 1);
	assert_true(hinted(b, "before the L2 is ready"));
	assert_int_equal(rd(b, GPU_TILER_PWRTRANS_LO), 0);
	bench_free(b);
}

static void test_cores_in_transition_are_left_alone(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_L2_PWRON_LO, 1);
	wr(b, GPU_L2_PWROFF_LO, 1);
	assert_true(hinted(b, "PWROFF for cores that are in transition"));
	forget_events(b);
	wr(b, GPU_L2_PWRON_LO, 1);
	assert_true(hinted(b, "PWRON for cores that are in transition"));
	poll_reg(b, GPU_L2_READY_LO, 1, 1);
	bench_free(b);
}

static void test_absent_cores_and_high_halves_do_nothing(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_L2_PWRON_LO, 0xfffffffe);
	wr(b, GPU_L2_PWRON_HI, 0xffffffff);
	assert_int_equal(rd(b, GPU_L2_PWRTRANS_LO), 0);
	assert_int_equal(rd(b, GPU_L2_PWRTRANS_HI), 0);
	assert_false(agate_sim_step(b->sim, 1));
	bench_free(b);
}

static void test_power_off_in_order(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	bench_power_on(b);
	wr(b, GPU_SHADER_PWROFF_LO, 0xf);
	assert_int_equal(rd(b, GPU_SHADER_READY_LO), 0);	/* not to be used any more */
	poll_reg(b, GPU_SHADER_PWRTRANS_LO, 0xf, 0);
	wr(b, GPU_TILER_PWROFF_LO, 1);
	poll_reg(b, GPU_TILER_PWRTRANS_LO, 1, 0);
	wr(b, GPU_L2_PWROFF_LO, 1);
	poll_reg(b, GPU_L2_PWRTRANS_LO, 1, 0);
	assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_l2_off_takes_its_dependants_along(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	bench_power_on(b);
	wr(b, GPU_L2_PWROFF_LO, 1);
	assert_true(hinted(b, "L2 is powered off with"));
	poll_reg(b, GPU_L2_PWRTRANS_LO, 1, 0);
	assert_int_equal(rd(b, GPU_SHADER_READY_LO), 0);
	assert_int_equal(rd(b, GPU_TILER_READY_LO), 0);
	bench_free(b);
}

static void test_a_transition_can_stick(void **state)
{
	struct bench *b = bench_new();
	unsigned int i;

	(void)state;
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_POWER, AGATE_SIM_LATENCY_STUCK);
	wr(b, GPU_L2_PWRON_LO, 1);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
		settle(b);
	}
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_POWER, 0);
	bench_reset(b);		/* the way out */
	bench_power_on(b);
	bench_free(b);
}

/* A latency for the next transition is for a transition, not for a write that starts none. */
static void test_a_write_that_starts_nothing_takes_no_latency(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	bench_power_on(b);
	agate_sim_set_latency_once(b->sim, AGATE_SIM_LATENCY_POWER, AGATE_SIM_LATENCY_STUCK);
	wr(b, GPU_L2_PWRON_LO, 1);		/* is on */
	wr(b, GPU_L2_PWRON_LO, 0);
	wr(b, GPU_SHADER_PWRON_LO, 0xf0);	/* are not there */
	wr(b, GPU_TILER_PWROFF_LO, 0);
	assert_int_equal(rd(b, GPU_L2_PWRTRANS_LO), 0);
	wr(b, GPU_SHADER_PWROFF_LO, 0xf);
	settle(b);
	assert_int_equal(rd(b, GPU_SHADER_PWRTRANS_LO), 0xf);	/* this is the one that sticks */
	settle(b);
	assert_int_equal(rd(b, GPU_SHADER_PWRTRANS_LO), 0xf);
	bench_free(b);
}

static void test_active_while_a_job_runs(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_job(b, 0, AGATE_JOB_NULL, VA);
	assert_int_equal(rd(b, GPU_SHADER_PWRACTIVE_LO), 0);
	start_job(b, 0, VA, 0);
	assert_int_equal(rd(b, GPU_SHADER_PWRACTIVE_LO), 0xf);
	assert_int_equal(rd(b, GPU_L2_PWRACTIVE_LO), 1);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	assert_int_equal(rd(b, GPU_SHADER_PWRACTIVE_LO), 0);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reset_takes_time_and_says_when_done),
		cmocka_unit_test(test_reset_by_interrupt),
		cmocka_unit_test(test_writes_before_reset_completed_are_lost),
		cmocka_unit_test(test_a_hard_reset_helps_against_a_soft_one),
		cmocka_unit_test(test_a_hard_reset_that_sticks_is_final),
		cmocka_unit_test(test_reset_kills_jobs_and_power),
		cmocka_unit_test(test_power_on_in_order),
		cmocka_unit_test(test_changed_all_waits_for_the_last),
		cmocka_unit_test(test_latency_is_counted_in_accesses),
		cmocka_unit_test(test_a_driver_that_does_not_wait_is_caught),
		cmocka_unit_test(test_waiting_by_interrupt),
		cmocka_unit_test(test_tiler_needs_the_l2),
		cmocka_unit_test(test_cores_in_transition_are_left_alone),
		cmocka_unit_test(test_absent_cores_and_high_halves_do_nothing),
		cmocka_unit_test(test_power_off_in_order),
		cmocka_unit_test(test_l2_off_takes_its_dependants_along),
		cmocka_unit_test(test_a_transition_can_stick),
		cmocka_unit_test(test_a_write_that_starts_nothing_takes_no_latency),
		cmocka_unit_test(test_active_while_a_job_runs),
	};

	return cmocka_run_group_tests_name("sim-power", tests, NULL, NULL);
}
