// SPDX-License-Identifier: MIT
/*
 * The module under test, loaded and unloaded by a process that is forked from the program of
 * the tests, as a test is.  To execute insmod would be most of the work: in emulation the
 * kernel's code for that, and busybox, are translated for this alone.
 */
#include "graded_module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* For a module, the kernel gives some errors another meaning than their names have. */
static const char *reason(int error)
{
	switch (error) {
	case ENOEXEC:
		return "the kernel does not take its format";
	case ENOENT:
		return "unknown symbol in the module, or unknown parameter";
	case EINVAL:
		return "invalid parameter";
	default:
		return strerror(error);
	}
}

int graded_insmod(char **argv)
{
	char parameters[4096] = "";
	size_t len = 0;
	int fd;

	/* The kernel's messages have this name. */
	prctl(PR_SET_NAME, "insmod");
	for (char **arg = argv + 1; *arg; arg++) {
		int n = snprintf(parameters + len, sizeof(parameters) - len, "%s%s",
				 len ? " " : "", *arg);

		if (n < 0 || (size_t)n >= sizeof(parameters) - len) {
			fprintf(stderr, "insmod: too many parameters\n");
			return 1;
		}
		len += (size_t)n;
	}
	fd = open(argv[0], O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !syscall(SYS_finit_module, fd, parameters, 0))
		return 0;
	fprintf(stderr, "insmod: can't insert '%s': %s\n", argv[0],
		fd < 0 ? strerror(errno) : reason(errno));
	return 1;
}

int graded_rmmod(const char *name)
{
	prctl(PR_SET_NAME, "rmmod");
	if (!syscall(SYS_delete_module, name, O_NONBLOCK))
		return 0;
	fprintf(stderr, "rmmod: can't unload module '%s': %s\n", name, strerror(errno));
	return 1;
}
