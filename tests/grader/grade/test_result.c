// SPDX-License-Identifier: MIT
/*
 * The result: which verdicts count, what the file contains, and that it is whole at any
 * time.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lab_text.h"
#include "report.h"
#include "result.h"

static const char *const abc[] = { "a", "b", "c", NULL };

/* A run on both kernels, of a lab whose tests need these kernels. */
struct fixture {
	struct lab *lab;
	struct result_lab labs[2];
	struct result result;
};

static void begin(struct fixture *f, const char *more)
{
	size_t i;

	memset(f, 0, sizeof(*f));
	f->lab = lab_with(abc, more);
	assert_true(result_init(&f->labs[0], f->lab));
	for (i = 0; i < f->lab->test_count; i++)
		f->labs[0].selected[i] = true;
	f->labs[0].ran[FLAVOUR_FAST] = true;
	f->result.labs = f->labs;
	f->result.lab_count = 1;
	f->result.seed = 7;
	strcpy(f->result.kernel, "6.1.192 fast");
}

static void end(struct fixture *f)
{
	result_free(&f->labs[0]);
	lab_free(f->lab);
}

static void take(struct fixture *f, enum flavour flavour, size_t test, enum verdict_status status)
{
	struct verdict v;

	memset(&v, 0, sizeof(v));
	if (status == VERDICT_PASS)
		v.status = status;
	else
		verdict_set(&v, status, "The rule.", "this", "that \xe2\x89\xa5 %d", 3);
	result_take(&f->labs[0], flavour, test, &v);
}

static void stands(const struct fixture *f, size_t test, enum verdict_status status,
		   unsigned int points)
{
	struct standing s;

	result_standing(&f->labs[0], test, &s);
	assert_string_equal(verdict_word(s.status), verdict_word(status));
	assert_int_equal(s.points, points);
}

static void scores(const struct fixture *f, unsigned int score, unsigned int max)
{
	unsigned int s, m;

	result_score(&f->labs[0], &s, &m);
	assert_int_equal(s, score);
	assert_int_equal(m, max);
}

/* A pass counts when its guest has its end record, and not earlier. */
static void test_end_record(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{}");
	scores(&f, 0, 0);
	take(&f, FLAVOUR_FAST, 0, VERDICT_PASS);
	stands(&f, 0, VERDICT_NOT_RUN, 0);
	scores(&f, 0, 0);
	result_seal(&f.labs[0], FLAVOUR_FAST, NULL, true);
	stands(&f, 0, VERDICT_PASS, 34);
	take(&f, FLAVOUR_FAST, 1, VERDICT_PASS);
	take(&f, FLAVOUR_FAST, 2, VERDICT_FAIL);
	result_seal(&f.labs[0], FLAVOUR_FAST, NULL, false);
	stands(&f, 0, VERDICT_PASS, 34);
	stands(&f, 1, VERDICT_FAIL, 0);
	result_seal(&f.labs[0], FLAVOUR_FAST, NULL, true);
	stands(&f, 1, VERDICT_FAIL, 0);
	stands(&f, 2, VERDICT_FAIL, 0);
	scores(&f, 34, 100);
	end(&f);
}

static char *printed(const struct result_lab *lab, bool colour);
static void prints(const char *text, const char *wanted);

/* A run that ends too early says nothing about the code: neither a failure nor a hint. */
static void test_given_up(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	begin(&f, "{}");
	take(&f, FLAVOUR_FAST, 0, VERDICT_PASS);
	result_seal(&f.labs[0], FLAVOUR_FAST, NULL, true);
	take(&f, FLAVOUR_FAST, 1, VERDICT_PASS);
	take(&f, FLAVOUR_FAST, 2, VERDICT_FAIL);
	result_give_up(&f.labs[0], FLAVOUR_FAST, "it ended before this could count");
	stands(&f, 0, VERDICT_PASS, 34);
	stands(&f, 1, VERDICT_NOT_RUN, 0);
	stands(&f, 2, VERDICT_FAIL, 0);
	assert_true(result_settled(&f.labs[0], 1));
	text = printed(&f.labs[0], false);
	prints(text, "NOT-RUN   0/33   b: it ended before this could count\nFAIL ");
	prints(text, "34 of 67 points");
	free(text);
	/* A later record cannot save it, but a later run of the test can. */
	result_seal(&f.labs[0], FLAVOUR_FAST, NULL, true);
	stands(&f, 1, VERDICT_NOT_RUN, 0);
	take(&f, FLAVOUR_FAST, 1, VERDICT_PASS);
	result_seal(&f.labs[0], FLAVOUR_FAST, NULL, true);
	stands(&f, 1, VERDICT_PASS, 33);
	end(&f);
}

