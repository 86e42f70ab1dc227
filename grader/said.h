/* SPDX-License-Identifier: MIT */
/*
 * What a driver says of itself in the kernel's log.
 */
#ifndef AGATE_GRADER_SAID_H
#define AGATE_GRADER_SAID_H

#include <stddef.h>

/*
 * The last lines that the driver printed, or the kernel about it, @lines at the most,
 * with " | " between: clean, without time stamps, and not those that only say that it
 * came up.  Empty when there is none.
 */
void said_last(const char *console, size_t len, unsigned int lines, char *out, size_t size);

#endif /* AGATE_GRADER_SAID_H */
