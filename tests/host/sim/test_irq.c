// SPDX-License-Identifier: MIT
/*
 * Level lines over messages: one message when a line goes up, one more after
 * each CLEAR or MASK write that leaves it up, and none otherwise.
 */
#include "gpu_bench.h"

/* Two bits of the job block, raised by NULL jobs on slots 0 and 1. */
static struct bench *bench_with_jobs(void)
{
	struct bench *b = bench_ready();

	put_job(b, 0, AGATE_JOB_NULL, 0);
	wr(b, JOB_INT_MASK, 0);
	b->messages[AGATE_VECTOR_JOB] = 0;
	return b;
}

static void finish_job(struct bench *b, unsigned int slot)
{
	start_job(b, slot, VA, 0);
	settle(b);
}

static unsigned int job_messages(const struct bench *b)
{
	return b->messages[AGATE_VECTOR_JOB];
}

static void test_masked_line_is_silent(void **state)
{
	struct bench *b = bench_with_jobs();

	(void)state;
	finish_job(b, 0);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 1);
	assert_int_equal(rd(b, JOB_INT_STAT), 0);
	assert_int_equal(job_messages(b), 0);
	bench_free(b);
}

static void test_a_message_when_the_line_goes_up(void **state)
{
	struct bench *b = bench_with_jobs();

	(void)state;
	wr(b, JOB_INT_MASK, 0x70007);
	assert_int_equal(job_messages(b), 0);
	finish_job(b, 0);
	assert_int_equal(job_messages(b), 1);
	assert_int_equal(last_event(b, AGATE_EV_IRQ)->a, AGATE_VECTOR_JOB);
	assert_int_equal(last_event(b, AGATE_EV_IRQ)->b, 1);
	assert_int_equal(rd(b, JOB_INT_STAT), 1);
	finish_job(b, 1);		/* the line is up already */
	assert_int_equal(job_messages(b), 1);
	assert_int_equal(rd(b, JOB_INT_STAT), 3);
	bench_free(b);
}

static void test_unmasking_a_pending_bit_sends(void **state)
{
	struct bench *b = bench_with_jobs();

	(void)state;
	finish_job(b, 0);
	wr(b, JOB_INT_MASK, 2);
	assert_int_equal(job_messages(b), 0);
	wr(b, JOB_INT_MASK, 1);
	assert_int_equal(job_messages(b), 1);
	wr(b, JOB_INT_MASK, 1);		/* leaves it up: again */
	assert_int_equal(job_messages(b), 2);
	wr(b, JOB_INT_MASK, 0);
	assert_int_equal(job_messages(b), 2);
	wr(b, JOB_INT_MASK, 1);
	assert_int_equal(job_messages(b), 3);
	bench_free(b);
}

static void test_clear_that_leaves_the_line_up_sends(void **state)
{
	struct bench *b = bench_with_jobs();

	(void)state;
	wr(b, JOB_INT_MASK, 3);
	finish_job(b, 0);
	finish_job(b, 1);
	assert_int_equal(job_messages(b), 1);
	assert_int_equal(rd(b, JOB_INT_STAT), 3);
	wr(b, JOB_INT_CLEAR, 1);
	assert_int_equal(job_messages(b), 2);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 2);
	wr(b, JOB_INT_CLEAR, 2);
	assert_int_equal(job_messages(b), 2);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0);
	assert_int_equal(counter(b, AGATE_CNT_IRQS), 2);
	bench_free(b);
}

static void test_the_line_goes_up_again_after_clear(void **state)
{
	struct bench *b = bench_with_jobs();
	unsigned int i;

	(void)state;
	wr(b, JOB_INT_MASK, 1);
	for (i = 1; i <= 5; i++) {
		finish_job(b, 0);
		assert_int_equal(job_messages(b), i);
		assert_int_equal(rd(b, JOB_INT_STAT), 1);
		wr(b, JOB_INT_CLEAR, 1);
	}
	bench_free(b);
}

static void test_clear_before_read_is_reported(void **state)
{
	struct bench *b = bench_with_jobs();

	(void)state;
	finish_job(b, 0);
	rd(b, JOB_INT_RAWSTAT);
	wr(b, JOB_INT_CLEAR, 0xffffffff);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	finish_job(b, 0);
	wr(b, JOB_INT_CLEAR, 0xffffffff);
	assert_true(hinted(b, "cleared before it was read"));
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0);
	bench_free(b);
}

static void test_a_bit_raised_twice_may_be_cleared_once(void **state)
{
	struct bench *b = bench_with_jobs();

	(void)state;
	finish_job(b, 0);
	rd(b, JOB_INT_RAWSTAT);
	finish_job(b, 0);	/* merges with the first; JS_STATE shows it */
	wr(b, JOB_INT_CLEAR, 1);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_a_line_left_up_is_reported_once(void **state)
{
	struct bench *b = bench_with_jobs();
	unsigned int i;

	(void)state;
	wr(b, JOB_INT_MASK, 1);
	finish_job(b, 0);
	for (i = 0; i < 70000; i++)
		rd(b, GPU_ID);		/* the handler has not run yet: no hint */
	assert_false(hinted(b, "left up"));
	rd(b, JOB_INT_STAT);
	for (i = 0; i < 60000; i++)
		rd(b, GPU_ID);		/* its CPU may have been stopped: another one is busy */
	assert_false(hinted(b, "left up"));
	for (i = 0; i < 10000; i++)
		rd(b, GPU_ID);
	assert_true(hinted(b, "left up"));
	assert_int_equal(counter(b, AGATE_CNT_HINTS), 1);
	assert_int_equal(job_messages(b), 1);
	bench_free(b);
}

static void test_reset_drops_lines(void **state)
{
	struct bench *b = bench_with_jobs();

	(void)state;
	finish_job(b, 0);
	bench_reset(b);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0);
	assert_int_equal(rd(b, JOB_INT_MASK), 0);
	wr(b, JOB_INT_MASK, 0x70007);
	assert_int_equal(job_messages(b), 0);
	bench_free(b);
}

static void test_rawstat_cannot_be_written(void **state)
{
	struct bench *b = bench_with_jobs();

	(void)state;
	wr(b, JOB_INT_MASK, 0x70007);
	wr(b, JOB_INT_RAWSTAT, 0xffffffff);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0);
	assert_int_equal(job_messages(b), 0);
	assert_true(hinted(b, "read-only"));
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_masked_line_is_silent),
		cmocka_unit_test(test_a_message_when_the_line_goes_up),
		cmocka_unit_test(test_unmasking_a_pending_bit_sends),
		cmocka_unit_test(test_clear_that_leaves_the_line_up_sends),
		cmocka_unit_test(test_the_line_goes_up_again_after_clear),
		cmocka_unit_test(test_clear_before_read_is_reported),
		cmocka_unit_test(test_a_bit_raised_twice_may_be_cleared_once),
		cmocka_unit_test(test_a_line_left_up_is_reported_once),
		cmocka_unit_test(test_reset_drops_lines),
		cmocka_unit_test(test_rawstat_cannot_be_written),
	};

	return cmocka_run_group_tests_name("sim-irq", tests, NULL, NULL);
}
