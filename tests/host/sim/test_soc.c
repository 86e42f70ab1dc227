// SPDX-License-Identifier: MIT
/*
 * Power input, supply and clock: allowed settings, hints for a wrong order, and the
 * time of the same work at each operating point.
 */
#include "gpu_bench.h"

static void test_a_reset_changes_none_of_it(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, AGATE_CLK_SELECT, 1);
	wr(b, AGATE_VOLT_SELECT, 760);
	wr(b, GPU_CMD, GPU_CMD_HARD_RESET);
	wr(b, AGATE_VOLT_SELECT, 770);	/* works during a reset */
	poll_reg(b, GPU_INT_RAWSTAT, GPU_IRQ_RESET_COMPLETED, GPU_IRQ_RESET_COMPLETED);
	assert_int_equal(rd(b, AGATE_CLK_SELECT), 1);
	assert_int_equal(rd(b, AGATE_VOLT_SELECT), 770);
	assert_int_equal(rd(b, AGATE_POWER_IN), 1);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

/* ---- The order ------------------------------------------------------------- */

static void test_up_and_down_in_the_right_order(void **state)
{
	struct bench *b = bench_new();
	int point;

	(void)state;
	for (point = 3; point >= 0; point--) {
		wr(b, AGATE_CLK_SELECT, (uint32_t)point);
		wr(b, AGATE_VOLT_SELECT, rd(b, AGATE_CLK_TABLE_VOLT(point)));
	}
	for (point = 0; point < 4; point++) {
		wr(b, AGATE_VOLT_SELECT, rd(b, AGATE_CLK_TABLE_VOLT(point)));
		wr(b, AGATE_CLK_SELECT, (uint32_t)point);
		assert_int_equal(last_event(b, AGATE_EV_CLOCK)->a, 200 * (point + 1));
	}
	assert_int_equal(count_events(b, AGATE_EV_CLOCK), 16);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_frequency_before_voltage(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, AGATE_CLK_SELECT, 0);
	wr(b, AGATE_VOLT_SELECT, 650);
	wr(b, AGATE_CLK_SELECT, 2);
	assert_true(hinted(b, "the frequency is raised before the voltage"));
	assert_int_equal(rd(b, AGATE_CLK_SELECT), 2);	/* it happens all the same */
	forget_events(b);
	wr(b, AGATE_CLK_SELECT, 1);	/* too fast still, but an improvement */
	wr(b, AGATE_VOLT_SELECT, 700);
	wr(b, AGATE_VOLT_SELECT, 850);
	wr(b, AGATE_CLK_SELECT, 2);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_voltage_lowered_before_frequency(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, AGATE_VOLT_SELECT, 1200);
	wr(b, AGATE_VOLT_SELECT, 1000);		/* enough for 800 MHz */
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	wr(b, AGATE_VOLT_SELECT, 999);
	assert_true(hinted(b, "the voltage is lowered before the frequency"));
	assert_int_equal(last_event(b, AGATE_EV_HINT)->a, 700);
	assert_int_equal(rd(b, AGATE_VOLT_SELECT), 999);
	bench_free(b);
}

static void test_what_does_not_exist(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, AGATE_CLK_SELECT, 4);
	assert_true(hinted(b, "CLK_SELECT names no operating point"));
	wr(b, AGATE_VOLT_SELECT, 499);
	assert_true(hinted(b, "VOLT_SELECT asks for a voltage that the supply cannot give"));
	wr(b, AGATE_VOLT_SELECT, 1201);
	wr(b, AGATE_CLK_TABLE_FREQ(3), 900);
	assert_true(hinted(b, "a write to a read-only register is ignored"));
	assert_int_equal(rd(b, AGATE_CLK_SELECT), 3);
	assert_int_equal(rd(b, AGATE_VOLT_SELECT), 1000);
	assert_int_equal(rd(b, AGATE_CLK_TABLE_FREQ(3)), 800);
	forget_events(b);
	assert_int_equal(rd(b, AGATE_CLK_TABLE_FREQ(4)), 0);
	wr(b, AGATE_CLK_TABLE_FREQ(4), 1);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 2);
	bench_free(b);
}

/* ---- Power input ------------------------------------------------------------ */

