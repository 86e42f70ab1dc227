/* SPDX-License-Identifier: MIT */
/*
 * Checks that Perfetto opens a trace: the rules of Chrome's trace-event format, as
 * far as the GPU's process uses it, and two more: time does not go back, and every
 * track has a name.
 */
#ifndef AGATE_TEST_TRACE_CHECK_H
#define AGATE_TEST_TRACE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>

struct trace_report {
	char why[256];		/* the error, or "" */
	bool closed;		/* the array's bracket was there */
	unsigned int events;
	unsigned int open;	/* spans that never end */
	json_t *tracks;		/* tid: name */
	json_t *counters;	/* name: how many values */
	json_t *names;		/* of events: how many */
};

/* Read a whole file; false, with the reason in why, when it is not such a trace. */
bool trace_check(const char *path, struct trace_report *report);
void trace_report_free(struct trace_report *report);

/* The number of events with exactly that name. */
unsigned int trace_count(const struct trace_report *report, const char *name);
bool trace_has_track(const struct trace_report *report, const char *name);

#endif /* AGATE_TEST_TRACE_CHECK_H */
