/* SPDX-License-Identifier: MIT */
/*
 * The lines of a graded test's report that it has not sent yet (grader/README.md).
 *
 * A test says before each check which rule it looks at.  To send each such line would wake
 * PID 1 and the grader hundreds of times, so the lines wait in a page of the test program,
 * until the report has something to say that may not wait.  If the test ends before that, with
 * its guest or alone, then the page is still in the guest's RAM, where the grader finds it.
 */
#ifndef AGATE_HELD_H
#define AGATE_HELD_H

#include <stdint.h>

#define HELD_MAGIC	"agate: held lines\n"
#define HELD_SIZE	4096		/* one page, so the guest's kernel cannot scatter it */

struct held {
	char magic[24];
	char test[64];
	uint64_t begun;		/* when @test began, in nanoseconds since the guest booted */
	uint64_t changes;	/* since then: of two pages the newer one has more */
	uint32_t len;		/* changes last */
	char text[HELD_SIZE - 24 - 64 - 2 * sizeof(uint64_t) - sizeof(uint32_t)];
};

_Static_assert(sizeof(struct held) == HELD_SIZE, "one page");

#endif /* AGATE_HELD_H */
