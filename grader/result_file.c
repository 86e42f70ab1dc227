// SPDX-License-Identifier: MIT
/*
 * The result file (result.h): a format that other programs read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hint.h"
#include "result.h"

static json_t *test_json(const struct result_lab *result, size_t i)
{
	const struct lab_test *test = &result->lab->tests[i];
	struct standing standing;
	char id[2 * LAB_NAME], message[2048];
	unsigned int which = 0;

	result_standing(result, i, &standing);
	if (standing.status > VERDICT_PASS && !test->hidden)
		which = hint_case(test, &standing.outcome->verdict);
	result_message(&standing, test->hidden, message, sizeof(message));
	snprintf(id, sizeof(id), "%s/%s", result->lab->name, test->name);
	return json_pack("{s:s, s:i, s:i, s:i, s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:s}",
			 "id", id, "points", (int)standing.points, "max", (int)test->points,
			 "step", (int)test->step,
			 "status", verdict_word(standing.status), "shows", test->shows,
			 "message", message, "hints", LAB_HINTS, "case", (int)which, "book", test->book,
			 "where", standing.outcome && !test->hidden ? standing.outcome->where : "",
			 "visibility", test->hidden ? "hidden" : "visible");
}

static json_t *lab_json(const struct result_lab *result, unsigned int *score, unsigned int *max)
{
	json_t *tests = json_array();
	unsigned int points, all;
	size_t i;

	for (i = 0; i < result->lab->test_count; i++)
		json_array_append_new(tests, test_json(result, i));
	result_score(result, &points, &all);
	*score += points;
	*max += all;
	return json_pack("{s:s, s:i, s:i, s:f, s:o}", "lab", result->lab->name,
			 "score", (int)points, "max", (int)all,
			 "seconds", (double)(long)(result->seconds * 1000) / 1000, "tests", tests);
}

/* Ids are unique over all labs: a test that appears twice would count twice. */
static bool ids_unique(const json_t *labs)
{
	json_t *seen = json_object(), *lab, *test;
	bool unique = seen;
	size_t i, k;

	json_array_foreach(labs, i, lab) {
		json_array_foreach(json_object_get(lab, "tests"), k, test) {
			const char *id = json_string_value(json_object_get(test, "id"));

			unique = unique && id && !json_object_get(seen, id) &&
				 !json_object_set_new(seen, id, json_true());
		}
	}
	json_decref(seen);
	return unique;
}

static json_t *result_json(const struct result *result)
{
	json_t *labs = json_array();
	unsigned int score = 0, max = 0;
	bool unboxed = false;
	json_t *json;
	size_t i;

	for (i = 0; i < result->lab_count; i++)
		unboxed |= result->labs[i].unboxed;
	for (i = 0; i < result->lab_count; i++)
		json_array_append_new(labs, lab_json(&result->labs[i], &score, &max));
	if (!ids_unique(labs)) {
		json_decref(labs);
		errno = EEXIST;
		return NULL;
	}
	json = json_pack("{s:s, s:i, s:i, s:I, s:s, s:b, s:o}",
			 "schema", "agate/result/v1", "score", (int)score, "max", (int)max,
			 "seed", (json_int_t)result->seed, "kernel", result->kernel,
			 "complete", result->complete, "labs", labs);
	if (unboxed)
		json_object_set_new(json, "sandbox", json_false());
	return json;
}

bool result_write(const struct result *result, const char *path)
{
	json_t *json = result_json(result);
	char temporary[4096];
	FILE *file = NULL;
	bool ok = json;
	int error;

	if (ok && snprintf(temporary, sizeof(temporary), "%s.part", path) >=
	    (int)sizeof(temporary)) {
		errno = ENAMETOOLONG;
		ok = false;
	}
	if (ok) {
		file = fopen(temporary, "we");
		ok = file && !json_dumpf(json, file, JSON_INDENT(1)) && fputc('\n', file) != EOF;
		if (file && fclose(file))
			ok = false;
		ok = ok && !rename(temporary, path);
	}
	error = errno;
	json_decref(json);
	errno = error;
	return ok;
}
