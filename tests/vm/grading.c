// SPDX-License-Identifier: MIT
/*
 * A grader for tests/vm/graded/sample.c: the reports of its tests have to arrive, and
 * injections have to work on both kernels without a complaint from them.
 *
 * Needs both kernels, the initramfs, the driver and agate_inject.ko.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vm.h"

#define TEXT_MAX	(1u << 18)
#define NONCE		"0123456789abcdef0123456789abcdef"
#define PROGRAM		"/run/agate/test"

struct grader {
	struct vm *vm;
	const char *sets;	/* the lines that it gets before GO */
	bool silent;		/* and it does not get GO at all */
	bool kept;		/* a process that is kept becomes the program */
	struct vm_exec exec;
	char text[3][TEXT_MAX + 1];
	size_t len[3];
	char log[TEXT_MAX + 1];
	size_t log_len;
};

static struct grader grader;

static void append(char *text, size_t *len, const char *data, size_t n)
{
	if (n > TEXT_MAX - *len)
		n = TEXT_MAX - *len;
	memcpy(text + *len, data, n);
	*len += n;
	text[*len] = '\0';
}

static void console(void *arg, const char *text, size_t len)
{
	struct grader *g = arg;

	append(g->log, &g->log_len, text, len);
}

static void output(void *arg, enum vm_stream stream, const char *data, size_t len)
{
	static const char go[] = "GO " NONCE "\n";
	struct grader *g = arg;
	bool before = !strstr(g->text[VM_REPORT], "READY\n");

	append(g->text[stream], &g->len[stream], data, len);
	if (!before || !strstr(g->text[VM_REPORT], "READY\n") || g->silent)
		return;
	assert_int_equal(vm_input(g->vm, g->sets, strlen(g->sets)), VM_OK);
	assert_int_equal(vm_input(g->vm, go, strlen(go)), VM_OK);
}

/* The path of BEFORE, the flavour and AFTER in the build's folder. */
static const char *path(const char *before, const char *flavour, const char *after)
{
	static char paths[8][4096];
	static unsigned int next;
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
	char *p = paths[next++ % 8];

	snprintf(p, 4096, "%s/%s%s%s", build, before, flavour, after);
	return p;
}

static int start(const char *flavour)
{
	struct vm_config cfg = {
		.kernel_dir = path("guest/kernel-", flavour, ""),
		.initramfs = path("guest/initramfs.cpio.gz", "", ""),
		.sim = path("bin/agate-sim", "", ""),
		.seed = 1, .interrupt_fd = -1, .console = console, .arg = &grader,
	};

	memset(&grader, 0, sizeof(grader));
	if (vm_start(&cfg, &grader.vm) == VM_OK &&
	    vm_put(grader.vm, path("driver/", flavour, "/agate.ko"), "/run/agate/agate.ko",
		   0600) == VM_OK &&
	    vm_put(grader.vm, path("tests/kmod/", flavour, "/agate_inject.ko"),
		   "/run/agate/agate_inject.ko", 0600) == VM_OK &&
	    vm_put(grader.vm, path("tests/vm/sample", "", ""), PROGRAM, 0700) == VM_OK)
		return 0;
	print_error("%s\n", grader.vm ? vm_error(grader.vm) : "out of memory");
	return -1;
}

static int start_fast(void **state)
{
	(void)state;
	return start("fast");
}

static int start_debug(void **state)
{
	(void)state;
	return start("debug");
}

/* Neither kernel may have complained. */
static int stop(void **state)
{
	static const char *const complaints[] = {
		"BUG:", "WARNING:", "KASAN", "UBSAN", "Oops", "Call Trace:", "kprobe",
		"possible circular", "inconsistent lock", "suspicious RCU",
	};
	int ret = 0;

	(void)state;
	if (vm_mark(grader.vm, "the end of " NONCE, 30000) != VM_OK)
		ret = -1;
	vm_stop(grader.vm);
	for (size_t i = 0; i < sizeof(complaints) / sizeof(complaints[0]); i++) {
		if (strstr(grader.log, complaints[i])) {
			print_error("%s\n", grader.log);
			ret = -1;
		}
	}
	return ret;
}

static void run_args(const char *const *argv)
{
	memset(grader.text, 0, sizeof(grader.text));
	memset(grader.len, 0, sizeof(grader.len));
	grader.exec = (struct vm_exec){
		.argv = argv, .report = true, .kept = grader.kept, .output = output,
		.output_arg = &grader, .timeout_ms = grader.silent ? 300 : 60000, .grace_ms = 5000,
	};
	assert_int_equal(vm_exec(grader.vm, &grader.exec), VM_OK);
}

