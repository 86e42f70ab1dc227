// SPDX-License-Identifier: MIT
/*
 * Verdicts by the state of a guest's kernel: a check that was switched off, memory that
 * nobody counts; and changes that are only noise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "canned.h"
#include "health.h"
#include "lab_text.h"
#include "session.h"

#define FAST	"tainted 4096\nconsole_loglevel 7\nkprobes 1\nshmem_files 850\nshmem_pages 1600\n"
#define SOUND	FAST "debug_locks 1\nlock_classes 500\nlock_classes_max 8192\ndma_api_disabled 0\n"

static struct health told(const char *text)
{
	struct health health;

	assert_true(health_parse(&health, text, strlen(text)));
	return health;
}

static void test_words(void **state)
{
	static const char *const bad[] = {
		"tainted\n", "tainted x\n", "tainted -1 \n", "tainted 1", "tainted 1\ntainted 2\n",
		"unheard_of 1\n", "\n", "tainted 1 2\n",
	};
	struct health health;
	size_t i;

	(void)state;
	health = told(SOUND);
	assert_int_equal(health.value[HEALTH_LOCK_CLASSES_MAX], 8192);
	assert_int_equal(health.has, (1u << HEALTH_KEYS) - 1);
	assert_int_equal(told("").has, 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(health_parse(&health, bad[i], strlen(bad[i])));
}

/* The verdict on a test that passed, when the kernel reports @after; NULL: a pass. */
static const char *blinded(const char *before, const char *after)
{
	const struct health x = told(before), y = told(after);
	static struct verdict verdict;

	memset(&verdict, 0, sizeof(verdict));
	verdict.status = VERDICT_PASS;
	if (!health_blinded(&x, &y, &verdict)) {
		assert_int_equal(verdict.status, VERDICT_PASS);
		return NULL;
	}
	assert_int_equal(verdict.status, VERDICT_FAIL);
	assert_string_equal(verdict.rule, "the kernel's own checks look at the driver to the end");
	return verdict.seen;
}

static void sees(const char *after, const char *what)
{
	const char *seen = blinded(SOUND, after);

	assert_non_null(seen);
	if (!strstr(seen, what))
		fail_msg("%s: %s", after, seen);
}

static void test_checks(void **state)
{
	(void)state;
	assert_null(blinded(SOUND, SOUND));
	assert_null(blinded(FAST, FAST));
	sees(FAST "debug_locks 0\nlock_classes 500\nlock_classes_max 8192\ndma_api_disabled 0\n",
	     "debug_locks");
	/* A missing file counts like one that says 0. */
	sees(FAST, "debug_locks");
	sees(FAST "debug_locks 1\nlock_classes 8000\nlock_classes_max 8192\ndma_api_disabled 0\n",
	     "lock class");
	sees(FAST "debug_locks 1\nlock_classes 500\nlock_classes_max 8192\ndma_api_disabled 1\n",
	     "DMA API");
	assert_non_null(strstr(blinded("kprobes 1\n", "kprobes 0\n"), "kprobes"));
	assert_non_null(strstr(blinded("console_loglevel 7\n", "console_loglevel 1\n"), "console"));
	assert_null(blinded("console_loglevel 7\n", "console_loglevel 15\n"));
	/* A warning, an oops, a bad page; not an out-of-tree module, or a soft lock-up. */
	assert_non_null(strstr(blinded("tainted 0\n", "tainted 512\n"), "tainted"));
	assert_non_null(blinded("tainted 0\n", "tainted 128\n"));
	assert_non_null(blinded("tainted 0\n", "tainted 32\n"));
	assert_null(blinded("tainted 0\n", "tainted 28672\n"));
	assert_null(blinded("tainted 512\n", "tainted 512\n"));
}

static void test_other_verdicts_keep_their_reason(void **state)
{
	const struct health before = told("debug_locks 1\n"), now = told("debug_locks 0\n");
	struct verdict verdict = { .status = VERDICT_FAIL, .seen = "own" };

	(void)state;
	assert_true(health_blinded(&before, &now, &verdict));
	assert_string_equal(verdict.seen, "own");
	assert_int_equal(verdict.note_count, 1);
	assert_non_null(strstr(verdict.notes[0], "lockdep"));
}

static bool left(const char *before, const char *now, const char *counters)
{
	const struct health x = told(before), y = told(now);
	struct verdict verdict = { .status = VERDICT_PASS };
	bool is = health_left(&x, &y, counters, &verdict);

	assert_int_equal(verdict.status, is ? VERDICT_FAIL : VERDICT_PASS);
	assert_int_equal(health_left(&x, &y, counters, NULL), is);
	return is;
}

