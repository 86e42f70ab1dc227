// SPDX-License-Identifier: MIT
/*
 * A graded program whose tests send reports that must not get lost, and output that must
 * not be mistaken for a report; tests/vm/grading.c is its grader.
 */
#include "gates.h"
#include "graded.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void passes(void **state)
{
	(void)state;
	rule("what was given is seen");
	see("SIZE", param("SIZE"));
	see("LEAST", INT64_MIN);
	note("this was\nnot %s", "needed");
	check_errno(0, 0, "nothing");
	check_equal(1, 1, "one");
}

static void errno_differs(void **state)
{
	(void)state;
	rule("a size of %d is refused", 0);
	check_errno(ENOMEM, EINVAL, "CREATE_BO of 0 bytes");
}

static void number_differs(void **state)
{
	(void)state;
	rule("sizes are rounded up");
	check_equal(4095, 4096, "size");
}

static void too_few(void **state)
{
	(void)state;
	rule("vectors");
	check_at_least(3, 4, "vectors");
}

static void lacks_param(void **state)
{
	(void)state;
	see("SIZE", param("NOBODY_SET_THIS"));
}

static void plain_assert(void **state)
{
	(void)state;
	rule("asserts are explained as well");
	assert_int_equal(1, 2);
}

static void segfault(void **state)
{
	(void)state;
	rule("memory is there");
	raise(SIGSEGV);
}

static void exits(void **state)
{
	(void)state;
	exit(0);
}

static void child_checks(void **state)
{
	int status = -1;
	pid_t pid;

	(void)state;
	rule("children say what they saw");
	pid = fork();
	if (!pid) {
		check_errno(EIO, 0, "in a child");
		_exit(0);
	}
	waitpid(pid, &status, 0);
	check_equal(WEXITSTATUS(status), 0, "exit status of the child");
}

static void *check_elsewhere(void *arg)
{
	(void)arg;
	check_errno(EIO, 0, "in a thread");
	return NULL;
}

static void thread_checks(void **state)
{
	pthread_t thread;

	(void)state;
	rule("threads say what they saw");
	pthread_create(&thread, NULL, check_elsewhere, NULL);
	pthread_join(thread, NULL);
}

static void no_device(void **state)
{
	(void)state;
	close(guest_open());
}

static void nothing(void **state)
{
	(void)state;
}

static int teardown_fails(void **state)
{
	(void)state;
	return -1;
}

static void hangs(void **state)
{
	(void)state;
	pause();
}

static void load_driver(void)
{
	check_errno(module_load(""), 0, "loading agate.ko");
}

static const struct {
	const char *symbol;
	int err;
} probe_steps[] = {
	{ "pci_alloc_irq_vectors_affinity", ENOSPC },
	{ "request_threaded_irq", EBUSY },
	{ "agate_bus_attach", EIO },
};

static void inject_into_probe(void **state)
{
	(void)state;
	rule("a probe returns what the step that failed returned");
	load_driver();
	check_errno(device_unbind(), 0, "unbind");
	for (size_t i = 0; i < sizeof(probe_steps) / sizeof(probe_steps[0]); i++) {
		inject_fail(probe_steps[i].symbol, 1, probe_steps[i].err);
		check_errno(device_bind(), probe_steps[i].err, probe_steps[i].symbol);
		check_equal(inject_hits(probe_steps[i].symbol), 1, probe_steps[i].symbol);
		inject_clear();
	}
	check_errno(device_bind(), 0, "bind");
	close(guest_open());
	check_errno(module_unload(), 0, "unloading agate.ko");
}

/* An injection waits for a module's own function, and finds it again when the module comes back. */
static void inject_before_load(void **state)
{
	(void)state;
	rule("what is set before the module is there hits it when it comes");
	inject_fail("agate:agate_bus_attach", 2, EIO);
	load_driver();
	close(guest_open());
	check_equal(inject_hits("agate:agate_bus_attach"), 1, "entered in the first load");
	check_errno(module_unload(), 0, "unloading agate.ko");
	load_driver();
	check_equal(guest_try_open(), -1, "a device that was not bound");
	check_equal(inject_hits("agate:agate_bus_attach"), 2, "entered in both loads");
	check_errno(module_unload(), 0, "unloading agate.ko");
	inject_clear();
}

