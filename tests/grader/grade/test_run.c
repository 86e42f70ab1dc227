// SPDX-License-Identifier: MIT
/*
 * A lab on two kernels at the same time, with scripts in place of the compiler.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "canned.h"
#include "lab_text.h"
#include "run.h"

static const char *const abc[] = { "a", "b", "c", NULL };
/* As many as make a second guest worth its start. */
static const char *const ten[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", NULL };
static const char both[] = "{\"kernels\": [\"fast\", \"debug\"]}";

static struct canned guests[FLAVOURS];
static const struct act *acts[FLAVOURS];
static unsigned int told;

static bool make_guest(const struct run_config *config, enum flavour flavour, uint64_t seed,
		       const char *gpu_log, atomic_uint *started, struct guest *guest)
{
	struct canned *c = &guests[flavour];

	(void)config;
	(void)seed;
	(void)gpu_log;
	(void)started;
	memset(c, 0, sizeof(*c));
	c->acts = acts[flavour];
	c->module = "/proc/self/exe";
	*guest = (struct guest){ .ops = &canned_ops, .ctx = c };
	return true;
}

static void unmake_guest(struct guest *guest)
{
	(void)guest;
}

static void progress(const struct result_lab *lab, unsigned int done, unsigned int all)
{
	(void)lab;
	assert_true(done <= all);
	told++;
}

/* Everything of one run; the module that the stand-in makes is this program. */
struct fixture {
	char out[4096], from[4096], labs[4096], script[4096], error[RUN_ERROR];
	struct lab *lab;
	struct result_lab labs_found[1];
	struct result result;
	struct run_config config;
	struct timing timing[FLAVOURS];
};

static void begin_with(struct fixture *f, const char *const *names, const char *more,
		       const char *script)
{
	size_t i;

	memset(f, 0, sizeof(*f));
	memset(acts, 0, sizeof(acts));
	told = 0;
	f->lab = lab_with(names, more);
	assert_true(result_init(&f->labs_found[0], f->lab));
	for (i = 0; i < f->lab->test_count; i++)
		f->labs_found[0].selected[i] = true;
	f->result = (struct result){ .lock = PTHREAD_MUTEX_INITIALIZER, .seed = 7,
				     .kernel = "6.1 fast", .labs = f->labs_found, .lab_count = 1 };
	strcpy(f->script, scratch_file("compose.sh", script));
	assert_int_equal(chmod(f->script, 0755), 0);
	strcpy(f->labs, scratch_path("labs"));
	scratch_file("student/07-x/agate_x.c", "int x;\n");
	strcpy(f->from, scratch_path("student"));
	scratch_file("out/keep", "");
	strcpy(f->out, scratch_path("out"));
	f->config = (struct run_config){
		.build = scratch_dir(), .labs = f->labs, .from = f->from, .out = f->out,
		.debug = true, .scale = 1, .interrupt_fd = -1, .compose_driver = f->script,
		.compose_library = f->script, .guest = make_guest, .guest_done = unmake_guest,
		.progress = progress,
	};
}

static void begin(struct fixture *f, const char *more, const char *script)
{
	begin_with(f, abc, more, script);
}

static void end(struct fixture *f)
{
	result_free(&f->labs_found[0]);
	lab_free(f->lab);
}

static enum run_end run(struct fixture *f)
{
	return run_lab(&f->config, &f->result, 0, f->timing, f->error);
}

#define COMPOSES "#!/bin/sh\necho \"$@\" >\"$2/args\"\n" \
	"cp /proc/$PPID/exe \"$2/agate.ko\" && cp \"$2/agate.ko\" \"$2/agate.stripped.ko\"\n"

/* The status of a test in the file, where all other programs look for it. */
static const char *status(const struct fixture *f, size_t test, json_t **json)
{
	char path[5000];

	snprintf(path, sizeof(path), "%s/result.json", f->out);
	*json = json_load_file(path, 0, NULL);
	assert_non_null(*json);
	return json_string_value(json_object_get(json_array_get(json_object_get(
		json_array_get(json_object_get(*json, "labs"), 0), "tests"), test), "status"));
}

static void has_status(const struct fixture *f, size_t test, const char *wanted)
{
	json_t *json;
	const char *word = status(f, test, &json);

	assert_string_equal(word, wanted);
	json_decref(json);
}

static unsigned int points(const struct fixture *f)
{
	unsigned int score, max;

	result_score(&f->labs_found[0], &score, &max);
	return score;
}

static void test_both(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, both, COMPOSES);
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
	begin(&f, both, COMPOSES);
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
	struct fixture f;

	(void)state;
	begin(&f, both, COMPOSES);
	acts[FLAVOUR_DEBUG] = blind;
	assert_int_equal(run(&f), RUN_UNJUDGED);
	assert_string_equal(guests[FLAVOUR_DEBUG].ran, "|a b |b |b c ");
	assert_string_equal(f.error, "07-x/b has no verdict, and that is not your code's fault: in 3 "
			    "runs the test could not look at what it is about: no window");
	assert_int_equal(points(&f), 67);
	has_status(&f, 1, "not-run");
	has_status(&f, 2, "pass");
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
	begin(&f, both, COMPOSES);
	f.config.debug = false;
	f.labs_found[0].selected[1] = false;
	assert_int_equal(run(&f), RUN_DONE);
	assert_string_equal(guests[FLAVOUR_FAST].ran, "|a c ");
	assert_int_equal(points(&f), 67);
	end(&f);
}

