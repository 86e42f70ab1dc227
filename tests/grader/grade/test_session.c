// SPDX-License-Identifier: MIT
/*
 * A session from its first guest to its last, on canned guests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lab_text.h"
#include "play.h"

static void test_all_pass(void **state)
{
	struct canned c = { .acts = NULL };
	struct outcome o = { .seals = 0 };

	(void)state;
	play(&c, NULL, &o, "PPP");
	assert_string_equal(c.ran, "|a b c ");
	assert_int_equal(c.insmods, 1);
	assert_int_equal(c.rmmods, 1);
	assert_int_equal(o.seals, 1);
	assert_string_equal(o.remarks, "");
}

/* Neither the module nor the library is there before the files were built. */
static void test_library(void **state)
{
	struct canned c = { .acts = NULL };
	struct outcome o = { .library = true };

	(void)state;
	play(&c, NULL, &o, "PPP");
	assert_int_equal(o.puts_before, 0);
	assert_int_equal(c.puts, 2);
	assert_int_equal(c.files, 1);
}

static void test_failure_reloads(void **state)
{
	struct canned c = { .acts = NULL };
	struct outcome o = { .seals = 0 };
	struct act acts[] = { { .test = "a", FAILS }, { .test = "c", FAILS }, { .test = NULL } };

	(void)state;
	play(&c, acts, &o, "FPF");
	assert_string_equal(c.ran, "|a b c ");
	assert_int_equal(c.insmods, 2);
	assert_string_equal(o.verdicts[0].rule, "r");
	/* A module that cannot be unloaded costs the guest. */
	memset(&c, 0, sizeof(c));
	c.rmmod = 1;
	play(&c, acts, &o, "FPF");
	assert_string_equal(c.ran, "|a |b c ");
	assert_non_null(strstr(o.remarks, "rmmod does not succeed"));
}

static void test_crashes(void **state)
{
	(void)state;
	play_one((struct act){ .console = OOPS, .end = GUEST_CRASHED }, "PCP", "|a b |c ",
		 "NULL pointer");
	play_one((struct act){ .end = GUEST_CRASHED }, "PCP", "|a b |c ", "without a word");
	play_one((struct act){ .console = OOPS }, "PCP", "|a b |c ", "NULL pointer");
	play_one((struct act){ .mark = GUEST_CRASHED }, "PCP", "|a b |c ", "");
	/* After its mark, before another test has begun. */
	play_one((struct act){ .look = GUEST_CRASHED }, "PCP", "|a b |c ", "without a word");
	play_one((struct act){ .look = GUEST_CRASHED, .later = OOPS }, "PCP", "|a b |c ",
		 "NULL pointer");
	play_one((struct act){ .later = OOPS }, "PCP", "|a b |c ", "NULL pointer");
	play_one((struct act){ .look = GUEST_LOST }, "VFP", "|a b |c ", "just ended");
	play_one((struct act){ .test = "c", .console = OOPS, .end = GUEST_CRASHED }, "PPC",
		 "|a b c ", "");
	play_one((struct act){ .test = "a", .console = OOPS, .end = GUEST_CRASHED }, "CPP",
		 "|a |b c ", "");
}

static void test_hangs(void **state)
{
	(void)state;
	play_one((struct act){ .timed_out = true, .signaled = true, .value = 9,
			       .report = "", .output = "" }, "PTP", "|a b |c ", "none after 5000 ms");
	play_one((struct act){ .timed_out = true, .end = GUEST_TIMEOUT }, "PTP", "|a b |c ", "");
	play_one((struct act){ .timed_out = true, .end = GUEST_CRASHED,
			       .where = "Kernel panic - not syncing: NMI\n" }, "PTP", "|a b |c ", "");
	play_one((struct act){ .timed_out = true, .console = OOPS }, "PCP", "|a b |c ", "NULL");
	play_one((struct act){ .test = "c", .timed_out = true }, "PPT", "|a b c ", "");
}

