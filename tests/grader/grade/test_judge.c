// SPDX-License-Identifier: MIT
/*
 * The verdict: a pass, and everything that is not one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "judge.h"
#include "lab_text.h"
#include "text.h"

#define NONCE	"0123456789abcdef0123456789abcdef"
#define DONE	"DONE " NONCE "\n"
#define GOOD	"READY\n" DONE
#define OK	"1..1\nok 1 - one\n"
#define OOPS	"[    1.0] BUG: kernel NULL pointer dereference, address: 0000000000000008\n"

static struct lab *lab;

/* A test that passes: each case spoils one thing in it. */
static struct evidence evidence(void)
{
	return (struct evidence){
		.test = &lab->tests[0], .nonce = NONCE, .params = { 7 }, .end = GUEST_OK,
		.marked = true, .report = GOOD, .report_len = strlen(GOOD),
		.report_at_go = strlen("READY\n"), .went = true,
		.output = OK, .output_len = strlen(OK), .console = "", .counted = true,
	};
}

static void verdict(const struct evidence *e, enum verdict_status status, const char *seen)
{
	struct verdict v;

	judge(e, &v);
	if (v.status != status || !strstr(v.seen, seen))
		fail_msg("%s, rule \"%s\", seen \"%s\"; not %s, \"%s\"", verdict_word(v.status),
			 v.rule, v.seen, verdict_word(status), seen);
	if (status != VERDICT_PASS)
		assert_true(*v.rule || *v.seen);
}

static void with_report(const char *report, enum verdict_status status, const char *seen)
{
	struct evidence e = evidence();

	e.report = report;
	e.report_len = strlen(report);
	verdict(&e, status, seen);
}

static void with_output(const char *output, enum verdict_status status, const char *seen)
{
	struct evidence e = evidence();

	e.output = output;
	e.output_len = strlen(output);
	verdict(&e, status, seen);
}

static void with_console(const char *console, enum verdict_status status, const char *seen)
{
	struct evidence e = evidence();

	e.console = console;
	e.console_len = strlen(console);
	verdict(&e, status, seen);
}

static void test_pass(void **state)
{
	(void)state;
	with_report(GOOD, VERDICT_PASS, "");
	with_report("READY\nSEE size 7\nNOTE a flush too many\nRULE r\n" DONE, VERDICT_PASS, "");
	with_output("TAP version 13\n# words\n1..1\nok 1 - one\n# ok - tests\n", VERDICT_PASS, "");
	with_console("[    1.0] agate 0000:00:05.0: ready\n", VERDICT_PASS, "");
}

static void test_reports(void **state)
{
	(void)state;
	with_report("", VERDICT_FAIL, "no READY");
	with_report("READY", VERDICT_FAIL, "no READY");
	with_report("READY\n", VERDICT_FAIL, "no DONE");
	with_report("READY\nDONE 0123456789abcdef0123456789abcdee\n", VERDICT_FAIL, "wrong nonce");
	with_report("READY\nDONE\n", VERDICT_FAIL, "makes no sense");
	with_report("READY\nDONE \n", VERDICT_FAIL, "wrong nonce");
	with_report(GOOD DONE, VERDICT_FAIL, "after DONE");
	with_report(GOOD "SEE a 1\n", VERDICT_FAIL, "after DONE");
	with_report(GOOD "\n", VERDICT_FAIL, "after DONE");
	with_report("READY\nDONE " NONCE, VERDICT_FAIL, "cut off");
	with_report("READY\nSEE si", VERDICT_FAIL, "cut off");
	with_report("READY\nGO " NONCE "\n" DONE, VERDICT_FAIL, "makes no sense");
	with_report("READY\nREADY\n" DONE, VERDICT_FAIL, "makes no sense");
	with_report("READY\n done\n" DONE, VERDICT_FAIL, "makes no sense");
	with_report("READY\nSEE a\n" DONE, VERDICT_FAIL, "name and a number");
	with_report("READY\nSEE a 1x\n" DONE, VERDICT_FAIL, "name and a number");
	with_report("READY\nSEE a 9223372036854775808\n" DONE, VERDICT_FAIL, "name and a number");
	with_report("READY\nSEE a -9223372036854775808\n" DONE, VERDICT_PASS, "");
	with_report("READY\nSEE a 99999999999999999999\n" DONE, VERDICT_FAIL, "name and a number");
	with_report("READY\nSEE a 1\nSEE a 1\n" DONE, VERDICT_FAIL, "twice");
	with_report("READY\nEXPECTED x\n" DONE, VERDICT_FAIL, "");
	with_report("READY\nSEEN x\n" DONE, VERDICT_FAIL, "x");
	with_report("READY\nEXPECTED y\nSEEN a crash\n", VERDICT_FAIL, "a crash");
	with_report("READY\nSEEN x\n", VERDICT_FAIL, "no DONE");
	with_report("READY\nEXPECTED y\nSEEN x\nz\n", VERDICT_FAIL, "makes no sense");
}

