/* SPDX-License-Identifier: MIT */
/*
 * From what was seen of one test to a verdict on it.
 *
 * The verdict is a function of the evidence and of nothing else.  All of the
 * evidence but what the launcher and the simulator say was written by a guest
 * whose kernel runs the code under test, so nothing in it is believed that is
 * not exactly as it has to be (README.md, "What a pass is").
 */
#ifndef AGATE_GRADER_JUDGE_H
#define AGATE_GRADER_JUDGE_H

#include "agate_regs.h"
#include "guest.h"
#include "lab.h"
#include "splat.h"

#define NONCE_DIGITS	32
#define JUDGE_NOTES	8

enum verdict_status {
	VERDICT_NOT_RUN,	/* the machine or Agate was in the way, and @seen is how */
	VERDICT_PASS,
	VERDICT_FAIL,
	VERDICT_TIMEOUT,
	VERDICT_CRASH,
};

struct evidence {
	const struct lab_test *test;
	const char *nonce;		/* as it was sent with GO */
	int64_t params[LAB_PARAMS];	/* as they were sent, in the test's order */

	enum guest_status end;		/* how the launcher saw the test end */
	bool signaled;
	int value;
	bool timed_out;
	unsigned int limit_ms;
	bool flooded;			/* it wrote more than it may */
	bool marked;			/* and afterwards the mark was on the console */
	const char *gpu_failed;		/* how its process ended, or failed a request; NULL: not */

	const char *report;
	size_t report_len;
	size_t report_at_go;		/* how much of it had come when GO was sent */
	bool went;			/* GO was sent */
	const char *output;
	size_t output_len;

	const char *console;		/* what the kernel said from the test's start to its mark */
	size_t console_len;
	size_t console_at_limit;	/* how much of it before the time was up */
	bool console_flooded;		/* that was more than it may be, and not waited for */

	const char *gpu_log;		/* what the GPU's event log got from GO on */
	size_t gpu_log_len;

	bool counted;			/* the simulator answered, before and after */
	uint64_t before[AGATE_CNT_COUNT];
	uint64_t after[AGATE_CNT_COUNT];
};

struct verdict {
	enum verdict_status status;
	char rule[512];			/* a sentence; empty when there is none to name */
	char expected[512];
	char seen[512];
	char notes[JUDGE_NOTES][256];	/* remarks that cost nothing */
	size_t note_count;
	char said[400];			/* the driver, last, in the kernel's log */
	bool hinted;			/* @seen is the GPU's words, and nothing else */
	char gpu[512];			/* the rules that the GPU saw broken; not if that was meant */
	char log[1100];			/* which log has more; empty: the test's */
	struct splat splat;		/* what the kernel said; kind SPLAT_NONE: nothing */
	bool flooded;			/* the driver filled the kernel's log */
	bool before;			/* the reason is older than the test: no hint of it helps */
};

/* For a driver that prints without end, wherever it does. */
extern const char judge_flood_rule[], judge_flood_wish[];

void judge(const struct evidence *evidence, struct verdict *verdict);

/* Makes it one that is not a pass, for a reason that is not the test's own. */
void verdict_set(struct verdict *verdict, enum verdict_status status, const char *rule,
		 const char *expected, const char *seen_fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* The status as the result file has it. */
const char *verdict_word(enum verdict_status status);

#endif /* AGATE_GRADER_JUDGE_H */
