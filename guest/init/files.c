// SPDX-License-Identifier: MIT
/*
 * Files to and from the guest.
 *
 * One file at a time is being put; the launcher never interleaves two.  The
 * first error is kept and reported at the end, so that the launcher can send a
 * whole file without waiting for anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init.h"

#define PATH_LEN	1024

static int put_fd = -1;
static int put_error;

static int copy_path(char *path, const uint8_t *data, size_t len)
{
	if (!len || len >= PATH_LEN || memchr(data, '\0', len) || data[0] != '/')
		return EINVAL;
	memcpy(path, data, len);
	path[len] = '\0';
	return 0;
}

static void make_parents(const char *path)
{
	char dir[PATH_LEN];
	char *p;

	strcpy(dir, path);
	for (p = strchr(dir + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(dir, 0755);
		*p = '/';
	}
}

void files_put(const struct ctl_header *hdr, const uint8_t *data)
{
	char path[PATH_LEN];
	uint32_t mode;

	if (put_fd >= 0)
		close(put_fd);
	put_fd = -1;
	put_error = EINVAL;
	if (hdr->len <= sizeof(mode))
		return;
	memcpy(&mode, data, sizeof(mode));
	put_error = copy_path(path, data + sizeof(mode), hdr->len - sizeof(mode));
	if (put_error)
		return;
	make_parents(path);
	put_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (put_fd < 0 || fchmod(put_fd, mode & 07777))
		put_error = errno;
}

void files_put_data(const struct ctl_header *hdr, const uint8_t *data)
{
	size_t done = 0;

	while (!put_error && done < hdr->len) {
		ssize_t n = write(put_fd, data + done, hdr->len - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			put_error = errno;
	}
}

void files_put_end(const struct ctl_header *hdr)
{
	if (put_fd >= 0 && close(put_fd) && !put_error)
		put_error = errno;
	put_fd = -1;
	port_ack(hdr->id, put_error);
	put_error = EINVAL;	/* until the next CTL_PUT */
}

void files_get(const struct ctl_header *hdr, const uint8_t *data)
{
	static uint8_t chunk[CTL_PAYLOAD_MAX];
	char path[PATH_LEN];
	int fd, error;
	ssize_t n;

	error = copy_path(path, data, hdr->len);
	if (error) {
		port_ack(hdr->id, error);
		return;
	}
	/* Non-blocking: no request may hold PID 1 up. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		port_ack(hdr->id, errno);
		return;
	}
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		port_send(CTL_DATA, hdr->id, chunk, (size_t)n);
	error = n < 0 && errno != EAGAIN ? errno : 0;
	close(fd);
	port_ack(hdr->id, error);
}

int files_poke(const char *path, const char *text)
{
	ssize_t n;
	int fd, error = 0;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	n = write(fd, text, strlen(text));
	if (n < 0)
		error = errno;
	close(fd);
	return error;
}