static void test_long_reports(void **state)
{
	char *text = calloc(1, 70000), line[1200];
	int i;

	(void)state;
	memset(line, 'x', sizeof(line));
	memcpy(line, "NOTE ", 5);
	sprintf(text, "READY\n%.1000s\n" DONE, line);
	with_report(text, VERDICT_PASS, "");
	sprintf(text, "READY\n%.1001s\n" DONE, line);
	with_report(text, VERDICT_FAIL, "more than 1000 bytes");
	strcpy(text, "READY\n");
	for (i = 0; i < 65; i++)
		sprintf(text + strlen(text), "SEE n%d 1\n", i);
	strcat(text, DONE);
	with_report(text, VERDICT_FAIL, "more than 64 observations");
	free(text);
}

static void test_outputs(void **state)
{
	(void)state;
	with_output("", VERDICT_FAIL, "neither a plan nor a result");
	with_output("1..0\n", VERDICT_FAIL, "not 1..1");
	with_output("1..1\n", VERDICT_FAIL, "no result");
	with_output("ok 1 - one\n", VERDICT_FAIL, "no plan");
	with_output("1..1\nok 1 - two\n", VERDICT_FAIL, "another test");
	with_output("1..1\nok 1 - one and more\n", VERDICT_FAIL, "another test");
	with_output("1..1\nok 2 - one\n", VERDICT_FAIL, "another test");
	with_output("1..1\nok\n", VERDICT_FAIL, "another test");
	with_output("1..1\nok 1 # SKIP one\n", VERDICT_FAIL, "another test");
	with_output("1..1\nok 1 - one # TODO\n", VERDICT_FAIL, "another test");
	with_output("1..1\nok 1 - on", VERDICT_FAIL, "cut off");
	with_output("1..1\n1..1\nok 1 - one\n", VERDICT_FAIL, "2 plans");
	with_output("1..2\nok 1 - one\n", VERDICT_FAIL, "not 1..1");
	with_output("1..1 # SKIP\nok 1 - one\n", VERDICT_FAIL, "not 1..1");
	with_output("1..1\nok 1 - one\nok 1 - one\n", VERDICT_FAIL, "2 results");
	with_output("1..1\nnot ok 1 - one\nok 1 - one\n", VERDICT_FAIL, "2 results");
	with_output("1..1\nok 1 - one\nBail out!\n", VERDICT_FAIL, "gave up");
	with_output("1..1\nok 1 - one\nend", VERDICT_FAIL, "cut off");
	with_output("1..1\nnot ok 1 - one\n# file.c:3: error\n", VERDICT_FAIL, "file.c:3");
	with_output("okay\n1..1\nok 1 - one\n", VERDICT_PASS, "");
}

/* A result without DONE, DONE without a result, and exit(0) in the test's middle. */
static void test_forged(void **state)
{
	struct evidence e = evidence();

	(void)state;
	e.report_len = strlen("READY\n");
	verdict(&e, VERDICT_FAIL, "no DONE");
	e.output_len = 0;
	verdict(&e, VERDICT_FAIL, "no DONE");
	e = evidence();
	e.console = OK DONE "agate-grade: end of one\n";
	e.console_len = strlen(e.console);
	e.output_len = 0;
	e.report_len = strlen("READY\n");
	verdict(&e, VERDICT_FAIL, "no DONE");
	e = evidence();
	e.went = false;
	verdict(&e, VERDICT_FAIL, "READY");
	e = evidence();
	e.report_at_go = e.report_len;
	verdict(&e, VERDICT_FAIL, "between READY and GO");
	e = evidence();
	e.value = 1;
	verdict(&e, VERDICT_FAIL, "exit status 1");
	e = evidence();
	e.signaled = true;
	e.value = 11;
	verdict(&e, VERDICT_FAIL, "SIGSEGV (11)");
}

