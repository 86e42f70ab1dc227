// SPDX-License-Identifier: MIT
/*
 * Job chains and the simple job types: headers, order, dependencies, status
 * write-back, all types of WRITE_VALUE, and refused jobs.
 */
#include "gpu_bench.h"

#define OUT	0x2000u		/* offset of a page for results */

static void run(struct bench *b, uint64_t head, uint32_t config)
{
	start_job(b, 0, head, config);
	settle(b);
}

static struct agate_job_header *header(struct bench *b, uint32_t offset)
{
	return (struct agate_job_header *)(b->ram + (PA - RAM_BASE) + offset);
}

static void expect_chain(struct bench *b, uint32_t status)
{
	assert_int_equal(rd(b, JS_STATUS(0)), status);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), status == 1 ? 0x1 : 0x10000);
	assert_int_equal(last_event(b, AGATE_EV_CHAIN_END)->c, status);
}

/* Run one WRITE_VALUE of that type over eight bytes of 0xff; returns the bytes. */
static uint64_t written(unsigned int type, uint64_t immediate)
{
	struct bench *b = bench_ready();
	uint64_t value;

	put64(b, PA + OUT, UINT64_MAX);
	put_write_value(b, 0, 0, type, VA + OUT, immediate);
	run(b, VA, 0);
	expect_chain(b, AGATE_EXC_DONE);
	value = get64(b, PA + OUT);
	bench_free(b);
	return value;
}

static void test_write_value_immediates(void **state)
{
	(void)state;
	assert_int_equal(written(AGATE_WRITE_ZERO, 0x55), 0);
	assert_int_equal(written(AGATE_WRITE_IMMEDIATE_8, 0x1122334455667788),
			 0xffffffffffffff88);
	assert_int_equal(written(AGATE_WRITE_IMMEDIATE_16, 0x1122334455667788),
			 0xffffffffffff7788);
	assert_int_equal(written(AGATE_WRITE_IMMEDIATE_32, 0x1122334455667788),
			 0xffffffff55667788);
	assert_int_equal(written(AGATE_WRITE_IMMEDIATE_64, 0x1122334455667788),
			 0x1122334455667788);
}

static void test_write_value_clocks(void **state)
{
	struct bench *b = bench_ready();
	uint64_t before;

	(void)state;
	wr(b, GPU_CMD, GPU_CMD_CYCLE_COUNT_START);
	before = agate_sim_time(b->sim);
	put_write_value(b, 0, VA + 64, AGATE_WRITE_SYSTEM_TIMESTAMP, VA + OUT, 0);
	put_write_value(b, 64, 0, AGATE_WRITE_CYCLE_COUNTER, VA + OUT + 8, 0);
	run(b, VA, 0);
	expect_chain(b, AGATE_EXC_DONE);
	assert_true(get64(b, PA + OUT) > before);
	assert_true(get64(b, PA + OUT) < agate_sim_time(b->sim));
	/* counting began at `before`, so the two differ by it, and by the way between */
	assert_true(get64(b, PA + OUT + 8) > get64(b, PA + OUT) - before);
	assert_true(get64(b, PA + OUT + 8) < agate_sim_time(b->sim) - before);
	bench_free(b);
}

static void refused(unsigned int type, uint64_t address, uint32_t reserved)
{
	struct bench *b = bench_ready();

	put_write_value(b, 0, 0, type, address, 1);
	put64(b, PA + 32 + 8, type | (uint64_t)reserved << 32);
	run(b, VA, 0);
	expect_chain(b, AGATE_EXC_DATA_INVALID_FAULT);
	assert_int_equal(job_status(b, 0), AGATE_EXC_DATA_INVALID_FAULT);
	assert_int_equal(header(b, 0)->fault_pointer, VA + 32);
	assert_int_equal(get64(b, PA + OUT), 0);
	assert_int_equal(counter(b, AGATE_CNT_JOBS_FAILED), 1);
	assert_int_equal(counter(b, AGATE_CNT_JOBS), 0);
	bench_free(b);
}

static void test_write_value_refuses(void **state)
{
	(void)state;
	refused(0, VA + OUT, 0);
	refused(8, VA + OUT, 0);
	refused(AGATE_WRITE_IMMEDIATE_64, VA + OUT, 1);
	refused(AGATE_WRITE_IMMEDIATE_64, VA + OUT + 4, 0);
	refused(AGATE_WRITE_IMMEDIATE_32, VA + OUT + 2, 0);
	refused(AGATE_WRITE_IMMEDIATE_16, VA + OUT + 1, 0);
	refused(AGATE_WRITE_ZERO, VA + OUT + 1, 0);
	refused(AGATE_WRITE_CYCLE_COUNTER, VA + OUT + 4, 0);
}

