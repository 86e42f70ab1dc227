/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the parts of splat share: lines, frames, and the list of known
 * reports.
 */
#ifndef AGATE_GRADER_SPLAT_PRIV_H
#define AGATE_GRADER_SPLAT_PRIV_H

#include "splat.h"

/* A line of the console without its end and the kernel's time stamp. */
struct splat_line {
	const char *text;
	size_t len;
	size_t begin;		/* of the whole line in the text */
	size_t next;		/* where the line after it begins */
};

/* The line that begins at @at; false at the end of the text. */
bool splat_line_at(const char *text, size_t len, size_t at, struct splat_line *line);
bool splat_line_starts(const struct splat_line *line, const char *prefix);
bool splat_line_has(const struct splat_line *line, const char *part);

/* Parses "func+0x1c/0xa0 [agate]" at @text; false when it is something else. */
bool splat_frame_parse(const char *text, size_t len, struct splat_frame *frame);

/**
 * struct splat_pattern - how a report begins, and what it means
 * @prefix:	of its first line
 * @part:	text that the line also has to contain, or NULL
 * @kind:	see there
 * @weak:	any other report in the same log is more informative
 * @timed:	a watchdog's: a CPU or a task was stuck for too long
 * @no_trace:	no trace follows
 * @origin:	the place where the object was made tells more than the place where it was
 *		missed
 * @maybe_freed: memory that was freed too early is a likely cause
 * @rule:	the broken rule as a sentence; NULL: not a report after all
 * @nowhere:	the sentence when no trace has a frame of the module, or NULL: the same
 * @elsewhere:	the sentence when the chosen trace does not show what the CPU was doing, or
 *		NULL
 */
struct splat_pattern {
	const char *prefix;
	const char *part;
	enum splat_kind kind;
	bool weak;
	bool timed;
	bool no_trace;
	bool origin;
	bool maybe_freed;
	const char *rule;
	const char *nowhere;
	const char *elsewhere;
};

/* The pattern that a line matches; NULL for a line that does not begin a report. */
const struct splat_pattern *splat_pattern_of(const struct splat_line *line);

/* A more precise rule, if a line of the report's body tells more than its first line; or NULL. */
const char *splat_body_rule(const struct splat *splat, const struct splat_line *line);

/* The thing for which a CPU that spins, or a thread that sleeps, in the module waits. */
const char *splat_wait_rule(const struct splat *splat);

#endif /* AGATE_GRADER_SPLAT_PRIV_H */
