// SPDX-License-Identifier: MIT
/*
 * The command line, hints, parameters: a person's input and the grader's answers.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "choice.h"
#include "hint.h"
#include "lab_text.h"
#include "machine.h"
#include "options.h"
#include "params.h"

/* Parses "agate-grade ARGS" and discards its complaints. */
static bool parse(struct options *o, const char *args)
{
	static char text[256];
	char *argv[20] = { "agate-grade" }, *save;
	int argc = 1;
	FILE *old = stderr;
	bool ok;

	snprintf(text, sizeof(text), "%s", args);
	for (argv[argc] = strtok_r(text, " ", &save); argv[argc];
	     argv[++argc] = strtok_r(NULL, " ", &save))
		;
	stderr = fopen("/dev/null", "w");
	optind = 0;
	ok = options_parse(o, argc, argv);
	fclose(stderr);
	stderr = old;
	return ok;
}

static void test_options(void **state)
{
	static const char *const wrong[] = {
		"", "--lab", "02", "--lab 02 --speed 3", "--lab 02 03", "--lab 02 --seed x",
		"--lab 02 --seed -1", "--lab 02 --seed 99999999999999999999", "hint --lab 02",
		"hint --test x", "list 02", "grade --lab 02", "--lab 02 --step x",
		"--lab 02 --step 0", "--lab 02 --step -1", "--lab 02 --step 2x", "--lab 02 --step 999",
	};
	struct options o;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (parse(&o, wrong[i]))
			fail_msg("\"%s\" was taken", wrong[i]);
	assert_true(parse(&o, "--lab 02"));
	assert_string_equal(o.from, "labs");
	assert_null(o.out);
	assert_int_equal(o.step, 0);
	assert_true(parse(&o, "--lab 02 --step 3"));
	assert_int_equal(o.step, 3);
	assert_true(parse(&o, "--lab 02"));
	assert_false(o.debug || o.chain || o.stop_on_fail || o.seeded || o.timings);
	assert_true(parse(&o, "--lab all --from solutions --debug --chain --stop-on-fail "
			  "--timings --test a* --out x --seed 7 --guests 2"));
	assert_int_equal(o.guests, 2);
	assert_true(o.debug && o.chain && o.stop_on_fail && o.seeded && o.timings);
	assert_int_equal(o.seed, 7);
	assert_string_equal(o.test, "a*");
	assert_true(parse(&o, "hint --lab 2 --test x"));
	assert_int_equal(o.command, COMMAND_HINT);
	assert_true(parse(&o, "list"));
	assert_int_equal(o.command, COMMAND_LIST);
	assert_true(parse(&o, "--help"));
	assert_int_equal(o.command, COMMAND_HELP);
}

/* The next hint of test a contains this text. */
static void next_hint(const char *dir, const struct lab *lab, const char *wanted)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_true(hint_show(dir, "my/out", lab, &lab->tests[0], out));
	fclose(out);
	if (!strstr(text, wanted))
		fail_msg("\"%s\" is not in \"%s\"", wanted, text);
	free(text);
}

static void test_hints(void **state)
{
	static const char *const names[] = { "a", "b", NULL };
	struct lab *lab = lab_of(names);
	char dir[4096];

	(void)state;
	strcpy(dir, scratch_path("hints"));
	next_hint(dir, lab, "hint 1 of 3:\n  one\n");
	next_hint(dir, lab, "hint 2 of 3:\n  two\n  Read: book/page.md#anchor\n");
	next_hint(dir, lab, "hint 3 of 3:\n  three\n");
	next_hint(dir, lab, "There are no more hints; the last one again.\n07-x/a, hint 3");
	/* A failure showed the first hint; a shown hint stays shown. */
	assert_true(hint_failed(dir, lab, &lab->tests[0], 0, true));
	next_hint(dir, lab, "hint 3 of 3");
	strcpy(dir, scratch_path("hints2"));
	assert_true(hint_failed(dir, lab, &lab->tests[0], 0, false));
	next_hint(dir, lab, "hint 1 of 3");
	/* A folder that is not there yet, as OUT= may name one. */
	strcpy(dir, scratch_path("not-yet/hints3"));
	assert_true(hint_failed(dir, lab, &lab->tests[0], 0, true));
	next_hint(dir, lab, "hint 2 of 3");
	strcpy(dir, scratch_path("hints2"));
	/* With rubbish in the file, no hint counts as shown. */
	scratch_file("hints2/07-x/a", "77\n");
	next_hint(dir, lab, "hint 1 of 3");
	assert_false(hint_show("/proc/nonexistent/x", "x", lab, &lab->tests[0], stdout));
	lab_free(lab);
}

