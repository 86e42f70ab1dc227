/* SPDX-License-Identifier: MIT */
/*
 * What the report's files share.
 */
#ifndef AGATE_GRADER_REPORT_PRIV_H
#define AGATE_GRADER_REPORT_PRIV_H

#include "report.h"

#define WIDTH	92
#define INDENT	17

enum colour { PLAIN, GREEN, RED, YELLOW, DIM };

/* The escape sequence of a colour, or nothing where the report has none. */
const char *report_paint(const struct report *report, enum colour colour);
/* Words from this column on; what does not fit goes on below, at INDENT. */
void report_words(const struct report *report, size_t column, const char *text);
/* A line that begins with a name; its text goes on below itself. */
void report_field(const struct report *report, const char *name, const char *text);
/* Verdict, points and name of a test, and what else there is to say in that line. */
void report_headline(const struct report *report, const struct standing *standing,
		     const struct lab_test *test, const char *remark);
/* All that explains a failure. */
void report_failure(const struct report *report, const struct lab_test *test,
		    const struct standing *standing);

#endif /* AGATE_GRADER_REPORT_PRIV_H */
