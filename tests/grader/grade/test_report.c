// SPDX-License-Identifier: MIT
/*
 * Things that the report says once, or together: causes, steps, cases.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cause.h"
#include "lab_text.h"
#include "report.h"

static const char *const names[] = { "a", "b", "c", "d", NULL };

struct fixture {
	struct lab *lab;
	struct result_lab result;
	struct steps steps;
	struct report report;
};

static void begin(struct fixture *f, const char *more)
{
	size_t i;

	memset(f, 0, sizeof(*f));
	f->lab = lab_with(names, more);
	assert_true(result_init(&f->result, f->lab));
	for (i = 0; i < f->lab->test_count; i++)
		f->result.selected[i] = true;
	f->result.ran[FLAVOUR_FAST] = true;
	f->report = (struct report){ .dir = "x", .results = "my/out", .number = "07", .steps = &f->steps };
}

static void end(struct fixture *f)
{
	result_free(&f->result);
	lab_free(f->lab);
}

/* Fails the next test that has no verdict; returns its outcome. */
static struct outcome *failed(struct fixture *f, enum verdict_status status, const char *rule,
			      const char *expected, const char *seen)
{
	struct verdict v;
	size_t i;

	memset(&v, 0, sizeof(v));
	verdict_set(&v, status, rule, expected, "%s", seen);
	for (i = 0; f->result.outcomes[FLAVOUR_FAST][i].there; i++)
		;
	result_take(&f->result, FLAVOUR_FAST, i, &v);
	return &f->result.outcomes[FLAVOUR_FAST][i];
}

static void crashed(struct fixture *f, unsigned int line, enum splat_kind kind)
{
	struct outcome *o = failed(f, VERDICT_CRASH, "memory is not used after it was freed",
				   "a silent kernel", "BUG");

	o->verdict.splat.kind = kind;
	o->placed = line;
	o->place.line = line;
	strcpy(o->place.file, "labs/07-x/agate_x.c");
}

/* The output contains the one text and not the other. */
static void prints(struct fixture *f, const char *wanted, const char *unwanted)
{
	struct report report = f->report;
	char *text = NULL;
	size_t size;

	report.out = open_memstream(&text, &size);
	report_lab(&report, &f->result);
	fclose(report.out);
	if (!strstr(text, wanted))
		fail_msg("\"%s\" is not in:\n%s", wanted, text);
	if (unwanted && strstr(text, unwanted))
		fail_msg("\"%s\" is in:\n%s", unwanted, text);
	free(text);
}

#define AS_A(name)	"FAIL      0/25   " name "  as above (first seen in `a`)\n"

/* Not only the test right before it: any test that was reported in full. */
static void test_same_rule(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{}");
	failed(&f, VERDICT_FAIL, "a rule", "this", "that");
	failed(&f, VERDICT_FAIL, "another rule", "this", "that");
	failed(&f, VERDICT_FAIL, "a rule", "this", "that");
	failed(&f, VERDICT_FAIL, "a rule", "this", "something else");
	prints(&f, AS_A("c"), AS_A("b"));
	prints(&f, "FAIL      0/25   d\n", AS_A("d"));
	end(&f);
}

static void test_same_error(void **state)
{
	struct fixture f;

	(void)state;
	/* A failed probe is one cause, whatever each test expected. */
	begin(&f, "{}");
	failed(&f, VERDICT_FAIL, "a rule", "the probe: success", "the probe: EBUSY");
	failed(&f, VERDICT_FAIL, "another rule", "the probe: ENOMEM", "the probe: EBUSY");
	failed(&f, VERDICT_FAIL, "another rule", "the probe: success", "the probe: EIO");
	failed(&f, VERDICT_FAIL, "another rule", "SUBMIT: success", "SUBMIT: EBUSY");
	prints(&f, AS_A("b"), AS_A("c"));
	prints(&f, "FAIL      0/25   d\n", AS_A("d"));
	end(&f);
	/* An absent topic answers every call in the same way. */
	begin(&f, "{}");
	failed(&f, VERDICT_FAIL, "a rule", "CREATE_BO: success", "CREATE_BO: EOPNOTSUPP");
	failed(&f, VERDICT_FAIL, "another rule", "SET_LABEL: EINVAL", "SET_LABEL: EOPNOTSUPP");
	failed(&f, VERDICT_FAIL, "another rule", "this", "EOPNOTSUPP was not meant");
	failed(&f, VERDICT_TIMEOUT, "another rule", "this", "SUBMIT: EOPNOTSUPP");
	prints(&f, AS_A("b"), AS_A("c"));
	prints(&f, "TIMEOUT   0/25   d\n", NULL);
	end(&f);
}

