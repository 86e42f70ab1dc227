// SPDX-License-Identifier: MIT
/*
 * Faults that stall and resume, locked regions, two faults at once, jobs that
 * lose their address space, and commands written too early.
 */
#include "gpu_bench.h"

#define HOLE	0x8080610000ull		/* index 16: not mapped */
#define HOLE_PTE	0x40003080ull
#define HOLE2	0x8080618000ull		/* index 24, in the next 32 KiB */
#define HOLE2_PTE	0x400030c0ull
#define HOLE_LOCK	0x808061000eull	/* 32 KiB around HOLE */

static void store_at(struct bench *b, unsigned int slot, uint32_t offset, uint64_t va)
{
	put_write_value(b, offset, 0, AGATE_WRITE_IMMEDIATE_64, va, 0x1000 + slot);
	start_job(b, slot, VA + offset, 0);
	settle(b);
}

/* Slot 0 writes to HOLE and waits. */
static struct bench *bench_faulted(void)
{
	struct bench *b = bench_ready();

	store_at(b, 0, 0, HOLE);
	assert_int_equal(rd(b, MMU_INT_STAT), 1);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), 0x3c3);
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), HOLE);
	return b;
}

static void expect_resumed(struct bench *b)
{
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(get64(b, 0x40058000), 0x1000);
	assert_int_equal(count_events(b, AGATE_EV_FAULT), 1);
	assert_int_equal(count_events(b, AGATE_EV_FAULT_RESUMED), 1);
	assert_int_equal(last_event(b, AGATE_EV_FAULT_RESUMED)->b, HOLE);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 0);
	assert_int_equal(counter(b, AGATE_CNT_FAULTS), 1);
	assert_int_equal(counter(b, AGATE_CNT_HINTS), 0);
	bench_free(b);
}

static void test_clear_map_flush(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	wr(b, MMU_INT_CLEAR, 1);
	put64(b, HOLE_PTE, 0x400580c1);
	as_flush(b, 0, HOLE_LOCK, AS_COMMAND_FLUSH_PT);
	expect_resumed(b);
}

static void test_map_clear_flush(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	put64(b, HOLE_PTE, 0x400580c1);
	wr(b, MMU_INT_CLEAR, 1);
	as_flush(b, 0, HOLE_LOCK, AS_COMMAND_FLUSH_MEM);
	expect_resumed(b);
}

static void test_a_driver_need_not_poll_for_the_last_flush(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	wr(b, MMU_INT_CLEAR, 1);
	put64(b, HOLE_PTE, 0x400580c1);
	wr64(b, AS_LOCKADDR_LO(0), HOLE_LOCK);
	as_command(b, 0, AS_COMMAND_LOCK);
	wr(b, AS_COMMAND(0), AS_COMMAND_FLUSH_PT);	/* a job waits for its end */
	expect_resumed(b);
}

static void test_clearing_the_bit_is_not_enough(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	put64(b, HOLE_PTE, 0x400580c1);
	wr(b, MMU_INT_CLEAR, 1);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 0);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), 0x3c3);	/* still latched */
	as_command(b, 0, AS_COMMAND_UNLOCK);
	expect_resumed(b);
}

static void test_update_resumes_too(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	wr(b, MMU_INT_CLEAR, 1);
	put64(b, HOLE_PTE, 0x400580c1);
	as_command(b, 0, AS_COMMAND_UPDATE);
	expect_resumed(b);
}

