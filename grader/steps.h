/* SPDX-License-Identifier: MIT */
/*
 * Finds the steps of a lab that are not written yet: the starter has a comment "STEP k:
 * ..." where the code of step k belongs, and the student replaces the comment with code.
 * A comment that stands above more than a stub was only not removed.
 */
#ifndef AGATE_GRADER_STEPS_H
#define AGATE_GRADER_STEPS_H

#include "lab.h"

/* The first comment of a step that still stands. */
struct step_mark {
	const char *file;	/* one of the lab's; NULL: there is no such comment */
	unsigned int line;
};

struct steps {
	struct step_mark left[LAB_STEPS + 1];	/* by the step's number, from 1 */
	struct step_mark stale[LAB_STEPS + 1];	/* comments above code that was written */
};

/* Searches the lab's files in @dir; an unreadable file counts as one without such a comment. */
void steps_find(const struct lab *lab, const char *dir, struct steps *steps);

/* The lowest step up to @step that is not written yet, or 0. */
unsigned int steps_first_left(const struct steps *steps, unsigned int step);

#endif /* AGATE_GRADER_STEPS_H */