static void test_failure(void **state)
{
	struct evidence e = evidence();
	struct verdict v;

	(void)state;
	e.report = "READY\nRULE A size of 0 is refused.\nEXPECTED EINVAL\nSEEN suc\033[1mcess\n" DONE;
	e.report_len = strlen(e.report);
	e.output = "1..1\nnot ok 1 - one\n# graded.c:1: error\n";
	e.output_len = strlen(e.output);
	e.value = 1;
	judge(&e, &v);
	assert_int_equal(v.status, VERDICT_FAIL);
	assert_string_equal(v.rule, "A size of 0 is refused.");
	assert_string_equal(v.expected, "EINVAL");
	assert_string_equal(v.seen, "suc?[1mcess");
}

static void sees(const char *report, const char *seen)
{
	struct evidence e = evidence();
	struct verdict v;

	e.report = report;
	e.report_len = strlen(report);
	judge(&e, &v);
	assert_int_equal(v.status, VERDICT_FAIL);
	assert_string_equal(v.seen, seen);
}

/* A negative number has an errno's name, unless the test expected another number there. */
static void test_counts(void **state)
{
	(void)state;
	sees("READY\nEXPECTED pages: 4\nSEEN pages: -2\n" DONE, "pages: -2");
	sees("READY\nEXPECTED pages: -1\nSEEN pages: -12\n" DONE, "pages: -12");
	sees("READY\nEXPECTED pages: EINVAL\nSEEN pages: -2\n" DONE, "pages: -2 (ENOENT)");
	sees("READY\nEXPECTED 4\nSEEN probe: -2\n" DONE, "probe: -2 (ENOENT)");
}

static void test_kernel(void **state)
{
	struct evidence e = evidence();

	(void)state;
	with_console(OOPS, VERDICT_CRASH, "NULL pointer");
	e.end = GUEST_CRASHED;
	e.marked = false;
	verdict(&e, VERDICT_CRASH, "without a word");
	e.console = OOPS;
	e.console_len = strlen(OOPS);
	verdict(&e, VERDICT_CRASH, "NULL pointer");
	/* The report is complete, but the kernel disagrees. */
	e.end = GUEST_OK;
	e.marked = true;
	verdict(&e, VERDICT_CRASH, "NULL pointer");
}

/* The rule that the test looked at last, or else what it shows. */
static void test_about(void **state)
{
	static const char report[] = "READY\nRULE the first\nRULE the sec\001ond\n";
	struct evidence e = evidence();
	struct verdict v;

	(void)state;
	e.console = OOPS;
	e.console_len = strlen(OOPS);
	e.report = report;
	e.report_len = strlen(report);
	judge(&e, &v);
	assert_string_equal(v.about, "it; it had come to this rule: the sec?ond");
	e.console_len = 0;
	e.timed_out = true;
	judge(&e, &v);
	assert_int_equal(v.status, VERDICT_TIMEOUT);
	assert_non_null(strstr(v.about, "rule: the sec?ond"));
	e.report = "READY\n";
	e.report_len = strlen(e.report);
	judge(&e, &v);
	assert_string_equal(v.about, "it");
	e.timed_out = false;
	judge(&e, &v);
	assert_int_equal(v.status, VERDICT_FAIL);
	assert_string_equal(v.about, "");
}

