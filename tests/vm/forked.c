// SPDX-License-Identifier: MIT
/*
 * A program that PID 1 keeps (guest/init/kept_proto.h): its runs are processes like all
 * others, and a program that cannot be kept runs all the same.
 *
 * Needs the fast kernel and the initramfs; no GPU.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vm.h"

#define KEEPER		"/tmp/keeper"
#define TEXT_MAX	4096

static struct vm *vm;
static char text[3][TEXT_MAX];

static const char *build(void)
{
	return getenv("BUILD") ? getenv("BUILD") : "build";
}

static void output(void *arg, enum vm_stream stream, const char *data, size_t len)
{
	size_t at = strlen(text[stream]);

	(void)arg;
	assert_true(at + len < TEXT_MAX);
	memcpy(text[stream] + at, data, len);
	text[stream][at + len] = '\0';
	if (stream == VM_REPORT)
		assert_int_equal(vm_input(vm, "a line\n", 7), VM_OK);
}

static struct vm_exec run_for(const char *program, const char *what, bool kept,
			      unsigned int timeout_ms)
{
	const char *const argv[] = { program, what, NULL };
	struct vm_exec exec = {
		.argv = argv, .report = true, .kept = kept, .output = output,
		.timeout_ms = timeout_ms, .grace_ms = 1000,
	};

	memset(text, 0, sizeof(text));
	assert_int_equal(vm_exec(vm, &exec), VM_OK);
	return exec;
}

static void run(const char *what, bool kept)
{
	struct vm_exec exec = run_for(KEEPER, what, kept, 0);

	assert_false(exec.signaled);
	assert_int_equal(exec.value, 0);
}

static int start(void **state)
{
	static char kernel[4096], initramfs[4096], keeper[4096];
	struct vm_config cfg = {
		.kernel_dir = kernel, .initramfs = initramfs, .timeout_ms = 120000,
		.interrupt_fd = -1,
	};

	(void)state;
	snprintf(kernel, sizeof(kernel), "%s/guest/kernel-fast", build());
	snprintf(initramfs, sizeof(initramfs), "%s/guest/initramfs.cpio.gz", build());
	snprintf(keeper, sizeof(keeper), "%s/tests/vm/keeper", build());
	if (vm_start(&cfg, &vm) == VM_OK && vm_put(vm, keeper, KEEPER, 0755) == VM_OK)
		return 0;
	print_error("%s\n", vm ? vm_error(vm) : "out of memory");
	return -1;
}

static int stop(void **state)
{
	(void)state;
	vm_stop(vm);
	return 0;
}

struct who {
	int pid, parent, leads;
};

static struct who who(bool kept)
{
	struct who who;

	run("who", kept);
	assert_int_equal(sscanf(text[VM_STDOUT], "%d %d %d", &who.pid, &who.parent, &who.leads), 3);
	return who;
}

static void test_runs_are_forked(void **state)
{
	struct who first = who(true), second = who(true), other = who(false);

	(void)state;
	assert_int_not_equal(first.pid, second.pid);
	assert_int_equal(first.parent, second.parent);
	assert_int_not_equal(first.parent, 1);
	assert_int_equal(other.parent, 1);
	assert_true(first.leads && second.leads && other.leads);
}

/* Input, output, report and exit status are each run's own, and so is its memory. */
static void test_streams(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct vm_exec exec = run_for(KEEPER, "talk", true, 10000);

		assert_false(exec.signaled);
		assert_int_equal(exec.value, 7);
		assert_string_equal(text[VM_REPORT], "READY 0\n");
		assert_string_equal(text[VM_STDERR], "heard a line\n");
	}
}

static void test_descriptors(void **state)
{
	(void)state;
	run("descriptors", true);
	assert_string_equal(text[VM_STDOUT], "3\n");
	run("descriptors", false);
	assert_string_equal(text[VM_STDOUT], "3\n");
}

static void test_signal(void **state)
{
	struct vm_exec exec = run_for(KEEPER, "abort", true, 0);

	(void)state;
	assert_true(exec.signaled);
	assert_int_equal(exec.value, SIGABRT);
	run("who", true);
}

static void test_timeout(void **state)
{
	struct vm_exec exec = run_for(KEEPER, "sleep", true, 300);

	(void)state;
	assert_true(exec.timed_out && exec.signaled);
	assert_int_equal(exec.value, SIGKILL);
	run("who", true);
}

/*
 * A run that ends its keeper has ended, whatever it says; the next one has another keeper.
 * PID 1 may see the end of the keeper first, or that of the run.
 */
static void test_keeper_killed(void **state)
{
	const char *const ways[] = { "kill the keeper", "die unseen with the keeper" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct who before = who(true), after;
		struct vm_exec exec = run_for(KEEPER, ways[i], true, 10000);

		assert_false(exec.timed_out);
		assert_true(exec.signaled);
		assert_int_equal(exec.value, SIGKILL);
		after = who(true);
		assert_int_not_equal(after.parent, before.parent);
		assert_int_not_equal(after.parent, 1);
	}
}

/*
 * Each program takes the place of the one that was kept.  These end when they are told to be
 * kept, or know no such option.
 */
static void test_programs_that_cannot(void **state)
{
	struct vm_exec exec;

	(void)state;
	exec = run_for("/bin/true", "x", true, 10000);
	assert_true(!exec.signaled && exec.value == 0);
	exec = run_for("/bin/false", "x", true, 10000);
	assert_true(!exec.signaled && exec.value == 1);
	exec = run_for("/bin/cat", "/etc/none", true, 10000);
	assert_true(!exec.signaled && exec.value == 1);
	run("who", true);
}

static void test_missing_program(void **state)
{
	const char *const argv[] = { "/bin/no-such-program", NULL };
	struct vm_exec exec = { .argv = argv, .report = true, .kept = true, .output = output };

	(void)state;
	assert_int_equal(vm_exec(vm, &exec), VM_REFUSED);
	assert_non_null(strstr(vm_error(vm), "No such file"));
	run("who", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_are_forked),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_keeper_killed),
		cmocka_unit_test(test_programs_that_cannot),
		cmocka_unit_test(test_missing_program),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, stop);
}
