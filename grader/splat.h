/* SPDX-License-Identifier: MIT */
/*
 * Finds a kernel's error reports in its console's text and explains them.
 */
#ifndef AGATE_GRADER_SPLAT_H
#define AGATE_GRADER_SPLAT_H

#include <stdbool.h>
#include <stddef.h>

enum splat_kind {
	SPLAT_NONE,
	SPLAT_OOPS,		/* bad pointer, general protection, BUG() */
	SPLAT_PANIC,		/* without a more informative report before it */
	SPLAT_KASAN,
	SPLAT_UBSAN,
	SPLAT_WARNING,		/* WARN() */
	SPLAT_REFCOUNT,
	SPLAT_LIST,		/* list corruption */
	SPLAT_LOCKDEP,
	SPLAT_SLEEP,		/* sleeping in atomic context, scheduling while atomic */
	SPLAT_DMA_API,
	SPLAT_OBJECTS,		/* DEBUG_OBJECTS, freed lock still held, and so on */
	SPLAT_LEAK,		/* objects left in a slab cache, drm_mm not clean, kmemleak */
	SPLAT_HUNG_TASK,	/* also: a task that sysrq found waiting */
	SPLAT_LOCKUP,		/* a CPU that is stuck */
	SPLAT_OTHER,
};

#define SPLAT_FRAMES	48
#define SPLAT_FREED	6

/* One line of a trace: SYMBOL+0xOFFSET/0xSIZE, with [agate] when it belongs to the module. */
struct splat_frame {
	char symbol[80];
	unsigned long offset;
	unsigned long size;
	bool module;
	bool exact;		/* the place itself, not a return address */
};

struct splat {
	enum splat_kind kind;
	size_t begin;		/* of the report in the text, bytes */
	size_t end;
	bool timed;		/* a watchdog's: a busy host can cause it as well */
	bool maybe_freed;	/* memory that was freed too early is a likely cause */
	char headline[256];	/* its first line, without time stamp */
	const char *rule;	/* see splat_rule() */
	struct splat_frame frames[SPLAT_FRAMES];
	size_t frame_count;
	/* The module's frames in the trace that freed the memory, if that is another trace. */
	struct splat_frame freed[SPLAT_FREED];
	size_t freed_count;
};

/*
 * Finds the most informative report in @text; of several that belong together (KASAN,
 * then the oops that follows from it), the first.  False when there is none.
 *
 * The frames are those of the trace that leads to the module: where memory was
 * touched, or else where it was freed; where a lock was taken last; where a leftover
 * object was made; the CPU that spins in the module, or else the task that waits there.
 */
bool splat_find(const char *text, size_t len, struct splat *splat);

/*
 * The same without the reports of the kernel's watchdogs: those of stalls, lockups and
 * hung tasks.  Their clock goes on while the host has no processor for the guest, so
 * alone they prove nothing.
 */
bool splat_find_untimed(const char *text, size_t len, struct splat *splat);

/* The kind as one word for the result file, and the broken rule as a sentence. */
const char *splat_name(enum splat_kind kind);
const char *splat_rule(const struct splat *splat);

/*
 * If @splat shows somebody who waits for a lock: a task of the guest that the kernel's list of
 * blocked tasks in @text shows asleep in the module, for something that is no lock.
 */
bool splat_sleeper(const struct splat *splat, const char *text, size_t len, char *out,
		   size_t size);

#endif /* AGATE_GRADER_SPLAT_H */
