// SPDX-License-Identifier: MIT
/*
 * Helpers for every file of the launcher: errors, time, byte buffers and
 * descriptors.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "vm_priv.h"

/* Keeps the message for vm_error() and returns @status, so that a caller can return it directly. */
enum vm_status vm_fail(struct vm *vm, enum vm_status status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(vm->error, sizeof(vm->error), fmt, ap);
	va_end(ap);
	return status;
}

uint64_t vm_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void vm_progress(const struct vm *vm, const char *what)
{
	if (vm->cfg.progress)
		vm->cfg.progress(vm->cfg.arg, what);
}

void vm_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Neither end blocks: a caller that wants to wait uses poll(). */
bool vm_socketpair(int *ours, int *theirs)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds))
		return false;
	*ours = fds[0];
	*theirs = fds[1];
	return true;
}

bool vm_buf_append(struct vm_buf *buf, const void *data, size_t len)
{
	if (len > buf->cap - buf->len) {
		size_t cap = (buf->len + len) * 2;
		char *p = realloc(buf->data, cap);

		if (!p)
			return false;
		buf->data = p;
		buf->cap = cap;
	}
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	return true;
}

void vm_buf_consume(struct vm_buf *buf, size_t len)
{
	buf->len -= len;
	memmove(buf->data, buf->data + len, buf->len);
}

bool vm_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

/* One message over a stream socket, with a descriptor attached unless @fd is -1. */
bool vm_send_fd(int sock, const void *data, size_t len, int fd)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .space = "" };
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;

	if (fd >= 0) {
		msg.msg_control = control.space;
		msg.msg_controllen = sizeof(control.space);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL) == (ssize_t)len;
}
