/* SPDX-License-Identifier: MIT */
/*
 * What the model tells its owner: events, and hints about broken rules.
 */
#ifndef AGATE_MODEL_EVENT_H
#define AGATE_MODEL_EVENT_H

#include <stdint.h>

#include "agate_sim.h"

void sim_event(struct agate_sim *sim, enum agate_sim_event_kind kind, uint64_t a,
	       uint64_t b, uint64_t c, const char *text);

/* AGATE_EV_WALK of an address space, with the last entry read. */
void sim_walk_event(struct agate_sim *sim, unsigned int as, uint64_t va, uint64_t pte,
		    const struct agate_sim_walk *walk);

/* Report a broken rule of that section of hardware.md. */
void sim_hint(struct agate_sim *sim, unsigned int section, const char *text);

#endif /* AGATE_MODEL_EVENT_H */
