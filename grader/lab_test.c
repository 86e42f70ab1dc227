// SPDX-License-Identifier: MIT
/*
 * One test of a lab.json.
 */
#include <stdio.h>
#include <string.h>

#include "agate_regs.h"
#include "lab_json.h"
#include "names.h"

#define LINE_MAX_BYTES	400
#define POINTS_MAX	LAB_POINTS
#define LIMIT_MS_LOWEST	100
#define LIMIT_MS_HIGHEST 60000
#define LIMIT_MS_DEFAULT 5000

static const char *const profiles[] = { "normal", "tight", "swiotlb", NULL };

const char *lab_profile_name(enum lab_profile profile)
{
	return profiles[profile];
}

static unsigned int read_kernels(const struct reader *r, const json_t *json)
{
	const json_t *array = reader_array(r, json, "kernels", 0, 2);
	unsigned int kernels = 0, bit;
	size_t i;

	if (!array)
		return LAB_FAST;
	for (i = 0; i < json_array_size(array); i++) {
		const char *word = json_string_value(json_array_get(array, i));

		bit = !word ? 0 : !strcmp(word, "fast") ? LAB_FAST :
		      !strcmp(word, "debug") ? LAB_DEBUG : 0;
		if (!bit || kernels & bit)
			reader_fail(r, "kernels", "are \"fast\" and \"debug\", each at most once");
		kernels |= bit;
	}
	if (!kernels)
		reader_fail(r, "kernels", "is empty");
	return kernels;
}

static void read_params(const struct reader *r, const json_t *json, struct lab_test *test)
{
	json_t *params = json_object_get(json, "params"), *range;
	const char *name;

	if (!params)
		return;
	if (!json_is_object(params) || json_object_size(params) > LAB_PARAMS) {
		reader_fail(r, "params", "is not an object of at most %d numbers", LAB_PARAMS);
		return;
	}
	json_object_foreach(params, name, range) {
		const json_t *low = json_array_get(range, 0), *high = json_array_get(range, 1);
		struct lab_param *p = &test->params[test->param_count++];

		if (!reader_is_name(name))
			reader_fail(r, "params", "\"%.60s\" is not a name", name);
		else if (json_array_size(range) != 2 || !json_is_integer(low) ||
			 !json_is_integer(high))
			reader_fail(r, "params", "%s is not [LOWEST, HIGHEST]", name);
		else if (json_integer_value(low) > json_integer_value(high))
			reader_fail(r, "params", "%s: the lowest is above the highest", name);
		*p = (struct lab_param){
			.name = name,
			.lowest = json_integer_value(low),
			.highest = json_integer_value(high),
		};
	}
}

int lab_param_index(const struct lab_test *test, const char *name)
{
	size_t i;

	for (i = 0; i < test->param_count; i++)
		if (!strcmp(test->params[i].name, name))
			return (int)i;
	return -1;
}

static void read_counter(const struct reader *r, struct lab_judgement *j)
{
	unsigned int i;

	for (i = 0; i < AGATE_CNT_COUNT; i++) {
		if (!strcmp(name_counter(i), j->name)) {
			j->index = i;
			return;
		}
	}
	reader_fail(r, "judge", "the simulator has no counter \"%s\"", j->name);
}

static void read_comparison(const struct reader *r, const json_t *json,
			    const struct lab_test *test, struct lab_judgement *j)
{
	static const char *const names[] = { "equals", "at_least", "at_most" };
	const json_t *value = NULL;
	const char *param;
	unsigned int i, n = 0;

	for (i = 0; i < 3; i++) {
		const json_t *v = json_object_get(json, names[i]);

		if (!v)
			continue;
		value = v;
		j->compare = i;
		n++;
	}
	param = json_string_value(value);
	j->param = -1;
	j->number = json_integer_value(value);
	if (n != 1)
		reader_fail(r, "judge", "wants one of equals, at_least and at_most");
	else if (param && *param == '$')
		j->param = lab_param_index(test, param + 1);
	else if (!json_is_integer(value))
		reader_fail(r, "judge", "compares with a whole number or \"$PARAM\"");
	if (param && j->param < 0)
		reader_fail(r, "judge", "there is no parameter for \"%.60s\"", param);
}

