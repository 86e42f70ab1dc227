// SPDX-License-Identifier: MIT
/*
 * Programs in a guest, as the grader runs them: input and report, limits, marks.
 *
 * Needs the fast kernel and the initramfs; no GPU.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "vm.h"

#define TEXT_MAX	(1u << 20)

/* A program's output, stream by stream, and our answer to it. */
struct talk {
	struct vm *vm;
	char text[3][TEXT_MAX + 1];
	size_t len[3];
	const char *answer;	/* sent when the report has a line */
	bool close;		/* close the input after that */
	enum vm_status sent;
};

static struct talk talk;
static struct vm *vm;

static void output(void *arg, enum vm_stream stream, const char *data, size_t len)
{
	struct talk *t = arg;

	assert_true(t->len[stream] + len <= TEXT_MAX);
	memcpy(t->text[stream] + t->len[stream], data, len);
	t->len[stream] += len;
	t->text[stream][t->len[stream]] = '\0';
	if (stream != VM_REPORT || !memchr(data, '\n', len))
		return;
	if (t->answer)
		t->sent = vm_input(t->vm, t->answer, strlen(t->answer));
	if (t->close && t->sent == VM_OK)
		t->sent = vm_close_input(t->vm);
}

static int start(void **state)
{
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
	static char kernel[4096], initramfs[4096];
	struct vm_config cfg = {
		.kernel_dir = kernel, .initramfs = initramfs, .timeout_ms = 120000,
		.interrupt_fd = -1,
	};

	(void)state;
	snprintf(kernel, sizeof(kernel), "%s/guest/kernel-fast", build);
	snprintf(initramfs, sizeof(initramfs), "%s/guest/initramfs.cpio.gz", build);
	if (vm_start(&cfg, &vm) != VM_OK) {
		print_error("%s\n", vm ? vm_error(vm) : "out of memory");
		return -1;
	}
	return 0;
}

static int stop(void **state)
{
	(void)state;
	vm_stop(vm);
	vm = NULL;
	return 0;
}

/* Runs a shell command with input and report. */
static struct vm_exec run(const char *command, const char *answer, bool close_input,
			  uint64_t output_max, unsigned int timeout_ms)
{
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	struct vm_exec exec = {
		.argv = argv, .report = true, .output = output, .output_arg = &talk,
		.output_max = output_max, .timeout_ms = timeout_ms, .grace_ms = 1000,
	};

	memset(&talk, 0, sizeof(talk));
	talk.vm = vm;
	talk.answer = answer;
	talk.close = close_input;
	assert_int_equal(vm_exec(vm, &exec), VM_OK);
	assert_int_equal(talk.sent, VM_OK);
	return exec;
}

static void test_three_streams(void **state)
{
	struct vm_exec exec = run("echo READY >&3; read a b; echo \"$b $a\"; echo E >&2; exit 3",
				  "one two\n", false, 0, 0);

	(void)state;
	assert_false(exec.signaled);
	assert_int_equal(exec.value, 3);
	assert_string_equal(talk.text[VM_STDOUT], "two one\n");
	assert_string_equal(talk.text[VM_STDERR], "E\n");
	assert_string_equal(talk.text[VM_REPORT], "READY\n");
}

static void test_input_ends(void **state)
{
	run("echo READY >&3; cat", "all of it\n", true, 0, 10000);
	(void)state;
	assert_string_equal(talk.text[VM_STDOUT], "all of it\n");
}

/* Neither output from just before a program's end nor input that was sent early is lost. */
static void test_last_words(void **state)
{
	run("head -c 60000 /dev/zero | tr '\\0' r >&3; printf DONE >&3", NULL, false, 0, 0);
	(void)state;
	assert_int_equal(talk.len[VM_REPORT], 60004);
	assert_string_equal(talk.text[VM_REPORT] + 60000, "DONE");
}