static void test_hang(void **state)
{
	static const char later[] =
		"[    6.0] sysrq: Show Blocked State\n"
		"[    6.0] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [test:77]\n";
	struct evidence e = evidence();

	(void)state;
	e.timed_out = true;
	e.limit_ms = 5000;
	e.signaled = true;
	e.value = 9;
	verdict(&e, VERDICT_TIMEOUT, "none after 5000 ms");
	e.end = GUEST_CRASHED;
	verdict(&e, VERDICT_TIMEOUT, "none");
	e.console = later;
	e.console_len = strlen(later);
	verdict(&e, VERDICT_TIMEOUT, "");
	/* A watchdog may report early, but a hang stays a hang. */
	e.console_at_limit = e.console_len;
	verdict(&e, VERDICT_TIMEOUT, "none after 5000 ms");
	/* Another report from before the time limit is the reason. */
	e.console = OOPS;
	e.console_len = strlen(OOPS);
	e.console_at_limit = e.console_len;
	verdict(&e, VERDICT_CRASH, "NULL pointer");
	e = evidence();
	e.end = GUEST_TIMEOUT;
	verdict(&e, VERDICT_TIMEOUT, "none");
}

/* The guest's watchdogs do not know that the host had no processor for the guest. */
static void test_watchdogs(void **state)
{
	static const char *const said[] = {
		"[   24.1] rcu: INFO: rcu_sched self-detected stall on CPU\n"
		"[   24.1] rcu: \t1-....: (5249 ticks this GP) idle=7d2c/1/0x4000000000000000\n"
		"[   24.1] CPU: 1 PID: 77 Comm: test Tainted: G           O       6.1.192-agate #1\n"
		"[   24.1] RIP: 0010:as_wait+0x1b/0x40 [agate]\n[   24.1] Call Trace:\n"
		"[   24.1]  <TASK>\n[   24.1]  agate_mmu_map+0x10/0x20 [agate]\n[   24.1]  </TASK>\n",
		"[   24.1] rcu: INFO: rcu_sched detected expedited stalls on CPUs/tasks: { 1-... } 21 "
		"jiffies s: 301 root: 0x2/.\n",
		"[   24.1] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [test:77]\n",
		"[   24.1] watchdog: Watchdog detected hard LOCKUP on cpu 0\n",
		"[   61.0] INFO: task test:77 blocked for more than 30 seconds.\n",
		"[   61.0] BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 31s!\n",
	};
	char text[2048];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		with_console(said[i], VERDICT_PASS, "");
		snprintf(text, sizeof(text), "%s%s", said[i], OOPS);
		with_console(text, VERDICT_CRASH, "NULL pointer");
		snprintf(text, sizeof(text), "%s%s", OOPS, said[i]);
		with_console(text, VERDICT_CRASH, "NULL pointer");
	}
}

static void test_ends(void **state)
{
	struct evidence e = evidence();

	(void)state;
	e.end = GUEST_LOST;
	verdict(&e, VERDICT_FAIL, "just ended");
	e.end = GUEST_REFUSED;
	verdict(&e, VERDICT_FAIL, "could not start");
	e = evidence();
	e.marked = false;
	verdict(&e, VERDICT_FAIL, "no mark");
	e = evidence();
	e.flooded = true;
	verdict(&e, VERDICT_FAIL, "more output");
	e = evidence();
	e.console_flooded = true;
	verdict(&e, VERDICT_FAIL, "bytes");
	/* The grader ended it because of that: no other reason matters. */
	e.end = GUEST_STOPPED;
	e.marked = false;
	e.console = "[    1.0] one\r\n[    1.1] two\r\n[    1.2] thr";
	e.console_len = strlen(e.console);
	verdict(&e, VERDICT_FAIL, "bytes, such as: [    1.1] two");
	e = evidence();
	e.gpu_failed = "it ended";
	e.console = OOPS;
	e.console_len = strlen(OOPS);
	verdict(&e, VERDICT_NOT_RUN, "a bug of Agate: it ended");
}

static void judged(const char *json, const char *report, const struct evidence *like,
		   enum verdict_status status, const char *seen)
{
	static const char *const names[] = { "one", NULL };
	struct lab *other = lab_with(names, json);
	struct evidence e = *like;

	e.test = &other->tests[0];
	e.report = report;
	e.report_len = strlen(report);
	verdict(&e, status, seen);
	lab_free(other);
}

