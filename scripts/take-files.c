// SPDX-License-Identifier: MIT
/*
 * agate-take-files: copy a submission's files into a folder of ours.
 *
 * usage: agate-take-files FROM TO NAME...
 *
 * All later programs read the copy of a submission, so this is the only program that has
 * to handle whatever else a folder can hold: links, pipes, devices, files without an end.
 * An existing copy with the same content keeps its time stamp.  Prints a line "FROM/NAME:
 * error: WHY" for each file that it does not take, and removes an older copy of it.  Exit
 * status: 0, or 10 when a file was not taken, or 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agate_stdio.h"

#define SIZE_MAX_KIB	256
#define SIZE_LIMIT	(SIZE_MAX_KIB << 10)

enum { TAKEN, FAILED = 1, REFUSED = 10 };

static const char *from, *to;

static int refuse(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int refuse(const char *name, const char *fmt, ...)
{
	va_list ap;

	printf("%s/%s: error: %s: ", from, name, name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	return REFUSED;
}

static int fail(const char *dir, const char *name)
{
	fprintf(stderr, "agate-take-files: %s/%s: %s\n", dir, name, strerror(errno));
	return FAILED;
}

/* Reads the whole file and returns its size; SIZE_LIMIT + 1 when it is longer, -1 with errno. */
static ssize_t read_all(int fd, char *buf)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, buf + len, SIZE_LIMIT + 1 - len);
		if (n > 0)
			len += (size_t)n;
	} while (len <= SIZE_LIMIT && (n > 0 || (n < 0 && errno == EINTR)));
	return n < 0 ? -1 : (ssize_t)len;
}

static int take(int dir, const char *name, char *buf, ssize_t *len)
{
	/* A pipe without a writer must not make us wait. */
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat sb;
	int ret = TAKEN;

	if (fd < 0 && errno == ENOENT)
		return refuse(name, "not there; this lab is about this file");
	if (fd < 0 && errno == ELOOP)
		return refuse(name, "is a symbolic link; the file itself has to be here");
	if (fd < 0 && errno == ENXIO)
		return refuse(name, "is not a regular file");
	if (fd < 0)
		return refuse(name, "cannot be read: %s", strerror(errno));
	if (fstat(fd, &sb)) {
		ret = fail(from, name);
	} else if (!S_ISREG(sb.st_mode)) {
		ret = refuse(name, "is not a regular file");
	} else if (sb.st_size > SIZE_LIMIT) {
		ret = refuse(name, "is larger than %d KiB", SIZE_MAX_KIB);
	} else {
		*len = read_all(fd, buf);
		if (*len < 0)
			ret = fail(from, name);
		else if (*len > SIZE_LIMIT)
			ret = refuse(name, "is larger than %d KiB", SIZE_MAX_KIB);
	}
	close(fd);
	return ret;
}

static bool is_there(int dir, const char *name, const char *buf, ssize_t len)
{
	static char old[SIZE_LIMIT + 1];
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool same;

	if (fd < 0)
		return false;
	same = read_all(fd, old) == len && memcmp(old, buf, (size_t)len) == 0;
	close(fd);
	return same;
}

static int put(int dir, const char *name, const char *buf, ssize_t len)
{
	ssize_t done = 0, n;
	int fd;

	if (is_there(dir, name, buf, len))
		return TAKEN;
	unlinkat(dir, name, 0);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return fail(to, name);
	while (done < len) {
		n = write(fd, buf + done, (size_t)(len - done));
		if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? n : 0;
	}
	if (close(fd) || done < len)
		return fail(to, name);
	return TAKEN;
}

int main(int argc, char **argv)
{
	static char buf[SIZE_LIMIT + 1];
	int from_fd, to_fd, ret, status = TAKEN, i;
	ssize_t len = 0;

	if (!stdio_fill())
		return FAILED;
	if (argc < 4) {
		fprintf(stderr, "usage: %s FROM TO NAME...\n", argv[0]);
		return FAILED;
	}
	from = argv[1];
	to = argv[2];
	to_fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (to_fd < 0)
		return fail(to, ".");
	from_fd = open(from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (i = 3; i < argc; i++) {
		if (strchr(argv[i], '/'))
			ret = refuse(argv[i], "is not a file's name");
		else if (from_fd < 0)
			ret = refuse(argv[i], errno == ENOTDIR || errno == ELOOP ?
				     "its folder is no folder, or a symbolic link" :
				     "its folder cannot be read");
		else
			ret = take(from_fd, argv[i], buf, &len);
		if (ret == TAKEN)
			ret = put(to_fd, argv[i], buf, len);
		else
			unlinkat(to_fd, argv[i], 0);
		if (ret && status != FAILED)
			status = ret;
	}
	if (fflush(stdout) || ferror(stdout))
		return FAILED;
	return status;
}
