/* SPDX-License-Identifier: MIT */
/*
 * The live line of a terminal: which test runs, and for how long it has been silent.
 *
 * The line is on stderr, and only if that is a terminal.  It goes before anything else is
 * printed, so no log has it.
 */
#ifndef AGATE_GRADER_LIVE_H
#define AGATE_GRADER_LIVE_H

#include "result.h"

/* Begins to draw it, once a second and after each change; live_end() erases it for good. */
void live_begin(void);
void live_end(void);

/* Erases the line until live_show(), so that the caller can print. */
void live_hide(void);
void live_show(void);

/* The report is at this lab, which has so many of so many verdicts. */
void live_count(const char *lab, unsigned int done, unsigned int all);
/*
 * What of @lab runs on this kernel from now on, and its time limit; NULL: nothing. @limit_ms 0:
 * it has none of its own.
 */
void live_task(const char *lab, enum flavour flavour, const char *what, unsigned int limit_ms);

/* The line's text: how long the tasks run at the time @now, in nanoseconds; for tests. */
void live_text(uint64_t now, char *text, size_t size);

#endif /* AGATE_GRADER_LIVE_H */