static void test_memory(void **state)
{
	static const char before[] = "shmem_files 850\nshmem_pages 1600\n";

	(void)state;
	assert_false(left(before, before, ""));
	assert_false(left(before, "shmem_files 800\nshmem_pages 0\n", ""));
	assert_false(left(before, "shmem_files 914\nshmem_pages 1664\n", ""));
	assert_true(left(before, "shmem_files 915\nshmem_pages 1600\n", ""));
	assert_true(left(before, "shmem_files 850\nshmem_pages 1665\n", ""));
	/* The counters show it: their tests judge that. */
	assert_false(left(before, "shmem_files 950\nshmem_pages 1600\n", "vms 0\nbos 100\n"));
	assert_false(left(before, "shmem_files 950\nshmem_pages 1600\n", "bos 60\nvms 1\nbos 40\n"));
	/* So do those that were counted a moment ago. */
	assert_false(left(before, "shmem_files 950\nshmem_pages 1600\n", "bos 36\n"));
	assert_true(left(before, "shmem_files 950\nshmem_pages 1600\n", "bos 35\n"));
	assert_true(left(before, "shmem_files 950\nshmem_pages 1600\n", "bos 3\n"));
	assert_true(left(before, "shmem_files 851\nshmem_pages 9000\n", "bos 0\nhandles 90\n"));
	assert_false(left(before, "shmem_files 851\nshmem_pages 9000\n", "bos 1\n"));
	assert_false(left("", "", ""));
}

/* ---- In a session ------------------------------------------------------------ */

static struct {
	char letters[4];
	struct verdict verdicts[3];
} got;

static bool wanted(void *arg, size_t test)
{
	(void)arg;
	(void)test;
	return true;
}

static bool module(void *arg, struct verdict *why)
{
	(void)arg;
	(void)why;
	return true;
}

static void verdict(void *arg, size_t test, const struct verdict *v)
{
	(void)arg;
	got.letters[test] = "NPFTC"[v->status];
	got.verdicts[test] = *v;
}

static void sealed(void *arg, bool counts)
{
	(void)arg;
	assert_true(counts);
}

static void words(void *arg, const char *text)
{
	(void)arg;
	fail_msg("%s", text);
}

/* The tests of that lab in canned guests. */
static void play_lab(struct canned *c, struct lab *lab, const char *letters, const char *ran)
{
	const struct guest guest = { .ops = &canned_ops, .ctx = c };
	const struct session session = {
		.lab = lab, .kernel = LAB_FAST, .seed = 7, .scale = 1, .guest = &guest,
		.files = { .program = "program", .module = "/proc/self/exe" },
		.wanted = wanted, .module = module, .verdict = verdict, .sealed = sealed,
		.failed = words, .remark = words,
	};

	memset(&got, 0, sizeof(got));
	c->module = "/proc/self/exe";
	assert_int_equal(session_run(&session), SESSION_DONE);
	assert_string_equal(got.letters, letters);
	assert_string_equal(c->ran, ran);
	lab_free(lab);
}

static const char *const abc[] = { "a", "b", "c", NULL };

static void play(struct canned *c, const char *letters, const char *ran)
{
	play_lab(c, lab_of(abc), letters, ran);
}

static void switch_off(struct canned *c, const char *test)
{
	c->health = strcmp(test, "b") ? SOUND : FAST;
}

/* The test that did it fails, and later tests get a clean guest. */
static void test_a_check_is_switched_off(void **state)
{
	struct canned c = { .health = SOUND, .before_run = switch_off };

	(void)state;
	play(&c, "PFP", "|a b |c ");
	assert_non_null(strstr(got.verdicts[1].seen, "lockdep is off"));
}

static void leak(struct canned *c, const char *test)
{
	if (!strcmp(test, "b"))
		c->health = c->health_exact = "shmem_files 1850\nshmem_pages 1600\n";
}

static void test_memory_that_nobody_counts(void **state)
{
	struct canned c = {
		.health = "shmem_files 850\nshmem_pages 1600\n", .before_run = leak,
		.driver_counters = "bos 0\n",
	};

	(void)state;
	play(&c, "PFP", "|a b |c ");
	assert_non_null(strstr(got.verdicts[1].seen, "1000 shmem files"));
	assert_non_null(strstr(got.verdicts[1].seen, "counts 0 BOs"));
}

