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
struct macro;

struct macros {
	FILE *poison;
	void *by_name;		/* struct macro */
	void *by_path;		/* struct header */
	void *poisoned;		/* names that match a pattern */
	struct name *names;	/* the same, and the words that are no pattern */
	char *words_path;
	void *strings;		/* of the headers' macros, without their quotes */
	struct header *headers;
	struct macro *own;	/* what the file defines */
	bool defines;		/* the file has defined a macro */
	unsigned int markers;
	bool refused;
};

/* Opens the file for the words that the preprocessor has to report. */
void macros_begin(struct macros *m, const char *path);

/* A line of another file follows; @header is its path when it is a header's. */
void macros_marker(struct macros *m, const char *header);

/* "define NAME..." or "undef NAME", on line @line of @place; in a header @place is NULL. */
void macros_directive(struct macros *m, char *text, const char *place, unsigned int line);

/* A name in a line of a header: the preprocessor has to report it if a pattern means it. */
void macros_header_name(struct macros *m, const char *name);

/* True for a string, without its quotes, that stands in a macro of a header. */
bool macros_header_string(const struct macros *m, const char *text);

/*
 * True when @file defines a name that it must not define.  If a header was read after one of
 * its macros, the file @own gets them, "LINE NAME" each.
 */
bool macros_end(struct macros *m, const char *file, const char *own);

#endif /* AGATE_SCAN_MACROS_H */
