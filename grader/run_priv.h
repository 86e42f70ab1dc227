/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the files of a run share: run.c has the kernels' threads, run_session.c
 * the guests' threads, run_verdict.c what becomes of a verdict.
 */
#ifndef AGATE_GRADER_RUN_PRIV_H
#define AGATE_GRADER_RUN_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "compose.h"
#include "run.h"
#include "run_order.h"
#include "run_parts.h"

struct run {
	const struct run_config *config;
	struct result *result;
	struct result_lab *lab;
	struct run_parts parts;
	char dir[RUN_PATH];		/* of this lab, in config->out */
	char result_path[RUN_PATH];
	pthread_mutex_t decode_lock;	/* one decoder at a time; debug_info */
	atomic_uint guests_started[FLAVOURS];
	atomic_bool debug_begun;	/* a guest of the debug kernel runs, or none will */
	/* result->lock protects all fields below. */
	size_t first_failed;		/* test, or SIZE_MAX */
	unsigned int done, all;		/* verdicts */
	bool failed;			/* the grader itself failed: error has the reason */
	bool unjudged;			/* there is no verdict on a test that ran: the same */
	char *error;
	uint64_t begun;
};

/* One guest at a time, in a thread of its own. */
struct lane {
	struct flavour_run *fr;
	pthread_t thread;
	bool started;
	bool first;			/* of its kernel */
	struct timing *timing;
	FILE *console_log, *test_log;
	enum lab_profile profile;	/* of the session that runs */
	uint64_t test_begun;		/* by timing_now() */
	const char *test;		/* that runs */
	enum session_end end;
	bool taken[LAB_TESTS];		/* the tests that are its own; result->lock */
};

/* The state of one kernel's thread. */
struct flavour_run {
	struct run *run;
	enum flavour flavour;
	pthread_t thread;
	bool started;
	struct compose driver, library;
	bool composed;			/* both have ended */
	bool broken;			/* and one did not do its work: */
	struct verdict why;
	struct decode_place place;
	char module[RUN_PATH], stripped[RUN_PATH], library_path[RUN_PATH];
	pthread_mutex_t parts_lock;	/* of driver, library, and the three before the paths */
	bool debug_info;		/* @module was asked for; run->decode_lock */
	struct lane lanes[LANES];
	bool paired;			/* two guests take its tests */
	struct run_order order;		/* took_ms: result->lock */
	enum session_end end;
};

/* run.c */
void run_fail(struct run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool run_has_failed(struct run *run);
/* Adds a line to the lab's remarks, unless it is there or there is no room. */
void run_remark(struct run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes the result file, and tells the progress.  The caller holds the lock. */
void run_publish(struct run *run);

/* run_session.c: waits for the parts of the driver. */
void run_await_parts(struct flavour_run *fr);
/* Runs all tests of this kernel, in one guest or in two. */
void run_sessions(struct flavour_run *fr);

/* run_verdict.c: a session's callback; the argument is a lane. */
void run_verdict(void *arg, size_t test, const struct verdict *verdict);

#endif /* AGATE_GRADER_RUN_PRIV_H */
