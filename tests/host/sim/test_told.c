// SPDX-License-Identifier: MIT
/*
 * Rare events in agate-sim's log and trace: walks that end in a fault, a dump's
 * fault that no slot waits for, injections; and the number of injections that may
 * be pending.
 */
#include "process_bench.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace_check.h"

static void test_a_walk_that_ends_in_a_fault(void **state)
{
	struct gpu *g = gpu_start("--log-level=walks");

	(void)state;
	g_bring_up_to_fault(g);
	g_quit(g);
	assert_int_equal(log_count(g, "walk", "exception", "TRANSLATION_FAULT_3"), 1);
	assert_int_equal(log_count(g, "walk", "entry", "0x0"), 1);
	assert_int_equal(log_count(g, "walk", "maps", "0x40010000"), 0);
	/* Register accesses belong to the next level. */
	assert_int_equal(log_count(g, "register_read", NULL, NULL), 0);
	gpu_free(g);
}

/* The process lends the model its mapping of RAM: a copy uses it. */
static void test_a_copy_in_shared_memory(void **state)
{
	struct agate_job_header header = {
		.control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(AGATE_JOB_COMPUTE),
	};
	struct agate_compute_payload copy = {
		.op = AGATE_COMPUTE_COPY, .src = VA + 0x800, .dst = VA + 0x1008, .size = 0x7f0,
	};
	struct gpu *g = gpu_start(NULL);
	unsigned int i;

	(void)state;
	g_put64(g, 0x40003008, 0x400200c1);
	for (i = 0; i < 0x7f0; i++)
		g->ram[0x10800 + i] = (uint8_t)(i * 7 + 1);
	memcpy(g->ram + 0x10000, &header, sizeof(header));
	memcpy(g->ram + 0x10020, &copy, sizeof(copy));
	g_bring_up(g);
	g_write(g, JS_HEAD_NEXT_LO(1), (uint32_t)VA);
	g_write(g, JS_HEAD_NEXT_HI(1), VA >> 32);
	g_write(g, JS_AFFINITY_NEXT_LO(1), 0xf);
	g_write(g, JS_COMMAND_NEXT(1), JS_COMMAND_START);
	g_interrupt(g, AGATE_VECTOR_JOB);
	assert_int_equal(g_read(g, JS_STATUS(1)), AGATE_EXC_DONE);
	assert_memory_equal(g->ram + 0x20008, g->ram + 0x10800, 0x7f0);
	assert_int_equal(g->ram[0x20007], 0);
	assert_int_equal(g->ram[0x20008 + 0x7f0], 0);
	g_quit(g);
	gpu_free(g);
}

static void trace_read(const char *path, struct trace_report *report)
{
	if (!trace_check(path, report))
		fail_msg("%s: %s", path, report->why);
	unlink(path);
	assert_true(report->closed);
	assert_int_equal(report->open, 0);
}