static void test_no_domain_without_the_power_input(void **state)
{
	const struct agate_sim_config config = {
		.gpu = AGATE_SIM_MIDGARD, .power_in_off = true,
	};
	struct bench *b = bench_new_with(&config);

	(void)state;
	assert_int_equal(rd(b, AGATE_POWER_IN), 0);
	wr(b, GPU_L2_PWRON_LO, 1);
	assert_true(hinted(b, "PWRON without POWER_IN is ignored"));
	assert_int_equal(rd(b, GPU_L2_PWRTRANS_LO), 0);
	settle(b);
	assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
	forget_events(b);
	wr(b, AGATE_POWER_IN, 1);
	bench_power_on(b);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

/* Each access counts, to any block of the GPU; those to the system around it do not. */
static void test_no_register_without_the_power_input(void **state)
{
	static const uint32_t inside[] = {
		GPU_ID, GPU_INT_MASK, JOB_INT_MASK, JS_HEAD_NEXT_LO(1), MMU_INT_MASK, AS_STATUS(7),
	};
	static const uint32_t outside[] = {
		AGATE_POWER_IN, AGATE_CLK_SELECT, AGATE_VOLT_SELECT, AGATE_CLK_TABLE_FREQ(1),
		AGATE_COUNTER_LO(0), AGATE_LISTED_START_LO(0),
	};
	struct bench *b = bench_new();

	(void)state;
	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
		rd(b, inside[i]);
	wr(b, AGATE_POWER_IN, 0);
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		rd(b, outside[i]);
	wr(b, AGATE_VOLT_SELECT, 1000);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
		forget_events(b);
		rd(b, inside[i]);
		assert_true(hinted(b, "a register of the GPU was used while POWER_IN is off"));
		assert_int_equal(count_events(b, AGATE_EV_HINT), 1);
	}
	/* The model goes on as if it had power. */
	assert_int_equal(rd(b, GPU_ID), 0x0a860010);
	forget_events(b);
	wr(b, GPU_INT_MASK, 0);
	assert_true(hinted(b, "a register of the GPU was used while POWER_IN is off"));
	forget_events(b);
	wr(b, AGATE_POWER_IN, 1);
	wr(b, GPU_INT_MASK, 0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_commands_that_need_the_l2(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, AS_COMMAND(0), AS_COMMAND_NOP);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_CLEAR);
	wr(b, GPU_PERFCNT_CFG, GPU_PERFCNT_CFG_MODE_MANUAL);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	assert_true(hinted(b, "PERFCNT_SAMPLE while the L2 is off"));
	wr(b, AS_COMMAND(0), AS_COMMAND_UPDATE);
	assert_true(hinted(b, "an AS command while the L2 is off"));
	/* A domain that is on its way is not on. */
	settle(b);
	poll_reg(b, AS_STATUS(0), AS_STATUS_AS_ACTIVE, 0);
	wr(b, GPU_L2_PWRON_LO, 1);
	forget_events(b);
	wr(b, AS_COMMAND(0), AS_COMMAND_UPDATE);
	assert_true(hinted(b, "an AS command while the L2 is off"));
	poll_reg(b, AS_STATUS(0), AS_STATUS_AS_ACTIVE, 0);
	poll_reg(b, GPU_L2_READY_LO, 1, 1);
	forget_events(b);
	wr(b, AS_COMMAND(0), AS_COMMAND_UPDATE);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_the_power_input_goes_away(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_job(b, 0, AGATE_JOB_NULL, VA);	/* for ever */
	start_job(b, 0, VA, 0);
	agate_sim_step(b->sim, 10);
	wr(b, AGATE_POWER_IN, 0);
	assert_true(hinted(b, "POWER_IN is switched off with power domains on"));
	assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
	assert_int_equal(rd(b, GPU_SHADER_READY_LO), 0);
	assert_int_equal(rd(b, GPU_TILER_READY_LO), 0);
	assert_int_equal(count_events(b, AGATE_EV_POWER), 3);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_JOB_POWER_FAULT);
	/* Domains that were on stay off until they are switched on. */
	wr(b, AGATE_POWER_IN, 1);
	assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
	bench_free(b);
}

static void test_the_power_input_goes_away_in_transition(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_L2_PWRON_LO, 1);
	wr(b, AGATE_POWER_IN, 0);
	assert_true(hinted(b, "POWER_IN is switched off with power domains on"));
	assert_int_equal(rd(b, GPU_L2_PWRTRANS_LO), 0);
	settle(b);
	assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
	bench_free(b);
}

