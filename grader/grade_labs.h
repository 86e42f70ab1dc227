/* SPDX-License-Identifier: MIT */
/*
 * Grades the labs of a run, some of them side by side, and reports them one after the other.
 */
#ifndef AGATE_GRADER_GRADE_LABS_H
#define AGATE_GRADER_GRADE_LABS_H

#include "options.h"
#include "run.h"

struct grade {
	const struct options *options;
	/* Without .progress and .task, which are grade_labs()'s own. */
	struct run_config *config;
	struct result *result;
	const char *hints;		/* the folder of facts for `make hint`, or NULL */
	unsigned int together;		/* so many labs at the same time; 0 is 1 */
};

/*
 * Returns the worst end of a lab.  When the grader fails or is interrupted, it begins no
 * further lab.  One call at a time.
 */
enum run_end grade_labs(const struct grade *grade);

/* Prints an error that may contain what a user typed. */
void grade_error(const char *what);

#endif /* AGATE_GRADER_GRADE_LABS_H */
