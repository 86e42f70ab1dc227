// SPDX-License-Identifier: MIT
/*
 * Parts of the launcher that need no guest.
 */
#include <fcntl.h>
#include <linux/sched/types.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "vm_priv.h"

#define QEMU	"qemu-system-x86_64"

static int setup(void **state)
{
	struct vm_config cfg = { .interrupt_fd = -1 };

	*state = vm_new(&cfg);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	vm_stop(*state);
	return 0;
}

/* The text of vm_error() after a QEMU that wrote that and ended with this wait status. */
static const char *last_words(struct vm *vm, int status, const char *text)
{
	vm_close(&vm->qemu_stderr);
	vm->qemu_stderr = memfd_create("stderr", MFD_CLOEXEC);
	assert_int_equal(write(vm->qemu_stderr, text, strlen(text)), strlen(text));
	vm->qemu.status = status;
	assert_int_equal(vm_qemu_gone(vm), VM_LOST);
	return vm_error(vm);
}

static void test_why_qemu_ended(void **state)
{
	enum { FAILED = 1 << 8, ABORTED = 6, KILLED = 9, FAULTED = 11 };
	struct vm *vm = *state;

	assert_string_equal(last_words(vm, FAILED, QEMU ": no such machine\n"),
			    "QEMU ended with status 1: no such machine");
	assert_string_equal(last_words(vm, FAILED, QEMU ": warning: no feature\n\n"
				       QEMU ": warning: nor that\n"
				       QEMU ": Unknown section 7\n"
				       QEMU ": load of migration failed: Invalid argument\n"),
			    "QEMU ended with status 1: Unknown section 7");
	assert_string_equal(last_words(vm, FAILED, QEMU ": warning: no feature\n"),
			    "QEMU ended with status 1: it did not say why");
	assert_string_equal(last_words(vm, KILLED, QEMU ": warning: no feature\n"),
			    "QEMU was ended by signal 9");
	assert_string_equal(last_words(vm, ABORTED, QEMU ": warning: no feature\n"
				       "ERROR:cpus.c:7: assertion failed"),
			    "QEMU was ended by signal 6: ERROR:cpus.c:7: assertion failed");
	assert_string_equal(vm_guest_did(vm),
			    "ended the VM: ERROR:cpus.c:7: assertion failed");
	last_words(vm, ABORTED, "");
	assert_null(vm_guest_did(vm));
	last_words(vm, ABORTED, "qemu: qemu_thread_create: Resource temporarily unavailable\n");
	assert_null(vm_guest_did(vm));
	last_words(vm, FAULTED, "");
	assert_string_equal(vm_guest_did(vm), "ended the VM: QEMU got signal 11");
	last_words(vm, FAILED, QEMU ": no such machine\n");
	assert_null(vm_guest_did(vm));
	last_words(vm, KILLED, "qemu: fatal: invalid tss\n");
	assert_null(vm_guest_did(vm));
	last_words(vm, ABORTED, QEMU ": warning: no feature\nqemu: fatal: invalid tss\nEAX=0\n");
	assert_string_equal(vm_guest_did(vm), "stopped the virtual processor: invalid tss");
}

/* A child in place of a QEMU that does not answer: asleep, or with a processor to itself. */
static pid_t instead_of_qemu(struct vm *vm, bool busy)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (busy)
			;
		pause();
		_exit(0);
	}
	vm->qemu.pid = pid;
	return pid;
}

/* Is a QEMU that does not answer said to be kept busy by its guest? */
static bool guest_is_blamed(struct vm *vm, bool busy)
{
	pid_t pid = instead_of_qemu(vm, busy);
	bool blamed;

	assert_int_equal(vm_qmp_command(vm, "inject-nmi", NULL), VM_HOST);
	assert_string_equal(vm_error(vm), "QMP inject-nmi: QEMU does not answer");
	blamed = vm_guest_did(vm);
	vm->qemu.pid = 0;
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return blamed;
}

/*
 * Only a QEMU that runs all the time may be stuck because of its guest.  On a busy machine
 * half a second may be a single wait for a processor: then it is tried again.
 */
static void test_stuck_qemu(void **state)
{
	enum { TRIES = 5 };
	struct vm *vm = *state;
	bool blamed = false;

	vm->cfg.answer_ms = 500;
	assert_true(vm_qmp_open(vm));
	assert_false(guest_is_blamed(vm, false));
	for (int i = 0; i < TRIES && !blamed; i++)
		blamed = guest_is_blamed(vm, true);
	assert_true(blamed);
}

