/* SPDX-License-Identifier: MIT */
/*
 * A test's hints, one after the other.  Which of its cases it failed in last, and how
 * many hints of that case were shown, is remembered.
 */
#ifndef AGATE_GRADER_HINT_H
#define AGATE_GRADER_HINT_H

#include <stdio.h>

#include "judge.h"
#include "lab.h"

/* Which of the test's cases this verdict is, as lab_case_of() numbers them. */
unsigned int hint_case(const struct lab_test *test, const struct verdict *verdict);

/* Shows the next hint of a test; after the last, that again.  False with errno. */
bool hint_show(const char *dir, const struct lab *lab, const struct lab_test *test, FILE *out);

/*
 * Remembers that the test failed in this case, and, when @shown, that the report had
 * its first hint.
 */
bool hint_failed(const char *dir, const struct lab *lab, const struct lab_test *test,
		 unsigned int which, bool shown);

#endif /* AGATE_GRADER_HINT_H */
