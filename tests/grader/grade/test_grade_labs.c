// SPDX-License-Identifier: MIT
/*
 * Labs side by side: each has its own guest, and the report has them in their order.
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
#include "grade_labs.h"
#include "lab_text.h"

#define LABS	3
#define COMPOSES "#!/bin/sh\n" \
	"cp /proc/$PPID/exe \"$2/agate.ko\" && cp \"$2/agate.ko\" \"$2/agate.stripped.ko\"\n"

static const char *const names[LABS] = { "07-x", "08-y", "09-z" };
static const char *const tests[] = { "a", "b", NULL };

static struct canned guests[LABS];
/* Which guests cannot start, and how many were made. */
static bool broken[LABS];
static atomic_uint made;
/* The first two labs' guests meet before the first test of each. */
static pthread_barrier_t meeting;
static bool meets;

/* The first lab goes on when the second one is done. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool second_done;

static void before_run(struct canned *c, const char *test)
{
	size_t lab = (size_t)(c - guests);

	if (!meets || !strcmp(test, "--list") || lab > 1)
		return;
	if (!strcmp(test, "a")) {
		pthread_barrier_wait(&meeting);
		return;
	}
	pthread_mutex_lock(&lock);
	while (lab == 0 && !second_done)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static bool make_guest(const struct run_config *config, enum flavour flavour, uint64_t seed,
		       const char *gpu_log, atomic_uint *started, struct guest *guest)
{
	size_t lab;

	(void)config;
	(void)flavour;
	(void)seed;
	(void)started;
	for (lab = 0; !strstr(gpu_log, names[lab]); lab++)
		assert_true(lab + 1 < LABS);
	atomic_fetch_add(&made, 1);
	guests[lab] = (struct canned){ .module = "/proc/self/exe", .before_run = before_run,
				       .start_end = broken[lab] ? GUEST_HOST : GUEST_OK };
	*guest = (struct guest){ .ops = &canned_ops, .ctx = &guests[lab] };
	return true;
}

static void unmake_guest(struct guest *guest)
{
	if (guest->ctx != &guests[1])
		return;
	pthread_mutex_lock(&lock);
	second_done = true;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

struct fixture {
	char out[4096], from[4096], labs[4096], script[4096];
	struct result_lab found[LABS];
	struct lab *lab[LABS];
	struct result result;
	struct options options;
	struct run_config config;
	struct grade grade;
	char said[8192];	/* on stdout */
};

static void begin(struct fixture *f, unsigned int together)
{
	char name[64];
	size_t i, t;

	memset(f, 0, sizeof(*f));
	memset(broken, 0, sizeof(broken));
	made = 0;
	meets = false;
	second_done = false;
	f->result = (struct result){ .lock = PTHREAD_MUTEX_INITIALIZER, .seed = 7,
				     .kernel = "6.1 fast", .labs = f->found, .lab_count = LABS };
	for (i = 0; i < LABS; i++) {
		f->lab[i] = lab_of(tests);
		f->lab[i]->name = names[i];
		assert_true(result_init(&f->found[i], f->lab[i]));
		for (t = 0; t < f->lab[i]->test_count; t++)
			f->found[i].selected[t] = true;
		snprintf(name, sizeof(name), "student/%s/agate_x.c", names[i]);
		scratch_file(name, "int x;\n");
	}
	strcpy(f->script, scratch_file("compose.sh", COMPOSES));
	assert_int_equal(chmod(f->script, 0755), 0);
	strcpy(f->labs, scratch_path("labs"));
	strcpy(f->from, scratch_path("student"));
	scratch_file("out/keep", "");
	strcpy(f->out, scratch_path("out"));
	f->config = (struct run_config){
		.build = scratch_dir(), .labs = f->labs, .from = f->from, .out = f->out,
		.scale = 1, .interrupt_fd = -1, .guests = 1, .compose_driver = f->script,
		.compose_library = f->script, .guest = make_guest, .guest_done = unmake_guest,
	};
	f->grade = (struct grade){ .options = &f->options, .config = &f->config,
				   .result = &f->result, .together = together };
	assert_int_equal(pthread_barrier_init(&meeting, NULL, 2), 0);
}

static void end(struct fixture *f)
{
	size_t i;

	for (i = 0; i < LABS; i++) {
		result_free(&f->found[i]);
		lab_free(f->lab[i]);
	}
	pthread_barrier_destroy(&meeting);
}

/* Grades with stdout and stderr in files. */
static enum run_end grade(struct fixture *f)
{
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	FILE *said = tmpfile(), *errors = tmpfile();
	enum run_end ended;
	size_t n;

	assert_non_null(said);
	assert_non_null(errors);
	fflush(stdout);
	assert_int_equal(dup2(fileno(said), STDOUT_FILENO), STDOUT_FILENO);
	assert_int_equal(dup2(fileno(errors), STDERR_FILENO), STDERR_FILENO);
	ended = grade_labs(&f->grade);
	fflush(stdout);
	assert_int_equal(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
	assert_int_equal(dup2(err, STDERR_FILENO), STDERR_FILENO);
	rewind(said);
	n = fread(f->said, 1, sizeof(f->said) - 1, said);
	f->said[n] = '\0';
	fclose(said);
	fclose(errors);
	close(out);
	close(err);
	return ended;
}

/* The report has the points of these labs, one after the other, and of no other. */
static void assert_reported(const struct fixture *f, size_t count)
{
	const char *at = f->said;
	char line[64];
	size_t i;

	for (i = 0; i < count; i++) {
		/* Each test of it, and not only how many points they have. */
		for (size_t t = 0; tests[t]; t++) {
			at = strstr(at, "PASS");
			assert_non_null(at);
			at = strchr(at, '\n');
		}
		snprintf(line, sizeof(line), "\n%s: 100 of 100 points", names[i]);
		at = strstr(at, line);
		assert_non_null(at);
	}
	for (; i < LABS; i++) {
		snprintf(line, sizeof(line), "\n%s: 100", names[i]);
		assert_null(strstr(f->said, line));
	}
}

static void test_one_after_the_other(void **state)
{
	struct fixture f;

	(void)state;
	/* 0 is the default. */
	for (unsigned int together = 0; together < 2; together++) {
		begin(&f, together);
		assert_int_equal(grade(&f), RUN_DONE);
		assert_reported(&f, LABS);
		assert_int_equal(made, LABS);
		end(&f);
	}
}

/* Two run at the same time; the second one is done first, and is reported second. */
static void test_side_by_side(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 2);
	meets = true;
	assert_int_equal(grade(&f), RUN_DONE);
	assert_reported(&f, LABS);
	assert_true(second_done);
	end(&f);
}

/* When the machine fails, no further lab begins, and those before it keep their points. */
static void test_machine_fails(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1);
	broken[1] = true;
	assert_int_equal(grade(&f), RUN_HOST);
	assert_reported(&f, 1);
	assert_int_equal(made, 2);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_one_after_the_other),
		cmocka_unit_test(test_side_by_side),
		cmocka_unit_test(test_machine_fails),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