static int create_bo(int fd)
{
	struct bo bo;
	int err = guest_create(fd, PAGE, 0, &bo);

	if (!err)
		guest_destroy(&bo);
	return err;
}

static void inject_nth(void **state)
{
	int fd;

	(void)state;
	rule("only the call that was named fails");
	load_driver();
	fd = guest_open();
	inject_fail("drm_gem_handle_create", 2, ENFILE);
	check_errno(create_bo(fd), 0, "first");
	check_errno(create_bo(fd), ENFILE, "second");
	check_errno(create_bo(fd), 0, "third");
	inject_clear();
	inject_fail("drm_gem_handle_create", 0, ENFILE);
	for (int i = 0; i < 3; i++)
		check_errno(create_bo(fd), ENFILE, "every");
	inject_clear();
	inject_fail_null("drm_gem_object_lookup", 1);
	check_errno(guest_wait(fd, 1, 0), ENOENT, "NULL");
	inject_clear();
	check_errno(create_bo(fd), 0, "cleared");
}

static void inject_within_call(void **state)
{
	int fd;

	(void)state;
	rule("only calls that are made inside the named function fail, and count");
	load_driver();
	fd = guest_open();
	inject_within("agate_gem_create_ioctl");
	inject_fail("drm_gem_object_lookup", 0, ENFILE);
	inject_fail_null("kmalloc_trace|__kmalloc_cache_noprof", 0);
	check_errno(create_bo(fd), ENOMEM, "allocations inside");
	check_errno(guest_wait(fd, 1, 0), ENOENT, "a lookup outside");
	check_equal(inject_hits("drm_gem_object_lookup"), 0, "lookups inside");
	inject_clear();
	inject_within("drm_gem_handle_create");
	inject_fail("agate_gem_create_ioctl", 0, EIO);
	check_errno(create_bo(fd), 0, "another function's inside");
	inject_clear();
	inject_fail("drm_gem_handle_create", 1, ENFILE);
	check_errno(create_bo(fd), ENFILE, "cleared: everywhere again");
}

static int64_t elapsed_us(int fd)
{
	int64_t start = guest_deadline(0);

	check_errno(create_bo(fd), 0, "create");
	return (guest_deadline(0) - start) / 1000;
}

static void inject_delays(void **state)
{
	int fd;

	(void)state;
	/* Half of the time: a guest's clock runs late while its host is busy. */
	rule("calls take longer by what was asked for");
	load_driver();
	fd = guest_open();
	inject_delay_entry("drm_gem_handle_create", 1, 50000);
	check_at_least(elapsed_us(fd), 25000, "with a late entry");
	inject_delay_return("drm_gem_handle_create", 1, 100000);
	check_at_least(elapsed_us(fd), 50000, "with a late return");
	check_equal(inject_hits("drm_gem_handle_create"), 2, "calls");
}

/* A child's injection does not affect its parent, and ends with the child. */
static void inject_and_die(const char *how, int ready)
{
	inject_anybody(!strcmp(how, "anybody"));
	inject_fail("drm_gem_handle_create", 0, ENFILE);
	if (write(ready, "x", 1) == 1)
		pause();
	_exit(1);
}

