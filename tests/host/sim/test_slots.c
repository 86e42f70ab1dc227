// SPDX-License-Identifier: MIT
/*
 * Job slots: the NEXT registers, JS_STATE, stops of every kind, reasons that hold a
 * queued chain back, and fairness.
 */
#include "slot_bench.h"

/* ---- The queue of two ------------------------------------------------------- */

static void test_an_idle_slot_takes_the_chain_at_once(void **state)
{
	struct bench *b = bench_slots();

	(void)state;
	start_job(b, 0, N, JS_CONFIG_THREAD_PRI(8));
	assert_int_equal(rd(b, JS_COMMAND_NEXT(0)), 0);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	assert_int_equal(rd64(b, JS_HEAD_LO(0)), N);
	assert_int_equal(rd64(b, JS_AFFINITY_LO(0)), 0xf);
	assert_int_equal(rd(b, JS_CONFIG(0)), 0x80000);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	bench_free(b);
}

static void test_a_chain_waits_in_next(void **state)
{
	struct bench *b = bench_cyclic(0);

	(void)state;
	start_job(b, 0, N, 0);
	assert_int_equal(rd(b, JS_COMMAND_NEXT(0)), JS_COMMAND_START);
	agate_sim_step(b->sim, 50);
	assert_int_equal(rd64(b, JS_HEAD_LO(0)), A);
	assert_int_equal(rd(b, JS_COMMAND_NEXT(0)), JS_COMMAND_START);
	/* break the ring: the chain ends well, and NEXT takes over unasked */
	put64(b, PA + 0x40 + 24, 0);
	settle(b);
	assert_int_equal(rd64(b, JS_HEAD_LO(0)), N);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 1);	/* two ends, one bit */
	assert_int_equal(count_events(b, AGATE_EV_CHAIN_END), 2);
	bench_free(b);
}

static void test_a_queued_chain_can_be_taken_back(void **state)
{
	struct bench *b = bench_cyclic(0);

	(void)state;
	start_job(b, 0, N, 0);
	wr(b, JS_COMMAND_NEXT(0), JS_COMMAND_NOP);
	assert_int_equal(rd(b, JS_COMMAND_NEXT(0)), 0);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	rd(b, JOB_INT_RAWSTAT);
	wr(b, JOB_INT_CLEAR, 0x10000);
	settle(b);
	assert_int_equal(count_events(b, AGATE_EV_CHAIN_START), 1);
	bench_free(b);
}

static void test_a_failure_holds_next_until_it_is_cleared(void **state)
{
	struct bench *b = bench_cyclic(0);

	(void)state;
	start_job(b, 0, N, 0);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TERMINATED);
	assert_int_equal(rd(b, JS_COMMAND_NEXT(0)), JS_COMMAND_START);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0x10000);
	wr(b, JOB_INT_CLEAR, 0x10000);
	assert_int_equal(rd(b, JS_COMMAND_NEXT(0)), 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(rd64(b, JS_HEAD_LO(0)), N);
	bench_free(b);
}

static void test_a_chain_started_after_a_failure_is_held_too(void **state)
{
	struct bench *b = bench_cyclic(0);

	(void)state;
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	start_job(b, 0, N, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TERMINATED);
	rd(b, JOB_INT_RAWSTAT);
	wr(b, JOB_INT_CLEAR, 0x20002);		/* another slot's */
	assert_int_equal(rd(b, JS_COMMAND_NEXT(0)), JS_COMMAND_START);
	wr(b, JOB_INT_CLEAR, 0x10000);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	bench_free(b);
}