static void test_same_hint(void **state)
{
	struct fixture f;
	struct verdict *v;
	size_t i;

	(void)state;
	begin(&f, "{}");
	failed(&f, VERDICT_FAIL, "a rule", "none", "a write is lost: JOB_INT_MASK (4 times)");
	failed(&f, VERDICT_FAIL, "another rule", "none", "a write is lost (8 times)");
	failed(&f, VERDICT_FAIL, "a third rule", "none", "a write is not lost (8 times)");
	v = &failed(&f, VERDICT_FAIL, "a rule", "none", "a write is lost")->verdict;
	for (i = 0; i < 4; i++)
		f.result.outcomes[FLAVOUR_FAST][i].verdict.hinted = i != 3;
	strcpy(v->gpu, "a stale line was read (section 5)");
	strcpy(v->said, "agate 0000:00:03.0: no vectors");
	prints(&f, "FAIL      0/25   b  as above (first seen in `a`)\n", "c  as above");
	prints(&f, "seen      a write is lost\n       gpu       a stale line was read (section 5)\n",
	       "d  as above");
	prints(&f, "log       agate 0000:00:03.0: no vectors\n                 x/fast-console.log\n",
	       NULL);
	end(&f);
}

static void test_same_counters(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{}");
	failed(&f, VERDICT_FAIL, "a rule", "as before: bos 0, handles 3, vms 1",
	       "bos 0, handles 7, vms 1");
	failed(&f, VERDICT_FAIL, "another rule", "as before: bos 2, handles 0, vms 1",
	       "bos 2, handles 2200, vms 1");
	failed(&f, VERDICT_FAIL, "another rule", "as before: bos 2, handles 4, vms 1",
	       "bos 2, handles 3, vms 1");
	failed(&f, VERDICT_FAIL, "another rule", "as before: bos 0, handles 3, vms 1",
	       "bos 1, handles 7, vms 1");
	prints(&f, AS_A("b"), AS_A("c"));
	prints(&f, "FAIL      0/25   d\n", AS_A("d"));
	end(&f);
	/* Text that is not a list of counters is compared as it stands. */
	begin(&f, "{}");
	failed(&f, VERDICT_FAIL, "a rule", "as before: nothing", "bos 1");
	failed(&f, VERDICT_FAIL, "another rule", "as before: bos", "bos 1");
	failed(&f, VERDICT_FAIL, "a third rule", "as before: bos 1", "xbos 2, bos");
	failed(&f, VERDICT_FAIL, "a fourth rule", "bos 0", "bos 1");
	prints(&f, "FAIL      0/25   d\n", "as above");
	end(&f);
}

static void test_same_place(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{}");
	crashed(&f, 88, SPLAT_KASAN);
	crashed(&f, 89, SPLAT_KASAN);
	crashed(&f, 88, SPLAT_KASAN);
	crashed(&f, 88, SPLAT_WARNING);
	prints(&f, "CRASH     0/25   c  as above (first seen in `a`)\n", "b  as above");
	prints(&f, "CRASH     0/25   d\n", NULL);
	end(&f);
	/* Hangs at unknown places may have two causes. */
	begin(&f, "{}");
	failed(&f, VERDICT_TIMEOUT, "every call comes back", "an end", "none after 5000 ms");
	failed(&f, VERDICT_TIMEOUT, "every call comes back", "an end", "none after 5000 ms");
	prints(&f, "TIMEOUT   0/25   b\n", "as above");
	end(&f);
}

/* The report does not show a hidden test's failure, so it refers no other test to it. */
static void test_hidden(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{}");
	f.lab->tests[0].hidden = true;
	failed(&f, VERDICT_FAIL, "a rule", "this", "that");
	failed(&f, VERDICT_FAIL, "a rule", "this", "that");
	failed(&f, VERDICT_FAIL, "a rule", "this", "that");
	prints(&f, "FAIL      0/25   c  as above (first seen in `b`)\n", "seen in `a`");
	end(&f);
}

