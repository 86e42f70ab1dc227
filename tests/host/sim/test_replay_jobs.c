// SPDX-License-Identifier: MIT
/*
 * Jobs as Panfrost runs them: the NEXT registers, the flush ID, and an interrupt
 * handler that must reach the same result at whatever time it is called.
 */
#include "replay_jobs.h"

#define FLAG	JS_CONFIG_JOB_CHAIN_FLAG

/* At VA: a chain of three; one of two; one whose second job has no type. */
#define THREE	(VA + 0x000)
#define TWO	(VA + 0x100)
#define BROKEN	(VA + 0x200)

static const enum agate_sim_gpu gpus[] = { AGATE_SIM_MIDGARD, AGATE_SIM_BIFROST };
#define EACH_GPU(i)	for ((i) = 0; (i) < 2; (i)++)

static struct bench *bench_with_chains(enum agate_sim_gpu gpu)
{
	struct bench *b = replay_up(gpu);

	put_job(b, 0x000, AGATE_JOB_NULL, THREE + 0x40);
	put_job(b, 0x040, AGATE_JOB_NULL, THREE + 0x80);
	put_job(b, 0x080, AGATE_JOB_NULL, 0);
	put_job(b, 0x100, AGATE_JOB_NULL, TWO + 0x40);
	put_job(b, 0x140, AGATE_JOB_NULL, 0);
	put_job(b, 0x200, AGATE_JOB_NULL, BROKEN + 0x40);
	put_job(b, 0x240, 15, 0);
	replay_as_enable(b, 0);
	return b;
}

static void test_submit(void **state)
{
	unsigned int i;

	(void)state;
	EACH_GPU(i) {
		struct bench *b = bench_with_chains(gpus[i]);
		uint32_t cores = rd(b, GPU_SHADER_PRESENT_LO);

		put_job(b, 0x080, AGATE_JOB_NULL, THREE);	/* for ever */
		replay_submit(b, 1, THREE, FLAG);
		/* the slot was free: NEXT is, at once, for another */
		assert_int_equal(rd(b, JS_COMMAND_NEXT(1)), JS_COMMAND_NOP);
		assert_int_equal(rd64(b, JS_HEAD_LO(1)), THREE);
		assert_int_equal(rd64(b, JS_AFFINITY_LO(1)), cores);
		assert_int_equal(rd(b, JS_CONFIG(1)), 0x83b00);
		agate_sim_step(b->sim, 100);
		replay_submit(b, 1, TWO, 0);
		assert_int_equal(rd(b, JS_COMMAND_NEXT(1)), JS_COMMAND_START);
		assert_int_equal(rd64(b, JS_HEAD_NEXT_LO(1)), TWO);
		assert_int_equal(rd(b, JS_STATUS(1)), 0x08);
		assert_int_equal(rd64(b, JS_HEAD_LO(1)), THREE);
		replay_end(b);
	}
}

struct outcome {
	enum chain_end end;
	uint32_t status;
};

static const struct outcome done = { CHAIN_DONE, 0 };
static const struct outcome broken = { CHAIN_FAILED, AGATE_EXC_JOB_CONFIG_FAULT };

static void assert_outcome(const struct chain *chain, const struct outcome *expect)
{
	assert_int_equal(chain->end, expect->end);
	assert_int_equal(chain->status, expect->status);
}

/*
 * Run two chains in a row on one slot, with the handler called at any time and at
 * any pace; all jobs end.  Returns how often the handler saw both ends at its first
 * look.
 */
static unsigned int two_in_a_row(uint64_t first_head, const struct outcome *first_end,
				 uint64_t second_head, const struct outcome *second_end,
				 uint64_t jobs)
{
	unsigned int wait, pace, together = 0;

	for (wait = 0; wait < 40; wait++) {
		for (pace = 0; pace < 5; pace++) {
			struct books k = { .b = bench_with_chains(AGATE_SIM_MIDGARD),
					   .pace = pace };
			struct chain first = { .head = first_head };
			struct chain second = { .head = second_head };

			books_submit(&k, 0, &first, FLAG);
			books_submit(&k, 0, &second, 0);
			agate_sim_step(k.b->sim, wait);
			together += rd(k.b, JOB_INT_RAWSTAT) == SLOT_BITS(0);
			books_serve(&k);
			books_finish(&k);
			assert_outcome(&first, first_end);
			assert_outcome(&second, second_end);
			assert_int_equal(counter(k.b, AGATE_CNT_JOBS), jobs);
			replay_end(k.b);
		}
	}
	return together;
}

/* However many interrupts come, the driver knows that both are done. */
static void test_both_done(void **state)
{
	(void)state;
	two_in_a_row(THREE, &done, TWO, &done, 5);
}