static void test_writing_next_while_it_is_queued_is_reported(void **state)
{
	struct bench *b = bench_cyclic(0);

	(void)state;
	start_job(b, 0, N, 0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	wr(b, JS_HEAD_NEXT_LO(0), 0);
	assert_true(hinted(b, "while its chain was queued"));
	wr(b, JS_COMMAND_NEXT(0), JS_COMMAND_START);
	assert_true(hinted(b, "already queued"));
	bench_free(b);
}

static void test_commands_of_the_wrong_register(void **state)
{
	struct bench *b = bench_slots();

	(void)state;
	wr(b, JS_COMMAND(0), JS_COMMAND_START);
	assert_true(hinted(b, "JS_COMMAND_NEXT"));
	assert_int_equal(rd(b, JS_STATUS(0)), 0);
	wr(b, JS_COMMAND_NEXT(0), JS_COMMAND_HARD_STOP);
	assert_true(hinted(b, "only NOP and START"));
	assert_int_equal(rd(b, JS_COMMAND_NEXT(0)), 0);
	bench_free(b);
}

/* ---- JS_STATE ------------------------------------------------------------------ */

static void test_js_state_is_sampled_by_clear(void **state)
{
	struct bench *b = bench_cyclic(0);

	(void)state;
	start_job(b, 0, N, 0);
	assert_int_equal(rd(b, JOB_INT_JS_STATE), 0);	/* nobody has asked */
	wr(b, JOB_INT_CLEAR, 1);
	assert_int_equal(rd(b, JOB_INT_JS_STATE), 0x10001);
	wr(b, JS_COMMAND_NEXT(0), JS_COMMAND_NOP);
	assert_int_equal(rd(b, JOB_INT_JS_STATE), 0x10001);	/* as it was then */
	wr(b, JOB_INT_CLEAR, 0x10000);		/* either bit samples the slot */
	assert_int_equal(rd(b, JOB_INT_JS_STATE), 0x1);
	bench_free(b);
}

static void test_js_state_of_other_slots_stays(void **state)
{
	struct bench *b = bench_cyclic(0);

	(void)state;
	wr(b, JOB_INT_CLEAR, 1);
	put_job(b, 0x100, AGATE_JOB_NULL, VA + 0x100);
	start_job(b, 2, VA + 0x100, 0);
	wr(b, JOB_INT_CLEAR, 4);
	assert_int_equal(rd(b, JOB_INT_JS_STATE), 0x5);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	wr(b, JOB_INT_CLEAR, 4);
	assert_int_equal(rd(b, JOB_INT_JS_STATE), 0x5);
	rd(b, JOB_INT_RAWSTAT);
	wr(b, JOB_INT_CLEAR, 0x10000);
	assert_int_equal(rd(b, JOB_INT_JS_STATE), 0x4);
	bench_free(b);
}

static void test_two_jobs_done_under_one_interrupt(void **state)
{
	struct bench *b = bench_slots();

	(void)state;
	start_job(b, 0, N, 0);
	start_job(b, 0, M, 0);
	settle(b);
	assert_int_equal(b->messages[AGATE_VECTOR_JOB], 1);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 1);
	wr(b, JOB_INT_CLEAR, 1);
	assert_int_equal(rd(b, JOB_INT_JS_STATE), 0);	/* neither is left */
	assert_int_equal(counter(b, AGATE_CNT_JOBS), 2);
	bench_free(b);
}

/* ---- Going in circles ----------------------------------------------------------- */

/* A chain of `lead` jobs that runs into a circle of `length`. */
static void circle(unsigned int lead, unsigned int length)
{
	struct bench *b = bench_slots();
	unsigned int i, n = lead + length;

	for (i = 0; i < n; i++)
		put_job(b, 0x1000 + 64 * i, AGATE_JOB_NULL,
			VA + 0x1000 + 64 * (i + 1 < n ? i + 1 : lead));
	start_job(b, 0, VA + 0x1000, 0);
	agate_sim_step(b->sim, 3 * 10 * (n + 1));
	assert_int_equal(count_events(b, AGATE_EV_CHAIN_CYCLIC), 1);
	assert_true(last_event(b, AGATE_EV_CHAIN_CYCLIC)->b >= VA + 0x1000 + 64 * lead);
	/* every job was reported, but not for ever */
	assert_true(count_events(b, AGATE_EV_JOB_END) >= n);
	assert_true(count_events(b, AGATE_EV_JOB_END) <= 4 * n);
	assert_true(counter(b, AGATE_CNT_JOBS) > count_events(b, AGATE_EV_JOB_END));
	/* the next chain starts from scratch */
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	rd(b, JOB_INT_RAWSTAT);
	wr(b, JOB_INT_CLEAR, 0x10000);
	forget_events(b);
	start_job(b, 0, N, 0);
	settle(b);
	assert_int_equal(count_events(b, AGATE_EV_JOB_END), 1);
	bench_free(b);
}