static void test_null_completes(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_job(b, 0, AGATE_JOB_NULL, 0);
	run(b, VA, 0);
	expect_chain(b, AGATE_EXC_DONE);
	assert_int_equal(job_status(b, 0), AGATE_EXC_DONE);
	assert_int_equal(counter(b, AGATE_CNT_JOBS), 1);
	assert_int_equal(rd64(b, JS_HEAD_LO(0)), VA);
	assert_int_equal(rd64(b, JS_TAIL_LO(0)), VA);
	bench_free(b);
}

static void test_a_chain_runs_in_its_own_order(void **state)
{
	struct bench *b = bench_ready();
	static const uint32_t order[] = { 0x000, 0x400, 0x080, 0x1c0 };
	unsigned int i, seen = 0;

	(void)state;
	/* each job overwrites the value of the one before */
	for (i = 0; i < 4; i++)
		put_write_value(b, order[i], i < 3 ? VA + order[i + 1] : 0,
				AGATE_WRITE_IMMEDIATE_64, VA + OUT, 10 + i);
	run(b, VA, 0);
	expect_chain(b, AGATE_EXC_DONE);
	assert_int_equal(get64(b, PA + OUT), 13);
	assert_int_equal(counter(b, AGATE_CNT_JOBS), 4);
	for (i = 0; i < b->events; i++)
		if (b->event[i].kind == AGATE_EV_JOB_START)
			assert_int_equal(b->event[i].b, VA + order[seen++]);
	assert_int_equal(seen, 4);
	assert_int_equal(rd64(b, JS_TAIL_LO(0)), VA + 0x1c0);
	assert_int_equal(count_events(b, AGATE_EV_CHAIN_START), 1);
	assert_int_equal(count_events(b, AGATE_EV_CHAIN_END), 1);
	bench_free(b);
}

static void test_a_32_bit_next_ignores_the_upper_half(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	/* a second mapping of the same pages, low enough: VA 0x600000 is 0, 0, 3 */
	put64(b, 0x40000000, 0x40007003);
	put64(b, 0x40007000, 0x40008003);
	put64(b, 0x40008018, 0x40003003);
	put_job(b, 0, AGATE_JOB_NULL, 0xdeadbeef00600080);
	header(b, 0)->control &= ~AGATE_JOB_64BIT;
	put_write_value(b, 0x80, 0, AGATE_WRITE_IMMEDIATE_64, VA + OUT, 5);
	run(b, VA, 0);
	expect_chain(b, AGATE_EXC_DONE);
	assert_int_equal(get64(b, PA + OUT), 5);
	bench_free(b);
}

static void test_a_32_bit_zero_ends_the_chain(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_job(b, 0, AGATE_JOB_NULL, 0xdeadbeef00000000);
	header(b, 0)->control &= ~AGATE_JOB_64BIT;
	run(b, VA, 0);
	expect_chain(b, AGATE_EXC_DONE);
	bench_free(b);
}

static void put_indexed(struct bench *b, uint32_t offset, uint64_t next, unsigned int index,
			unsigned int dep1, unsigned int dep2)
{
	put_job(b, offset, AGATE_JOB_NULL, next);
	header(b, offset)->control |= AGATE_JOB_INDEX(index) | AGATE_JOB_BARRIER;
	header(b, offset)->dependency1 = dep1;
	header(b, offset)->dependency2 = dep2;
}

static void test_dependencies_on_earlier_jobs(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_indexed(b, 0x00, VA + 0x40, 1, 0, 0);
	put_indexed(b, 0x40, VA + 0x80, 2, 1, 0);
	put_indexed(b, 0x80, 0, 3, 1, 2);
	run(b, VA, 0);
	expect_chain(b, AGATE_EXC_DONE);
	/* after a resume in the middle, the jobs before count as done */
	rd(b, JOB_INT_RAWSTAT);
	wr(b, JOB_INT_CLEAR, 1);
	run(b, VA + 0x80, 0);
	expect_chain(b, AGATE_EXC_DONE);
	bench_free(b);
}

static void bad_dependency(unsigned int index, unsigned int dep1, unsigned int dep2)
{
	struct bench *b = bench_ready();

	put_indexed(b, 0, 0, index, dep1, dep2);
	run(b, VA, 0);
	expect_chain(b, AGATE_EXC_JOB_CONFIG_FAULT);
	bench_free(b);
}