/* ---- Two guests of one kernel ---- */

static struct canned pair[2];
static atomic_uint made;
static bool has_met[2];
static pthread_barrier_t meeting;

/* Each guest waits at its first test until the other one has come to its own. */
static void meet(struct canned *c, const char *test)
{
	bool *met = &has_met[c - pair];

	if (!*met && strcmp(test, "--list")) {
		*met = true;
		pthread_barrier_wait(&meeting);
	}
}

static bool make_one_of_two(const struct run_config *config, enum flavour flavour, uint64_t seed,
			    const char *gpu_log, atomic_uint *started, struct guest *guest)
{
	unsigned int i = atomic_fetch_add(&made, 1);

	(void)config;
	(void)seed;
	(void)gpu_log;
	(void)started;
	assert_true(i < 2);
	pair[i] = (struct canned){ .acts = acts[flavour], .module = "/proc/self/exe",
				   .before_run = meet };
	*guest = (struct guest){ .ops = &canned_ops, .ctx = &pair[i] };
	return true;
}

static void begin_pair(struct fixture *f)
{
	begin_with(f, ten, "{}", COMPOSES);
	f->config.guest = make_one_of_two;
	f->config.guests = 2;
	f->config.debug = false;
	made = 0;
	memset(has_met, 0, sizeof(has_met));
	assert_int_equal(pthread_barrier_init(&meeting, NULL, 2), 0);
}

/* Which of the two ran that test, as often as it ran. */
static struct canned *who_ran(const char *test, unsigned int times)
{
	struct canned *who = NULL;
	char word[8];
	size_t i;

	snprintf(word, sizeof(word), "%s ", test);
	for (i = 0; i < 2; i++) {
		for (const char *at = pair[i].ran; (at = strstr(at, word)); at++) {
			assert_true(!who || who == &pair[i]);
			who = &pair[i];
			assert_true(times--);
		}
	}
	assert_int_equal(times, 0);
	return who;
}

static void test_two_guests(void **state)
{
	static const struct act crash[] = {
		{ .test = "b", .end = GUEST_CRASHED,
		  .console = "[    1.0] BUG: KASAN: use-after-free in agate_x+0x1/0x2\n" },
		{ .test = NULL }
	};
	struct fixture f;
	size_t i;

	(void)state;
	begin_pair(&f);
	assert_int_equal(run(&f), RUN_DONE);
	assert_int_equal(points(&f), 100);
	for (i = 0; ten[i]; i++)
		who_ran(ten[i], 1);
	assert_ptr_not_equal(who_ran("a", 1), who_ran("b", 1));
	assert_true(strlen(pair[0].ran) > 1 && strlen(pair[1].ran) > 1);
	end(&f);
	/* A crash is between a test and its guest. */
	begin_pair(&f);
	acts[FLAVOUR_FAST] = crash;
	assert_int_equal(run(&f), RUN_DONE);
	assert_int_equal(points(&f), 90);
	has_status(&f, 0, "pass");
	has_status(&f, 1, "crash");
	has_status(&f, 9, "pass");
	end(&f);
}

/* When one guest's stream just ends, the passes of the other count all the same. */
static void test_two_ends(void **state)
{
	static const struct act lost[] = {
		{ .test = "b", .end = GUEST_LOST, .report = "" }, { .test = NULL }
	};
	struct canned *loser;
	struct fixture f;
	size_t i;

	(void)state;
	begin_pair(&f);
	acts[FLAVOUR_FAST] = lost;
	assert_int_equal(run(&f), RUN_DONE);
	loser = who_ran("b", 1);
	for (i = 0; ten[i]; i++)
		if (who_ran(ten[i], 1) != loser)
			has_status(&f, i, "pass");
	has_status(&f, 1, "fail");
	end(&f);
	/* A guest that the machine loses runs its own tests again, and nobody else's. */
	begin_pair(&f);
	acts[FLAVOUR_FAST] = (const struct act[]){
		{ .test = "b", .end = GUEST_GONE, .runs = 1 }, { .test = NULL }
	};
	assert_int_equal(run(&f), RUN_DONE);
	assert_int_equal(points(&f), 100);
	who_ran("b", 2);
	end(&f);
}

