// SPDX-License-Identifier: MIT
/*
 * agate-sim whose launcher or whose disk goes away while it runs: it serves the
 * guest as long as it can, ends when nobody can tell it to end, and reports what
 * was lost.
 */
#include "process_bench.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest_bus.h"

/* The process inherits them under these numbers, far from all others here. */
enum { FD_NONE = 190, FD_CONTROL };

static int heard = -1;		/* stderr of this test's process */

/* As gpu_start(), with its stderr kept for said(). */
static struct gpu *gpu_heard(const char *extra)
{
	int err = dup(STDERR_FILENO);
	struct gpu *g;

	assert_int_equal(fcntl(FD_NONE, F_GETFD), -1);
	heard = memfd_create("stderr", MFD_CLOEXEC);
	assert_true(err >= 0 && heard >= 0);
	fflush(stderr);
	dup2(heard, STDERR_FILENO);
	g = gpu_start(extra);
	dup2(err, STDERR_FILENO);
	close(err);
	return g;
}

static void said(const char *want)
{
	char text[1024];
	ssize_t n = pread(heard, text, sizeof(text) - 1, 0);

	assert_true(n >= 0);
	text[n] = '\0';
	close(heard);
	assert_string_equal(text, want);
}

static void quits(struct gpu *g, int want)
{
	int status;

	assert_true(g_control_ok(g, "{\"cmd\": \"quit\"}"));
	status = gpu_wait(g);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), want);
}

/* The job is done and RAWSTAT shows it; only its message is lost. */
static void test_a_vector_that_is_gone(void **state)
{
	struct gpu *g = gpu_heard("--vector-fds=190,190,190,190");

	(void)state;
	g_bring_up(g);
	g_start(g, 0);
	g_poll(g, JOB_INT_RAWSTAT, 1);
	quits(g, 0);
	said("agate-sim: vector 1: Bad file descriptor\n");
	assert_int_equal(log_count(g, "irq", "vector", "JOB"), 1);
	gpu_free(g);
}

/* Nobody could wake it any more. */
static void test_a_doorbell_that_is_gone(void **state)
{
	struct gpu *g = gpu_heard("--doorbell-fd=190");
	int status = gpu_wait(g);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	said("");
	gpu_free(g);
}

static void lost(const char *option, const char *want)
{
	struct gpu *g = gpu_heard(option);
	unsigned int i;

	g_bring_up(g);
	for (i = 0; i < 20; i++) {
		g_start(g, 0);
		g_interrupt(g, AGATE_VECTOR_JOB);
		g_write(g, JOB_INT_CLEAR, 1);
	}
	assert_int_equal(g_read(g, JS_STATUS(0)), AGATE_EXC_DONE);
	quits(g, 1);
	said(want);
	gpu_free(g);
}

static void test_a_disk_that_is_full(void **state)
{
	(void)state;
	lost("--log=/dev/full", "agate-sim: the log could not be written\n");
	lost("--trace=/dev/full", "agate-sim: the trace could not be written\n");
}

