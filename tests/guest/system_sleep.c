// SPDX-License-Identifier: MIT
/* The whole system goes to sleep; see system_sleep.h. */
#include "system_sleep.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

/* 0 or the errno. */
static int write_to(const char *path, const char *text)
{
	ssize_t len = (ssize_t)strlen(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;

	assert_true(fd >= 0);
	err = write(fd, text, (size_t)len) == len ? 0 : errno;
	close(fd);
	return err;
}

static int sleep_as_far_as(const char *level)
{
	assert_int_equal(write_to("/sys/module/suspend/parameters/pm_test_delay", "0"), 0);
	assert_int_equal(write_to("/sys/power/pm_test", level), 0);
	return write_to("/sys/power/state", "mem");
}

int sleep_devices(void)
{
	return sleep_as_far_as("devices");
}

int sleep_machine(void)
{
	return sleep_as_far_as("none");
}
