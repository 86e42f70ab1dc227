/* SPDX-License-Identifier: MIT */
/*
 * Is this a trace that Perfetto opens?  The rules of Chrome's trace-event format,
 * as far as the GPU's process uses it, and some of ours: time does not go back,
 * every track has a name.
 */
#ifndef AGATE_TEST_TRACE_CHECK_H
#define AGATE_TEST_TRACE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>

struct trace_report {
	char why[256];		/* what is wrong, or "" */
	bool closed;		/* the array's bracket was there */
	unsigned int events;
	unsigned int open;	/* spans that never end */
	json_t *tracks;		/* tid: name */
	json_t *counters;	/* name: how many values */
	json_t *names;		/* of events: how many */
};

/* Read a whole file; false, with why, when it is no such trace. */
bool trace_check(const char *path, struct trace_report *report);
void trace_report_free(struct trace_report *report);

/* How many events of that very name there are. */
unsigned int trace_count(const struct trace_report *report, const char *name);
bool trace_has_track(const struct trace_report *report, const char *name);

#endif /* AGATE_TEST_TRACE_CHECK_H */
