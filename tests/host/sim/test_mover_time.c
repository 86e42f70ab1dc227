// SPDX-License-Identifier: MIT
/*
 * The time that the mover takes, and its turns with chains.
 */
#include "mover_bench.h"

static struct agate_mover_cmd fill(uint32_t length)
{
	return (struct agate_mover_cmd){
		.op = AGATE_MOVER_FILL, .dst = DATA_PA, .length = length, .value = ~0ull,
	};
}

static void test_a_cycle_for_64_bytes(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fill(0x40000);
	uint64_t begun;

	(void)state;
	put_cmd(b, 0, &cmd);
	wr(b, RING_TAIL, 1);
	begun = agate_sim_time(b->sim);
	settle(b);
	/* And one each for the context and the command. */
	assert_int_equal(agate_sim_time(b->sim) - begun, 2 + 0x40000 / 64);
	bench_free(b);
}

/* A chain gets its turn after each 64 KiB. */
static void test_it_takes_turns_with_chains(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fill(0x100000);
	unsigned int jobs;

	(void)state;
	bench_reset(b);
	bench_power_on(b);
	put_tables(b);
	as_set_table(b, 0, TABLE_L0);
	put_job(b, 0, AGATE_JOB_NULL, VA);
	start_job(b, 0, VA, 0);
	put_cmd(b, 0, &cmd);
	wr(b, RING_TAIL, 1);
	agate_sim_step(b->sim, 36);	/* 18 for each */
	assert_int_equal(rd(b, RING_HEAD), 1);
	jobs = (unsigned int)counter(b, AGATE_CNT_JOBS);
	assert_in_range(jobs, 5, 18);
	bench_free(b);
}

static void test_no_idle_time_while_it_is_busy(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	put_cmd(b, 0, &(struct agate_mover_cmd){ .op = AGATE_MOVER_NOP });
	wr(b, RING_TAIL, 1);
	assert_false(agate_sim_idle(b->sim, 100));
	settle(b);
	assert_true(agate_sim_idle(b->sim, 100));
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_cycle_for_64_bytes),
		cmocka_unit_test(test_it_takes_turns_with_chains),
		cmocka_unit_test(test_no_idle_time_while_it_is_busy),
	};

	return cmocka_run_group_tests_name("sim-mover_time", tests, NULL, NULL);
}
