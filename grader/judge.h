/* SPDX-License-Identifier: MIT */
/*
 * Derives the verdict on one test from the evidence.
 *
 * The verdict depends on the evidence alone.  Except for the reports of the launcher and
 * the simulator, all evidence comes from a guest whose kernel runs the code under test,
 * so the grader accepts it only if it is exactly as it has to be (README.md, "What a pass
 * is").
 */
#ifndef AGATE_GRADER_JUDGE_H
#define AGATE_GRADER_JUDGE_H

#include "agate_regs.h"
#include "guest_ops.h"
#include "lab.h"
#include "splat.h"

#define NONCE_DIGITS	32
#define JUDGE_NOTES	8

enum verdict_status {
	VERDICT_NOT_RUN,	/* the machine or Agate failed, and @seen tells how */
	VERDICT_PASS,
	VERDICT_FAIL,
	VERDICT_TIMEOUT,
	VERDICT_CRASH,
};

struct evidence {
	const struct lab_test *test;
	const char *nonce;		/* as it was sent with GO */
	int64_t params[LAB_PARAMS];	/* as they were sent, in the test's order */

	enum guest_status end;		/* how the test ended, as the launcher saw it */
	bool signaled;
	int value;
	bool timed_out;
	unsigned int limit_ms;
	bool flooded;			/* it wrote more than the limit */
	bool marked;			/* and after that the console had the mark */
	const char *gpu_failed;		/* how its process ended, or failed a request; NULL:
					 * neither */

	const char *report;
	size_t report_len;
	size_t report_at_go;		/* how many bytes of it had come when GO was sent */
	bool went;			/* GO was sent */
	const char *output;
	size_t output_len;

	const char *console;		/* the kernel's output from the test's start to its mark */
	size_t console_len;
	size_t console_at_limit;	/* how many bytes of it came before the time limit */
	bool console_flooded;		/* it exceeded its limit, so nobody waited for the rest */

	const char *gpu_log;		/* the part of the GPU's event log from GO on */
	size_t gpu_log_len;

	bool counted;			/* the simulator answered before and after the test */
	uint64_t before[AGATE_CNT_COUNT];
	uint64_t after[AGATE_CNT_COUNT];
};

struct verdict {
	enum verdict_status status;
	char rule[512];			/* a sentence; empty if no rule can be named */
	char about[1024];		/* what the test shows, and its own rule, where @rule is
					 * one of the kernel */
	char expected[512];
	char seen[512];
	char notes[JUDGE_NOTES][256];	/* remarks that cost nothing */
	size_t note_count;
	char said[400];			/* the driver's last lines in the kernel's log */
	bool hinted;			/* @seen consists of the GPU's hints alone */
	char gpu[512];			/* the rules that the driver broke; empty if the test
					 * provoked it */
	char log[1100];			/* the log with the details; empty: the test's */
	struct splat splat;		/* the kernel's report; kind SPLAT_NONE: none */
	bool flooded;			/* the driver filled the kernel's log */
	bool before;			/* the cause is older than the test: none of its hints
					 * helps */
};

/* For a driver that never stops printing, wherever it does so. */
extern const char judge_flood_rule[], judge_flood_wish[];

void judge(const struct evidence *evidence, struct verdict *verdict);

/* Turns the verdict into one that is not a pass, for a reason outside the test. */
void verdict_set(struct verdict *verdict, enum verdict_status status, const char *rule,
		 const char *expected, const char *seen_fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* The status's name in the result file. */
const char *verdict_word(enum verdict_status status);

#endif /* AGATE_GRADER_JUDGE_H */
