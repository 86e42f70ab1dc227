/* SPDX-License-Identifier: MIT */
/*
 * The event log: one JSON object a line, in model time and in words.
 */
#ifndef AGATE_PROCESS_LOG_H
#define AGATE_PROCESS_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agate_sim.h"

enum log_level {
	LOG_EVENTS,	/* everything but the two below */
	LOG_WALKS,	/* page-table walks too */
	LOG_ALL,	/* register accesses too */
};

/* Size of the buffer. */
#define LOG_BUFFER	4096u

struct log {
	FILE *file;		/* NULL: no log */
	enum log_level level;
	uint64_t bytes;
	uint64_t limit;		/* bytes; a guest must not fill the host's disk */
	char buffer[LOG_BUFFER];	/* the file's */
};

/* Opens a log that is all zeroes except for its level; returns NULL, or what is wrong. */
const char *log_open(struct log *log, const char *path, uint64_t limit);

void log_event(struct log *log, const struct agate_sim_event *event);

/*
 * Does a log of level LOG_EVENTS have this kind?  How often the other kinds occur depends
 * on polling.
 */
bool log_counts(enum agate_sim_event_kind kind);

/* A line that does not come from the model. */
void log_mark(struct log *log, uint64_t time, const char *json_text);

void log_flush(struct log *log);

/* False when not all of it could be written. */
bool log_close(struct log *log);

#endif /* AGATE_PROCESS_LOG_H */