static void test_circles_are_told_once(void **state)
{
	(void)state;
	circle(0, 1);
	circle(0, 2);
	circle(0, 7);
	circle(1, 1);
	circle(5, 3);
	circle(20, 17);
}

static void test_a_long_chain_is_no_circle(void **state)
{
	struct bench *b = bench_slots();
	unsigned int i;

	(void)state;
	for (i = 0; i < 500; i++)
		put_job(b, 0x1000 + 64 * i, AGATE_JOB_NULL, i < 499 ? VA + 0x1040 + 64 * i : 0);
	start_job(b, 0, VA + 0x1000, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(count_events(b, AGATE_EV_CHAIN_CYCLIC), 0);
	assert_int_equal(count_events(b, AGATE_EV_JOB_START), 500);
	assert_int_equal(count_events(b, AGATE_EV_JOB_END), 500);
	bench_free(b);
}

/* ---- Stops ------------------------------------------------------------------------ */

static void test_soft_stop_ends_at_a_job_boundary(void **state)
{
	struct bench *b = bench_cyclic(0);
	uint64_t tail, done;

	(void)state;
	done = counter(b, AGATE_CNT_JOBS);
	assert_true(done > 10);
	wr(b, JS_COMMAND(0), JS_COMMAND_SOFT_STOP);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_STOPPED);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0x10000);
	assert_true(counter(b, AGATE_CNT_JOBS) <= done + 1);
	/* TAIL is the job that would have come next: A began, and they alternate */
	tail = rd64(b, JS_TAIL_LO(0));
	assert_int_equal(tail, counter(b, AGATE_CNT_JOBS) % 2 ? B : A);
	assert_int_equal(counter(b, AGATE_CNT_JOBS_FAILED), 0);
	bench_free(b);
}

static void test_resume_from_tail(void **state)
{
	struct bench *b = bench_slots();
	unsigned int i;

	(void)state;
	/* ten jobs, each with a place of its own to write */
	for (i = 0; i < 10; i++)
		put_write_value(b, 0x400 + 64 * i, i < 9 ? VA + 0x400 + 64 * (i + 1) : 0,
				AGATE_WRITE_IMMEDIATE_64, VA + 0x2000 + 8 * i, i + 1);
	start_job(b, 0, VA + 0x400, 0);
	agate_sim_step(b->sim, 11);
	wr(b, JS_COMMAND(0), JS_COMMAND_SOFT_STOP);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_STOPPED);
	assert_int_equal(rd64(b, JS_TAIL_LO(0)), VA + 0x400 + 64 * counter(b, AGATE_CNT_JOBS));
	rd(b, JOB_INT_RAWSTAT);
	wr(b, JOB_INT_CLEAR, 0x10000);
	start_job(b, 0, rd64(b, JS_TAIL_LO(0)), 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(counter(b, AGATE_CNT_JOBS), 10);	/* none twice, none lost */
	for (i = 0; i < 10; i++)
		assert_int_equal(get64(b, PA + 0x2000 + 8 * i), i + 1);
	bench_free(b);
}

static void test_soft_stop_before_the_first_job(void **state)
{
	struct bench *b = bench_slots();

	(void)state;
	start_job(b, 0, N, 0);
	wr(b, JS_COMMAND(0), JS_COMMAND_SOFT_STOP);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_STOPPED);
	assert_int_equal(rd64(b, JS_TAIL_LO(0)), N);
	assert_int_equal(job_status(b, 0x80), 0);
	bench_free(b);
}

