// SPDX-License-Identifier: MIT
/*
 * Text for people: numbers with their names, the messages of the GPU and of the driver.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu_hints.h"
#include "judge.h"
#include "lab_text.h"
#include "said.h"
#include "text.h"

#define NONCE	"0123456789abcdef0123456789abcdef"
#define DONE	"DONE " NONCE "\n"
#define OK	"1..1\nok 1 - one\n"

static struct lab *lab;

/* The evidence of a test that passes, except for its report. */
static struct evidence evidence(void)
{
	return (struct evidence){
		.test = &lab->tests[0], .nonce = NONCE, .end = GUEST_OK, .marked = true,
		.report_at_go = strlen("READY\n"), .went = true, .output = OK,
		.output_len = strlen(OK), .console = "", .counted = true,
	};
}

/* A log that people read with cat: nothing in it moves their cursor. */
static void test_log_text(void **state)
{
	static const char text[] = "a\tb\r\nESC \033[2J NUL \0 C1 \xc2\x9b \x9b DEL \x7f \xc3\xa9 "
				   "\xe2\x80\xae \xd8\x9c \xf3\xa0\x81\x81 \xef\xbf\xb9";
	char *out;
	size_t size;
	FILE *log = open_memstream(&out, &size);

	(void)state;
	text_write(log, text, sizeof(text) - 1);
	fclose(log);
	assert_string_equal(out, "a\tb\r\nESC ^[[2J NUL ^@ C1 ? ? DEL ^? \xc3\xa9 ? ? ? ?");
	free(out);
}

static void named(const char *text, const char *wanted)
{
	char out[128];

	text_names(out, sizeof(out), text);
	assert_string_equal(out, wanted);
}

static void test_names(void **state)
{
	(void)state;
	named("CREATE_BO: errno 28 in round 3", "CREATE_BO: ENOSPC (28) in round 3");
	named("errno 5", "EIO (5)");
	named("it died of signal 11.", "it died of SIGSEGV (11).");
	named("signal 9: Killed", "SIGKILL (9): Killed");
	named("probe failed: -28", "probe failed: -28 (ENOSPC)");
	named("no vectors (-28), giving up", "no vectors (-28, ENOSPC), giving up");
	named("the counter bos: -1", "the counter bos: -1");
	named("err=-110", "err=-110 (ETIMEDOUT)");
	named("probe with driver agate failed with error -95",
	      "probe with driver agate failed with error -95 (EOPNOTSUPP)");
}

