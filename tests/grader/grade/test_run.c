// SPDX-License-Identifier: MIT
/*
 * A lab on two kernels at the same time, with scripts in place of the compiler.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lab_text.h"
#include "run_fixture.h"

static void test_both(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, both_kernels, COMPOSES);
	assert_int_equal(run(&f), RUN_DONE);
	assert_int_equal(points(&f), 100);
	assert_string_equal(guests[FLAVOUR_FAST].ran, "|a b c ");
	assert_string_equal(guests[FLAVOUR_DEBUG].ran, "|a b c ");
	assert_true(told >= 6);
	has_status(&f, 2, "pass");
	end(&f);
}

static void test_one_crashes(void **state)
{
	static const struct act crash[] = {
		{ .test = "b", .end = GUEST_CRASHED,
		  .console = "[    1.0] BUG: KASAN: use-after-free in agate_x+0x1/0x2\n" },
		{ .test = NULL }
	};
	struct fixture f;
	struct standing s;

	(void)state;
	begin(&f, both_kernels, COMPOSES);
	acts[FLAVOUR_DEBUG] = crash;
	assert_int_equal(run(&f), RUN_DONE);
	result_standing(&f.labs_found[0], 1, &s);
	assert_int_equal(s.status, VERDICT_CRASH);
	assert_int_equal(s.flavour, FLAVOUR_DEBUG);
	assert_int_equal(points(&f), 67);
	assert_string_equal(guests[FLAVOUR_FAST].ran, "|a b c ");
	assert_string_equal(guests[FLAVOUR_DEBUG].ran, "|a b |c ");
	has_status(&f, 1, "crash");
	end(&f);
}

/* The remark that begins like that, or NULL */
static const char *remark(const struct fixture *f, const char *begins)
{
	const struct result_lab *lab = &f->labs_found[0];

	for (size_t i = 0; i < lab->remark_count; i++)
		if (!strncmp(lab->remarks[i], begins, strlen(begins)))
			return lab->remarks[i];
	return NULL;
}

static void links(struct fixture *f, char path[5000], const char *script)
{
	static char link[4096];

	strcpy(link, scratch_file("link.sh", script));
	assert_int_equal(chmod(link, 0755), 0);
	f->config.debug = false;
	f->config.debug_info = link;
	snprintf(path, 5000, "%s/07-x/fast/links", f->out);
	unlink(path);
}

/* Debug information is linked for the first trace that leads into the module, and only then. */
static void test_debug_info(void **state)
{
	static const struct act crashes[] = {
		{ .test = "a", .console = "[    1.0] WARNING: CPU: 0 PID: 9 at mm/slub.c:12 f+0x1/0x2\n" },
		{ .test = "b", .end = GUEST_CRASHED,
		  .console = "[    1.0] BUG: KASAN: use-after-free in agate_x+0x1/0x2 [agate]\n"
			     "[    1.0] Call Trace:\n[    1.0]  agate_x+0x1/0x2 [agate]\n" },
		{ .test = "c", .end = GUEST_CRASHED,
		  .console = "[    1.0] BUG: KASAN: use-after-free in agate_x+0x1/0x2 [agate]\n"
			     "[    1.0] Call Trace:\n[    1.0]  agate_x+0x1/0x2 [agate]\n" },
		{ .test = NULL }
	};
	struct fixture f;
	char path[5000];
	struct stat sb;

	(void)state;
	begin(&f, "{}", COMPOSES);
	links(&f, path, "#!/bin/sh\nprintf 'x' >>\"$2/links\"\n");
	assert_int_equal(run(&f), RUN_DONE);
	assert_int_equal(stat(path, &sb), -1);
	end(&f);
	begin(&f, "{}", COMPOSES);
	links(&f, path, "#!/bin/sh\nprintf \"$1\" >>\"$2/links\"\n");
	acts[FLAVOUR_FAST] = crashes;
	assert_int_equal(run(&f), RUN_DONE);
	assert_int_equal(stat(path, &sb), 0);
	assert_int_equal(sb.st_size, strlen("fast"));
	assert_null(remark(&f, "fast kernel: no trace leads to a line"));
	end(&f);
	begin(&f, "{}", COMPOSES);
	links(&f, path, "#!/bin/sh\necho too large >&2\nexit 1\n");
	acts[FLAVOUR_FAST] = crashes;
	assert_int_equal(run(&f), RUN_DONE);
	has_status(&f, 1, "crash");
	assert_non_null(strstr(remark(&f, "fast kernel: no trace leads to a line"), "too large"));
	end(&f);
}

