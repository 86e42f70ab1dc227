// SPDX-License-Identifier: MIT
/*
 * The processes that the launcher asked for.
 *
 * Each leads a session and process group of its own, with /dev/null or a
 * terminal as input and its output forwarded as frames.  It has ended when the
 * process itself has: what is left of its group is killed, what it wrote is
 * forwarded, and then CTL_EXIT is sent, the last frame of that id.
 */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

#define ARGS_MAX	256

struct child {
	pid_t pid;		/* 0: slot is free */
	uint32_t id;
	int out;		/* pipe, or the terminal's master */
	int err;		/* pipe, or -1 */
	int tty;
};

static struct child children[CHILDREN_MAX];
static uint8_t chunk[CTL_PAYLOAD_MAX];

static struct child *find(uint32_t id)
{
	for (size_t i = 0; i < CHILDREN_MAX; i++) {
		if (children[i].pid && children[i].id == id)
			return &children[i];
	}
	return NULL;
}

static void send_exit(uint32_t id, enum ctl_exit_how how, uint32_t value)
{
	struct ctl_exit e = { .how = how, .value = value };

	port_send(CTL_EXIT, id, &e, sizeof(e));
}

/* Forwards one read's worth; returns the bytes, 0 when there are no more for now. */
static size_t forward(int *fd, uint32_t type, uint32_t id)
{
	ssize_t n;

	if (*fd < 0)
		return 0;
	n = read(*fd, chunk, sizeof(chunk));
	if (n > 0) {
		port_send(type, id, chunk, (size_t)n);
		return (size_t)n;
	}
	/* A terminal whose last user has gone reads EIO. */
	if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(*fd);
		*fd = -1;
	}
	return 0;
}

/*
 * What was written before the end fits into the pipe; more than that comes from
 * a process that left the group, and nobody waits for those.
 */
static void drain(int *fd, uint32_t type, uint32_t id)
{
	size_t total = 0, n;

	while (total < CTL_PAYLOAD_MAX && (n = forward(fd, type, id)) > 0)
		total += n;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void finish(struct child *c, int status)
{
	kill(-c->pid, SIGKILL);
	drain(&c->out, CTL_STDOUT, c->id);
	drain(&c->err, CTL_STDERR, c->id);
	if (WIFSIGNALED(status))
		send_exit(c->id, CTL_SIGNALED, (uint32_t)WTERMSIG(status));
	else
		send_exit(c->id, CTL_EXITED, (uint32_t)WEXITSTATUS(status));
	c->pid = 0;
}

void children_reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (size_t i = 0; i < CHILDREN_MAX; i++) {
			if (children[i].pid == pid)
				finish(&children[i], status);
		}
	}
}

size_t children_poll(struct pollfd *fds)
{
	size_t n = 0;

	for (size_t i = 0; i < CHILDREN_MAX; i++) {
		if (!children[i].pid)
			continue;
		if (children[i].out >= 0)
			fds[n++] = (struct pollfd){ .fd = children[i].out, .events = POLLIN };
		if (children[i].err >= 0)
			fds[n++] = (struct pollfd){ .fd = children[i].err, .events = POLLIN };
	}
	return n;
}

void children_output(const struct pollfd *fds, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		if (!fds[k].revents)
			continue;
		for (size_t i = 0; i < CHILDREN_MAX; i++) {
			struct child *c = &children[i];

			if (c->pid && c->out == fds[k].fd)
				forward(&c->out, CTL_STDOUT, c->id);
			else if (c->pid && c->err == fds[k].fd)
				forward(&c->err, CTL_STDERR, c->id);
		}
	}
}

