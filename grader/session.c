// SPDX-License-Identifier: MIT
/*
 * Runs guests one after the other until every test has its verdict (session.h).
 */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "session_priv.h"

/* Limits for guests in a row that end without a verdict, and for guests that get lost. */
#define STARTS_IN_VAIN	3
#define LOSSES		2

/*
 * Starts a guest that has all that does not depend on the student's files: the test program, and
 * the module for injections, loaded.  The program that is kept begins before the module under test
 * comes: what it takes of the guest's memory is not the driver's.
 */
static enum guest_status start_prepared(struct state *st, const struct guest_events *events)
{
	static const char *const insmod[] = { "/sbin/insmod", GUEST_INJECT, "ready=1", NULL };
	static const char *const list[] = { GUEST_PROGRAM, "--list", NULL };
	const struct session_files *given = &st->s->files;
	struct vm_file files[2] = { { given->program, GUEST_PROGRAM, 0755 } };
	struct vm_program programs[2];
	struct vm_prepare prepare = { files, 1, programs, 0 };

	if (given->inject) {
		files[prepare.file_count++] = (struct vm_file){ given->inject, GUEST_INJECT, 0644 };
		programs[prepare.program_count++] = (struct vm_program){ insmod, false };
	}
	if (state_keeps_program(st))
		programs[prepare.program_count++] = (struct vm_program){ list, true };
	return st->ops->start(st->guest, st->s->profile, &prepare, events);
}

/* Delivers what is built of the student's files. */
static enum guest_status deliver_built(struct state *st)
{
	const struct session_files *files = &st->s->files;
	enum guest_status end = GUEST_OK;

	if (files->library)
		end = st->ops->put(st->guest, files->library, GUEST_LIBRARY, 0755);
	if (end == GUEST_OK)
		end = st->ops->put(st->guest, files->module, GUEST_MODULE, 0644);
	return end;
}

/*
 * Gives a test its verdict.  That settles the test, except that a pass still waits for
 * its guest's end record.
 */
static void give(struct state *st, size_t test, const struct verdict *verdict)
{
	st->passed[test] = verdict->status == VERDICT_PASS;
	st->settled[test] = !st->passed[test];
	st->verdicts++;
	st->s->verdict(st->s->arg, test, verdict);
}

/* The next test to run, from *@at on in the session's order. */
static bool find_next(const struct state *st, size_t *at, size_t *test)
{
	const struct session *s = st->s;

	for (; *at < s->lab->test_count; (*at)++) {
		*test = s->order ? s->order[*at] : *at;
		if (!st->settled[*test] && s->wanted(s->arg, *test))
			return true;
	}
	return false;
}

static bool any_left(const struct state *st, size_t at)
{
	size_t test;

	return find_next(st, &at, &test);
}

static bool take(const struct state *st, size_t test)
{
	return !st->s->take || st->s->take(st->s->arg, test);
}

/* The cause is older than the remaining tests: it is the verdict on all of them. */
static void fail_rest(struct state *st, struct verdict *why)
{
	size_t at = 0, test;

	why->before = true;
	while (find_next(st, &at, &test))
		if (take(st, test))
			give(st, test, why);
}

static enum guest_status start(struct state *st)
{
	const struct guest_events events = { .console = state_console, .arg = st };
	uint64_t begun = timing_now();
	enum guest_status end;

	state_console_begin(st);
	end = start_prepared(st, &events);
	timing_add(st->s->timing, begun, "guest started");
	if (end != GUEST_OK)
		return end == GUEST_HOST ? GUEST_GONE : end;
	st->started = true;
	st->health_known = false;
	st->born = st->ops->now(st->guest);
	if (st->s->test_log)
		fprintf(st->s->test_log, "=== guest %u\n", st->ops->number(st->guest));
	if (st->s->up)
		st->s->up(st->s->arg);
	return GUEST_OK;
}

/*
 * Starts a guest and loads the module.  LOAD_FAILED means that this cannot work, and @why is
 * the verdict on the remaining tests; after LOAD_VOID and LOAD_LATE it may work in another
 * guest.
 */
static enum guest_status bring_up(struct state *st, enum load *load, struct verdict *why)
{
	enum guest_status end;
	uint64_t begun;

	*load = LOAD_VOID;
	end = start(st);
	begun = timing_now();
	if (end == GUEST_OK)
		end = state_warm_up(st);
	timing_add(st->s->timing, begun, "guest warmed up");
	begun = timing_now();
	if (end == GUEST_OK && !st->s->module(st->s->arg, why)) {
		*load = LOAD_FAILED;
		return GUEST_OK;
	}
	timing_add(st->s->timing, begun, "module awaited");
	begun = timing_now();
	if (end == GUEST_OK)
		end = deliver_built(st);
	timing_add(st->s->timing, begun, "module delivered");
	if (end != GUEST_OK)
		return end;
	begun = timing_now();
	*load = LOAD_DONE;
	if (!st->s->lab->by_test)
		end = state_load(st, load, why);
	if (end == GUEST_GONE && state_stopped(st, AT_INSMOD, why)) {
		*load = LOAD_FAILED;
		end = GUEST_OK;
	}
	timing_add(st->s->timing, begun, "module loaded");
	return end;
}

/*
 * After a failure that left guest and kernel sound, loads the module anew.  False if that
 * fails, or if tests load it themselves: the caller then replaces the guest, which
 * removes whatever the failed test left behind.
 */
static bool refresh(struct state *st)
{
	enum load load = LOAD_DONE;
	struct verdict why;
	uint64_t begun;
	bool ok;

	if (st->s->lab->by_test)
		return false;
	begun = timing_now();
	ok = state_unload(st, &why) && state_load(st, &load, &why) == GUEST_OK &&
	     load == LOAD_DONE;
	timing_add(st->s->timing, begun, "module reloaded");
	return ok;
}

