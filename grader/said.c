// SPDX-License-Identifier: MIT
/*
 * A driver's own lines in the log (said.h).
 */
#include "said.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

#define LINES_MAX	4
#define LINE_LEN	200

struct line {
	const char *text;
	size_t len;
};

static bool has(const struct line *line, const char *part)
{
	return memmem(line->text, line->len, part, strlen(part));
}

/*
 * Lines to skip: the grader's marks, those that come with every module or every probe (most
 * topics are absent in most labs; the kernel misses interconnects, which no lab has), and the end
 * of a probe in which a test called the driver again and again (ECANCELED).
 */
static bool is_told(const struct line *line)
{
	static const char *const wanted[] = { "agate 0000:", "agate: ", "driver agate ", "[drm:agate_" };
	static const char *const idle[] = {
		"agate-grade:", "taint", "Initialized agate", "features 0x",
		" is absent", "Error finding interconnect paths", "failed with error -125",
	};
	size_t i;

	for (i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		if (has(line, idle[i]))
			return false;
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (has(line, wanted[i]))
			return true;
	return false;
}

/* "[    1.234567] " and a "\r" at the end. */
static void strip(struct line *line)
{
	size_t n = 0;

	if (line->len && line->text[line->len - 1] == '\r')
		line->len--;
	if (line->len && line->text[0] == '[')
		n = 1 + strspn(line->text + 1, " 0123456789.");
	if (n > 1 && n + 1 < line->len && line->text[n] == ']' && line->text[n + 1] == ' ') {
		line->text += n + 2;
		line->len -= n + 2;
	}
}

void said_last(const char *console, size_t len, unsigned int lines, char *out, size_t size)
{
	struct line found[LINES_MAX] = { { 0 } }, line;
	char clean[LINE_LEN], named[LINE_LEN];
	size_t at, n, used = 0;
	unsigned int count = 0;

	lines = lines > LINES_MAX ? LINES_MAX : lines;
	/* From the end, so that a full log costs no more than its last lines. */
	for (at = len; at && count < lines;) {
		const char *begin;

		at -= console[at - 1] == '\n';
		begin = at ? memrchr(console, '\n', at) : NULL;
		n = begin ? (size_t)(begin + 1 - console) : 0;
		line = (struct line){ .text = console + n, .len = at - n };
		at = n;
		if (!is_told(&line))
			continue;
		strip(&line);
		if (count && line.len == found[count - 1].len &&
		    !memcmp(line.text, found[count - 1].text, line.len))
			continue;
		found[count++] = line;
	}
	out[0] = '\0';
	while (count && used < size) {
		line = found[--count];
		text_clean(clean, sizeof(clean), line.text, line.len);
		text_names(named, sizeof(named), clean);
		used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " | " : "", named);
	}
}
