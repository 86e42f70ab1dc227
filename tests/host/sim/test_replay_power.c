// SPDX-License-Identifier: MIT
/*
 * Power up and down as Panfrost does them, with the number of polls that it allows
 * for each domain, and the two counters of time.
 */
#include "replay.h"

static const enum agate_sim_gpu gpus[] = { AGATE_SIM_MIDGARD, AGATE_SIM_BIFROST };
#define EACH_GPU(i)	for ((i) = 0; (i) < 2; (i)++)

/* Shader, tiler, L2: wait up to 2 ms for each until nothing of it is in transition. */
static bool replay_power_off(struct bench *b)
{
	wr(b, GPU_SHADER_PWROFF_LO, rd(b, GPU_SHADER_PRESENT_LO));
	if (!polled(b, GPU_SHADER_PWRTRANS_LO, 0xffffffff, 0, 2000))
		return false;
	wr(b, GPU_TILER_PWROFF_LO, rd(b, GPU_TILER_PRESENT_LO));
	if (!polled(b, GPU_TILER_PWRTRANS_LO, 0xffffffff, 0, 2000))
		return false;
	wr(b, GPU_L2_PWROFF_LO, rd(b, GPU_L2_PRESENT_LO));
	return polled(b, GPU_L2_PWRTRANS_LO, 0xffffffff, 0, 2000);
}

static void test_up_and_down(void **state)
{
	unsigned int i;

	(void)state;
	EACH_GPU(i) {
		struct bench *b = replay_up(gpus[i]);

		assert_int_equal(rd64(b, GPU_SHADER_READY_LO), rd64(b, GPU_SHADER_PRESENT_LO));
		assert_int_equal(rd64(b, GPU_TILER_READY_LO), 1);
		assert_int_equal(rd64(b, GPU_L2_READY_LO), 1);
		assert_true(replay_power_off(b));
		assert_int_equal(rd64(b, GPU_SHADER_READY_LO), 0);
		assert_int_equal(rd64(b, GPU_TILER_READY_LO), 0);
		assert_int_equal(rd64(b, GPU_L2_READY_LO), 0);
		/* suspended, then resumed, which is a bring-up like the first */
		replay_bring_up(b);
		assert_int_equal(rd64(b, GPU_SHADER_READY_LO), rd64(b, GPU_SHADER_PRESENT_LO));
		replay_end(b);
	}
}

static void test_a_power_off_that_finds_nothing_on(void **state)
{
	struct bench *b = replay_up(AGATE_SIM_MIDGARD);

	(void)state;
	assert_true(replay_power_off(b));
	assert_true(replay_power_off(b));
	replay_end(b);
}

/* One domain at a time is in transition, and READY shows no core that still is. */
static void test_ready_and_transition(void **state)
{
	struct bench *b = replay_new(AGATE_SIM_MIDGARD);

	(void)state;
	assert_true(replay_soft_reset(b));
	wr(b, GPU_L2_PWRON_LO, 1);
	assert_int_equal(rd(b, GPU_L2_PWRTRANS_LO), 1);
	assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
	assert_true(polled(b, GPU_L2_READY_LO, 1, 1, 200));
	assert_int_equal(rd(b, GPU_L2_PWRTRANS_LO), 0);
	assert_int_equal(rd(b, GPU_SHADER_READY_LO), 0);
	replay_end(b);
}

/* A transition within the time limit is also within the limit of polls. */
static void test_slow_power_within_the_limits(void **state)
{
	static const uint32_t microseconds[] = { 1, 100, 900 };
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct agate_sim_config config = {
			.power_latency = microseconds[i] * AGATE_BUS_MHZ,
		};
		struct bench *b = bench_new_with(&config);

		replay_bring_up(b);
		assert_true(replay_power_off(b));
		replay_end(b);
	}
}

