// SPDX-License-Identifier: MIT
/*
 * without-prose: a lab.json without what only people read.
 *
 * usage: without-prose LAB.JSON
 *
 * Prints the file in one canonical form, without title, hints and the like: no verdict on
 * a solution or a mutant depends on them, so tests/keep.sh leaves them out.
 */
#include <jansson.h>
#include <stdio.h>

static const char *const of_lab[] = { "title" };
static const char *const of_test[] = { "shows", "hints", "cases", "book" };

static void drop(json_t *object, const char *const *keys, size_t count)
{
	while (count--)
		json_object_del(object, keys[count]);
}

int main(int argc, char **argv)
{
	json_error_t error;
	json_t *lab, *test;
	size_t i;

	if (argc != 2) {
		fprintf(stderr, "usage: without-prose LAB.JSON\n");
		return 2;
	}
	lab = json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error);
	if (!lab) {
		fprintf(stderr, "without-prose: %s:%d: %s\n", argv[1], error.line, error.text);
		return 1;
	}
	drop(lab, of_lab, sizeof(of_lab) / sizeof(of_lab[0]));
	json_array_foreach(json_object_get(lab, "tests"), i, test)
		drop(test, of_test, sizeof(of_test) / sizeof(of_test[0]));
	if (json_dumpf(lab, stdout, JSON_INDENT(1) | JSON_SORT_KEYS) || fflush(stdout)) {
		perror("without-prose");
		json_decref(lab);
		return 1;
	}
	json_decref(lab);
	return 0;
}