/* Results of a guest whose stream just ends are void; those of earlier guests are not. */
static void test_streams_that_end(void **state)
{
	struct act acts[] = { { .test = "b", .console = OOPS }, { .test = "d", .end = GUEST_LOST },
			      { .test = NULL } };
	static const char *const names[] = { "a", "b", "c", "d", "e", NULL };
	struct canned c = { .acts = acts };
	struct outcome o = { .seals = 0 };
	struct lab *lab = lab_of(names);

	(void)state;
	assert_int_equal(run_in(&c, lab, &o), SESSION_DONE);
	assert_string_equal(o.letters, "PCVFP");
	assert_string_equal(c.ran, "|a b |c d |e ");
	lab_free(lab);
	play_one((struct act){ .mark = GUEST_LOST }, "VFP", "|a b |c ", "");
	play_one((struct act){ .test = "c", .end = GUEST_LOST }, "VVF", "|a b c ", "");
}

static void test_words(void **state)
{
	(void)state;
	play_one((struct act){ .silent = true }, "PFP", "|a b c ", "READY");
	play_one((struct act){ .early = "DONE 0\n" }, "PFP", "|a b c ", "");
	play_one((struct act){ .report = "" }, "PFP", "|a b c ", "no DONE");
	play_one((struct act){ .report = "", .output = "" }, "PFP", "|a b c ", "no DONE");
	play_one((struct act){ .report = "DONE 0123456789abcdef0123456789abcdef\n" }, "PFP",
		 "|a b c ", "wrong nonce");
	play_one((struct act){ .report = "DONE {NONCE}\nDONE {NONCE}\n" }, "PFP", "|a b c ",
		 "after DONE");
	play_one((struct act){ .output = "1..1\nok 1 - b\nok 1 - c\n" }, "PFP", "|a b c ", "another test");
	play_one((struct act){ .report = "", .output = "",
			       .console = "1..1\nok 1 - b\nagate-grade: end of b\n" }, "PFP",
		 "|a b c ", "no DONE");
}

/* The grader cannot wait for so many lines: it has to abandon the guest. */
#define ENDLESS	(1ul << 60)

static void test_floods(void **state)
{
	(void)state;
	play_one((struct act){ .console = "[    1.0] agate: here again, and again, and again\n",
			       .repeat = ENDLESS }, "PFP", "|a b |c ",
		 "bytes, such as: [    1.0] agate: here again, and again, and again");
	play_one((struct act){ .output = "1..1\nok 1 - b\n", .output_repeat = 100000,
			       .signaled = true, .value = 9 }, "PFP", "|a b c ", "more output");
	/* The cause comes first, and does not get lost. */
	play_one((struct act){ .console = OOPS, .repeat = ENDLESS }, "PCP", "|a b |c ",
		 "NULL pointer");
}

/* The driver's init function can do the same, and then no test runs. */
static void test_floods_at_load(void **state)
{
	struct canned c = { .insmod_console = "[    1.0] agate: here\n", .insmod_repeat = ENDLESS };
	struct outcome o = { .seals = 0 };

	(void)state;
	play(&c, NULL, &o, "FFF");
	assert_string_equal(o.verdicts[2].rule, "the driver does not fill the kernel's log");
	assert_non_null(strstr(o.verdicts[2].seen, "while the module is loaded: more than"));
	assert_int_equal(c.abandons, 1);
	assert_int_equal(c.starts, 1);
}

/* ... and when the cause comes last, so late that the grader no longer waits. */
static void shout(struct canned *c, const char *test)
{
	int i;

	if (*test == 'b')
		c->clock += 6000 * 1000000ull;
	for (i = 0; *test == 'b' && i < 30000; i++)
		c->events.console(c->events.arg, "[    1.0] agate: and again and again and again\n", 47);
}

static void test_flood_before_crash(void **state)
{
	struct act acts[] = { { .test = "b", .console = OOPS, .end = GUEST_CRASHED },
			      { .test = NULL } };
	struct canned c = { .before_run = shout };
	struct outcome o = { .seals = 0 };

	(void)state;
	play(&c, acts, &o, "PCP");
	assert_non_null(strstr(o.verdicts[1].seen, "NULL pointer"));
}

