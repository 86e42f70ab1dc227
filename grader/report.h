/* SPDX-License-Identifier: MIT */
/*
 * The report that a student reads on the terminal: first the verdict, then the points,
 * then the reason.
 *
 * The report explains a reason once.  Later tests with the same reason take one line
 * each.  Tests that wait for a step that is not written yet take one line per step, at
 * the end.
 */
#ifndef AGATE_GRADER_REPORT_H
#define AGATE_GRADER_REPORT_H

#include <stdio.h>

#include "result.h"
#include "steps.h"

/* How the report has shown a test. */
enum report_told {
	TOLD_NOT,
	TOLD_WHOLE,	/* with its hint, if it failed */
	TOLD_AS_ABOVE,
	TOLD_BY_STEP,	/* at the end, in the line of its step */
	TOLD_BY_REASON,	/* at the end, in one line with all that never ran */
};

struct report {
	FILE *out;
	bool colour;
	const char *dir;	/* the folder of this lab's logs */
	const char *results;	/* the folder of all labs' */
	const char *number;	/* the name of this lab for `make grade LAB=` */
	const struct steps *steps;	/* the steps that are not written yet; or NULL */
	unsigned int step;	/* tests of later steps were left out; 0: none */
	const char *glob;	/* the names that the user asked for; NULL: all */
	size_t next;		/* test to report */
	unsigned char told[LAB_TESTS];	/* enum report_told */
};

/* Use colour on a terminal, unless NO_COLOR is set. */
bool report_colour(FILE *out);

/* Reports the tests, in their order, up to the first whose result may still change. */
void report_tests(struct report *report, const struct result_lab *lab);
/* Reports the remaining tests, and the lab's points. */
void report_lab(struct report *report, const struct result_lab *lab);

/* Prints the points of all labs, and the command that repeats the run. */
void report_end(FILE *out, const struct result *result, bool debug,
		const char *command);

#endif /* AGATE_GRADER_REPORT_H */
