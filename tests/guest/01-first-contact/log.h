/* SPDX-License-Identifier: MIT */
/* The kernel's log, from now on. */
#ifndef AGATE_TESTS_LAB01_LOG_H
#define AGATE_TESTS_LAB01_LOG_H

#include <stdbool.h>

#define LOG_LINE	512

/* A descriptor that stands behind the last line. */
int log_open(void);
/* The next line's text; false when there is none. */
bool log_line(int log, char line[LOG_LINE]);
/*
 * The kernel has not complained of resources since the log was opened.  Lines with the
 * driver's name in front are about a call of its that failed.  Closes the log.
 */
void check_log(int log);
/*
 * The driver's last line, in the caller's buffer; "nothing" when there is none.  That
 * its probe failed is the kernel's line, and says no more than the errno.
 */
const char *log_last(int log, char line[LOG_LINE]);

#endif /* AGATE_TESTS_LAB01_LOG_H */