/* The driver reports it and continues; its next steps find nothing powered. */
static void test_power_that_sticks(void **state)
{
	struct agate_sim_config config = { .power_latency = AGATE_SIM_LATENCY_STUCK };
	struct bench *b = bench_new_with(&config);

	(void)state;
	assert_true(replay_soft_reset(b));
	assert_false(replay_power_on(b));
	assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
	assert_int_equal(rd(b, GPU_L2_PWRTRANS_LO), 1);
	assert_int_equal(counter(b, AGATE_CNT_HINTS), 0);
	wr(b, GPU_SHADER_PWRON_LO, 0xf);
	assert_true(hinted(b, "before the L2 is ready"));
	assert_int_equal(rd(b, GPU_SHADER_PWRTRANS_LO), 0);
	/* a reset ends the transition, and the next one may succeed */
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_POWER, 64);
	replay_bring_up(b);
	bench_free(b);
}

/* Before autosuspend a driver may check whether anything is still active. */
static void test_active(void **state)
{
	unsigned int i;

	(void)state;
	EACH_GPU(i) {
		struct bench *b = replay_up(gpus[i]);
		uint32_t shaders = rd(b, GPU_SHADER_PRESENT_LO);

		assert_int_equal(rd(b, GPU_SHADER_PWRACTIVE_LO), 0);
		assert_int_equal(rd(b, GPU_L2_PWRACTIVE_LO), 0);
		replay_as_enable(b, 0);
		put_job(b, 0, AGATE_JOB_NULL, VA);
		replay_submit(b, 0, VA, 0);
		agate_sim_step(b->sim, 50);
		assert_int_equal(rd(b, GPU_SHADER_PWRACTIVE_LO), shaders);
		assert_int_equal(rd(b, GPU_TILER_PWRACTIVE_LO), 1);
		assert_int_equal(rd(b, GPU_L2_PWRACTIVE_LO), 1);
		wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
		settle(b);
		assert_int_equal(rd64(b, GPU_SHADER_PWRACTIVE_LO), 0);
		assert_int_equal(rd64(b, GPU_L2_PWRACTIVE_LO), 0);
		replay_end(b);
	}
}

/* Read the high half before and after the low one, until both values agree. */
static uint64_t steady(struct bench *b, uint32_t lo)
{
	uint32_t high, low;

	do {
		high = rd(b, lo + 4);
		low = rd(b, lo);
	} while (rd(b, lo + 4) != high);
	return (uint64_t)high << 32 | low;
}

static void test_cycle_counter_and_timestamp(void **state)
{
	unsigned int i;

	(void)state;
	EACH_GPU(i) {
		struct bench *b = replay_up(gpus[i]);
		uint64_t then, cycles;

		assert_int_equal(steady(b, GPU_CYCLE_COUNT_LO), 0);
		then = steady(b, GPU_TIMESTAMP_LO);
		assert_true(then > 0);
		assert_int_equal(rd(b, GPU_STATUS) & 1u << 6, 0);
		wr(b, GPU_CMD, GPU_CMD_CYCLE_COUNT_START);
		assert_int_equal(rd(b, GPU_STATUS) & 1u << 6, 1u << 6);
		cycles = steady(b, GPU_CYCLE_COUNT_LO);
		assert_true(steady(b, GPU_CYCLE_COUNT_LO) > cycles);
		wr(b, GPU_CMD, GPU_CMD_CYCLE_COUNT_STOP);
		cycles = steady(b, GPU_CYCLE_COUNT_LO);
		assert_true(cycles > 0);
		assert_true(steady(b, GPU_TIMESTAMP_LO) > then);
		assert_int_equal(steady(b, GPU_CYCLE_COUNT_LO), cycles);
		assert_int_equal(rd(b, GPU_STATUS) & 1u << 6, 0);
		/* a reset clears the cycle counter, but not the time */
		then = steady(b, GPU_TIMESTAMP_LO);
		assert_true(replay_soft_reset(b));
		assert_int_equal(steady(b, GPU_CYCLE_COUNT_LO), 0);
		assert_true(steady(b, GPU_TIMESTAMP_LO) > then);
		replay_end(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_up_and_down),
		cmocka_unit_test(test_a_power_off_that_finds_nothing_on),
		cmocka_unit_test(test_ready_and_transition),
		cmocka_unit_test(test_slow_power_within_the_limits),
		cmocka_unit_test(test_power_that_sticks),
		cmocka_unit_test(test_active),
		cmocka_unit_test(test_cycle_counter_and_timestamp),
	};

	return cmocka_run_group_tests_name("sim-replay_power", tests, NULL, NULL);
}
