/* SPDX-License-Identifier: MIT */
/*
 * How long transitions take, by kind; the owner may change it at any time.
 */
#ifndef AGATE_MODEL_LATENCY_H
#define AGATE_MODEL_LATENCY_H

#include <stdint.h>

#include "agate_sim.h"

#define TIME_NEVER	UINT64_MAX

struct latency {
	uint32_t cycles[AGATE_SIM_LATENCIES];	/* of the bus */
	uint32_t initial[AGATE_SIM_LATENCIES];
	uint32_t once;		/* bit enum agate_sim_latency: only for the next transition */
};

void latency_init(struct agate_sim *sim, const struct agate_sim_config *config);
void latency_restore(struct agate_sim *sim);

/* The time at which a transition of that kind ends if it starts now. */
uint64_t sim_due(struct agate_sim *sim, enum agate_sim_latency which);

#endif /* AGATE_MODEL_LATENCY_H */
