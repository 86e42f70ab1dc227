// SPDX-License-Identifier: MIT
/*
 * One lab on one or two kernels (run.h).  Each kernel has a thread of its own, in which
 * its guest lives; their verdicts go into one result, under one lock.
 */
#include "run.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compose.h"
#include "run_logs.h"
#include "run_parts.h"
#include "text.h"

#define ARGS_MAX	(PARTS_MAX + 4)
#define FAST_NICENESS	3

const char *const flavour_names[FLAVOURS] = { "fast", "debug" };

struct run {
	const struct run_config *config;
	struct result *result;
	struct result_lab *lab;
	struct run_parts parts;
	char dir[RUN_PATH];		/* of this lab, in config->out */
	char result_path[RUN_PATH];
	pthread_mutex_t lock;		/* of result and all fields below */
	pthread_mutex_t decode_lock;	/* one decoder at a time */
	size_t first_failed;		/* test, or SIZE_MAX */
	unsigned int done, all;		/* verdicts */
	bool failed;			/* the grader itself failed: error has the reason */
	bool unjudged;			/* there is no verdict on a test that ran: the same */
	char *error;
	uint64_t begun;
};

/* The state of one kernel's thread. */
struct flavour_run {
	struct run *run;
	enum flavour flavour;
	pthread_t thread;
	bool started;
	struct timing *timing;
	struct compose driver, library;
	bool composed;			/* both have ended */
	bool broken;			/* and one did not do its work: */
	struct verdict why;
	struct decode_place place;
	char module[RUN_PATH], stripped[RUN_PATH], library_path[RUN_PATH];
	enum lab_profile profile;	/* of the session that runs */
	enum session_end end;
};

static void run_fail(struct run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void run_fail(struct run *run, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&run->lock);
	if (!run->failed) {
		run->failed = true;
		va_start(ap, fmt);
		vsnprintf(run->error, RUN_ERROR, fmt, ap);
		va_end(ap);
	}
	pthread_mutex_unlock(&run->lock);
}

static bool has_failed(struct run *run)
{
	bool failed;

	pthread_mutex_lock(&run->lock);
	failed = run->failed;
	pthread_mutex_unlock(&run->lock);
	return failed;
}

/* The caller holds the lock. */
static void publish(struct run *run)
{
	run->lab->seconds = (double)(timing_now() - run->begun) / 1e9;
	if (!result_write(run->result, run->result_path) && !run->failed) {
		run->failed = true;
		snprintf(run->error, RUN_ERROR, "%.400s: %s", run->result_path, strerror(errno));
	}
	if (run->config->progress)
		run->config->progress(run->lab, run->done, run->all);
}

static bool session_wanted(void *arg, size_t test)
{
	const struct flavour_run *fr = arg;
	const struct lab_test *t = &fr->run->lab->lab->tests[test];
	struct run *run = fr->run;
	bool wanted;

	pthread_mutex_lock(&run->lock);
	wanted = run->lab->selected[test] && t->profile == fr->profile &&
		 t->kernels & (fr->flavour == FLAVOUR_FAST ? LAB_FAST : LAB_DEBUG) &&
		 !(run->config->stop_on_fail && test > run->first_failed) && !run->failed;
	pthread_mutex_unlock(&run->lock);
	return wanted;
}

/* Print one line for any number of kernels and files. */
static void remark_box(struct run *run)
{
	pthread_mutex_lock(&run->lock);
	if (!run->lab->unboxed && run->lab->remark_count < RESULT_REMARKS)
		snprintf(run->lab->remarks[run->lab->remark_count++], sizeof(run->lab->remarks[0]),
			 "bubblewrap does not run here, and because of TRUST_CONTAINER=1 the files "
			 "were compiled without a sandbox");
	run->lab->unboxed = true;
	pthread_mutex_unlock(&run->lock);
}

/* Both may run at once, and both have to succeed. */
static void await_parts(struct flavour_run *fr)
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

static bool session_module(void *arg, struct verdict *why)
{
	struct flavour_run *fr = arg;

	if (!fr->composed)
		await_parts(fr);
	if (fr->broken)
		*why = fr->why;
	return !fr->broken;
}

static bool session_building(void *arg)
{
	struct flavour_run *fr = arg;

	return !fr->composed && (compose_runs(&fr->driver) || compose_runs(&fr->library));
}

static void session_task(void *arg, const char *test, unsigned int limit_ms)
{
	const struct flavour_run *fr = arg;

	if (fr->run->config->task)
		fr->run->config->task(fr->flavour, test, limit_ms);
}

static void put_where(struct outcome *outcome)
{
	const struct decode_place *place = &outcome->place;
	char where[sizeof(outcome->where)];

	snprintf(where, sizeof(where), place->line ? "%s:%u" : "%s", place->file, place->line);
	text_clean(outcome->where, sizeof(outcome->where), where, strlen(where));
}

