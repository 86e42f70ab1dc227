/* SPDX-License-Identifier: MIT */
/*
 * The results of a run so far, and their file: agate/result/v1.
 */
#ifndef AGATE_GRADER_RESULT_H
#define AGATE_GRADER_RESULT_H

#include <pthread.h>

#include "decode.h"
#include "judge.h"
#include "lab.h"

#define RESULT_REMARKS	4

/* The kernels, in the order in which a test's failures are reported. */
enum flavour {
	FLAVOUR_FAST,
	FLAVOUR_DEBUG,
	FLAVOURS
};

/* One kernel's result for one test. */
struct outcome {
	bool there;
	bool held;		/* a pass that does not count yet */
	bool given_up;		/* one that never will: the run ended first */
	struct verdict verdict;
	bool placed;
	struct decode_place place;
	char where[300];	/* "FILE:LINE", or empty */
	struct decode_place inner;	/* where it went on from @place; its line 0: nowhere else */
	char freed[DECODE_FREED][400];	/* "FILE:LINE, in f()": the code that freed the memory */
	size_t freed_count;
};

struct result_lab {
	const struct lab *lab;
	bool *selected;			/* one for each test */
	struct outcome *outcomes[FLAVOURS];	/* one for each test */
	bool ran[FLAVOURS];		/* the run has this kernel */
	bool unboxed;			/* the files were compiled without a sandbox */
	double seconds;
	char remarks[RESULT_REMARKS][256];
	size_t remark_count;
};

struct result {
	pthread_mutex_t lock;		/* of all that is below, while labs run */
	uint64_t seed;
	char kernel[64];		/* "6.1.192 fast+debug" */
	bool complete;			/* no further verdict will come */
	struct result_lab *labs;
	size_t lab_count;
};

/* A test's result: that of the kernel on which it fails, or the worst if it fails on several. */
struct standing {
	enum verdict_status status;
	unsigned int points;
	/*
	 * NULL: the test did not run, or waits for a kernel.  VERDICT_NOT_RUN: the
	 * machine or Agate failed during it.
	 */
	const struct outcome *outcome;
	enum flavour flavour;		/* of @outcome */
};

bool result_init(struct result_lab *result, const struct lab *lab);
void result_free(struct result_lab *result);

/* Takes a verdict, and settles the passes that did not count yet. */
void result_take(struct result_lab *result, enum flavour flavour, size_t test,
		 const struct verdict *verdict);
/* Of these tests alone, or (NULL) of all. */
void result_seal(struct result_lab *result, enum flavour flavour, const bool *tests, bool counts);
/*
 * The run ends because of the machine or its user: passes that do not count yet become
 * VERDICT_NOT_RUN, for the reason @why.
 */
void result_give_up(struct result_lab *result, enum flavour flavour, const char *why);

/* True when no further verdict can change the test's result. */
bool result_settled(const struct result_lab *result, size_t test);
void result_standing(const struct result_lab *result, size_t test, struct standing *standing);
/* @max counts only the tests that ran. */
void result_score(const struct result_lab *result, unsigned int *score, unsigned int *max);
/* The reason why a test does not pass, in one line. */
void result_message(const struct standing *standing, bool hidden, char *text, size_t size);

/*
 * Writes the file: a reader finds either the whole old file or the whole new one.  False
 * with errno, or when two tests have the same id.
 */
bool result_write(const struct result *result, const char *path);

#endif /* AGATE_GRADER_RESULT_H */
