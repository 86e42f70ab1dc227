// SPDX-License-Identifier: MIT
/*
 * One lab on one or two kernels (run.h).  Each kernel has a thread of its own; the verdicts
 * of all labs go into one result, under its lock.
 */
#include "run_priv.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine.h"
#include "run_logs.h"

#define ARGS_MAX	(PARTS_MAX + 4)

const char *const flavour_names[FLAVOURS] = { "fast", "debug" };

void run_fail(struct run *run, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&run->result->lock);
	if (!run->failed) {
		run->failed = true;
		va_start(ap, fmt);
		vsnprintf(run->error, RUN_ERROR, fmt, ap);
		va_end(ap);
	}
	pthread_mutex_unlock(&run->result->lock);
}

bool run_has_failed(struct run *run)
{
	bool failed;

	pthread_mutex_lock(&run->result->lock);
	failed = run->failed;
	pthread_mutex_unlock(&run->result->lock);
	return failed;
}

void run_remark(struct run *run, const char *fmt, ...)
{
	struct result_lab *lab = run->lab;
	char line[sizeof(lab->remarks[0])];
	va_list ap;
	size_t i;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&run->result->lock);
	/* Two guests, or two files, may have the same to say. */
	for (i = 0; i < lab->remark_count && strcmp(lab->remarks[i], line); i++)
		;
	if (i == lab->remark_count && i < RESULT_REMARKS)
		strcpy(lab->remarks[lab->remark_count++], line);
	pthread_mutex_unlock(&run->result->lock);
}

void run_publish(struct run *run)
{
	run->lab->seconds = (double)(timing_now() - run->begun) / 1e9;
	if (!result_write(run->result, run->result_path) && !run->failed) {
		run->failed = true;
		snprintf(run->error, RUN_ERROR, "%.400s: %s", run->result_path, strerror(errno));
	}
	if (run->config->progress)
		run->config->progress(run->lab, run->done, run->all);
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

static bool debug_has_to_begin(void *arg)
{
	struct run *run = arg;

	return !atomic_load(&run->debug_begun) && !run_has_failed(run);
}

static void *flavour_main(void *arg)
{
	struct flavour_run *fr = arg;
	struct run *run = fr->run;

	pthread_mutex_init(&fr->parts_lock, NULL);
	/* The run takes as long as the tests on the debug kernel: its guest goes first. */
	if (fr->flavour != FLAVOUR_DEBUG)
		machine_await_free(debug_has_to_begin, run, run->config->interrupt_fd);
	if (start_composing(fr))
		run_sessions(fr);
	else
		run_fail(run, "%s: %s", run->config->compose_driver, strerror(errno));
	/* Nobody waited for this composition, because the run failed before. */
	if (!fr->composed)
		run_await_parts(fr);
	if (fr->flavour == FLAVOUR_DEBUG)
		atomic_store(&run->debug_begun, true);
	pthread_mutex_destroy(&fr->parts_lock);
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
	pthread_mutex_lock(&run->result->lock);
	for (f = 0; f < FLAVOURS; f++)
		for (i = 0; i < run->lab->lab->test_count; i++)
			if (run->lab->selected[i])
				result_take(run->lab, f, i, &why);
	run_publish(run);
	pthread_mutex_unlock(&run->result->lock);
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

static void run_flavours(struct run *run, struct flavour_run *frs,
			 struct timing timing[FLAVOURS][LANES])
{
	unsigned int due[FLAVOURS];
	int f, lane;

	for (f = 0; f < FLAVOURS; f++) {
		frs[f].run = run;
		frs[f].flavour = f;
		for (lane = 0; lane < LANES; lane++)
			frs[f].lanes[lane].timing = &timing[f][lane];
		due[f] = run->lab->ran[f] ? verdicts_due(run, f) : 0;
		run->all += due[f];
	}
	atomic_store(&run->debug_begun, !due[FLAVOUR_DEBUG]);
	pthread_mutex_lock(&run->result->lock);
	if (run->config->progress)
		run->config->progress(run->lab, 0, run->all);
	pthread_mutex_unlock(&run->result->lock);
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

/* A bug that fails other tests may keep this one from looking. */
static void tell_of_others(struct run *run)
{
	size_t len = strlen(run->error);

	if (run->unjudged && !run->failed && run->first_failed != SIZE_MAX)
		snprintf(run->error + len, RUN_ERROR - len, "; but other tests failed, and the cause may "
			 "be the same: mend those first, and grade again");
}

/* How the run ended; passes that wait for an end record will never get it now. */
static enum run_end close_run(struct run *run, const struct flavour_run *frs)
{
	enum run_end end = run->failed ? RUN_HOST : run->unjudged ? RUN_UNJUDGED : RUN_DONE;
	int f;

	for (f = 0; f < FLAVOURS; f++)
		if (frs[f].end == SESSION_INTERRUPTED)
			end = RUN_INTERRUPTED;
	pthread_mutex_lock(&run->result->lock);
	tell_of_others(run);
	for (f = 0; f < FLAVOURS; f++)
		result_give_up(run->lab, f, end == RUN_INTERRUPTED ?
			       "the run was interrupted before this could count" :
			       "the machine failed before this could count");
	run->lab->seconds = (double)(timing_now() - run->begun) / 1e9;
	pthread_mutex_unlock(&run->result->lock);
	return end;
}

static bool make_dirs(struct run *run)
{
	return run_path(run->dir, "%s/%s", run->config->out, run->lab->lab->name) &&
	       run_path(run->result_path, "%s/result.json", run->config->out) &&
	       (!mkdir(run->dir, 0777) || errno == EEXIST);
}

enum run_end run_lab(const struct run_config *config, struct result *result, size_t index,
		     struct timing timing[FLAVOURS][LANES], char error[RUN_ERROR])
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
	pthread_mutex_lock(&result->lock);
	run->lab->ran[FLAVOUR_FAST] = true;
	run->lab->ran[FLAVOUR_DEBUG] = config->debug;
	pthread_mutex_unlock(&result->lock);
	if (!make_dirs(run)) {
		snprintf(error, RUN_ERROR, "%.400s: %s", config->out, strerror(errno));
		goto out;
	}
	run_logs_remove(run->dir);
	if (!run_parts_find(config, run->lab, &run->parts, error))
		goto out;
	pthread_mutex_init(&run->decode_lock, NULL);
	if (run->parts.missing[0])
		fail_all(run);
	else
		run_flavours(run, frs, timing);
	end = close_run(run, frs);
	pthread_mutex_destroy(&run->decode_lock);
out:
	free(run);
	free(frs);
	return end;
}
