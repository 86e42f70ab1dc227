// SPDX-License-Identifier: MIT
/*
 * build's own agate-sim, run as the launcher runs it, with this program as the
 * guest: register accesses through BAR2, a job in shared RAM, interrupts as
 * event descriptors, the event log and the control socket.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest_bus.h"

#define MAX_ARGS	32
#define DEADLINE	60	/* seconds for a whole test, when all is lost */

struct gpu {
	pid_t pid;
	uint8_t *bar2;
	uint8_t *ram;		/* RAM_SIZE bytes at RAM_BASE */
	int bar2_fd, ram_fd, doorbell, vector[4], control;
	uint32_t seq;
	char log[64];
};

/* What the child sees each descriptor as: far from what the test opens. */
enum { FD_BAR2 = 100, FD_RAM, FD_DOORBELL, FD_READY, FD_CONTROL, FD_VECTOR };

static void child(const struct gpu *g, int ready, int control, const char *extra)
{
	char log[80], *args[MAX_ARGS] = {
		"agate-sim", "--bar2-fd", "100", "--ram-fd", "101", "--doorbell-fd", "102",
		"--ready-fd", "103", "--control-fd", "104", "--vector-fds", "105,106,107,108",
		"--ram", "0x40000000:0x400000:0", "--seed", "1", "--gpu", "midgard", log,
	};
	unsigned int i, n = 20;

	snprintf(log, sizeof(log), "--log=%s", g->log);
	if (extra)
		args[n++] = (char *)extra;
	args[n] = NULL;
	dup2(g->bar2_fd, FD_BAR2);
	dup2(g->ram_fd, FD_RAM);
	dup2(g->doorbell, FD_DOORBELL);
	dup2(ready, FD_READY);
	dup2(control, FD_CONTROL);
	for (i = 0; i < 4; i++)
		dup2(g->vector[i], FD_VECTOR + i);
	/* A failing test leaves it running: it must not outlive the program. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv(AGATE_SIM_SAN, args);
	_exit(127);
}

static struct gpu *gpu_start(const char *extra)
{
	struct gpu *g = calloc(1, sizeof(*g));
	int ready[2], control[2], log, i;
	char byte = 0;

	assert_non_null(g);
	alarm(DEADLINE);
	g->bar2_fd = guest_bus_create(&g->bar2);
	g->ram_fd = memfd_create("ram", MFD_CLOEXEC);
	assert_int_equal(ftruncate(g->ram_fd, RAM_SIZE), 0);
	g->ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, g->ram_fd, 0);
	assert_ptr_not_equal(g->ram, MAP_FAILED);
	g->doorbell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	for (i = 0; i < 4; i++)
		g->vector[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	snprintf(g->log, sizeof(g->log), "/tmp/agate-test-XXXXXX");
	log = mkstemp(g->log);
	assert_true(log >= 0);
	close(log);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control), 0);
	g->pid = fork();
	assert_true(g->pid >= 0);
	if (!g->pid)
		child(g, ready[1], control[1], extra);
	close(ready[1]);
	close(control[1]);
	g->control = control[0];
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 'R');
	close(ready[0]);
	return g;
}

/* The process ends by itself; its exit status. */
static int gpu_wait(struct gpu *g)
{
	int status;

	assert_int_equal(waitpid(g->pid, &status, 0), g->pid);
	g->pid = 0;
	return status;
}

static void gpu_free(struct gpu *g)
{
	int i;

	if (g->pid) {
		kill(g->pid, SIGKILL);
		gpu_wait(g);
	}
	munmap(g->bar2, BAR2_TEST_SIZE);
	munmap(g->ram, RAM_SIZE);
	for (i = 0; i < 4; i++)
		close(g->vector[i]);
	close(g->bar2_fd);
	close(g->ram_fd);
	close(g->doorbell);
	close(g->control);
	unlink(g->log);
	free(g);
	alarm(0);
}

/* ---- The guest's side, as agate_bar2.h has it ------------------------------------ */

static void ring(struct gpu *g)
{
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(g->bar2);
	uint64_t one = 1;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&ctrl->asleep, __ATOMIC_RELAXED))
		assert_int_equal(write(g->doorbell, &one, 8), 8);
}

static void g_write(struct gpu *g, uint32_t offset, uint32_t value)
{
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(g->bar2);

	while (ctrl->tail - __atomic_load_n(&ctrl->head, __ATOMIC_ACQUIRE) ==
	       AGATE_BAR2_QUEUE_LEN)
		sched_yield();
	guest_bus_push(g->bar2, (struct agate_bar2_entry){ AGATE_BAR2_WRITE, offset, value, 0 });
	ring(g);
}

