// SPDX-License-Identifier: MIT
/*
 * A program of graded tests that PID 1 keeps (guest/init/kept_proto.h): it forks a process
 * for each test, and does nothing else.  So a test cannot change the process of the next.
 */
#include "graded_kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kept_proto.h"

/* Out of the way of the numbers that a test's descriptors get. */
#define ABOVE		16

struct request {
	char text[KEPT_REQUEST];
	size_t len;
	int fds[KEPT_FDS];
	size_t fd_count;
};

/* False when PID 1 is gone. */
static bool receive(int sock, struct request *r)
{
	struct iovec iov = { .iov_base = r->text, .iov_len = sizeof(r->text) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(KEPT_FDS * sizeof(int))];
	} control;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	if (n <= 0 || r->text[n - 1])
		return false;
	r->len = (size_t)n;
	r->fd_count = cmsg ? (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	if (r->fd_count)
		memcpy(r->fds, CMSG_DATA(cmsg), r->fd_count * sizeof(int));
	return true;
}

/* In the new process: never returns. */
static void become(struct request *r, int (*main_function)(int argc, char **argv))
{
	char *argv[KEPT_ARGS + 1], *arg = r->text;
	int argc = 0;

	setsid();
	for (size_t i = 0; i < r->fd_count; i++)
		r->fds[i] = fcntl(r->fds[i], F_DUPFD_CLOEXEC, ABOVE);
	for (size_t i = 0; i < r->fd_count; i++)
		dup2(r->fds[i], (int)i);
	close_range((unsigned int)r->fd_count, ~0u, 0);
	for (; arg < r->text + r->len && argc < KEPT_ARGS; arg += strlen(arg) + 1)
		argv[argc++] = arg;
	argv[argc] = NULL;
	exit(main_function(argc, argv));
}

int graded_kept(int (*main_function)(int argc, char **argv))
{
	int sock = fcntl(KEPT_SOCKET, F_DUPFD_CLOEXEC, ABOVE);
	static struct request r;

	close(KEPT_SOCKET);
	while (receive(sock, &r)) {
		struct kept_answer answer = { 0 };
		pid_t pid = fork();

		if (pid == 0)
			become(&r, main_function);
		answer.pid = pid < 0 ? -errno : pid;
		for (size_t i = 0; i < r.fd_count; i++)
			close(r.fds[i]);
		if (send(sock, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
		if (pid < 0)
			continue;
		answer.ended = waitpid(pid, &answer.status, 0) == pid;
		if (send(sock, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	return 0;
}