static pid_t start_injector(const char *how)
{
	int ready[2];
	char c;
	pid_t pid;

	check_equal(pipe(ready), 0, "pipe");
	pid = fork();
	if (!pid)
		inject_and_die(how, ready[1]);
	check_equal(read(ready[0], &c, 1), 1, "the child's word");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void inject_for_others(void **state)
{
	pid_t pid;
	int fd;

	(void)state;
	rule("an injection is for the process that set it, unless it says otherwise");
	load_driver();
	fd = guest_open();
	pid = start_injector("own");
	check_errno(create_bo(fd), 0, "while a child injects for itself");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	pid = start_injector("anybody");
	check_errno(create_bo(fd), ENFILE, "while a child injects for anybody");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	check_errno(create_bo(fd), 0, "after that child is gone");
	inject_fail("drm_gem_handle_create", 0, ENFILE);
	pid = fork();
	if (!pid) {
		check_errno(create_bo(fd), ENFILE, "in a child of the one who set it");
		_exit(0);
	}
	check_equal(waitpid(pid, NULL, 0), pid, "the child");
	check_equal(inject_hits("drm_gem_handle_create"), 1, "hits");
}

/* A handler runs in the task that was interrupted, at which the injection does not aim. */
static void inject_interrupts(void **state)
{
	(void)state;
	rule("interrupts are nobody's calls");
	inject_anybody(true);
	inject_delay_entry("handle_edge_irq", 0, 1);
	for (int i = 0; i < 5000 && inject_hits("handle_edge_irq") < 5; i++) {
		note("interrupts, please");
		usleep(1000);
	}
	check_at_least(inject_hits("handle_edge_irq"), 5, "interrupts when anybody's count");
	inject_clear();
	inject_anybody(false);
	inject_delay_entry("handle_edge_irq", 0, 1);
	for (int i = 0; i < 100; i++) {
		note("interrupts, please");
		usleep(1000);
	}
	check_equal(inject_hits("handle_edge_irq"), 0, "interrupts counted as ours");
}

static void inject_nonsense(void **state)
{
	static const char *const commands[] = {
		"", "fail", "fail x", "fail x 1", "fail x 1 0", "fail x 1 5000", "explode x 1 1",
		"fail-null x 1 1", "delay-entry x 1 1000000", "fail a;b 1 1", "fail ../x 1 1",
		"within", "within x 1", "hold-entry x 1", "hold-entry x 1 0", "hold-return x 1 30000",
		"let-go", "let-go x",
	};
	int fd;

	(void)state;
	rule("what makes no sense is refused");
	inject_clear();
	inject_fail("this_is_no_function", 1, EIO);
	check_equal(inject_hits("this_is_no_function"), 0, "a symbol that never comes");
	fd = open("/sys/kernel/debug/agate_inject", O_RDWR);
	check_at_least(fd, 0, "open");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		check_equal(write(fd, commands[i], strlen(commands[i])) > 0, 0, commands[i]);
	check_at_least(write(fd, "hold-entry no_such_function 1 5", 31), 31, "a gate");
	check_equal(write(fd, "hold-return no_such_function 1 5", 32), -1, "a second one there");
	for (int i = 0; i < 31; i++)
		check_at_least(write(fd, "fail no_such_function 1 5", 25), 25, "32 with the gate");
	check_equal(write(fd, "fail no_such_function 1 5", 25), -1, "the 33rd");
}

static const struct graded_test tests[] = {
	{ .name = "passes", .run = passes },
	{ .name = "errno-differs", .run = errno_differs },
	{ .name = "number-differs", .run = number_differs },
	{ .name = "too-few", .run = too_few },
	{ .name = "lacks-param", .run = lacks_param },
	{ .name = "plain-assert", .run = plain_assert },
	{ .name = "segfault", .run = segfault },
	{ .name = "exits", .run = exits },
	{ .name = "child-checks", .run = child_checks },
	{ .name = "thread-checks", .run = thread_checks },
	{ .name = "no-device", .run = no_device },
	{ .name = "bad-teardown", .run = nothing, .teardown = teardown_fails },
	{ .name = "hangs", .run = hangs },
	{ .name = "inject-into-probe", .run = inject_into_probe },
	{ .name = "inject-before-load", .run = inject_before_load },
	{ .name = "inject-nth", .run = inject_nth },
	{ .name = "inject-within", .run = inject_within_call },
	{ .name = "inject-delays", .run = inject_delays },
	{ .name = "inject-for-others", .run = inject_for_others },
	{ .name = "inject-interrupts", .run = inject_interrupts },
	{ .name = "inject-nonsense", .run = inject_nonsense },
	{ .name = "gate-entry-and-return", .run = gate_entry_and_return },
	{ .name = "gate-two-threads", .run = gate_two_threads },
	{ .name = "gate-every-call", .run = gate_every_call },
	{ .name = "gate-within", .run = gate_within },
	{ .name = "gate-given-up", .run = gate_given_up },
	{ .name = "gate-nobody-came", .run = gate_nobody_came },
	{ .name = "gate-cleared", .run = gate_cleared },
	{ .name = "gate-killed", .run = gate_killed },
	{ .name = "gate-interrupts", .run = gate_interrupts },
	{ .name = "blind", .run = blind },
};

GRADED_MAIN(tests)
