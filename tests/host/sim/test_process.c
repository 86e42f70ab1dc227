// SPDX-License-Identifier: MIT
/*
 * The guest's view of agate-sim: accesses, jobs, interrupts, sleep; and their
 * events in the log, however the process ends.
 */
#include "process_bench.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "guest_bus.h"

static void test_a_job_from_reset_to_interrupt(void **state)
{
	struct gpu *g = gpu_start(NULL);
	uint64_t out;

	(void)state;
	assert_int_equal(g_read(g, GPU_ID), 0x0a860010);
	g_bring_up(g);
	g_start(g, 0);
	g_interrupt(g, AGATE_VECTOR_JOB);
	assert_int_equal(g_read(g, JOB_INT_STAT), 1);
	memcpy(&out, g->ram + 0x10800, 8);
	assert_int_equal(out, 0x600d);
	assert_int_equal(g->ram[0x10000], 1);	/* the header says DONE */
	g_quit(g);
	assert_int_equal(log_count(g, "reset", "command", "SOFT_RESET"), 1);
	assert_int_equal(log_count(g, "power", "domain", "L2"), 1);
	assert_int_equal(log_count(g, "as_command", "command", "UPDATE"), 1);
	assert_int_equal(log_count(g, "job_start", "type", "WRITE_VALUE"), 1);
	assert_int_equal(log_count(g, "job_end", "exception", "DONE"), 1);
	assert_int_equal(log_count(g, "chain_end", "exception", "DONE"), 1);
	assert_int_equal(log_count(g, "irq", "vector", "JOB"), 1);
	assert_int_equal(log_count(g, "hint", NULL, NULL), 0);
	assert_int_equal(log_count(g, "register_write", NULL, NULL), 0);
	assert_int_equal(log_count(g, "walk", NULL, NULL), 0);
	gpu_free(g);
}

static void test_log_of_everything(void **state)
{
	struct gpu *g = gpu_start("--log-level=all");

	(void)state;
	g_bring_up(g);
	g_start(g, 0);
	g_interrupt(g, AGATE_VECTOR_JOB);
	g_quit(g);
	assert_int_equal(log_count(g, "register_write", "register", "JS0_COMMAND_NEXT"), 1);
	assert_int_equal(log_count(g, "register_write", "register", "AS0_TRANSTAB_LO"), 1);
	assert_true(log_count(g, "register_read", "register", "GPU_L2_READY_LO") >= 2);
	assert_int_equal(log_count(g, "walk", "entry", "0x400100c1"), 1);
	assert_int_equal(log_count(g, "walk", "maps", "0x40010000"), 1);
	assert_int_equal(log_count(g, "walk", "access", "rwx"), 1);
	assert_int_equal(log_count(g, "walk", "tables",
				   "0x40000000 0x40001000 0x40002000 0x40003000"), 1);
	assert_int_equal(log_count(g, "as_done", "table", "0x40000000"), 1);
	assert_int_equal(log_count(g, "as_done", "format", "lpae"), 1);
	assert_true(log_count(g, "traffic", NULL, NULL) >= 1);
	gpu_free(g);
}

static void test_a_fault_is_logged_in_words(void **state)
{
	struct gpu *g = gpu_start(NULL);

	(void)state;
	g_bring_up_to_fault(g);
	g_quit(g);
	assert_int_equal(log_count(g, "fault", "exception", "TRANSLATION_FAULT_3"), 1);
	assert_int_equal(log_count(g, "fault", "access", "READ"), 1);
	assert_int_equal(log_count(g, "fault", "va", "0x8080600000"), 1);
	gpu_free(g);
}

