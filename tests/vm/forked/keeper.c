// SPDX-License-Identifier: MIT
/* A program that PID 1 can keep, for tests/vm/forked.c: each run says what process it is. */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
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

/* Goes on for ever: PID 1 has to end it. */
static _Noreturn void kill_keeper(void)
{
	kill(getppid(), SIGKILL);
	for (;;)
		pause();
}

/* The keeper's socket, which its runs do not get. */
static int take_socket(int keeper)
{
	int pidfd = pidfd_open(keeper, 0), type;

	for (int fd = 3; fd < 64; fd++) {
		int ours = pidfd_getfd(pidfd, fd, 0);
		socklen_t len = sizeof(type);

		if (ours >= 0 && !getsockopt(ours, SOL_SOCKET, SO_TYPE, &type, &len))
			return ours;
		close(ours);
	}
	return -1;
}

/*
 * PID 1 learns of the keeper's end by the end of its socket.  Another process keeps that open
 * until PID 1 has closed its own end, so PID 1 sees first that the run has ended.
 */
static int die_unseen(void)
{
	int keeper = getppid(), sock = take_socket(keeper);
	struct pollfd p = { .fd = sock };

	if (sock < 0)
		return 1;
	if (!fork()) {
		setsid();
		poll(&p, 1, -1);
		_exit(0);
	}
	kill(keeper, SIGKILL);
	while (getppid() == keeper)
		sched_yield();
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
		kill_keeper();
	if (!strcmp(what, "die unseen with the keeper"))
		return die_unseen();
	return 2;
}

int main(int argc, char **argv)
{
	return keeper(argc, argv);
}
