// SPDX-License-Identifier: MIT
/*
 * Hints (hint.h): DIR/LAB/TEST holds how many of them were shown, as a digit.
 */
#include "hint.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_LEN	1024

static bool state_path(const char *dir, const struct lab *lab, const struct lab_test *test,
		       char path[PATH_LEN])
{
	if (snprintf(path, PATH_LEN, "%s/%s/%s", dir, lab->name, test->name) < PATH_LEN)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

/* How many were shown; anything else in the file counts as none. */
static unsigned int shown(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int n = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%u", &n) != 1 || n > LAB_HINTS)
		n = 0;
	fclose(file);
	return n;
}

static bool make_dir(const char *dir)
{
	return !mkdir(dir, 0777) || errno == EEXIST;
}

static bool remember(const char *dir, const struct lab *lab, const char *path, unsigned int n)
{
	char folder[PATH_LEN];
	FILE *file;
	bool ok;

	if (snprintf(folder, sizeof(folder), "%s/%s", dir, lab->name) >= (int)sizeof(folder)) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (!make_dir(dir) || !make_dir(folder))
		return false;
	file = fopen(path, "we");
	if (!file)
		return false;
	ok = fprintf(file, "%u\n", n) > 0;
	return !fclose(file) && ok;
}

bool hint_first_shown(const char *dir, const struct lab *lab, const struct lab_test *test)
{
	char path[PATH_LEN];

	return state_path(dir, lab, test, path) &&
	       (shown(path) || remember(dir, lab, path, 1));
}

bool hint_show(const char *dir, const struct lab *lab, const struct lab_test *test, FILE *out)
{
	char path[PATH_LEN];
	unsigned int n;

	if (!state_path(dir, lab, test, path))
		return false;
	n = shown(path);
	if (n == LAB_HINTS)
		fputs("There are no more hints; the last one again.\n", out);
	else if (!remember(dir, lab, path, ++n))
		return false;
	fprintf(out, "%s/%s, hint %u of %d:\n  %s\n", lab->name, test->name, n, LAB_HINTS,
		test->hints[n - 1]);
	if (n > 1 && !strncmp(test->book, "README#", 7))
		fprintf(out, "  Read: labs/%s/README.md%s\n", lab->name, test->book + 6);
	else if (n > 1)
		fprintf(out, "  Read: book/%.*s.md%s\n", (int)strcspn(test->book, "#"), test->book,
			test->book + strcspn(test->book, "#"));
	return true;
}
