// SPDX-License-Identifier: MIT
/*
 * Telling causes apart (cause.h).
 */
#include "cause.h"

#include <stdio.h>
#include <string.h>

/* "CALL: ERROR" with the error as a name: where the name begins, or NULL. */
static const char *error_of(const char *seen)
{
	const char *colon = strrchr(seen, ':');
	const char *name = colon && colon[1] == ' ' ? colon + 2 : NULL;

	return name && name[0] == 'E' && name[1] &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == strlen(name) ? name : NULL;
}

/*
 * The same call failed with the same error.  Where a topic is absent, every call fails
 * like that.
 */
static bool same_error(const struct verdict *a, const struct verdict *b)
{
	const char *error = error_of(a->seen), *other = error_of(b->seen);

	return error && other && !strcmp(error, other) &&
	       (!strcmp(error, "EOPNOTSUPP") || !strcmp(a->seen, b->seen));
}

static bool same_place(const struct outcome *a, const struct outcome *b)
{
	return a->place.line == b->place.line && !strcmp(a->place.file, b->place.file) &&
	       a->verdict.splat.kind == b->verdict.splat.kind;
}

/* The length of "CPU: 1 PID: 105 " at @at, or 0. */
static size_t runner_len(const char *at)
{
	int len = 0;

	sscanf(at, "CPU: %*d PID: %*d%*[ ]%n", &len);
	return (size_t)len;
}

/* The same text, apart from the processor and the process that the kernel's reports name. */
static bool same_text(const char *a, const char *b)
{
	while (*a && *b) {
		size_t n = runner_len(a), m = runner_len(b);

		if (n && m) {
			a += n;
			b += m;
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

static bool same_words(const struct verdict *a, const struct verdict *b)
{
	return a->rule[0] && !strcmp(a->rule, b->rule) && same_text(a->seen, b->seen);
}

/* The number after @name in "bos 1, handles 0, vms 1"; false when there is none. */
static bool counted(const char *list, const char *name, size_t len, long long *number)
{
	const char *at = list;

	while ((at = strstr(at, name)) != NULL) {
		if ((at == list || at[-1] == ' ') && at[len] == ' ')
			return sscanf(at + len, "%lld", number) == 1;
		at++;
	}
	return false;
}

/*
 * The counters that are wrong, each with its direction: "+handles" for "as before: bos 0,
 * handles 3" and "bos 0, handles 7".  Empty if the failure is not about counters.
 */
static void off_counters(const struct verdict *v, char *out, size_t size)
{
	static const char before[] = "as before: ";
	const char *list = v->expected + sizeof(before) - 1;
	char name[LAB_NAME];
	long long wanted, seen;
	int used;

	out[0] = '\0';
	if (strncmp(v->expected, before, sizeof(before) - 1))
		return;
	while (sscanf(list, "%47[a-z_] %lld%n", name, &wanted, &used) == 2) {
		size_t len = strlen(name), at = strlen(out);

		if (counted(v->seen, name, len, &seen) && seen != wanted)
			snprintf(out + at, size - at, "%c%s", seen > wanted ? '+' : '-', name);
		list += used;
		list += strspn(list, ", ");
	}
}

/* Each test counts the leftovers anew, but the same code left them. */
static bool same_counters(const struct verdict *a, const struct verdict *b)
{
	char off[256], other[256];

	off_counters(a, off, sizeof(off));
	off_counters(b, other, sizeof(other));
	return off[0] && !strcmp(off, other);
}

/* A hint's text, without the registers and the number of times that follow it. */
static size_t hint_len(const char *seen)
{
	size_t n = strcspn(seen, ":(");

	while (n && seen[n - 1] == ' ')
		n--;
	return n;
}

static bool same_hint(const struct verdict *a, const struct verdict *b)
{
	size_t n = hint_len(a->seen);

	return a->hinted && b->hinted && hint_len(b->seen) == n && !strncmp(a->seen, b->seen, n);
}

bool cause_same(const struct standing *a, const struct standing *b)
{
	const struct outcome *x = a->outcome, *y = b->outcome;

	if (!x || !y || a->status != b->status || a->status <= VERDICT_PASS)
		return false;
	/* The last printed line differs from test to test. */
	if (x->verdict.flooded || y->verdict.flooded)
		return x->verdict.flooded && y->verdict.flooded;
	if (a->status == VERDICT_FAIL)
		return same_words(&x->verdict, &y->verdict) ||
		       same_error(&x->verdict, &y->verdict) ||
		       same_hint(&x->verdict, &y->verdict) ||
		       same_counters(&x->verdict, &y->verdict);
	if (x->placed || y->placed)
		return x->placed && y->placed && same_place(x, y);
	/* Two hangs at unknown places may have different causes. */
	return a->status == VERDICT_CRASH && same_words(&x->verdict, &y->verdict);
}
