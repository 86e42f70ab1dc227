// SPDX-License-Identifier: MIT
/*
 * Checks that a test left its guest's kernel as it was (health.h).
 */
#include <string.h>

#include "session_priv.h"

/* How long RCU and workers may take to free the objects that a test left to them. */
#define SETTLE_MS	2000
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

/* A process reads it, because the driver answers, and may hang. */
static enum guest_status read_counters(struct state *st)
{
	static const char *const argv[] = {
		"/bin/sh", "-c", "cat /sys/kernel/debug/dri/*/counters", NULL
	};
	struct guest_run run = {
		.argv = argv, .limit_ms = state_limit(st, COUNTERS_MS),
		.output_max = sizeof(st->counters), .output = take_counters, .arg = st,
	};

	st->counters[0] = '\0';
	return st->ops->run(st->guest, &run);
}

/* Takes exact counts after pending frees are done, or after their time is over. */
static enum guest_status settled(struct state *st, struct health *now)
{
	uint64_t until = st->ops->now(st->guest) + state_limit(st, SETTLE_MS) * 1000000ull;
	enum guest_status end;

	do
		end = look(st, true, now);
	while (end == GUEST_OK && health_grown(&st->health, now, true) &&
	       !st->ops->past(st->guest, until));
	return end;
}

enum guest_status state_health(struct state *st, struct verdict *verdict, bool *changed)
{
	uint64_t begun = timing_now();
	enum guest_status end;
	struct health now;

	*changed = false;
	end = look(st, false, &now);
	timing_add(st->s->timing, begun, "health");
	if (end != GUEST_OK)
		return end;
	*changed = health_blinded(&st->health, &now, verdict);
	if (!health_grown(&st->health, &now, false))
		return GUEST_OK;
	begun = timing_now();
	end = settled(st, &now);
	timing_add(st->s->timing, begun, "memory settled");
	if (end != GUEST_OK || !health_grown(&st->health, &now, true))
		return end;
	end = read_counters(st);
	if (health_left(&st->health, &now, st->counters, verdict))
		*changed = true;
	/* Do not blame the next test for the memory that is left. */
	st->health.value[HEALTH_SHMEM_FILES] = now.value[HEALTH_SHMEM_FILES];
	st->health.value[HEALTH_SHMEM_PAGES] = now.value[HEALTH_SHMEM_PAGES];
	return end;
}
