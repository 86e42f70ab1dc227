// SPDX-License-Identifier: MIT
/*
 * From one guest to the next until every test has its verdict (session.h).
 */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "session_priv.h"

/* How many guests in a row may end without a verdict. */
#define STARTS_IN_VAIN	3

/* Everything but the module, whose file may still be in the making. */
static enum guest_status deliver(struct state *st)
{
	const struct session_files *files = &st->s->files;
	enum guest_status end;

	end = st->ops->put(st->guest, files->program, GUEST_PROGRAM, 0755);
	if (end == GUEST_OK && files->inject)
		end = st->ops->put(st->guest, files->inject, GUEST_INJECT, 0644);
	if (end == GUEST_OK && files->library)
		end = st->ops->put(st->guest, files->library, GUEST_LIBRARY, 0755);
	return end;
}

/* What was never there cannot be: one reason is the verdict on all that is left. */
static void fail_rest(const struct state *st, size_t *next, struct verdict *why)
{
	const struct session *s = st->s;

	why->before = true;
	for (; *next < s->lab->test_count; (*next)++)
		if (s->wanted(s->arg, *next))
			s->verdict(s->arg, *next, why);
}

/*
 * A guest with the module in it.  @ready is false when there cannot be one, and
 * then @why is the verdict on the tests that are left.
 */
static enum guest_status bring_up(struct state *st, bool *ready, struct verdict *why)
{
	const struct guest_events events = { .console = state_console, .arg = st };
	uint64_t begun = timing_now();
	enum guest_status end;

	*ready = false;
	state_console_begin(st);
	end = st->ops->start(st->guest, st->s->profile, &events);
	timing_add(st->s->timing, begun, "guest started");
	begun = timing_now();
	if (end == GUEST_OK)
		end = deliver(st);
	timing_add(st->s->timing, begun, "files delivered");
	begun = timing_now();
	if (end == GUEST_OK && !st->s->module(st->s->arg, why))
		return GUEST_OK;
	timing_add(st->s->timing, begun, "module awaited");
	begun = timing_now();
	if (end == GUEST_OK)
		end = st->ops->put(st->guest, st->s->files.module, GUEST_MODULE, 0644);
	timing_add(st->s->timing, begun, "module delivered");
	if (end != GUEST_OK)
		return end;
	begun = timing_now();
	*ready = true;
	if (!st->s->lab->by_test)
		end = state_load(st, ready, why);
	timing_add(st->s->timing, begun, "module loaded");
	return *ready || end == GUEST_HOST || end == GUEST_INTERRUPTED ? end : GUEST_OK;
}

/* After a failure that left guest and kernel sound: a module without a past. */
static bool refresh(struct state *st)
{
	uint64_t begun = timing_now();
	struct verdict why;
	bool ok = state_unload(st, &why);

	if (ok && !st->s->lab->by_test && state_load(st, &ok, &why) != GUEST_OK)
		ok = false;
	timing_add(st->s->timing, begun, "module reloaded");
	return ok;
}

/*
 * Whether a guest that ended, or is given up, has its end record: it was seen from
 * outside why, or its kernel still answers.
 */
static bool has_end_record(enum guest_status end)
{
	return end != GUEST_LOST && end != GUEST_HOST && end != GUEST_INTERRUPTED;
}

static void skip_unwanted(const struct state *st, size_t *next)
{
	while (*next < st->s->lab->test_count && !st->s->wanted(st->s->arg, *next))
		(*next)++;
}

/* The innermost function of the module where the kernel hangs, or NULL. */
static const char *place_of(const struct splat *splat)
{
	size_t i;

	for (i = 0; splat->kind != SPLAT_NONE && i < splat->frame_count; i++)
		if (splat->frames[i].module)
			return splat->frames[i].symbol;
	return NULL;
}

/*
 * A student whose module hangs in one place hangs in it in every test.  Who has
 * waited there once in full knows the place; a short wait that ends elsewhere
 * proves nothing, and the test is to be run again.  False: run it again.
 */
static bool believe_hang(struct state *st, const struct verdict *verdict)
{
	const char *place = place_of(&verdict->splat);
	bool known = false;
	size_t i;

	for (i = 0; place && i < st->hung_count; i++)
		known = known || !strcmp(place, st->hung_in[i]);
	if (st->impatient && !known) {
		st->impatient = false;
		return false;
	}
	if (place && !known && st->hung_count < HUNG_PLACES)
		snprintf(st->hung_in[st->hung_count++], sizeof(st->hung_in[0]), "%s", place);
	return true;
}

/*
 * A test that could not look runs again, in another guest: the machine was in its way, not
 * the student.  False: run it again.
 */
static bool believe_blind(struct state *st, struct verdict *verdict)
{
	char why[sizeof(verdict->seen)];

	if (++st->blind_runs < BLIND_RUNS)
		return false;
	memcpy(why, verdict->seen, sizeof(why));
	verdict_set(verdict, VERDICT_NOT_RUN, "", "",
		    "in %d runs the test could not look at what it is about: %.300s", BLIND_RUNS, why);
	return true;
}

/* The tests from *@next on, until the guest is of no more use or all are done. */
static enum guest_status run_tests(struct state *st, size_t *next)
{
	const struct session *s = st->s;
	enum guest_status end = GUEST_OK;
	struct verdict *verdict = malloc(sizeof(*verdict));
	bool sound = true;

	if (!verdict)
		return GUEST_HOST;
	while (sound && *next < s->lab->test_count) {
		end = state_test(st, &s->lab->tests[*next], verdict);
		if (end == GUEST_HOST || end == GUEST_INTERRUPTED)
			break;
		if (st->evidence.timed_out && !believe_hang(st, verdict))
			break;
		if (verdict->status == VERDICT_NOT_RUN && !believe_blind(st, verdict))
			break;
		st->blind_runs = 0;
		st->impatient = st->hung_count;
		s->verdict(s->arg, *next, verdict);
		(*next)++;
		skip_unwanted(st, next);
		sound = end == GUEST_OK && verdict->status != VERDICT_CRASH &&
			verdict->status != VERDICT_TIMEOUT;
		if (sound && verdict->status != VERDICT_PASS && *next < s->lab->test_count)
			sound = refresh(st);
	}
	free(verdict);
	return end;
}

/* The last words: a module that leaves something behind when it goes is told of. */
static void close_down(struct state *st, struct verdict *why)
{
	uint64_t begun = timing_now();
	char text[256];

	if (!state_unload(st, why)) {
		snprintf(text, sizeof(text), "the module did not unload in silence: %.160s", why->seen);
		st->s->remark(st->s->arg, text);
	}
	timing_add(st->s->timing, begun, "module unloaded");
}

static enum session_end run_guests(struct state *st)
{
	const struct session *s = st->s;
	unsigned int in_vain = 0;
	enum guest_status end;
	struct verdict why;
	size_t next = 0, first;
	bool ready;

	skip_unwanted(st, &next);
	while (next < s->lab->test_count) {
		memset(&why, 0, sizeof(why));
		end = bring_up(st, &ready, &why);
		first = next;
		if (end == GUEST_OK && !ready)
			fail_rest(st, &next, &why);
		else if (end == GUEST_OK)
			end = run_tests(st, &next);
		s->sealed(s->arg, has_end_record(end));
		if (end == GUEST_OK && ready && next == s->lab->test_count)
			close_down(st, &why);
		if (end == GUEST_INTERRUPTED)
			return SESSION_INTERRUPTED;
		in_vain = next == first ? in_vain + 1 : 0;
		if (end == GUEST_HOST || in_vain == STARTS_IN_VAIN)
			return SESSION_HOST;
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
