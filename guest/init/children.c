// SPDX-License-Identifier: MIT
/*
 * The processes that the launcher asked for.
 *
 * Each leads a session and process group of its own, with /dev/null, a pipe or a terminal
 * as input, and PID 1 forwards its output as frames.  A request ends when the process
 * itself ends: PID 1 then kills the rest of its group, forwards the rest of the output,
 * and sends CTL_EXIT, the last frame of that id.
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
#define PANIC_PRINT_ALL_CPUS	"64"

/* A child's outputs; each with the type of frame that carries it. */
enum { OUT, ERR, REPORT, OUTPUTS };
static const uint32_t types[OUTPUTS] = { CTL_STDOUT, CTL_STDERR, CTL_REPORT };

struct child {
	pid_t pid;		/* 0: slot is free */
	uint32_t id;
	int in;			/* write end of a pipe, the terminal's master, or -1 */
	int outputs[OUTPUTS];	/* read ends of pipes, the terminal's master, or -1 */
	int tty;
};

static struct child children[CHILDREN_MAX];
static uint8_t chunk[CTL_PAYLOAD_MAX];

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The terminal's master is both input and output: it is closed as an output. */
static void close_input(struct child *c)
{
	if (!c->tty)
		close_fd(&c->in);
	c->in = -1;
}

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

/* Forwards the bytes of one read(); returns their number, 0 when there are no more for now. */
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
	/* Reading a terminal whose last user is gone fails with EIO. */
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_fd(fd);
	return 0;
}

/*
 * The output from before the end fits into the pipe; any more comes from a process that
 * left the group, and PID 1 does not wait for those.
 */
static void drain(int *fd, uint32_t type, uint32_t id)
{
	size_t total = 0, n;

	while (total < CTL_PAYLOAD_MAX && (n = forward(fd, type, id)) > 0)
		total += n;
	close_fd(fd);
}

static void finish(struct child *c, int status)
{
	kill(-c->pid, SIGKILL);
	close_input(c);
	for (int i = 0; i < OUTPUTS; i++)
		drain(&c->outputs[i], types[i], c->id);
	if (WIFSIGNALED(status))
		send_exit(c->id, CTL_SIGNALED, (uint32_t)WTERMSIG(status));
	else
		send_exit(c->id, CTL_EXITED, (uint32_t)WEXITSTATUS(status));
	c->pid = 0;
}

static void ended(pid_t pid, int status)
{
	for (size_t i = 0; i < CHILDREN_MAX; i++) {
		if (children[i].pid == pid)
			finish(&children[i], status);
	}
}

void children_reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		ended(pid, kept_lost(pid) ? SIGKILL : status);
}

size_t children_poll(struct pollfd *fds)
{
	size_t n = 0;

	if (kept_fd() >= 0)
		fds[n++] = (struct pollfd){ .fd = kept_fd(), .events = POLLIN };
	for (size_t i = 0; i < CHILDREN_MAX; i++) {
		for (int k = 0; children[i].pid && k < OUTPUTS; k++) {
			if (children[i].outputs[k] >= 0)
				fds[n++] = (struct pollfd){ .fd = children[i].outputs[k],
							    .events = POLLIN };
		}
	}
	return n;
}

static void forward_fd(int fd)
{
	for (size_t i = 0; i < CHILDREN_MAX; i++) {
		struct child *c = &children[i];

		for (int k = 0; c->pid && k < OUTPUTS; k++) {
			if (c->outputs[k] == fd) {
				forward(&c->outputs[k], types[k], c->id);
				return;
			}
		}
	}
}

void children_output(const struct pollfd *fds, size_t n)
{
	int status;
	pid_t pid;

	for (size_t k = 0; k < n; k++) {
		if (!fds[k].revents)
			continue;
		if (fds[k].fd != kept_fd())
			forward_fd(fds[k].fd);
		else if ((pid = kept_ended(&status)))
			ended(pid, status);
	}
}