/* Typed input is not read while the guest takes none: the queue has a bound. */
static void test_endless_input(void **state)
{
	static const char *const argv[] = { "/bin/sh", NULL };
	int typed = dup(STDIN_FILENO), zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	struct vm *vm = *state;
	int value;

	assert_true(typed >= 0 && dup2(zero, STDIN_FILENO) == STDIN_FILENO);
	assert_true(vm_ctl_open(vm));
	vm->deadline = vm_time(vm) + 300000000;
	assert_int_equal(vm_shell(vm, argv, &value), VM_TIMEOUT);
	assert_in_range(vm->ctl.out.len, 1, VM_QUEUE_MAX + CTL_PAYLOAD_MAX);
	dup2(typed, STDIN_FILENO);
	close(typed);
	close(zero);
}

/* A PID 1 that hangs neither reads nor answers: no call waits for it for ever. */
static void test_silent_init(void **state)
{
	static char much[3u << 20];
	struct vm *vm = *state;
	int fd = memfd_create("got", MFD_CLOEXEC);

	vm->cfg.answer_ms = 100;
	assert_true(fd >= 0 && vm_ctl_open(vm));
	assert_int_equal(vm_put_bytes(vm, "x", 1, "/tmp/short", 0600), VM_TIMEOUT);
	assert_string_equal(vm_error(vm), "/tmp/short: the guest's PID 1 does not answer");
	assert_int_equal(vm_put_bytes(vm, much, sizeof(much), "/tmp/long", 0600), VM_TIMEOUT);
	assert_int_equal(vm_get(vm, "/tmp/short", fd, 100), VM_TIMEOUT);
	assert_int_equal(vm_ctl_request(vm, CTL_RESCAN, NULL, 0), VM_TIMEOUT);
	assert_int_equal(vm_poweroff(vm), VM_TIMEOUT);
	close(fd);
}

/* No call waits for ever for a QEMU or a guest that does not come up. */
static void test_silent_qemu(void **state)
{
	struct vm *vm = *state;

	vm->cfg.answer_ms = 100;
	assert_true(vm_qmp_open(vm));
	assert_int_equal(vm_qmp_greet(vm), VM_TIMEOUT);
	assert_int_equal(vm_qmp_command(vm, "stop", NULL), VM_HOST);
	assert_int_equal(vm_qmp_migrate(vm, "migrate", vm->qmp.qemu_fd), VM_HOST);
	assert_int_equal(vm_ctl_ready(vm), VM_TIMEOUT);
}

/* Closes @channel, as the kernel does early in a process's end, and is killed later. */
static pid_t closes_and_dies(int channel, int ours)
{
	const struct timespec later = { .tv_nsec = 50000000 };
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	close(channel);
	close(ours);
	nanosleep(&later, NULL);
	raise(SIGKILL);
	_exit(1);
}

/* A killed QEMU is lost, even if a command finds its channel closed before its exit is seen. */
static void test_command_to_dying_qemu(void **state)
{
	struct vm *vm = *state;

	for (int seen = 0; seen < 2; seen++) {
		assert_true(vm_qmp_open(vm));
		vm->qemu.pid = closes_and_dies(vm->qmp.qemu_fd, vm->qmp.watch.fd);
		vm->qemu.exit.fd = pidfd_open(vm->qemu.pid, 0);
		vm_qemu_watch(vm);
		vm->qemu.ended = false;
		vm_close(&vm->qmp.qemu_fd);
		/* The loop may have seen the end of the channel already. */
		if (seen)
			assert_int_equal(vm_pump(vm, 0), VM_OK);
		else
			while (vm_send_fd(vm->qmp.watch.fd, "", 1, -1))
				;
		assert_int_equal(vm_qmp_command(vm, "cont", NULL), VM_LOST);
		assert_string_equal(vm_error(vm), "QEMU was ended by signal 9");
		vm_close(&vm->qmp.watch.fd);
	}
}

/* Two descriptors that are ready at the same time. */
struct ready {
	struct vm_watch first, second;
	char calls[4];
	enum vm_status st;	/* that the first returns */
	bool closes;		/* the first closes the second */
};

static enum vm_status on_first(void *data, short revents)
{
	struct ready *ready = data;

	assert_int_equal(revents, POLLIN);
	strcat(ready->calls, "1");
	if (ready->closes)
		vm_close(&ready->second.fd);
	return ready->st;
}

static enum vm_status on_second(void *data, short revents)
{
	struct ready *ready = data;

	assert_int_equal(revents, POLLIN);
	strcat(ready->calls, "2");
	return VM_OK;
}

static void ready_both(struct vm *vm, struct ready *ready, enum vm_status st, bool closes)
{
	*ready = (struct ready){
		.first.fd = eventfd(1, EFD_CLOEXEC),
		.second.fd = eventfd(1, EFD_CLOEXEC),
		.st = st, .closes = closes,
	};
	vm_loop_add(vm, &ready->first, on_first, ready);
	vm_loop_add(vm, &ready->second, on_second, ready);
	assert_int_equal(vm_pump(vm, 0), st);
	vm_close(&ready->first.fd);
	vm_close(&ready->second.fd);
}