static void test_dependencies_that_cannot_be_met(void **state)
{
	(void)state;
	bad_dependency(1, 1, 0);
	bad_dependency(2, 1, 3);
	bad_dependency(2, 3, 1);
	bad_dependency(0, 1, 0);	/* has no index itself */
}

static void config_fault(unsigned int slot, unsigned int type)
{
	struct bench *b = bench_ready();

	put_job(b, 0, type, 0);
	start_job(b, slot, VA, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(slot)), AGATE_EXC_JOB_CONFIG_FAULT);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0x10000 << slot);
	assert_int_equal(job_status(b, 0), AGATE_EXC_JOB_CONFIG_FAULT);
	assert_int_equal(header(b, 0)->fault_pointer, VA);
	bench_free(b);
}

static void test_types_that_a_slot_does_not_run(void **state)
{
	(void)state;
	config_fault(0, AGATE_JOB_NOT_STARTED);
	config_fault(0, 5);
	config_fault(0, AGATE_JOB_COMPUTE);
	config_fault(0, AGATE_JOB_TILER);
	config_fault(1, AGATE_JOB_FRAGMENT);
	config_fault(2, AGATE_JOB_TILER);
	config_fault(2, AGATE_JOB_FRAGMENT);
	config_fault(0, 127);
}

static void test_tiler_and_fragment_are_there(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_job(b, 0, AGATE_JOB_TILER, 0);	/* a payload of zeroes */
	start_job(b, 1, VA, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_DATA_INVALID_FAULT);
	put_job(b, 0x80, AGATE_JOB_FRAGMENT, 0);
	start_job(b, 0, VA + 0x80, 0);
	settle(b);
	/* its framebuffer is at 0: a fault, after the payload was found valid */
	assert_true(rd(b, JS_STATUS(0)) == AGATE_EXC_DATA_INVALID_FAULT ||
		    rd(b, MMU_INT_RAWSTAT));
	bench_free(b);
}

static void test_a_header_must_be_aligned(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_job(b, 32, AGATE_JOB_NULL, 0);
	run(b, VA + 32, 0);
	expect_chain(b, AGATE_EXC_JOB_CONFIG_FAULT);
	assert_int_equal(job_status(b, 32), 0);
	bench_free(b);
}

static void test_a_failing_job_ends_its_chain(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_write_value(b, 0x00, VA + 0x40, AGATE_WRITE_IMMEDIATE_64, VA + OUT, 1);
	put_job(b, 0x40, 99, VA + 0x80);
	put_write_value(b, 0x80, 0, AGATE_WRITE_IMMEDIATE_64, VA + OUT, 2);
	run(b, VA, 0);
	expect_chain(b, AGATE_EXC_JOB_CONFIG_FAULT);
	assert_int_equal(get64(b, PA + OUT), 1);
	assert_int_equal(rd64(b, JS_TAIL_LO(0)), VA + 0x40);
	assert_int_equal(job_status(b, 0x00), AGATE_EXC_DONE);
	assert_int_equal(job_status(b, 0x40), AGATE_EXC_JOB_CONFIG_FAULT);
	assert_int_equal(job_status(b, 0x80), 0);
	assert_int_equal(counter(b, AGATE_CNT_JOBS), 1);
	assert_int_equal(counter(b, AGATE_CNT_JOBS_FAILED), 1);
	bench_free(b);
}

static void test_write_back_touches_only_its_fields(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_job(b, 0, AGATE_JOB_NULL, 0);
	header(b, 0)->first_incomplete_task = 7;
	header(b, 0)->fault_pointer = 7;
	header(b, 0)->control |= AGATE_JOB_INDEX(3);
	header(b, 0)->dependency1 = 2;
	run(b, VA, 0);
	assert_int_equal(header(b, 0)->exception_status, 1);
	assert_int_equal(header(b, 0)->first_incomplete_task, 0);
	assert_int_equal(header(b, 0)->fault_pointer, 0);
	assert_int_equal(header(b, 0)->control, 0x00030003);	/* index 3, NULL, 64-bit */
	assert_int_equal(header(b, 0)->dependency1, 2);
	bench_free(b);
}

static void test_write_back_can_be_disabled(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_job(b, 0, AGATE_JOB_NULL, 0);
	run(b, VA, JS_CONFIG_DISABLE_DESCRIPTOR_WR_BK);
	expect_chain(b, AGATE_EXC_DONE);
	assert_int_equal(job_status(b, 0), 0);
	bench_free(b);
}

