// SPDX-License-Identifier: MIT
/*
 * The process's seccomp filter, tested in children: every call that the process
 * needs works, and each forbidden call ends in SIGSYS.
 */
#include "gpu_bench.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox.h"

/* Every child has the two ends of a pair, an event to read and an event to write. */
static int pair[2], to_read, to_write;

#define EXIT_WORKS	3	/* the child's body has ended */
#define EXIT_NO_SANDBOX	4
#define EXIT_WRONG	5

/* _exit() without ASan's work before a call that does not return. */
static void leave(int status)
{
	syscall(SYS_exit_group, status);
}

static int in_child(void (*body)(void))
{
	const struct sandbox sandbox = {
		.read = { to_read }, .reads = 1,
		.write = { to_write }, .writes = 1,
		.socket = pair[0],
	};
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		alarm(20);
		if (sandbox_enter(&sandbox))
			leave(EXIT_NO_SANDBOX);
		body();
		leave(EXIT_WORKS);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_SANDBOX)
		skip();		/* a host without seccomp */
	return status;
}

static void works(void (*body)(void))
{
	int status = in_child(body);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_WORKS);
}

static void dies(void (*body)(void))
{
	int status = in_child(body);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

/* A child has no assertions: a wrong result ends it. */
static void must(bool condition)
{
	if (!condition)
		leave(EXIT_WRONG);
}

/* ---- What the process does ---- */

static void serve(void)
{
	struct pollfd ready = { .fd = to_read, .events = POLLIN };
	uint64_t event = 1;

	must(write(to_write, &event, sizeof(event)) == sizeof(event));
	must(poll(&ready, 1, 0) == 1 && ready.revents == POLLIN);
	must(read(to_read, &event, sizeof(event)) == sizeof(event));
}

static void answer(void)
{
	int type = 0;
	socklen_t len = sizeof(type);
	char byte;

	must(send(pair[0], "x", 1, MSG_NOSIGNAL) == 1);
	must(recv(pair[0], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	must(!getsockopt(pair[0], SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_SEQPACKET);
}

static void use_memory(void)
{
	void *at = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(at != MAP_FAILED);
	at = mremap(at, 65536, 1 << 20, MREMAP_MAYMOVE);
	must(at != MAP_FAILED);
	memset(at, 1, 1 << 20);
	must(!munmap(at, 1 << 20));
	must(syscall(SYS_brk, 0) > 0);
}

static void tell_time(void)
{
	struct timespec ts;

	must(!syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts));
	must(!close(to_write));
}

static void test_what_the_process_needs_works(void **state)
{
	(void)state;
	works(serve);
	works(answer);
	works(use_memory);
	works(tell_time);
}

static void kill_itself(void)
{
	kill(getpid(), SIGKILL);
}

static void test_it_can_die_as_if_it_had_crashed(void **state)
{
	int status = in_child(kill_itself);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* ---- What it never does ---- */

static void run_a_program(void)
{
	execl("/bin/true", "true", NULL);
}

static void fork_itself(void)
{
	syscall(SYS_fork);
}

static void start_a_thread(void)
{
	syscall(SYS_clone, 0, NULL, NULL, NULL, 0);
}

static void test_no_other_program(void **state)
{
	(void)state;
	dies(run_a_program);
	dies(fork_itself);
	dies(start_a_thread);
}

static void open_to_write(void)
{
	syscall(SYS_openat, AT_FDCWD, "/tmp/agate-sandbox", O_WRONLY | O_CREAT, 0600);
}

static void open_to_read(void)
{
	syscall(SYS_open, "/etc/passwd", O_RDONLY);
}

static void make_a_file(void)
{
	syscall(SYS_memfd_create, "x", 0);
}

static void remove_a_file(void)
{
	syscall(SYS_unlink, "/tmp/agate-sandbox");
}

static void look_at_a_file(void)
{
	struct { char room[256]; } st;

	syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &st, 0);
}

static void test_no_file(void **state)
{
	(void)state;
	dies(open_to_write);
	dies(open_to_read);
	dies(make_a_file);
	dies(remove_a_file);
	dies(look_at_a_file);
}

static void make_a_socket(void)
{
	syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
}

static void send_elsewhere(void)
{
	struct sockaddr to = { .sa_family = AF_UNIX };

	syscall(SYS_sendto, pair[0], "x", 1, 0, &to, sizeof(to));
}

static void send_by_another(void)
{
	syscall(SYS_sendto, pair[1], "x", 1, 0, NULL, 0);
}

static void pass_a_descriptor(void)
{
	struct msghdr message = { 0 };

	syscall(SYS_sendmsg, pair[0], &message, 0);
}

static void test_no_other_socket(void **state)
{
	(void)state;
	dies(make_a_socket);
	dies(send_elsewhere);
	dies(send_by_another);
	dies(pass_a_descriptor);
}

static void write_elsewhere(void)
{
	syscall(SYS_write, STDOUT_FILENO, "", 0);
}

static void write_what_is_read(void)
{
	uint64_t one = 1;

	syscall(SYS_write, to_read, &one, sizeof(one));
}

static void read_elsewhere(void)
{
	char byte;

	syscall(SYS_read, STDIN_FILENO, &byte, 0);
}

static void copy_a_descriptor(void)
{
	syscall(SYS_dup2, pair[0], to_write);
}

static void control_a_device(void)
{
	int n;

	syscall(SYS_ioctl, pair[0], FIONREAD, &n);
}

static void test_no_other_descriptor(void **state)
{
	(void)state;
	dies(write_elsewhere);
	dies(write_what_is_read);
	dies(read_elsewhere);
	dies(copy_a_descriptor);
	dies(control_a_device);
}

static void map_code(void)
{
	syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void map_a_file(void)
{
	syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE, to_read, 0);
}

static void make_code(void)
{
	syscall(SYS_mprotect, NULL, 4096, PROT_READ | PROT_EXEC);
}

static void test_no_new_code(void **state)
{
	(void)state;
	dies(map_code);
	dies(map_a_file);
	dies(make_code);
}

static void signal_another(void)
{
	syscall(SYS_kill, getppid(), 0);
}

/* The process may send allowed signals only to itself. */
static void kill_all(void)
{
	syscall(SYS_kill, 0x7ffffffe, SIGKILL);
}

static void signal_itself(void)
{
	syscall(SYS_kill, getpid(), SIGCONT);
}

static void trace_another(void)
{
	syscall(SYS_ptrace, PTRACE_ATTACH, 1, 0, 0);
}

static void reach_into_another(void)
{
	syscall(SYS_process_vm_writev, 1, NULL, 0, NULL, 0, 0);
}

static void test_nobody_else(void **state)
{
	(void)state;
	dies(signal_another);
	dies(kill_all);
	dies(signal_itself);
	dies(trace_another);
	dies(reach_into_another);
}

/* The same system call numbers, used as a program of another architecture. */
static void ask_as_x32(void)
{
	syscall(0x40000000 | SYS_getpid);
}

static void take_the_filter_off(void)
{
	syscall(SYS_prctl, 22 /* PR_SET_SECCOMP */, 0, 0, 0, 0);
}

static void ask_by_ring(void)
{
	syscall(SYS_io_uring_setup, 1, NULL);
}

static void test_no_way_around(void **state)
{
	(void)state;
	dies(ask_as_x32);
	dies(take_the_filter_off);
	dies(ask_by_ring);
}

/* Number 3 is close() in 64-bit programs, and allowed. */
static void ask_in_32_bits(void)
{
	int number = 3;

	__asm__ volatile("int $0x80" : "+a"(number) : "b"(-1), "c"(0), "d"(0) : "memory");
}

static void test_no_other_numbers(void **state)
{
	int status = in_child(ask_in_32_bits);

	(void)state;
	/* A kernel that runs no 32-bit programs does not even ask the filter. */
	assert_true(WIFSIGNALED(status));
	assert_true(WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV);
}

/* A filter for the maximum number of descriptors still fits. */
static void test_the_longest_filter_fits(void **state)
{
	struct sandbox sandbox = { .reads = SANDBOX_FDS, .writes = SANDBOX_FDS, .socket = 3 };
	struct sock_filter *filter = calloc(SANDBOX_FILTER, sizeof(*filter));
	unsigned int with, without;

	(void)state;
	assert_non_null(filter);
	with = sandbox_filter(&sandbox, filter);	/* ASan checks the rest */
	assert_true(with <= SANDBOX_FILTER);
	sandbox.socket = -1;
	without = sandbox_filter(&sandbox, filter);
	assert_true(without < with);
	free(filter);
}

static int prepare(void **state)
{
	(void)state;
	to_read = eventfd(1, EFD_NONBLOCK);
	to_write = eventfd(0, EFD_NONBLOCK);
	if (to_read < 0 || to_write < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return -1;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_the_process_needs_works),
		cmocka_unit_test(test_it_can_die_as_if_it_had_crashed),
		cmocka_unit_test(test_no_other_program),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_no_other_socket),
		cmocka_unit_test(test_no_other_descriptor),
		cmocka_unit_test(test_no_new_code),
		cmocka_unit_test(test_nobody_else),
		cmocka_unit_test(test_no_way_around),
		cmocka_unit_test(test_no_other_numbers),
		cmocka_unit_test(test_the_longest_filter_fits),
	};

	return cmocka_run_group_tests_name("sim-sandbox", tests, prepare, NULL);
}
