// SPDX-License-Identifier: MIT
/*
 * lab.json: the grader reads a valid file as it stands, and names the error in an invalid
 * one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agate_regs.h"
#include "lab_text.h"

#define TEST(more) "[{\"name\": \"one\", \"points\": 100, \"shows\": \"it\"," \
	"\"hints\": [\"a\", \"b\", \"c\"], \"book\": \"page#anchor\"" more "}]"

/* Loads the text as the lab 07-x; the error contains @wanted. */
static void refused(const char *text, const char *wanted)
{
	char error[LAB_ERROR];
	struct lab *lab = lab_load(scratch_file("labs/07-x/lab.json", text), "07-x", error);

	if (lab)
		fail_msg("this was taken: %s", text);
	if (!strstr(error, wanted) || !strstr(error, "07-x/lab.json"))
		fail_msg("\"%s\" does not say \"%s\"", error, wanted);
}

static void refused_json(json_t *json, const char *wanted)
{
	char *text = json_dumps(json, 0);

	assert_non_null(text);
	refused(text, wanted);
	free(text);
	json_decref(json);
}

/* The lab with one key set to this JSON, or removed (NULL). */
static void with_key(const char *key, const char *value, const char *wanted)
{
	json_t *json = lab_text(TEST(""));

	if (value)
		json_object_set_new(json, key, json_loads(value, JSON_DECODE_ANY, NULL));
	else
		json_object_del(json, key);
	refused_json(json, wanted);
}

/* The same for a key of its test; the error names the test. */
static void with_test_key(const char *key, const char *value, const char *wanted)
{
	json_t *json = lab_text(TEST("")), *test;

	test = json_array_get(json_object_get(json, "tests"), 0);
	if (value)
		json_object_set_new(test, key, json_loads(value, JSON_DECODE_ANY, NULL));
	else
		json_object_del(test, key);
	refused_json(json, wanted);
}

static void test_defaults(void **state)
{
	struct lab *lab = lab_from(lab_text(TEST("")));
	const struct lab_test *t = &lab->tests[0];

	(void)state;
	assert_string_equal(lab->program, "07-x");
	assert_false(lab->library);
	assert_false(lab->by_test);
	assert_string_equal(lab->module_args, "");
	assert_int_equal(t->kernels, LAB_FAST);
	assert_int_equal(t->profile, LAB_NORMAL);
	assert_int_equal(t->limit_ms, 5000);
	assert_false(t->hidden);
	assert_false(t->kill);
	assert_int_equal(t->judgement_count + t->param_count + t->injection_count, 0);
	assert_ptr_equal(lab_test_named(lab, "one"), t);
	assert_null(lab_test_named(lab, "two"));
	lab_free(lab);
}

static void test_everything(void **state)
{
	struct lab *lab = lab_from(lab_text(TEST(
		", \"kernels\": [\"debug\", \"fast\"], \"profile\": \"swiotlb\", \"limit_ms\": 700,"
		"\"visibility\": \"hidden\", \"params\": {\"N\": [-5, 9]},"
		"\"inject\": [{\"latency\": {\"reset\": -1}}, {\"identity\": {\"gpu_id\": 7}},"
		"{\"fault\": {\"status\": 1, \"address\": 4096}}, {\"kill\": true}],"
		"\"judge\": [{\"see\": \"size\", \"at_least\": \"$N\", \"rule\": \"r\"},"
		"{\"counter\": \"irqs\", \"at_most\": 3, \"rule\": \"r\"}]")));
	const struct lab_test *t = &lab->tests[0];

	(void)state;
	assert_int_equal(t->kernels, LAB_FAST | LAB_DEBUG);
	assert_int_equal(t->profile, LAB_SWIOTLB);
	assert_int_equal(t->limit_ms, 700);
	assert_true(t->hidden);
	assert_int_equal(t->params[0].lowest, -5);
	assert_int_equal(t->params[0].highest, 9);
	assert_int_equal(t->injection_count, 3);
	assert_true(t->kill);
	assert_false(t->judgements[0].counter);
	assert_int_equal(t->judgements[0].param, 0);
	assert_int_equal(t->judgements[0].compare, LAB_AT_LEAST);
	assert_true(t->judgements[1].counter);
	assert_int_equal(t->judgements[1].index, AGATE_CNT_IRQS);
	assert_int_equal(t->judgements[1].number, 3);
	lab_free(lab);
}