/* A program that does not read cannot hold the guest up: its input ends. */
static void test_too_much_input(void **state)
{
	static char much[60001];

	(void)state;
	memset(much, 'x', sizeof(much) - 1);
	run("echo one >&3; sleep 0.3; echo two >&3; sleep 0.3; wc -c", much, false, 0, 10000);
	assert_in_range(strtoul(talk.text[VM_STDOUT], NULL, 10), 60000, 65536);
}

static void test_flood(void **state)
{
	struct vm_exec exec = run("yes flood >&3", NULL, false, 100000, 60000);

	(void)state;
	assert_true(exec.flooded);
	assert_false(exec.timed_out);
	assert_true(exec.signaled);
	assert_int_equal(talk.len[VM_REPORT], 100000);
}

static void test_exactly_the_limit(void **state)
{
	struct vm_exec exec = run("head -c 1000 /dev/zero", NULL, false, 1000, 0);

	(void)state;
	assert_false(exec.flooded);
	assert_int_equal(exec.value, 0);
	assert_int_equal(talk.len[VM_STDOUT], 1000);
}

static void test_timeout(void **state)
{
	struct vm_exec exec = run("echo READY >&3; cat", NULL, false, 0, 300);

	(void)state;
	assert_true(exec.timed_out);
	assert_true(exec.signaled);
	assert_int_equal(exec.value, 9);
}

/* Keeps every processor busy until this process ends, or is told to stop. */
static void crowd(pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
}

static void disperse(const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

/*
 * A program that gets a ninth of a processor takes at most four times as long as alone,
 * because its clock stands still while it waits.
 */
static void test_crowd_costs_nothing(void **state)
{
	enum { EACH = 8, MOST = 256 };
	static const char work[] = "i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); done; echo done";
	long count = EACH * sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t begun = vm_time(vm), alone;
	pid_t pids[MOST];
	struct vm_exec exec;

	(void)state;
	if (access("/proc/self/schedstat", R_OK) || count > MOST)
		skip();
	exec = run(work, NULL, false, 0, 0);
	assert_int_equal(exec.value, 0);
	alone = (vm_time(vm) - begun) / 1000000;
	crowd(pids, (size_t)count);
	exec = run(work, NULL, false, 0, (unsigned int)alone * 4);
	disperse(pids, (size_t)count);
	assert_false(exec.timed_out);
	assert_string_equal(talk.text[VM_STDOUT], "done\n");
}

static void test_input_needs_a_program(void **state)
{
	(void)state;
	assert_int_equal(vm_input(vm, "x", 1), VM_HOST);
}

static void test_mark(void **state)
{
	(void)state;
	run("echo before >/dev/kmsg", NULL, false, 0, 0);
	assert_int_equal(vm_mark(vm, "mark one", 10000), VM_OK);
	assert_non_null(strstr(vm_console(vm), "before"));
	assert_non_null(strstr(strstr(vm_console(vm), "before"), "mark one"));
	/* A mark with the same text has to be printed again. */
	assert_int_equal(vm_mark(vm, "mark one", 10000), VM_OK);
	assert_non_null(strstr(strstr(vm_console(vm), "mark one") + 1, "mark one"));
	assert_int_equal(vm_mark(vm, "two\nlines", 10000), VM_REFUSED);
	assert_int_equal(vm_mark(vm, "", 10000), VM_REFUSED);
}

/* The mark arrives however much the kernel prints before it. */
static void test_mark_after_a_flood(void **state)
{
	(void)state;
	run("i=0; while [ $i -lt 3000 ]; do echo \"a line of the log, number $i, and more\" "
	    ">/dev/kmsg; i=$((i + 1)); done", NULL, false, 0, 0);
	assert_int_equal(vm_mark(vm, "after the flood", 60000), VM_OK);
	assert_non_null(strstr(vm_console(vm), "number 2999"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three_streams),
		cmocka_unit_test(test_input_ends),
		cmocka_unit_test(test_last_words),
		cmocka_unit_test(test_too_much_input),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_exactly_the_limit),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_crowd_costs_nothing),
		cmocka_unit_test(test_input_needs_a_program),
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_mark_after_a_flood),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
