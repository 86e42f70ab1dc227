/* SPDX-License-Identifier: MIT */
/*
 * How long each part of a run took.
 */
#ifndef AGATE_GRADER_TIMING_H
#define AGATE_GRADER_TIMING_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TIMING_SPANS	512

/* One thread's. */
struct timing {
	struct {
		char what[64];
		uint64_t begin;
		uint64_t end;
	} spans[TIMING_SPANS];
	size_t count;
};

uint64_t timing_now(void);
/* Remembers a part that began at @begin and ends now; NULL remembers nothing. */
void timing_add(struct timing *timing, uint64_t begin, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Prints the parts; times count from @origin. */
void timing_print(const struct timing *timing, const char *title, uint64_t origin, FILE *out);

#endif /* AGATE_GRADER_TIMING_H */
