/* SPDX-License-Identifier: MIT */
/*
 * Cleans text from elsewhere before a person or a file gets it.
 */
#ifndef AGATE_GRADER_TEXT_H
#define AGATE_GRADER_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Copies at most @size - 1 bytes of @text to @out: well-formed UTF-8, without control
 * characters and without those that change the direction of writing.  A question mark
 * replaces everything else.  No character is cut in two.
 */
void text_clean(char *out, size_t size, const char *text, size_t len);

/*
 * Writes @text to a log that people read in a terminal: lines and tabs stay, another control
 * character becomes visible ("^["), and a question mark replaces everything else as above.
 */
void text_write(FILE *log, const char *text, size_t len);

/*
 * Copies @text and adds names to the numbers that have them: "errno 28" is written
 * "ENOSPC (28)", "signal 11" "SIGSEGV (11)", and a driver's ": -28" ": -28 (ENOSPC)".
 */
void text_names(char *out, size_t size, const char *text);

#endif /* AGATE_GRADER_TEXT_H */
