/* SPDX-License-Identifier: MIT */
/*
 * A run of one lab, on one kernel or on two at the same time.  Labs may run side by side.
 */
#ifndef AGATE_GRADER_RUN_H
#define AGATE_GRADER_RUN_H

#include <stdatomic.h>

#include "result.h"
#include "session.h"

#define RUN_ERROR	1024
#define RUN_PATH	1024
/* Guests of one kernel at a time, at most. */
#define LANES		2

struct run_config {
	const char *build;		/* the folder with the built programs and kernels */
	const char *labs;		/* the folder of labs */
	const char *from;		/* the files to grade: this folder holds NN-topic/FILE */
	const char *out;		/* the folder for the result, logs and modules */
	const char *glob;		/* which tests, or NULL: all */
	bool debug;
	bool chain;			/* use the earlier labs' files from there, too */
	bool stop_on_fail;
	unsigned int guests;		/* of one kernel at the same time, at most; 0 is 1 */
	double scale;			/* factor for time limits on this machine */
	int interrupt_fd;		/* readable when the run has to end, or -1 */

	const char *compose_driver;	/* the scripts */
	const char *compose_library;
	const char *debug_info;		/* makes agate.ko, or NULL: it is there */
	/*
	 * Create and destroy a guest of one kernel, for the calling thread.  @started counts the
	 * guests of this kernel and lab.
	 */
	bool (*guest)(const struct run_config *config, enum flavour flavour, uint64_t seed,
		      const char *gpu_log, atomic_uint *started, struct guest *guest);
	void (*guest_done)(struct guest *guest);
	/* A test begins on a kernel, and may take so long; or (NULL) it has ended.  Any thread. */
	void (*task)(const char *lab, enum flavour flavour, const char *test,
		     unsigned int limit_ms);
	/* Called first, and after each verdict, from any thread, under the result's lock. */
	void (*progress)(const struct result_lab *lab, unsigned int done, unsigned int all);
};

enum run_end {
	RUN_DONE,
	RUN_UNJUDGED,		/* the run is done, but the machine left tests without a verdict */
	RUN_HOST,
	RUN_INTERRUPTED,
};

extern const char *const flavour_names[FLAVOURS];

/* Joins the pieces of a path; false when it gets too long. */
bool run_path(char path[RUN_PATH], const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Grades @result->labs[@index], whose tests are selected, and writes the result file after
 * each verdict.  @timing has one for each guest of each flavour.  Other threads may run
 * other labs of @result meanwhile.
 */
enum run_end run_lab(const struct run_config *config, struct result *result, size_t index,
		     struct timing timing[FLAVOURS][LANES], char error[RUN_ERROR]);

#endif /* AGATE_GRADER_RUN_H */
