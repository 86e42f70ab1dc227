// SPDX-License-Identifier: MIT
/*
 * agate-sim with this program as its launcher and its guest; see process_bench.h.
 */
#include "process_bench.h"

#include <errno.h>
#include <fcntl.h>
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

/* The child's numbers for the descriptors: far from those that the test opens. */
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
		args[n++] = strtok(strdup(extra), " ");
	while (extra && n < MAX_ARGS - 1 && (args[n] = strtok(NULL, " ")))
		n++;
	args[n] = NULL;
	dup2(g->bar2_fd, FD_BAR2);
	dup2(g->ram_fd, FD_RAM);
	dup2(g->doorbell, FD_DOORBELL);
	dup2(ready, FD_READY);
	dup2(control, FD_CONTROL);
	for (i = 0; i < 4; i++)
		dup2(g->vector[i], FD_VECTOR + i);
	/* A failing test leaves the child running: it must not outlive this program. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv(AGATE_SIM_SAN, args);
	_exit(127);
}

struct gpu *gpu_start(const char *extra)
{
	struct gpu *g = calloc(1, sizeof(*g));
	int ready[2], control[2], log, i;
	char byte = 0;

	assert_non_null(g);
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

int gpu_wait(struct gpu *g)
{
	int status;

	assert_int_equal(waitpid(g->pid, &status, 0), g->pid);
	g->pid = 0;
	return status;
}

void gpu_free(struct gpu *g)
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

void g_write(struct gpu *g, uint32_t offset, uint32_t value)
{
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(g->bar2);

	while (ctrl->tail - __atomic_load_n(&ctrl->head, __ATOMIC_ACQUIRE) ==
	       AGATE_BAR2_QUEUE_LEN)
		sched_yield();
	guest_bus_push(g->bar2, (struct agate_bar2_entry){ AGATE_BAR2_WRITE, offset, value, 0 });
	ring(g);
}

uint32_t g_read(struct gpu *g, uint32_t offset)
{
	struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(g->bar2);

	g->seq++;
	guest_bus_push(g->bar2, (struct agate_bar2_entry){ AGATE_BAR2_READ, offset, 0, g->seq });
	ring(g);
	while (__atomic_load_n(&ctrl->reply_seq, __ATOMIC_ACQUIRE) != g->seq)
		sched_yield();
	return ctrl->reply_value;
}

void g_poll(struct gpu *g, uint32_t offset, uint32_t want)
{
	while ((g_read(g, offset) & want) != want)
		;
}

uint64_t g_interrupt(struct gpu *g, unsigned int vector)
{
	uint64_t n;

	while (read(g->vector[vector], &n, 8) != 8) {
		assert_int_equal(errno, EAGAIN);
		sched_yield();
	}
	return n;
}

void g_put64(struct gpu *g, uint64_t pa, uint64_t value)
{
	memcpy(g->ram + (pa - RAM_BASE), &value, 8);
}

void g_bring_up(struct gpu *g)
{
	g_write(g, GPU_CMD, GPU_CMD_SOFT_RESET);
	g_poll(g, GPU_INT_RAWSTAT, GPU_IRQ_RESET_COMPLETED);
	g_write(g, GPU_COHERENCY_ENABLE, GPU_COHERENCY_ACE);
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

void g_start(struct gpu *g, uint64_t next)
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

json_t *g_control(struct gpu *g, const char *request)
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

bool g_control_ok(struct gpu *g, const char *request)
{
	json_t *answer = g_control(g, request);
	bool ok = json_is_true(json_object_get(answer, "ok"));

	assert_true(ok || json_is_string(json_object_get(answer, "error")));
	json_decref(answer);
	return ok;
}

void g_bring_up_to_fault(struct gpu *g)
{
	g_bring_up(g);
	g_write(g, MMU_INT_MASK, 0xff00ff);
	g_put64(g, 0x40003000, 0);
	g_start(g, 0);
	g_interrupt(g, AGATE_VECTOR_MMU);
}

struct gpu *gpu_start_traced(char path[64], const char *more)
{
	char options[128];

	snprintf(path, 64, "/tmp/agate-trace-%d", getpid());
	unlink(path);
	snprintf(options, sizeof(options), "--trace=%s%s", path, more);
	return gpu_start(options);
}

void g_quit(struct gpu *g)
{
	assert_true(g_control_ok(g, "{\"cmd\": \"quit\"}"));
	assert_int_equal(gpu_wait(g), 0);
}

unsigned int log_count(const struct gpu *g, const char *event, const char *key,
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