static int reader(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* The reader was away for a while: the file has an end, but a part is missing. */
static void lost_in_the_middle(const char *option, const char *want)
{
	char path[] = "/tmp/agate-vanish-XXXXXX", options[64];
	struct agate_bar2_ctrl *ctrl;
	struct gpu *g;
	int fifo;

	assert_non_null(mkdtemp(path));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	fifo = reader(path);
	snprintf(options, sizeof(options), "%s=%s", option, path);
	g = gpu_heard(options);
	ctrl = guest_bus_ctrl(g->bar2);
	close(fifo);
	g_bring_up(g);
	g_read(g, GPU_ID);
	while (!__atomic_load_n(&ctrl->asleep, __ATOMIC_RELAXED))
		sched_yield();		/* the log is written out before it sleeps */
	fifo = reader(path);
	quits(g, 1);
	said(want);
	close(fifo);
	unlink(path);
	gpu_free(g);
}

static void test_a_reader_that_was_away(void **state)
{
	(void)state;
	lost_in_the_middle("--log", "agate-sim: the log could not be written\n");
	lost_in_the_middle("--trace", "agate-sim: the trace could not be written\n");
}

/* The other end closes with answers unread, which gives an error instead of an end of file. */
static void test_a_launcher_that_does_not_listen(void **state)
{
	struct gpu *g = gpu_start(NULL);
	struct pollfd answer = { .fd = g->control, .events = POLLIN };
	int status;

	(void)state;
	assert_int_equal(send(g->control, "{\"cmd\": \"ping\"}", 15, 0), 15);
	assert_int_equal(poll(&answer, 1, -1), 1);
	close(g->control);
	g->control = -1;
	status = gpu_wait(g);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	gpu_free(g);
}

/* A descriptor that is not a socket gives only errors. */
static void test_a_control_socket_that_is_none(void **state)
{
	int ends[2], status;
	struct gpu *g;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(dup2(ends[0], FD_CONTROL), FD_CONTROL);
	assert_int_equal(write(ends[1], "\n", 1), 1);
	g = gpu_start("--control-fd=191");
	status = gpu_wait(g);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close(FD_CONTROL);
	close(ends[0]);
	close(ends[1]);
	gpu_free(g);
}

/* ---- A stream instead of packets ------------------------------------------------- */

static void tell(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* The next answer's line: NULL when it says ok, else its error. */
static const char *answered(FILE *from)
{
	static char error[256], line[4096];
	const char *text;
	json_t *answer;
	bool ok;

	assert_non_null(fgets(line, sizeof(line), from));
	answer = json_loads(line, 0, NULL);
	ok = json_is_true(json_object_get(answer, "ok"));
	text = json_string_value(json_object_get(answer, "error"));
	assert_true(ok == !text);
	snprintf(error, sizeof(error), "%s", text ? text : "");
	json_decref(answer);
	return ok ? NULL : error;
}

static void test_requests_in_a_stream(void **state)
{
	char much[5000], line[256];
	struct gpu *g;
	int end[2], status;
	FILE *from;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end), 0);
	assert_int_equal(dup2(end[1], FD_CONTROL), FD_CONTROL);
	close(end[1]);
	g = gpu_start("--control-fd=191");
	close(FD_CONTROL);
	from = fdopen(end[0], "r");
	assert_non_null(from);

	/* An incomplete request waits for the rest; two requests at once count as two. */
	tell(end[0], "{\"cmd\": \"pi");
	g_read(g, GPU_ID);
	tell(end[0], "ng\"}\n{\"cmd\": \"sing\"}\n");
	assert_null(answered(from));
	assert_string_equal(answered(from), "unknown cmd");

	/*
	 * Longer than any valid request: a line that does not fit is not a request,
	 * nor is its rest.
	 */
	memset(much, 'x', sizeof(much) - 1);
	much[sizeof(much) - 1] = '\0';
	tell(end[0], much);
	tell(end[0], "\n{\"cmd\": \"ping\"}\n");
	assert_string_equal(answered(from), "not JSON");
	assert_string_equal(answered(from), "not JSON");
	assert_null(answered(from));

	/* An answer carries the id of its request, if the request has one. */
	tell(end[0], "{\"cmd\": \"sing\", \"id\": 41}\n{\"cmd\": \"ping\"}\n");
	assert_non_null(fgets(line, sizeof(line), from));
	assert_non_null(strstr(line, "\"id\":41"));
	assert_non_null(fgets(line, sizeof(line), from));
	assert_null(strstr(line, "\"id\""));

	fclose(from);
	status = gpu_wait(g);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	gpu_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_vector_that_is_gone),
		cmocka_unit_test(test_a_doorbell_that_is_gone),
		cmocka_unit_test(test_a_disk_that_is_full),
		cmocka_unit_test(test_a_reader_that_was_away),
		cmocka_unit_test(test_a_launcher_that_does_not_listen),
		cmocka_unit_test(test_a_control_socket_that_is_none),
		cmocka_unit_test(test_requests_in_a_stream),
	};

	return cmocka_run_group_tests_name("sim-vanish", tests, NULL, NULL);
}