static uint32_t g_read(struct gpu *g, uint32_t offset)
{
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(g->bar2);

	g->seq++;
	guest_bus_push(g->bar2, (struct agate_bar2_entry){ AGATE_BAR2_READ, offset, 0, g->seq });
	ring(g);
	while (__atomic_load_n(&ctrl->reply_seq, __ATOMIC_ACQUIRE) != g->seq)
		sched_yield();
	return ctrl->reply_value;
}

static void g_poll(struct gpu *g, uint32_t offset, uint32_t want)
{
	while ((g_read(g, offset) & want) != want)
		;
}

/* Wait for a message; how many had merged. */
static uint64_t g_interrupt(struct gpu *g, unsigned int vector)
{
	uint64_t n;

	while (read(g->vector[vector], &n, 8) != 8) {
		assert_int_equal(errno, EAGAIN);
		sched_yield();
	}
	return n;
}

static void g_put64(struct gpu *g, uint64_t pa, uint64_t value)
{
	memcpy(g->ram + (pa - RAM_BASE), &value, 8);
}

/* Reset, power, address space 0 over VA .. VA + 4 KiB = PA, JOB unmasked. */
static void g_bring_up(struct gpu *g)
{
	g_write(g, GPU_CMD, GPU_CMD_SOFT_RESET);
	g_poll(g, GPU_INT_RAWSTAT, GPU_IRQ_RESET_COMPLETED);
	g_write(g, GPU_L2_PWRON_LO, 1);
	g_poll(g, GPU_L2_READY_LO, 1);
	g_write(g, GPU_SHADER_PWRON_LO, 0xf);
	g_poll(g, GPU_SHADER_READY_LO, 0xf);
	g_put64(g, 0x40000008, 0x40001003);
	g_put64(g, 0x40001010, 0x40002003);
	g_put64(g, 0x40002018, 0x40003003);
	g_put64(g, 0x40003000, 0x400100c1);
	g_write(g, AS_TRANSTAB_LO(0), 0x40000003);
	g_write(g, AS_TRANSTAB_HI(0), 0);
	g_write(g, AS_COMMAND(0), AS_COMMAND_UPDATE);
	g_write(g, JOB_INT_MASK, 0x70007);
}

/* A WRITE_VALUE of 0x600d to VA + 0x800; next makes it cyclic. */
static void g_start(struct gpu *g, uint64_t next)
{
	struct agate_job_header header = {
		.control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(AGATE_JOB_WRITE_VALUE),
		.next = next,
	};
	struct agate_write_value_payload payload = {
		.address = VA + 0x800, .type = AGATE_WRITE_IMMEDIATE_64, .immediate = 0x600d,
	};

	memcpy(g->ram + 0x10000, &header, sizeof(header));
	memcpy(g->ram + 0x10020, &payload, sizeof(payload));
	g_write(g, JS_HEAD_NEXT_LO(0), (uint32_t)VA);
	g_write(g, JS_HEAD_NEXT_HI(0), VA >> 32);
	g_write(g, JS_AFFINITY_NEXT_LO(0), 0xf);
	g_write(g, JS_CONFIG_NEXT(0), 0);
	g_write(g, JS_COMMAND_NEXT(0), JS_COMMAND_START);
}

static json_t *g_control(struct gpu *g, const char *request)
{
	char answer[4096];
	ssize_t n;

	assert_int_equal(send(g->control, request, strlen(request), MSG_NOSIGNAL),
			 strlen(request));
	n = recv(g->control, answer, sizeof(answer), 0);
	assert_true(n > 0);
	assert_int_equal(answer[n - 1], '\n');
	return json_loadb(answer, n, 0, NULL);
}

static bool g_control_ok(struct gpu *g, const char *request)
{
	json_t *answer = g_control(g, request);
	bool ok = json_is_true(json_object_get(answer, "ok"));

	assert_true(ok || json_is_string(json_object_get(answer, "error")));
	json_decref(answer);
	return ok;
}

static void g_quit(struct gpu *g)
{
	assert_true(g_control_ok(g, "{\"cmd\": \"quit\"}"));
	assert_int_equal(gpu_wait(g), 0);
}

/* Every line of the log is an object with a time and an event; finds one. */
static unsigned int log_count(const struct gpu *g, const char *event, const char *key,
			      const char *value)
{
	FILE *file = fopen(g->log, "r");
	char line[1024];
	unsigned int n = 0;
	json_int_t time = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		json_t *o = json_loads(line, 0, NULL);
		const char *text;

		assert_true(json_is_object(o));
		assert_true(json_is_integer(json_object_get(o, "time")));
		assert_true(json_integer_value(json_object_get(o, "time")) >= time);
		time = json_integer_value(json_object_get(o, "time"));
		assert_true(json_is_string(json_object_get(o, "event")));
		text = json_string_value(json_object_get(o, key));
		if (!strcmp(json_string_value(json_object_get(o, "event")), event) &&
		    (!key || (text && !strcmp(text, value))))
			n++;
		json_decref(o);
	}
	fclose(file);
	return n;
}

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
