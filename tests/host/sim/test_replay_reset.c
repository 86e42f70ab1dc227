// SPDX-License-Identifier: MIT
/*
 * Ending jobs as Panfrost does: closing a file stops its chains by their flag, and
 * a chain that takes too long is stopped, removed by a reset, and run again.
 */
#include "replay_jobs.h"

#define FLAG	JS_CONFIG_JOB_CHAIN_FLAG
#define RING	(VA + 0x000)		/* never ends */
#define SHORT	(VA + 0x100)
#define LONG	(VA + 0x1000)		/* LENGTH jobs, each with a word to write */
#define LENGTH	20
#define WORDS	0x4000u
#define HOLE	0x8080610000ull

static const enum agate_sim_gpu gpus[] = { AGATE_SIM_MIDGARD, AGATE_SIM_BIFROST };
#define EACH_GPU(i)	for ((i) = 0; (i) < 2; (i)++)

static void put_chains(struct bench *b)
{
	unsigned int n;

	put_job(b, 0x000, AGATE_JOB_NULL, RING);
	put_job(b, 0x100, AGATE_JOB_NULL, 0);
	for (n = 0; n < LENGTH; n++)
		put_write_value(b, 0x1000 + 64 * n, n + 1 < LENGTH ? LONG + 64 * (n + 1) : 0,
				AGATE_WRITE_IMMEDIATE_64, VA + WORDS + 8 * n, n + 1);
}

static struct books new_books(enum agate_sim_gpu gpu)
{
	struct books k = { .b = replay_up(gpu) };

	put_chains(k.b);
	replay_as_enable(k.b, 0);
	return k;
}

static void expect_words(struct bench *b)
{
	unsigned int n;

	for (n = 0; n < LENGTH; n++)
		assert_int_equal(get64(b, PA + WORDS + 8 * n), n + 1);
}

/* ---- A file is closed -------------------------------------------------------- */

/* Stop one chain, after withdrawing the queued one. */
static void close_chain(struct books *k, unsigned int slot, unsigned int at, uint32_t flag)
{
	if (at == 1) {
		wr(k->b, JS_COMMAND_NEXT(slot), JS_COMMAND_NOP);
		k->of[slot][1]->head = 0;
	}
	wr(k->b, JS_COMMAND(slot), flag ? JS_COMMAND_HARD_STOP_1 : JS_COMMAND_HARD_STOP_0);
}

static void test_close_with_both(void **state)
{
	unsigned int i;

	(void)state;
	EACH_GPU(i) {
		struct books k = new_books(gpus[i]);
		struct chain first = { .head = RING }, second = { .head = SHORT };

		books_submit(&k, 0, &first, FLAG);
		books_submit(&k, 0, &second, 0);
		agate_sim_step(k.b->sim, 50);
		close_chain(&k, 0, 1, 0);
		assert_int_equal(rd(k.b, JS_STATUS(0)), 0x08);	/* the other chain keeps running */
		close_chain(&k, 0, 0, FLAG);
		books_finish(&k);
		assert_int_equal(first.end, CHAIN_FAILED);
		assert_int_equal(first.status, AGATE_EXC_TERMINATED);
		assert_int_equal(second.end, CHAIN_DONE);	/* withdrawn: counts as done */
		assert_int_equal(job_status(k.b, 0x100), 0);	/* it has not */
		replay_end(k.b);
	}
}

/* Another file's chain runs; only the queued chain goes. */
static void test_close_with_the_queued_one(void **state)
{
	struct books k = new_books(AGATE_SIM_MIDGARD);
	struct chain first = { .head = LONG }, second = { .head = SHORT };

	(void)state;
	books_submit(&k, 0, &first, 0);
	books_submit(&k, 0, &second, FLAG);
	agate_sim_step(k.b->sim, 10);
	close_chain(&k, 0, 1, FLAG);
	settle(k.b);
	assert_int_equal(rd(k.b, JOB_INT_RAWSTAT), JOB_INT_DONE(0));
	books_finish(&k);
	assert_int_equal(first.end, CHAIN_DONE);
	assert_int_equal(second.end, CHAIN_DONE);
	assert_int_equal(job_status(k.b, 0x100), 0);
	expect_words(k.b);
	replay_end(k.b);
}

