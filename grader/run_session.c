// SPDX-License-Identifier: MIT
/*
 * The guests of one kernel (run_priv.h): one, or two that take the tests from one list, each
 * with a thread of its own.  A verdict does not depend on the guest in which the test ran.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"
#include "run_priv.h"

/* So many tests make up for the start of a second guest. */
#define SECOND_GUEST_TESTS	8

/* It has taken nothing if it does not run. */
static const struct lane *other_lane(const struct lane *lane)
{
	return &lane->fr->lanes[lane->first];
}

static bool session_wanted(void *arg, size_t test)
{
	const struct lane *lane = arg;
	const struct flavour_run *fr = lane->fr;
	const struct lab_test *t = &fr->run->lab->lab->tests[test];
	struct run *run = fr->run;
	bool wanted;

	pthread_mutex_lock(&run->result->lock);
	wanted = run->lab->selected[test] && t->profile == lane->profile &&
		 t->kernels & (fr->flavour == FLAVOUR_FAST ? LAB_FAST : LAB_DEBUG) &&
		 !(other_lane(lane)->taken[test]) &&
		 !(run->config->stop_on_fail && test > run->first_failed) && !run->failed;
	pthread_mutex_unlock(&run->result->lock);
	return wanted;
}

/* Each test runs in the guest that comes to it first. */
static bool session_take(void *arg, size_t test)
{
	struct lane *lane = arg;
	struct run *run = lane->fr->run;

	pthread_mutex_lock(&run->result->lock);
	lane->taken[test] = !other_lane(lane)->taken[test];
	pthread_mutex_unlock(&run->result->lock);
	return lane->taken[test];
}

/* One line for any number of kernels and files. */
static void remark_box(struct run *run)
{
	run_remark(run, "bubblewrap does not run here, and because of TRUST_CONTAINER=1 the files "
		   "were compiled without a sandbox");
	pthread_mutex_lock(&run->result->lock);
	run->lab->unboxed = true;
	pthread_mutex_unlock(&run->result->lock);
}

/* Both may run at once, and both have to succeed. */
void run_await_parts(struct flavour_run *fr)
{
	struct compose *const parts[] = { &fr->driver, &fr->library };
	char words[300];
	size_t i;

	for (i = 0; i < 2; i++) {
		enum compose_end end;

		if (!parts[i]->pid)
			continue;
		end = compose_wait(parts[i], fr->run->config->interrupt_fd);
		if (!compose_boxed(parts[i]) && end != COMPOSE_HOST && end != COMPOSE_INTERRUPTED)
			remark_box(fr->run);
		if (end == COMPOSE_OK || fr->broken)
			continue;
		fr->broken = true;
		if (end == COMPOSE_SOURCE || end == COMPOSE_SYMBOLS) {
			compose_explain(parts[i], end, fr->run->parts.files, &fr->why, &fr->place);
			continue;
		}
		compose_last_words(parts[i], words, sizeof(words));
		run_fail(fr->run, "the driver could not be put together: %s",
			 end == COMPOSE_INTERRUPTED ? "interrupted" : words);
	}
	fr->composed = true;
}

static bool parts_are_there(struct flavour_run *fr)
{
	bool there;

	pthread_mutex_lock(&fr->parts_lock);
	if (!fr->composed)
		run_await_parts(fr);
	there = !fr->broken;
	pthread_mutex_unlock(&fr->parts_lock);
	return there;
}

static bool session_module(void *arg, struct verdict *why)
{
	const struct lane *lane = arg;
	struct flavour_run *fr = lane->fr;

	if (parts_are_there(fr))
		return true;
	/* Nobody writes it any more. */
	*why = fr->why;
	return false;
}

/* If the other guest's thread has the lock, it waits for the parts. */
static bool session_building(void *arg)
{
	const struct lane *lane = arg;
	struct flavour_run *fr = lane->fr;
	bool building;

	if (pthread_mutex_trylock(&fr->parts_lock))
		return true;
	building = !fr->composed && (compose_runs(&fr->driver) || compose_runs(&fr->library));
	pthread_mutex_unlock(&fr->parts_lock);
	return building;
}

