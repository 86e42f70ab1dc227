/* SPDX-License-Identifier: MIT */
/*
 * A test's two streams taken apart: its report on descriptor 3 and its TAP.
 *
 * Both come from the guest.  Anything that does not fit the format is a fault; a
 * description of the first fault is kept.
 */
#ifndef AGATE_GRADER_STREAM_H
#define AGATE_GRADER_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab.h"

#define REPORT_LINE	1000	/* bytes, without its end */
#define REPORT_SEES	64
#define REPORT_NOTES	8
#define READY_LINE	"READY\n"

/* A part of the stream. */
struct span {
	const char *text;
	size_t len;
};

struct report_see {
	char name[LAB_NAME];
	int64_t value;
};

struct stream_report {
	struct report_see sees[REPORT_SEES];
	size_t see_count;
	struct span rule, expected, seen;	/* the last one with each name; text NULL: none */
	struct span blind;		/* why the test could not look; text NULL: it could */
	struct span notes[REPORT_NOTES];
	size_t note_count;
	bool done;			/* DONE with the right nonce, once, and last */
	bool cut;			/* no DONE, and no other fault */
	char fault[128];		/* empty: none */
};

/* @at_go: the number of bytes that had arrived when GO was sent. */
void report_parse(const char *text, size_t len, size_t at_go, const char *nonce,
		  struct stream_report *report);
const struct report_see *report_see_named(const struct stream_report *report, const char *name);

struct tap {
	bool passed;		/* one plan, one result, and that is "ok 1 - NAME" */
	bool failed;		/* ... and that is "not ok" */
	struct span first_words;	/* the first line of explanation; text NULL: none */
	char fault[128];	/* empty: none */
};

void tap_parse(const char *text, size_t len, const char *name, struct tap *tap);

#endif /* AGATE_GRADER_STREAM_H */
