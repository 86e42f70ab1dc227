/* SPDX-License-Identifier: MIT */
/*
 * The choices of the command line: whose files, which tests; and each choice as text.
 */
#ifndef AGATE_GRADER_CHOICE_H
#define AGATE_GRADER_CHOICE_H

#include "result.h"

/* These functions write the reason to @error when they find nothing. */

/* A folder with files to grade. */
bool choice_from(const char *from, char *error, size_t size);
/*
 * The same folder as a path for tools: short if possible, without "..", and such that no
 * tool can mistake it for an option, or for a file of options.  False with errno.
 */
bool choice_plain(const char *from, char *path, size_t size);
/* Is @out, the folder for the results, a path that all tools take? */
bool choice_out(const char *out, char *error, size_t size);
/*
 * Does a run that writes to @out stay clear of the files in @from?  Not when @out is @from
 * or a folder in it, and not when @from is in a lab's results in @out.
 */
bool choice_apart(const char *from, const char *out, char *error, size_t size);
/*
 * Selects the tests whose names match @glob (NULL: all) and whose steps are not above
 * @step (0: all steps).
 */
bool choice_tests(struct result *result, const char *glob, unsigned int step, char *error,
		  size_t size);
/* The test of that name; a lab's hidden tests have nothing to show. */
const struct lab_test *choice_test(const struct lab *lab, const char *name, char *error,
				   size_t size);

/* Appends " NAME=VALUE" to a command, with @value quoted so that a shell reads it as one word. */
void choice_append(char *command, size_t size, const char *name, const char *value);

#endif /* AGATE_GRADER_CHOICE_H */
