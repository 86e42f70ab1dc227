// SPDX-License-Identifier: MIT
/*
 * Chooses the files of which a driver is composed (run_parts.h).
 */
#include "run_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool run_path(char path[RUN_PATH], const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, RUN_PATH, fmt, ap);
	va_end(ap);
	return n >= 0 && n < RUN_PATH;
}

/* The number of a lab's files that are in @dir. */
static size_t files_there(const struct lab *lab, const char *dir)
{
	char path[RUN_PATH];
	size_t i, n = 0;

	for (i = 0; i < lab->file_count; i++)
		n += run_path(path, "%s/%s", dir, lab->files[i]) && !access(path, R_OK);
	return n;
}

static void remark(struct result_lab *result, const char *what, const char *dir)
{
	if (result->remark_count < RESULT_REMARKS)
		snprintf(result->remarks[result->remark_count++], sizeof(result->remarks[0]),
			 "%.160s: %s", dir, what);
}

/* Adds one lab before the one that is graded; false with @error. */
static bool add_earlier(const struct run_config *config, const char *name,
			struct result_lab *result, struct run_parts *parts,
			char error[RUN_ERROR])
{
	char path[RUN_PATH], dir[RUN_PATH];
	struct lab *lab;
	size_t there;
	bool fits;

	if (!run_path(path, "%s/%s/lab.json", config->labs, name) ||
	    !run_path(dir, "%s/%s", config->from, name)) {
		snprintf(error, RUN_ERROR, "a path is too long");
		return false;
	}
	lab = lab_load(path, name, error);
	if (!lab)
		return false;
	there = files_there(lab, dir);
	fits = true;
	if (lab->library != result->lab->library)
		;
	else if (there < lab->file_count)
		remark(result, "left out of the chain, for its files are not there", dir);
	else if (parts->arg_count < PARTS_MAX)
		fits = run_path(parts->args[parts->arg_count++], "%s=%s", name, dir);
	lab_free(lab);
	if (!fits)
		snprintf(error, RUN_ERROR, "a path is too long");
	return fits;
}

bool run_parts_find(const struct run_config *config, struct result_lab *result,
		    struct run_parts *parts, char error[RUN_ERROR])
{
	const struct lab *lab = result->lab;
	char (*names)[LAB_NAME] = NULL;
	int n = 0, k;
	size_t i;
	bool ok;

	memset(parts, 0, sizeof(*parts));
	ok = run_path(parts->dir, "%s/%s", config->from, lab->name) &&
	     run_path(parts->args[parts->arg_count++], "%s=%s", lab->name, parts->dir);
	for (i = 0; ok && i < lab->file_count; i++) {
		ok = run_path(parts->paths[i], "%s/%s", parts->dir, lab->files[i]);
		parts->files[i] = parts->paths[i];
		if (ok && !parts->missing[0] && access(parts->paths[i], R_OK))
			strcpy(parts->missing, parts->paths[i]);
	}
	if (!ok) {
		snprintf(error, RUN_ERROR, "a path is too long");
		return false;
	}
	if (config->chain)
		n = lab_names(config->labs, &names);
	if (n < 0)
		snprintf(error, RUN_ERROR, "%.200s: %s", config->labs, strerror(errno));
	for (k = 0; ok && k < n && strcmp(names[k], lab->name) < 0; k++)
		ok = add_earlier(config, names[k], result, parts, error);
	free(names);
	return ok && n >= 0;
}