static void run(const char *test, const char *sets)
{
	const char *const argv[] = { PROGRAM, test, NULL };

	grader.sets = sets;
	grader.silent = !sets;
	run_args(argv);
}

static void assert_lines(const char *expected)
{
	assert_string_equal(grader.text[VM_REPORT], expected);
}

static void assert_tap(const char *result)
{
	assert_non_null(strstr(grader.text[VM_STDOUT], "1..1\n"));
	assert_non_null(strstr(grader.text[VM_STDOUT], result));
}

static void test_pass(void **state)
{
	(void)state;
	run("passes", "SET OTHER 1\nSET SIZE -7\n");
	assert_lines("READY\nRULE what was given is seen\nSEE SIZE -7\nSEE LEAST -9223372036854775808\n"
		     "NOTE this was not needed\nDONE " NONCE "\n");
	assert_tap("\nok 1 - passes\n");
	assert_int_equal(grader.exec.value, 0);
}

static void failure(const char *test, const char *lines)
{
	char expected[1000], result[100];

	run(test, "");
	snprintf(expected, sizeof(expected), "READY\n%sDONE " NONCE "\n", lines);
	assert_lines(expected);
	snprintf(result, sizeof(result), "\nnot ok 1 - %s", test);
	assert_tap(result);
	assert_int_equal(grader.exec.value, 1);
}

/* A rule is told when the test comes to it, and again when it does not hold. */
static void test_failures(void **state)
{
	(void)state;
	failure("errno-differs", "RULE a size of 0 is refused\nRULE a size of 0 is refused\n"
		"EXPECTED CREATE_BO of 0 bytes: EINVAL\nSEEN CREATE_BO of 0 bytes: ENOMEM\n");
	failure("number-differs", "RULE sizes are rounded up\n"
		"RULE sizes are rounded up\nEXPECTED size: 4096\nSEEN size: 4095\n");
	failure("too-few", "RULE vectors\nRULE vectors\n"
		"EXPECTED vectors: 4 or more\nSEEN vectors: 3\n");
	failure("no-device", "RULE what a test prepares has to work\n"
		"EXPECTED a render node of the agate driver\nSEEN none: No such file or directory\n");
}

/* A failure that no check explained still gets an explanation. */
static void test_other_failures(void **state)
{
	static const char how[] = "EXPECTED the test runs to its end\nSEEN a check of the test "
		"failed, or a signal: its own output says which\n";
	char lines[500];

	(void)state;
	snprintf(lines, sizeof(lines), "RULE asserts are explained as well\n"
		 "RULE asserts are explained as well\n%s", how);
	failure("plain-assert", lines);
	snprintf(lines, sizeof(lines), "RULE memory is there\nRULE memory is there\n%s", how);
	failure("segfault", lines);
	snprintf(lines, sizeof(lines), "RULE what a test prepares has to work\n%s", how);
	failure("bad-teardown", lines);
}

/* A test sends DONE only at its end. */
static void test_ends_early(void **state)
{
	(void)state;
	run("exits", "");
	assert_lines("READY\n");
	assert_null(strstr(grader.text[VM_STDOUT], "ok 1"));
	assert_int_equal(grader.exec.value, 0);
	run("thread-checks", "");
	assert_lines("READY\nRULE threads say what they saw\nRULE threads say what they saw\n"
		     "EXPECTED in a thread: success\nSEEN in a thread: EIO\n");
	assert_int_equal(grader.exec.value, 1);
}

static void test_child(void **state)
{
	(void)state;
	failure("child-checks", "RULE children say what they saw\n"
		"RULE children say what they saw\nEXPECTED in a child: success\n"
		"SEEN in a child: EIO\nRULE children say what they saw\n"
		"EXPECTED exit status of the child: 0\nSEEN exit status of the child: 1\n");
}

static void test_protocol(void **state)
{
	(void)state;
	run("passes", NULL);			/* no GO: it waits */
	assert_lines("READY\n");
	assert_true(grader.exec.timed_out);
	run("passes", "NONSENSE\n");
	assert_lines("READY\n");
	assert_int_equal(grader.exec.value, 2);
	run("passes", "SET SIZE many\n");
	assert_int_equal(grader.exec.value, 2);
	run("no such test", "");
	assert_lines("");
	assert_int_equal(grader.exec.value, 2);
}

