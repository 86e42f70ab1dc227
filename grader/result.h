/* SPDX-License-Identifier: MIT */
/*
 * What a run has found so far, and the file that tells it: agate/result/v1.
 */
#ifndef AGATE_GRADER_RESULT_H
#define AGATE_GRADER_RESULT_H

#include "decode.h"
#include "judge.h"
#include "lab.h"

#define RESULT_REMARKS	4

/* Which kernel; also the order in which a test's failures are told. */
enum flavour {
	FLAVOUR_FAST,
	FLAVOUR_DEBUG,
	FLAVOURS
};

/* What one kernel's guest had to say of one test. */
struct outcome {
	bool there;
	bool held;		/* a pass that does not count yet */
	struct verdict verdict;
	bool placed;
	struct decode_place place;
	char where[300];	/* "FILE:LINE", or empty */
	char freed[DECODE_FREED][400];	/* "FILE:LINE, in f()": who freed what is used */
	size_t freed_count;
};

struct result_lab {
	const struct lab *lab;
	bool *selected;			/* one for each test */
	struct outcome *outcomes[FLAVOURS];	/* one for each test */
	bool ran[FLAVOURS];		/* the run has this kernel */
	double seconds;
	char remarks[RESULT_REMARKS][256];
	size_t remark_count;
};

struct result {
	uint64_t seed;
	char kernel[64];		/* "6.1.192 fast+debug" */
	bool complete;			/* nothing more will come */
	struct result_lab *labs;
	size_t lab_count;
};

/* A test's result: that of the kernel it fails on, the worst if there are more. */
struct standing {
	enum verdict_status status;
	unsigned int points;
	/*
	 * NULL: it was not run, or waits for a kernel.  With VERDICT_NOT_RUN: the machine
	 * or Agate failed in it.
	 */
	const struct outcome *outcome;
	enum flavour flavour;		/* of @outcome */
};

bool result_init(struct result_lab *result, const struct lab *lab);
void result_free(struct result_lab *result);

/* Takes a verdict, and what becomes of the passes that were not yet counted. */
void result_take(struct result_lab *result, enum flavour flavour, size_t test,
		 const struct verdict *verdict);
void result_seal(struct result_lab *result, enum flavour flavour, bool counts);

/* Nothing more will change the test's standing. */
bool result_settled(const struct result_lab *result, size_t test);
void result_standing(const struct result_lab *result, size_t test, struct standing *standing);
/* @max counts only what ran. */
void result_score(const struct result_lab *result, unsigned int *score, unsigned int *max);
/* Why a test does not pass, in one line. */
void result_message(const struct standing *standing, bool hidden, char *text, size_t size);

/*
 * Writes the file: whoever looks finds the old one or the new one, whole.  False
 * with errno, or when two tests have one id.
 */
bool result_write(const struct result *result, const char *path);

#endif /* AGATE_GRADER_RESULT_H */
