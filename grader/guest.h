/* SPDX-License-Identifier: MIT */
/*
 * What a session needs of a guest: guest_vm.c has the real one, the grader's own
 * tests have canned ones.
 *
 * All calls for one guest come from one thread.  The callbacks are called from
 * within them.
 */
#ifndef AGATE_GRADER_GUEST_H
#define AGATE_GRADER_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab.h"

enum guest_status {
	GUEST_OK,
	GUEST_REFUSED,		/* PID 1 could not do it */
	GUEST_TIMEOUT,		/* no end within the limit; the guest is of no more use */
	GUEST_CRASHED,		/* its kernel went down, seen from outside */
	GUEST_LOST,		/* its stream just ended, or was not PID 1's any more */
	GUEST_GONE,		/* the machine lost it: that says nothing of what ran in it */
	GUEST_HOST,		/* something on this side: no verdict can come of it */
	GUEST_STOPPED,		/* abandon() was called; the guest is of no more use */
	GUEST_INTERRUPTED,	/* somebody wants the grader to end */
};

enum guest_stream {
	GUEST_OUTPUT,
	GUEST_ERRORS,
	GUEST_REPORT,
};

/* What is told while calls run. */
struct guest_events {
	void (*console)(void *arg, const char *text, size_t len);
	void *arg;
};

struct guest_run {
	const char *const *argv;	/* NULL-terminated */
	unsigned int limit_ms;
	size_t output_max;		/* of all streams together */
	/* May call ops->input(), ops->control() and ops->kill_gpu(). */
	void (*output)(void *arg, enum guest_stream stream, const char *data, size_t len);
	void *arg;
	/* out */
	bool signaled;
	int value;			/* the signal, or the exit status */
	bool timed_out;			/* and the console says where the guest was */
	bool flooded;
};

struct guest_ops {
	/* A fresh guest with its GPU plugged in; the one before is stopped first. */
	enum guest_status (*start)(void *ctx, enum lab_profile profile,
				   const struct guest_events *events);
	void (*stop)(void *ctx);
	/* How many were started: the number of this one, also in the name of its GPU's log. */
	unsigned int (*number)(void *ctx);
	enum guest_status (*put)(void *ctx, const char *host_path, const char *guest_path,
				 unsigned int mode);
	/* At most @size bytes of a file; @len says how many there were. */
	enum guest_status (*get)(void *ctx, const char *guest_path, void *data, size_t size,
				 size_t *len);
	enum guest_status (*run)(void *ctx, struct guest_run *run);
	/* For the program that runs: a line on its standard input. */
	enum guest_status (*input)(void *ctx, const char *data, size_t len);
	/* Has @text written to the kernel's log and waits until the console had it. */
	enum guest_status (*mark)(void *ctx, const char *text, unsigned int limit_ms);
	/* How its kernel is: "KEY NUMBER" lines.  @exact takes longer. */
	enum guest_status (*health)(void *ctx, bool exact, char *text, size_t size, size_t *len);
	/*
	 * One request to the GPU's control socket; the caller releases the answer.
	 * NULL when there is none.
	 */
	json_t *(*control)(void *ctx, const json_t *request);
	/* From a callback: no call for this guest waits any longer, until it is started anew. */
	void (*abandon)(void *ctx);
	/* Ends the GPU's process at once; the guest lives on without. */
	void (*kill_gpu)(void *ctx);
	/* How the GPU's process ended when nobody asked for it; NULL: it did not. */
	const char *(*gpu_failed)(void *ctx);
	/* The file that its GPU writes events to; NULL: there is none. */
	const char *(*gpu_log)(void *ctx);
	/* What went wrong last, one line for a person. */
	const char *(*error)(void *ctx);
	/*
	 * Of a guest that was started: a clock that never goes back, in nanoseconds, and
	 * stands still while the guest waits for a processor.  Limits are told by it.
	 */
	uint64_t (*now)(void *ctx);
	/* How long that clock has stood still, in nanoseconds. */
	uint64_t (*stood)(void *ctx);
	/* Is it @until by that clock?  For where it is asked often. */
	bool (*past)(void *ctx, uint64_t until);
};

struct guest {
	const struct guest_ops *ops;
	void *ctx;
};

#endif /* AGATE_GRADER_GUEST_H */
