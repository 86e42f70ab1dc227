// SPDX-License-Identifier: MIT
/*
 * Hangs: a driver that hangs every test in the same place costs the whole limit twice,
 * and a part of it for each test after that.  One whole limit, and a smaller part, are enough
 * where a task sleeps until a lock is given back.
 *
 * A short wait is enough only for a hang that is known in full.  A test that does not end
 * in time for any other reason runs again with its whole limit, so a slow test loses
 * nothing.
 */
#include <string.h>

#include "session_priv.h"

/* So many tests have to show the same hang before later ones get a part of their limit. */
#define HANG_TESTS	2
#define HANG_PART	4
/* The same for tasks that wait for a lock. */
#define LOCK_TESTS	1
#define LOCK_PART	10

/* The module's frames of the verdict's trace; 0: the trace does not show the module. */
static size_t module_frames(const struct verdict *verdict, struct splat_frame *frames)
{
	const struct splat *splat = &verdict->splat;
	size_t i, n = 0;

	for (i = 0; splat->kind != SPLAT_NONE && i < splat->frame_count; i++)
		if (splat->frames[i].module)
			frames[n++] = splat->frames[i];
	return n;
}

/*
 * Does the verdict's trace show a task that sleeps until a mutex or the like is given back?  Such
 * a task needs no processor, so that a busy host makes no difference.
 */
static bool sleeps_for_lock(const struct splat *splat)
{
	size_t i;

	if (splat->kind != SPLAT_HUNG_TASK)
		return false;
	for (i = 0; i < splat->frame_count && !splat->frames[i].module; i++)
		if (strstr(splat->frames[i].symbol, "mutex_lock") ||
		    strstr(splat->frames[i].symbol, "rwsem_down"))
			return true;
	return false;
}

/* Does a gate of the test hold a call?  Then others may have to wait for its locks. */
static bool gate_holds(const struct evidence *e)
{
	static const char gate[] = "gated_call+0x";

	return memmem(e->console, e->console_len, gate, sizeof(gate) - 1);
}

/* Have so many tests hung here that a part of a limit is enough? */
static bool is_known(const struct hang *hang)
{
	return hang->tests >= (hang->lock ? LOCK_TESTS : HANG_TESTS);
}

/* The same calls; a loop may be anywhere in its function. */
static bool same_frame(const struct splat_frame *a, const struct splat_frame *b)
{
	return !strcmp(a->symbol, b->symbol) && a->exact == b->exact &&
	       (a->exact || a->offset == b->offset);
}

static struct hang *find_hang(struct state *st, const struct splat_frame *frames, size_t count)
{
	size_t i, k;

	for (i = 0; count && i < st->hang_count; i++) {
		struct hang *hang = &st->hangs[i];

		if (hang->count != count)
			continue;
		for (k = 0; k < count && same_frame(&hang->frames[k], &frames[k]); k++)
			;
		if (k == count)
			return hang;
	}
	return NULL;
}

/*
 * Nothing in the guest answers, PID 1 neither, and no trace shows the module.  A slow test
 * never looks like that, because PID 1 answers while it runs.
 */
static bool is_silent(const struct state *st, size_t module_frame_count)
{
	const struct evidence *e = &st->evidence;

	return e->timed_out && !st->busy && !module_frame_count &&
	       (e->end == GUEST_CRASHED || e->end == GUEST_TIMEOUT);
}

unsigned int state_hang_limit(struct state *st, unsigned int limit_ms)
{
	size_t i;

	st->part = st->silent_tests >= HANG_TESTS ? HANG_PART : 1;
	for (i = 0; i < st->hang_count; i++) {
		unsigned int its = st->hangs[i].lock ? LOCK_PART : HANG_PART;

		if (is_known(&st->hangs[i]) && its > st->part)
			st->part = its;
	}
	if (st->patient)
		st->part = 1;
	st->hurried = st->part > 1;
	return limit_ms / st->part;
}

static void add_hang(struct state *st, const struct splat *splat, const struct splat_frame *frames,
		     size_t count)
{
	struct hang *hang = find_hang(st, frames, count);

	if (!hang && count && st->hang_count < HANGS) {
		hang = &st->hangs[st->hang_count++];
		memcpy(hang->frames, frames, count * sizeof(*frames));
		hang->count = count;
		hang->lock = sleeps_for_lock(splat);
	}
	if (hang)
		hang->tests++;
}

bool state_believe_hang(struct state *st, struct verdict *verdict)
{
	const struct evidence *e = &st->evidence;
	struct splat_frame frames[SPLAT_FRAMES];
	const struct hang *hang;
	size_t count;
	bool known;

	st->waits_for_lock = false;
	if (verdict->status != VERDICT_TIMEOUT || !st->hurried)
		return true;
	count = module_frames(verdict, frames);
	hang = find_hang(st, frames, count);
	known = hang ? is_known(hang) : st->silent_tests >= HANG_TESTS && is_silent(st, count);
	st->waits_for_lock = known && hang && hang->lock && e->timed_out && !gate_holds(e);
	/* A part that is long enough for such a wait is too short for any other. */
	st->patient = !st->waits_for_lock && (!known || (hang && hang->lock) || st->busy ||
					      !e->timed_out || st->part > HANG_PART);
	if (!st->patient)
		verdict_set(verdict, VERDICT_TIMEOUT, verdict->rule, verdict->expected,
			    "none after %u ms; it hangs %s, so the grader waited for a part of the "
			    "limit only", e->limit_ms, hang ? "where earlier tests hung" :
			    "as earlier tests did, and nothing in the guest answers");
	return !st->patient;
}

void state_note_hang(struct state *st, const struct verdict *verdict)
{
	struct splat_frame frames[SPLAT_FRAMES];
	size_t count;

	st->patient = false;
	if (verdict->status != VERDICT_TIMEOUT || !st->evidence.timed_out || st->hurried)
		return;
	count = module_frames(verdict, frames);
	add_hang(st, &verdict->splat, frames, count);
	st->silent_tests += is_silent(st, count);
}
