// SPDX-License-Identifier: MIT
/*
 * Stops that take time, and stops that never come: the latency that a test of a
 * driver's reset path needs; and the events of that reset.
 */
#include "gpu_bench.h"

#define RING	(VA + 0x000)	/* one job, its own successor */
#define N	(VA + 0x040)	/* one NULL job */
#define STALL	(VA + 0x100)	/* writes where nothing is mapped, then N */

static struct bench *bench_stop(uint32_t latency)
{
	struct bench *b = bench_ready();

	put_job(b, 0x000, AGATE_JOB_NULL, RING);
	put_job(b, 0x040, AGATE_JOB_NULL, 0);
	put_write_value(b, 0x100, N, AGATE_WRITE_ZERO, 0x8080610000, 0);
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_STOP, latency);
	return b;
}

/* Slot 0 waits for a fault that nobody serves; no time passes by itself. */
static struct bench *bench_stalled(uint32_t latency)
{
	struct bench *b = bench_stop(latency);

	start_job(b, 0, STALL, 0);
	settle(b);
	return b;
}

static void test_a_stop_takes_its_latency(void **state)
{
	struct bench *b = bench_stalled(1000);
	uint64_t start;

	(void)state;
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	start = agate_sim_time(b->sim);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0);
	settle(b);		/* skips to it: the interrupt is unmasked */
	assert_int_equal(last_event(b, AGATE_EV_CHAIN_END)->time, start + 1000);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TERMINATED);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0x10000);
	bench_free(b);
}

static void test_a_soft_stop_takes_it_too(void **state)
{
	struct bench *b = bench_stop(1000);
	uint64_t start;

	(void)state;
	start_job(b, 0, RING, 0);
	wr(b, JS_COMMAND(0), JS_COMMAND_SOFT_STOP);
	start = agate_sim_time(b->sim);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_STOPPED);
	/* one job more at most: fetch 8, NULL, write-back 4 */
	assert_in_range(last_event(b, AGATE_EV_CHAIN_END)->time, start + 1000, start + 1020);
	bench_free(b);
}

static void test_idle_time_is_skipped_only_for_who_waits(void **state)
{
	struct bench *b = bench_stalled(1000);

	(void)state;
	wr(b, JOB_INT_MASK, 0x60007);		/* all except slot 0's failure */
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	assert_false(agate_sim_step(b->sim, 100));
	assert_int_equal(count_events(b, AGATE_EV_CHAIN_END), 0);
	rd(b, JS_STATUS(1));			/* another slot's does not report it */
	assert_false(agate_sim_step(b->sim, 100));
	poll_reg(b, JS_STATUS(0), 0xff, AGATE_EXC_TERMINATED);
	bench_free(b);

	b = bench_stalled(1000);
	wr(b, JOB_INT_MASK, 0);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	poll_reg(b, JOB_INT_RAWSTAT, 0x10000, 0x10000);
	bench_free(b);
}

static void test_repeating_a_stop_does_not_put_it_off(void **state)
{
	struct bench *b = bench_stalled(1000);
	uint64_t start;

	(void)state;
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	start = agate_sim_time(b->sim);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	wr(b, JS_COMMAND(0), JS_COMMAND_SOFT_STOP);
	settle(b);
	assert_int_equal(last_event(b, AGATE_EV_CHAIN_END)->time, start + 1000);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TERMINATED);
	bench_free(b);
}

static void test_a_hard_stop_overtakes_a_soft_one(void **state)
{
	struct bench *b = bench_stalled(AGATE_SIM_LATENCY_STUCK);

	(void)state;
	wr(b, JS_COMMAND(0), JS_COMMAND_SOFT_STOP);
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_STOP, 0);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TERMINATED);
	bench_free(b);
}

static void test_a_stop_means_the_chain_it_was_written_for(void **state)
{
	struct bench *b = bench_stop(100000);

	(void)state;
	start_job(b, 0, N, 0);
	agate_sim_step(b->sim, 1);
	wr(b, JS_COMMAND(0), JS_COMMAND_SOFT_STOP);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	start_job(b, 0, STALL, 0);
	settle(b);		/* would skip to a stop that is left over */
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	assert_true(agate_sim_time(b->sim) < 100000);
	bench_free(b);
}