static void note_time(struct lane *lane, const char *test)
{
	const uint64_t now = timing_now();
	struct flavour_run *fr = lane->fr;
	const struct lab *lab = fr->run->lab->lab;
	size_t i;

	pthread_mutex_lock(&fr->run->result->lock);
	for (i = 0; lane->test && i < lab->test_count; i++)
		if (!strcmp(lab->tests[i].name, lane->test))
			fr->order.took_ms[i] = (unsigned int)((now - lane->test_begun) / 1000000);
	pthread_mutex_unlock(&fr->run->result->lock);
	lane->test = test;
	lane->test_begun = now;
}

/* The live line has room for one guest of each kernel. */
static void session_task(void *arg, const char *test, unsigned int limit_ms)
{
	struct lane *lane = arg;
	const struct run *run = lane->fr->run;

	note_time(lane, test);
	if (lane->first && run->config->task)
		run->config->task(run->lab->lab->name, lane->fr->flavour, test, limit_ms);
}

static void session_up(void *arg)
{
	const struct lane *lane = arg;
	struct flavour_run *fr = lane->fr;

	if (fr->flavour == FLAVOUR_DEBUG)
		atomic_store(&fr->run->debug_begun, true);
}

static void session_sealed(void *arg, bool counts)
{
	const struct lane *lane = arg;
	struct flavour_run *fr = lane->fr;
	struct run *run = fr->run;

	pthread_mutex_lock(&run->result->lock);
	result_seal(run->lab, fr->flavour, lane->taken, counts);
	run_publish(run);
	pthread_mutex_unlock(&run->result->lock);
}

static void session_failed(void *arg, const char *why)
{
	const struct lane *lane = arg;
	struct flavour_run *fr = lane->fr;

	run_fail(fr->run, "with the %s kernel, and that is not your code's fault: %s",
		 flavour_names[fr->flavour], why);
}

static void session_remark(void *arg, const char *text)
{
	const struct lane *lane = arg;

	run_remark(lane->fr->run, "%s kernel: %s", flavour_names[lane->fr->flavour], text);
}

/* One guest gains nothing from it, and up to the first failure all run in the lab's order. */
static const size_t *session_order(const struct flavour_run *fr)
{
	return fr->paired && !fr->run->config->stop_on_fail ? fr->order.order : NULL;
}

/* The tests of one profile. */
static enum session_end run_session(struct lane *lane, const struct guest *guest)
{
	const struct flavour_run *fr = lane->fr;
	const struct run *run = fr->run;
	char program[RUN_PATH], inject[RUN_PATH];
	struct session session = {
		.lab = run->lab->lab,
		.kernel = fr->flavour == FLAVOUR_FAST ? LAB_FAST : LAB_DEBUG,
		.profile = lane->profile,
		.seed = run->result->seed,
		.scale = run->config->scale,
		.guest = guest,
		.files = { .program = program, .module = fr->stripped, .inject = inject,
			   .library = run->lab->lab->library ? fr->library_path : NULL },
		.console_log = lane->console_log,
		.test_log = lane->test_log,
		.timing = lane->timing,
		.order = session_order(fr),
		.wanted = session_wanted,
		.take = session_take,
		.module = session_module,
		.building = session_building,
		.up = session_up,
		.task = session_task,
		.verdict = run_verdict,
		.sealed = session_sealed,
		.failed = session_failed,
		.remark = session_remark,
		.arg = lane,
	};

	if (!run_path(program, "%s/tests/labs/%s", run->config->build, run->lab->lab->program) ||
	    !run_path(inject, "%s/tests/kmod/%s/agate_inject.ko", run->config->build,
		      flavour_names[fr->flavour])) {
		session_failed(lane, "a path is too long");
		return SESSION_HOST;
	}
	if (access(inject, R_OK))
		session.files.inject = NULL;
	return session_run(&session);
}

/* The second guest's logs go behind those of the first, because a reader wants one after the other. */
static FILE *open_log(const struct lane *lane, const char *name)
{
	const struct flavour_run *fr = lane->fr;
	char path[RUN_PATH];

	if (!lane->first)
		return tmpfile();
	if (!run_path(path, "%s/%s-%s", fr->run->dir, flavour_names[fr->flavour], name))
		return NULL;
	return fopen(path, "we");
}