/* The lines that freed the memory, innermost first, each with its function. */
static void put_freed(const struct run *run, const char *module, struct outcome *outcome)
{
	struct decode_place places[DECODE_FREED];
	char text[sizeof(outcome->freed[0])];
	size_t i;

	outcome->freed_count = decode_freed(&outcome->verdict.splat, module, ".",
					    run->parts.files, places);
	for (i = 0; i < outcome->freed_count; i++) {
		snprintf(text, sizeof(text), "%.255s:%u, in %.79s()", places[i].file, places[i].line,
			 places[i].function);
		text_clean(outcome->freed[i], sizeof(outcome->freed[i]), text, strlen(text));
	}
}

/*
 * Only the driver's own files are shown besides the student's.  A report of the kernel can be
 * forged, so it must not choose lines of a solution.
 */
static void show_given(struct decode_place *place)
{
	if (!place->source[1][0] && !strncmp(place->file, "kernel/", 7))
		decode_source(".", place);
}

/* The student's line to which the compiler's output, or a report of the kernel, leads. */
static void locate(struct flavour_run *fr, struct outcome *outcome)
{
	struct run *run = fr->run;
	uint64_t begun = timing_now();
	char tree[RUN_PATH];

	outcome->place = fr->place;
	outcome->placed = fr->place.line;
	put_where(outcome);
	if (outcome->verdict.splat.kind == SPLAT_NONE)
		return;
	pthread_mutex_lock(&run->decode_lock);
	outcome->placed = decode_both(&outcome->verdict.splat, fr->module, ".",
				      run->parts.files, &outcome->place, &outcome->inner);
	put_freed(run, fr->module, outcome);
	pthread_mutex_unlock(&run->decode_lock);
	/* Read the lines that were compiled; the file may have changed since. */
	compose_tree(run->lab->lab->library ? &fr->library : &fr->driver, tree, sizeof(tree));
	if (outcome->place.source[1][0])
		decode_source(tree, &outcome->place);
	show_given(&outcome->place);
	show_given(&outcome->inner);
	if (outcome->placed)
		put_where(outcome);
	timing_add(fr->timing, begun, "trace decoded");
}

/* The caller holds the lock.  The other tests go on. */
static void tell_unjudged(struct run *run, size_t test, const struct verdict *verdict)
{
	if (!run->failed && !run->unjudged)
		snprintf(run->error, RUN_ERROR, "%s/%s has no verdict, and that is not your "
			 "code's fault: %.500s", run->lab->lab->name,
			 run->lab->lab->tests[test].name, verdict->seen);
	run->unjudged = true;
}

static void session_verdict(void *arg, size_t test, const struct verdict *verdict)
{
	struct flavour_run *fr = arg;
	struct run *run = fr->run;
	struct outcome *placed = malloc(sizeof(*placed)), *outcome;

	if (!placed) {
		run_fail(run, "out of memory");
		return;
	}
	memset(placed, 0, sizeof(*placed));
	placed->verdict = *verdict;
	locate(fr, placed);
	pthread_mutex_lock(&run->lock);
	/* A test whose guest was lost may have had a verdict before. */
	run->done += !run->lab->outcomes[fr->flavour][test].there;
	result_take(run->lab, fr->flavour, test, verdict);
	outcome = &run->lab->outcomes[fr->flavour][test];
	outcome->placed = placed->placed;
	outcome->place = placed->place;
	outcome->inner = placed->inner;
	memcpy(outcome->where, placed->where, sizeof(outcome->where));
	memcpy(outcome->freed, placed->freed, sizeof(outcome->freed));
	outcome->freed_count = placed->freed_count;
	if (verdict->status == VERDICT_NOT_RUN)
		tell_unjudged(run, test, verdict);
	else if (verdict->status != VERDICT_PASS && test < run->first_failed)
		run->first_failed = test;
	publish(run);
	pthread_mutex_unlock(&run->lock);
	free(placed);
}

static void session_sealed(void *arg, bool counts)
{
	struct flavour_run *fr = arg;
	struct run *run = fr->run;

	pthread_mutex_lock(&run->lock);
	result_seal(run->lab, fr->flavour, counts);
	publish(run);
	pthread_mutex_unlock(&run->lock);
}

static void session_failed(void *arg, const char *why)
{
	struct flavour_run *fr = arg;

	run_fail(fr->run, "with the %s kernel, and that is not your code's fault: %s",
		 flavour_names[fr->flavour], why);
}

static void session_remark(void *arg, const char *text)
{
	struct flavour_run *fr = arg;
	struct run *run = fr->run;

	pthread_mutex_lock(&run->lock);
	if (run->lab->remark_count < RESULT_REMARKS)
		snprintf(run->lab->remarks[run->lab->remark_count++],
			 sizeof(run->lab->remarks[0]), "%s kernel: %s",
			 flavour_names[fr->flavour], text);
	pthread_mutex_unlock(&run->lock);
}

