/* SPDX-License-Identifier: MIT */
/*
 * How a guest's kernel is, as PID 1 reads it from the kernel's own files: whether its
 * checks still look, and what memory is left.
 *
 * The driver shares ring 0 with all of this, so it is no proof; but a driver that
 * switches a check off, or miscounts what it keeps, has to forge this as well.
 */
#ifndef AGATE_GRADER_HEALTH_H
#define AGATE_GRADER_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judge.h"

#define HEALTH_TEXT	4096

enum health_key {
	HEALTH_TAINTED,
	HEALTH_CONSOLE_LOGLEVEL,
	HEALTH_DEBUG_LOCKS,
	HEALTH_LOCK_CLASSES,
	HEALTH_LOCK_CLASSES_MAX,
	HEALTH_DMA_API_DISABLED,
	HEALTH_KPROBES,
	HEALTH_SHMEM_FILES,
	HEALTH_SHMEM_PAGES,
	HEALTH_KEYS
};

struct health {
	uint64_t value[HEALTH_KEYS];
	uint32_t has;		/* bit n: the kernel told key n */
};

/* Reads "KEY NUMBER" lines.  False when it is something else, or a key comes twice. */
bool health_parse(struct health *health, const char *text, size_t len);

/*
 * Whether a check that looked before does so no more.  Then a pass becomes a failure, and
 * any verdict gets a note.
 */
bool health_blinded(const struct health *before, const struct health *now,
		    struct verdict *verdict);

/*
 * Whether there is more memory of BOs than @before, by more than counts can be wrong that
 * each processor keeps: @now is @exact, or a quick look.
 */
bool health_grown(const struct health *before, const struct health *now, bool exact);

/*
 * The same after everything had time to go.  When the driver's own counters, the text of
 * its debugfs file or "", tell of as many BOs, it leaks and says so: that is for the tests
 * of the counters to judge, and this says false.  Else a pass becomes a failure.
 */
bool health_left(const struct health *before, const struct health *now, const char *counters,
		 struct verdict *verdict);

#endif /* AGATE_GRADER_HEALTH_H */