static void test_soft_stop_in_the_last_job_lets_it_end(void **state)
{
	struct bench *b = bench_slots();

	(void)state;
	start_job(b, 0, N, 0);
	agate_sim_step(b->sim, 1);	/* its header is read */
	wr(b, JS_COMMAND(0), JS_COMMAND_SOFT_STOP);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	bench_free(b);
}

static void test_soft_stop_waits_for_a_stalled_job(void **state)
{
	struct bench *b = bench_slots();

	(void)state;
	put_write_value(b, 0x100, N, AGATE_WRITE_ZERO, 0x8080610000, 0);
	start_job(b, 0, VA + 0x100, 0);
	settle(b);
	wr(b, JS_COMMAND(0), JS_COMMAND_SOFT_STOP);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	put64(b, 0x40003080, 0x400580c1);
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_PT);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_STOPPED);
	assert_int_equal(rd64(b, JS_TAIL_LO(0)), N);
	bench_free(b);
}

static void test_hard_stop_is_at_once(void **state)
{
	struct bench *b = bench_slots();

	(void)state;
	put_write_value(b, 0x100, 0, AGATE_WRITE_ZERO, 0x8080610000, 0);
	start_job(b, 0, VA + 0x100, 0);
	settle(b);		/* stalled for ever */
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TERMINATED);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0x10000);
	assert_int_equal(last_event(b, AGATE_EV_JOB_END)->c, AGATE_EXC_TERMINATED);
	assert_int_equal(job_status(b, 0x100), 0);
	assert_false(agate_sim_step(b->sim, 1));
	bench_free(b);
}

static void flagged_stop(uint32_t flag, uint32_t command, uint32_t status)
{
	struct bench *b = bench_cyclic(flag ? JS_CONFIG_JOB_CHAIN_FLAG : 0);

	wr(b, JS_COMMAND(0), command);
	agate_sim_step(b->sim, 100);
	assert_int_equal(rd(b, JS_STATUS(0)), status);
	bench_free(b);
}

static void test_stops_by_chain_flag(void **state)
{
	(void)state;
	flagged_stop(0, JS_COMMAND_SOFT_STOP_0, AGATE_EXC_STOPPED);
	flagged_stop(1, JS_COMMAND_SOFT_STOP_0, AGATE_EXC_ACTIVE);
	flagged_stop(0, JS_COMMAND_SOFT_STOP_1, AGATE_EXC_ACTIVE);
	flagged_stop(1, JS_COMMAND_SOFT_STOP_1, AGATE_EXC_STOPPED);
	flagged_stop(0, JS_COMMAND_HARD_STOP_0, AGATE_EXC_TERMINATED);
	flagged_stop(1, JS_COMMAND_HARD_STOP_0, AGATE_EXC_ACTIVE);
	flagged_stop(0, JS_COMMAND_HARD_STOP_1, AGATE_EXC_ACTIVE);
	flagged_stop(1, JS_COMMAND_HARD_STOP_1, AGATE_EXC_TERMINATED);
	flagged_stop(0, JS_COMMAND_NOP, AGATE_EXC_ACTIVE);
}

static void test_a_stop_of_an_idle_slot_is_nothing(void **state)
{
	struct bench *b = bench_slots();

	(void)state;
	wr(b, JS_COMMAND(0), JS_COMMAND_SOFT_STOP);
	wr(b, JS_COMMAND(1), JS_COMMAND_HARD_STOP);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	start_job(b, 0, N, 0);		/* and is not remembered */
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	bench_free(b);
}

/* ---- Side by side -------------------------------------------------------------------- */

