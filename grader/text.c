// SPDX-License-Identifier: MIT
/*
 * Cleaning text (text.h).
 */
#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The character at @s; returns its length in bytes, 0 when it is not well-formed. */
static size_t decode(const unsigned char *s, size_t len, uint32_t *c)
{
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 0x6 ? 2 : s[0] >> 4 == 0xe ? 3 :
		   s[0] >> 3 == 0x1e ? 4 : 0;
	size_t i;

	if (!n || n > len)
		return 0;
	*c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		*c = *c << 6 | (s[i] & 0x3f);
	}
	if (*c < lowest[n] || *c > 0x10ffff || (*c >= 0xd800 && *c <= 0xdfff))
		return 0;
	return n;
}

/* No control character, and none that is invisible or changes the order of its neighbours. */
static bool is_harmless(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} others[] = {
		{ 0, 0x1f }, { 0x7f, 0x9f }, { 0x61c, 0x61c }, { 0x180e, 0x180e }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
		{ 0xe0000, 0xe0fff },
	};
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (c >= others[i].first && c <= others[i].last)
			return false;
	return true;
}

void text_clean(char *out, size_t size, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t used = 0;

	while (len && used + 1 < size) {
		uint32_t c = 0;
		size_t n = decode(s, len, &c);

		if (n && is_harmless(c)) {
			if (used + n + 1 > size)
				break;
			memcpy(out + used, s, n);
			used += n;
		} else {
			out[used++] = c == '\t' ? ' ' : '?';
		}
		s += n ? n : 1;
		len -= n ? n : 1;
	}
	out[used] = '\0';
}

void text_write(FILE *log, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;

	while (len) {
		uint32_t c = 0;
		size_t n = decode(s, len, &c);

		if (n && (is_harmless(c) || c == '\n' || c == '\t' || c == '\r'))
			fwrite(s, 1, n, log);
		else if (n && (c < ' ' || c == 0x7f))
			fprintf(log, "^%c", (int)(c ^ 0x40));
		else
			fputc('?', log);
		s += n ? n : 1;
		len -= n ? n : 1;
	}
}
