/* SPDX-License-Identifier: MIT */
/*
 * What the parts of splat share: lines, frames, and the list of known reports.
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

/* "func+0x1c/0xa0 [agate]" from @text on; false when that is something else. */
bool splat_frame_parse(const char *text, size_t len, struct splat_frame *frame);

/**
 * struct splat_pattern - how a report begins, and what it means
 * @prefix:	of its first line
 * @part:	what that line has somewhere, or NULL
 * @kind:	see there
 * @weak:	says little: any other report in the same log tells more
 * @timed:	a watchdog's: somebody did not come back for so long
 * @no_trace:	no trace follows
 * @origin:	where the thing was made tells more than where it was missed
 * @rule:	what was broken, as a sentence; NULL: not a report after all
 * @nowhere:	the sentence when no trace has a frame of the module, or NULL: the same
 * @elsewhere:	the sentence when the trace that counts is not what the CPU was doing, or NULL
 */
struct splat_pattern {
	const char *prefix;
	const char *part;
	enum splat_kind kind;
	bool weak;
	bool timed;
	bool no_trace;
	bool origin;
	const char *rule;
	const char *nowhere;
	const char *elsewhere;
};

/* The pattern that a line fits; NULL for a line that begins no report. */
const struct splat_pattern *splat_pattern_of(const struct splat_line *line);

/* A closer rule, when a line of the report's body tells more than its first; or NULL. */
const char *splat_body_rule(const struct splat *splat, const struct splat_line *line);

/* What a CPU that spins, or a thread that waits, in the module waits for. */
const char *splat_wait_rule(const struct splat *splat);

#endif /* AGATE_GRADER_SPLAT_PRIV_H */
