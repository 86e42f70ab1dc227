/* SPDX-License-Identifier: MIT */
/*
 * The state of a guest's kernel, which PID 1 reads from the kernel's own files: whether
 * its checks are still active, and how much memory is left.
 *
 * The driver shares ring 0 with all of this, so it is not a proof; but a driver that
 * switches a check off, or miscounts the memory that it keeps, has to forge this as well.
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
	uint32_t has;		/* bit n: the kernel gave key n */
};

/* Reads "KEY NUMBER" lines.  False for any other text, or when a key comes twice. */
bool health_parse(struct health *health, const char *text, size_t len);

/*
 * Is a check inactive that was active before?  Then a pass becomes a failure, and any
 * verdict gets a note.
 */
bool health_blinded(const struct health *before, const struct health *now,
		    struct verdict *verdict);

/*
 * Do BOs hold more memory than @before, by more than the error of the counts that each
 * processor keeps?  @now is @exact, or a quick look.
 */
bool health_grown(const struct health *before, const struct health *now, bool exact);

/*
 * The same after all memory had time to be freed.  When the driver's own counters (the
 * text of its debugfs file, or "") show as many BOs, the driver leaks but does not hide
 * it: the tests of the counters judge that, and this returns false.  Otherwise a pass
 * becomes a failure.
 */
bool health_left(const struct health *before, const struct health *now, const char *counters,
		 struct verdict *verdict);

#endif /* AGATE_GRADER_HEALTH_H */
