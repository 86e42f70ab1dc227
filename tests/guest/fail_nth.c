// SPDX-License-Identifier: MIT
#include "fail_nth.h"

#include "graded.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define DEBUGFS		"/sys/kernel/debug/"
#define MOST_ALLOCATIONS 2000
#define TURNS		6

/* Of the allocations that fail: the first one, and how far the next one is. */
static int first = 1, step = 1;

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) != (ssize_t)strlen(value))
		fail_msg("%s: %s", path, strerror(errno));
	close(fd);
}

/* By default injection skips the allocations that drivers make most often. */
static void spare_nothing(void)
{
	set(DEBUGFS "failslab/ignore-gfp-wait", "N");
	set(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N");
	set(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	set(DEBUGFS "fail_page_alloc/min-order", "0");
	set(DEBUGFS "failslab/verbose", "0");
	set(DEBUGFS "fail_page_alloc/verbose", "0");
	set(DEBUGFS "fail_usercopy/verbose", "0");
}

/*
 * The kernel's own checks allocate inside the call: KASAN keeps the stacks of those who free,
 * kmemleak an entry for each piece of memory, and object debugging has objects in reserve.  They
 * ask now and then, and live without.  The names are those of Linux 6.1 and, where it has another
 * one, of 6.12.
 */
static void leave_out_the_checks(void)
{
	static const char * const checks[] = {
		"__stack_depot_save", "stack_depot_save_flags", "kmemleak_alloc",
		"kmemleak_alloc_percpu", "kmemleak_vmalloc", "debug_object_init",
		"debug_object_init_on_stack", "debug_object_activate", "debug_object_assert_init",
	};
	/* Other than the tests' own, which inject_clear() ends.  It stays open to the program's end. */
	static int fd = -1;
	char text[64];
	size_t i;

	if (fd >= 0)
		return;
	fd = inject_open(DEBUGFS "agate_inject", O_WRONLY);
	if (fd < 0)
		fail_msg("agate_inject: %s", strerror(errno));
	for (i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		int len = snprintf(text, sizeof(text), "uncounted %s", checks[i]);

		if (write(fd, text, (size_t)len) != len)
			fail_msg("%s: %s", text, strerror(errno));
	}
}

int fail_nth_open(void)
{
	int fd;

	spare_nothing();
	leave_out_the_checks();
	fd = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fail_msg("/proc/self/fail-nth: %s", strerror(errno));
	return fd;
}

void fail_nth_arm(int fail_nth, int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	if (pwrite(fail_nth, text, (size_t)len, 0) != len)
		fail_msg("fail-nth: %s", strerror(errno));
}

/*
 * Injection also counts copies to and from user space: if this read or write itself
 * fails, the call under test has succeeded.
 */
bool fail_nth_fired(int fail_nth)
{
	char text[16] = "";
	bool hit = pread(fail_nth, text, sizeof(text) - 1, 0) > 0 && text[0] == '0';

	if (pwrite(fail_nth, "0", 1, 0) != 1 && pwrite(fail_nth, "0", 1, 0) != 1)
		fail_msg("fail-nth: %s", strerror(errno));
	return hit;
}

void fail_nth_take_turn(int turn)
{
	assert_in_range(turn, 1, TURNS);
	first = turn;
	step = TURNS;
	print_message("# every sixth allocation fails, from number %d on\n", first);
}

static bool honest(int err)
{
	return !err || err == ENOMEM || err == EFAULT || err == ENOSPC;
}

/* The @n-th allocation of one call fails.  Return: the call had so many. */
static bool fail_one(const struct fail_nth_call *call, int fail_nth, int n, int *failures)
{
	bool hit;
	int err;

	call->before();
	fail_nth_arm(fail_nth, n);
	err = call->call();
	hit = fail_nth_fired(fail_nth);
	call->after();
	if (!honest(err))
		fail_msg("%s, allocation %d: errno %d does not say that memory ran out",
			 call->name, n, err);
	if (!hit)
		assert_int_equal(err, 0);
	*failures += err != 0;
	return hit;
}

void fail_nth_each(const struct fail_nth_call *call)
{
	int fail_nth = fail_nth_open(), failures = 0, n = first - step;
	bool hit;

	do {
		n += step;
		hit = false;
		for (int i = 0; i < FAIL_NTH_CALLS; i++)
			hit |= fail_one(call, fail_nth, n, &failures);
	} while (hit && n < MOST_ALLOCATIONS);
	close(fail_nth);
	print_message("# %s: fewer than %d allocations, %d of three calls each failed\n", call->name,
		      n, failures);
	assert_in_range(n, 1, MOST_ALLOCATIONS - 1);
	/* A turn may have none of a call that makes two or three. */
	if (step == 1)
		assert_true(failures > 0);
}