static void test_two_kernels(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{\"kernels\": [\"fast\", \"debug\"]}");
	take(&f, FLAVOUR_FAST, 0, VERDICT_PASS);
	result_seal(&f.labs[0], FLAVOUR_FAST, NULL, true);
	/* Without the debug kernel the fast one decides. */
	stands(&f, 0, VERDICT_PASS, 34);
	f.labs[0].ran[FLAVOUR_DEBUG] = true;
	stands(&f, 0, VERDICT_NOT_RUN, 0);
	take(&f, FLAVOUR_DEBUG, 0, VERDICT_CRASH);
	stands(&f, 0, VERDICT_CRASH, 0);
	take(&f, FLAVOUR_FAST, 1, VERDICT_FAIL);
	take(&f, FLAVOUR_DEBUG, 1, VERDICT_PASS);
	result_seal(&f.labs[0], FLAVOUR_DEBUG, NULL, true);
	stands(&f, 1, VERDICT_FAIL, 0);
	end(&f);

	begin(&f, "{\"kernels\": [\"debug\"]}");
	stands(&f, 0, VERDICT_NOT_RUN, 0);
	scores(&f, 0, 0);
	end(&f);
}

/*
 * A test without a verdict is not a pass, and costs no points; the verdict of a single
 * kernel counts.
 */
static void test_unjudged(void **state)
{
	struct fixture f;
	struct standing s;
	char text[512];

	(void)state;
	begin(&f, "{\"kernels\": [\"fast\", \"debug\"]}");
	f.labs[0].ran[FLAVOUR_DEBUG] = true;
	take(&f, FLAVOUR_FAST, 0, VERDICT_PASS);
	take(&f, FLAVOUR_FAST, 1, VERDICT_FAIL);
	take(&f, FLAVOUR_FAST, 2, VERDICT_PASS);
	result_seal(&f.labs[0], FLAVOUR_FAST, NULL, true);
	take(&f, FLAVOUR_DEBUG, 0, VERDICT_NOT_RUN);
	take(&f, FLAVOUR_DEBUG, 1, VERDICT_NOT_RUN);
	take(&f, FLAVOUR_DEBUG, 2, VERDICT_PASS);
	result_seal(&f.labs[0], FLAVOUR_DEBUG, NULL, true);
	stands(&f, 0, VERDICT_NOT_RUN, 0);
	stands(&f, 1, VERDICT_FAIL, 0);
	stands(&f, 2, VERDICT_PASS, 33);
	scores(&f, 33, 66);
	assert_true(result_settled(&f.labs[0], 0));
	result_standing(&f.labs[0], 0, &s);
	assert_int_equal(s.flavour, FLAVOUR_DEBUG);
	result_message(&s, false, text, sizeof(text));
	assert_non_null(strstr(text, "seen: that"));
	result_message(&s, true, text, sizeof(text));
	assert_string_equal(text, "A test that is not shown could not be judged.");
	end(&f);
}

