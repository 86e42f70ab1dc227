// SPDX-License-Identifier: MIT
/*
 * Values that a launcher can make up: another identity and GPU faults; and their
 * removal.
 */
#include "gpu_bench.h"

static const uint32_t identity_regs[AGATE_SIM_IDENTITIES] = {
	0x000, 0x004, 0x008, 0x00c, 0x010, 0x014, 0x0ac, 0x0a0, 0x0a4, 0x0a8,
};

static void test_an_identity_of_its_own(void **state)
{
	struct bench *b = bench_new();
	uint32_t own[AGATE_SIM_IDENTITIES];
	unsigned int i;

	(void)state;
	for (i = 0; i < AGATE_SIM_IDENTITIES; i++) {
		own[i] = rd(b, identity_regs[i]);
		agate_sim_set_identity(b->sim, i, 0x1000 + i);
	}
	bench_reset(b);
	for (i = 0; i < AGATE_SIM_IDENTITIES; i++)
		assert_int_equal(rd(b, identity_regs[i]), 0x1000 + i);
	agate_sim_set_identity(b->sim, AGATE_SIM_CORE_FEATURES, 0);
	assert_int_equal(rd(b, 0x008), 0);
	bench_power_on(b);		/* nothing depends on it */
	agate_sim_restore(b->sim);
	for (i = 0; i < AGATE_SIM_IDENTITIES; i++)
		assert_int_equal(rd(b, identity_regs[i]), own[i]);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_one_fault_a_reset(void **state)
{
	struct bench *b = bench_new();
	unsigned int round;

	(void)state;
	agate_sim_set_fault(b->sim, 0x88, 0x8123456789ull);
	for (round = 1; round <= 2; round++) {
		bench_reset(b);
		assert_int_equal(rd(b, GPU_FAULT_STATUS), 0);
		wr(b, GPU_INT_MASK, GPU_IRQ_RESET_COMPLETED | GPU_IRQ_MULTIPLE_FAULT);
		assert_int_equal(rd(b, GPU_INT_RAWSTAT) & GPU_IRQ_FAULT, 0);
		wr(b, GPU_INT_CLEAR, GPU_IRQ_RESET_COMPLETED);
		b->messages[AGATE_VECTOR_GPU] = 0;
		wr(b, GPU_INT_MASK, GPU_IRQ_FAULT);
		assert_int_equal(b->messages[AGATE_VECTOR_GPU], 1);
		assert_int_equal(rd(b, GPU_INT_STAT), GPU_IRQ_FAULT);
		assert_int_equal(rd(b, GPU_FAULT_STATUS), 0x88);
		assert_int_equal(rd64(b, GPU_FAULT_ADDRESS_LO), 0x8123456789ull);
		wr(b, GPU_INT_CLEAR, GPU_IRQ_FAULT);
		wr(b, GPU_INT_MASK, 0);
		wr(b, GPU_INT_MASK, GPU_IRQ_FAULT);
		assert_int_equal(rd(b, GPU_INT_STAT), 0);
		assert_int_equal(b->messages[AGATE_VECTOR_GPU], 1);
	}
	agate_sim_set_fault(b->sim, 0, 0);
	bench_reset(b);
	wr(b, GPU_INT_MASK, GPU_IRQ_FAULT);
	assert_int_equal(rd(b, GPU_INT_STAT), 0);
	bench_free(b);
}

static void test_one_transition_that_sticks(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	agate_sim_set_latency_once(b->sim, AGATE_SIM_LATENCY_AS, AGATE_SIM_LATENCY_STUCK);
	bench_reset(b);
	wr(b, AS_COMMAND(0), AS_COMMAND_UPDATE);
	wr(b, AS_COMMAND(1), AS_COMMAND_UPDATE);
	poll_reg(b, AS_STATUS(1), AS_STATUS_AS_ACTIVE, 0);
	assert_int_equal(rd(b, AS_STATUS(0)), AS_STATUS_AS_ACTIVE);
	agate_sim_set_latency_once(b->sim, AGATE_SIM_LATENCY_AS, AGATE_SIM_LATENCY_STUCK);
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_AS, 0);
	wr(b, AS_COMMAND(2), AS_COMMAND_UPDATE);
	poll_reg(b, AS_STATUS(2), AS_STATUS_AS_ACTIVE, 0);
	agate_sim_set_latency_once(b->sim, AGATE_SIM_LATENCY_AS, AGATE_SIM_LATENCY_STUCK);
	agate_sim_restore(b->sim);
	wr(b, AS_COMMAND(3), AS_COMMAND_UPDATE);
	poll_reg(b, AS_STATUS(3), AS_STATUS_AS_ACTIVE, 0);
	bench_free(b);
}

static void test_restore_ends_what_sticks(void **state)
{
	const struct agate_sim_config config = { .hard_reset_latency = 500 };
	struct bench *b = bench_new_with(&config);
	uint64_t start;

	(void)state;
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_RESET, AGATE_SIM_LATENCY_STUCK);
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_HARD_RESET, AGATE_SIM_LATENCY_STUCK);
	wr(b, GPU_CMD, GPU_CMD_SOFT_RESET);
	wr(b, GPU_CMD, GPU_CMD_HARD_RESET);
	wr(b, GPU_INT_MASK, GPU_IRQ_RESET_COMPLETED);
	assert_false(agate_sim_step(b->sim, 1000));
	start = agate_sim_time(b->sim);
	agate_sim_restore(b->sim);
	settle(b);
	assert_int_equal(last_event(b, AGATE_EV_IRQ)->time, start + 500);
	agate_sim_restore(b->sim);		/* nothing more to end */
	bench_reset(b);
	bench_power_on(b);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_identity_of_its_own),
		cmocka_unit_test(test_one_fault_a_reset),
		cmocka_unit_test(test_one_transition_that_sticks),
		cmocka_unit_test(test_restore_ends_what_sticks),
	};

	return cmocka_run_group_tests_name("made_up", tests, NULL, NULL);
}