/* This file's chain runs and another file's is queued: the handler queues the latter again. */
static void test_close_with_the_running_one(void **state)
{
	struct books k = new_books(AGATE_SIM_BIFROST);
	struct chain first = { .head = RING }, second = { .head = LONG };

	(void)state;
	books_submit(&k, 1, &first, FLAG);
	books_submit(&k, 1, &second, 0);
	agate_sim_step(k.b->sim, 50);
	close_chain(&k, 1, 0, FLAG);
	books_finish(&k);
	assert_int_equal(first.status, AGATE_EXC_TERMINATED);
	assert_int_equal(second.end, CHAIN_DONE);
	expect_words(k.b);
	replay_end(k.b);
}

/* The chain ends just before its stop is written: the next has another flag. */
static void test_a_stop_that_comes_late(void **state)
{
	unsigned int wait;

	(void)state;
	for (wait = 0; wait < 20; wait++) {
		struct books k = new_books(AGATE_SIM_MIDGARD);
		struct chain first = { .head = SHORT }, second = { .head = LONG };

		books_submit(&k, 0, &first, FLAG);
		books_submit(&k, 0, &second, 0);
		agate_sim_step(k.b->sim, wait);
		close_chain(&k, 0, 0, FLAG);
		books_finish(&k);
		assert_true(first.end == CHAIN_DONE || first.status == AGATE_EXC_TERMINATED);
		assert_int_equal(second.end, CHAIN_DONE);
		expect_words(k.b);
		replay_end(k.b);
	}
}

/* ---- Recovery -------------------------------------------------------------------- */

/* Withdraw queued chains and stop running ones; then wait up to 10 ms. */
static bool stop_all(struct books *k)
{
	uint32_t mask = 0xffffffff, raw, live;
	unsigned int n, looks;

	wr(k->b, JOB_INT_MASK, 0);
	for (n = 0; n < AGATE_MAX_SLOTS; n++) {
		wr(k->b, JS_COMMAND_NEXT(n), JS_COMMAND_NOP);
		wr(k->b, JS_COMMAND(n), JS_COMMAND_SOFT_STOP);
	}
	for (looks = 0; looks < 1000; looks++) {
		live = rd(k->b, JOB_INT_JS_STATE);
		/* an old sample: a slot with an interrupt is out of it */
		raw = rd(k->b, JOB_INT_RAWSTAT);
		for (n = 0; n < AGATE_MAX_SLOTS; n++)
			if (raw & SLOT_BITS(n))
				mask &= ~SLOT_BITS(n);
		if (!(live & mask))
			return true;
		agate_sim_step(k->b->sim, 1);
	}
	return false;
}

/*
 * Stop, serve pending interrupts, reset, and run the chains that have not ended.
 * Chains that never started leave the record first: Panfrost differs here, and
 * counts such a chain as done when the chain before it succeeds in spite of its
 * stop.
 */
static void recover(struct books *k)
{
	struct chain *again[AGATE_MAX_SLOTS][2];
	unsigned int n, at;

	for (n = 0; n < AGATE_MAX_SLOTS; n++) {
		for (at = 0; at < 2; at++)
			again[n][at] = k->of[n][at];
		if (rd(k->b, JS_COMMAND_NEXT(n)) == JS_COMMAND_START)
			k->of[n][1] = NULL;
	}
	assert_true(stop_all(k));
	books_interrupt(k);
	for (n = 0; n < AGATE_MAX_SLOTS; n++)
		k->of[n][0] = k->of[n][1] = NULL;
	replay_bring_up(k->b);
	wr(k->b, JOB_INT_MASK, 0);
	replay_as_enable(k->b, 0);
	for (n = 0; n < AGATE_MAX_SLOTS; n++)
		for (at = 0; at < 2; at++)
			if (again[n][at] && again[n][at]->head)
				books_submit(k, n, again[n][at], at ? FLAG : 0);
	wr(k->b, JOB_INT_MASK, ALL_SLOTS);
}

/* Run two chains, with a recovery after this much work. */
static void stop_and_resume(enum agate_sim_gpu gpu, unsigned int wait, bool sampled)
{
	struct books k = new_books(gpu);
	struct chain first = { .head = LONG }, second = { .head = SHORT };

	books_submit(&k, 0, &first, 0);
	books_submit(&k, 0, &second, FLAG);
	if (sampled)
		wr(k.b, JOB_INT_CLEAR, JOB_INT_DONE(0));
	agate_sim_step(k.b->sim, wait);
	recover(&k);
	books_finish(&k);
	assert_int_equal(first.end, CHAIN_DONE);
	assert_int_equal(second.end, CHAIN_DONE);
	expect_words(k.b);
	if (sampled) {
		assert_int_equal(counter(k.b, AGATE_CNT_JOBS), LENGTH + 1);
		replay_end(k.b);
		return;
	}
	assert_true(counter(k.b, AGATE_CNT_JOBS) >= LENGTH + 1);
	assert_true(counter(k.b, AGATE_CNT_HINTS) ==
		    hinted(k.b, "a reset killed a chain: dirty lines of the L2"));
	bench_free(k.b);
}