static void test_failing_again_raises_again(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	wr(b, MMU_INT_CLEAR, 1);
	as_flush(b, 0, HOLE_LOCK, AS_COMMAND_FLUSH_PT);
	settle(b);
	assert_int_equal(rd(b, MMU_INT_STAT), 1);
	assert_int_equal(b->messages[AGATE_VECTOR_MMU], 2);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), 0x3c3);
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), HOLE);
	/* the same fault still */
	assert_int_equal(counter(b, AGATE_CNT_FAULTS), 1);
	assert_int_equal(count_events(b, AGATE_EV_FAULT), 1);
	assert_int_equal(count_events(b, AGATE_EV_FAULT_AGAIN), 1);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	/* a page without permission: another one */
	wr(b, MMU_INT_CLEAR, 1);
	put64(b, HOLE_PTE, 0x40058041);
	as_flush(b, 0, HOLE_LOCK, AS_COMMAND_FLUSH_PT);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), 0x3cb);
	assert_int_equal(counter(b, AGATE_CNT_FAULTS), 2);
	assert_int_equal(count_events(b, AGATE_EV_FAULT), 2);
	bench_free(b);
}

static void test_lock_alone_does_not_retry(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	put64(b, HOLE_PTE, 0x400580c1);
	wr64(b, AS_LOCKADDR_LO(0), HOLE_LOCK);
	as_command(b, 0, AS_COMMAND_LOCK);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	assert_int_equal(count_events(b, AGATE_EV_FAULT_RESUMED), 0);
	bench_free(b);
}

static void test_other_address_spaces_go_on(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	as_set_table(b, 3, TABLE_L0);
	put_write_value(b, 0x80, 0, AGATE_WRITE_IMMEDIATE_64, VA + 0x2000, 7);
	start_job(b, 1, VA + 0x80, JS_CONFIG_AS(3));
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_DONE);
	put_write_value(b, 0x100, 0, AGATE_WRITE_IMMEDIATE_64, HOLE, 7);
	start_job(b, 2, VA + 0x100, JS_CONFIG_AS(3));
	settle(b);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 0x9);
	assert_int_equal(rd(b, AS_FAULTSTATUS(3)), 0x203c3);	/* slot 2 */
	bench_free(b);
}

static void test_a_fault_leaves_the_same_space_working(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	store_at(b, 1, 0x80, VA + 0x2000);
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_DONE);
	bench_free(b);
}

/* ---- Two faults at once ----------------------------------------------------- */

static void test_the_second_fault_waits_behind_the_first(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	store_at(b, 1, 0x80, HOLE2);
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), HOLE);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), 0x3c3);
	assert_int_equal(counter(b, AGATE_CNT_FAULTS), 1);
	/* serve the first: then the second is latched */
	wr(b, MMU_INT_CLEAR, 1);
	put64(b, HOLE_PTE, 0x400580c1);
	as_flush(b, 0, HOLE_LOCK, AS_COMMAND_FLUSH_PT);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_ACTIVE);
	assert_int_equal(rd(b, MMU_INT_STAT), 1);
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), HOLE2);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), 0x103c3);	/* slot 1 */
	/* serve the second */
	wr(b, MMU_INT_CLEAR, 1);
	put64(b, HOLE2_PTE, 0x400590c1);
	as_flush(b, 0, 0x808061800e, AS_COMMAND_FLUSH_PT);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_DONE);
	assert_int_equal(get64(b, 0x40059000), 0x1001);
	assert_int_equal(counter(b, AGATE_CNT_FAULTS), 2);
	bench_free(b);
}

static void test_both_served_by_one_flush(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	store_at(b, 1, 0x80, HOLE2);
	wr(b, MMU_INT_CLEAR, 1);
	put64(b, HOLE_PTE, 0x400580c1);
	put64(b, HOLE2_PTE, 0x400590c1);
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_PT);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_DONE);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 0);
	assert_int_equal(counter(b, AGATE_CNT_FAULTS), 1);
	assert_int_equal(count_events(b, AGATE_EV_FAULT_RESUMED), 2);
	bench_free(b);
}

static void test_the_first_is_stopped_and_the_second_shows(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	store_at(b, 1, 0x80, HOLE2);
	wr(b, MMU_INT_CLEAR, 1);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TERMINATED);
	assert_int_equal(rd(b, MMU_INT_STAT), 1);
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), HOLE2);
	bench_free(b);
}

static void test_a_stopped_job_leaves_nothing_waiting(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	wr(b, MMU_INT_CLEAR, 1);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_MEM);
	settle(b);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 0);
	store_at(b, 1, 0x80, HOLE2);	/* the latch is free */
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), HOLE2);
	bench_free(b);
}

