// SPDX-License-Identifier: MIT
/*
 * A program that PID 1 keeps, so that each of its runs costs a fork.
 *
 * A lab's tests are one program, and each test is a run of it.  To start it anew takes the
 * kernel and the dynamic loader 3 ms, and 80 ms where the kernel checks itself; a fork takes
 * a fifth of that.  The process that is kept does nothing but fork.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "init.h"
#include "kept_proto.h"

static char program[PATH_MAX];
static int sock = -1;
static pid_t running;		/* what the program has forked; 0: nothing */

static void let_go(void)
{
	if (sock >= 0)
		close(sock);
	sock = -1;
	running = 0;
}

/* In the child. */
static void become(int theirs)
{
	char *argv[] = { program, KEPT_OPTION, NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	setsid();
	for (int i = 0; i < KEPT_SOCKET; i++)
		dup2(null, i);
	dup2(theirs, KEPT_SOCKET);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(program, argv);
	_exit(127);
}

/* If the program does not start, the first request finds the other end closed. */
static int begin(const char *name)
{
	int pair[2];
	pid_t pid;

	if (strlen(name) >= sizeof(program))
		return ENAMETOOLONG;
	strcpy(program, name);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return errno;
	pid = fork();
	if (pid == 0)
		become(pair[1]);
	close(pair[1]);
	sock = pair[0];
	if (pid > 0)
		return 0;
	let_go();
	return EAGAIN;
}

/* Joins the arguments as the protocol has them; their length, 0 if they are too many or too long. */
static size_t join(char *text, char **argv)
{
	size_t len = 0, n;

	for (int i = 0; argv[i]; i++) {
		n = strlen(argv[i]) + 1;
		if (i == KEPT_ARGS || n > KEPT_REQUEST - len)
			return 0;
		memcpy(text + len, argv[i], n);
		len += n;
	}
	return len;
}

static int request(char **argv, const int *fds)
{
	char text[KEPT_REQUEST];
	struct iovec iov = { .iov_base = text, .iov_len = join(text, argv) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(KEPT_FDS * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };
	struct cmsghdr *cmsg = &control.align;
	size_t n = 0;

	if (!iov.iov_len)
		return E2BIG;
	while (n < KEPT_FDS && fds[n] >= 0)
		n++;
	msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(cmsg), fds, n * sizeof(int));
	return sendmsg(sock, &msg, MSG_NOSIGNAL) < 0 ? errno : 0;
}

int kept_start(char **argv, const int *fds, pid_t *pid)
{
	struct kept_answer answer;
	int error;

	if (running)
		return EBUSY;
	if (sock >= 0 && strcmp(program, argv[0]))
		let_go();
	error = sock < 0 ? begin(argv[0]) : 0;
	if (!error)
		error = request(argv, fds);
	if (!error && recv(sock, &answer, sizeof(answer), 0) != sizeof(answer))
		error = EIO;
	if (error) {
		let_go();
		return error;
	}
	if (answer.pid < 0)
		return -answer.pid;
	*pid = running = answer.pid;
	return 0;
}

int kept_fd(void)
{
	return running ? sock : -1;
}

pid_t kept_ended(int *status)
{
	struct kept_answer answer;
	ssize_t n = recv(sock, &answer, sizeof(answer), MSG_DONTWAIT);
	pid_t pid = running;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	running = 0;
	if (n == sizeof(answer) && answer.ended) {
		*status = answer.status;
		return pid;
	}
	/* Whatever ended the program that is kept: nobody waits for its child. */
	*status = SIGKILL;
	let_go();
	return pid;
}

int kept_lost(pid_t pid)
{
	if (!running || pid != running)
		return 0;
	let_go();
	return 1;
}
