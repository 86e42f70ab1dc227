// SPDX-License-Identifier: MIT
/*
 * A run of a lab on paper (run_fixture.h).
 */
#include "run_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <jansson.h>

#include "lab_text.h"

static const char *const abc[] = { "a", "b", "c", NULL };
const char *const ten_tests[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", NULL };
const char both_kernels[] = "{\"kernels\": [\"fast\", \"debug\"]}";

struct canned guests[FLAVOURS];
const struct act *acts[FLAVOURS];
unsigned int told;

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

void begin_with(struct fixture *f, const char *const *names, const char *more, const char *script)
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

void begin(struct fixture *f, const char *more, const char *script)
{
	begin_with(f, abc, more, script);
}

void end(struct fixture *f)
{
	result_free(&f->labs_found[0]);
	lab_free(f->lab);
}

enum run_end run(struct fixture *f)
{
	return run_lab(&f->config, &f->result, 0, f->timing, f->error);
}

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

void has_status(const struct fixture *f, size_t test, const char *wanted)
{
	json_t *json;
	const char *word = status(f, test, &json);

	assert_string_equal(word, wanted);
	json_decref(json);
}

unsigned int points(const struct fixture *f)
{
	unsigned int score, max;

	result_score(&f->labs_found[0], &score, &max);
	return score;
}

void all_fail(struct fixture *f, const char *seen)
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
