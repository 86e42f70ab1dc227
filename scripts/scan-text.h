/* SPDX-License-Identifier: MIT */
/*
 * The text of a lab's file, for agate-scan-source.
 */
#ifndef AGATE_SCAN_TEXT_H
#define AGATE_SCAN_TEXT_H

#include <stddef.h>

/* A character of the text after lines were spliced, and where it stands. */
struct character {
	char c;
	unsigned int line, column;
};

/* The text of a file, with a newline at its end; NULL when it cannot be read, or is too long. */
struct character *text_load(const char *path, size_t *length);

/* The same, as one string and as it stands there; there is room for one file. */
const char *text_lines(const char *path);

#endif /* AGATE_SCAN_TEXT_H */