static void test_no_json(void **state)
{
	char error[LAB_ERROR];

	(void)state;
	refused("", "line 1");
	refused("{\"schema\": \"agate/lab/v1\",", "line 1");
	refused("[]", "not an object");
	refused("{\"lab\": \"a\", \"lab\": \"b\"}", "duplicate");
	assert_null(lab_load("/nonexistent/lab.json", "x", error));
	assert_non_null(strstr(error, "/nonexistent/lab.json"));
}

static void test_lab_keys(void **state)
{
	static const char *const needed[] = {
		"schema", "lab", "title", "files", "steps", "exports", "allow", "tests",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		char wanted[64];

		snprintf(wanted, sizeof(wanted), "%s: missing", needed[i]);
		with_key(needed[i], NULL, wanted);
	}
	with_key("colour", "1", "colour: no such key");
	with_key("schema", "\"agate/lab/v2\"", "schema");
	with_key("lab", "\"08-x\"", "lab: is \"08-x\"");
	with_key("title", "7", "title: is not a text");
	with_key("title", "\"two\\nlines\"", "title");
	with_key("steps", "0", "steps");
	with_key("steps", "2.5", "steps: is not a whole number");
	with_key("frees", "0", "frees");
	with_key("frees", "4", "frees: is not within 1 and 3");
	with_key("kind", "\"firmware\"", "kind");
	with_key("module", "\"never\"", "module");
	with_key("program", "\"../sh\"", "program");
}

static void test_lab_names(void **state)
{
	(void)state;
	with_key("files", "[]", "files");
	with_key("files", "\"agate_x.c\"", "files: is not an array");
	with_key("files", "[\"agate_a.c\", \"agate_b.c\", \"agate_c.c\", \"agate_d.c\"]", "files");
	with_key("files", "[\"../agate_x.c\"]", "files");
	with_key("files", "[\"Makefile\"]", "files");
	with_key("files", "[\"agate_x.c\", \"agate_x.c\"]", "twice");
	with_key("exports", "[\"a b\"]", "exports");
	with_key("exports", "[\"agate_*\"]", "exports");
	with_key("allow", "[\"*\"]", "allow");
	with_key("allow", "[\"dr*m\"]", "allow");
	with_key("allow", "[\"kfree\", \"kfree\"]", "twice");
	with_key("host_tests", "[\"/bin/sh\"]", "host_tests");
}

static void test_test_keys(void **state)
{
	(void)state;
	with_test_key("name", NULL, "name: missing");
	with_test_key("name", "\"no space\"", "name");
	with_test_key("name", "\"-x\"", "name");
	with_test_key("points", NULL, "test one: points: missing");
	with_test_key("points", "99", "add up to 99");
	with_test_key("points", "101", "test one: points");
	with_test_key("points", "-1", "test one: points");
	with_test_key("points", "99.5", "test one: points");
	with_test_key("shows", NULL, "test one: shows");
	with_test_key("typo", "1", "test one: typo: no such key");
	with_test_key("kernels", "[]", "test one: kernels");
	with_test_key("kernels", "[\"slow\"]", "test one: kernels");
	with_test_key("kernels", "[\"fast\", \"fast\"]", "test one: kernels");
	with_test_key("profile", "\"huge\"", "test one: profile");
	with_test_key("limit_ms", "0", "test one: limit_ms");
	with_test_key("limit_ms", "3600000", "test one: limit_ms");
	with_test_key("hints", "[\"a\", \"b\"]", "test one: hints: has to have 3");
	with_test_key("hints", "[\"a\", \"\", \"c\"]", "hints: the second");
	with_test_key("book", "\"page\"", "test one: book");
	with_test_key("book", "\"../page#x\"", "test one: book");
	with_test_key("visibility", "\"secret\"", "test one: visibility");
	with_test_key("provokes", "[7]", "test one: provokes");
}