static void test_file(void **state)
{
	struct fixture f;
	json_t *json, *test;
	char path[4096];

	(void)state;
	begin(&f, "{}");
	f.labs[0].selected[2] = false;
	take(&f, FLAVOUR_FAST, 0, VERDICT_PASS);
	result_seal(&f.labs[0], FLAVOUR_FAST, NULL, true);
	take(&f, FLAVOUR_FAST, 1, VERDICT_CRASH);
	strcpy(f.labs[0].outcomes[FLAVOUR_FAST][1].where, "labs/07-x/agate_x.c:88");
	strcpy(f.labs[0].outcomes[FLAVOUR_FAST][1].freed[0], "labs/07-x/agate_x.c:33, in y()");
	f.labs[0].outcomes[FLAVOUR_FAST][1].freed_count = 1;
	strcpy(path, scratch_path("result.json"));
	assert_true(result_write(&f.result, path));
	json = json_load_file(path, 0, NULL);
	assert_non_null(json);
	assert_string_equal(json_string_value(json_object_get(json, "schema")), "agate/result/v1");
	assert_int_equal(json_integer_value(json_object_get(json, "score")), 34);
	assert_int_equal(json_integer_value(json_object_get(json, "max")), 67);
	assert_int_equal(json_integer_value(json_object_get(json, "seed")), 7);
	assert_true(json_is_false(json_object_get(json, "complete")));
	test = json_array_get(json_object_get(json_array_get(json_object_get(json, "labs"), 0),
					      "tests"), 1);
	assert_string_equal(json_string_value(json_object_get(test, "id")), "07-x/b");
	assert_string_equal(json_string_value(json_object_get(test, "status")), "crash");
	assert_string_equal(json_string_value(json_object_get(test, "message")),
			    "The rule. Expected this, seen: that \xe2\x89\xa5 3; "
			    "freed at labs/07-x/agate_x.c:33, in y()");
	assert_string_equal(json_string_value(json_object_get(test, "where")),
			    "labs/07-x/agate_x.c:88");
	assert_int_equal(json_integer_value(json_object_get(test, "max")), 33);
	test = json_array_get(json_object_get(json_array_get(json_object_get(json, "labs"), 0),
					      "tests"), 2);
	assert_string_equal(json_string_value(json_object_get(test, "status")), "not-run");
	json_decref(json);
	end(&f);
}

static void test_hidden(void **state)
{
	struct fixture f;
	char path[4096], text[8192];
	FILE *file;
	size_t n;

	(void)state;
	begin(&f, "{\"visibility\": \"hidden\"}");
	take(&f, FLAVOUR_FAST, 0, VERDICT_FAIL);
	strcpy(f.labs[0].outcomes[FLAVOUR_FAST][0].where, "labs/07-x/agate_x.c:88");
	strcpy(path, scratch_path("result.json"));
	assert_true(result_write(&f.result, path));
	file = fopen(path, "r");
	assert_non_null(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	assert_null(strstr(text, "The rule."));
	assert_null(strstr(text, "agate_x.c"));
	assert_non_null(strstr(text, "\"visibility\": \"hidden\""));
	end(&f);
}

/* The same lab twice would have every id twice: such a file is not written. */
static void test_ids(void **state)
{
	struct fixture f;
	char path[4096];

	(void)state;
	begin(&f, "{}");
	strcpy(path, scratch_path("twice.json"));
	f.labs[1] = f.labs[0];
	f.result.lab_count = 2;
	assert_false(result_write(&f.result, path));
	assert_int_equal(errno, EEXIST);
	assert_int_equal(access(path, F_OK), -1);
	end(&f);
}

static void test_no_room(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{}");
	assert_false(result_write(&f.result, "/nonexistent/result.json"));
	assert_int_equal(errno, ENOENT);
	/* On a full disk the old file stays. */
	if (!access("/dev/full", W_OK)) {
		char path[4096], part[4200];
		json_t *json;

		strcpy(path, scratch_path("full.json"));
		assert_true(result_write(&f.result, path));
		snprintf(part, sizeof(part), "%s.part", path);
		assert_int_equal(symlink("/dev/full", part), 0);
		assert_false(result_write(&f.result, path));
		json = json_load_file(path, 0, NULL);
		assert_non_null(json);
		json_decref(json);
	}
	end(&f);
}

/* A writer that is killed at any moment leaves a whole file. */
static void test_killed_writer(void **state)
{
	struct fixture f;
	char path[4096];
	int round;

	(void)state;
	begin(&f, "{}");
	strcpy(path, scratch_path("killed.json"));
	assert_true(result_write(&f.result, path));
	for (round = 0; round < 30; round++) {
		pid_t pid = fork();
		json_t *json;
		int i;

		assert_true(pid >= 0);
		if (!pid) {
			for (;;)
				result_write(&f.result, path);
		}
		/* A reader sees a whole file while it is written, too. */
		for (i = 0; i < 20 + round; i++) {
			json = json_load_file(path, 0, NULL);
			if (!json) {
				kill(pid, SIGKILL);
				fail_msg("half a file");
			}
			json_decref(json);
		}
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		json = json_load_file(path, 0, NULL);
		assert_non_null(json);
		json_decref(json);
	}
	end(&f);
}

/* The output for the lab. */
static char *printed(const struct result_lab *lab, bool colour)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct report report = { .out = out, .colour = colour, .dir = "build/results/07-x",
				 .results = "build/results",
				 .number = "07" };

	report_lab(&report, lab);
	fclose(out);
	return text;
}