static void test_load(void **state)
{
	struct canned c = { .insmod = 1, .insmod_words = "insmod: can't insert: invalid format\nx",
			    .insmod_console = "[    1.0] agate: Unknown symbol foo (err -2)\n" };
	struct outcome o = { .seals = 0 };

	(void)state;
	play(&c, NULL, &o, "FFF");
	assert_non_null(strstr(o.verdicts[2].seen, "invalid format; the kernel said: "
			       "agate: Unknown symbol foo"));
	assert_string_equal(c.ran, "|");

	c = (struct canned){ .no_node = true };
	play(&c, NULL, &o, "FFF");
	assert_non_null(strstr(o.verdicts[0].seen, "probe failed"));

	c = (struct canned){ .module = "/bin/sh" };
	play(&c, NULL, &o, "FFF");
	assert_non_null(strstr(o.verdicts[0].seen, "another module"));

	c = (struct canned){ .insmod_console = OOPS, .insmod_end = GUEST_CRASHED };
	play(&c, NULL, &o, "CCC");
	assert_int_equal(o.verdicts[0].splat.kind, SPLAT_OOPS);

	c = (struct canned){ .insmod_console = OOPS };
	play(&c, NULL, &o, "CCC");

	c = (struct canned){ .insmod_end = GUEST_LOST };
	play(&c, NULL, &o, "FFF");
	assert_int_equal(c.starts, 1);
}

static void test_no_module(void **state)
{
	struct canned c = { .acts = NULL };
	struct outcome o = { .no_module = true };

	(void)state;
	play(&c, NULL, &o, "FFF");
	assert_string_equal(o.verdicts[1].rule, "It compiles.");
	assert_true(o.verdicts[1].before);
	assert_int_equal(c.insmods, 0);
}

/* With one verdict each, whatever fails on the way. */
static void test_order(void **state)
{
	struct act acts[] = { { .test = "a", FAILS }, { .test = NULL } };
	const size_t order[] = { 2, 0, 1 };
	struct canned c = { .acts = NULL };
	struct outcome o = { .order = order };

	(void)state;
	play(&c, acts, &o, "FPP");
	assert_string_equal(c.ran, "|c a b ");
	c = (struct canned){ .acts = NULL };
	acts[0] = (struct act){ .test = "a", .end = GUEST_CRASHED, .console = OOPS };
	play(&c, acts, &o, "CPP");
	assert_string_equal(c.ran, "|c a |b ");
}

/*
 * A guest is prepared with what does not depend on the student's files.  A program that is linked
 * with them is not kept.
 */
static void test_prepared(void **state)
{
	struct canned c = { .acts = NULL };
	struct outcome o = { .inject = true };

	(void)state;
	play(&c, NULL, &o, "PPP");
	assert_int_equal(c.files, 2);
	assert_int_equal(c.programs, 2);
	assert_true(c.keeps && c.kept);
	assert_int_equal(c.forked, 2);
	assert_int_equal(c.executed, 0);
	o = (struct outcome){ .library = true };
	c = (struct canned){ .acts = NULL };
	play(&c, NULL, &o, "PPP");
	assert_int_equal(c.files, 1);
	assert_int_equal(c.programs, 0);
	assert_false(c.kept);
	assert_int_equal(c.forked, 0);
	assert_int_equal(c.executed, 2);
}

/* While there is time, the program runs once for nothing.  No verdict comes of that. */
static void test_warm_up(void **state)
{
	struct canned c;
	struct outcome o;

	(void)state;
	for (int library = 0; library <= 1; library++) {
		for (int building = 0; building <= 1; building++) {
			c = (struct canned){ .acts = NULL };
			o = (struct outcome){ .building = building, .library = library };
			play(&c, NULL, &o, "PPP");
			assert_int_equal(c.lists, building);
			assert_int_equal(c.kept, !library);
		}
	}

	/* A guest that is lost meanwhile is replaced as any other. */
	c = (struct canned){ .list_end = GUEST_GONE };
	o = (struct outcome){ .building = 1, .library = true };
	play(&c, NULL, &o, "PPP");
	assert_int_equal(c.starts, 2);
}