/* ---- The address space is taken away ------------------------------------------ */

static void unmap_space(struct bench *b, unsigned int as)
{
	wr64(b, AS_TRANSTAB_LO(as), 0);
	wr64(b, AS_MEMATTR_LO(as), 0);
	as_command(b, as, AS_COMMAND_UPDATE);
	settle(b);
}

static void test_update_to_unmapped_kills_with_the_latched_code(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	unmap_space(b, 0);
	assert_int_equal(rd(b, JS_STATUS(0)), 0xc3);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0x10000);
	assert_int_equal(rd64(b, JS_TAIL_LO(0)), VA);
	assert_int_equal(job_status(b, 0), 0);	/* no mapping to write back through */
	assert_int_equal(counter(b, AGATE_CNT_JOBS_FAILED), 1);
	assert_false(agate_sim_step(b->sim, 1));
	bench_free(b);
}

/* UPDATE, and wait for it only by reading: no job gets a turn. */
static void update_without_work(struct bench *b, unsigned int as, uint64_t transtab)
{
	wr64(b, AS_TRANSTAB_LO(as), transtab);
	wr(b, AS_COMMAND(as), AS_COMMAND_UPDATE);
	while (rd(b, AS_STATUS(as)))
		;
}

static void test_a_killed_job_writes_nothing_through_a_new_mapping(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	update_without_work(b, 0, 0);
	agate_sim_step(b->sim, 1);		/* it dies here */
	update_without_work(b, 0, TABLE_L0 | 3);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), 0xc3);
	assert_int_equal(job_status(b, 0), 0);
	bench_free(b);
}

static void test_it_kills_every_waiting_job_with_its_own_code(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put64(b, HOLE2_PTE, 0x40059041);	/* read-only */
	store_at(b, 0, 0, HOLE);
	store_at(b, 1, 0x80, HOLE2);
	unmap_space(b, 0);
	assert_int_equal(rd(b, JS_STATUS(0)), 0xc3);
	assert_int_equal(rd(b, JS_STATUS(1)), 0xcb);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0x30000);
	bench_free(b);
}

static void test_flush_then_update_as_a_driver_disables(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	wr(b, MMU_INT_CLEAR, 1);
	wr(b, MMU_INT_MASK, 0);
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_MEM);
	wr64(b, AS_TRANSTAB_LO(0), 0);
	wr(b, AS_COMMAND(0), AS_COMMAND_UPDATE);	/* nobody polls for its end */
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), 0xc3);
	bench_free(b);
}

static void test_a_job_in_a_space_never_set_up(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	start_job(b, 0, VA, JS_CONFIG_AS(5));
	assert_true(hinted(b, "UPDATE never set up"));
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TRANSLATION_FAULT_0);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 0);
	bench_free(b);
}

static void test_a_job_may_start_while_update_is_in_progress(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, VA + 0x2000, 9);
	wr64(b, AS_TRANSTAB_LO(6), TABLE_L0 | 3);
	wr(b, AS_COMMAND(6), AS_COMMAND_UPDATE);
	start_job(b, 0, VA, JS_CONFIG_AS(6));
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(get64(b, PA + 0x2000), 9);
	bench_free(b);
}

/* ---- Locked regions ------------------------------------------------------------ */

static void test_a_locked_region_stalls_and_the_rest_does_not(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	/* 32 KiB from VA + 0x8000: pages 8 to 15 */
	wr64(b, AS_LOCKADDR_LO(0), 0x808060800e);
	as_command(b, 0, AS_COMMAND_LOCK);
	store_at(b, 0, 0, VA + 0x8000);
	store_at(b, 1, 0x80, VA + 0x7ff8);
	store_at(b, 2, 0x100, VA + 0xfff8);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_DONE);
	assert_int_equal(rd(b, JS_STATUS(2)), AGATE_EXC_ACTIVE);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 0);	/* a wait is not a fault */
	assert_int_equal(get64(b, PA + 0x8000), 0);
	as_command(b, 0, AS_COMMAND_UNLOCK);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(rd(b, JS_STATUS(2)), AGATE_EXC_DONE);
	assert_int_equal(get64(b, PA + 0x8000), 0x1000);
	assert_int_equal(count_events(b, AGATE_EV_FAULT_RESUMED), 0);
	bench_free(b);
}

