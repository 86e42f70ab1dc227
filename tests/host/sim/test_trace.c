// SPDX-License-Identifier: MIT
/*
 * The trace for Perfetto: valid at the end of a run and after a kill in the middle,
 * with the tracks that a user looks for.
 */
#include "process_bench.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace_check.h"

static void check(const char *path, struct trace_report *report)
{
	if (!trace_check(path, report))
		fail_msg("%s: %s", path, report->why);
}

static void test_a_job_with_a_fault(void **state)
{
	char path[64];
	struct gpu *g = gpu_start_traced(path, "");
	struct trace_report report;

	(void)state;
	g_bring_up(g);
	g_write(g, MMU_INT_MASK, 0xff00ff);
	g_write(g, AGATE_CLK_SELECT, 1);
	g_write(g, GPU_INT_MASK, GPU_IRQ_CLEAN_CACHES_COMPLETED);
	g_write(g, GPU_CMD, GPU_CMD_CLEAN_CACHES);
	g_interrupt(g, AGATE_VECTOR_GPU);
	g_put64(g, 0x40003000, 0);
	g_start(g, 0);
	g_interrupt(g, AGATE_VECTOR_MMU);
	g_read(g, MMU_INT_STAT);
	g_write(g, MMU_INT_CLEAR, 1);
	g_put64(g, 0x40003000, 0x400100c1);
	g_write(g, AS_LOCKADDR_LO(0), 0x3f);
	g_write(g, AS_COMMAND(0), AS_COMMAND_LOCK);
	while (g_read(g, AS_STATUS(0)))
		;
	g_write(g, AS_COMMAND(0), AS_COMMAND_FLUSH_PT);
	while (g_read(g, AS_STATUS(0)))
		;
	g_interrupt(g, AGATE_VECTOR_JOB);
	g_write(g, 0x7ffc, 0);
	assert_true(g_control_ok(g, "{\"cmd\": \"mark\", \"text\": \"a \\\"test\\\"\\n\"}"));
	g_quit(g);
	check(path, &report);
	assert_true(report.closed);
	assert_int_equal(report.open, 0);
	assert_true(trace_has_track(&report, "slot 0"));
	assert_true(trace_has_track(&report, "address space 0"));
	assert_true(trace_has_track(&report, "faults"));
	assert_true(trace_has_track(&report, "flushes"));
	assert_true(trace_has_track(&report, "power and resets"));
	assert_true(trace_has_track(&report, "interrupts"));
	assert_true(trace_has_track(&report, "memory traffic (bytes)"));
	assert_true(trace_has_track(&report, "cores on"));
	assert_true(trace_has_track(&report, "clock (MHz)"));
	assert_false(trace_has_track(&report, "slot 2"));
	assert_int_equal(trace_count(&report, "chain 0x8080600000, address space 0"), 1);
	assert_int_equal(trace_count(&report, "WRITE_VALUE 0x8080600000"), 1);
	/* The header's page was missing, so the fault comes before the job. */
	assert_int_equal(trace_count(&report, "waits: TRANSLATION_FAULT_3 0x8080600000"), 1);
	assert_int_equal(trace_count(&report,
				     "TRANSLATION_FAULT_3 0x8080600000, address space 0"), 1);
	assert_int_equal(trace_count(&report, "locked"), 1);
	assert_int_equal(trace_count(&report, "FLUSH_PT"), 1);
	assert_int_equal(trace_count(&report, "lpae, table 0x40000000"), 1);
	assert_int_equal(trace_count(&report, "CLEAN_CACHES"), 1);
	assert_int_equal(trace_count(&report, "SOFT_RESET"), 1);
	assert_int_equal(trace_count(&report, "JOB 0x1"), 1);
	assert_int_equal(trace_count(&report, "mark"), 1);
	assert_int_equal(trace_count(&report, "hint: a write to an unaligned or unknown register "
					      "is ignored"), 1);
	trace_report_free(&report);
	unlink(path);
	gpu_free(g);
}

