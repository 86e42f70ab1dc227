/* SPDX-License-Identifier: MIT */
/*
 * A session: the tests of one lab on one kernel with one profile.
 *
 * They run in one guest as long as it is sound.  After a crash, a hang, a report of the
 * kernel or the end of a stream, the session replaces the guest and runs the remaining
 * tests there.  After a plain failure it loads the module anew, or replaces the guest if
 * tests load the module themselves, so that the leftovers of one test cannot fail
 * another.
 *
 * A run in which the machine failed is void: the test runs again in another guest.
 */
#ifndef AGATE_GRADER_SESSION_H
#define AGATE_GRADER_SESSION_H

#include <stdio.h>

#include "guest_ops.h"
#include "judge.h"
#include "timing.h"

enum session_end {
	SESSION_DONE,
	SESSION_HOST,		/* the grader cannot go on; failed() got the reason */
	SESSION_INTERRUPTED,
};

/* The files for the guest: paths on the host. */
struct session_files {
	const char *program;
	const char *module;	/* without debug information */
	const char *inject;	/* NULL: there is none */
	const char *library;	/* NULL: none is needed */
};

struct session {
	const struct lab *lab;
	enum lab_kernel kernel;
	enum lab_profile profile;
	uint64_t seed;
	double scale;		/* of time limits */
	const struct guest *guest;
	struct session_files files;
	FILE *console_log;	/* or NULL */
	FILE *test_log;		/* or NULL */
	struct timing *timing;	/* or NULL */
	const size_t *order;	/* in which the tests run; NULL: the lab's */

	/* Has the test to run?  Called when its turn comes. */
	bool (*wanted)(void *arg, size_t test);
	/*
	 * Takes a wanted test that is about to run or to get a verdict.  False: another session
	 * has it, and it is not wanted here any more.  NULL: there is no other session.
	 */
	bool (*take)(void *arg, size_t test);
	/*
	 * Waits until the module's file exists.  If it cannot be built: false, and @why
	 * is the verdict on every test.
	 */
	bool (*module)(void *arg, struct verdict *why);
	/* True while the module is being built; NULL: never. */
	bool (*building)(void *arg);
	/* A guest takes requests from now on.  NULL: nobody asks. */
	void (*up)(void *arg);
	/* A test begins, and may take so long; or (NULL) it has ended.  NULL: nobody asks. */
	void (*task)(void *arg, const char *test, unsigned int limit_ms);
	/*
	 * A verdict.  A pass does not count yet, and the test runs again when the machine
	 * loses the guest.  VERDICT_NOT_RUN: the machine, or Agate, failed, which says
	 * nothing about the student's work.
	 */
	void (*verdict)(void *arg, size_t test, const struct verdict *verdict);
	/*
	 * The guest ended: the passes since the last call count if it has its end record,
	 * or else are void.  Not called when the machine lost the guest, when the grader
	 * failed, or after an interrupt: these say nothing about the student's work.
	 */
	void (*sealed)(void *arg, bool counts);
	/* The reason why the remaining tests have no verdict. */
	void (*failed)(void *arg, const char *why);
	/* A remark that costs no points. */
	void (*remark)(void *arg, const char *text);
	void *arg;
};

enum session_end session_run(const struct session *session);

#endif /* AGATE_GRADER_SESSION_H */