/* Few tests are not worth a second guest. */
static void test_few(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, "{}", COMPOSES);
	f.config.guests = 2;
	assert_int_equal(run(&f), RUN_DONE);
	assert_string_equal(guests[FLAVOUR_FAST].ran, "|a b c ");
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

static void all_fail(struct fixture *f, const char *seen)
{
	struct standing s;
	size_t i;

	for (i = 0; i < 3; i++) {
		result_standing(&f->labs_found[0], i, &s);
		assert_int_equal(s.status, VERDICT_FAIL);
		if (!strstr(s.outcome->verdict.seen, seen))
			fail_msg("\"%s\" does not say \"%s\"", s.outcome->verdict.seen, seen);
	}
	assert_int_equal(points(f), 0);
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
	begin(&f, both, "#!/bin/sh\n"
	      "echo \"labs/07-x/agate_x.c:3:5: error: expected ';' before 'return'\" >$2/compile.log\n"
	      "exit 10\n");
	assert_int_equal(run(&f), RUN_DONE);
	all_fail(&f, "expected ';' before 'return'");
	assert_int_equal(guests[FLAVOUR_FAST].insmods, 0);
	names_log(&f, "07-x/fast/compile.log");
	end(&f);
	begin(&f, both, "#!/bin/sh\n"
	      "echo 'agate_x.c: uses filp_open, which lab 07 does not allow' >$2/symbols.log\n"
	      "exit 11\n");
	assert_int_equal(run(&f), RUN_DONE);
	all_fail(&f, "filp_open");
	names_log(&f, "07-x/fast/symbols.log");
	end(&f);
}

/* The second guest may have started before the compiler came to its end. */
static void test_two_do_not_compile(void **state)
{
	struct fixture f;

	(void)state;
	begin_pair(&f);
	scratch_file("compose.sh", "#!/bin/sh\nsleep 0.5\n"
		     "echo \"labs/07-x/agate_x.c:3:5: error: expected ';' before 'return'\" "
		     ">$2/compile.log\nexit 10\n");
	assert_int_equal(run(&f), RUN_DONE);
	all_fail(&f, "expected ';' before 'return'");
	assert_int_equal(pair[0].insmods + pair[1].insmods, 0);
	end(&f);
}

/* The grader's own failure is not a failure of a test. */
static void test_grader_fails(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, both, "#!/bin/sh\necho one\necho run make parts >&2\nexit 1\n");
	assert_int_equal(run(&f), RUN_HOST);
	assert_non_null(strstr(f.error, "put together: run make parts"));
	end(&f);
	begin(&f, both, "#!/bin/sh\nkill -9 $$\n");
	assert_int_equal(run(&f), RUN_HOST);
	end(&f);
	begin(&f, both, COMPOSES);
	f.config.compose_driver = "/nonexistent";
	assert_int_equal(run(&f), RUN_HOST);
	end(&f);
	begin(&f, both, COMPOSES);
	f.config.out = "/nonexistent";
	assert_int_equal(run(&f), RUN_HOST);
	end(&f);
}

static void test_no_file(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, both, COMPOSES);
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
	begin(&f, both, COMPOSES);
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
	begin(&f, both, COMPOSES);
	assert_int_equal(run(&f), RUN_DONE);
	snprintf(path, sizeof(path), "%s/07-x/debug-tests.log", f.out);
	assert_int_equal(stat(path, &sb), 0);
	assert_true(sb.st_size > 100);
	snprintf(path, sizeof(path), "%s/07-x/fast-console.log", f.out);
	assert_int_equal(stat(path, &sb), 0);
	assert_true(sb.st_size > 100);
	end(&f);
	/* The logs of an earlier run on the other kernel are gone. */
	begin(&f, both, COMPOSES);
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
		cmocka_unit_test(test_two_guests),
		cmocka_unit_test(test_two_ends),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_stop_on_fail),
		cmocka_unit_test(test_does_not_compile),
		cmocka_unit_test(test_two_do_not_compile),
		cmocka_unit_test(test_grader_fails),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_logs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
