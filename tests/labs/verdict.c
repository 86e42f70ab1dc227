// SPDX-License-Identifier: MIT
/*
 * verdict: what a shell script wants to know of a result file.
 *
 * usage: verdict [--tests] RESULT.JSON
 *
 * Prints with --tests a line "ID STATUS" for each test, else three lines: "score S of M", "first-failed NAME" (or "first-failed -"), and
 * "unexplained N": failures without a message or without hints.
 * Exits 1 when there is no result to be read.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static void print_tests(const json_t *tests)
{
	const json_t *test;
	size_t i;

	json_array_foreach(tests, i, test)
		printf("%s %s\n", text(test, "id"), text(test, "status"));
}

static void print_score(const json_t *root, const json_t *tests)
{
	const char *first = NULL;
	const json_t *test;
	size_t i;
	int unexplained = 0;

	json_array_foreach(tests, i, test) {
		const char *name = strchr(text(test, "id"), '/');

		if (!strcmp(text(test, "status"), "not-run") || !strcmp(text(test, "status"), "pass"))
			continue;
		if (!first)
			first = name ? name + 1 : "?";
		if (!*text(test, "message") ||
		    json_integer_value(json_object_get(test, "hints")) < 1)
			unexplained++;
	}
	printf("score %lld of %lld\n", json_integer_value(json_object_get(root, "score")),
	       json_integer_value(json_object_get(root, "max")));
	printf("first-failed %s\nunexplained %d\n", first ? first : "-", unexplained);
}

int main(int argc, char **argv)
{
	bool all = argc == 3 && !strcmp(argv[1], "--tests");
	json_t *root, *labs, *tests;
	json_error_t error;

	if (argc != 2 && !all) {
		fprintf(stderr, "usage: verdict [--tests] RESULT.JSON\n");
		return 2;
	}
	root = json_load_file(argv[argc - 1], 0, &error);
	labs = json_object_get(root, "labs");
	if (!root || strcmp(text(root, "schema"), "agate/result/v1") ||
	    json_array_size(labs) != 1) {
		fprintf(stderr, "verdict: %s: no result of one lab: %s\n", argv[argc - 1],
			error.text);
		json_decref(root);
		return 1;
	}
	tests = json_object_get(json_array_get(labs, 0), "tests");
	if (all)
		print_tests(tests);
	else
		print_score(root, tests);
	json_decref(root);
	return 0;
}
