/* SPDX-License-Identifier: MIT */
/*
 * The operations on a guest that a session needs: guest_vm.c implements a real guest, and
 * the grader's own tests have canned ones.
 *
 * All calls for one guest come from one thread.  The callbacks are called from
 * within them.
 */
#ifndef AGATE_GRADER_GUEST_OPS_H
#define AGATE_GRADER_GUEST_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab.h"
#include "vm.h"

enum guest_status {
	GUEST_OK,
	GUEST_REFUSED,		/* PID 1 could not do it */
	GUEST_TIMEOUT,		/* no end within the limit; the guest is useless from now on */
	GUEST_CRASHED,		/* its kernel went down, as seen from outside */
	GUEST_LOST,		/* its stream just ended, or no longer came from PID 1 */
	GUEST_GONE,		/* the machine lost it: no sign that the code in it failed */
	GUEST_HOST,		/* a failure on the host's side: no verdict is possible */
	GUEST_STOPPED,		/* abandon() was called; the guest is useless from now on */
	GUEST_INTERRUPTED,	/* a user or a signal wants the grader to end */
};

enum guest_stream {
	GUEST_OUTPUT,
	GUEST_ERRORS,
	GUEST_REPORT,
};

/* Callbacks while a call runs. */
struct guest_events {
	void (*console)(void *arg, const char *text, size_t len);
	void *arg;
};

struct guest_run {
	const char *const *argv;	/* NULL-terminated */
	bool kept;			/* by a process forked from one that was started before */
	unsigned int limit_ms;
	size_t output_max;		/* of all streams together */
	/* May call ops->input(), ops->control() and ops->kill_gpu(). */
	void (*output)(void *arg, enum guest_stream stream, const char *data, size_t len);
	void *arg;
	/* out */
	bool signaled;
	int value;			/* the signal, or the exit status */
	bool timed_out;			/* and the console shows where the guest was */
	bool flooded;
};

struct guest_ops {
	/*
	 * Starts a fresh guest that is prepared, with its GPU plugged in; stops the previous one
	 * first.
	 */
	enum guest_status (*start)(void *ctx, enum lab_profile profile,
				   const struct vm_prepare *prepare,
				   const struct guest_events *events);
	void (*stop)(void *ctx);
	/*
	 * How many guests were started: the number of this one, also in the name of its
	 * GPU's log.
	 */
	unsigned int (*number)(void *ctx);
	enum guest_status (*put)(void *ctx, const char *host_path, const char *guest_path,
				 unsigned int mode);
	/* Reads at most @size bytes of a file; @len is the number of bytes read. */
	enum guest_status (*get)(void *ctx, const char *guest_path, void *data, size_t size,
				 size_t *len);
	enum guest_status (*run)(void *ctx, struct guest_run *run);
	/*
	 * The lines of the test's report that name rules and were not sent: at most @size
	 * bytes.  It also works when the guest hangs, or has crashed.
	 */
	size_t (*held)(void *ctx, const char *test, char *text, size_t size);
	/* Sends a line to the standard input of the program that runs. */
	enum guest_status (*input)(void *ctx, const char *data, size_t len);
	/* Writes @text to the kernel's log and waits until the console has it. */
	enum guest_status (*mark)(void *ctx, const char *text, unsigned int limit_ms);
	/* Reads the kernel's state: "KEY NUMBER" lines.  @exact takes longer. */
	enum guest_status (*health)(void *ctx, bool exact, char *text, size_t size, size_t *len);
	/*
	 * Sends one request to the GPU's control socket; the caller releases the answer.
	 * NULL: no answer.
	 */
	json_t *(*control)(void *ctx, const json_t *request);
	/*
	 * Called from a callback: no call for this guest waits any longer, until start()
	 * is called again.
	 */
	void (*abandon)(void *ctx);
	/* Kills the GPU's process; the guest lives on without it. */
	void (*kill_gpu)(void *ctx);
	/* How the GPU's process ended unasked; NULL if it did not. */
	const char *(*gpu_failed)(void *ctx);
	/* The file to which its GPU writes events; NULL: there is none. */
	const char *(*gpu_log)(void *ctx);
	/*
	 * After GUEST_GONE: what code in the guest may have done to QEMU, to follow "the
	 * guest's code"; NULL when the reason was another one.
	 */
	const char *(*guest_did)(void *ctx);
	/* What went wrong last, one line for a person. */
	const char *(*error)(void *ctx);
	/*
	 * The clock of a guest that was started, in nanoseconds: it never goes back, and
	 * stands still while the guest waits for a processor.  Time limits count by this
	 * clock.
	 */
	uint64_t (*now)(void *ctx);
	/* How long that clock has stood still, in nanoseconds. */
	uint64_t (*stood)(void *ctx);
	/* Has that clock reached @until?  Cheap enough to be called often. */
	bool (*past)(void *ctx, uint64_t until);
};

struct guest {
	const struct guest_ops *ops;
	void *ctx;
};

#endif /* AGATE_GRADER_GUEST_OPS_H */
