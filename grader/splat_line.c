// SPDX-License-Identifier: MIT
/*
 * Lines of a console, and the frames in them.  The text comes from a guest in
 * which anything may have gone wrong: so the code never reads beyond its end.
 */
#include <string.h>

#include "splat_priv.h"

/* The rest of longer lines is not needed here. */
#define LINE_MAX_LEN	1024

/* "[ 12.345678] ", and "[ T12] " after it if the kernel prints the caller. */
static size_t stamp_len(const char *text, size_t len)
{
	size_t at = 1;

	if (len < 4 || text[0] != '[')
		return 0;
	while (at < len && (text[at] == ' ' || text[at] == '.' || text[at] == 'T' ||
			    text[at] == 'C' || (text[at] >= '0' && text[at] <= '9')))
		at++;
	if (at + 1 >= len || text[at] != ']' || at == 1)
		return 0;
	at++;
	return text[at] == ' ' ? at + 1 : at;
}

/*
 * Since Linux 6.10 the header of every oops begins with "Oops: ", which used to be only
 * that of a page fault: "Oops: 0002 [#1]".  Without the word the lines are those of before.
 */
static size_t oops_len(const char *text, size_t len)
{
	static const char word[] = "Oops: ";
	size_t n = sizeof(word) - 1;

	if (len <= n || memcmp(text, word, n) != 0 || (text[n] >= '0' && text[n] <= '9'))
		return 0;
	return n;
}

bool splat_line_at(const char *text, size_t len, size_t at, struct splat_line *line)
{
	const char *end;
	size_t skip;

	if (at >= len)
		return false;
	end = memchr(text + at, '\n', len - at);
	line->begin = at;
	line->next = end ? (size_t)(end - text) + 1 : len;
	line->text = text + at;
	line->len = end ? (size_t)(end - line->text) : len - at;
	while (line->len && line->text[line->len - 1] == '\r')
		line->len--;
	for (skip = stamp_len(line->text, line->len); skip;
	     skip = stamp_len(line->text, line->len)) {
		line->text += skip;
		line->len -= skip;
	}
	skip = oops_len(line->text, line->len);
	line->text += skip;
	line->len -= skip;
	if (line->len > LINE_MAX_LEN)
		line->len = LINE_MAX_LEN;
	return true;
}

bool splat_line_starts(const struct splat_line *line, const char *prefix)
{
	size_t n = strlen(prefix);

	return line->len >= n && memcmp(line->text, prefix, n) == 0;
}

bool splat_line_has(const struct splat_line *line, const char *part)
{
	return memmem(line->text, line->len, part, strlen(part)) != NULL;
}

static bool symbol_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '$';
}

/* "0x1c": up to 16 digits. */
static size_t parse_hex(const char *text, size_t len, unsigned long *value)
{
	size_t at = 2;

	if (len < 3 || text[0] != '0' || text[1] != 'x')
		return 0;
	for (*value = 0; at < len && at < 18; at++) {
		char c = text[at];

		if (c >= '0' && c <= '9')
			*value = *value * 16 + (unsigned long)(c - '0');
		else if (c >= 'a' && c <= 'f')
			*value = *value * 16 + (unsigned long)(c - 'a') + 10;
		else
			break;
	}
	return at > 2 ? at : 0;
}

bool splat_frame_parse(const char *text, size_t len, struct splat_frame *frame)
{
	static const char module[] = " [agate";
	size_t name = 0, at, n;

	while (name < len && symbol_char(text[name]))
		name++;
	if (!name || name >= sizeof(frame->symbol) || name + 1 >= len || text[name] != '+')
		return false;
	memset(frame, 0, sizeof(*frame));
	memcpy(frame->symbol, text, name);
	at = name + 1;
	n = parse_hex(text + at, len - at, &frame->offset);
	at += n;
	if (!n || at >= len || text[at] != '/')
		return false;
	at++;
	n = parse_hex(text + at, len - at, &frame->size);
	if (!n || frame->offset > frame->size)
		return false;
	at += n;
	/* "[agate]", or with a build id: "[agate 1234...]" */
	n = sizeof(module) - 1;
	frame->module = len - at > n && memcmp(text + at, module, n) == 0 &&
			(text[at + n] == ']' || text[at + n] == ' ');
	return true;
}