/* The tests of the counters see that leak; it costs no points here, and each test runs once. */
static void test_memory_that_is_counted(void **state)
{
	struct canned c = {
		.health = "shmem_files 850\nshmem_pages 1600\n", .before_run = leak,
		.driver_counters = "bos 1000\n",
	};

	(void)state;
	play(&c, "PPP", "|a b c ");
}

/* One before the first test, and one after each. */
static void test_a_quick_look_is_enough(void **state)
{
	struct canned c = { .health = "shmem_files 850\nshmem_pages 1600\n" };

	(void)state;
	play(&c, "PPP", "|a b c ");
	assert_int_equal(c.healths, 4);
}

/* RCU has not freed it yet: an exact look shows that, and is made only in this case. */
static void rcu(struct canned *c, const char *test)
{
	c->health = strcmp(test, "b") ? "shmem_files 850\nshmem_pages 1600\n" :
		    "shmem_files 1850\nshmem_pages 1600\n";
	c->health_exact = "shmem_files 840\nshmem_pages 1600\n";
}

static void test_memory_on_its_way(void **state)
{
	struct canned c = { .health = "shmem_files 850\nshmem_pages 1600\n", .before_run = rcu };

	(void)state;
	play(&c, "PPP", "|a b c ");
	assert_int_equal(c.healths, 5);
}

#define FILES(n)	"shmem_files " #n "\nshmem_pages 1600\n"

/* Workers free it after many looks, however long these take. */
static void test_memory_is_freed_slowly(void **state)
{
	static const char *const looks[] = {
		FILES(1850), FILES(1850), FILES(1850), FILES(1849), FILES(1849), FILES(1849),
		FILES(1000), FILES(914), NULL
	};
	struct canned c = {
		.health = FILES(850), .before_run = rcu,
		.health_exacts = looks, .driver_counters = "bos 0\n",
	};

	(void)state;
	play(&c, "PPP", "|a b c ");
	assert_int_equal(c.healths, 4 + 8);
}

/* Nothing is freed in three looks: it is left. */
static void test_memory_stays(void **state)
{
	static const char *const looks[] = {
		FILES(1850), FILES(1849), FILES(1849), FILES(1852), FILES(1849), FILES(850), NULL
	};
	struct canned c = {
		.health = FILES(850), .before_run = rcu,
		.health_exacts = looks, .driver_counters = "bos 0\n",
	};

	(void)state;
	play(&c, "PFP", "|a b |c ");
	assert_non_null(strstr(got.verdicts[1].seen, "999 shmem files"));
}

/*
 * Both tests leak, and the counters show it; then the module is loaded again, and counts from
 * 0.  Neither is charged with the sum.
 */
static void leak_a_little(struct canned *c, const char *test)
{
	static const char *const files[] = { FILES(950), FILES(1030), FILES(1050) };

	c->health = c->health_exact = files[*test - 'a'];
	c->driver_counters = *test == 'a' ? "bos 100\n" : "bos 0\n";
}

static void test_each_test_has_its_own_memory(void **state)
{
	struct canned c = { .health = FILES(850), .before_run = leak_a_little };

	(void)state;
	play(&c, "PPP", "|a b c ");
}

/* Nobody asks for memory that the driver frees in a later step. */
static void test_memory_of_a_later_step(void **state)
{
	struct canned early = {
		.health = FILES(850), .before_run = leak, .driver_counters = "bos 0\n",
	}, late = early;
	struct lab *lab = lab_with(abc, "{\"step\": 2}");

	(void)state;
	lab->frees = 3;
	play_lab(&early, lab, "PPP", "|a b c ");
	assert_int_equal(early.healths, 4);
	lab = lab_with(abc, "{\"step\": 2}");
	lab->frees = 2;
	play_lab(&late, lab, "PFP", "|a b |c ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_checks),
		cmocka_unit_test(test_other_verdicts_keep_their_reason),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_a_check_is_switched_off),
		cmocka_unit_test(test_memory_that_nobody_counts),
		cmocka_unit_test(test_memory_that_is_counted),
		cmocka_unit_test(test_a_quick_look_is_enough),
		cmocka_unit_test(test_memory_on_its_way),
		cmocka_unit_test(test_memory_is_freed_slowly),
		cmocka_unit_test(test_memory_stays),
		cmocka_unit_test(test_each_test_has_its_own_memory),
		cmocka_unit_test(test_memory_of_a_later_step),
	};

	return cmocka_run_group_tests_name("grader-health", tests, NULL, NULL);
}
