/* SPDX-License-Identifier: MIT */
/*
 * The report of a graded test (grader/README.md): lines, each of which arrives however the
 * process ends after it.
 */
#ifndef AGATE_TESTS_GRADED_REPORT_H
#define AGATE_TESTS_GRADED_REPORT_H

#include <stdbool.h>

#define REPORT_FD	3
#define REPORT_LINE	1000	/* bytes of a line, with its end; the rest is cut off */

/*
 * Makes the page in which lines can wait.  A process for a test shares the page of the
 * program that forks it.
 */
void report_prepare(void);

/*
 * Begins the report of this test, to descriptor @fd; @hold: lines may wait.  In a child of this
 * process no line waits, so a child's line may come before a rule that its parent looked at
 * earlier.
 */
void report_begin(const char *test, int fd, bool hold);

/* Adds a line, whatever the text contains: the protocol consists of lines. */
void report_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same for a line that only matters to those who want to know where the test ended. */
void report_where(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* AGATE_TESTS_GRADED_REPORT_H */
