// SPDX-License-Identifier: MIT
/*
 * insmod and rmmod: what every graded run begins and ends with.
 *
 * The child that would start the program does its work instead.  To execute busybox is most of
 * what insmod does: in emulation the kernel's code for that is translated for this alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init.h"

/* A child's own descriptors are its input, its two outputs, and its report. */
#define FIRST_OF_PID_1	4

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

static int insmod(char **argv)
{
	char parameters[4096] = "";
	size_t len = 0;
	int fd;

	for (char **arg = argv + 2; *arg; arg++) {
		int n = snprintf(parameters + len, sizeof(parameters) - len, "%s%s",
				 len ? " " : "", *arg);

		if (n < 0 || (size_t)n >= sizeof(parameters) - len) {
			fprintf(stderr, "insmod: too many parameters\n");
			return 1;
		}
		len += (size_t)n;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !syscall(SYS_finit_module, fd, parameters, 0))
		return 0;
	fprintf(stderr, "insmod: can't insert '%s': %s\n", argv[1],
		fd < 0 ? strerror(errno) : reason(errno));
	return 1;
}

static int rmmod(char **argv)
{
	if (!syscall(SYS_delete_module, argv[1], O_NONBLOCK))
		return 0;
	fprintf(stderr, "rmmod: can't unload module '%s': %s\n", argv[1], strerror(errno));
	return 1;
}

int modules_run(char **argv)
{
	static const struct {
		const char *path, *name;
		int (*main_function)(char **argv);
	} programs[] = {
		{ "/sbin/insmod", "insmod", insmod },
		{ "/sbin/rmmod", "rmmod", rmmod },
	};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strcmp(argv[0], programs[i].path) || !argv[1] || argv[1][0] == '-')
			continue;
		/* The kernel's messages have this name. */
		prctl(PR_SET_NAME, programs[i].name);
		/* As if it had been executed; PID 1 waits for that. */
		close_range(FIRST_OF_PID_1, ~0u, 0);
		return programs[i].main_function(argv);
	}
	return -1;
}
