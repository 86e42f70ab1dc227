/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the report's files share.
 */
#ifndef AGATE_GRADER_REPORT_PRIV_H
#define AGATE_GRADER_REPORT_PRIV_H

#include "report.h"

#define WIDTH	92
#define INDENT	17

enum colour { PLAIN, GREEN, RED, YELLOW, DIM };

/* The escape sequence of a colour, or "" if the report has no colours. */
const char *report_paint(const struct report *report, enum colour colour);
/* Prints text from this column on; further lines begin at INDENT. */
void report_words(const struct report *report, size_t column, const char *text);
/* Prints a line that begins with a name; further lines of its text are aligned with the first. */
void report_field(const struct report *report, const char *name, const char *text);
/* Prints a test's verdict, points and name, and the rest of that line. */
void report_headline(const struct report *report, const struct standing *standing,
		     const struct lab_test *test, const char *remark);
/* Prints everything that explains a failure. */
void report_failure(const struct report *report, const struct lab_test *test,
		    const struct standing *standing);

#endif /* AGATE_GRADER_REPORT_PRIV_H */
