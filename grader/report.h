/* SPDX-License-Identifier: MIT */
/*
 * What a student reads on the terminal: the verdict's word first, then what it is
 * worth, then why.
 *
 * A reason is told once.  Later tests that fail for it take a line each, and those
 * that wait for a step which is not written yet take one line a step, at the end.
 */
#ifndef AGATE_GRADER_REPORT_H
#define AGATE_GRADER_REPORT_H

#include <stdio.h>

#include "result.h"
#include "steps.h"

/* How a test was told of. */
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
	const char *dir;	/* where this lab's logs are */
	const char *number;	/* what `make grade LAB=` wants for this lab */
	const struct steps *steps;	/* those not written yet; or NULL */
	unsigned int step;	/* tests of later steps were left out; 0: none was */
	const char *glob;	/* the names that were asked for; NULL: all */
	size_t next;		/* test to tell of */
	unsigned char told[LAB_TESTS];	/* enum report_told */
};

/* Colour where it is seen and wanted: a terminal, and no NO_COLOR. */
bool report_colour(FILE *out);

/* Tells of the tests, in their order, as far as nothing will change any more. */
void report_tests(struct report *report, const struct result_lab *lab);
/* Tells of those that are left, and what the lab is worth. */
void report_lab(struct report *report, const struct result_lab *lab);

/* The points of all, and the command that repeats the run. */
void report_end(FILE *out, const struct result *result, bool debug,
		const char *command);

#endif /* AGATE_GRADER_REPORT_H */
