// SPDX-License-Identifier: MIT
/*
 * The counter powered_idle: bus cycles with a supply on that nothing needs.
 */
#include "gpu_bench.h"

#include "model.h"

static const struct agate_sim_config with_card = {
	.gpu = AGATE_SIM_MIDGARD, .card = true, .seed = 1, .power_latency = 100,
};

static uint64_t idle_cycles(struct bench *b, uint64_t cycles)
{
	uint64_t before = counter(b, AGATE_CNT_POWERED_IDLE);

	assert_true(agate_sim_idle(b->sim, cycles));
	return counter(b, AGATE_CNT_POWERED_IDLE) - before;
}

static void test_either_supply(void **state)
{
	struct bench *b = bench_new_with(&with_card);
	uint64_t before;

	(void)state;
	assert_int_equal(idle_cycles(b, 1000), 1000);
	wr(b, AGATE_POWER_IN, 0);
	assert_int_equal(idle_cycles(b, 1000), 1000);	/* the card is on */
	wr(b, AGATE_CARD_POWER, 0);
	assert_int_equal(idle_cycles(b, 1000), 0);
	wr(b, AGATE_POWER_IN, 1);
	assert_int_equal(idle_cycles(b, 1000), 1000);
	wr(b, GPU_L2_PWRON_LO, 1);
	assert_int_equal(idle_cycles(b, 10), 0);	/* in transition */
	assert_int_equal(idle_cycles(b, 1000), 0);
	wr(b, GPU_L2_PWROFF_LO, 1);
	assert_int_equal(idle_cycles(b, 1000), 900);	/* they are off in the middle */
	assert_int_equal(idle_cycles(b, 1000), 1000);
	b->sim->card.busy = true;	/* as the mover does */
	rd(b, GPU_ID);
	before = counter(b, AGATE_CNT_POWERED_IDLE);
	rd(b, GPU_ID);
	assert_int_equal(counter(b, AGATE_CNT_POWERED_IDLE), before);
	b->sim->card.busy = false;
	rd(b, GPU_ID);
	before = counter(b, AGATE_CNT_POWERED_IDLE);
	rd(b, GPU_ID);		/* an access is a cycle */
	assert_int_equal(counter(b, AGATE_CNT_POWERED_IDLE) - before, 1);
	/* The end of a transition that the driver polls for. */
	wr(b, GPU_L2_PWRON_LO, 1);
	before = counter(b, AGATE_CNT_POWERED_IDLE);
	poll_reg(b, GPU_L2_READY_LO, 1, 1);
	assert_int_equal(counter(b, AGATE_CNT_POWERED_IDLE), before);
	bench_free(b);
}

/* The launcher's change counts from its own time on, and not from the next access. */
static void test_the_supply_is_cut(void **state)
{
	struct bench *b = bench_new_with(&with_card);

	(void)state;
	wr(b, AGATE_POWER_IN, 0);
	assert_int_equal(idle_cycles(b, 1000), 1000);
	agate_sim_power_cut(b->sim, true);
	assert_int_equal(idle_cycles(b, 1000), 0);
	agate_sim_power_cut(b->sim, false);
	assert_int_equal(idle_cycles(b, 1000), 1000);
	bench_free(b);
}

static void test_without_a_card(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	assert_int_equal(idle_cycles(b, 1000), 1000);
	wr(b, AGATE_POWER_IN, 0);
	assert_int_equal(idle_cycles(b, 1000), 0);
	bench_free(b);
}

/* Also one that only waits, and one whose time ends in the same unit of work. */
static void test_a_chain_needs_it(void **state)
{
	struct bench *b = bench_ready();
	uint64_t before;

	(void)state;
	before = counter(b, AGATE_CNT_POWERED_IDLE);
	put_job(b, 0, AGATE_JOB_NULL, 0);
	start_job(b, 1, VA + 0x10000, 0);	/* a page fault */
	settle(b);
	rd(b, GPU_ID);
	assert_int_equal(counter(b, AGATE_CNT_POWERED_IDLE), before);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_either_supply),
		cmocka_unit_test(test_the_supply_is_cut),
		cmocka_unit_test(test_without_a_card),
		cmocka_unit_test(test_a_chain_needs_it),
	};

	return cmocka_run_group_tests_name("sim-powered", tests, NULL, NULL);
}