/* A dump of performance counters faults for no slot: no slot's track shows it. */
static void test_a_fault_of_no_slot(void **state)
{
	char path[64];
	struct gpu *g = gpu_start_traced(path, "");
	struct trace_report report;

	(void)state;
	g_bring_up(g);
	g_write(g, MMU_INT_MASK, 0xff00ff);
	g_write(g, GPU_INT_MASK, GPU_IRQ_PERFCNT_SAMPLE_COMPLETED);
	g_write(g, GPU_PERFCNT_CFG, GPU_PERFCNT_CFG_AS(0) |
		GPU_PERFCNT_CFG_MODE(GPU_PERFCNT_CFG_MODE_MANUAL));
	g_write(g, GPU_PERFCNT_BASE_LO, (uint32_t)VA + 0x5000);
	g_write(g, GPU_PERFCNT_BASE_HI, VA >> 32);
	g_write(g, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	g_interrupt(g, AGATE_VECTOR_MMU);
	g_quit(g);
	trace_read(path, &report);
	assert_int_equal(trace_count(&report, "TRANSLATION_FAULT_3 0x8080605000, address space 0"),
			 1);
	assert_int_equal(trace_count(&report, "waits: TRANSLATION_FAULT_3 0x8080605000"), 0);
	assert_false(trace_has_track(&report, "slot 0"));
	assert_int_equal(log_count(g, "fault", "va", "0x8080605000"), 1);
	trace_report_free(&report);
	gpu_free(g);
}

static void test_an_injection_in_the_trace(void **state)
{
	char path[64];
	struct gpu *g = gpu_start_traced(path, " --inject=drop-irq:1:job");
	struct trace_report report;

	(void)state;
	g_bring_up(g);
	g_start(g, 0);
	g_poll(g, JOB_INT_RAWSTAT, 1);
	g_quit(g);
	trace_read(path, &report);
	assert_true(trace_has_track(&report, "hints and marks"));
	assert_int_equal(trace_count(&report, "injected: drop-irq"), 1);
	assert_int_equal(log_count(g, "injected", "what", "drop-irq"), 1);
	trace_report_free(&report);
	gpu_free(g);
}

/* The job's header, which is what it touches first, is not in an empty list. */
static void test_what_a_job_did_not_list(void **state)
{
	char path[64];
	struct gpu *g = gpu_start_traced(path, "");
	struct trace_report report;

	(void)state;
	g_bring_up(g);
	g_write(g, AGATE_LISTED_COMMAND(0), AGATE_LISTED_COMMAND_BEGIN);
	g_start(g, 0);
	g_poll(g, JOB_INT_RAWSTAT, 1);
	g_quit(g);
	trace_read(path, &report);
	assert_int_equal(trace_count(&report, "not listed: slot 0, job 0x8080600000, "
				     "READ 0x8080600000"), 1);
	assert_int_equal(log_count(g, "unlisted", "job", "0x8080600000"), 1);
	assert_int_equal(log_count(g, "unlisted", "va", "0x8080600000"), 1);
	assert_int_equal(log_count(g, "unlisted", "access", "READ"), 1);
	assert_int_equal(log_count(g, "hint", "text", "a job touched memory that it did not list"),
			 1);
	trace_report_free(&report);
	gpu_free(g);
}

static void test_a_mark_that_is_too_long_for_the_trace(void **state)
{
	char path[64], request[1024];
	struct gpu *g = gpu_start_traced(path, "");
	struct trace_report report;

	(void)state;
	snprintf(request, sizeof(request), "{\"cmd\": \"mark\", \"text\": \"%0600d\"}", 7);
	assert_true(g_control_ok(g, request));
	g_quit(g);
	trace_read(path, &report);
	assert_int_equal(trace_count(&report, "mark"), 1);
	/* The log has all of it. */
	snprintf(request, sizeof(request), "%0600d", 7);
	assert_int_equal(log_count(g, "mark", "text", request), 1);
	trace_report_free(&report);
	gpu_free(g);
}

static void test_only_so_many_injections_pend(void **state)
{
	struct gpu *g = gpu_start(NULL);
	json_t *answer;
	unsigned int i;

	(void)state;
	for (i = 0; i < AGATE_SIM_MAX_INJECTIONS; i++)
		assert_true(g_control_ok(g, "{\"cmd\": \"inject\", \"spec\": \"drop-irq:9\"}"));
	answer = g_control(g, "{\"cmd\": \"inject\", \"spec\": \"drop-irq:9\"}");
	assert_string_equal(json_string_value(json_object_get(answer, "error")),
			    "too many injections are pending");
	json_decref(answer);
	assert_true(g_control_ok(g, "{\"cmd\": \"inject\", \"spec\": \"none,drop-irq:9\"}"));
	assert_true(g_control_ok(g, "{\"cmd\": \"inject\", \"spec\": \"drop-irq:9\"}"));
	g_quit(g);
	gpu_free(g);
}

/* A pending death can be cancelled, and does not come too early. */
static void test_a_death_that_does_not_come(void **state)
{
	struct gpu *g = gpu_start("--inject=die:1");

	(void)state;
	assert_true(g_control_ok(g, "{\"cmd\": \"inject\", \"spec\": \"none\"}"));
	g_bring_up(g);
	assert_true(g_control_ok(g, "{\"cmd\": \"inject\", \"spec\": \"die:100\"}"));
	g_start(g, 0);
	g_interrupt(g, AGATE_VECTOR_JOB);
	g_quit(g);
	assert_int_equal(log_count(g, "job_end", "exception", "DONE"), 1);
	gpu_free(g);
}

/* Injections of another kind do not change it. */
static void test_a_death_that_comes_all_the_same(void **state)
{
	struct gpu *g = gpu_start(NULL);
	int status;

	(void)state;
	g_bring_up(g);
	assert_true(g_control_ok(g, "{\"cmd\": \"inject\", \"spec\": \"die:3\"}"));
	assert_true(g_control_ok(g, "{\"cmd\": \"inject\", \"spec\": \"drop-irq:9\"}"));
	g_start(g, 0);
	status = gpu_wait(g);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	gpu_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_walk_that_ends_in_a_fault),
		cmocka_unit_test(test_a_copy_in_shared_memory),
		cmocka_unit_test(test_a_fault_of_no_slot),
		cmocka_unit_test(test_an_injection_in_the_trace),
		cmocka_unit_test(test_what_a_job_did_not_list),
		cmocka_unit_test(test_a_mark_that_is_too_long_for_the_trace),
		cmocka_unit_test(test_only_so_many_injections_pend),
		cmocka_unit_test(test_a_death_that_does_not_come),
		cmocka_unit_test(test_a_death_that_comes_all_the_same),
	};

	return cmocka_run_group_tests_name("sim-told", tests, NULL, NULL);
}
