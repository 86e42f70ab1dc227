// SPDX-License-Identifier: MIT
/*
 * A lab.json as a whole.
 */
#include "lab.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab_json.h"

#define TITLE_MAX	120
#define ARGS_MAX	200
#define SYMBOLS_MAX	256

/*
 * An array of names of letters, digits and the characters in @extra; with @any_end a name
 * may end in an asterisk.
 */
static void check_words(const struct reader *r, const json_t *json, const char *key,
			size_t lowest, size_t highest, const char *extra, bool any_end)
{
	const json_t *array = reader_array(r, json, key, lowest, highest);
	size_t i, k;

	for (i = 0; i < json_array_size(array); i++) {
		const char *word = json_string_value(json_array_get(array, i));
		size_t len = word ? strlen(word) : 0;

		for (k = 0; k < len; k++)
			if (!isalnum((unsigned char)word[k]) && !strchr(extra, word[k]))
				break;
		if (k && k == len - 1 && word[k] == '*' && any_end)
			k++;
		if (!len || k < len)
			reader_fail(r, key, "element %zu is not a name", i + 1);
		for (k = 0; k < i && len; k++)
			if (!strcmp(json_string_value(json_array_get(array, k)) ?: "", word))
				reader_fail(r, key, "\"%.60s\" is there twice", word);
	}
}

/* They become part of the compiler's and the linker's commands: names, not paths. */
static void read_files(const struct reader *r, struct lab *lab)
{
	const json_t *array = reader_array(r, lab->json, "files", 1, LAB_FILES);
	size_t i;

	check_words(r, lab->json, "files", 1, LAB_FILES, "_.", false);
	for (i = 0; reader_ok(r) && i < json_array_size(array); i++) {
		const char *file = json_string_value(json_array_get(array, i));
		size_t len = strlen(file);

		if (strncmp(file, "agate_", 6) || len < 9 || strcmp(file + len - 2, ".c"))
			reader_fail(r, "files", "\"%.60s\" is not agate_NAME.c", file);
		lab->files[lab->file_count++] = file;
	}
}

static void read_tests(struct reader *r, struct lab *lab)
{
	const json_t *array = reader_array(r, lab->json, "tests", 1, LAB_TESTS);
	unsigned int points = 0;
	size_t i, k;

	if (!array)
		return;
	lab->tests = calloc(json_array_size(array), sizeof(*lab->tests));
	if (!lab->tests) {
		reader_fail(r, NULL, "out of memory");
		return;
	}
	lab->test_count = json_array_size(array);
	for (i = 0; i < lab->test_count && reader_ok(r); i++) {
		lab_read_test(r, json_array_get(array, i), &lab->tests[i]);
		points += lab->tests[i].points;
		for (k = 0; k < i && reader_ok(r); k++)
			if (!strcmp(lab->tests[k].name, lab->tests[i].name))
				reader_fail(r, "tests", "the name \"%s\" is there twice",
					    lab->tests[i].name);
	}
	if (reader_ok(r) && points != LAB_POINTS)
		reader_fail(r, "tests", "their points add up to %u, not %d", points, LAB_POINTS);
}

static void read_lab(struct reader *r, struct lab *lab, const char *name)
{
	static const char *const keys[] = {
		"schema", "lab", "title", "files", "kind", "steps", "frees", "program",
		"module", "module_args", "exports", "allow", "host_tests", "tests", NULL
	};
	static const char *const kinds[] = { "kernel", "library", NULL };
	static const char *const modules[] = { "loaded", "by-test", NULL };

	reader_keys(r, lab->json, keys);
	if (strcmp(reader_text(r, lab->json, "schema", LAB_NAME, NULL), "agate/lab/v1"))
		reader_fail(r, "schema", "is not \"agate/lab/v1\"");
	lab->name = reader_name(r, lab->json, "lab", NULL);
	if (reader_ok(r) && strcmp(lab->name, name))
		reader_fail(r, "lab", "is \"%s\", but the folder is \"%s\"", lab->name, name);
	lab->title = reader_text(r, lab->json, "title", TITLE_MAX, NULL);
	read_files(r, lab);
	lab->library = reader_word(r, lab->json, "kind", kinds);
	lab->steps = (unsigned int)reader_number(r, lab->json, "steps", 1, LAB_STEPS, 0);
	r->steps = lab->steps;
	if (reader_ok(r))
		lab->frees = (unsigned int)reader_number(r, lab->json, "frees", 1, lab->steps, 1);
	lab->program = reader_name(r, lab->json, "program", lab->name);
	lab->by_test = reader_word(r, lab->json, "module", modules);
	lab->module_args = reader_text(r, lab->json, "module_args", ARGS_MAX, "");
	check_words(r, lab->json, "exports", 1, SYMBOLS_MAX, "_", false);
	/* The list must exist, but may be empty. */
	if (!json_object_get(lab->json, "allow"))
		reader_fail(r, "allow", "missing");
	check_words(r, lab->json, "allow", 0, SYMBOLS_MAX, "_", true);
	check_words(r, lab->json, "host_tests", 0, 16, "_-", false);
	read_tests(r, lab);
}

struct lab *lab_load(const char *path, const char *name, char error[LAB_ERROR])
{
	struct reader r = { .file = path, .error = error };
	struct lab *lab = calloc(1, sizeof(*lab));
	json_error_t json_error;

	error[0] = '\0';
	if (!lab) {
		reader_fail(&r, NULL, "out of memory");
		return NULL;
	}
	lab->json = json_load_file(path, JSON_REJECT_DUPLICATES, &json_error);
	if (!lab->json && json_error.line > 0)
		reader_fail(&r, NULL, "line %d: %s", json_error.line, json_error.text);
	else if (!lab->json)
		reader_fail(&r, NULL, "%s", json_error.text);
	else if (!json_is_object(lab->json))
		reader_fail(&r, NULL, "is not an object");
	else
		read_lab(&r, lab, name);
	if (reader_ok(&r))
		return lab;
	lab_free(lab);
	return NULL;
}

void lab_free(struct lab *lab)
{
	size_t i;

	if (!lab)
		return;
	for (i = 0; i < lab->test_count; i++)
		lab_free_hints(&lab->tests[i]);
	free(lab->tests);
	json_decref(lab->json);
	free(lab);
}

const struct lab_test *lab_test_named(const struct lab *lab, const char *name)
{
	size_t i;

	for (i = 0; i < lab->test_count; i++)
		if (!strcmp(lab->tests[i].name, name))
			return &lab->tests[i];
	return NULL;
}