static void read_judgements(const struct reader *r, const json_t *json, struct lab_test *test)
{
	static const char *const keys[] = {
		"see", "counter", "equals", "at_least", "at_most", "rule", NULL
	};
	const json_t *array = reader_array(r, json, "judge", 0, LAB_JUDGEMENTS);
	size_t i;

	for (i = 0; i < json_array_size(array) && reader_ok(r); i++) {
		const json_t *judge = json_array_get(array, i);
		struct lab_judgement *j = &test->judgements[test->judgement_count++];
		bool see = json_object_get(judge, "see");

		if (!json_is_object(judge)) {
			reader_fail(r, "judge", "is not a list of objects");
			return;
		}
		reader_keys(r, judge, keys);
		j->counter = json_object_get(judge, "counter");
		if (j->counter == see)
			reader_fail(r, "judge", "wants one of see and counter");
		j->name = reader_name(r, judge, j->counter ? "counter" : "see", NULL);
		j->rule = reader_text(r, judge, "rule", LINE_MAX_BYTES, NULL);
		read_comparison(r, judge, test, j);
		if (reader_ok(r) && j->counter)
			read_counter(r, j);
	}
}

/* "PAGE#ANCHOR"; the code that shows it looks it up. */
static void read_book(const struct reader *r, const json_t *json, struct lab_test *test)
{
	const char *anchor;

	test->book = reader_text(r, json, "book", LINE_MAX_BYTES, NULL);
	anchor = strchr(test->book, '#');
	if (reader_ok(r) && (!anchor || anchor == test->book || !anchor[1] ||
			     strchr(test->book, '/')))
		reader_fail(r, "book", "is not PAGE#ANCHOR");
}

static void read_provoked(const struct reader *r, const json_t *json, struct lab_test *test)
{
	const json_t *array = reader_array(r, json, "provokes", 0, LAB_PROVOKED);
	size_t i;

	for (i = 0; i < json_array_size(array) && reader_ok(r); i++) {
		test->provokes[i] = json_string_value(json_array_get(array, i));
		if (!test->provokes[i])
			reader_fail(r, "provokes", "is not a list of texts");
	}
}

void lab_read_test(struct reader *r, const json_t *json, struct lab_test *test)
{
	static const char *const keys[] = {
		"name", "points", "shows", "kernels", "profile", "limit_ms", "params", "inject",
		"judge", "step", "hints", "cases", "book", "visibility",
		"provokes", NULL
	};
	static const char *const visibilities[] = { "visible", "hidden", NULL };

	if (!json_is_object(json)) {
		reader_fail(r, "tests", "is not a list of objects");
		return;
	}
	test->name = reader_name(r, json, "name", NULL);
	if (!reader_ok(r))
		return;
	r->test = test->name;
	reader_keys(r, json, keys);
	test->points = (unsigned int)reader_number(r, json, "points", 1, POINTS_MAX, 0);
	test->shows = reader_text(r, json, "shows", LINE_MAX_BYTES, NULL);
	test->kernels = read_kernels(r, json);
	test->profile = reader_word(r, json, "profile", profiles);
	test->limit_ms = (unsigned int)reader_number(r, json, "limit_ms", LIMIT_MS_LOWEST,
						     LIMIT_MS_HIGHEST, LIMIT_MS_DEFAULT);
	if (json_object_get(json, "step"))
		test->step = (unsigned int)reader_number(r, json, "step", 1, r->steps, 0);
	read_params(r, json, test);
	lab_read_injections(r, json, test);
	read_judgements(r, json, test);
	lab_read_hints(r, json, test);
	read_book(r, json, test);
	read_provoked(r, json, test);
	test->hidden = reader_word(r, json, "visibility", visibilities);
	r->test = NULL;
}