/* The first done, the second failed: in one interrupt, in two, or between. */
static void test_done_and_failed(void **state)
{
	(void)state;
	assert_true(two_in_a_row(THREE, &done, BROKEN, &broken, 4) > 0);
}

/* The first fails: the second is held back, withdrawn, and queued again by START alone. */
static void test_failed_and_done(void **state)
{
	(void)state;
	two_in_a_row(BROKEN, &broken, TWO, &done, 3);
}

/* Slots are independent: one fails, one is done, one keeps working. */
static void test_three_slots(void **state)
{
	unsigned int wait, pace;

	(void)state;
	for (wait = 0; wait < 60; wait++) {
		for (pace = 0; pace < 3; pace++) {
			struct books k = { .b = bench_with_chains(AGATE_SIM_BIFROST),
					   .pace = pace };
			struct chain good = { .head = THREE }, bad = { .head = BROKEN };
			struct chain more = { .head = TWO }, ring = { .head = VA + 0x300 };

			put_job(k.b, 0x300, AGATE_JOB_NULL, VA + 0x300);
			books_submit(&k, 2, &ring, 0);
			books_submit(&k, 0, &bad, 0);
			books_submit(&k, 1, &good, 0);
			books_submit(&k, 1, &more, FLAG);
			agate_sim_step(k.b->sim, wait);
			books_serve(&k);
			agate_sim_step(k.b->sim, 200);
			books_serve(&k);
			assert_int_equal(bad.end, CHAIN_FAILED);
			assert_int_equal(good.end, CHAIN_DONE);
			assert_int_equal(more.end, CHAIN_DONE);
			assert_int_equal(ring.end, CHAIN_OPEN);
			assert_int_equal(rd(k.b, JS_STATUS(2)), 0x08);
			replay_end(k.b);
		}
	}
}

/* CLEAR samples JS_STATE; a later event sets a bit of RAWSTAT. */
static void test_js_state_is_of_the_clear(void **state)
{
	struct bench *b = bench_with_chains(AGATE_SIM_MIDGARD);

	(void)state;
	replay_submit(b, 0, THREE, FLAG);
	replay_submit(b, 0, TWO, 0);
	while (rd(b, JOB_INT_RAWSTAT) != JOB_INT_DONE(0))
		assert_true(agate_sim_step(b->sim, 1));
	wr(b, JOB_INT_CLEAR, JOB_INT_DONE(0));
	settle(b);		/* the second ends before JS_STATE is read */
	assert_int_equal(rd(b, JOB_INT_JS_STATE), JOB_JS_STATE_CURRENT(0));
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), JOB_INT_DONE(0));
	wr(b, JOB_INT_CLEAR, JOB_INT_DONE(0));
	assert_int_equal(rd(b, JOB_INT_JS_STATE), 0);
	replay_end(b);
}

/*
 * The driver reads the ID after user space's last write; a later flush, for example
 * of the chain before, makes the flush at the start unnecessary.
 */
static void test_flush_id(void **state)
{
	struct bench *b = bench_with_chains(AGATE_SIM_BIFROST);
	uint32_t id, now;

	(void)state;
	replay_submit(b, 0, THREE, 0);
	settle(b);
	id = rd(b, GPU_LATEST_FLUSH_ID);
	replay_describe(b, 1, TWO, JS_CONFIG_ENABLE_FLUSH_REDUCTION);
	wr(b, JS_FLUSH_ID_NEXT(1), id);
	assert_int_equal(rd(b, JS_FLUSH_ID_NEXT(1)), id);
	wr(b, JS_COMMAND_NEXT(1), JS_COMMAND_START);
	settle(b);
	now = rd(b, GPU_LATEST_FLUSH_ID);
	assert_int_equal(now - id, 2);		/* none came: at the start and the end */
	replay_describe(b, 1, TWO, JS_CONFIG_ENABLE_FLUSH_REDUCTION);
	wr(b, JS_FLUSH_ID_NEXT(1), id);
	wr(b, JS_COMMAND_NEXT(1), JS_COMMAND_START);
	settle(b);
	assert_int_equal(rd(b, GPU_LATEST_FLUSH_ID) - now, 1);	/* at the end alone */
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), JOB_INT_DONE(0) | JOB_INT_DONE(1));
	replay_end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_submit),
		cmocka_unit_test(test_both_done),
		cmocka_unit_test(test_done_and_failed),
		cmocka_unit_test(test_failed_and_done),
		cmocka_unit_test(test_three_slots),
		cmocka_unit_test(test_js_state_is_of_the_clear),
		cmocka_unit_test(test_flush_id),
	};

	return cmocka_run_group_tests_name("sim-replay_jobs", tests, NULL, NULL);
}