static void test_steps_unwritten(void **state)
{
	struct fixture f;
	size_t i;

	(void)state;
	begin(&f, "{\"step\": 1}");
	for (i = 1; i < 4; i++)
		f.lab->tests[i].step = 2;
	f.steps.left[2] = (struct step_mark){ .file = "agate_x.c", .line = 40 };
	failed(&f, VERDICT_FAIL, "a rule", "this", "that");
	failed(&f, VERDICT_FAIL, "another rule", "this", "that");
	failed(&f, VERDICT_TIMEOUT, "every call comes back", "an end", "none after 5000 ms");
	crashed(&f, 88, SPLAT_KASAN);
	prints(&f, "FAIL      0/50   STEP 2 is not written yet (agate_x.c, line 40): b, c\n",
	       "another rule");
	/* The code of step 1 is written, so the report shows its errors; it also shows a crash. */
	prints(&f, "FAIL      0/25   a\n       rule      a rule\n", NULL);
	prints(&f, "hint      one\n", "every call");
	prints(&f, "CRASH     0/25   d\n       rule      memory is not used", NULL);
	/* ... once. */
	f.lab->tests[0].step = 2;
	f.lab->tests[3].step = 1;
	result_free(&f.result);
	assert_true(result_init(&f.result, f.lab));
	for (i = 0; i < 4; i++)
		f.result.selected[i] = true;
	f.result.ran[FLAVOUR_FAST] = true;
	crashed(&f, 88, SPLAT_KASAN);
	crashed(&f, 88, SPLAT_KASAN);
	failed(&f, VERDICT_FAIL, "another rule", "this", "that");
	failed(&f, VERDICT_FAIL, "a rule", "this", "that");
	prints(&f, "FAIL      0/50   STEP 2 is not written yet (agate_x.c, line 40): b, c\n",
	       "as above");
	f.lab->tests[0].step = 1;
	/* A test needs all the steps before its own. */
	f.steps.left[2].file = NULL;
	f.steps.left[1] = (struct step_mark){ .file = "agate_x.c", .line = 30 };
	f.lab->tests[3].step = 3;
	prints(&f, "FAIL      0/25   d\n       rule      a rule\n", "hint      one");
	prints(&f, "hint      STEP 1 is not written yet (agate_x.c, line 30): write it first",
	       NULL);
	end(&f);
}

/* A file that does not compile fails every step for one reason, which the report shows. */
static void test_steps_uncompiled(void **state)
{
	struct fixture f;
	size_t i;

	(void)state;
	begin(&f, "{\"step\": 1}");
	f.steps.left[1] = (struct step_mark){ .file = "agate_x.c", .line = 40 };
	for (i = 0; i < 4; i++)
		failed(&f, VERDICT_FAIL, "the file compiles", "no error", "an error")->verdict.before =
			true;
	prints(&f, "seen      an error\n", "STEP 1 is not");
	prints(&f, "FAIL      0/75   3 more, for the same reason: b, c, d\n", "as above");
	end(&f);
}

static void test_steps_left_out(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{\"step\": 1}");
	f.lab->tests[1].step = 2;
	f.lab->tests[2].step = 3;
	f.lab->tests[3].step = 3;
	f.result.selected[1] = false;
	f.result.selected[2] = false;
	f.result.selected[3] = false;
	f.report.step = 1;
	failed(&f, VERDICT_FAIL, "a rule", "this", "that");
	prints(&f, "NOT RUN  3 tests of steps 2 to 3, for 75 points\n", "agate_x.c");
	f.steps.left[3] = (struct step_mark){ .file = "agate_x.c", .line = 40 };
	prints(&f, "for 75 points; STEP 3 is still in agate_x.c\n", NULL);
	f.steps.left[2] = f.steps.left[3];
	prints(&f, "for 75 points; STEPs 2, 3 are still in agate_x.c\n", NULL);
	prints(&f, "07-x: 0 of 25 points", NULL);
	/* Of the tests that the user chose. */
	f.report.glob = "b";
	prints(&f, "NOT RUN  1 test of step 2, for 25 points; STEPs 2, 3", NULL);
	end(&f);
}

