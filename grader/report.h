/* SPDX-License-Identifier: MIT */
/*
 * What a student reads on the terminal: the verdict's word first, then what it is
 * worth, then why.
 */
#ifndef AGATE_GRADER_REPORT_H
#define AGATE_GRADER_REPORT_H

#include <stdio.h>

#include "result.h"

struct report {
	FILE *out;
	bool colour;
	const char *dir;	/* where this lab's logs are */
	const char *number;	/* what `make grade LAB=` wants for this lab */
	size_t next;		/* test to tell of */
	struct standing last;	/* of the one before */
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
