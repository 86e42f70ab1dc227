/* SPDX-License-Identifier: MIT */
/*
 * A test's hints, one after the other.  A file remembers in which of its cases the test
 * failed last, how many hints of that case were shown, and whether the last run ended before
 * the test.
 */
#ifndef AGATE_GRADER_HINT_H
#define AGATE_GRADER_HINT_H

#include <stdio.h>

#include "judge.h"
#include "lab.h"

/* The test's case to which this verdict belongs, numbered as by lab_case_of(). */
unsigned int hint_case(const struct lab_test *test, const struct verdict *verdict);

/* In place of a case: no hint is about this failure. */
#define HINT_NONE	(LAB_CASES + 1)

/*
 * The same, or HINT_NONE.  A test's own hints are about a failure that the test saw.  A
 * crash or a hang may have any other cause: only a case that matches it is about it.
 */
unsigned int hint_fitting(const struct lab_test *test, const struct verdict *verdict);

/*
 * Shows the next hint of a test; after the last one, that one again.  False with errno.
 * @results is the folder that hints call build/results.
 */
bool hint_show(const char *dir, const char *results, const struct lab *lab,
	       const struct lab_test *test, FILE *out);
/* The text of a hint, with that folder's name; the caller frees it.  NULL with errno. */
char *hint_text(const char *hint, const char *results);

/*
 * Remembers that the test failed in this case, or in none (HINT_NONE), and, if @shown, that
 * the report showed its first hint.
 */
bool hint_failed(const char *dir, const struct lab *lab, const struct lab_test *test,
		 unsigned int which, bool shown);
/* Remembers that the test could not begin: until it does, its hints are about nothing. */
bool hint_before(const char *dir, const struct lab *lab, const struct lab_test *test);
/* Forgets the test's last failure, which is mended: its next failure is a new one. */
bool hint_passed(const char *dir, const struct lab *lab, const struct lab_test *test);

#endif /* AGATE_GRADER_HINT_H */