static void test_step(void **state)
{
	struct lab *lab = lab_from(lab_text(TEST(", \"step\": 3")));

	(void)state;
	assert_int_equal(lab->tests[0].step, 3);
	lab_free(lab);
	lab = lab_from(lab_text(TEST("")));
	assert_int_equal(lab->tests[0].step, 0);
	lab_free(lab);
	with_test_key("step", "0", "test one: step: is not within 1 and 3");
	with_test_key("step", "4", "test one: step: is not within 1 and 3");
	with_test_key("step", "\"2\"", "test one: step: is not a whole number");
}

#define CASE(when) "{\"when\": " when ", \"hints\": [\"d\", \"e\", \"f\"]}"

/* The first case that matches the failure gives the hints. */
static void test_cases(void **state)
{
	struct lab *lab = lab_from(lab_text(TEST(
		", \"cases\": [{\"when\": \"EBUSY|^rule two\", \"hints\": [\"d\", \"e\", \"f\"]},"
		"{\"when\": \"seen: [0-9]+$\", \"hints\": [\"g\", \"h\", \"i\"]}]")));
	const struct lab_test *t = &lab->tests[0];

	(void)state;
	assert_int_equal(t->case_count, 2);
	assert_int_equal(lab_case_of(t, "rule one\nthis\nthat"), 0);
	assert_int_equal(lab_case_of(t, "rule one\nthis\nEBUSY, seen: 7"), 1);
	assert_int_equal(lab_case_of(t, "rule two\nthis\nthat"), 1);
	assert_int_equal(lab_case_of(t, "rule one\nthis\nseen: 7"), 2);
	assert_string_equal(lab_hints(t, 0)[2], "c");
	assert_string_equal(lab_hints(t, 1)[1], "e");
	assert_string_equal(lab_hints(t, 2)[0], "g");
	assert_string_equal(lab_hints(t, 3)[0], "a");
	lab_free(lab);
	with_test_key("cases", "{}", "test one: cases: is not an array");
	with_test_key("cases", "[1]", "test one: cases: is not a list");
	with_test_key("cases", "[{\"when\": \"x\"}]", "test one: hints: missing");
	with_test_key("cases", "[{\"hints\": [\"d\", \"e\", \"f\"]}]", "test one: when: missing");
	with_test_key("cases", "[" CASE("\"\"") "]", "test one: when: is empty");
	with_test_key("cases", "[" CASE("\"a(\"") "]", "test one: when: \"a(\": ");
	with_test_key("cases", "[" CASE("\".*\"") "]", "\".*\" matches every failure");
	with_test_key("cases", "[" CASE("\"x\"") "," CASE("\"x\"") "]", "\"x\" is there twice");
	with_test_key("cases", "[{\"when\": \"x\", \"if\": 1, \"hints\": [\"d\", \"e\", \"f\"]}]",
		      "test one: if: no such key");
	with_test_key("cases", "[{\"when\": \"x\", \"hints\": [\"d\", \"e\"]}]",
		      "test one: hints: has to have 3");
}

static void test_params(void **state)
{
	(void)state;
	with_test_key("params", "[1, 2]", "test one: params");
	with_test_key("params", "{\"N\": 5}", "test one: params");
	with_test_key("params", "{\"N\": [5]}", "test one: params");
	with_test_key("params", "{\"N\": [5, 4]}", "above the highest");
	with_test_key("params", "{\"N\": [1.0, 4]}", "test one: params");
	with_test_key("params", "{\"A B\": [1, 4]}", "test one: params");
}

static void test_injections(void **state)
{
	(void)state;
	with_test_key("inject", "{}", "test one: inject");
	with_test_key("inject", "[{}]", "test one: inject");
	with_test_key("inject", "[{\"quit\": {}}]", "test one: inject");
	with_test_key("inject", "[{\"kill\": false}]", "test one: inject");
	with_test_key("inject", "[{\"latency\": {}}]", "test one: inject");
	with_test_key("inject", "[{\"latency\": {\"reset\": -2}}]", "out of the simulator's bounds");
	with_test_key("inject", "[{\"latency\": {\"rest\": 1}}]", "there is no \"rest\"");
	with_test_key("inject", "[{\"latency\": {\"reset\": \"$N\"}}]", "no parameter");
	with_test_key("inject", "[{\"latency\": {\"reset\": \"N\"}}]", "no parameter");
	with_test_key("inject", "[{\"latency\": {\"reset\": 1.5}}]", "neither a number");
	with_test_key("inject", "[{\"fault\": {\"status\": 3}}]", "wants address");
	with_test_key("inject", "[{\"identity\": {\"gpu_id\": 4294967296}}]", "bounds");
}