/* If tests load the module, the leftovers of a failed test disappear with its guest. */
static void test_by_test(void **state)
{
	struct act acts[] = { { .test = "a", FAILS }, { .test = "c", FAILS }, { .test = NULL } };
	struct canned c = { .acts = acts };
	struct outcome o = { .seals = 0 };
	struct lab *lab = lab_of(abc);

	(void)state;
	lab->by_test = true;
	assert_int_equal(run_in(&c, lab, &o), SESSION_DONE);
	assert_string_equal(o.letters, "FPF");
	assert_string_equal(c.ran, "|a |b c ");
	assert_int_equal(c.insmods + c.rmmods, 0);
	lab_free(lab);
}

/* A host that cannot go on, and a person who does not want to. */
static void test_no_guest(void **state)
{
	struct lab *lab = lab_of(abc);
	struct act acts[] = { { .test = "b", .end = GUEST_INTERRUPTED }, { .test = NULL } };
	struct canned c = { .start_end = GUEST_HOST };
	struct outcome o = { .seals = 0 };

	(void)state;
	assert_int_equal(run_in(&c, lab, &o), SESSION_HOST);
	assert_string_equal(o.letters, "---");
	assert_int_equal(c.starts, 2);
	c = (struct canned){ .start_end = GUEST_REFUSED };
	assert_int_equal(run_in(&c, lab, &o), SESSION_HOST);
	assert_int_equal(c.starts, 3);
	c = (struct canned){ .acts = acts };
	o.seals = 0;
	assert_int_equal(run_in(&c, lab, &o), SESSION_INTERRUPTED);
	assert_string_equal(o.letters, "p--");
	assert_int_equal(o.seals, 0);
	lab_free(lab);
}

static void test_not_wanted(void **state)
{
	struct lab *lab = lab_of(abc);
	struct canned c = { .acts = NULL };
	struct outcome o = { .stop_at = 2 };

	(void)state;
	assert_int_equal(run_in(&c, lab, &o), SESSION_DONE);
	assert_string_equal(o.letters, "PP-");
	lab_free(lab);
}

static void test_params_and_injections(void **state)
{
	static const char *const names[] = { "a", NULL };
	static const char more[] =
		"{\"params\": {\"SIZE\": [5, 5], \"N\": [-3, -3]},"
		"\"inject\": [{\"latency\": {\"reset\": -1}}, {\"identity\": {\"gpu_id\": \"$SIZE\"}}],"
		"\"judge\": [{\"see\": \"size\", \"equals\": \"$SIZE\", \"rule\": \"r\"},"
		"{\"see\": \"n\", \"equals\": \"$N\", \"rule\": \"r\"},"
		"{\"counter\": \"irqs\", \"equals\": 4, \"rule\": \"r\"}]}";
	struct act acts[] = { { .test = "a", .grows = 4,
				.report = "SEE size {SIZE}\nSEE n {N}\nDONE {NONCE}\n" },
			      { .test = NULL } };
	struct lab *lab = lab_with(names, more);
	struct canned c = { .acts = acts };
	struct outcome o = { .seals = 0 };

	(void)state;
	assert_int_equal(run_in(&c, lab, &o), SESSION_DONE);
	assert_string_equal(o.letters, "P");
	assert_string_equal(c.requests, "{\"cmd\":\"latency\",\"reset\":-1}"
			    "{\"cmd\":\"identity\",\"gpu_id\":5}{\"cmd\":\"restore\"}");
	acts[0].grows = 5;
	assert_int_equal(run_in(&c, lab, &o), SESSION_DONE);
	assert_string_equal(o.letters, "F");
	acts[0].grows = 4;
	acts[0].report = "SEE size {SIZE}\nSEE size {SIZE}\nSEE n {N}\nDONE {NONCE}\n";
	assert_int_equal(run_in(&c, lab, &o), SESSION_DONE);
	assert_string_equal(o.letters, "F");
	assert_non_null(strstr(o.verdicts[0].seen, "twice"));
	lab_free(lab);
}

