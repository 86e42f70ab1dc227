/* SPDX-License-Identifier: MIT */
/*
 * What a student reads on the terminal: the verdict's word first, then what it is
 * worth, then why.
 */
#ifndef AGATE_GRADER_REPORT_H
#define AGATE_GRADER_REPORT_H

#include <stdio.h>

#include "result.h"

struct report_style {
	FILE *out;
	bool colour;
	const char *dir;	/* where this lab's logs are */
	const char *number;	/* what `make grade LAB=` wants for this lab */
};

/* Colour where it is seen and wanted: a terminal, and no NO_COLOR. */
bool report_colour(FILE *out);

void report_lab(const struct report_style *style, const struct result_lab *lab);

/* The points of all, and the command that repeats the run. */
void report_end(const struct report_style *style, const struct result *result, bool debug,
		const char *command);

#endif /* AGATE_GRADER_REPORT_H */