/* A test that could not look gets no grade; the others have theirs. */
static void test_unjudged(void **state)
{
	static const struct act blind[] = {
		{ .test = "b", .report = "BLIND no window\nDONE {NONCE}\n" }, { .test = NULL }
	};
	static const struct act warns[] = {
		{ .test = "c", .console = "[    1.0] WARNING: CPU: 0 PID: 9 at mm/slub.c:12 f+0x1/0x2\n" },
		{ .test = NULL }
	};
	struct fixture f;

	(void)state;
	begin(&f, both_kernels, COMPOSES);
	acts[FLAVOUR_DEBUG] = blind;
	assert_int_equal(run(&f), RUN_UNJUDGED);
	assert_string_equal(guests[FLAVOUR_DEBUG].ran, "|a b |b |b c ");
	assert_string_equal(f.error, "07-x/b has no verdict, and that is not your code's fault: in 3 "
			    "runs the test could not look at what it is about: no window");
	assert_int_equal(points(&f), 67);
	has_status(&f, 1, "not-run");
	has_status(&f, 2, "pass");
	end(&f);
	begin(&f, both_kernels, COMPOSES);
	acts[FLAVOUR_FAST] = warns;
	acts[FLAVOUR_DEBUG] = blind;
	assert_int_equal(run(&f), RUN_UNJUDGED);
	assert_non_null(strstr(f.error, "no window; but other tests failed, and the cause may be the"));
	end(&f);
}

/* A run that is interrupted revokes no pass: it leaves tests without a verdict. */
static void test_interrupted(void **state)
{
	static const struct act interrupt[] = {
		{ .test = "b", .end = GUEST_INTERRUPTED }, { .test = NULL }
	};
	static const struct act lost[] = { { .test = "b", .end = GUEST_GONE }, { .test = NULL } };
	struct fixture f;
	struct standing s;

	(void)state;
	begin(&f, "{}", COMPOSES);
	acts[FLAVOUR_FAST] = interrupt;
	assert_int_equal(run(&f), RUN_INTERRUPTED);
	has_status(&f, 0, "not-run");
	has_status(&f, 1, "not-run");
	result_standing(&f.labs_found[0], 0, &s);
	assert_string_equal(s.outcome->verdict.seen,
			    "the run was interrupted before this could count");
	assert_int_equal(points(&f), 0);
	end(&f);
	begin(&f, "{}", COMPOSES);
	acts[FLAVOUR_FAST] = lost;
	assert_int_equal(run(&f), RUN_HOST);
	has_status(&f, 0, "not-run");
	result_standing(&f.labs_found[0], 0, &s);
	assert_string_equal(s.outcome->verdict.seen, "the machine failed before this could count");
	end(&f);
}

static void test_fast_only(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{\"kernels\": [\"debug\"]}", COMPOSES);
	f.config.debug = false;
	assert_int_equal(run(&f), RUN_DONE);
	assert_int_equal(points(&f), 0);
	end(&f);
	begin(&f, both_kernels, COMPOSES);
	f.config.debug = false;
	f.labs_found[0].selected[1] = false;
	assert_int_equal(run(&f), RUN_DONE);
	assert_string_equal(guests[FLAVOUR_FAST].ran, "|a c ");
	assert_int_equal(points(&f), 67);
	end(&f);
}

static void test_stop_on_fail(void **state)
{
	static const struct act fails[] = {
		{ .test = "a", .report = "", .output = "" }, { .test = NULL }
	};
	struct fixture f;

	(void)state;
	begin(&f, "{}", COMPOSES);
	f.config.stop_on_fail = true;
	acts[FLAVOUR_FAST] = fails;
	assert_int_equal(run(&f), RUN_DONE);
	assert_string_equal(guests[FLAVOUR_FAST].ran, "|a ");
	end(&f);
}

/* The log that has the text, not one that is empty. */
static void names_log(const struct fixture *f, const char *name)
{
	char path[5000];
	struct standing s;

	result_standing(&f->labs_found[0], 0, &s);
	snprintf(path, sizeof(path), "%s/%s", f->out, name);
	assert_string_equal(s.outcome->verdict.log, path);
	assert_int_equal(access(path, R_OK), 0);
}

static void test_does_not_compile(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, both_kernels, "#!/bin/sh\n"
	      "echo \"labs/07-x/agate_x.c:3:5: error: expected ';' before 'return'\" >$2/compile.log\n"
	      "exit 10\n");
	assert_int_equal(run(&f), RUN_DONE);
	all_fail(&f, "expected ';' before 'return'");
	assert_int_equal(guests[FLAVOUR_FAST].insmods, 0);
	names_log(&f, "07-x/fast/compile.log");
	end(&f);
	begin(&f, both_kernels, "#!/bin/sh\n"
	      "echo 'agate_x.c: uses filp_open, which lab 07 does not allow' >$2/symbols.log\n"
	      "exit 11\n");
	assert_int_equal(run(&f), RUN_DONE);
	all_fail(&f, "filp_open");
	names_log(&f, "07-x/fast/symbols.log");
	end(&f);
}