/*
 * The driver waits for a chain that JS_STATE shows, and resumes it at TAIL: none of
 * its jobs is lost, and none runs twice.  If no CLEAR has sampled the chain yet,
 * the driver does not wait before the reset, and a chain in mid-job runs again from
 * its start.
 */
static void test_stopped_and_resumed(void **state)
{
	unsigned int i, wait;

	(void)state;
	EACH_GPU(i) {
		for (wait = 0; wait < 90; wait++) {
			stop_and_resume(gpus[i], wait, true);
			stop_and_resume(gpus[i], wait, false);
		}
	}
}

/* A chain that waits for a fault does not react to a soft stop: the reset ends it. */
static void test_reset_in_mid_job(void **state)
{
	unsigned int i;

	(void)state;
	EACH_GPU(i) {
		struct books k = new_books(gpus[i]);
		struct chain stuck = { .head = SHORT };

		put_write_value(k.b, 0x100, 0, AGATE_WRITE_IMMEDIATE_64, HOLE, 7);
		books_submit(&k, 1, &stuck, 0);
		settle(k.b);
		assert_int_equal(rd(k.b, MMU_INT_RAWSTAT), MMU_INT_PAGE_FAULT(0));
		put64(k.b, 0x40003080, REPLAY_LEAF(0x40058000));	/* too late for it */
		recover(&k);
		assert_int_equal(stuck.end, CHAIN_OPEN);
		assert_int_equal(rd(k.b, MMU_INT_RAWSTAT), 0);
		/* it wrote and reported nothing; run from its start, it succeeds */
		assert_int_equal(job_status(k.b, 0x100), 0);
		assert_int_equal(k.b->messages[AGATE_VECTOR_JOB], 0);
		books_finish(&k);
		assert_int_equal(stuck.end, CHAIN_DONE);
		assert_int_equal(get64(k.b, 0x40058000), 7);
		replay_end(k.b);
	}
}

/* A stop that never takes effect: the driver waits 10 ms, and then resets. */
static void test_reset_after_a_stop_that_sticks(void **state)
{
	struct agate_sim_config config = { .stop_latency = AGATE_SIM_LATENCY_STUCK };
	struct books k = { .b = bench_new_with(&config) };
	struct chain ring = { .head = RING };

	(void)state;
	replay_bring_up(k.b);
	put_tables(k.b);
	put_chains(k.b);
	replay_as_enable(k.b, 0);
	books_submit(&k, 0, &ring, 0);
	agate_sim_step(k.b->sim, 50);
	wr(k.b, JOB_INT_CLEAR, JOB_INT_DONE(0));	/* so that JS_STATE shows it */
	assert_false(stop_all(&k));
	assert_int_equal(rd(k.b, JS_STATUS(0)), 0x08);
	replay_bring_up(k.b);
	assert_int_equal(rd(k.b, JS_STATUS(0)), 0);
	assert_int_equal(rd(k.b, JOB_INT_RAWSTAT), 0);
	assert_int_equal(rd(k.b, JOB_INT_JS_STATE), 0);
	replay_as_enable(k.b, 0);
	replay_submit(k.b, 0, LONG, 0);
	settle(k.b);
	expect_words(k.b);
	/* the ring's headers were in the L2, which nobody could have cleaned */
	assert_int_equal(counter(k.b, AGATE_CNT_HINTS), 1);
	assert_true(hinted(k.b, "a reset killed a chain: dirty lines of the L2"));
	bench_free(k.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_close_with_both),
		cmocka_unit_test(test_close_with_the_queued_one),
		cmocka_unit_test(test_close_with_the_running_one),
		cmocka_unit_test(test_a_stop_that_comes_late),
		cmocka_unit_test(test_stopped_and_resumed),
		cmocka_unit_test(test_reset_in_mid_job),
		cmocka_unit_test(test_reset_after_a_stop_that_sticks),
	};

	return cmocka_run_group_tests_name("sim-replay_reset", tests, NULL, NULL);
}
