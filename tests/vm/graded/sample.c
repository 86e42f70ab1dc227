// SPDX-License-Identifier: MIT
/*
 * A graded program whose tests do what tests must not lose, and must not be taken
 * for; tests/vm/graded.c is its grader.
 */
#include "graded.h"

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
	pid_t pid = fork();
	int status = -1;

	(void)state;
	rule("children say what they saw");
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
};

GRADED_MAIN(tests)