/* The grader's own failure is not a failure of a test. */
static void test_grader_fails(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, both_kernels, "#!/bin/sh\necho one\necho run make parts >&2\nexit 1\n");
	assert_int_equal(run(&f), RUN_HOST);
	assert_non_null(strstr(f.error, "put together: run make parts"));
	end(&f);
	begin(&f, both_kernels, "#!/bin/sh\nkill -9 $$\n");
	assert_int_equal(run(&f), RUN_HOST);
	end(&f);
	begin(&f, both_kernels, COMPOSES);
	f.config.compose_driver = "/nonexistent";
	assert_int_equal(run(&f), RUN_HOST);
	end(&f);
	begin(&f, both_kernels, COMPOSES);
	f.config.out = "/nonexistent";
	assert_int_equal(run(&f), RUN_HOST);
	end(&f);
}

static void test_no_file(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, both_kernels, COMPOSES);
	scratch_file("empty/x", "");
	f.config.from = scratch_path("empty");
	assert_int_equal(run(&f), RUN_DONE);
	all_fail(&f, "agate_x.c");
	has_status(&f, 0, "fail");
	end(&f);
}

/* The arguments of the script contain the one text, and not the other. */
static void composed_of(const struct fixture *f, const char *wanted, const char *unwanted)
{
	char path[5000], text[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/07-x/fast/args", f->out);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	if (!strstr(text, wanted))
		fail_msg("\"%s\" has no \"%s\"", text, wanted);
	assert_null(strstr(text, unwanted));
}

static void earlier(const char *name)
{
	char path[256], error[LAB_ERROR], old[4096], new[4096];
	json_t *json;

	/* Lab 07-x's description, under this name. */
	strcpy(old, scratch_path("labs/07-x/lab.json"));
	json = json_load_file(old, 0, NULL);
	assert_non_null(json);
	json_object_set_new(json, "lab", json_string(name));
	snprintf(path, sizeof(path), "labs/%s/lab.json", name);
	strcpy(new, scratch_file(path, ""));
	assert_int_equal(json_dump_file(json, new, 0), 0);
	json_decref(json);
	lab_free(lab_load(new, name, error));
	assert_string_equal(error, "");
}

static void test_chain(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, both_kernels, COMPOSES);
	earlier("03-there");
	earlier("04-not-there");
	earlier("08-later");
	scratch_file("student/03-there/agate_x.c", "");
	scratch_file("student/08-later/agate_x.c", "");
	f.config.chain = true;
	assert_int_equal(run(&f), RUN_DONE);
	composed_of(&f, "student/07-x 03-there=", "08-later");
	assert_int_equal(f.labs_found[0].remark_count, 1);
	assert_non_null(strstr(f.labs_found[0].remarks[0], "04-not-there"));
	end(&f);
}

static void test_logs(void **state)
{
	char path[5000];
	struct fixture f;
	struct stat sb;

	(void)state;
	begin(&f, both_kernels, COMPOSES);
	assert_int_equal(run(&f), RUN_DONE);
	snprintf(path, sizeof(path), "%s/07-x/debug-tests.log", f.out);
	assert_int_equal(stat(path, &sb), 0);
	assert_true(sb.st_size > 100);
	snprintf(path, sizeof(path), "%s/07-x/fast-console.log", f.out);
	assert_int_equal(stat(path, &sb), 0);
	assert_true(sb.st_size > 100);
	end(&f);
	/* The logs of an earlier run on the other kernel are gone. */
	begin(&f, both_kernels, COMPOSES);
	scratch_file("out/07-x/debug/compile.log", "old");
	f.config.debug = false;
	assert_int_equal(run(&f), RUN_DONE);
	snprintf(path, sizeof(path), "%s/07-x/fast-tests.log", f.out);
	assert_int_equal(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "%s/07-x/debug-tests.log", f.out);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(path, sizeof(path), "%s/07-x/debug-console.log", f.out);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(path, sizeof(path), "%s/07-x/debug/compile.log", f.out);
	assert_int_equal(access(path, F_OK), -1);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_one_crashes),
		cmocka_unit_test(test_debug_info),
		cmocka_unit_test(test_unjudged),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_fast_only),
		cmocka_unit_test(test_stop_on_fail),
		cmocka_unit_test(test_does_not_compile),
		cmocka_unit_test(test_grader_fails),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_logs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
