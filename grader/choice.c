// SPDX-License-Identifier: MIT
/*
 * Evaluates the choices on the command line (choice.h).
 */
#include "choice.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Characters at which shells, make and the compiler's lists of files split names. */
#define NO_NAME		" \t\r\n\v\f'\"`$\\;&|<>()*?[]!#:%"

bool choice_from(const char *from, char *error, size_t size)
{
	struct stat sb;
	int missing = stat(from, &sb);

	if (strpbrk(from, NO_NAME)) {
		snprintf(error, size, "%.400s: FROM is a path without spaces, quotes and what else "
			 "a shell or make takes apart", from);
		return false;
	}
	if (!missing && S_ISDIR(sb.st_mode))
		return true;
	snprintf(error, size, "%.400s: %s; FROM is labs, solutions, or a folder with NN-topic/ in it",
		 from, missing ? strerror(errno) : strerror(ENOTDIR));
	return false;
}

bool choice_out(const char *out, char *error, size_t size)
{
	const char *p;

	for (p = out; *p && !iscntrl((unsigned char)*p) && !strchr(NO_NAME, *p); p++)
		;
	if (!*p)
		return true;
	snprintf(error, size, "%.400s: OUT is a path without spaces, quotes and what else a shell or "
		 "make takes apart", out);
	return false;
}

/* The absolute path without links, also of something of which only the first parts exist. */
static bool real_path(const char *path, char real[PATH_MAX])
{
	char begin[PATH_MAX], *slash;
	size_t n, cut = strlen(path);

	while (cut && snprintf(begin, sizeof(begin), "%.*s", (int)cut, path) < (int)sizeof(begin)) {
		if (realpath(begin, real)) {
			n = strlen(real);
			path += cut + (path[cut] == '/');
			return snprintf(real + n, PATH_MAX - n, "%s%s",
					*path && real[n - 1] != '/' ? "/" : "", path) <
			       (int)(PATH_MAX - n);
		}
		slash = strrchr(begin, '/');
		cut = slash ? (size_t)(slash - begin) : 0;
	}
	return getcwd(real, PATH_MAX) && strlen(real) + strlen(path) + 2 < PATH_MAX &&
	       strcat(strcat(real, "/"), path);
}

/* What of @path lies below @folder: "" for the folder itself; NULL when it lies elsewhere. */
static const char *below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	if (strncmp(path, folder, n) || (path[n] && path[n] != '/' && folder[n - 1] != '/'))
		return NULL;
	return path + n + (path[n] == '/');
}

bool choice_apart(const char *from, const char *out, char *error, size_t size)
{
	char real_from[PATH_MAX], real_out[PATH_MAX];
	const char *rest;

	if (!real_path(from, real_from) || !real_path(out, real_out)) {
		snprintf(error, size, "OUT %.200s, FROM %.200s: %s", out, from, strerror(errno));
		return false;
	}
	rest = below(real_from, real_out);
	if (!below(real_out, real_from) && (!rest || !isdigit((unsigned char)rest[0])))
		return true;
	snprintf(error, size, "OUT %.200s and FROM %.200s overlap: give the results a folder of "
		 "their own", out, from);
	return false;
}

/* Is there a ".." among its parts? */
static bool goes_up(const char *path)
{
	size_t n;

	for (; *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (n == 2 && !memcmp(path, "..", 2))
			return true;
	}
	return false;
}

bool choice_plain(const char *from, char *path, size_t size)
{
	char here[PATH_MAX], real[PATH_MAX];
	size_t n;

	if (goes_up(from)) {
		if (!realpath(from, real))
			return false;
		from = real;
	}
	n = getcwd(here, sizeof(here)) ? strlen(here) : 0;
	if (n > 1 && strncmp(from, here, n) == 0 && from[n] == '/' && from[n + 1])
		from += n + 1;
	return (size_t)snprintf(path, size, "%s%s", strchr("-@", from[0]) ? "./" : "", from) < size;
}

/* The names of the tests that a user may name. */
static void add_names(const struct lab *lab, char *text, size_t size)
{
	size_t i, n;

	for (i = 0; i < lab->test_count; i++) {
		n = strlen(text);
		if (!lab->tests[i].hidden)
			snprintf(text + n, size - n, " %s", lab->tests[i].name);
	}
}

/* Checks that the lab has this step, and that its tests say to which steps they belong. */
static bool check_step(const struct result *result, unsigned int step, char *error, size_t size)
{
	const struct lab *lab = result->labs[0].lab;
	size_t i;

	if (result->lab_count > 1) {
		snprintf(error, size, "a step is one of a lab's: STEP goes with one LAB");
		return false;
	}
	if (step > lab->steps) {
		snprintf(error, size, "%s has steps 1 to %u, not %u", lab->name, lab->steps, step);
		return false;
	}
	for (i = 0; i < lab->test_count; i++)
		if (lab->tests[i].step)
			return true;
	snprintf(error, size, "%s does not say which steps its tests belong to", lab->name);
	return false;
}

bool choice_tests(struct result *result, const char *glob, unsigned int step, char *error,
		  size_t size)
{
	bool any = false, named = false;
	size_t i, k;

	if (step && !check_step(result, step, error, size))
		return false;
	for (i = 0; i < result->lab_count; i++) {
		struct result_lab *lab = &result->labs[i];

		for (k = 0; k < lab->lab->test_count; k++) {
			const struct lab_test *test = &lab->lab->tests[k];
			bool fits = !glob || !fnmatch(glob, test->name, 0);

			named = named || fits;
			lab->selected[k] = fits && (!step || test->step <= step);
			any = any || lab->selected[k];
		}
	}
	if (any)
		return true;
	if (named && glob) {
		snprintf(error, size, "the tests with a name like \"%.100s\" belong to later steps than %u",
			 glob, step);
		return false;
	}
	if (named) {
		snprintf(error, size, "no test belongs to step %u%s", step,
			 step > 1 ? ", or to one before it" : "");
		return false;
	}
	snprintf(error, size, "no test has a name like \"%.100s\"; there are:", glob ? glob : "");
	for (i = 0; i < result->lab_count; i++)
		add_names(result->labs[i].lab, error, size);
	return false;
}

const struct lab_test *choice_test(const struct lab *lab, const char *name, char *error,
				   size_t size)
{
	const struct lab_test *test = lab_test_named(lab, name);

	if (test && !test->hidden)
		return test;
	snprintf(error, size, "%s has no test \"%.100s\"; there are:", lab->name, name);
	add_names(lab, error, size);
	return NULL;
}

static bool is_plain(const char *word)
{
	while (isalnum((unsigned char)*word) || (*word && strchr("_-.,:/@%+=", *word)))
		word++;
	return !*word;
}

void choice_append(char *command, size_t size, const char *name, const char *value)
{
	size_t n = strlen(command);
	bool plain = is_plain(value);

	/* The message omits the part of a command that does not fit. */
	if (n + strlen(name) + 8 >= size)
		return;
	n += (size_t)sprintf(command + n, " %s=%s", name, plain ? "" : "'");
	for (; *value && n + 8 < size; value++) {
		if (*value == '\'')
			n += (size_t)sprintf(command + n, "'\\''");
		else
			command[n++] = *value;
		command[n] = '\0';
	}
	if (!plain)
		strcpy(command + n, "'");
}