/* A test that now fails in another way begins with the first hint for that way. */
static void test_hint_cases(void **state)
{
	static const char *const names[] = { "a", NULL };
	struct lab *lab = lab_with(names, "{\"cases\": [{\"when\": \"EBUSY\", \"hints\": "
				   "[\"busy one\", \"busy two\", \"busy three\"]},"
				   "{\"when\": \"KASAN\", \"hints\": "
				   "[\"freed one\", \"freed two\", \"freed three\"]}]}");
	struct verdict v;
	char dir[4096];

	(void)state;
	memset(&v, 0, sizeof(v));
	verdict_set(&v, VERDICT_FAIL, "the rule", "the probe: success", "the probe: EIO");
	assert_int_equal(hint_case(&lab->tests[0], &v), 0);
	verdict_set(&v, VERDICT_FAIL, "the rule", "the probe: success", "the probe: EBUSY");
	assert_int_equal(hint_case(&lab->tests[0], &v), 1);
	verdict_set(&v, VERDICT_TIMEOUT, "the rule", "an end", "none after 5000 ms");
	strcpy(v.splat.headline, "BUG: KASAN: use-after-free");
	assert_int_equal(hint_case(&lab->tests[0], &v), 0);
	v.splat.kind = SPLAT_KASAN;
	assert_int_equal(hint_case(&lab->tests[0], &v), 2);
	/* By a function in which the kernel stopped, too. */
	strcpy(v.splat.headline, "BUG: unable to handle page fault");
	v.splat.frame_count = 4;
	strcpy(v.splat.frames[3].symbol, "KASAN_of_a_caller");
	assert_int_equal(hint_case(&lab->tests[0], &v), 0);
	strcpy(v.splat.frames[2].symbol, "EBUSY_and_so_on");
	assert_int_equal(hint_case(&lab->tests[0], &v), 1);

	strcpy(dir, scratch_path("cases"));
	assert_true(hint_failed(dir, lab, &lab->tests[0], 1, true));
	next_hint(dir, lab, "hint 2 of 3:\n  busy two\n");
	assert_true(hint_failed(dir, lab, &lab->tests[0], 1, true));
	next_hint(dir, lab, "hint 3 of 3:\n  busy three\n");
	assert_true(hint_failed(dir, lab, &lab->tests[0], 2, true));
	next_hint(dir, lab, "hint 2 of 3:\n  freed two\n");
	assert_true(hint_failed(dir, lab, &lab->tests[0], 0, false));
	next_hint(dir, lab, "hint 1 of 3:\n  one\n");
	lab_free(lab);
}

/* A crash or a hang that matches no case has no hint. */
static void test_hint_none(void **state)
{
	static const char *const names[] = { "a", NULL };
	struct lab *lab = lab_with(names, "{\"hints\": [\"build/results/07-x\", \"2\", \"3\"], "
				   "\"cases\": [{\"when\": \"KASAN\", \"hints\": "
				   "[\"freed one\", \"freed two\", \"freed three\"]}]}");
	struct verdict v;
	char dir[4096];

	(void)state;
	memset(&v, 0, sizeof(v));
	verdict_set(&v, VERDICT_TIMEOUT, "the rule", "an end", "none after 5000 ms");
	assert_int_equal(hint_fitting(&lab->tests[0], &v), HINT_NONE);
	verdict_set(&v, VERDICT_CRASH, "the rule", "a silent kernel", "BUG: KASAN");
	assert_int_equal(hint_fitting(&lab->tests[0], &v), 1);
	verdict_set(&v, VERDICT_FAIL, "the rule", "this", "that");
	assert_int_equal(hint_fitting(&lab->tests[0], &v), 0);

	strcpy(dir, scratch_path("none"));
	assert_true(hint_failed(dir, lab, &lab->tests[0], HINT_NONE, false));
	next_hint(dir, lab, "07-x/a crashed or hung in a way that no hint is about: ");
	next_hint(dir, lab, "07-x/a crashed or hung in a way that no hint is about: ");
	assert_true(hint_failed(dir, lab, &lab->tests[0], 0, false));
	next_hint(dir, lab, "hint 1 of 3:\n  my/out/07-x\n");
	lab_free(lab);
}