/* Killed while it works: the written part of the trace can be opened. */
static void test_killed_in_the_middle(void **state)
{
	char path[64];
	struct gpu *g = gpu_start_traced(path, "");
	struct trace_report report;
	unsigned int i;

	(void)state;
	g_bring_up(g);
	for (i = 0; i < 3000; i++)		/* more than the file's buffer holds */
		g_write(g, 0x7ffc, i);
	g_start(g, VA);
	assert_int_equal(g_read(g, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	kill(g->pid, SIGKILL);
	gpu_wait(g);
	check(path, &report);
	assert_false(report.closed);
	assert_true(report.events > 500);
	trace_report_free(&report);
	unlink(path);
	gpu_free(g);
}

static void test_a_reset_ends_what_was_open(void **state)
{
	char path[64];
	struct gpu *g = gpu_start_traced(path, "");
	struct trace_report report;

	(void)state;
	g_bring_up(g);
	g_write(g, AS_COMMAND(0), AS_COMMAND_LOCK);
	while (g_read(g, AS_STATUS(0)))
		;
	g_write(g, AS_COMMAND(0), AS_COMMAND_UNLOCK);	/* never completes: the reset comes */
	g_write(g, GPU_CMD, GPU_CMD_CLEAN_CACHES);
	g_start(g, VA);
	g_write(g, GPU_CMD, GPU_CMD_SOFT_RESET);
	g_poll(g, GPU_INT_RAWSTAT, GPU_IRQ_RESET_COMPLETED);
	g_bring_up(g);
	g_start(g, 0);
	g_interrupt(g, AGATE_VECTOR_JOB);
	g_quit(g);
	check(path, &report);
	assert_int_equal(report.open, 0);
	assert_int_equal(trace_count(&report, "chain ended: reset"), 1);
	assert_int_equal(trace_count(&report, "WRITE_VALUE 0x8080600000") > 0, 1);
	trace_report_free(&report);
	unlink(path);
	gpu_free(g);
}

static void test_it_has_an_end(void **state)
{
	char path[64];
	struct gpu *g = gpu_start_traced(path, " --log-limit=1");
	struct trace_report report;
	unsigned int i;

	(void)state;
	g_bring_up(g);
	g_start(g, VA);
	for (i = 0; i < 20000; i++)
		g_write(g, 0x7ffc, i);
	g_write(g, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	g_quit(g);
	check(path, &report);
	assert_true(report.closed);
	assert_int_equal(report.open, 0);
	assert_int_equal(trace_count(&report, "the trace has reached its limit"), 1);
	assert_int_equal(trace_count(&report, "chain ended: TERMINATED"), 0);
	trace_report_free(&report);
	unlink(path);
	gpu_free(g);
}

static void test_a_run_without_anything(void **state)
{
	char path[64];
	struct gpu *g = gpu_start_traced(path, "");
	struct trace_report report;

	(void)state;
	g_quit(g);
	check(path, &report);
	assert_true(report.closed);
	assert_int_equal(report.events, 1);
	trace_report_free(&report);
	unlink(path);
	gpu_free(g);
}

/* ---- The check itself ------------------------------------------------------------- */

static bool accepted(const char *text)
{
	struct trace_report report;
	char path[64];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "/tmp/agate-trace-%d", getpid());
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	good = trace_check(path, &report);
	assert_true(good || report.why[0]);
	trace_report_free(&report);
	unlink(path);
	return good;
}

#define NAMED	"{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"t\"}}"
#define AT(ph, ts)	"{\"name\":\"n\",\"ph\":\"" ph "\",\"ts\":" ts ",\"pid\":1,\"tid\":1}"

/* Wherever a kill tears the last event, the events before it are a trace. */
static void test_the_check_forgives_a_torn_end(void **state)
{
	static const char whole[] = "[\n" NAMED ",\n" AT("B", "1") ",\n" AT("E", "1.5");
	char text[sizeof(whole)];
	size_t len;

	(void)state;
	for (len = 1; len < sizeof(whole); len++) {
		memcpy(text, whole, len);
		text[len] = '\0';
		if (!accepted(text))
			fail_msg("not a trace: %s", text);
	}
	assert_false(accepted("[\n" NAMED ",\n{\"name\",\n" AT("B", "1")));
}

static void test_the_check_finds_what_is_wrong(void **state)
{
	(void)state;
	assert_true(accepted("[" NAMED "," AT("B", "1") "," AT("E", "1.5") "]"));
	assert_true(accepted("[" NAMED "," AT("B", "1")));
	assert_true(accepted("[]"));
	assert_false(accepted("{}"));
	assert_false(accepted("[" NAMED ","));
	assert_false(accepted("[" NAMED "," AT("E", "1") "]"));
	assert_false(accepted("[" NAMED "," AT("B", "2") "," AT("E", "1") "]"));
	assert_false(accepted("[" AT("B", "1") "," AT("E", "1") "]"));
	assert_false(accepted("[" NAMED "," AT("X", "1") "]"));
	assert_false(accepted("[" NAMED "," AT("i", "1") "]"));
	assert_false(accepted("[{\"name\":\"n\",\"ph\":\"C\",\"ts\":1,\"pid\":1,\"tid\":1}]"));
	assert_false(accepted("[{\"name\":\"n\",\"ph\":\"C\",\"ts\":1,\"pid\":1,\"tid\":1,"
			      "\"args\":{\"a\":\"1\"}}]"));
	assert_false(accepted("[{\"ph\":\"B\",\"ts\":1,\"pid\":1,\"tid\":1}]"));
	assert_false(accepted("[3]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_job_with_a_fault),
		cmocka_unit_test(test_killed_in_the_middle),
		cmocka_unit_test(test_a_reset_ends_what_was_open),
		cmocka_unit_test(test_it_has_an_end),
		cmocka_unit_test(test_a_run_without_anything),
		cmocka_unit_test(test_the_check_forgives_a_torn_end),
		cmocka_unit_test(test_the_check_finds_what_is_wrong),
	};

	return cmocka_run_group_tests_name("sim-trace", tests, NULL, NULL);
}
