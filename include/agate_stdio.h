/* SPDX-License-Identifier: MIT */
/*
 * The first step of every program on the host.
 */
#ifndef AGATE_STDIO_H
#define AGATE_STDIO_H

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

/*
 * The caller may have closed some of descriptors 0 to 2.  The next file that the
 * program opens would get such a number, and the program's output would land in
 * that file.  So open /dev/null in place of the missing ones.  Returns false when
 * /dev/null cannot be opened.
 */
static inline bool stdio_fill(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

#endif /* AGATE_STDIO_H */
