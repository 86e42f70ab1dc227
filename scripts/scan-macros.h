/* SPDX-License-Identifier: MIT */
/*
 * The macros that a lab's file and the headers define, for agate-scan-expanded.
 *
 * Messages about the file's macros go to standard output.  A failure of the machine ends
 * the program.
 */
#ifndef AGATE_SCAN_MACROS_H
#define AGATE_SCAN_MACROS_H

#include <stdbool.h>
#include <stdio.h>

struct header;

struct macros {
	FILE *poison;
	void *by_name;		/* struct macro */
	void *by_path;		/* struct header */
	struct header *headers;
	bool defines;		/* the file has defined a macro */
	unsigned int markers;
	bool refused;
};

/* Opens the file for the words that the preprocessor has to report. */
void macros_begin(struct macros *m, const char *poison);

/* A line of another file follows; @header is its path when it is a header's. */
void macros_marker(struct macros *m, const char *header);

/* "define NAME..." or "undef NAME", on line @line of @place; in a header @place is NULL. */
void macros_directive(struct macros *m, char *text, const char *place, unsigned int line);

/* True when the file defines a name that it must not define. */
bool macros_end(struct macros *m);

#endif /* AGATE_SCAN_MACROS_H */
