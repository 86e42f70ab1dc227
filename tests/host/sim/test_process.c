// SPDX-License-Identifier: MIT
/*
 * agate-sim as a whole: what it does for a guest, for its launcher, and at its end.
 */
#include "gpu_process.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "guest_bus.h"

/* ---- Tests -------------------------------------------------------------------------- */
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
	gpu_free(g);
}

static void test_a_fault_is_logged_in_words(void **state)
{
	struct gpu *g = gpu_start(NULL);

	(void)state;
	g_bring_up(g);
	g_write(g, MMU_INT_MASK, 0xff00ff);
	g_put64(g, 0x40003000, 0);
	g_start(g, 0);
	g_interrupt(g, AGATE_VECTOR_MMU);
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

static void test_control_requests(void **state)
{
	struct gpu *g = gpu_start(NULL);
	json_t *answer, *counters;

	(void)state;
	g_bring_up(g);
	g_start(g, 0);
	g_interrupt(g, AGATE_VECTOR_JOB);
	answer = g_control(g, "{\"cmd\": \"counters\"}\n");
	counters = json_object_get(answer, "counters");
	assert_int_equal(json_object_size(counters), AGATE_CNT_COUNT);
	assert_int_equal(json_integer_value(json_object_get(counters, "jobs")), 1);
	assert_int_equal(json_integer_value(json_object_get(counters, "hints")), 0);
	assert_int_equal(json_array_size(json_object_get(answer, "busy")), 3);
	json_decref(answer);
	assert_true(g_control_ok(g, "{\"cmd\": \"mark\", \"text\": \"a \\\"test\\\"\\n\"}"));
	assert_true(g_control_ok(g, "{\"cmd\": \"latency\", \"as\": -1, \"hard_reset\": 7}"));
	g_write(g, AS_COMMAND(0), AS_COMMAND_UPDATE);
	assert_int_equal(g_read(g, AS_STATUS(0)), 1);
	assert_int_equal(g_read(g, AS_STATUS(0)), 1);
	assert_false(g_control_ok(g, "{\"cmd\": \"latency\", \"as\": -2}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"latency\", \"as\": \"1\"}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"latency\", \"as\": 1, \"once\": 2}"));
	assert_true(g_control_ok(g, "{\"cmd\": \"latency\", \"power\": 1, \"once\": 1}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"mark\"}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"sing\"}"));
	assert_false(g_control_ok(g, "{}"));
	assert_false(g_control_ok(g, "]["));
	assert_true(g_control_ok(g, "{\"cmd\": \"ping\"}"));
	g_quit(g);
	assert_int_equal(log_count(g, "mark", "text", "a \"test\"\n"), 1);
	gpu_free(g);
}

static void test_latencies_are_set_together_or_not_at_all(void **state)
{
	struct gpu *g = gpu_start(NULL);

	(void)state;
	assert_false(g_control_ok(g, "{\"cmd\": \"latency\", \"power\": -1, \"stop\": -2}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"latency\", \"power\": -1, \"as\": 4294967295}"));
	g_bring_up(g);		/* hangs when power does not come */
	assert_true(g_control_ok(g, "{\"cmd\": \"latency\", \"power\": -1, \"as\": 4294967294}"));
	g_write(g, GPU_TILER_PWRON_LO, 1);
	assert_int_equal(g_read(g, GPU_TILER_READY_LO), 0);
	assert_int_equal(g_read(g, GPU_TILER_READY_LO), 0);
	g_quit(g);
	gpu_free(g);
}

static void test_what_a_launcher_makes_up(void **state)
{
	struct gpu *g = gpu_start(NULL);
	uint32_t id = g_read(g, GPU_ID);

	(void)state;
	assert_false(g_control_ok(g, "{\"cmd\": \"identity\", \"gpu_id\": 1, \"mem_features\": -1}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"identity\", \"gpu_id\": 4294967296}"));
	assert_int_equal(g_read(g, GPU_ID), id);
	assert_true(g_control_ok(g, "{\"cmd\": \"identity\", \"gpu_id\": 4294967295, "
				    "\"thread_max_barrier_size\": 7}"));
	assert_int_equal(g_read(g, GPU_ID), 0xffffffff);
	assert_int_equal(g_read(g, GPU_THREAD_MAX_BARRIER_SIZE), 7);
	assert_false(g_control_ok(g, "{\"cmd\": \"fault\"}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"fault\", \"status\": 1, \"address\": -1}"));
	assert_true(g_control_ok(g, "{\"cmd\": \"fault\", \"status\": 128, \"address\": 81920}"));
	g_write(g, GPU_INT_MASK, GPU_IRQ_FAULT);
	g_interrupt(g, AGATE_VECTOR_GPU);
	assert_int_equal(g_read(g, GPU_FAULT_STATUS), 128);
	assert_int_equal(g_read(g, GPU_FAULT_ADDRESS_LO), 81920);
	assert_true(g_control_ok(g, "{\"cmd\": \"restore\"}"));
	assert_int_equal(g_read(g, GPU_ID), id);
	g_quit(g);
	gpu_free(g);
}

static void test_stops_that_stick(void **state)
{
	struct gpu *g = gpu_start("--stop-latency=stuck");
	unsigned int i;

	(void)state;
	g_bring_up(g);
	g_start(g, VA);
	for (i = 0; i < 100; i++) {
		g_write(g, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
		assert_int_equal(g_read(g, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	}
	assert_true(g_control_ok(g, "{\"cmd\": \"latency\", \"stop\": 0}"));
	g_write(g, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	assert_int_equal(g_read(g, JS_STATUS(0)), AGATE_EXC_TERMINATED);
	g_write(g, JOB_INT_CLEAR, 0x10000);
	g_start(g, VA);
	g_write(g, GPU_CMD, GPU_CMD_HARD_RESET);
	g_poll(g, GPU_INT_RAWSTAT, GPU_IRQ_RESET_COMPLETED);
	g_quit(g);
	assert_int_equal(log_count(g, "chain_end", "exception", "TERMINATED"), 1);
	assert_int_equal(log_count(g, "chain_end", "exception", "reset"), 1);
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

static void test_nobody_holds_the_control_socket(void **state)
{
	struct gpu *g = gpu_start(NULL);

	(void)state;
	assert_int_equal(shutdown(g->control, SHUT_RDWR), 0);
	assert_int_equal(gpu_wait(g), 0);
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

	(void)state;
	for (i = 0; i < 20000; i++)
		g_write(g, 0x7ffc, i);		/* a hint each */
	g_read(g, GPU_ID);
	g_quit(g);
	assert_int_equal(log_count(g, "truncated", NULL, NULL), 1);
	assert_true(log_count(g, "hint", NULL, NULL) < 20000);
	gpu_free(g);
}

/* status: 2 for the command line, 1 for what it names. */
static void refused(int want, const char *arguments)
{
	char command[512];
	int status;

	snprintf(command, sizeof(command), "%s %s >/dev/null 2>&1", AGATE_SIM_SAN, arguments);
	status = system(command);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), want);
}

static void test_command_lines_that_make_no_sense(void **state)
{
#define GOOD	"--bar2-fd 0 --ram-fd 0 --doorbell-fd 0 --ready-fd 1 --vector-fds 1,1,1,1 " \
		"--ram 0:4096:0 "
	(void)state;
	refused(2, "");
	refused(2, "--help");
	refused(1, GOOD);			/* stdin is no BAR2 */
	refused(2, GOOD "--gpu adreno");
	refused(2, GOOD "--bar2-fd -1");
	refused(2, GOOD "--bar2-fd 1x");
	refused(2, GOOD "--vector-fds 1,2,3");
	refused(2, GOOD "--vector-fds 1,2,3,4,5");
	refused(2, GOOD "--ram 0:0:0");
	refused(2, GOOD "--seed 0x1ffffffff");
	refused(2, GOOD "--stop-latency stick");
	refused(2, GOOD "--power-latency 0xffffffff");	/* has a name */
	refused(2, GOOD "--log-level loud");
	refused(1, GOOD "--power-latency stuck --reset-latency stuck --as-latency stuck "
		     "--hard-reset-latency stuck");
	refused(2, GOOD "and more");
#undef GOOD
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
		cmocka_unit_test(test_control_requests),
		cmocka_unit_test(test_what_a_launcher_makes_up),
		cmocka_unit_test(test_latencies_are_set_together_or_not_at_all),
		cmocka_unit_test(test_stops_that_stick),
		cmocka_unit_test(test_a_bad_queue_is_a_hint_like_any_other),
		cmocka_unit_test(test_a_signal_ends_it_with_its_log),
		cmocka_unit_test(test_nobody_holds_the_control_socket),
		cmocka_unit_test(test_a_killed_run_still_has_its_log),
		cmocka_unit_test(test_the_log_has_an_end),
		cmocka_unit_test(test_command_lines_that_make_no_sense),
	};

	return cmocka_run_group_tests_name("sim-process", tests, NULL, NULL);
}