static void test_accesses_are_served_beside_a_cyclic_chain(void **state)
{
	struct gpu *g = gpu_start(NULL);
	unsigned int i;

	(void)state;
	g_bring_up(g);
	g_start(g, VA);
	for (i = 0; i < 2000; i++)
		assert_int_equal(g_read(g, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	g_write(g, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	g_interrupt(g, AGATE_VECTOR_JOB);
	assert_int_equal(g_read(g, JS_STATUS(0)), AGATE_EXC_TERMINATED);
	assert_true(g_control_ok(g, "{\"cmd\": \"ping\"}"));
	g_quit(g);
	gpu_free(g);
}

static void test_many_posted_writes(void **state)
{
	struct gpu *g = gpu_start(NULL);
	unsigned int i;

	(void)state;
	for (i = 0; i < 20000; i++)	/* the queue fills, its writer waits */
		g_write(g, GPU_TILER_CONFIG, i);
	assert_int_equal(g_read(g, GPU_TILER_CONFIG), 19999);
	g_quit(g);
	gpu_free(g);
}

static void test_it_sleeps_and_the_doorbell_wakes_it(void **state)
{
	struct gpu *g = gpu_start(NULL);
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(g->bar2);
	unsigned int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		while (!__atomic_load_n(&ctrl->asleep, __ATOMIC_RELAXED))
			sched_yield();
		assert_int_equal(g_read(g, GPU_AS_PRESENT), 0xff);
	}
	g_quit(g);
	gpu_free(g);
}

static void test_a_bad_queue_is_a_hint_like_any_other(void **state)
{
	struct gpu *g = gpu_start(NULL);

	(void)state;
	guest_bus_push(g->bar2, (struct agate_bar2_entry){ 77, GPU_CMD, 0, 0 });
	assert_int_equal(g_read(g, AGATE_COUNTER_LO(AGATE_CNT_HINTS)), 1);
	g_quit(g);
	assert_int_equal(log_count(g, "hint", "text",
				   "a queue entry is neither a read nor a write"), 1);
	gpu_free(g);
}

static void test_a_hint_names_the_register(void **state)
{
	struct gpu *g = gpu_start(NULL);

	(void)state;
	g_write(g, JOB_INT_RAWSTAT, 1);
	g_write(g, AS_STATUS(3), 1);
	g_read(g, 0x7ffc);
	/* This rule is broken by what is no access. */
	guest_bus_push(g->bar2, (struct agate_bar2_entry){ 77, GPU_CMD, 0, 0 });
	assert_int_equal(g_read(g, AGATE_COUNTER_LO(AGATE_CNT_HINTS)), 4);
	g_quit(g);
	assert_int_equal(log_count(g, "hint", "register", "JOB_INT_RAWSTAT"), 1);
	assert_int_equal(log_count(g, "hint", "register", "AS3_STATUS"), 1);
	assert_int_equal(log_count(g, "hint", "register", "0x7ffc"), 1);
	gpu_free(g);
}

static void test_a_signal_ends_it_with_its_log(void **state)
{
	struct gpu *g = gpu_start(NULL);

	(void)state;
	g_bring_up(g);
	g_start(g, VA);
	assert_int_equal(g_read(g, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	kill(g->pid, SIGTERM);		/* busy with a chain that never ends */
	assert_int_equal(gpu_wait(g), 0);
	assert_int_equal(log_count(g, "chain_start", NULL, NULL), 1);
	gpu_free(g);
}

static void test_a_killed_run_still_has_its_log(void **state)
{
	struct gpu *g = gpu_start(NULL);
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(g->bar2);

	(void)state;
	g_bring_up(g);
	g_start(g, 0);
	g_interrupt(g, AGATE_VECTOR_JOB);
	while (!__atomic_load_n(&ctrl->asleep, __ATOMIC_RELAXED))
		sched_yield();
	kill(g->pid, SIGKILL);
	gpu_wait(g);
	assert_int_equal(log_count(g, "job_end", "exception", "DONE"), 1);
	gpu_free(g);
}

static void test_the_log_has_an_end(void **state)
{
	struct gpu *g = gpu_start("--log-limit=1");
	unsigned int i;
	struct stat st;

	(void)state;
	for (i = 0; i < 20000; i++)
		g_write(g, 0x7ffc, i);		/* a hint each */
	g_read(g, GPU_ID);
	g_quit(g);
	assert_int_equal(log_count(g, "truncated", NULL, NULL), 1);
	assert_true(log_count(g, "hint", NULL, NULL) < 20000);
	/* The line that goes beyond the limit, and the one that says so, are the last. */
	assert_int_equal(stat(g->log, &st), 0);
	assert_in_range(st.st_size, 1 << 20, (1 << 20) + 400);
	gpu_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_job_from_reset_to_interrupt),
		cmocka_unit_test(test_log_of_everything),
		cmocka_unit_test(test_a_fault_is_logged_in_words),
		cmocka_unit_test(test_accesses_are_served_beside_a_cyclic_chain),
		cmocka_unit_test(test_many_posted_writes),
		cmocka_unit_test(test_it_sleeps_and_the_doorbell_wakes_it),
		cmocka_unit_test(test_a_bad_queue_is_a_hint_like_any_other),
		cmocka_unit_test(test_a_hint_names_the_register),
		cmocka_unit_test(test_a_signal_ends_it_with_its_log),
		cmocka_unit_test(test_a_killed_run_still_has_its_log),
		cmocka_unit_test(test_the_log_has_an_end),
	};

	return cmocka_run_group_tests_name("sim-process", tests, NULL, NULL);
}
