// SPDX-License-Identifier: MIT
/*
 * Events and hints (event.h).
 */
#include "event.h"

#include "model.h"

void sim_event(struct agate_sim *sim, enum agate_sim_event_kind kind, uint64_t a,
	       uint64_t b, uint64_t c, const char *text)
{
	struct agate_sim_event event = {
		.kind = kind,
		.time = sim->time,
		.a = a,
		.b = b,
		.c = c,
		.text = text,
	};

	if (sim->ops.event)
		sim->ops.event(sim->ctx, &event);
}

void sim_walk_event(struct agate_sim *sim, unsigned int as, uint64_t va, uint64_t pte,
		    const struct agate_sim_walk *walk)
{
	struct agate_sim_event event = {
		.kind = AGATE_EV_WALK,
		.time = sim->time,
		.a = as,
		.b = va,
		.c = pte,
		.walk = walk,
	};

	if (sim->ops.event)
		sim->ops.event(sim->ctx, &event);
}

void sim_hint(struct agate_sim *sim, unsigned int section, const char *text)
{
	sim_count(sim, AGATE_CNT_HINTS, 1);
	sim_event(sim, AGATE_EV_HINT, section * 100, sim->accessed, 0, text);
}

void agate_sim_hint(struct agate_sim *sim, unsigned int section, const char *text)
{
	sim_hint(sim, section, text);
}