static void test_off_when_all_is_off(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	bench_power_on(b);
	wr(b, GPU_TILER_PWROFF_LO, 1);
	wr(b, GPU_SHADER_PWROFF_LO, 0xf);
	poll_reg(b, GPU_TILER_PWRTRANS_LO, 1, 0);
	poll_reg(b, GPU_SHADER_PWRTRANS_LO, 0xf, 0);
	wr(b, GPU_L2_PWROFF_LO, 1);
	poll_reg(b, GPU_L2_PWRTRANS_LO, 1, 0);
	wr(b, AGATE_POWER_IN, 0);
	wr(b, AGATE_POWER_IN, 0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	assert_int_equal(count_events(b, AGATE_EV_CLOCK), 1);
	bench_free(b);
}

/* ---- Time -------------------------------------------------------------------- */

/* Bus cycles that one NULL job keeps its slot busy: 8 + 1 + 4 of the GPU's. */
static uint64_t busy_at(unsigned int point)
{
	struct bench *b = bench_ready();
	uint64_t before, busy;

	wr(b, AGATE_CLK_SELECT, point);
	put_job(b, 0, AGATE_JOB_NULL, 0);
	start_job(b, 0, VA, 0);
	before = agate_sim_time(b->sim);
	settle(b);
	busy = agate_sim_slot_busy(b->sim, 0);
	/* Apart from the work only a walk took time, at any clock: 4 levels. */
	assert_int_equal(agate_sim_time(b->sim) - before, busy + 4);
	bench_free(b);
	return busy;
}

static void test_work_takes_longer_at_a_slow_clock(void **state)
{
	(void)state;
	assert_int_equal(busy_at(3), 13);
	assert_int_equal(busy_at(2), 17);	/* 13 * 4 / 3 = 17.3: the remainder carries over */
	assert_int_equal(busy_at(1), 26);
	assert_int_equal(busy_at(0), 52);
}

static void test_no_part_of_a_cycle_is_lost(void **state)
{
	struct bench *b = bench_ready();
	unsigned int i;

	(void)state;
	wr(b, AGATE_CLK_SELECT, 2);
	for (i = 0; i < 300; i++)
		put_job(b, i * 64, AGATE_JOB_NULL, i < 299 ? VA + (i + 1) * 64 : 0);
	start_job(b, 0, VA, 0);
	settle(b);
	assert_int_equal(agate_sim_slot_busy(b->sim, 0), 300 * 13 * 4 / 3);
	bench_free(b);
}

static void test_the_cycle_counter_follows_the_clock(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	wr(b, GPU_CMD, GPU_CMD_CYCLE_COUNT_START);	/* time 1 */
	assert_int_equal(rd(b, GPU_CYCLE_COUNT_LO), 1);
	wr(b, AGATE_CLK_SELECT, 1);			/* time 3: two cycles at 800 MHz */
	rd(b, GPU_ID);
	rd(b, GPU_ID);
	rd(b, GPU_ID);
	assert_int_equal(rd(b, GPU_CYCLE_COUNT_LO), 2 + 2);	/* time 7: four at 400 MHz */
	assert_int_equal(rd(b, GPU_TIMESTAMP_LO), 8);
	wr(b, AGATE_CLK_SELECT, 3);			/* time 9: 2 + 3 */
	assert_int_equal(rd(b, GPU_CYCLE_COUNT_LO), 5 + 1);
	wr(b, GPU_CMD, GPU_CMD_CYCLE_COUNT_STOP);	/* 7 */
	wr(b, AGATE_CLK_SELECT, 0);
	assert_int_equal(rd(b, GPU_CYCLE_COUNT_LO), 7);
	bench_free(b);
}

/* ---- Load ------------------------------------------------------------------- */

static void test_idle_time_passes(void **state)
{
	struct bench *b = bench_ready();
	uint64_t before = agate_sim_time(b->sim);

	(void)state;
	assert_true(agate_sim_idle(b->sim, 1000000));
	assert_int_equal(agate_sim_time(b->sim), before + 1000000);
	assert_int_equal(rd64(b, GPU_TIMESTAMP_LO), before + 1000000 + 1);
	/* Nobody waits for the transition; time ends it all the same. */
	wr(b, GPU_TILER_PWROFF_LO, 1);
	assert_true(agate_sim_idle(b->sim, 1000000));
	assert_int_equal(last_event(b, AGATE_EV_POWER)->b, 0);
	bench_free(b);
}

static void test_no_idle_time_while_there_is_work(void **state)
{
	struct bench *b = bench_ready();
	uint64_t before;

	(void)state;
	put_job(b, 0, AGATE_JOB_NULL, VA);	/* for ever */
	start_job(b, 0, VA, 0);
	before = agate_sim_time(b->sim);
	assert_false(agate_sim_idle(b->sim, 10));
	assert_int_equal(agate_sim_time(b->sim), before);
	bench_free(b);
}

/* The GPU counts from the start of a chain to the end of the last one, at any clock. */
static void test_busy_counts_the_time_with_chains(void **state)
{
	struct bench *b = bench_ready();
	uint64_t start, busy, read;

	(void)state;
	assert_int_equal(counter(b, AGATE_CNT_BUSY), 0);
	wr(b, AGATE_CLK_SELECT, 0);
	put_job(b, 0, AGATE_JOB_NULL, 0);
	start_job(b, 0, VA, 0);
	start = agate_sim_time(b->sim);
	settle(b);
	busy = agate_sim_time(b->sim) - start;
	assert_int_equal(counter(b, AGATE_CNT_BUSY), busy);
	assert_true(agate_sim_idle(b->sim, 5000));
	assert_int_equal(counter(b, AGATE_CNT_BUSY), busy);

	/* Two slots at the same time count once. */
	put_job(b, 0, AGATE_JOB_NULL, VA);
	wr(b, JOB_INT_CLEAR, 1);
	start_job(b, 0, VA, 0);
	start = agate_sim_time(b->sim);
	agate_sim_step(b->sim, 10);
	start_job(b, 1, VA, 0);
	agate_sim_step(b->sim, 10);
	assert_int_equal(counter(b, AGATE_CNT_BUSY), busy + agate_sim_time(b->sim) - start);
	/* A guest reads the same, a bus cycle later, and a reset ends all chains. */
	read = rd(b, AGATE_COUNTER_LO(AGATE_CNT_BUSY));
	assert_int_equal(read, busy + agate_sim_time(b->sim) - start);
	wr(b, GPU_CMD, GPU_CMD_SOFT_RESET);
	busy = counter(b, AGATE_CNT_BUSY);
	settle(b);
	assert_true(agate_sim_idle(b->sim, 5000));
	assert_int_equal(counter(b, AGATE_CNT_BUSY), busy);
	bench_free(b);
}

static void test_a_chain_that_waits_for_its_driver_is_busy(void **state)
{
	struct bench *b = bench_ready();
	uint64_t before;

	(void)state;
	start_job(b, 0, VA + MAPPED_PAGES * 0x1000, 0);
	settle(b);
	before = counter(b, AGATE_CNT_BUSY);
	assert_true(agate_sim_idle(b->sim, 700));
	assert_int_equal(counter(b, AGATE_CNT_BUSY), before + 700);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_reset_changes_none_of_it),
		cmocka_unit_test(test_up_and_down_in_the_right_order),
		cmocka_unit_test(test_frequency_before_voltage),
		cmocka_unit_test(test_voltage_lowered_before_frequency),
		cmocka_unit_test(test_what_does_not_exist),
		cmocka_unit_test(test_no_domain_without_the_power_input),
		cmocka_unit_test(test_no_register_without_the_power_input),
		cmocka_unit_test(test_commands_that_need_the_l2),
		cmocka_unit_test(test_the_power_input_goes_away),
		cmocka_unit_test(test_the_power_input_goes_away_in_transition),
		cmocka_unit_test(test_off_when_all_is_off),
		cmocka_unit_test(test_work_takes_longer_at_a_slow_clock),
		cmocka_unit_test(test_no_part_of_a_cycle_is_lost),
		cmocka_unit_test(test_the_cycle_counter_follows_the_clock),
		cmocka_unit_test(test_idle_time_passes),
		cmocka_unit_test(test_no_idle_time_while_there_is_work),
		cmocka_unit_test(test_busy_counts_the_time_with_chains),
		cmocka_unit_test(test_a_chain_that_waits_for_its_driver_is_busy),
	};

	return cmocka_run_group_tests_name("sim-soc", tests, NULL, NULL);
}
