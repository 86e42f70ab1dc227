// SPDX-License-Identifier: MIT
/*
 * Hints about address spaces: each rule broken, and the same steps done correctly,
 * without a hint.
 */
#include "gpu_bench.h"

/* Tables of another address space: VA is the page at 0x40058000. */
#define OTHER_L0	0x40004000ull

static void put_other_tables(struct bench *b)
{
	put64(b, 0x40004008, 0x40005003);
	put64(b, 0x40005010, 0x40006003);
	put64(b, 0x40006018, 0x40007003);
	put64(b, 0x40007000, 0x400580c1);
}

static void null_for_ever(struct bench *b)
{
	put_job(b, 0, AGATE_JOB_NULL, VA);
	start_job(b, 0, VA, 0);
	agate_sim_step(b->sim, 8);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
}

static void test_before_any_update(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	wr64(b, AS_TRANSTAB_LO(1), TABLE_L0 | 3);
	start_job(b, 0, VA, JS_CONFIG_AS(1));
	assert_true(hinted(b, "an address space that UPDATE never set up"));
	assert_false(hinted(b, "but no UPDATE"));
	bench_free(b);
}

/* An address space that had a table is not one that never had one, until a reset. */
static void test_after_an_update_to_unmapped(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	wr64(b, AS_TRANSTAB_LO(0), 0);
	as_command(b, 0, AS_COMMAND_UPDATE);
	start_job(b, 0, VA, 0);
	assert_true(hinted(b, "an address space that UPDATE has unmapped"));
	assert_false(hinted(b, "never set up"));
	bench_reset(b);
	bench_power_on(b);
	start_job(b, 0, VA, 0);
	assert_true(hinted(b, "never set up"));
	bench_free(b);
}

static void written_without_update(uint32_t reg)
{
	struct bench *b = bench_ready();

	put_job(b, 0, AGATE_JOB_NULL, 0);
	wr(b, reg, rd(b, reg) ^ 0x10000);
	start_job(b, 0, VA, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_true(hinted(b, "after TRANSTAB, MEMATTR or TRANSCFG, but no UPDATE"));
	bench_free(b);
}

static void test_written_without_update(void **state)
{
	(void)state;
	written_without_update(AS_TRANSTAB_LO(0));
	written_without_update(AS_MEMATTR_HI(0));
	written_without_update(AS_TRANSCFG_LO(0));
}

static void test_a_job_may_start_while_update_is_active(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_other_tables(b);
	put64(b, 0x40058010, AGATE_JOB_64BIT | AGATE_JOB_TYPE(AGATE_JOB_NULL));
	wr64(b, AS_TRANSTAB_LO(0), OTHER_L0 | 3);
	wr(b, AS_COMMAND(0), AS_COMMAND_UPDATE);
	start_job(b, 0, VA, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	/* UPDATE does not capture what was written after it */
	wr(b, AS_COMMAND(0), AS_COMMAND_UPDATE);
	wr64(b, AS_TRANSTAB_LO(0), TABLE_L0 | 3);
	wr(b, JOB_INT_CLEAR, rd(b, JOB_INT_RAWSTAT));
	start_job(b, 0, VA, 0);
	assert_true(hinted(b, "but no UPDATE"));
	bench_free(b);
}

static void test_another_table_under_a_running_job(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_other_tables(b);
	null_for_ever(b);
	/* the same table again, and other address spaces, give no hint */
	as_set_table(b, 0, TABLE_L0);
	as_set_table(b, 1, OTHER_L0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	as_set_table(b, 0, OTHER_L0);
	assert_true(hinted(b, "UPDATE put another table under a running job"));
	bench_free(b);
}

static void test_another_table_once_the_job_ended(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_other_tables(b);
	null_for_ever(b);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	settle(b);
	as_set_table(b, 0, OTHER_L0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_unmapped_to_end_a_job(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	null_for_ever(b);
	wr64(b, AS_TRANSTAB_LO(0), 0);
	as_command(b, 0, AS_COMMAND_UPDATE);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TRANSLATION_FAULT_0);
	/* neither the job nor the driver was wrong */
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_a_fault_that_nobody_serves(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, VA + 0x20000, 1);
	start_job(b, 0, VA, 0);
	settle(b);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 1);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	wr(b, MMU_INT_CLEAR, 1);
	wr64(b, AS_TRANSTAB_LO(0), 0);
	as_command(b, 0, AS_COMMAND_UPDATE);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), 0xc3);
	assert_true(hinted(b, "a job touched an address that nobody mapped"));
	assert_int_equal(count_events(b, AGATE_EV_HINT), 1);
	bench_free(b);
}

static void test_a_fault_that_is_served(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, VA + 0x20000, 1);
	start_job(b, 0, VA, 0);
	settle(b);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 1);
	wr(b, MMU_INT_CLEAR, 1);
	put64(b, TABLE_L3 + 8 * 32, 0x400580c1);
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_PT);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_a_write_that_is_forbidden_is_another_matter(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put64(b, TABLE_L3 + 8 * 1, 0x40011041);
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, VA + 0x1000, 1);
	start_job(b, 0, VA, 0);
	settle(b);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 1);
	wr64(b, AS_TRANSTAB_LO(0), 0);
	as_command(b, 0, AS_COMMAND_UPDATE);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), 0xcb);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

/* An unread bit of a fault that comes again after the bit was cleared. */
static struct bench *bench_with_unread_fault(void)
{
	struct bench *b = bench_ready();

	start_job(b, 0, VA + MAPPED_PAGES * 0x1000, 0);
	settle(b);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 1);
	wr(b, MMU_INT_CLEAR, 1);
	wr(b, AS_COMMAND(0), AS_COMMAND_FLUSH_MEM);
	settle(b);
	assert_int_equal(rd(b, AS_STATUS(0)), 0);
	settle(b);
	return b;
}

static void test_what_update_ended_may_be_cleared_unread(void **state)
{
	struct bench *b = bench_with_unread_fault();

	(void)state;
	wr64(b, AS_TRANSTAB_LO(0), 0);
	wr(b, AS_COMMAND(0), AS_COMMAND_UPDATE);
	assert_int_equal(rd(b, AS_STATUS(0)), 1);
	settle(b);
	assert_int_equal(rd(b, AS_STATUS(0)), 0);
	wr(b, MMU_INT_CLEAR, 1);
	assert_false(hinted(b, "cleared before it was read"));
	bench_free(b);

	b = bench_with_unread_fault();
	wr(b, MMU_INT_CLEAR, 1);
	assert_true(hinted(b, "cleared before it was read"));
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_any_update),
		cmocka_unit_test(test_after_an_update_to_unmapped),
		cmocka_unit_test(test_written_without_update),
		cmocka_unit_test(test_a_job_may_start_while_update_is_active),
		cmocka_unit_test(test_another_table_under_a_running_job),
		cmocka_unit_test(test_another_table_once_the_job_ended),
		cmocka_unit_test(test_unmapped_to_end_a_job),
		cmocka_unit_test(test_a_fault_that_nobody_serves),
		cmocka_unit_test(test_a_fault_that_is_served),
		cmocka_unit_test(test_a_write_that_is_forbidden_is_another_matter),
		cmocka_unit_test(test_what_update_ended_may_be_cleared_unread),
	};

	return cmocka_run_group_tests_name("sim-hints", tests, NULL, NULL);
}
