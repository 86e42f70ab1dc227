// SPDX-License-Identifier: MIT
/*
 * Hints (hint.h): DIR/LAB/TEST holds three numbers: how many hints were shown, of which case,
 * and 1 if the test could not begin.
 */
#include "hint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"

#define PATH_LEN	1024

static bool state_path(const char *dir, const struct lab *lab, const struct lab_test *test,
		       char path[PATH_LEN])
{
	if (snprintf(path, PATH_LEN, "%s/%s/%s", dir, lab->name, test->name) < PATH_LEN)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

struct memory {
	unsigned int shown;
	unsigned int which;	/* case */
	unsigned int before;	/* 1: the last run ended before the test */
};

/* Anything else in the file counts as nothing shown, and as no case. */
static struct memory recall(const char *path)
{
	struct memory m = { 0 };
	FILE *file = fopen(path, "re");
	int n;

	if (!file)
		return m;
	n = fscanf(file, "%u %u %u", &m.shown, &m.which, &m.before);
	fclose(file);
	if (n < 1 || m.shown > LAB_HINTS || m.which > HINT_NONE || m.before > 1)
		m = (struct memory){ 0 };
	return m;
}

static bool remember(const char *dir, const struct lab *lab, const char *path,
		     const struct memory *m)
{
	char folder[PATH_LEN];
	FILE *file;
	bool ok;

	if (snprintf(folder, sizeof(folder), "%s/%s", dir, lab->name) >= (int)sizeof(folder)) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (!machine_make_dirs(folder))
		return false;
	file = fopen(path, "we");
	if (!file)
		return false;
	ok = fprintf(file, "%u %u %u\n", m->shown, m->which, m->before) > 0;
	return !fclose(file) && ok;
}

/* The innermost functions of a kernel's report, by which cases know crashes in given code. */
#define FRAMES	3

unsigned int hint_case(const struct lab_test *test, const struct verdict *verdict)
{
	const struct splat *splat = &verdict->splat;
	char text[sizeof(verdict->rule) + sizeof(verdict->expected) + sizeof(verdict->seen) +
		  sizeof(splat->headline) + FRAMES * (sizeof(splat->frames[0].symbol) + 8)];
	bool kernel = splat->kind != SPLAT_NONE;
	size_t i, n;

	n = (size_t)snprintf(text, sizeof(text), "%s\n%s\n%s%s%s", verdict->rule,
			     verdict->expected, verdict->seen, kernel ? "\n" : "",
			     kernel ? splat->headline : "");
	for (i = 0; kernel && i < splat->frame_count && i < FRAMES; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\nin %s()",
				      splat->frames[i].symbol);
	return lab_case_of(test, text);
}

unsigned int hint_fitting(const struct lab_test *test, const struct verdict *verdict)
{
	unsigned int which = hint_case(test, verdict);
	bool seen_by_test = verdict->status != VERDICT_CRASH && verdict->status != VERDICT_TIMEOUT;

	return which || seen_by_test ? which : HINT_NONE;
}

char *hint_text(const char *hint, const char *results)
{
	static const char usual[] = "build/results";
	const char *at;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	while ((at = strstr(hint, usual))) {
		fprintf(out, "%.*s%s", (int)(at - hint), hint, results);
		hint = at + strlen(usual);
	}
	fputs(hint, out);
	return fclose(out) ? NULL : text;
}

bool hint_failed(const char *dir, const struct lab *lab, const struct lab_test *test,
		 unsigned int which, bool shown)
{
	char path[PATH_LEN];
	struct memory m;

	if (!state_path(dir, lab, test, path))
		return false;
	m = recall(path);
	if (m.which != which)
		m = (struct memory){ .which = which };
	m.before = 0;
	if (shown && !m.shown)
		m.shown = 1;
	return remember(dir, lab, path, &m);
}

bool hint_before(const char *dir, const struct lab *lab, const struct lab_test *test)
{
	char path[PATH_LEN];
	struct memory m;

	if (!state_path(dir, lab, test, path))
		return false;
	m = recall(path);
	m.before = 1;
	return remember(dir, lab, path, &m);
}

bool hint_passed(const char *dir, const struct lab *lab, const struct lab_test *test)
{
	char path[PATH_LEN];

	return state_path(dir, lab, test, path) && (!unlink(path) || errno == ENOENT);
}

bool hint_show(const char *dir, const char *results, const struct lab *lab,
	       const struct lab_test *test, FILE *out)
{
	char path[PATH_LEN], *text;
	struct memory m;

	if (!state_path(dir, lab, test, path))
		return false;
	m = recall(path);
	if (m.before) {
		fprintf(out, "%s/%s has not run: the report of the last run says what is in its way, "
			"and the test's hints are not about that.\n", lab->name, test->name);
		return true;
	}
	if (m.which == HINT_NONE) {
		fprintf(out, "%s/%s crashed or hung in a way that no hint is about: the report of that "
			"run has the broken rule, and the place if the kernel showed it.\n", lab->name,
			test->name);
		return true;
	}
	if (m.shown == LAB_HINTS) {
		fputs("There are no more hints; the last one again.\n", out);
	} else {
		m.shown++;
		if (!remember(dir, lab, path, &m))
			return false;
	}
	text = hint_text(lab_hints(test, m.which)[m.shown - 1], results);
	if (!text)
		return false;
	fprintf(out, "%s/%s, hint %u of %d:\n  %s\n", lab->name, test->name, m.shown, LAB_HINTS, text);
	free(text);
	if (m.shown > 1 && !strncmp(test->book, "README#", 7))
		fprintf(out, "  Read: labs/%s/README.md%s\n", lab->name, test->book + 6);
	else if (m.shown > 1)
		fprintf(out, "  Read: book/%.*s.md%s\n", (int)strcspn(test->book, "#"), test->book,
			test->book + strcspn(test->book, "#"));
	return true;
}
