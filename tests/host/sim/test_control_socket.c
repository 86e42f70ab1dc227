// SPDX-License-Identifier: MIT
/*
 * The launcher's interface to agate-sim: the control socket and the command line.
 */
#include "process_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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

static uint64_t time_of(struct gpu *g, const char *request)
{
	json_t *answer = g_control(g, request);
	json_int_t time = json_integer_value(json_object_get(answer, "time"));

	assert_true(json_is_true(json_object_get(answer, "ok")));
	json_decref(answer);
	return (uint64_t)time;
}

static void test_idle_time(void **state)
{
	struct gpu *g = gpu_start(NULL);
	uint64_t before;

	(void)state;
	g_bring_up(g);
	g_read(g, GPU_ID);	/* no access is in the queue any more */
	before = time_of(g, "{\"cmd\": \"ping\"}");
	assert_int_equal(time_of(g, "{\"cmd\": \"idle\", \"cycles\": 4294967295}"),
			 before + UINT32_MAX);
	assert_false(g_control_ok(g, "{\"cmd\": \"idle\", \"cycles\": 4294967296}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"idle\", \"cycles\": -1}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"idle\"}"));
	/* A process that sleeps lets no time pass by itself. */
	usleep(2000);
	assert_int_equal(time_of(g, "{\"cmd\": \"ping\"}"), before + UINT32_MAX);
	g_start(g, VA);		/* for ever */
	/* A request may overtake what is still in the queue, and a read's answer may not. */
	g_read(g, GPU_ID);
	assert_false(g_control_ok(g, "{\"cmd\": \"idle\", \"cycles\": 1}"));
	g_quit(g);
	gpu_free(g);
}

static void test_idle_time_from_the_host(void **state)
{
	struct gpu *g = gpu_start("--idle-from-host");
	uint64_t before;

	(void)state;
	g_bring_up(g);
	before = time_of(g, "{\"cmd\": \"ping\"}");
	usleep(2000);
	/* The process may have gone to sleep a little after the answer. */
	assert_true(time_of(g, "{\"cmd\": \"ping\"}") - before > 1000 * AGATE_BUS_MHZ);
	g_quit(g);
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

static void test_injections_from_outside(void **state)
{
	struct gpu *g = gpu_start("--inject=corrupt-header:1");

	(void)state;
	assert_true(g_control_ok(g, "{\"cmd\": \"inject\", \"spec\": \"stick-as:2\"}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"inject\"}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"inject\", \"spec\": \"stick-as:0\"}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"inject\", \"spec\": 3}"));
	g_bring_up(g);
	g_start(g, 0);
	g_interrupt(g, AGATE_VECTOR_JOB);
	assert_int_equal(g->ram[0x10000], 0xfe);
	g_write(g, AS_COMMAND(0), AS_COMMAND_UPDATE);
	assert_int_equal(g_read(g, AS_STATUS(0)), 1);
	assert_int_equal(g_read(g, AS_STATUS(0)), 1);
	g_quit(g);
	assert_int_equal(log_count(g, "injected", "what", "corrupt-header"), 1);
	assert_int_equal(log_count(g, "injected", "what", "stick-as"), 1);
	gpu_free(g);
}

/* At the third event after the request, both the log and the GPU end. */
static void test_it_dies_when_told(void **state)
{
	struct gpu *g = gpu_start(NULL);

	(void)state;
	g_bring_up(g);
	while (g_read(g, AS_STATUS(0)))
		;
	assert_true(g_control_ok(g, "{\"cmd\": \"inject\", \"spec\": \"die:5\"}"));
	assert_true(g_control_ok(g, "{\"cmd\": \"inject\", \"spec\": \"none,die:3\"}"));
	g_start(g, VA);
	gpu_wait(g);
	/* chain_start, job_start, and job_end; the walk between them does not count */
	assert_int_equal(log_count(g, "job_start", NULL, NULL), 1);
	assert_int_equal(log_count(g, "job_end", NULL, NULL), 1);
	assert_int_equal(log_count(g, "chain_cyclic", NULL, NULL), 0);
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

static void test_nobody_holds_the_control_socket(void **state)
{
	struct gpu *g = gpu_start(NULL);

	(void)state;
	assert_int_equal(shutdown(g->control, SHUT_RDWR), 0);
	assert_int_equal(gpu_wait(g), 0);
	gpu_free(g);
}

/* Exit status: 2 for a wrong command line, 1 for a wrong object that it names. */
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
	refused(1, GOOD);			/* stdin is not BAR2 */
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
	refused(2, GOOD "--power-in maybe");
	refused(2, GOOD "--inject drop-irq");
	refused(1, GOOD "--inject drop-irq:1:gpu,die:1000 --power-in off");
	refused(1, GOOD "--power-latency stuck --reset-latency stuck --as-latency stuck "
		     "--hard-reset-latency stuck");
	refused(2, GOOD "and more");
#undef GOOD
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_control_requests),
		cmocka_unit_test(test_what_a_launcher_makes_up),
		cmocka_unit_test(test_idle_time),
		cmocka_unit_test(test_idle_time_from_the_host),
		cmocka_unit_test(test_latencies_are_set_together_or_not_at_all),
		cmocka_unit_test(test_injections_from_outside),
		cmocka_unit_test(test_it_dies_when_told),
		cmocka_unit_test(test_stops_that_stick),
		cmocka_unit_test(test_nobody_holds_the_control_socket),
		cmocka_unit_test(test_command_lines_that_make_no_sense),
	};

	return cmocka_run_group_tests_name("sim-control_socket", tests, NULL, NULL);
}
