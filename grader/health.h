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
 * Does a quick look show more memory of BOs than @before, by more than the error of such a
 * look?
 */
bool health_grown(const struct health *before, const struct health *now);

/*
 * Does an exact look show more memory of BOs than @before and than the driver counts?
 * @counters is the text of the driver's debugfs file, or "", from before that look.  When the
 * driver counts as many BOs, it leaks but does not hide it: the tests of the counters judge
 * that.  A pass then becomes a failure; with NULL for @verdict nothing changes.
 */
bool health_left(const struct health *before, const struct health *now, const char *counters,
		 struct verdict *verdict);

/* Takes what is less now over into @lowest; true when memory that BOs held was freed since. */
bool health_lower(struct health *lowest, const struct health *now);

#endif /* AGATE_GRADER_HEALTH_H */
