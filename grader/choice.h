/* SPDX-License-Identifier: MIT */
/*
 * What the command line chooses: whose files, which tests; and that choice as text.
 */
#ifndef AGATE_GRADER_CHOICE_H
#define AGATE_GRADER_CHOICE_H

#include "result.h"

/* These say why in @error when they find nothing. */

/* A folder to grade the files of. */
bool choice_from(const char *from, char *error, size_t size);
/*
 * The same folder as a path for tools: short where it can be, without "..", and nothing
 * that could be taken for an option, or for a file of options.  False with errno.
 */
bool choice_plain(const char *from, char *path, size_t size);
/*
 * Selects the tests whose names fit @glob (NULL: all do), and of those the ones of the
 * steps up to @step (0: all steps).
 */
bool choice_tests(struct result *result, const char *glob, unsigned int step, char *error,
		  size_t size);
/* The one test of that name; a lab's hidden ones have nothing to show. */
const struct lab_test *choice_test(const struct lab *lab, const char *name, char *error,
				   size_t size);

/* Appends " NAME=VALUE" to a command, @value as a shell takes it for one word. */
void choice_append(char *command, size_t size, const char *name, const char *value);

#endif /* AGATE_GRADER_CHOICE_H */