/* A latency for the next stop waits for one that has a chain to stop. */
static void test_a_stop_of_no_chain_takes_no_latency(void **state)
{
	static const uint32_t stops[] = {
		JS_COMMAND_SOFT_STOP, JS_COMMAND_HARD_STOP, JS_COMMAND_SOFT_STOP_0,
		JS_COMMAND_HARD_STOP_0, JS_COMMAND_SOFT_STOP_1, JS_COMMAND_HARD_STOP_1,
	};
	struct bench *b = bench_stop(0);
	unsigned int i;

	(void)state;
	agate_sim_set_latency_once(b->sim, AGATE_SIM_LATENCY_STOP, AGATE_SIM_LATENCY_STUCK);
	for (i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		wr(b, JS_COMMAND(0), stops[i]);
	start_job(b, 0, STALL, 0);
	settle(b);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);	/* this is the one that sticks */
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TERMINATED);
	bench_free(b);
}

static void test_only_a_reset_ends_a_chain_whose_stops_stick(void **state)
{
	static const uint32_t stops[] = {
		JS_COMMAND_SOFT_STOP, JS_COMMAND_HARD_STOP, JS_COMMAND_SOFT_STOP_0,
		JS_COMMAND_HARD_STOP_0,
	};
	struct agate_sim_config config = {
		.gpu = AGATE_SIM_MIDGARD, .stop_latency = AGATE_SIM_LATENCY_STUCK,
	};
	struct bench *b = bench_new_with(&config);
	unsigned int i;

	(void)state;
	bench_power_on(b);
	put_tables(b);
	as_set_table(b, 0, TABLE_L0);
	wr(b, JOB_INT_MASK, 0x70007);
	put_job(b, 0x000, AGATE_JOB_NULL, RING);
	start_job(b, 0, RING, 0);
	for (i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
		wr(b, JS_COMMAND(0), stops[i]);
		assert_true(agate_sim_step(b->sim, 1000));
		assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	}
	assert_int_equal(b->messages[AGATE_VECTOR_JOB], 0);
	bench_reset(b);
	assert_false(agate_sim_step(b->sim, 1));
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_NOT_STARTED);
	assert_int_equal(b->messages[AGATE_VECTOR_JOB], 0);
	bench_free(b);
}

static void test_a_reset_tells_what_it_ends(void **state)
{
	struct bench *b = bench_stalled(0);
	unsigned int i, reset = 0, job = 0, chain = 0;

	(void)state;
	forget_events(b);
	wr(b, GPU_CMD, GPU_CMD_SOFT_RESET);
	for (i = 0; i < b->events; i++) {
		if (b->event[i].kind == AGATE_EV_RESET)
			reset = i + 1;
		if (b->event[i].kind == AGATE_EV_JOB_END)
			job = i + 1;
		if (b->event[i].kind == AGATE_EV_CHAIN_END)
			chain = i + 1;
	}
	/* the reset, then the job, then its chain; nothing of the idle slots */
	assert_true(reset && reset < job && job < chain);
	assert_int_equal(count_events(b, AGATE_EV_CHAIN_END), 1);
	assert_string_equal(b->event[job - 1].text, "reset");
	assert_int_equal(b->event[job - 1].b, STALL);
	assert_string_equal(b->event[chain - 1].text, "reset");
	assert_int_equal(b->event[chain - 1].a, 0);
	assert_int_equal(b->event[chain - 1].b, STALL);
	assert_int_equal(counter(b, AGATE_CNT_JOBS_FAILED), 0);
	bench_free(b);

	/* between two jobs no job ends */
	b = bench_stop(0);
	start_job(b, 1, RING, 0);
	forget_events(b);
	wr(b, GPU_CMD, GPU_CMD_HARD_RESET);
	assert_int_equal(count_events(b, AGATE_EV_JOB_END), 0);
	assert_int_equal(last_event(b, AGATE_EV_CHAIN_END)->a, 1);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stop_takes_its_latency),
		cmocka_unit_test(test_a_soft_stop_takes_it_too),
		cmocka_unit_test(test_idle_time_is_skipped_only_for_who_waits),
		cmocka_unit_test(test_repeating_a_stop_does_not_put_it_off),
		cmocka_unit_test(test_a_hard_stop_overtakes_a_soft_one),
		cmocka_unit_test(test_a_stop_means_the_chain_it_was_written_for),
		cmocka_unit_test(test_a_stop_of_no_chain_takes_no_latency),
		cmocka_unit_test(test_only_a_reset_ends_a_chain_whose_stops_stick),
		cmocka_unit_test(test_a_reset_tells_what_it_ends),
	};

	return cmocka_run_group_tests_name("sim-stop", tests, NULL, NULL);
}
