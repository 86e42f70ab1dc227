/* SPDX-License-Identifier: MIT */
/*
 * A session: the tests of one lab on one kernel with one profile.
 *
 * They run in one guest as long as it is sound.  After a crash, a hang, anything
 * that the kernel reports or a stream that ends, the guest is replaced and the
 * tests that are left go on there; after a plain failure the module is loaded
 * anew, or the guest is replaced where tests load it themselves, so that what one test
 * leaves behind costs no other one.
 *
 * A run in which the machine failed is void: the test runs again in another guest.
 */
#ifndef AGATE_GRADER_SESSION_H
#define AGATE_GRADER_SESSION_H

#include <stdio.h>

#include "guest.h"
#include "judge.h"
#include "timing.h"

enum session_end {
	SESSION_DONE,
	SESSION_HOST,		/* the grader cannot go on; failed() was told why */
	SESSION_INTERRUPTED,
};

/* What is delivered to the guest: paths on the host. */
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

	/* Whether a test is to run; asked when it would be its turn. */
	bool (*wanted)(void *arg, size_t test);
	/*
	 * Waits until the module's file is there.  When it cannot be had: false, and
	 * @why is the verdict on every test.
	 */
	bool (*module)(void *arg, struct verdict *why);
	/*
	 * A verdict.  A pass does not count yet, and the test runs again when the machine
	 * loses the guest.  VERDICT_NOT_RUN: the machine, or Agate, failed, and nothing is
	 * known of the student's work.
	 */
	void (*verdict)(void *arg, size_t test, const struct verdict *verdict);
	/* The guest has its end record: passes since the last call count, or they are void. */
	void (*sealed)(void *arg, bool counts);
	/* Why there is no verdict on what is left. */
	void (*failed)(void *arg, const char *why);
	/* Something to tell that costs no points. */
	void (*remark)(void *arg, const char *text);
	void *arg;
};

enum session_end session_run(const struct session *session);

#endif /* AGATE_GRADER_SESSION_H */
