/* SPDX-License-Identifier: MIT */
/*
 * Labs for tests: a lab.json that is right, and files to put texts into.
 */
#ifndef AGATE_TESTS_LAB_TEXT_H
#define AGATE_TESTS_LAB_TEXT_H

#include "lab.h"

/* A folder of this process, removed with all in it when it ends. */
const char *scratch_dir(void);
/* Writes a file there; @name may have folders in it, which are made.  Its path. */
const char *scratch_file(const char *name, const char *text);
/* A path there. */
const char *scratch_path(const char *name);

/* The description of lab 07-x with these tests (a JSON array). */
json_t *lab_text(const char *tests);
/* The same, with each test given as a name; all are worth the same. */
struct lab *lab_of(const char *const *names);
/* ... with more keys for every test, as a JSON object. */
struct lab *lab_with(const char *const *names, const char *more);
/* Written and loaded; fails the test when it is not right. */
struct lab *lab_from(json_t *json);

#endif /* AGATE_TESTS_LAB_TEXT_H */