/* Text that only looks like a number with a name stays unchanged. */
static void test_no_names(void **state)
{
	static const char *const texts[] = {
		"", "errno", "errno x", "errno 0", "errno 4000", "errno 28x", "errno 99999", "myerrno 28",
		"signal 0", "signal 99", "28", "2-28", "0x100-0x128", "at -28 degrees", "range: 1 - 28",
		"-28", "-", "a -0", "a -28.5", "minus -9999",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		named(texts[i], texts[i]);
}

static void test_bounds(void **state)
{
	char out[12];

	(void)state;
	text_names(out, sizeof(out), "abcdefghijklmnop");
	assert_string_equal(out, "abcdefghijk");
	text_names(out, sizeof(out), "ab errno 28");
	assert_int_equal(strlen(out), 11);
	text_names(out, sizeof(out), "errno 28");
	assert_string_equal(out, "ENOSPC (28)");
}

#define HINT(section, text, more)	"{\"time\": 9, \"event\": \"hint\", \"section\": " section \
	", \"text\": \"" text "\"" more "}\n"
#define EARLY(reg)	HINT("2", "a write before RESET_COMPLETED is lost", ", \"register\": \"" reg "\"")
#define SAID	"a write before RESET_COMPLETED is lost: JOB_INT_MASK, MMU_INT_MASK " \
		"(3 times; book/hardware.md, section 2); a job touched an address that nobody mapped " \
		"(book/hardware.md, section 4)"

/* The GPU's own messages, and not their number. */
static void test_gpu_hints(void **state)
{
	static const char log[] =
		"{\"time\": 8, \"event\": \"reset\", \"command\": \"SOFT_RESET\"}\n"
		EARLY("JOB_INT_MASK") EARLY("MMU_INT_MASK") EARLY("JOB_INT_MASK")
		"{\"time\": 9, \"event\": \"mark\", \"text\": \"\\\"event\\\": \\\"hint\\\"\"}\n"
		HINT("4", "a job touched an address that nobody mapped", "")
		"{\"time\": 9, \"event\": \"hint\", \"section\": 1, \"te";
	struct evidence e = evidence();
	struct lab_judgement *j = lab->tests[0].judgements;
	size_t count = lab->tests[0].judgement_count;
	struct verdict v;

	(void)state;
	j[count] = (struct lab_judgement){ .counter = true, .index = AGATE_CNT_HINTS, .param = -1,
					   .name = "hints", .rule = "no rule is broken" };
	lab->tests[0].judgement_count = count + 1;
	e.gpu_log = log;
	e.gpu_log_len = sizeof(log) - 1;
	e.report = "READY\n" DONE;
	e.report_len = strlen(e.report);
	e.after[AGATE_CNT_HINTS] = 4;
	judge(&e, &v);
	assert_string_equal(v.expected, "no rule of the hardware broken");
	assert_string_equal(v.seen, SAID);
	assert_true(v.hinted);
	assert_string_equal(v.gpu, "");
	/* If the test provokes hints the number counts, and the messages follow it. */
	j[count].number = 2;
	judge(&e, &v);
	assert_string_equal(v.expected, "the GPU's counter hints to grow by 2");
	assert_string_equal(v.seen, "4: " SAID);
	assert_false(v.hinted);
	/* Without a log there is only the number. */
	j[count].number = 0;
	e.gpu_log_len = 0;
	judge(&e, &v);
	assert_string_equal(v.seen, "4");
	/* The report of another failure has the GPU's hints, unless the test provoked them. */
	e.gpu_log_len = sizeof(log) - 1;
	e.after[AGATE_CNT_HINTS] = 0;
	e.report = "READY\nRULE r\nEXPECTED e\nSEEN s\n" DONE;
	e.report_len = strlen(e.report);
	judge(&e, &v);
	assert_string_equal(v.seen, "s");
	assert_string_equal(v.gpu, SAID);
	j[count].number = 4;
	judge(&e, &v);
	assert_string_equal(v.gpu, "");
	lab->tests[0].judgement_count = count;
}

/* Many kinds, long names, rubbish: as much as fits, and no more. */
static void test_gpu_hints_bounds(void **state)
{
	static const char *const provoked[] = { "other", "rule", NULL };
	char log[16384], text[512], small[16];
	size_t n = 0;
	int i;

	(void)state;
	for (i = 0; i < 20; i++)
		n += (size_t)sprintf(log + n, "{\"event\": \"hint\", \"section\": 1, \"text\": "
				     "\"rule\", \"register\": \"AS%d_COMMAND\"}\n", i);
	assert_int_equal(gpu_hints(log, n, NULL, text, sizeof(text)), 20);
	assert_string_equal(text, "rule: AS0_COMMAND, AS1_COMMAND, AS2_COMMAND, AS3_COMMAND and "
			    "others (20 times; book/hardware.md, section 1)");
	assert_int_equal(gpu_hints(log, n, NULL, small, sizeof(small)), 20);
	assert_string_equal(small, "rule: AS0_COMMA");
	assert_int_equal(gpu_hints(log, n, provoked, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	for (i = 0, n = 0; i < 20; i++)
		n += (size_t)sprintf(log + n, "{\"event\": \"hint\", \"section\": %d, \"text\": "
				     "\"%0200d\"}\n", i, i);
	assert_int_equal(gpu_hints(log, n, NULL, text, sizeof(text)), 20);
	strcpy(log, "{\"event\": \"hint\"\n\"event\": \"hint\"}\n[\"event\": \"hint\"]\n"
	       "{\"event\": \"hint\", \"text\": 5}\n");
	assert_int_equal(gpu_hints(log, strlen(log), NULL, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	assert_int_equal(gpu_hints(NULL, 0, NULL, text, sizeof(text)), 0);
}

#define BLOCKED(task, frames) \
	"[    6.1] task:" task "            state:D stack:0     pid:9     ppid:1      flags:0x2\n" \
	"[    6.1] Call Trace:\n[    6.1]  <TASK>\n[    6.1]  __schedule+0x205/0x590\n" \
	frames "[    6.1]  </TASK>\n"
/* A handler spins for a lock that another thread has. */
#define SPINS "[    6.0] sysrq: Show backtrace of all active CPUs\n" \
	"[    6.0] NMI backtrace for cpu 1\n[    6.0] CPU: 1 PID: 77 Comm: irq/24-agate-job\n" \
	"[    6.0] RIP: 0010:native_queued_spin_lock_slowpath+0x1b/0x40\n" \
	"[    6.0] Call Trace:\n[    6.0]  <TASK>\n" \
	"[    6.0]  _raw_spin_lock+0x10/0x20\n[    6.0]  agate_irq+0x10/0x20 [agate]\n" \
	"[    6.0]  </TASK>\n[    6.1] sysrq: Show Blocked State\n"

static void sleeper(const char *console, const char *seen)
{
	struct evidence e = evidence();
	struct verdict v;

	e.timed_out = true;
	e.limit_ms = 5000;
	e.console = console;
	e.console_len = strlen(console);
	judge(&e, &v);
	assert_int_equal(v.status, VERDICT_TIMEOUT);
	assert_string_equal(v.seen, seen);
}

/* The thread that sleeps in the driver may be the one that has the lock. */
static void test_sleeper(void **state)
{
	static const char one[] = "none after 5000 ms; meanwhile the thread \"test\" sleeps in "
		"synchronize_irq(), which agate_irq_suspend() called: if it has that lock, nobody "
		"gives it back", none[] = "none after 5000 ms";

	(void)state;
	sleeper(SPINS BLOCKED("test", "[    6.1]  schedule+0x3d/0x90\n"
			      "[    6.1]  synchronize_irq+0x8c/0xc0\n"
			      "[    6.1]  agate_irq_suspend+0x4b/0x60 [agate]\n"), one);
	/* It waits for a lock as well, for a gate of the test's, or outside of the driver. */
	sleeper(SPINS BLOCKED("test", "[    6.1]  mutex_lock+0x2d/0x40\n"
			      "[    6.1]  agate_irq_suspend+0x4b/0x60 [agate]\n"), none);
	sleeper(SPINS BLOCKED("test", "[    6.1]  gated_call+0x5a/0x100 [agate_inject]\n"
			      "[    6.1]  agate_irq_suspend+0x4b/0x60 [agate]\n"), none);
	sleeper(SPINS BLOCKED("kworker/0:1", "[    6.1]  msleep+0x2d/0x40\n"), none);
	/* Nobody waits for a lock. */
	sleeper("[    6.1] sysrq: Show Blocked State\n"
		BLOCKED("test", "[    6.1]  synchronize_irq+0x8c/0xc0\n"
			"[    6.1]  agate_irq_suspend+0x4b/0x60 [agate]\n"), none);
}

static void said(const char *console, const char *wanted)
{
	char text[120];

	said_last(console, strlen(console), 2, text, sizeof(text));
	assert_string_equal(text, wanted);
}

/* The driver's last lines, without those that every driver prints. */
static void test_driver_words(void **state)
{
	struct evidence e = evidence();
	struct verdict v;

	(void)state;
	said("", "");
	said("[    1.0] agate 0000:00:03.0: GPU 0xa860010, features 0x7ff\r\n"
	     "[    1.1] agate: loading out-of-tree module taints kernel.\n"
	     "[    1.2] [drm] Initialized agate 1.0.0 for 0000:00:03.0 on minor 0\n"
	     "[    1.2] agate 0000:00:03.0: topic suspend is absent\n"
	     "[    1.2] agate 0000:00:03.0: _allocate_opp_table: Error finding interconnect paths: -95\n"
	     "[    1.3] agate-grade: end of one 0123\n[    1.4] pci 0000:00:03.0: BAR 0\n", "");
	said("[    1.0] agate 0000:00:03.0: one\r\n[    1.1] other\n"
	     "[    1.2] agate 0000:00:03.0: no vectors: -28\n[    1.2] agate 0000:00:03.0: no vectors: -28\n"
	     "[    1.3] agate: probe of 0000:00:03.0 failed with error -28",
	     "agate 0000:00:03.0: no vectors: -28 (ENOSPC) | agate: probe of 0000:00:03.0 failed "
	     "with error -28 (ENOSPC)");
	said("[    1.0] agate 0000:00:03.0: one\n"
	     "[    1.3] agate: probe of 0000:00:03.0 failed with error -125\n",
	     "agate 0000:00:03.0: one");
	said("agate 0000:00:03.0: \033[2Jclear\n\n\n", "agate 0000:00:03.0: ?[2Jclear");
	said("\nagate: probe with driver agate failed", "agate: probe with driver agate failed");
	e.report = "READY\nRULE r\nSEEN s\n" DONE;
	e.report_len = strlen(e.report);
	e.console = "[    1.0] agate 0000:00:03.0: it is not there\n";
	e.console_len = strlen(e.console);
	judge(&e, &v);
	assert_string_equal(v.said, "agate 0000:00:03.0: it is not there");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log_text),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_no_names),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_gpu_hints),
		cmocka_unit_test(test_gpu_hints_bounds),
		cmocka_unit_test(test_sleeper),
		cmocka_unit_test(test_driver_words),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
