/* SPDX-License-Identifier: MIT */
/*
 * The lines of a report that were still in the guest when its test ended (agate_held.h).
 */
#ifndef AGATE_GRADER_HELD_H
#define AGATE_GRADER_HELD_H

#include <stdbool.h>
#include <stddef.h>

#include "agate_held.h"

struct held_choice {
	const char *test;
	bool found;
	struct held page;	/* a copy: the guest may go on */
};

/*
 * Looks at one page of the guest's RAM, whatever is in it.  The kernel may have moved the
 * program's page, and then the old one is there, too: the newest one of this test counts.
 */
void held_choose(struct held_choice *choice, const void *page);

/* The lines of the chosen page that name rules: the number of bytes, at most @size. */
size_t held_lines(const struct held_choice *choice, char *text, size_t size);

#endif /* AGATE_GRADER_HELD_H */
