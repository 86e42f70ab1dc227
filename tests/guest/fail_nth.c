// SPDX-License-Identifier: MIT
#include "fail_nth.h"

#include "guest.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define DEBUGFS		"/sys/kernel/debug/"

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

int fail_nth_open(void)
{
	int fd;

	spare_nothing();
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
