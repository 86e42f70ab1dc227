// SPDX-License-Identifier: MIT
/*
 * Numbers with their names (text.h).
 */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define ERRNO_MAX	4095

struct form {
	const char *before;		/* the word before the number */
	const char *(*name)(int number);
	const char *prefix;		/* the prefix, for a name that is stored without it */
};

static const char *errno_name(int number)
{
	return number > 0 && number <= ERRNO_MAX ? strerrorname_np(number) : NULL;
}

static const char *signal_name(int number)
{
	return number > 0 ? sigabbrev_np(number) : NULL;
}

static const struct form forms[] = {
	{ "errno ", errno_name, "" },
	{ "signal ", signal_name, "SIG" },
};

static bool begins_word(const char *text, const char *at)
{
	return at == text || !isalnum((unsigned char)at[-1]);
}

/* The length of a decimal number that does not continue as something else, or 0. */
static size_t parse_number(const char *at, int *number)
{
	size_t n = strspn(at, "0123456789");

	if (!n || n > 4 || isalpha((unsigned char)at[n]) || at[n] == '_')
		return 0;
	*number = atoi(at);
	return n;
}

/* "errno 28" at @at becomes "ENOSPC (28)"; returns the length of the replaced text, or 0. */
static size_t name_form(const char *text, const char *at, char *name, size_t size)
{
	const char *found;
	size_t i, n, word;
	int number;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		word = strlen(forms[i].before);
		if (strncmp(at, forms[i].before, word) || !begins_word(text, at))
			continue;
		n = parse_number(at + word, &number);
		found = n ? forms[i].name(number) : NULL;
		if (!found)
			return 0;
		snprintf(name, size, "%s%s (%d)", forms[i].prefix, found, number);
		return word + n;
	}
	return 0;
}

/*
 * Appends the name to "-28" at the end or before punctuation, as drivers print it.  -1 is
 * more often a count, or what a call of the C library returned, than -EPERM.
 */
static size_t name_negative(const char *text, const char *at, char *name, size_t size)
{
	const char *found;
	int number;
	size_t n;

	if (*at != '-' || at == text || !strchr(" :=(", at[-1]))
		return 0;
	n = parse_number(at + 1, &number);
	if (!n || (at[1 + n] && !strchr(",;)", at[1 + n])))
		return 0;
	found = number == 1 ? NULL : errno_name(number);
	if (!found)
		return 0;
	snprintf(name, size, at[1 + n] == ')' ? "-%d, %s" : "-%d (%s)", number, found);
	return 1 + n;
}

void text_names(char *out, size_t size, const char *text)
{
	const char *at = text;
	char name[64];
	size_t used = 0, n;

	while (*at && used + 1 < size) {
		n = name_form(text, at, name, sizeof(name));
		if (!n)
			n = name_negative(text, at, name, sizeof(name));
		if (n && used + strlen(name) < size) {
			used += (size_t)sprintf(out + used, "%s", name);
			at += n;
		} else {
			out[used++] = *at++;
		}
	}
	out[used] = '\0';
}
