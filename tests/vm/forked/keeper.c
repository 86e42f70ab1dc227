// SPDX-License-Identifier: MIT
/* A program that PID 1 can keep, for tests/vm/forked.c: each run says what process it is. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graded_kept.h"
#include "kept_proto.h"

static int said;		/* by this process */

static int say_who(void)
{
	printf("%d %d %d\n", getpid(), getppid(), getsid(0) == getpid() && getpgrp() == getpid());
	return 0;
}

/* Echoes a line; what another run left in this process would show. */
static int talk(void)
{
	char line[100];

	dprintf(3, "READY %d\n", said++);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	fprintf(stderr, "heard %s", line);
	return 7;
}

/* The highest descriptor that is open. */
static int say_descriptors(void)
{
	int highest = -1;

	for (int fd = 0; fd < 1024; fd++)
		highest = dup2(fd, fd) == fd ? fd : highest;
	printf("%d\n", highest);
	return 0;
}

static int keeper(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	if (!strcmp(what, KEPT_OPTION))
		return graded_kept(keeper);
	if (!strcmp(what, "who"))
		return say_who();
	if (!strcmp(what, "talk"))
		return talk();
	if (!strcmp(what, "descriptors"))
		return say_descriptors();
	if (!strcmp(what, "abort"))
		abort();
	if (!strcmp(what, "sleep"))
		for (;;)
			pause();
	if (!strcmp(what, "kill the keeper"))
		return kill(getppid(), SIGKILL);
	return 2;
}

int main(int argc, char **argv)
{
	return keeper(argc, argv);
}
