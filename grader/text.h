/* SPDX-License-Identifier: MIT */
/*
 * Text that somebody else wrote, before a person or a file gets it.
 */
#ifndef AGATE_GRADER_TEXT_H
#define AGATE_GRADER_TEXT_H

#include <stddef.h>

/*
 * Copies at most @size - 1 bytes of @text to @out: well-formed UTF-8, without
 * control characters and without those that change the direction of writing.
 * What is not becomes a question mark.  No character is cut in two.
 */
void text_clean(char *out, size_t size, const char *text, size_t len);

#endif /* AGATE_GRADER_TEXT_H */