static void test_alone(void **state)
{
	const char *const argv[] = { PROGRAM, "--alone", "passes", "SIZE=3", NULL };

	(void)state;
	grader.silent = false;
	run_args(argv);
	assert_int_equal(grader.exec.value, 0);
	assert_lines("");
	assert_non_null(strstr(grader.text[VM_STDERR], "SEE SIZE 3\n"));
	assert_tap("\nok 1 - passes\n");
}

static void inject(const char *test)
{
	run(test, "");
	if (grader.exec.value || !strstr(grader.text[VM_REPORT], "DONE"))
		fail_msg("%s ended %d (signal %d, timeout %d):\n%s%s%s", test, grader.exec.value,
			 grader.exec.signaled, grader.exec.timed_out, grader.text[VM_REPORT],
			 grader.text[VM_STDOUT], grader.text[VM_STDERR]);
}

static void unload(void)
{
	static const char *const argv[] = { "/bin/busybox", "rmmod", "agate", NULL };
	struct vm_exec exec = { .argv = argv };

	assert_int_equal(vm_exec(grader.vm, &exec), VM_OK);
	assert_int_equal(exec.value, 0);
}

static void test_inject_probe(void **state)
{
	(void)state;
	inject("inject-nonsense");
	inject("inject-into-probe");
	inject("inject-before-load");
}

static void test_inject_calls(void **state)
{
	(void)state;
	inject("inject-nth");
	unload();
	inject("inject-within");
	unload();
	inject("inject-delays");
	unload();
	inject("inject-for-others");
	unload();
	inject("inject-interrupts");
}

/* The first of them loads the driver. */
static void test_gates(void **state)
{
	(void)state;
	inject("inject-nth");
	inject("gate-entry-and-return");
	inject("gate-two-threads");
	inject("gate-every-call");
	inject("gate-within");
	inject("gate-given-up");
	inject("gate-nobody-came");
	inject("gate-cleared");
	inject("gate-killed");
	inject("gate-interrupts");
	unload();
}

/* Neither a pass nor a failure: cmocka skips it, and the report says why. */
static void test_blind(void **state)
{
	(void)state;
	run("blind", "");
	assert_lines("READY\nRULE the test sees\nBLIND nobody was held at drm_gem_handle_create\nDONE " NONCE "\n");
	assert_non_null(strstr(grader.text[VM_STDOUT], "1..1\n"));
	assert_non_null(strstr(grader.text[VM_STDOUT], "# SKIP"));
	assert_int_equal(grader.exec.value, 0);
}

/* Loads or unloads agate_inject.ko, or what @what is, by the program of the tests. */
static const char *run_module(const char *how, const char *what, const char *parameter, int value)
{
	const char *const argv[] = { PROGRAM, how, what, parameter, NULL };

	grader.kept = true;
	run_args(argv);
	grader.kept = false;
	assert_false(grader.exec.signaled);
	assert_int_equal(grader.exec.value, value);
	return grader.text[VM_STDERR];
}

static void test_modules(void **state)
{
	static const char file[] = "/run/agate/agate_inject.ko";

	(void)state;
	assert_string_equal(run_module("--insmod", "/nonexistent", NULL, 1),
			    "insmod: can't insert '/nonexistent': No such file or directory\n");
	assert_non_null(strstr(run_module("--insmod", PROGRAM, NULL, 1),
			       "the kernel does not take its format"));
	assert_non_null(strstr(run_module("--insmod", file, "ready=maybe", 1),
			       "invalid parameter"));
	assert_string_equal(run_module("--insmod", file, "ready=1", 0), "");
	assert_non_null(strstr(run_module("--insmod", file, NULL, 1), "File exists"));
	assert_string_equal(run_module("--rmmod", "agate_inject", NULL, 0), "");
	assert_non_null(strstr(run_module("--rmmod", "agate_inject", NULL, 1),
			       "can't unload module 'agate_inject'"));
}

int main(void)
{
	const struct CMUnitTest fast[] = {
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_pass),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_other_failures),
		cmocka_unit_test(test_ends_early),
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_protocol),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_inject_probe),
		cmocka_unit_test(test_inject_calls),
		cmocka_unit_test(test_gates),
		cmocka_unit_test(test_blind),
	};
	const struct CMUnitTest debug[] = {
		cmocka_unit_test(test_inject_probe),
		cmocka_unit_test(test_inject_calls),
		cmocka_unit_test(test_gates),
	};
	int failed = cmocka_run_group_tests(fast, start_fast, stop);

	return failed + cmocka_run_group_tests(debug, start_debug, stop);
}
