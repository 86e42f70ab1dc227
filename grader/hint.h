/* SPDX-License-Identifier: MIT */
/*
 * A test's hints, one after the other: how many were shown is remembered.
 */
#ifndef AGATE_GRADER_HINT_H
#define AGATE_GRADER_HINT_H

#include <stdio.h>

#include "lab.h"

/* Shows the next hint of a test; after the last, that again.  False with errno. */
bool hint_show(const char *dir, const struct lab *lab, const struct lab_test *test, FILE *out);

/* Remembers that the first was shown, unless more were. */
bool hint_first_shown(const char *dir, const struct lab *lab, const struct lab_test *test);

#endif /* AGATE_GRADER_HINT_H */