static void test_a_read_only_header_faults_at_write_back(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_job(b, 0, AGATE_JOB_NULL, 0);
	put64(b, 0x40003000, 0x40010041);
	run(b, VA, 0);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), 0x3cb);
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), VA);
	rd(b, MMU_INT_RAWSTAT);
	wr(b, MMU_INT_CLEAR, 1);
	put64(b, 0x40003000, 0x400100c1);
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_PT);
	settle(b);
	expect_chain(b, AGATE_EXC_DONE);
	assert_int_equal(job_status(b, 0), AGATE_EXC_DONE);
	bench_free(b);
}

static void test_the_header_is_read_once(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	/* the job overwrites its own next pointer: the GPU follows the one that it has read */
	put_write_value(b, 0, VA + 0x80, AGATE_WRITE_IMMEDIATE_64, VA + 24, 0x123456789ab);
	put_write_value(b, 0x80, 0, AGATE_WRITE_IMMEDIATE_64, VA + OUT, 6);
	run(b, VA, 0);
	expect_chain(b, AGATE_EXC_DONE);
	assert_int_equal(get64(b, PA + OUT), 6);
	/* and writes back only its own fields */
	assert_int_equal(get64(b, PA + 24), 0x123456789ab);
	bench_free(b);
}

static void test_flushes_are_counted(void **state)
{
	struct bench *b = bench_ready();
	uint32_t id = rd(b, GPU_LATEST_FLUSH_ID);

	(void)state;
	put_job(b, 0, AGATE_JOB_NULL, 0);
	run(b, VA, 0);
	assert_int_equal(rd(b, GPU_LATEST_FLUSH_ID), id);
	run(b, VA, JS_CONFIG_START_FLUSH_CLEAN | JS_CONFIG_END_FLUSH_CLEAN_INVALIDATE);
	/* only flushes that invalidate are counted */
	assert_int_equal(rd(b, GPU_LATEST_FLUSH_ID), id + 1);
	/* reduction: no flush since the ID was read, so this start must flush */
	wr(b, JS_FLUSH_ID_NEXT(0), id + 1);
	run(b, VA, JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE | JS_CONFIG_ENABLE_FLUSH_REDUCTION);
	assert_int_equal(rd(b, GPU_LATEST_FLUSH_ID), id + 2);
	/* and now it need not flush */
	run(b, VA, JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE | JS_CONFIG_ENABLE_FLUSH_REDUCTION);
	assert_int_equal(rd(b, GPU_LATEST_FLUSH_ID), id + 2);
	bench_free(b);
}

static void test_work_costs_time(void **state)
{
	struct bench *b = bench_ready();
	uint64_t before = agate_sim_time(b->sim);

	(void)state;
	put_job(b, 0, AGATE_JOB_NULL, 0);
	run(b, VA, 0);
	assert_true(agate_sim_slot_busy(b->sim, 0) > 0);
	assert_int_equal(agate_sim_slot_busy(b->sim, 1), 0);
	assert_true(agate_sim_time(b->sim) >= before + agate_sim_slot_busy(b->sim, 0));
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_value_immediates),
		cmocka_unit_test(test_write_value_clocks),
		cmocka_unit_test(test_write_value_refuses),
		cmocka_unit_test(test_null_completes),
		cmocka_unit_test(test_a_chain_runs_in_its_own_order),
		cmocka_unit_test(test_a_32_bit_next_ignores_the_upper_half),
		cmocka_unit_test(test_a_32_bit_zero_ends_the_chain),
		cmocka_unit_test(test_dependencies_on_earlier_jobs),
		cmocka_unit_test(test_dependencies_that_cannot_be_met),
		cmocka_unit_test(test_types_that_a_slot_does_not_run),
		cmocka_unit_test(test_tiler_and_fragment_are_there),
		cmocka_unit_test(test_a_header_must_be_aligned),
		cmocka_unit_test(test_a_failing_job_ends_its_chain),
		cmocka_unit_test(test_write_back_touches_only_its_fields),
		cmocka_unit_test(test_write_back_can_be_disabled),
		cmocka_unit_test(test_a_read_only_header_faults_at_write_back),
		cmocka_unit_test(test_the_header_is_read_once),
		cmocka_unit_test(test_flushes_are_counted),
		cmocka_unit_test(test_work_costs_time),
	};

	return cmocka_run_group_tests_name("sim-jobs", tests, NULL, NULL);
}
