/* SPDX-License-Identifier: MIT */
/*
 * A test's hints, one after the other.  A file remembers in which of its cases the test
 * failed last, and how many hints of that case were shown.
 */
#ifndef AGATE_GRADER_HINT_H
#define AGATE_GRADER_HINT_H

#include <stdio.h>

#include "judge.h"
#include "lab.h"

/* The test's case to which this verdict belongs, numbered as by lab_case_of(). */
unsigned int hint_case(const struct lab_test *test, const struct verdict *verdict);

/* Shows the next hint of a test; after the last one, that one again.  False with errno. */
bool hint_show(const char *dir, const struct lab *lab, const struct lab_test *test, FILE *out);

/*
 * Remembers that the test failed in this case and, if @shown, that the report showed its
 * first hint.
 */
bool hint_failed(const char *dir, const struct lab *lab, const struct lab_test *test,
		 unsigned int which, bool shown);

#endif /* AGATE_GRADER_HINT_H */