static bool start_composing(struct flavour_run *fr)
{
	const struct run *run = fr->run;
	const struct run_config *config = run->config;
	bool library = run->lab->lab->library;
	const char *argv[ARGS_MAX] = { config->compose_driver, flavour_names[fr->flavour] };
	const char *lib_argv[ARGS_MAX] = { config->compose_library };
	char out[RUN_PATH], lib_out[RUN_PATH];
	size_t i;

	if (!run_path(out, "%s/%s", run->dir, flavour_names[fr->flavour]) ||
	    !run_path(lib_out, "%s/%s-lib", run->dir, flavour_names[fr->flavour]) ||
	    !run_path(fr->module, "%s/agate.ko", out) ||
	    !run_path(fr->stripped, "%s/agate.stripped.ko", out) ||
	    !run_path(fr->library_path, "%s/libagate.so", lib_out)) {
		errno = ENAMETOOLONG;
		return false;
	}
	argv[2] = out;
	lib_argv[1] = lib_out;
	for (i = 0; i < run->parts.arg_count; i++)
		*(library ? &lib_argv[2 + i] : &argv[3 + i]) = run->parts.args[i];
	return compose_start(&fr->driver, argv, out) &&
	       (!library || compose_start(&fr->library, lib_argv, lib_out));
}

/* The tests of one profile. */
static enum session_end run_session(struct flavour_run *fr, const struct guest *guest,
				    FILE *console_log, FILE *test_log)
{
	const struct run *run = fr->run;
	char program[RUN_PATH], inject[RUN_PATH];
	struct session session = {
		.lab = run->lab->lab,
		.kernel = fr->flavour == FLAVOUR_FAST ? LAB_FAST : LAB_DEBUG,
		.profile = fr->profile,
		.seed = run->result->seed,
		.scale = run->config->scale,
		.guest = guest,
		.files = { .program = program, .module = fr->stripped, .inject = inject,
			   .library = run->lab->lab->library ? fr->library_path : NULL },
		.console_log = console_log,
		.test_log = test_log,
		.timing = fr->timing,
		.wanted = session_wanted,
		.module = session_module,
		.building = session_building,
		.task = session_task,
		.verdict = session_verdict,
		.sealed = session_sealed,
		.failed = session_failed,
		.remark = session_remark,
		.arg = fr,
	};

	if (!run_path(program, "%s/tests/labs/%s", run->config->build, run->lab->lab->program) ||
	    !run_path(inject, "%s/tests/kmod/%s/agate_inject.ko", run->config->build,
		      flavour_names[fr->flavour])) {
		session_failed(fr, "a path is too long");
		return SESSION_HOST;
	}
	if (access(inject, R_OK))
		session.files.inject = NULL;
	return session_run(&session);
}

static FILE *open_log(const struct flavour_run *fr, const char *name)
{
	char path[RUN_PATH];

	if (!run_path(path, "%s/%s-%s", fr->run->dir, flavour_names[fr->flavour], name))
		return NULL;
	return fopen(path, "we");
}

static void run_sessions(struct flavour_run *fr, const struct guest *guest)
{
	FILE *console_log = open_log(fr, "console.log"), *test_log = open_log(fr, "tests.log");

	if (!console_log || !test_log)
		run_fail(fr->run, "%s: %s", fr->run->dir, strerror(errno));
	for (; !has_failed(fr->run) && fr->profile < LAB_PROFILES && fr->end == SESSION_DONE;
	     fr->profile++)
		fr->end = run_session(fr, guest, console_log, test_log);
	if (console_log)
		fclose(console_log);
	if (test_log)
		fclose(test_log);
}

/*
 * If two guests share few processors, the slow one decides when the run ends, so it gets
 * priority.  Processes that this thread starts inherit its nice value.  A small value is
 * enough: beside thirty busy processes a very nice guest would get no processor at all.
 */
static void give_way(const struct flavour_run *fr)
{
	if (fr->run->config->debug && fr->flavour == FLAVOUR_FAST &&
	    setpriority(PRIO_PROCESS, 0, FAST_NICENESS))
		fprintf(stderr, "agate-grade: setpriority: %s\n", strerror(errno));
}

static void *flavour_main(void *arg)
{
	struct flavour_run *fr = arg;
	struct run *run = fr->run;
	char gpu_log[RUN_PATH];
	struct guest guest;

	give_way(fr);
	if (!run_path(gpu_log, "%s/%s-gpu.jsonl", run->dir, flavour_names[fr->flavour]) ||
	    !start_composing(fr)) {
		run_fail(run, "%s: %s", run->config->compose_driver, strerror(errno));
	} else if (!run->config->guest(run->config, fr->flavour, run->result->seed, gpu_log,
				       &guest)) {
		run_fail(run, "out of memory");
	} else {
		run_sessions(fr, &guest);
		run->config->guest_done(&guest);
	}
	/* Nobody waited for this composition, because the run failed before. */
	if (!fr->composed)
		await_parts(fr);
	return NULL;
}