static void prints(const char *text, const char *wanted)
{
	if (!strstr(text, wanted))
		fail_msg("\"%s\" is not in:\n%s", wanted, text);
}

static void test_report(void **state)
{
	struct fixture f;
	struct outcome *crash;
	char *text;

	(void)state;
	begin(&f, "{\"kernels\": [\"fast\"]}");
	take(&f, FLAVOUR_FAST, 0, VERDICT_PASS);
	result_seal(&f.labs[0], FLAVOUR_FAST, NULL, true);
	take(&f, FLAVOUR_FAST, 1, VERDICT_CRASH);
	crash = &f.labs[0].outcomes[FLAVOUR_FAST][1];
	strcpy(crash->where, "labs/07-x/agate_x.c:88");
	crash->placed = true;
	crash->place.line = 88;
	strcpy(crash->place.function, "agate_x\033[2J");
	strcpy(crash->place.source[1], "\tbo->size = 0;");
	strcpy(crash->freed[0], "labs/07-x/agate_x.c:33, in agate_free()");
	strcpy(crash->freed[1], "labs/07-x/agate_x.c:60, in agate_put()");
	crash->freed_count = 2;
	take(&f, FLAVOUR_FAST, 2, VERDICT_FAIL);
	strcpy(f.labs[0].outcomes[FLAVOUR_FAST][2].verdict.notes[0], "a flush too many");
	f.labs[0].outcomes[FLAVOUR_FAST][2].verdict.note_count = 1;
	text = printed(&f.labs[0], false);
	prints(text, "PASS     34/34   a\n");
	prints(text, "CRASH     0/33   b\n");
	prints(text, "rule      The rule.");
	prints(text, "where     labs/07-x/agate_x.c:88, in agate_x?[2J()");
	prints(text, ">    88 |     bo->size = 0;");
	prints(text, "freed     labs/07-x/agate_x.c:33, in agate_free()\n");
	prints(text, "called from labs/07-x/agate_x.c:60, in agate_put()\n");
	prints(text, "hint      one");
	prints(text, "make hint LAB=07 TEST=c");
	/* Nobody foresaw this crash: its rule and its place speak. */
	assert_null(strstr(text, "make hint LAB=07 TEST=b"));
	prints(text, "build/results/07-x/fast-console.log");
	prints(text, "remark    a flush too many");
	prints(text, "34 of 100 points");
	assert_null(strchr(text, '\033'));
	free(text);
	text = printed(&f.labs[0], true);
	prints(text, "\033[32mPASS");
	assert_null(strstr(text, "agate_x\033"));
	free(text);
	end(&f);
}

/* The report follows the run: in order, and without results that may still change. */
static void test_report_live(void **state)
{
	struct fixture f;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct report report = { .out = out, .dir = "x", .results = "x", .number = "07" };

	(void)state;
	begin(&f, "{}");
	report_tests(&report, &f.labs[0]);
	assert_int_equal(report.next, 0);
	take(&f, FLAVOUR_FAST, 0, VERDICT_PASS);
	take(&f, FLAVOUR_FAST, 1, VERDICT_FAIL);
	report_tests(&report, &f.labs[0]);
	assert_int_equal(report.next, 0);
	result_seal(&f.labs[0], FLAVOUR_FAST, NULL, true);
	report_tests(&report, &f.labs[0]);
	assert_int_equal(report.next, 2);
	prints(text, "PASS     34/34   a\nFAIL");
	take(&f, FLAVOUR_FAST, 2, VERDICT_FAIL);
	report_lab(&report, &f.labs[0]);
	fclose(out);
	assert_null(strstr(strstr(text, "07-x: A lab") + 1, "07-x: A lab"));
	free(text);
	end(&f);
}

