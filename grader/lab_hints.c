// SPDX-License-Identifier: MIT
/*
 * A test's hints: those for any failure, and those for a failure of one kind.
 */
#include <stdlib.h>
#include <string.h>

#include "lab_json.h"

#define HINT_MAX_BYTES	1200
#define WHEN_MAX_BYTES	400

static void read_three(const struct reader *r, const json_t *json, const char *hints[LAB_HINTS])
{
	static const char *const ordinals[LAB_HINTS] = { "first", "second", "third" };
	const json_t *array = reader_array(r, json, "hints", LAB_HINTS, LAB_HINTS);
	size_t i;

	for (i = 0; array && i < LAB_HINTS; i++) {
		const char *hint = json_string_value(json_array_get(array, i));

		if (!hint || !*hint || strlen(hint) > HINT_MAX_BYTES)
			reader_fail(r, "hints", "the %s is not a text of 1 to %d bytes",
				    ordinals[i], HINT_MAX_BYTES);
		hints[i] = hint ? hint : "";
	}
}

/* A case whose pattern matches everything would hide the default and all later cases. */
static void read_pattern(const struct reader *r, const json_t *json, struct lab_case *c)
{
	char why[160];
	int error;

	c->when = reader_text(r, json, "when", WHEN_MAX_BYTES, NULL);
	if (!reader_ok(r))
		return;
	error = regcomp(&c->pattern, c->when, REG_EXTENDED | REG_NOSUB);
	if (error) {
		regerror(error, NULL, why, sizeof(why));
		reader_fail(r, "when", "\"%.100s\": %s", c->when, why);
		return;
	}
	c->compiled = true;
	if (!regexec(&c->pattern, "", 0, NULL, 0))
		reader_fail(r, "when", "\"%.100s\" matches every failure", c->when);
}

static void read_cases(const struct reader *r, const json_t *json, struct lab_test *test)
{
	static const char *const keys[] = { "when", "hints", NULL };
	const json_t *array = reader_array(r, json, "cases", 0, LAB_CASES);
	size_t i, k;

	for (i = 0; i < json_array_size(array) && reader_ok(r); i++) {
		const json_t *object = json_array_get(array, i);
		struct lab_case *c = &test->cases[test->case_count++];

		if (!json_is_object(object)) {
			reader_fail(r, "cases", "is not a list of {\"when\": .., \"hints\": ..}");
			return;
		}
		reader_keys(r, object, keys);
		read_pattern(r, object, c);
		read_three(r, object, c->hints);
		for (k = 0; k < i && reader_ok(r); k++)
			if (!strcmp(test->cases[k].when, c->when))
				reader_fail(r, "cases", "\"%.100s\" is there twice", c->when);
	}
}

void lab_read_hints(const struct reader *r, const json_t *json, struct lab_test *test)
{
	read_three(r, json, test->hints);
	read_cases(r, json, test);
}

void lab_free_hints(struct lab_test *test)
{
	size_t i;

	for (i = 0; i < test->case_count; i++)
		if (test->cases[i].compiled)
			regfree(&test->cases[i].pattern);
}

unsigned int lab_case_of(const struct lab_test *test, const char *failure)
{
	unsigned int i;

	for (i = 0; i < test->case_count; i++)
		if (!regexec(&test->cases[i].pattern, failure, 0, NULL, 0))
			return i + 1;
	return 0;
}

const char *const *lab_hints(const struct lab_test *test, unsigned int which)
{
	return which && which <= test->case_count ? test->cases[which - 1].hints : test->hints;
}