static void test_observations(void **state)
{
	static const char see[] = "{\"params\": {\"N\": [1, 9]}, \"judge\": ["
		"{\"see\": \"size\", \"equals\": \"$N\", \"rule\": \"The size is N.\"}]}";
	static const char least[] =
		"{\"judge\": [{\"see\": \"size\", \"at_least\": 5, \"rule\": \"r\"}]}";
	static const char most[] =
		"{\"judge\": [{\"see\": \"size\", \"at_most\": 5, \"rule\": \"r\"}]}";
	static const char counter[] =
		"{\"judge\": [{\"counter\": \"irqs\", \"equals\": 2, \"rule\": \"r\"}]}";
	struct evidence e = evidence();

	(void)state;
	judged(see, "READY\nSEE size 7\n" DONE, &e, VERDICT_PASS, "");
	judged(see, "READY\nSEE size 8\n" DONE, &e, VERDICT_FAIL, "8");
	judged(see, GOOD, &e, VERDICT_FAIL, "did not tell");
	judged(see, "READY\nSEE sizes 7\n" DONE, &e, VERDICT_FAIL, "did not tell");
	judged(least, "READY\nSEE size 5\n" DONE, &e, VERDICT_PASS, "");
	judged(least, "READY\nSEE size 4\n" DONE, &e, VERDICT_FAIL, "4");
	judged(most, "READY\nSEE size 5\n" DONE, &e, VERDICT_PASS, "");
	judged(most, "READY\nSEE size 6\n" DONE, &e, VERDICT_FAIL, "6");
	e.before[AGATE_CNT_IRQS] = 40;
	e.after[AGATE_CNT_IRQS] = 42;
	judged(counter, GOOD, &e, VERDICT_PASS, "");
	e.after[AGATE_CNT_IRQS] = 43;
	judged(counter, GOOD, &e, VERDICT_FAIL, "3");
	e.after[AGATE_CNT_IRQS] = 39;
	judged(counter, GOOD, &e, VERDICT_FAIL, "could not be read");
	e.after[AGATE_CNT_IRQS] = 42;
	e.counted = false;
	judged(counter, GOOD, &e, VERDICT_FAIL, "could not be read");
}

static void test_notes(void **state)
{
	struct evidence e = evidence();
	struct verdict v;
	char report[4000] = "READY\n";
	int i;

	(void)state;
	for (i = 0; i < 20; i++)
		sprintf(report + strlen(report), "NOTE number %d\n", i);
	strcat(report, DONE);
	e.report = report;
	e.report_len = strlen(report);
	judge(&e, &v);
	assert_int_equal(v.status, VERDICT_PASS);
	assert_int_equal(v.note_count, JUDGE_NOTES);
	assert_string_equal(v.notes[0], "number 0");
}

static void cleaned(const char *text, size_t size, const char *wanted)
{
	char out[64];

	text_clean(out, size, text, strlen(text));
	assert_string_equal(out, wanted);
}

static void test_text(void **state)
{
	(void)state;
	cleaned("plain", 64, "plain");
	cleaned("plain", 4, "pla");
	cleaned("a\033[2Jb\007\r\n", 64, "a?[2Jb???");
	cleaned("a\tb", 64, "a b");
	cleaned("gr\xc3\xb6\xc3\x9f" "er \xe2\x89\xa5", 64, "gr\xc3\xb6\xc3\x9f" "er \xe2\x89\xa5");
	cleaned("\xe2\x89\xa5", 3, "");
	cleaned("\xc0\xaf\xff\xed\xa0\x80", 64, "??????");
	cleaned("a\xe2\x80\xae" "b\xc2\x9b" "c", 64, "a?b?c");
	cleaned("\xf4\x90\x80\x80", 64, "????");
	cleaned("\xe2\x89", 64, "??");
}

static uint32_t random_number;

static uint32_t draw(uint32_t below)
{
	random_number = random_number * 1664525 + 1013904223;
	return (random_number >> 8) % below;
}