static void test_case_hint(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{\"cases\": [{\"when\": \"EBUSY\", \"hints\": [\"busy\", \"2\", \"3\"]}]}");
	failed(&f, VERDICT_FAIL, "a rule", "the probe: success", "the probe: EIO");
	failed(&f, VERDICT_FAIL, "a rule", "the probe: success", "the probe: EBUSY");
	prints(&f, "hint      one\n", NULL);
	prints(&f, "hint      busy\n", NULL);
	end(&f);
	/* A hint is about a crash or a hang only if its case matches it. */
	begin(&f, "{\"cases\": [{\"when\": \"mutex\", \"hints\": [\"unlock\", \"2\", \"3\"]}]}");
	failed(&f, VERDICT_TIMEOUT, "every wait ends", "an end", "none after 5000 ms");
	crashed(&f, 88, SPLAT_KASAN);
	prints(&f, "rule      every wait ends", "hint ");
	failed(&f, VERDICT_TIMEOUT, "a mutex is never unlocked", "an end", "none after 5000 ms");
	prints(&f, "hint      unlock\n", "hint      one");
	end(&f);
}

/* A hint that names the folder of results names the one that the user chose. */
static void test_results_folder(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{\"hints\": [\"Look into build/results/07-x: there.\", \"2\", \"3\"]}");
	failed(&f, VERDICT_FAIL, "a rule", "this", "that");
	prints(&f, "Look into my/out/07-x: there.", "build/results");
	end(&f);
}

/* Scans a file with this text. */
static void scan(struct fixture *f, const char *text)
{
	char dir[4096];

	scratch_file("from/agate_x.c", text);
	strcpy(dir, scratch_path("from"));
	steps_find(f->lab, dir, &f->steps);
}

static void test_steps_found(void **state)
{
	static const char starter[] =
		"#include <x.h>\n"
		"/*\n"
		" * STEP 2: do it.\n"
		" */\n"
		"static char *s = \"/* STEP 1: \\\" not a comment */\";\n"
		"// STEP 3: that\n"
		"static int STEP; /* STEP 3: again */ char c = '\"'; /* STEP 5: behind a quote */\n"
		"/* STEP x: none; STEP 40: none; STEP 0: none; see STEP 4. */\n";
	static const char solution[] =
		"#if LAB07 >= 1\ncode();\n#else\n/* STEP 1: do it */\n#endif\n"
		"#ifdef X\n#else\n/* STEP 2: do it */\n#endif\n"
		"#if LAB07 >= 3\n#ifdef Y\n#else\n/* STEP 3: in the code */\n#endif\n#endif\n";
	static const char stale[] =
		"/* STEP 1: do it */ int a(void) { int ret = b(); c(); /* } */ return ret; }\n"
		"/* STEP 2: do it */ int d(void) { if (a()) return 1; return 0; }\n"
		"/* STEP 3: do it */ int e(void) { return 0; } int f(void) { x(); y(); z(); w(); }\n"
		"int g(void) { y(); /* STEP 4: do it */ put(\";;;;{\"); return 1; }\n"
		"int h(void) { /* STEP 5: do it */ x(); y(); z(); }\n";
	struct fixture f;

	(void)state;
	begin(&f, "{}");
	scan(&f, starter);
	assert_null(f.steps.left[1].file);
	assert_string_equal(f.steps.left[2].file, "agate_x.c");
	assert_int_equal(f.steps.left[2].line, 3);
	assert_int_equal(f.steps.left[3].line, 6);
	assert_null(f.steps.left[4].file);
	assert_int_equal(f.steps.left[5].line, 7);
	assert_int_equal(steps_first_left(&f.steps, 1), 0);
	assert_int_equal(steps_first_left(&f.steps, 5), 2);
	scan(&f, solution);
	assert_null(f.steps.left[1].file);
	assert_int_equal(f.steps.left[2].line, 8);
	assert_int_equal(f.steps.left[3].line, 13);
	/* Comments that were not removed, and others before a stub. */
	scan(&f, stale);
	assert_int_equal(f.steps.stale[1].line, 1);
	assert_int_equal(f.steps.stale[2].line, 2);
	assert_int_equal(f.steps.left[3].line, 3);
	assert_int_equal(f.steps.left[4].line, 4);
	assert_int_equal(f.steps.stale[5].line, 5);
	assert_int_equal(steps_first_left(&f.steps, 2), 0);
	prints(&f, "remark: the comment STEP 2 still stands in agate_x.c, line 2: remove it when the "
	       "step is written\n", "STEP 4 still");
	/* Anything in place of a C file. */
	scan(&f, "/* STEP 1:");
	assert_int_equal(f.steps.left[1].line, 1);
	scan(&f, "#endif\n#else\n\"\\");
	assert_int_equal(steps_first_left(&f.steps, LAB_STEPS), 0);
	scan(&f, "'\n/* STEP 1: */");
	assert_int_equal(f.steps.left[1].line, 2);
	unlink(scratch_path("from/agate_x.c"));
	steps_find(f.lab, scratch_path("from"), &f.steps);
	assert_int_equal(steps_first_left(&f.steps, LAB_STEPS), 0);
	end(&f);
}