static bool open_logs(struct lane *lane)
{
	lane->console_log = open_log(lane, "console.log");
	lane->test_log = open_log(lane, "tests.log");
	if (lane->console_log && lane->test_log)
		return true;
	run_fail(lane->fr->run, "%s: %s", lane->fr->run->dir, strerror(errno));
	return false;
}

static void append_log(FILE *to, FILE *from)
{
	char text[4096];
	size_t n;

	if (!from)
		return;
	rewind(from);
	while (to && (n = fread(text, 1, sizeof(text), from)) > 0)
		fwrite(text, 1, n, to);
	fclose(from);
}

/* The second guest is only for tests that need nothing special. */
static void run_profiles(struct lane *lane, const struct guest *guest)
{
	unsigned int last = lane->first ? LAB_PROFILES : LAB_NORMAL + 1;

	for (; !run_has_failed(lane->fr->run) && lane->profile < last && lane->end == SESSION_DONE;
	     lane->profile++)
		lane->end = run_session(lane, guest);
}

static bool still_building(void *arg)
{
	const struct lane *lane = arg;

	/* When the run ends early, somebody has to end the compiler. */
	return session_building(arg) && !run_has_failed(lane->fr->run);
}

/*
 * Waits until the second guest holds up neither the compiler nor the first guest: until a
 * processor has been free for a while, or the module is there.
 */
static bool second_may_start(struct lane *lane)
{
	return machine_await_free(still_building, lane, lane->fr->run->config->interrupt_fd) ||
	       parts_are_there(lane->fr);
}

static void *lane_main(void *arg)
{
	struct lane *lane = arg;
	struct flavour_run *fr = lane->fr;
	const struct run_config *config = fr->run->config;
	char gpu_log[RUN_PATH];
	struct guest guest;

	if (!run_path(gpu_log, "%s/%s-gpu.jsonl", fr->run->dir, flavour_names[fr->flavour]) ||
	    !config->guest(config, fr->flavour, fr->run->result->seed, gpu_log,
			   &fr->run->guests_started[fr->flavour], &guest)) {
		run_fail(fr->run, "out of memory");
		return NULL;
	}
	if (open_logs(lane) && (lane->first || second_may_start(lane)))
		run_profiles(lane, &guest);
	config->guest_done(&guest);
	return NULL;
}

/* A second guest costs a start, so it takes some tests to be worth it. */
static bool second_guest_pays(const struct flavour_run *fr)
{
	const struct run *run = fr->run;
	unsigned int kernel = fr->flavour == FLAVOUR_FAST ? LAB_FAST : LAB_DEBUG, n = 0;
	size_t i;

	for (i = 0; i < run->lab->lab->test_count; i++)
		n += run->lab->selected[i] && run->lab->lab->tests[i].kernels & kernel &&
		     run->lab->lab->tests[i].profile == LAB_NORMAL;
	return run->config->guests > 1 && n >= SECOND_GUEST_TESTS;
}

static enum session_end worse(enum session_end a, enum session_end b)
{
	return a > b ? a : b;
}

void run_sessions(struct flavour_run *fr)
{
	struct lane *first = &fr->lanes[0], *second = &fr->lanes[1];
	const struct lab *lab = fr->run->lab->lab;
	char times[RUN_PATH];

	if (!run_path(times, "%s/%s-times", fr->run->dir, flavour_names[fr->flavour]))
		times[0] = '\0';
	run_order_load(&fr->order, lab, times);
	first->fr = second->fr = fr;
	first->first = true;
	fr->paired = second_guest_pays(fr);
	if (fr->paired)
		second->started = !pthread_create(&second->thread, NULL, lane_main, second);
	lane_main(first);
	if (second->started)
		pthread_join(second->thread, NULL);
	run_order_save(&fr->order, lab, times);
	append_log(first->console_log, second->console_log);
	append_log(first->test_log, second->test_log);
	if (first->console_log)
		fclose(first->console_log);
	if (first->test_log)
		fclose(first->test_log);
	fr->end = worse(first->end, second->end);
}