/* In the child: @fds are its input, its outputs, and -1 for what it does not get. */
static void run(char **argv, const int *fds, int tty, int error_fd)
{
	sigset_t none;
	int error;

	setsid();
	for (int i = 0; i < 1 + OUTPUTS; i++) {
		if (fds[i] >= 0)
			dup2(fds[i], i);
	}
	if (tty) {
		ioctl(0, TIOCSCTTY, 0);
		setenv("TERM", "xterm-256color", 1);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	error = errno;
	if (write(error_fd, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* Forks and waits until the program runs; 0 or an errno. */
static int start(struct child *c, char **argv, const int *fds)
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
	int master, slave, error;

	if (openpty(&master, &slave, NULL, NULL, &ws))
		return errno;
	fcntl(master, F_SETFD, FD_CLOEXEC);
	fcntl(master, F_SETFL, O_NONBLOCK);
	fcntl(slave, F_SETFD, FD_CLOEXEC);
	c->tty = 1;
	c->in = c->outputs[OUT] = master;
	error = start(c, argv, (int[]){ slave, slave, slave, -1 });
	close(slave);
	return error;
}

/* A pipe of which we keep *@ours, which must not block us; 0 or an errno. */
static int make_pipe(int *ours, int *theirs, int we_write)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return errno;
	*ours = fds[we_write];
	*theirs = fds[!we_write];
	fcntl(*ours, F_SETFL, O_NONBLOCK);
	return 0;
}

static int start_piped(struct child *c, char **argv, uint32_t flags)
{
	int theirs[1 + OUTPUTS + 1] = { -1, -1, -1, -1, -1 };
	int report = !!(flags & CTL_EXEC_REPORT);
	int error = 0;

	if (report) {
		error = make_pipe(&c->in, &theirs[0], 1);
	} else {
		theirs[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (theirs[0] < 0)
			error = errno;
	}
	for (int i = 0; !error && i < OUTPUTS - !report; i++)
		error = make_pipe(&c->outputs[i], &theirs[1 + i], 0);
	if (!error && (!(flags & CTL_EXEC_KEPT) || kept_start(argv, theirs, &c->pid)))
		error = start(c, argv, theirs);
	for (int i = 0; i < 1 + OUTPUTS; i++)
		close_fd(&theirs[i]);
	return error;
}

/* Splits "a\0b\0" into argv; 0, or EINVAL when it does not have that form. */
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
	if (!error && req.flags & CTL_EXEC_TRACED)
		error = files_poke("/proc/sys/kernel/panic_print", PANIC_PRINT_ALL_CPUS);
	*c = (struct child){ .id = hdr->id, .in = -1, .outputs = { -1, -1, -1 } };
	if (!error && req.flags & CTL_EXEC_TTY)
		error = start_tty(c, argv, &req.size);
	else if (!error)
		error = start_piped(c, argv, req.flags);
	if (!error)
		return;
	close_input(c);
	for (int i = 0; i < OUTPUTS; i++)
		close_fd(&c->outputs[i]);
	send_exit(hdr->id, CTL_NOT_STARTED, (uint32_t)error);
}

/*
 * A child that does not read must not hold PID 1 up.  A terminal drops input that does
 * not fit, as terminals do.  A pipe is closed: an input that is too short is better than
 * one with a hole in it.
 */
void children_input(const struct ctl_header *hdr, const uint8_t *data)
{
	struct child *c = find(hdr->id);
	ssize_t n;

	if (!c || c->in < 0)
		return;
	n = hdr->len ? write(c->in, data, hdr->len) : 0;
	if (!c->tty && (!hdr->len || n != (ssize_t)hdr->len))
		close_input(c);
}

void children_resize(const struct ctl_header *hdr, const uint8_t *data)
{
	struct child *c = find(hdr->id);
	struct ctl_winsize size;
	struct winsize ws = { 0 };

	if (!c || !c->tty || c->in < 0 || hdr->len != sizeof(size))
		return;
	memcpy(&size, data, sizeof(size));
	ws.ws_row = size.rows;
	ws.ws_col = size.cols;
	ioctl(c->in, TIOCSWINSZ, &ws);
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

void children_each(void (*each)(pid_t group))
{
	for (size_t i = 0; i < CHILDREN_MAX; i++) {
		if (children[i].pid)
			each(children[i].pid);
	}
}