static void test_judgements(void **state)
{
	(void)state;
	with_test_key("judge", "[5]", "test one: judge");
	with_test_key("judge", "[{\"see\": \"a\", \"equals\": 1}]", "rule: missing");
	with_test_key("judge", "[{\"equals\": 1, \"rule\": \"r\"}]", "one of see and counter");
	with_test_key("judge", "[{\"see\": \"a\", \"counter\": \"irqs\", \"equals\": 1, \"rule\": \"r\"}]",
		      "one of see and counter");
	with_test_key("judge", "[{\"see\": \"a\", \"rule\": \"r\"}]", "one of equals");
	with_test_key("judge", "[{\"see\": \"a\", \"equals\": 1, \"at_most\": 2, \"rule\": \"r\"}]",
		      "one of equals");
	with_test_key("judge", "[{\"see\": \"a\", \"equals\": \"$N\", \"rule\": \"r\"}]",
		      "no parameter");
	with_test_key("judge", "[{\"see\": \"a\", \"equals\": \"5\", \"rule\": \"r\"}]",
		      "whole number");
	with_test_key("judge", "[{\"counter\": \"unicorns\", \"equals\": 1, \"rule\": \"r\"}]",
		      "no counter \"unicorns\"");
	with_test_key("judge", "[{\"see\": \"a\", \"is\": 1, \"rule\": \"r\"}]", "is: no such key");
}

static void test_duplicates(void **state)
{
	(void)state;
	refused_json(lab_text("[{\"name\": \"one\", \"points\": 50, \"shows\": \"it\","
			      "\"hints\": [\"a\", \"b\", \"c\"], \"book\": \"p#a\"},"
			      "{\"name\": \"one\", \"points\": 50, \"shows\": \"it\","
			      "\"hints\": [\"a\", \"b\", \"c\"], \"book\": \"p#a\"}]"),
		     "the name \"one\" is there twice");
}

static void found(const char *word, const char *wanted)
{
	char labs[4096], name[LAB_NAME], error[LAB_ERROR];
	bool ok;

	strcpy(labs, scratch_path("labs"));
	ok = lab_find(labs, word, name, error);
	if (!wanted && ok)
		fail_msg("%s was taken for %s", word, name);
	if (wanted && !ok)
		fail_msg("%s: %s", word, error);
	if (wanted)
		assert_string_equal(name, wanted);
}

static void test_names(void **state)
{
	char (*names)[LAB_NAME];

	(void)state;
	scratch_file("labs/05-mmap/lab.json", "{}");
	scratch_file("labs/15-reset/lab.json", "{}");
	scratch_file("labs/16-mmap/lab.json", "{}");
	scratch_file("labs/capstone/lab.json", "{}");
	scratch_file("labs/20-ggtt/README.md", "");
	found("05", "05-mmap");
	found("5", "05-mmap");
	found("05-mmap", "05-mmap");
	found("reset", "15-reset");
	found("capstone", "capstone");
	found("mmap", NULL);
	found("20", NULL);
	found("0", NULL);
	found("", NULL);
	found("5x", NULL);
	found("-5", NULL);
	found("../labs/05-mmap", NULL);
	assert_int_equal(lab_names(scratch_path("labs"), &names), 5);
	assert_string_equal(names[0], "05-mmap");
	assert_string_equal(names[4], "capstone");
	free(names);
	assert_int_equal(lab_names(scratch_path("nothing"), &names), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_no_json),
		cmocka_unit_test(test_lab_keys),
		cmocka_unit_test(test_lab_names),
		cmocka_unit_test(test_test_keys),
		cmocka_unit_test(test_step),
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_injections),
		cmocka_unit_test(test_judgements),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
