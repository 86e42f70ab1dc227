// SPDX-License-Identifier: MIT
/*
 * agate-lab-info: prints a lab.json for shell scripts.
 *
 * Prints a line "KEY VALUE" for each text, number and list entry at the top level; "test
 * NAME" for each visible test, "hidden-test NAME" for the others; "debug-only NAME" for a
 * test that the fast kernel does not run; and "own-guest NAME" for one that needs a guest
 * of its own.  Scripts make file names and options of them, so a value has to be harmless
 * there: a name, or a line of text.  agate-grade checks whether the file describes a lab;
 * this program refuses only values that could break a script.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agate_stdio.h"

static const char *path;

static int refuse(const char *key, const char *why)
{
	fprintf(stderr, "%s: \"%s\": %s\n", path, key, why);
	return -1;
}

/* A line that a shell's read takes unchanged. */
static bool harmless(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

/* A file's or symbol's name, not a path and not an option; '*' may end it. */
static bool is_name(const char *text)
{
	const char *good = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	size_t len = strspn(text, good);

	if (*text == '-' || *text == '.' || !len)
		return false;
	return !text[len] || !strcmp(text + len, "*");
}

static int print_names(const char *key, const json_t *list)
{
	json_t *entry;
	size_t i;

	json_array_foreach(list, i, entry) {
		if (!json_is_string(entry) || !is_name(json_string_value(entry)))
			return refuse(key, "not a list of names");
		printf("%s %s\n", key, json_string_value(entry));
	}
	return 0;
}

static int print_key(const char *key, const json_t *value)
{
	if (!is_name(key))
		return refuse(key, "not a name");
	if (json_is_integer(value)) {
		printf("%s %" JSON_INTEGER_FORMAT "\n", key, json_integer_value(value));
	} else if (json_is_string(value)) {
		if (!harmless(json_string_value(value)))
			return refuse(key, "not one line of text");
		printf("%s %s\n", key, json_string_value(value));
	} else if (json_is_array(value) && !json_is_object(json_array_get(value, 0))) {
		return print_names(key, value);
	}
	return 0;
}

static int print_tests(const json_t *tests)
{
	json_t *test;
	size_t i;

	json_array_foreach(tests, i, test) {
		const char *name = json_string_value(json_object_get(test, "name"));
		const char *seen = json_string_value(json_object_get(test, "visibility"));
		const json_t *kernels = json_object_get(test, "kernels");
		const char *only = json_string_value(json_array_get(kernels, 0));
		const char *profile = json_string_value(json_object_get(test, "profile"));

		if (!name || !is_name(name))
			return refuse("tests", "a test's name is not one");
		printf("%s %s\n", seen && !strcmp(seen, "hidden") ? "hidden-test" : "test", name);
		if (json_array_size(kernels) == 1 && only && !strcmp(only, "debug"))
			printf("debug-only %s\n", name);
		if (profile && strcmp(profile, "normal"))
			printf("own-guest %s\n", name);
	}
	return 0;
}

static int print_lab(json_t *lab)
{
	const char *key;
	json_t *value;

	if (!json_is_object(lab)) {
		fprintf(stderr, "%s: not an object\n", path);
		return -1;
	}
	json_object_foreach(lab, key, value)
		if (print_key(key, value))
			return -1;
	return print_tests(json_object_get(lab, "tests"));
}

int main(int argc, char **argv)
{
	json_error_t error;
	json_t *lab;
	int ret;

	if (!stdio_fill())
		return 1;
	if (argc != 2) {
		fprintf(stderr, "usage: %s LAB.JSON\n", argv[0]);
		return 2;
	}
	path = argv[1];
	lab = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!lab) {
		fprintf(stderr, "%s:%d: %s\n", path, error.line, error.text);
		return 1;
	}
	ret = print_lab(lab);
	json_decref(lab);
	if (fflush(stdout) || ferror(stdout)) {
		perror(argv[0]);
		ret = -1;
	}
	return ret ? 1 : 0;
}
