/* SPDX-License-Identifier: MIT */
/*
 * The event log as pictures: Chrome's trace-event format, an array of JSON
 * objects, which Perfetto and chrome://tracing open.
 *
 * The closing bracket is written at the end of a run.  The format allows an array without
 * it, so the trace of a process that was killed is valid up to the last event in it: the
 * process writes whole events.
 */
#ifndef AGATE_PROCESS_TRACE_H
#define AGATE_PROCESS_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agate_sim.h"

/* Size of the buffer. */
#define TRACE_BUFFER	65536u

/* Spans nest: a fault in a job in a chain. */
#define TRACE_DEPTH	3

enum trace_track {
	TRACE_SLOT,				/* and on: one a slot */
	TRACE_AS = TRACE_SLOT + AGATE_MAX_SLOTS,	/* one an address space */
	TRACE_FLUSH = TRACE_AS + AGATE_MAX_AS,
	TRACE_POWER,
	TRACE_MOVER,		/* from here on, what a reset of the GPU does not reach */
	TRACE_FLIPS,
	TRACE_FAULTS,
	TRACE_IRQ,
	TRACE_HINTS,
	TRACE_TRACKS
};

struct trace {
	FILE *file;		/* NULL: no trace */
	uint64_t limit;		/* bytes; a guest must not fill the host's disk */
	uint64_t bytes;
	size_t unflushed;
	bool full;
	uint64_t time;		/* of the newest event */
	bool named[TRACE_TRACKS];
	unsigned int depth[TRACE_TRACKS];	/* spans that are open */
	bool locked[AGATE_MAX_AS];
	bool command[AGATE_MAX_AS];
	uint64_t fault[AGATE_MAX_SLOTS];	/* address that a job waits for ... */
	bool faulted[AGATE_MAX_SLOTS];		/* ... while this is set */
	uint64_t read[AGATE_MAX_SLOTS];
	uint64_t written[AGATE_MAX_SLOTS];
	uint64_t ready[3];	/* cores, by power domain */
	uint64_t moved_in, moved_out, cleared;	/* bytes of VRAM, by the mover */
	char buffer[TRACE_BUFFER];	/* the file's */
};

/* Opens a trace that is all zeroes; returns NULL, or what is wrong. */
const char *trace_open(struct trace *trace, const char *path, uint64_t limit);

void trace_event(struct trace *trace, const struct agate_sim_event *event);
void trace_mark(struct trace *trace, uint64_t time, const char *json_text);
void trace_flush(struct trace *trace);

/* Ends every open span and the array; false when a write failed. */
bool trace_close(struct trace *trace);

/* ---- Between trace.c and trace_card.c ------------------------------------------- */

/* Firmware, mover and flips. */
void trace_card(struct trace *trace, const struct agate_sim_event *event);

__attribute__((format(printf, 3, 4)))
void trace_begin(struct trace *trace, unsigned int track, const char *format, ...);
__attribute__((format(printf, 3, 4)))
void trace_instant(struct trace *trace, unsigned int track, const char *format, ...);
/* A counter's values: "\"name\": value" and so on. */
__attribute__((format(printf, 3, 4)))
void trace_counter(struct trace *trace, const char *name, const char *format, ...);
/* End spans until only so many are open. */
void trace_end_to(struct trace *trace, unsigned int track, unsigned int depth);

#endif /* AGATE_PROCESS_TRACE_H */