/* One reason for all tests is reported once; the report says what DEBUG=1 would add. */
static void test_report_short(void **state)
{
	struct fixture f;
	char *text;
	int i;

	(void)state;
	begin(&f, "{}");
	take(&f, FLAVOUR_FAST, 0, VERDICT_FAIL);
	take(&f, FLAVOUR_FAST, 1, VERDICT_PASS);
	take(&f, FLAVOUR_FAST, 2, VERDICT_FAIL);
	result_seal(&f.labs[0], FLAVOUR_FAST, NULL, true);
	text = printed(&f.labs[0], false);
	prints(text, "FAIL      0/33   c  as above (first seen in `a`)\n");
	prints(text, "seen      that");
	prints(text, "hint      one");
	assert_null(strstr(strstr(text, "seen      that") + 1, "seen      that"));
	free(text);
	/* The test's hints do not apply to a file that does not compile. */
	take(&f, FLAVOUR_FAST, 1, VERDICT_FAIL);
	for (i = 0; i < 3; i++)
		f.labs[0].outcomes[FLAVOUR_FAST][i].verdict.before = true;
	text = printed(&f.labs[0], false);
	prints(text, "seen      that");
	assert_null(strstr(text, "hint"));
	assert_null(strstr(text, ".log"));
	prints(text, "FAIL      0/66   2 more, for the same reason: b, c\n");
	free(text);
	strcpy(f.labs[0].outcomes[FLAVOUR_FAST][0].verdict.log, "x/fast/compile.log");
	text = printed(&f.labs[0], false);
	prints(text, "log       x/fast/compile.log\n");
	assert_null(strstr(text, "tests.log"));
	free(text);
	end(&f);
	/* They do not apply to a driver that never stops printing, whatever its last line was. */
	begin(&f, "{}");
	take(&f, FLAVOUR_FAST, 0, VERDICT_FAIL);
	take(&f, FLAVOUR_FAST, 1, VERDICT_FAIL);
	strcpy(f.labs[0].outcomes[FLAVOUR_FAST][1].verdict.seen, "another line");
	f.labs[0].outcomes[FLAVOUR_FAST][0].verdict.flooded = true;
	f.labs[0].outcomes[FLAVOUR_FAST][1].verdict.flooded = true;
	text = printed(&f.labs[0], false);
	prints(text, "FAIL      0/33   b  as above (first seen in `a`)\n");
	prints(text, "fast-console.log");
	assert_null(strstr(text, "hint"));
	free(text);
	end(&f);
	begin(&f, "{\"kernels\": [\"debug\"]}");
	text = printed(&f.labs[0], false);
	prints(text, "NOT RUN  a, b, c: DEBUG=1 runs them, for 100 more points, and finds what no other");
	prints(text, "wrong lock order, use after free,");
	prints(text, "07-x: no test ran, for what was chosen runs on the debug kernel only: add DEBUG=1");
	assert_null(strstr(text, "0 of 0"));
	free(text);
	/* Only the tests that the user chose. */
	f.labs[0].selected[1] = false;
	f.labs[0].selected[2] = false;
	text = printed(&f.labs[0], false);
	prints(text, "NOT RUN  a: DEBUG=1 runs it, for 34 more points, and finds");
	free(text);
	/* The grader failed before the others ran. */
	f.labs[0].selected[1] = true;
	f.lab->tests[1].kernels = LAB_FAST;
	text = printed(&f.labs[0], false);
	prints(text, "07-x: no test has a verdict\n");
	free(text);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_end_record),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_two_kernels),
		cmocka_unit_test(test_unjudged),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_killed_writer),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_report_live),
		cmocka_unit_test(test_report_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