/* Callbacks run in their order, once each, until one of them ends the wait. */
static void test_callbacks_in_order(void **state)
{
	static struct ready ready;

	ready_both(*state, &ready, VM_OK, false);
	assert_string_equal(ready.calls, "12");
	ready_both(*state, &ready, VM_INTERRUPTED, false);
	assert_string_equal(ready.calls, "1");
	ready_both(*state, &ready, VM_OK, true);
	assert_string_equal(ready.calls, "1");
}

/* A debugger may stop the guest for as long as a person thinks. */
static void test_debugger_takes_its_time(void **state)
{
	struct vm *vm = *state;

	vm->cfg.gdb = "socket";
	assert_int_equal(vm_answer_until(vm, VM_ANSWER_MS), 0);
	vm->cfg.gdb = NULL;
	assert_in_range(vm_answer_until(vm, VM_ANSWER_MS), vm_time(vm), UINT64_MAX);
}

/* A process that others wait for asks for short slices, and keeps what else it inherited. */
static void test_short_slices(void **state)
{
	static const char *const argv[] = { "sleep", "60", NULL };
	struct sched_attr attr = { .size = 0 }, ours;
	struct vm_proc proc;
	struct utsname host;
	int major, minor;

	(void)state;
	assert_int_equal(uname(&host), 0);
	assert_int_equal(sscanf(host.release, "%d.%d", &major, &minor), 2);
	if (major < 6 || (major == 6 && minor < 12))
		skip();
	assert_int_equal(syscall(SYS_sched_getattr, 0, &ours, sizeof(ours), 0), 0);
	for (int sleeps = 0; sleeps < 2; sleeps++) {
		assert_true(vm_proc_start(&proc, argv, NULL, 0, -1,
					  (struct vm_policy){ .sleeps = sleeps }));
		assert_int_equal(syscall(SYS_sched_getattr, proc.pid, &attr, sizeof(attr), 0), 0);
		vm_proc_kill(&proc);
		assert_int_equal(attr.sched_policy, ours.sched_policy);
		assert_int_equal(attr.sched_nice, ours.sched_nice);
		assert_int_equal(attr.sched_runtime, sleeps ? 100000 : ours.sched_runtime);
	}
}

static pid_t spinner(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		;
}

static uint64_t ran(pid_t pid)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	f = fopen(path, "re");
	assert_true(f && fscanf(f, "%llu", &ns) == 1);
	fclose(f);
	return ns;
}

/*
 * Lets the guest run for two seconds.  Does its clock advance by about the time that it ran?
 * The kernel has not counted the wait yet that is still going on.
 */
static bool clock_follows(struct vm *vm)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	uint64_t wall, shown, used, begun = vm_now();

	shown = vm_time(vm);
	used = ran(vm->qemu.pid);
	for (int i = 0; i < 20; i++) {
		nanosleep(&pause, NULL);
		vm_time(vm);
	}
	shown = vm_time(vm) - shown;
	wall = vm_now() - begun;
	used = ran(vm->qemu.pid) - used;
	return shown >= used / 10 * 9 && shown <= used + wall / 4;
}

/*
 * A guest that never sleeps, beside sixteen processes that do not sleep either: its clock
 * mostly stands still while it waits.  On a machine that is busy with something else this
 * process may itself wait between two of its looks: then it looks again.
 */
static void test_clock_of_one_that_waits(void **state)
{
	enum { PROCESSES = 17, TRIES = 5 };
	struct vm *vm = *state;
	pid_t pids[PROCESSES];
	bool follows = false;

	if (access("/proc/self/schedstat", R_OK) || sysconf(_SC_NPROCESSORS_ONLN) > 4)
		skip();
	for (int i = 0; i < PROCESSES; i++)
		pids[i] = spinner();
	vm->qemu.pid = pids[0];
	for (int i = 0; i < TRIES && !follows; i++)
		follows = clock_follows(vm);
	vm->qemu.pid = 0;
	for (int i = 0; i < PROCESSES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	assert_true(follows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_why_qemu_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stuck_qemu, setup, teardown),
		cmocka_unit_test_setup_teardown(test_endless_input, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock_of_one_that_waits, setup, teardown),
		cmocka_unit_test(test_short_slices),
		cmocka_unit_test_setup_teardown(test_silent_init, setup, teardown),
		cmocka_unit_test_setup_teardown(test_silent_qemu, setup, teardown),
		cmocka_unit_test_setup_teardown(test_command_to_dying_qemu, setup, teardown),
		cmocka_unit_test_setup_teardown(test_callbacks_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_debugger_takes_its_time, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
