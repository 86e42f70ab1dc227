// SPDX-License-Identifier: MIT
/*
 * The text of a lab's file, with its lines spliced (scan-text.h).
 */
#include "scan-text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_LIMIT	(1u << 20)

/* The compiler also accepts a backslash with blanks after it. */
static size_t spliced(const char *raw, size_t len, size_t at)
{
	size_t i = at + 1;

	if (raw[at] != '\\')
		return 0;
	while (i < len && raw[i] && strchr(" \t\f\v", raw[i]))
		i++;
	i += i < len && raw[i] == '\r';
	return i < len && raw[i] == '\n' ? i + 1 - at : 0;
}

/* Reads all of a file: false when it has SIZE_LIMIT bytes or more. */
static bool read_all(const char *path, char *raw, size_t *len)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	*len = fread(raw, 1, SIZE_LIMIT, f);
	ok = !ferror(f) && feof(f);
	fclose(f);
	return ok;
}

struct character *text_load(const char *path, size_t *length)
{
	static char raw[SIZE_LIMIT];
	unsigned int line = 1, column = 1;
	struct character *text;
	size_t len, i = 0, n;

	if (!read_all(path, raw, &len))
		return NULL;
	/* One more: a newline that ends a line or comment that the file leaves open. */
	text = calloc(len + 1, sizeof(*text));
	if (!text)
		return NULL;
	*length = 0;
	/* A mark of the byte order is no part of the text. */
	if (len >= 3 && memcmp(raw, "\xef\xbb\xbf", 3) == 0)
		i = 3;
	while (i < len) {
		n = spliced(raw, len, i);
		if (n) {
			i += n;
			line++;
			column = 1;
			continue;
		}
		text[(*length)++] = (struct character){ raw[i], line, column++ };
		if (raw[i++] == '\n') {
			line++;
			column = 1;
		}
	}
	text[(*length)++] = (struct character){ '\n', line, column };
	return text;
}

const char *text_lines(const char *path)
{
	static char lines[SIZE_LIMIT + 1];
	size_t len;

	if (!read_all(path, lines, &len))
		return NULL;
	lines[len] = '\0';
	return lines;
}