/* The place in the hints of a failure is forgotten when the test passes. */
static void test_hint_passed(void **state)
{
	static const char *const names[] = { "a", NULL };
	struct lab *lab = lab_with(names, "{\"cases\": [{\"when\": \"EBUSY\", \"hints\": "
				   "[\"busy one\", \"busy two\", \"busy three\"]}]}");
	char dir[4096];

	(void)state;
	strcpy(dir, scratch_path("passed"));
	assert_true(hint_passed(dir, lab, &lab->tests[0]));
	assert_true(hint_failed(dir, lab, &lab->tests[0], 1, true));
	next_hint(dir, lab, "hint 2 of 3:\n  busy two\n");
	assert_true(hint_passed(dir, lab, &lab->tests[0]));
	next_hint(dir, lab, "hint 1 of 3:\n  one\n");
	assert_true(hint_failed(dir, lab, &lab->tests[0], HINT_NONE, false));
	assert_true(hint_passed(dir, lab, &lab->tests[0]));
	next_hint(dir, lab, "hint 1 of 3:\n  one\n");
	lab_free(lab);
}

/* A run that ends before the test is no failure of it, and the hints that were shown stay shown. */
static void test_hint_before(void **state)
{
	static const char *const names[] = { "a", NULL };
	struct lab *lab = lab_of(names);
	char dir[4096];

	(void)state;
	strcpy(dir, scratch_path("before"));
	assert_true(hint_failed(dir, lab, &lab->tests[0], 0, true));
	assert_true(hint_before(dir, lab, &lab->tests[0]));
	next_hint(dir, lab, "07-x/a has not run: the report of the last run says");
	next_hint(dir, lab, "07-x/a has not run: the report of the last run says");
	assert_true(hint_failed(dir, lab, &lab->tests[0], 0, true));
	next_hint(dir, lab, "hint 2 of 3:\n  two\n");
	assert_true(hint_before(dir, lab, &lab->tests[0]));
	assert_true(hint_passed(dir, lab, &lab->tests[0]));
	next_hint(dir, lab, "hint 1 of 3:\n  one\n");
	lab_free(lab);
}

static void test_params(void **state)
{
	struct lab_param p = { .name = "n", .lowest = -3, .highest = 3 };
	unsigned int seen[7] = { 0 };
	int64_t n;
	uint64_t seed;
	int i;

	(void)state;
	for (seed = 0; seed < 1000; seed++) {
		n = params_draw(seed, "lab", "test", &p);
		assert_in_range(n + 3, 0, 6);
		seen[n + 3]++;
		assert_int_equal(n, params_draw(seed, "lab", "test", &p));
	}
	for (i = 0; i < 7; i++)
		assert_in_range(seen[i], 90, 200);
	p = (struct lab_param){ .name = "n", .lowest = INT64_MIN, .highest = INT64_MAX };
	n = params_draw(7, "lab", "test", &p);
	assert_int_not_equal(n, params_draw(8, "lab", "test", &p));
	assert_int_not_equal(n, params_draw(7, "lab", "test2", &p));
	assert_int_not_equal(n, params_draw(7, "lab2", "test", &p));
	p.name = "m";
	assert_int_not_equal(n, params_draw(7, "lab", "test", &p));
	p.highest = p.lowest;
	assert_int_equal(params_draw(7, "lab", "test", &p), INT64_MIN);
}

static void test_nonce(void **state)
{
	char a[NONCE_DIGITS + 1], b[NONCE_DIGITS + 1];

	(void)state;
	assert_true(params_nonce(a) && params_nonce(b));
	assert_int_equal(strspn(a, "0123456789abcdef"), NONCE_DIGITS);
	assert_string_not_equal(a, b);
}

static double scale_of(const char *json)
{
	scratch_file("agate/doctor.json", json);
	setenv("XDG_CACHE_HOME", scratch_dir(), 1);
	return machine_scale();
}