static void lock_ends_with(uint32_t command)
{
	struct bench *b = bench_ready();

	wr64(b, AS_LOCKADDR_LO(0), LOCK_ALL);
	as_command(b, 0, AS_COMMAND_LOCK);
	store_at(b, 0, 0, VA + 0x2000);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	as_command(b, 0, command);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	bench_free(b);
}

static void test_flushes_unlock(void **state)
{
	(void)state;
	lock_ends_with(AS_COMMAND_FLUSH_PT);
	lock_ends_with(AS_COMMAND_FLUSH_MEM);
	lock_ends_with(AS_COMMAND_UNLOCK);
}

static void test_even_cached_translations_stall(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	store_at(b, 0, 0, VA + 0x2000);
	put64(b, PA + 0x2000, 0);
	wr64(b, AS_LOCKADDR_LO(0), LOCK_ALL);
	as_command(b, 0, AS_COMMAND_LOCK);
	store_at(b, 0, 0, VA + 0x2000);
	assert_int_equal(get64(b, PA + 0x2000), 0);
	bench_free(b);
}

/* ---- Commands written too early --------------------------------------------------- */

static void test_a_command_while_active_is_dropped(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	wr64(b, AS_LOCKADDR_LO(0), LOCK_ALL);
	wr(b, AS_COMMAND(0), AS_COMMAND_LOCK);
	wr(b, AS_COMMAND(0), AS_COMMAND_UNLOCK);
	assert_int_equal(counter(b, AGATE_CNT_AS_CMD_DROPPED), 1);
	assert_true(hinted(b, "AS_ACTIVE"));
	poll_reg(b, AS_STATUS(0), 1, 0);
	store_at(b, 0, 0, VA + 0x2000);		/* the lock holds */
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	bench_free(b);
}

static void test_nop_while_active_is_harmless(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	wr64(b, AS_LOCKADDR_LO(0), LOCK_ALL);
	wr(b, AS_COMMAND(0), AS_COMMAND_LOCK);
	wr(b, AS_COMMAND(0), AS_COMMAND_NOP);
	assert_int_equal(counter(b, AGATE_CNT_AS_CMD_DROPPED), 0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	assert_int_equal(rd(b, AS_STATUS(0)), 1);	/* the LOCK goes on */
	poll_reg(b, AS_STATUS(0), 1, 0);
	store_at(b, 0, 0, VA + 0x2000);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	bench_free(b);
}

static void test_a_driver_that_never_polls_is_caught_however_slow(void **state)
{
	struct bench *b = bench_faulted();

	(void)state;
	put64(b, HOLE_PTE, 0x400580c1);
	wr(b, MMU_INT_CLEAR, 1);
	wr64(b, AS_LOCKADDR_LO(0), HOLE_LOCK);
	wr(b, AS_COMMAND(0), AS_COMMAND_LOCK);
	settle(b);
	wr(b, AS_COMMAND(0), AS_COMMAND_FLUSH_PT);
	settle(b);
	assert_int_equal(counter(b, AGATE_CNT_AS_CMD_DROPPED), 1);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	bench_free(b);
}

static void test_address_spaces_are_active_on_their_own(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	wr(b, AS_COMMAND(0), AS_COMMAND_UPDATE);
	wr(b, AS_COMMAND(1), AS_COMMAND_UPDATE);
	assert_int_equal(rd(b, AS_STATUS(0)), 1);
	assert_int_equal(rd(b, AS_STATUS(1)), 1);
	assert_int_equal(rd(b, AS_STATUS(2)), 0);
	assert_int_equal(counter(b, AGATE_CNT_AS_CMD_DROPPED), 0);
	bench_free(b);
}

static void test_as_latency_can_be_set_and_stick(void **state)
{
	struct bench *b = bench_ready();
	unsigned int i;

	(void)state;
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_AS, 5);
	wr(b, AS_COMMAND(0), AS_COMMAND_UPDATE);
	for (i = 1; i < 5; i++)
		assert_int_equal(rd(b, AS_STATUS(0)), 1);
	assert_int_equal(rd(b, AS_STATUS(0)), 0);
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_AS, AGATE_SIM_LATENCY_STUCK);
	wr(b, AS_COMMAND(0), AS_COMMAND_UPDATE);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(rd(b, AS_STATUS(0)), 1);
		settle(b);
	}
	bench_reset(b);
	assert_int_equal(rd(b, AS_STATUS(0)), 0);
	bench_free(b);
}