/* In the child: @fds are its input, output and error. */
static void run(char **argv, const int fds[3], int tty, int report)
{
	sigset_t none;
	int error;

	setsid();
	for (int i = 0; i < 3; i++)
		dup2(fds[i], i);
	if (tty) {
		ioctl(0, TIOCSCTTY, 0);
		setenv("TERM", "xterm-256color", 1);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* Forks and waits until the program runs; 0 or an errno. */
static int start(struct child *c, char **argv, const int fds[3])
{
	int report[2], error = 0;

	if (pipe2(report, O_CLOEXEC))
		return errno;
	c->pid = fork();
	if (c->pid == 0)
		run(argv, fds, c->tty, report[1]);
	if (c->pid < 0) {
		error = errno;
		c->pid = 0;
	}
	close(report[1]);
	if (c->pid && read(report[0], &error, sizeof(error)) == sizeof(error)) {
		waitpid(c->pid, NULL, 0);
		c->pid = 0;
	}
	close(report[0]);
	return error;
}

static int start_tty(struct child *c, char **argv, const struct ctl_winsize *size)
{
	struct winsize ws = { .ws_row = size->rows, .ws_col = size->cols };
	int slave, error;

	if (openpty(&c->out, &slave, NULL, NULL, &ws))
		return errno;
	fcntl(c->out, F_SETFD, FD_CLOEXEC);
	fcntl(c->out, F_SETFL, O_NONBLOCK);
	fcntl(slave, F_SETFD, FD_CLOEXEC);
	error = start(c, argv, (int[3]){ slave, slave, slave });
	close(slave);
	return error;
}

static int start_piped(struct child *c, char **argv)
{
	int out[2], err[2], null, error;

	if (pipe2(out, O_CLOEXEC))
		return errno;
	if (pipe2(err, O_CLOEXEC)) {
		error = errno;
		close(out[0]);
		close(out[1]);
		return error;
	}
	c->out = out[0];
	c->err = err[0];
	fcntl(c->out, F_SETFL, O_NONBLOCK);
	fcntl(c->err, F_SETFL, O_NONBLOCK);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	error = null < 0 ? errno : start(c, argv, (int[3]){ null, out[1], err[1] });
	close(null);
	close(out[1]);
	close(err[1]);
	return error;
}

/* Splits "a\0b\0" into argv; 0, or EINVAL when it is not of that form. */
static int split(char **argv, char *text, size_t len)
{
	size_t n = 0;

	if (!len || text[len - 1])
		return EINVAL;
	for (char *p = text; p < text + len; p += strlen(p) + 1) {
		if (n == ARGS_MAX - 1)
			return E2BIG;
		argv[n++] = p;
	}
	argv[n] = NULL;
	return 0;
}

void children_exec(const struct ctl_header *hdr, const uint8_t *data)
{
	static char text[CTL_PAYLOAD_MAX];
	char *argv[ARGS_MAX];
	struct child *c = NULL;
	struct ctl_exec req;
	size_t len;
	int error;

	for (size_t i = 0; i < CHILDREN_MAX && !c; i++) {
		if (!children[i].pid)
			c = &children[i];
	}
	if (hdr->len < sizeof(req) || !c) {
		send_exit(hdr->id, CTL_NOT_STARTED, c ? EINVAL : EAGAIN);
		return;
	}
	memcpy(&req, data, sizeof(req));
	len = hdr->len - sizeof(req);
	memcpy(text, data + sizeof(req), len);
	error = split(argv, text, len);
	*c = (struct child){ .id = hdr->id, .out = -1, .err = -1,
			     .tty = !!(req.flags & CTL_EXEC_TTY) };
	if (!error)
		error = c->tty ? start_tty(c, argv, &req.size) : start_piped(c, argv);
	if (!error)
		return;
	if (c->out >= 0)
		close(c->out);
	if (c->err >= 0)
		close(c->err);
	send_exit(hdr->id, CTL_NOT_STARTED, (uint32_t)error);
}

void children_input(const struct ctl_header *hdr, const uint8_t *data)
{
	struct child *c = find(hdr->id);

	/* A terminal that nobody reads drops what does not fit, as terminals do. */
	if (c && c->tty && c->out >= 0 && write(c->out, data, hdr->len) < 0 && errno != EAGAIN)
		fprintf(stderr, "init: terminal input: %s\n", strerror(errno));
}

void children_resize(const struct ctl_header *hdr, const uint8_t *data)
{
	struct child *c = find(hdr->id);
	struct ctl_winsize size;
	struct winsize ws = { 0 };

	if (!c || !c->tty || c->out < 0 || hdr->len != sizeof(size))
		return;
	memcpy(&size, data, sizeof(size));
	ws.ws_row = size.rows;
	ws.ws_col = size.cols;
	ioctl(c->out, TIOCSWINSZ, &ws);
}

void children_kill(const struct ctl_header *hdr, const uint8_t *data)
{
	struct child *c = find(hdr->id);
	int32_t sig;

	if (!c || hdr->len != sizeof(sig))
		return;
	memcpy(&sig, data, sizeof(sig));
	kill(-c->pid, sig);
}