/* Not the processor and the process that ran into it. */
static void test_same_warning(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{}");
	failed(&f, VERDICT_CRASH, "a rule", "silence", "WARNING: CPU: 1 PID: 105 at fs/x.c:7 f+0x1/0x2");
	failed(&f, VERDICT_CRASH, "a rule", "silence", "WARNING: CPU: 0 PID: 9 at fs/x.c:7 f+0x1/0x2");
	failed(&f, VERDICT_CRASH, "a rule", "silence", "WARNING: CPU: 0 PID: 9 at fs/x.c:8 f+0x1/0x2");
	failed(&f, VERDICT_CRASH, "a rule", "silence", "WARNING: CPU: 0 PID: 9");
	prints(&f, "CRASH     0/25   b  as above (first seen in `a`)\n", "c  as above");
	prints(&f, "CRASH     0/25   d\n", NULL);
	end(&f);
}

/* The debug kernel knows more of memory that was freed, and nothing more of a NULL pointer. */
static void test_debug_is_suggested(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{}");
	crashed(&f, 88, SPLAT_OOPS);
	f.result.outcomes[FLAVOUR_FAST][0].verdict.splat.maybe_freed = true;
	prints(&f, "hint      If the line is innocent", "TEST=a");
	end(&f);
	begin(&f, "{}");
	crashed(&f, 88, SPLAT_OOPS);
	prints(&f, "CRASH     0/25   a\n", "hint ");
	end(&f);
}

/* The report says what the test was about, and where the student's function led. */
static void test_crash_in_full(void **state)
{
	struct outcome *o;
	struct fixture f;

	(void)state;
	begin(&f, "{}");
	crashed(&f, 88, SPLAT_KASAN);
	o = &f.result.outcomes[FLAVOUR_FAST][0];
	strcpy(o->where, "labs/07-x/agate_x.c:88");
	strcpy(o->place.function, "mine");
	strcpy(o->verdict.about, "a BO is listed when it is complete");
	prints(&f, "       rule      memory is not used after it was freed\n"
		   "       tested    a BO is listed when it is complete\n", "led to");
	/* The kernel's own reporting is no place where anything went wrong. */
	o->verdict.splat.frame_count = 1;
	strcpy(o->verdict.splat.frames[0].symbol, "dump_stack_lvl");
	prints(&f, "in mine()\n", "led to");
	o->verdict.splat.frame_count = 2;
	strcpy(o->verdict.splat.frames[1].symbol, "mutex_lock");
	prints(&f, "       where     labs/07-x/agate_x.c:88, in mine()\n"
		   "       led to    mutex_lock() of the kernel\n", NULL);
	o->verdict.splat.frames[1].module = true;
	prints(&f, "in mine()\n", "led to");
	o->inner.line = 9;
	strcpy(o->inner.file, "kernel/agate_y.c");
	strcpy(o->inner.function, "theirs");
	strcpy(o->inner.source[1], "\tline nine");
	prints(&f, "       led to    kernel/agate_y.c:9, in theirs()\n"
		   "                 >     9 |     line nine\n", NULL);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_rule),
		cmocka_unit_test(test_same_error),
		cmocka_unit_test(test_same_hint),
		cmocka_unit_test(test_same_counters),
		cmocka_unit_test(test_same_place),
		cmocka_unit_test(test_same_warning),
		cmocka_unit_test(test_crash_in_full),
		cmocka_unit_test(test_debug_is_suggested),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_steps_unwritten),
		cmocka_unit_test(test_steps_uncompiled),
		cmocka_unit_test(test_steps_left_out),
		cmocka_unit_test(test_case_hint),
		cmocka_unit_test(test_results_folder),
		cmocka_unit_test(test_steps_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
