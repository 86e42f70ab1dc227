/* SPDX-License-Identifier: MIT */
/*
 * The lines that a driver prints in the kernel's log.
 */
#ifndef AGATE_GRADER_SAID_H
#define AGATE_GRADER_SAID_H

#include <stddef.h>

/*
 * Collects the last lines, at most @lines, that the driver printed, or the kernel about
 * it, separated by " | ": clean, without time stamps, and without those that only report
 * its start.  Empty when there is none.
 */
void said_last(const char *console, size_t len, unsigned int lines, char *out, size_t size);

#endif /* AGATE_GRADER_SAID_H */
