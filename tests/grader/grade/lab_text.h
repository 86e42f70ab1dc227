/* SPDX-License-Identifier: MIT */
/*
 * Labs for tests: a correct lab.json, and files with given texts.
 */
#ifndef AGATE_TESTS_LAB_TEXT_H
#define AGATE_TESTS_LAB_TEXT_H

#include "lab.h"

/* A folder of this process, removed with its contents when the process ends. */
const char *scratch_dir(void);
/* Writes a file there, and creates the folders in @name; returns its path. */
const char *scratch_file(const char *name, const char *text);
/* A path there. */
const char *scratch_path(const char *name);

/* The description of lab 07-x with these tests (a JSON array). */
json_t *lab_text(const char *tests);
/* The same, with each test given by its name; all give the same points. */
struct lab *lab_of(const char *const *names);
/* ... with more keys for every test, as a JSON object. */
struct lab *lab_with(const char *const *names, const char *more);
/* Writes and loads it; fails the test when it is not valid. */
struct lab *lab_from(json_t *json);

#endif /* AGATE_TESTS_LAB_TEXT_H */