static void test_scale(void **state)
{
	(void)state;
	assert_true(scale_of("{\"scale\": 2.5}") == 2.5);
	assert_true(scale_of("{\"scale\": 3}") == 3);
	assert_true(scale_of("{\"scale\": 0.01}") == 1);
	assert_true(scale_of("{\"scale\": 1e9}") == 50);
	assert_true(scale_of("{\"scale\": \"x\"}") == 1);
	assert_true(scale_of("{") == 1);
	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
	assert_true(machine_scale() == 1);
}

/*
 * The grader ignores a cache directory that is not absolute, and uses the one in the home
 * directory.
 */
static void test_relative_cache(void **state)
{
	char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
	char cwd[4096];

	(void)state;
	scratch_file("agate/doctor.json", "{\"scale\": 3}");
	scratch_file("home/.cache/agate/doctor.json", "{\"scale\": 2}");
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(chdir(scratch_dir()), 0);
	setenv("HOME", scratch_path("home"), 1);
	setenv("XDG_CACHE_HOME", ".", 1);
	assert_true(machine_scale() == 2);
	unsetenv("HOME");
	assert_true(machine_scale() == 1);
	assert_int_equal(chdir(cwd), 0);
	if (home)
		setenv("HOME", home, 1);
	free(home);
}

static void test_claim(void **state)
{
	char dir[4096], error[512];

	(void)state;
	strcpy(dir, scratch_path("claim/it"));
	assert_true(machine_claim(dir, error, sizeof(error)));
	assert_false(machine_claim(dir, error, sizeof(error)));
	assert_non_null(strstr(error, "another run"));
	assert_false(machine_claim("/proc/nothing", error, sizeof(error)));
}

static void test_kernel_name(void **state)
{
	char build[4096], name[64], error[512];

	(void)state;
	strcpy(build, scratch_dir());
	assert_false(machine_kernel(build, false, name, sizeof(name), error, sizeof(error)));
	scratch_file("guest/kernel-fast/include/config/kernel.release", "6.1.192-agate\n");
	assert_true(machine_kernel(build, false, name, sizeof(name), error, sizeof(error)));
	assert_string_equal(name, "6.1.192 fast");
	assert_true(machine_kernel(build, true, name, sizeof(name), error, sizeof(error)));
	assert_string_equal(name, "6.1.192 fast+debug");
}

static void appends(const char *value, const char *wanted)
{
	char text[64] = "make";

	choice_append(text, sizeof(text), "TEST", value);
	assert_string_equal(text, wanted);
}

/* The command that the grader prints for a repetition is the one that the user typed. */
static void test_quoting(void **state)
{
	char text[16] = "make";
	char *many = calloc(1, 201);

	(void)state;
	assert_non_null(many);
	appends("no-addresses", "make TEST=no-addresses");
	appends("[tb]*", "make TEST='[tb]*'");
	appends("a b", "make TEST='a b'");
	appends("it's", "make TEST='it'\\''s'");
	memset(many, '\'', 200);
	choice_append(text, sizeof(text), "TEST", many);
	assert_true(strlen(text) < sizeof(text));
	free(many);
}

static void test_choice(void **state)
{
	static const char *const names[] = { "sizes", "labels", NULL };
	struct result_lab labs[1];
	struct result result = { .labs = labs, .lab_count = 1 };
	struct lab *lab = lab_of(names);
	char error[512] = "";

	(void)state;
	assert_true(result_init(&labs[0], lab));
	assert_true(choice_tests(&result, NULL, 0, error, sizeof(error)));
	assert_true(labs[0].selected[0] && labs[0].selected[1]);
	assert_true(choice_tests(&result, "l*", 0, error, sizeof(error)));
	assert_true(!labs[0].selected[0] && labs[0].selected[1]);
	assert_false(choice_tests(&result, "nonsense", 0, error, sizeof(error)));
	assert_string_equal(error, "no test has a name like \"nonsense\"; there are: sizes labels");
	assert_ptr_equal(choice_test(lab, "labels", error, sizeof(error)), &lab->tests[1]);
	assert_null(choice_test(lab, "label*", error, sizeof(error)));
	assert_string_equal(error, "07-x has no test \"label*\"; there are: sizes labels");
	/* No message names a hidden test. */
	lab->tests[0].hidden = true;
	assert_null(choice_test(lab, "sizes", error, sizeof(error)));
	assert_string_equal(error, "07-x has no test \"sizes\"; there are: labels");
	result_free(&labs[0]);
	lab_free(lab);
}