static void test_registers_are_taken_when_the_command_is_written(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	wr64(b, AS_TRANSTAB_LO(2), TABLE_L0 | 3);
	wr(b, AS_COMMAND(2), AS_COMMAND_UPDATE);
	wr64(b, AS_TRANSTAB_LO(2), 0);
	poll_reg(b, AS_STATUS(2), 1, 0);
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, VA + 0x2000, 9);
	start_job(b, 0, VA, JS_CONFIG_AS(2));
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	bench_free(b);
}

static void test_unknown_as_command(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	wr(b, AS_COMMAND(0), 6);
	assert_true(hinted(b, "unknown AS_COMMAND"));
	assert_int_equal(rd(b, AS_STATUS(0)), 0);
	wr(b, AS_COMMAND(0), AS_COMMAND_NOP);
	assert_int_equal(rd(b, AS_STATUS(0)), 0);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clear_map_flush),
		cmocka_unit_test(test_map_clear_flush),
		cmocka_unit_test(test_a_driver_need_not_poll_for_the_last_flush),
		cmocka_unit_test(test_clearing_the_bit_is_not_enough),
		cmocka_unit_test(test_update_resumes_too),
		cmocka_unit_test(test_failing_again_raises_again),
		cmocka_unit_test(test_lock_alone_does_not_retry),
		cmocka_unit_test(test_other_address_spaces_go_on),
		cmocka_unit_test(test_a_fault_leaves_the_same_space_working),
		cmocka_unit_test(test_the_second_fault_waits_behind_the_first),
		cmocka_unit_test(test_both_served_by_one_flush),
		cmocka_unit_test(test_the_first_is_stopped_and_the_second_shows),
		cmocka_unit_test(test_a_stopped_job_leaves_nothing_waiting),
		cmocka_unit_test(test_update_to_unmapped_kills_with_the_latched_code),
		cmocka_unit_test(test_a_killed_job_writes_nothing_through_a_new_mapping),
		cmocka_unit_test(test_it_kills_every_waiting_job_with_its_own_code),
		cmocka_unit_test(test_flush_then_update_as_a_driver_disables),
		cmocka_unit_test(test_a_job_in_a_space_never_set_up),
		cmocka_unit_test(test_a_job_may_start_while_update_is_in_progress),
		cmocka_unit_test(test_a_locked_region_stalls_and_the_rest_does_not),
		cmocka_unit_test(test_flushes_unlock),
		cmocka_unit_test(test_even_cached_translations_stall),
		cmocka_unit_test(test_a_command_while_active_is_dropped),
		cmocka_unit_test(test_nop_while_active_is_harmless),
		cmocka_unit_test(test_a_driver_that_never_polls_is_caught_however_slow),
		cmocka_unit_test(test_address_spaces_are_active_on_their_own),
		cmocka_unit_test(test_as_latency_can_be_set_and_stick),
		cmocka_unit_test(test_registers_are_taken_when_the_command_is_written),
		cmocka_unit_test(test_unknown_as_command),
	};

	return cmocka_run_group_tests_name("sim-fault", tests, NULL, NULL);
}