static void test_slots_take_turns(void **state)
{
	struct bench *b = bench_cyclic(0);
	uint64_t busy0, busy2;

	(void)state;
	put_job(b, 0x100, AGATE_JOB_NULL, VA + 0x100);
	start_job(b, 2, VA + 0x100, 0);
	busy0 = agate_sim_slot_busy(b->sim, 0);
	busy2 = agate_sim_slot_busy(b->sim, 2);
	agate_sim_step(b->sim, 600);
	busy0 = agate_sim_slot_busy(b->sim, 0) - busy0;
	busy2 = agate_sim_slot_busy(b->sim, 2) - busy2;
	assert_int_equal(busy0, busy2);		/* 100 rounds of three units each */
	start_job(b, 1, N, 0);
	agate_sim_step(b->sim, 12);
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_DONE);
	bench_free(b);
}

static void test_transitions_go_on_beside_a_cyclic_chain(void **state)
{
	struct bench *b = bench_cyclic(0);

	(void)state;
	wr(b, GPU_TILER_PWROFF_LO, 1);
	agate_sim_step(b->sim, 100);
	assert_int_equal(rd(b, GPU_TILER_PWRTRANS_LO), 0);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	bench_free(b);
}

static void test_the_same_accesses_give_the_same_history(void **state)
{
	struct bench *b = bench_cyclic(0), *c = bench_cyclic(0);
	unsigned int i;

	(void)state;
	assert_int_equal(b->events, c->events);
	for (i = 0; i < b->events; i++) {
		assert_int_equal(b->event[i].kind, c->event[i].kind);
		assert_int_equal(b->event[i].time, c->event[i].time);
		assert_int_equal(b->event[i].b, c->event[i].b);
	}
	bench_free(b);
	bench_free(c);
}

/* With the same flag on both chains, the stop may hit the wrong one. */
static void test_a_stop_by_flag_needs_different_flags(void **state)
{
	struct bench *b = bench_cyclic(JS_CONFIG_JOB_CHAIN_FLAG);

	(void)state;
	start_job(b, 0, N, 0);
	wr(b, JS_COMMAND(0), JS_COMMAND_SOFT_STOP_0);	/* means the one in NEXT: nothing */
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	wr(b, JS_COMMAND_NEXT(0), JS_COMMAND_NOP);
	start_job(b, 0, N, JS_CONFIG_JOB_CHAIN_FLAG);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP_1);
	assert_true(hinted(b, "a stop by chain flag, and both chains of the slot carry the same"));
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TERMINATED);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_idle_slot_takes_the_chain_at_once),
		cmocka_unit_test(test_a_chain_waits_in_next),
		cmocka_unit_test(test_a_queued_chain_can_be_taken_back),
		cmocka_unit_test(test_a_failure_holds_next_until_it_is_cleared),
		cmocka_unit_test(test_a_chain_started_after_a_failure_is_held_too),
		cmocka_unit_test(test_writing_next_while_it_is_queued_is_reported),
		cmocka_unit_test(test_commands_of_the_wrong_register),
		cmocka_unit_test(test_js_state_is_sampled_by_clear),
		cmocka_unit_test(test_js_state_of_other_slots_stays),
		cmocka_unit_test(test_two_jobs_done_under_one_interrupt),
		cmocka_unit_test(test_circles_are_told_once),
		cmocka_unit_test(test_a_long_chain_is_no_circle),
		cmocka_unit_test(test_soft_stop_ends_at_a_job_boundary),
		cmocka_unit_test(test_resume_from_tail),
		cmocka_unit_test(test_soft_stop_before_the_first_job),
		cmocka_unit_test(test_soft_stop_in_the_last_job_lets_it_end),
		cmocka_unit_test(test_soft_stop_waits_for_a_stalled_job),
		cmocka_unit_test(test_hard_stop_is_at_once),
		cmocka_unit_test(test_stops_by_chain_flag),
		cmocka_unit_test(test_a_stop_of_an_idle_slot_is_nothing),
		cmocka_unit_test(test_slots_take_turns),
		cmocka_unit_test(test_transitions_go_on_beside_a_cyclic_chain),
		cmocka_unit_test(test_the_same_accesses_give_the_same_history),
		cmocka_unit_test(test_a_stop_by_flag_needs_different_flags),
	};

	return cmocka_run_group_tests_name("sim-slots", tests, NULL, NULL);
}