static void test_choice_step(void **state)
{
	static const char *const names[] = { "sizes", "labels", NULL };
	struct lab *lab = lab_with(names, "{\"step\": 1}");
	struct result_lab labs[2];
	struct result result = { .labs = labs, .lab_count = 1 };
	char error[512] = "";

	(void)state;
	lab->tests[1].step = 3;
	assert_true(result_init(&labs[0], lab));
	labs[1] = labs[0];
	assert_true(choice_tests(&result, NULL, 2, error, sizeof(error)));
	assert_true(labs[0].selected[0] && !labs[0].selected[1]);
	assert_true(choice_tests(&result, NULL, 3, error, sizeof(error)));
	assert_true(labs[0].selected[0] && labs[0].selected[1]);
	assert_false(choice_tests(&result, "l*", 2, error, sizeof(error)));
	assert_string_equal(error,
			    "the tests with a name like \"l*\" belong to later steps than 2");
	assert_false(choice_tests(&result, NULL, 4, error, sizeof(error)));
	assert_string_equal(error, "07-x has steps 1 to 3, not 4");
	lab->tests[0].step = 2;
	assert_false(choice_tests(&result, NULL, 1, error, sizeof(error)));
	assert_string_equal(error, "no test belongs to step 1");
	result.lab_count = 2;
	assert_false(choice_tests(&result, NULL, 1, error, sizeof(error)));
	assert_string_equal(error, "a step is one of a lab's: STEP goes with one LAB");
	result.lab_count = 1;
	lab->tests[0].step = 0;
	lab->tests[1].step = 0;
	assert_false(choice_tests(&result, NULL, 1, error, sizeof(error)));
	assert_string_equal(error, "07-x does not say which steps its tests belong to");
	result_free(&labs[0]);
	lab_free(lab);
}

static void test_whose_files(void **state)
{
	static const char *const odd[] = { "a b", "it's", "a\"b", "a$b", "a`b", "a;b", "a&b",
					   "a(b", "a*b", "a#b", "a:b", "a%b", "a\\b", "a\nb" };
	static const char *const fine[] = { "ab", "a-b.c_d,e", "caf\u00e9" };
	char error[512];
	size_t i;

	(void)state;
	assert_false(choice_from("nowhere", error, sizeof(error)));
	assert_non_null(strstr(error, "nowhere: No such file or directory; FROM is"));
	assert_false(choice_from("/dev/null", error, sizeof(error)));
	assert_non_null(strstr(error, "/dev/null: Not a directory"));
	for (i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		assert_int_equal(mkdir(scratch_path(fine[i]), 0700), 0);
		assert_true(choice_from(scratch_path(fine[i]), error, sizeof(error)));
	}
	/* Not even if there is such a folder. */
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		assert_int_equal(mkdir(scratch_path(odd[i]), 0700), 0);
		assert_false(choice_from(scratch_path(odd[i]), error, sizeof(error)));
		assert_non_null(strstr(error, ": FROM is a path without spaces"));
	}
}

static void test_plain_paths(void **state)
{
	char path[PATH_MAX], want[PATH_MAX + 8], here[PATH_MAX];

	(void)state;
	assert_true(choice_plain("labs", path, sizeof(path)));
	assert_string_equal(path, "labs");
	/* The compiler reads @FILE as a file with options. */
	assert_true(choice_plain("@file", path, sizeof(path)));
	assert_string_equal(path, "./@file");
	assert_true(choice_plain("-x", path, sizeof(path)));
	assert_string_equal(path, "./-x");
	assert_non_null(getcwd(here, sizeof(here)));
	snprintf(want, sizeof(want), "%s/a..b", here);
	assert_true(choice_plain(want, path, sizeof(path)));
	assert_string_equal(path, "a..b");
	assert_true(choice_plain("/usr/../usr", path, sizeof(path)));
	assert_string_equal(path, "/usr");
	assert_false(choice_plain("../nowhere", path, sizeof(path)));
	assert_false(choice_plain("labs", path, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_paths),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_quoting),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_whose_files),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_hint_cases),
		cmocka_unit_test(test_hint_none),
		cmocka_unit_test(test_hint_passed),
		cmocka_unit_test(test_hint_before),
		cmocka_unit_test(test_choice_step),
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_nonce),
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_relative_cache),
		cmocka_unit_test(test_claim),
		cmocka_unit_test(test_kernel_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