/*
 * Does a guest that ended, or is given up, have its end record?  It has if its end was
 * seen from outside, or if its kernel still answers.
 */
static bool has_end_record(enum guest_status end)
{
	return end != GUEST_LOST;
}

/* Nobody knows how that guest would have ended. */
static bool ended_by_machine(enum guest_status end)
{
	return end == GUEST_GONE || end == GUEST_HOST || end == GUEST_INTERRUPTED;
}

/* Runs the remaining tests until the guest is useless or all are done. */
static enum guest_status run_tests(struct state *st)
{
	const struct session *s = st->s;
	enum guest_status end = GUEST_OK;
	struct verdict *verdict = malloc(sizeof(*verdict));
	bool sound = true;
	size_t at = 0, test;

	if (!verdict)
		return GUEST_HOST;
	while (sound && find_next(st, &at, &test)) {
		if (!take(st, test))
			continue;
		end = state_test(st, &s->lab->tests[test], verdict);
		if (end == GUEST_GONE && state_stopped(st, test, verdict)) {
			give(st, test, verdict);
			end = GUEST_CRASHED;
			break;
		}
		if (ended_by_machine(end))
			break;
		if (!state_believe(st, verdict))
			break;
		at++;
		give(st, test, verdict);
		sound = end == GUEST_OK && verdict->status != VERDICT_CRASH &&
			verdict->status != VERDICT_TIMEOUT && !st->evidence.timed_out;
		if (sound && verdict->status != VERDICT_PASS && any_left(st, at))
			sound = refresh(st);
	}
	free(verdict);
	return end;
}

/* Unloads the module at the end, and reports it if it leaves something behind. */
static void close_down(struct state *st, struct verdict *why)
{
	uint64_t begun = timing_now();
	char text[256];

	if (!state_unload(st, why) && why->status != VERDICT_NOT_RUN) {
		snprintf(text, sizeof(text), "the module did not unload in silence: %.160s", why->seen);
		st->s->remark(st->s->arg, text);
	}
	timing_add(st->s->timing, begun, "module unloaded");
}

/* The passes of the guest that ended count or are void; after a lost guest they run again. */
static void seal(struct state *st, enum guest_status end)
{
	size_t i;

	for (i = 0; i < st->s->lab->test_count; i++) {
		st->settled[i] = st->settled[i] || (st->passed[i] && !ended_by_machine(end));
		st->passed[i] = false;
	}
	if (!ended_by_machine(end))
		st->s->sealed(st->s->arg, has_end_record(end));
}

/* Runs one guest from its start to its end. */
static enum guest_status run_guest(struct state *st, enum load *load, struct verdict *why)
{
	enum guest_status end;

	memset(why, 0, sizeof(*why));
	st->started = false;
	st->stopped = false;
	end = bring_up(st, load, why);
	if (end == GUEST_OK && *load == LOAD_FAILED)
		fail_rest(st, why);
	else if (end == GUEST_OK && *load == LOAD_DONE)
		end = run_tests(st);
	seal(st, end);
	if (end == GUEST_OK && *load == LOAD_DONE && !any_left(st, 0))
		close_down(st, why);
	if (st->started)
		st->spent += st->ops->now(st->guest) - st->born;
	return end;
}

static enum session_end host_failed(const struct state *st, const char *what, const char *why)
{
	char text[700];

	snprintf(text, sizeof(text), "%s: %.500s", what, why);
	st->s->failed(st->s->arg, text);
	return SESSION_HOST;
}

/* Several guests ended without a verdict: because of the module, or of the machine? */
static enum session_end in_vain(struct state *st, enum load load, struct verdict *why)
{
	if (load != LOAD_LATE && !state_blames_module(st, why))
		return host_failed(st, "in three starts no guest got as far as a verdict",
				   why->seen[0] ? why->seen : st->ops->error(st->guest));
	fail_rest(st, why);
	return SESSION_DONE;
}

static enum session_end run_guests(struct state *st)
{
	unsigned int starts = 0, losses = 0, before;
	struct verdict why;
	enum guest_status end;
	enum load load;

	while (any_left(st, 0)) {
		if (state_out_of_time(st, &why)) {
			fail_rest(st, &why);
			break;
		}
		before = st->verdicts;
		end = run_guest(st, &load, &why);
		if (end == GUEST_INTERRUPTED)
			return SESSION_INTERRUPTED;
		if (end == GUEST_HOST)
			return host_failed(st, "the grader", st->ops->error(st->guest));
		/* state_stopped() counts the others. */
		if (!st->stopped)
			losses = end == GUEST_GONE ? losses + 1 : 0;
		if (losses == LOSSES)
			return host_failed(st, "the VM was lost twice", st->ops->error(st->guest));
		/* state_believe() counts those that got stuck in a probe. */
		if (!st->troubles[TROUBLE_PROBE])
			starts = st->verdicts == before ? starts + 1 : 0;
		if (starts == STARTS_IN_VAIN)
			return in_vain(st, load, &why);
	}
	return SESSION_DONE;
}

enum session_end session_run(const struct session *session)
{
	struct state *st = calloc(1, sizeof(*st));
	enum session_end end = SESSION_HOST;

	if (!st)
		return SESSION_HOST;
	st->s = session;
	st->ops = session->guest->ops;
	st->guest = session->guest->ctx;
	end = run_guests(st);
	st->ops->stop(st->guest);
	if (session->console_log)
		fflush(session->console_log);
	free(st);
	return end;
}