/* Each test's report has the GPU's hints from that test, and none from before. */
static void test_gpu_log(void **state)
{
	struct act acts[] = {
		{ .test = "a", .gpu = "{\"event\": \"hint\", \"section\": 1, \"text\": \"first\"}\n" },
		{ .test = "b", FAILS,
		  .gpu = "{\"event\": \"hint\", \"section\": 2, \"text\": \"second\"}\n" },
		{ .test = "c", FAILS },
		{ .test = NULL }
	};
	struct canned c = { .gpu_log = scratch_file("gpu.jsonl", "{\"event\": \"start\"}\n") };
	struct outcome o = { .seals = 0 };

	(void)state;
	acts[1].report = "RULE r\nSEEN s\nDONE {NONCE}\n";
	acts[2].report = acts[1].report;
	play(&c, acts, &o, "PFF");
	assert_string_equal(o.verdicts[1].gpu, "second (book/hardware.md, section 2)");
	assert_string_equal(o.verdicts[2].gpu, "");
	assert_non_null(strstr(c.requests, "{\"cmd\":\"mark\",\"text\":\"begin b\"}"
			       "{\"cmd\":\"mark\",\"text\":\"end b\"}"));
	/* A file that is missing or unreadable costs no points. */
	c = (struct canned){ .gpu_log = "/nonexistent/gpu.jsonl" };
	acts[0].gpu = NULL;
	acts[1].gpu = NULL;
	play(&c, acts, &o, "PFF");
}

static void test_kill(void **state)
{
	static const char *const names[] = { "a", "b", NULL };
	struct act acts[] = { { .test = "a", .report = "SEE ready-to-lose 1\nDONE {NONCE}\n" },
			      { .test = NULL } };
	struct lab *lab = lab_with(names, "{\"inject\": [{\"kill\": true}]}");
	struct canned c = { .acts = acts };
	struct outcome o = { .seals = 0 };

	(void)state;
	assert_int_equal(run_in(&c, lab, &o), SESSION_DONE);
	assert_string_equal(o.letters, "PP");
	assert_int_equal(c.kills, 1);
	assert_string_equal(c.ran, "|a |b ");
	lab_free(lab);
}

/* A guest that crashes had lines that were not sent; after DONE there are none. */
static void test_held(void **state)
{
	static const char report[] = "RULE first\n", held[] = "RULE second\nRULE third\n";
	struct act acts[] = {
		{ .test = "a", .held = held },
		{ .test = "b", .report = report, .held = held, .end = GUEST_CRASHED },
		{ .test = "c", .report = report, .end = GUEST_CRASHED },
		{ .test = NULL }
	};
	struct canned c = { 0 };
	struct outcome o = { .log = tmpfile() };
	char text[2000];
	size_t n;

	(void)state;
	play(&c, acts, &o, "PCC");
	assert_non_null(strstr(o.verdicts[1].about, "rule: third"));
	assert_non_null(strstr(o.verdicts[2].about, "rule: first"));
	rewind(o.log);
	n = fread(text, 1, sizeof(text) - 1, o.log);
	text[n] = '\0';
	assert_null(strstr(strstr(text, "=== a"), "second\n=== b"));
	assert_non_null(strstr(text, "RULE first\nRULE second\nRULE third\n"));
	fclose(o.log);
}

/* The log keeps the output of every failure, and that of the others, too. */
static void test_log(void **state)
{
	struct act acts[] = { { .test = "b", FAILS }, { .test = NULL } };
	struct canned c = { .acts = acts };
	struct outcome o = { .log = tmpfile() };
	char text[2000];
	size_t n;

	(void)state;
	play(&c, acts, &o, "PFP");
	rewind(o.log);
	n = fread(text, 1, sizeof(text) - 1, o.log);
	text[n] = '\0';
	assert_non_null(strstr(text, "=== a: pass\n--- report\nREADY\nDONE "));
	assert_non_null(strstr(text, "=== b: fail\n--- report\nREADY\nRULE r\n"));
	assert_non_null(strstr(text, "--- output\n1..1\nnot ok 1 - x\n"));
	fclose(o.log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_pass),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_failure_reloads),
		cmocka_unit_test(test_crashes),
		cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_streams_that_end),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_floods),
		cmocka_unit_test(test_floods_at_load),
		cmocka_unit_test(test_flood_before_crash),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_no_module),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_prepared),
		cmocka_unit_test(test_warm_up),
		cmocka_unit_test(test_by_test),
		cmocka_unit_test(test_no_guest),
		cmocka_unit_test(test_not_wanted),
		cmocka_unit_test(test_params_and_injections),
		cmocka_unit_test(test_gpu_log),
		cmocka_unit_test(test_kill),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
