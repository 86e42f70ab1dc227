// SPDX-License-Identifier: MIT
/*
 * The debugger's socket: it answers, the guest stands still meanwhile and continues
 * afterwards, and the socket disappears with the guest.
 *
 * The test speaks gdb's protocol itself.  It needs the fast kernel and the initramfs; no
 * GPU.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "vm.h"

static char dir[] = "/tmp/agate-gdb-XXXXXX";
static char path[64];

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/gdb", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(dir);	/* which fails when a file is left there */
}

static enum vm_status start(bool wait, struct vm **vm)
{
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
	char kernel[4096], initramfs[4096];
	struct vm_config cfg = {
		.kernel_dir = kernel, .initramfs = initramfs, .timeout_ms = 60000,
		.interrupt_fd = -1, .gdb = path, .gdb_wait = wait,
	};

	snprintf(kernel, sizeof(kernel), "%s/guest/kernel-fast", build);
	snprintf(initramfs, sizeof(initramfs), "%s/guest/initramfs.cpio.gz", build);
	return vm_start(&cfg, vm);
}

static struct vm *must_start(bool wait)
{
	struct vm *vm;

	if (start(wait, &vm) != VM_OK)
		fail_msg("%s", vm ? vm_error(vm) : "out of memory");
	return vm;
}

static int join(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(addr.sun_path, path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Sends a packet; true when an answer that has @expect arrives.  QEMU's own message that
 * the guest has stopped may come before it.
 */
static bool ask(int fd, const char *packet, const char *expect)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char answer[4096] = "";
	size_t len = 0;
	ssize_t n;

	if (write(fd, packet, strlen(packet)) != (ssize_t)strlen(packet))
		return false;
	while (len < sizeof(answer) - 1 && !strstr(answer, expect) &&
	       poll(&p, 1, 30000) == 1) {
		n = read(fd, answer + len, sizeof(answer) - 1 - len);
		if (n <= 0)
			return false;
		len += (size_t)n;
	}
	return strstr(answer, expect);
}

static enum vm_status run_true(struct vm *vm, unsigned int timeout_ms, bool *timed_out)
{
	const char *const argv[] = { "/bin/true", NULL };
	struct vm_exec exec = { .argv = argv, .timeout_ms = timeout_ms, .grace_ms = 100 };
	enum vm_status st = vm_exec(vm, &exec);

	*timed_out = exec.timed_out;
	return st;
}

static void test_running_guest(void **state)
{
	bool timed_out;
	struct vm *vm;
	int fd;

	(void)state;
	vm = must_start(false);
	assert_int_equal(run_true(vm, 0, &timed_out), VM_OK);
	fd = join();
	assert_true(fd >= 0);
	assert_true(ask(fd, "$?#3f", "$T0"));
	assert_int_equal(run_true(vm, 200, &timed_out), VM_TIMEOUT);
	assert_true(timed_out);
	assert_true(ask(fd, "+$D#44", "$OK"));
	assert_int_equal(run_true(vm, 0, &timed_out), VM_OK);
	close(fd);
	vm_stop(vm);
}

/* The debugger, in a process of its own, because vm_start() waits. */
static int let_go(void)
{
	int fd = -1;

	for (int i = 0; i < 300 && fd < 0; i++) {
		usleep(100000);
		fd = join();
	}
	return fd >= 0 && ask(fd, "$?#3f", "$T0") && ask(fd, "+$D#44", "$OK") ? 0 : 1;
}

static void test_guest_that_waits(void **state)
{
	bool timed_out;
	struct vm *vm;
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid)
		_exit(let_go());
	vm = must_start(true);
	assert_int_equal(run_true(vm, 0, &timed_out), VM_OK);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	vm_stop(vm);
}

/* A run that was killed leaves its socket behind: the next run replaces it. */
static void test_left_socket(void **state)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct vm *vm, *second;
	bool timed_out;

	(void)state;
	strcpy(addr.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
	vm = must_start(false);
	/* A run leaves a socket alone that is in use. */
	assert_int_equal(start(false, &second), VM_HOST);
	vm_stop(second);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(run_true(vm, 0, &timed_out), VM_OK);
	vm_stop(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_running_guest),
		cmocka_unit_test(test_guest_that_waits),
		cmocka_unit_test(test_left_socket),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