/* Report a file that does not exist. */
static void fail_all(struct run *run)
{
	struct verdict why;
	size_t i;
	int f;

	memset(&why, 0, sizeof(why));
	verdict_set(&why, VERDICT_FAIL, "the lab's files are there", "a file", "no %s",
		    run->parts.missing);
	why.before = true;
	for (f = 0; f < FLAVOURS; f++)
		for (i = 0; i < run->lab->lab->test_count; i++)
			if (run->lab->selected[i])
				result_take(run->lab, f, i, &why);
	publish(run);
}

/* How many of the selected tests run on this kernel. */
static unsigned int verdicts_due(const struct run *run, enum flavour flavour)
{
	unsigned int kernel = flavour == FLAVOUR_FAST ? LAB_FAST : LAB_DEBUG, n = 0;
	size_t i;

	for (i = 0; i < run->lab->lab->test_count; i++)
		n += run->lab->selected[i] && run->lab->lab->tests[i].kernels & kernel;
	return n;
}

static void run_flavours(struct run *run, struct flavour_run *frs, struct timing *timing)
{
	unsigned int due[FLAVOURS];
	int f;

	for (f = 0; f < FLAVOURS; f++) {
		frs[f].run = run;
		frs[f].flavour = f;
		frs[f].timing = &timing[f];
		due[f] = run->lab->ran[f] ? verdicts_due(run, f) : 0;
		run->all += due[f];
	}
	if (run->config->progress)
		run->config->progress(run->lab, 0, run->all);
	for (f = 0; f < FLAVOURS; f++) {
		if (!due[f])
			continue;
		frs[f].started = !pthread_create(&frs[f].thread, NULL, flavour_main, &frs[f]);
		if (!frs[f].started)
			run_fail(run, "no thread could be started");
	}
	for (f = 0; f < FLAVOURS; f++)
		if (frs[f].started)
			pthread_join(frs[f].thread, NULL);
}

/* How the run ended; passes that wait for an end record will never get it now. */
static enum run_end close_run(struct run *run, const struct flavour_run *frs)
{
	enum run_end end = run->failed ? RUN_HOST : run->unjudged ? RUN_UNJUDGED : RUN_DONE;
	int f;

	for (f = 0; f < FLAVOURS; f++)
		if (frs[f].end == SESSION_INTERRUPTED)
			end = RUN_INTERRUPTED;
	for (f = 0; f < FLAVOURS; f++)
		result_give_up(run->lab, f, end == RUN_INTERRUPTED ?
			       "the run was interrupted before this could count" :
			       "the machine failed before this could count");
	run->lab->seconds = (double)(timing_now() - run->begun) / 1e9;
	return end;
}

static bool make_dirs(struct run *run)
{
	return run_path(run->dir, "%s/%s", run->config->out, run->lab->lab->name) &&
	       run_path(run->result_path, "%s/result.json", run->config->out) &&
	       (!mkdir(run->dir, 0777) || errno == EEXIST);
}

enum run_end run_lab(const struct run_config *config, struct result *result, size_t index,
		     struct timing timing[FLAVOURS], char error[RUN_ERROR])
{
	struct flavour_run *frs = calloc(FLAVOURS, sizeof(*frs));
	struct run *run = calloc(1, sizeof(*run));
	enum run_end end = RUN_HOST;

	if (!frs || !run) {
		snprintf(error, RUN_ERROR, "out of memory");
		goto out;
	}
	run->config = config;
	run->result = result;
	run->lab = &result->labs[index];
	run->error = error;
	run->first_failed = SIZE_MAX;
	run->begun = timing_now();
	run->lab->ran[FLAVOUR_FAST] = true;
	run->lab->ran[FLAVOUR_DEBUG] = config->debug;
	if (!make_dirs(run)) {
		snprintf(error, RUN_ERROR, "%.400s: %s", config->out, strerror(errno));
		goto out;
	}
	run_logs_remove(run->dir);
	if (!run_parts_find(config, run->lab, &run->parts, error))
		goto out;
	pthread_mutex_init(&run->lock, NULL);
	pthread_mutex_init(&run->decode_lock, NULL);
	if (run->parts.missing[0])
		fail_all(run);
	else
		run_flavours(run, frs, timing);
	end = close_run(run, frs);
	pthread_mutex_destroy(&run->decode_lock);
	pthread_mutex_destroy(&run->lock);
out:
	free(run);
	free(frs);
	return end;
}
