// SPDX-License-Identifier: MIT
/*
 * Checks that a test left its guest's kernel as it was (health.h).
 */
#include <string.h>

#include "session_priv.h"

/*
 * An exact look waits for RCU.  Workers may free memory later still, and leave it to RCU
 * again: after so many looks in a row between which nothing was freed, what is left stays.
 */
#define LOOKS_IN_VAIN	3
#define COUNTERS_MS	2000

static enum guest_status look(struct state *st, bool exact, struct health *health)
{
	char text[HEALTH_TEXT];
	enum guest_status end;
	size_t len = 0;

	end = st->ops->health(st->guest, exact, text, sizeof(text), &len);
	/* The lines are PID 1's, or come from code that found its port. */
	if (end == GUEST_OK && !health_parse(health, text, len))
		return GUEST_LOST;
	return end;
}

enum guest_status state_health_begin(struct state *st)
{
	enum guest_status end;

	if (st->health_known)
		return GUEST_OK;
	end = look(st, false, &st->health);
	st->health_known = end == GUEST_OK;
	return end;
}

static void take_counters(void *arg, enum guest_stream stream, const char *data, size_t len)
{
	struct state *st = arg;
	size_t room = sizeof(st->counters) - 1 - strlen(st->counters);

	if (stream == GUEST_OUTPUT)
		strncat(st->counters, data, len < room ? len : room);
}

/* A process reads them, because the driver answers, and may hang. */
static enum guest_status read_counters(struct state *st, bool *hangs)
{
	static const char *const argv[] = {
		"/bin/sh", "-c", "cat /sys/kernel/debug/dri/*/counters", NULL
	};
	struct guest_run run = {
		.argv = argv, .limit_ms = state_limit(st, COUNTERS_MS),
		.output_max = sizeof(st->counters), .output = take_counters, .arg = st,
	};
	enum guest_status end;

	st->counters[0] = '\0';
	end = st->ops->run(st->guest, &run);
	*hangs = run.timed_out;
	return end;
}

/*
 * Looks until as much memory is left as the driver counts, or until no more of it is freed.
 * The counters come first: a BO that is freed between the two looks is then counted.
 */
static enum guest_status settle(struct state *st, struct health *now, bool *hangs)
{
	unsigned int in_vain = 0;
	enum guest_status end;
	struct health lowest;
	bool first = true;

	do {
		end = read_counters(st, hangs);
		if (end == GUEST_OK && !*hangs)
			end = look(st, true, now);
		if (end != GUEST_OK || *hangs)
			return end;
		if (first)
			lowest = *now;
		else
			in_vain = health_lower(&lowest, now) ? 0 : in_vain + 1;
		first = false;
	} while (health_left(&st->health, now, st->counters, NULL) && in_vain < LOOKS_IN_VAIN);
	return end;
}

/* Each test is charged with the memory that it left, and with no other. */
static void remember_memory(struct state *st, const struct health *now)
{
	st->health.value[HEALTH_SHMEM_FILES] = now->value[HEALTH_SHMEM_FILES];
	st->health.value[HEALTH_SHMEM_PAGES] = now->value[HEALTH_SHMEM_PAGES];
}

/* Before the step that frees BOs, all of them are left. */
static bool frees(const struct state *st)
{
	unsigned int step = st->evidence.test->step;

	return !step || step >= st->s->lab->frees;
}

enum guest_status state_health(struct state *st, struct verdict *verdict, bool *changed)
{
	uint64_t begun = timing_now();
	enum guest_status end;
	struct health now;
	bool hangs;

	*changed = false;
	end = look(st, false, &now);
	timing_add(st->s->timing, begun, "health");
	if (end != GUEST_OK)
		return end;
	*changed = health_blinded(&st->health, &now, verdict);
	if (!frees(st) || !health_grown(&st->health, &now)) {
		remember_memory(st, &now);
		return GUEST_OK;
	}
	begun = timing_now();
	end = settle(st, &now, &hangs);
	timing_add(st->s->timing, begun, "memory settled");
	if (end != GUEST_OK)
		return end;
	/* Without the counters nobody knows how much may be left; the next test gets another guest. */
	if (hangs || health_left(&st->health, &now, st->counters, verdict))
		*changed = true;
	remember_memory(st, &now);
	return GUEST_OK;
}
