// SPDX-License-Identifier: MIT
/*
 * A lab in two guests of one kernel, which take the tests from one list.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "lab_text.h"
#include "run_fixture.h"

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
	begin_with(f, ten_tests, "{}", COMPOSES);
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

static bool ran_first(const char *test)
{
	char begins[8];

	snprintf(begins, sizeof(begins), "|%s ", test);
	return !strncmp(pair[0].ran, begins, strlen(begins)) ||
	       !strncmp(pair[1].ran, begins, strlen(begins));
}

/* What took long last time begins at once, but not where the first failure ends the run. */
static void test_long_first(void **state)
{
	char dir[5000], path[5100], line[32];
	struct fixture f;
	FILE *file;

	(void)state;
	for (int stops = 0; stops < 2; stops++) {
		begin_pair(&f);
		f.config.stop_on_fail = stops;
		snprintf(dir, sizeof(dir), "%s/%s", f.out, f.lab->name);
		snprintf(path, sizeof(path), "%s/fast-times", dir);
		assert_true(!mkdir(dir, 0777) || errno == EEXIST);
		file = fopen(path, "we");
		assert_non_null(file);
		fputs("h 700\nj 800\n", file);
		fclose(file);
		assert_int_equal(run(&f), RUN_DONE);
		assert_int_equal(points(&f), 100);
		assert_int_equal(ran_first("j") && ran_first("h"), !stops);
		/* The canned guests take no time. */
		file = fopen(path, "re");
		assert_non_null(file);
		while (fgets(line, sizeof(line), file))
			assert_true(!strstr(line, " 700") && !strstr(line, " 800"));
		fclose(file);
		end(&f);
	}
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
	for (i = 0; ten_tests[i]; i++)
		who_ran(ten_tests[i], 1);
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
	for (i = 0; ten_tests[i]; i++)
		if (who_ran(ten_tests[i], 1) != loser)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_first),
		cmocka_unit_test(test_two_guests),
		cmocka_unit_test(test_two_ends),
		cmocka_unit_test(test_two_do_not_compile),
		cmocka_unit_test(test_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