/* Puts a meaningful piece, or noise, somewhere into the text. */
static size_t spoil(char *text, size_t len)
{
	static const char *const pieces[] = {
		"READY\n", "DONE ", NONCE, "\n", "SEE ", "a ", "1", "-", "9223372036854775807",
		"NOTE ", "RULE ", "EXPECTED ", "SEEN ", "1..1", "1..", "ok 1 - one", "not ok",
		"ok", " - ", "# ", "Bail out!", "BUG: ", "WARNING: ", "Call Trace:\n", "Oops: ",
		"==================\n", "\xff", " agate_x+0x12/0x34 [agate]\n", "[   1.0] ",
	};
	const size_t count = sizeof(pieces) / sizeof(pieces[0]);
	uint32_t k = draw(count + 2), noise = random_number;
	const char *piece = k < count ? pieces[k] : (const char *)&noise;
	size_t n = k < count ? strlen(piece) : sizeof(noise), at = draw((uint32_t)len + 1);

	memmove(text + at + n, text + at, len - at);
	memcpy(text + at, piece, n);
	/* Now and then cuts off the end. */
	return draw(8) ? len + n : draw((uint32_t)(len + n + 1));
}

/* A good test's output with pieces inserted: no variant may crash the grader, or pass by chance. */
static void test_fuzz(void **state)
{
	static const char *const good[] = { GOOD, OK, "" };
	struct verdict *v = malloc(sizeof(*v));
	unsigned int passes = 0;
	char text[3][4096];
	size_t len[3];
	int round, s, k;

	(void)state;
	for (round = 0; round < 30000; round++) {
		struct evidence e = evidence();

		for (s = 0; s < 3; s++) {
			len[s] = strlen(good[s]);
			memcpy(text[s], good[s], len[s]);
			for (k = (int)draw(s == 2 ? 40 : 4); k; k--)
				len[s] = spoil(text[s], len[s]);
		}
		e.report = text[0];
		e.report_len = len[0];
		e.output = text[1];
		e.output_len = len[1];
		e.console = text[2];
		e.console_len = len[2];
		e.console_at_limit = len[2] / 2;
		e.timed_out = !draw(8);
		e.end = draw(6) ? GUEST_OK : (enum guest_status)draw(6);
		judge(&e, v);
		if (v->status != VERDICT_PASS)
			continue;
		passes++;
		assert_true(e.end == GUEST_OK && !e.timed_out && len[0] >= strlen(DONE));
		assert_memory_equal(text[0], "READY\n", 6);
		assert_memory_equal(text[0] + len[0] - strlen(DONE), DONE, strlen(DONE));
		assert_non_null(memmem(text[1], len[1], "ok 1 - one\n", 11));
		assert_null(memmem(text[1], len[1], "\nnot ok", 7));
	}
	/* A fuzzer that makes only rubbish finds nothing. */
	assert_in_range(passes, 100, 20000);
	free(v);
}

static int setup(void **state)
{
	static const char *const names[] = { "one", NULL };

	(void)state;
	lab = lab_of(names);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	lab_free(lab);
	return 0;
}

/* The report of a test that could not look does not count; evidence from outside does. */
static void test_blind(void **state)
{
	static const char skipped[] = "1..1\nnot ok 1 # SKIP one\n";
	static const char blind[] = "READY\nBLIND the window closed too early\n" DONE;
	struct evidence e = evidence();

	(void)state;
	with_report(blind, VERDICT_NOT_RUN, "the window closed too early");
	with_report("READY\nBLIND \n" DONE, VERDICT_NOT_RUN, "does not say why");
	with_report("READY\nRULE r\nSEEN s\nBLIND first\nBLIND last\n" DONE, VERDICT_NOT_RUN,
		    "last");
	with_report("READY\nBLIND\n" DONE, VERDICT_FAIL, "makes no sense");
	e.report = blind;
	e.report_len = strlen(blind);
	e.output = skipped;
	e.output_len = strlen(skipped);
	verdict(&e, VERDICT_NOT_RUN, "the window closed too early");
	e.console = OOPS;
	e.console_len = strlen(OOPS);
	verdict(&e, VERDICT_CRASH, "NULL pointer");
	e.console_len = 0;
	e.timed_out = true;
	verdict(&e, VERDICT_TIMEOUT, "none after");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pass),
		cmocka_unit_test(test_blind),
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_long_reports),
		cmocka_unit_test(test_outputs),
		cmocka_unit_test(test_forged),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_about),
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_watchdogs),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_observations),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_fuzz),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
