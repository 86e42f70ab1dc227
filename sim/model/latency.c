// SPDX-License-Identifier: MIT
/*
 * Latencies (latency.h): defaults, those of the configuration, and those that the owner
 * sets for all transitions to come or for the next one alone.
 */
#include "latency.h"

#include <string.h>

#include "model.h"

#define DEFAULT_POWER_LATENCY	64
#define DEFAULT_RESET_LATENCY	64
#define DEFAULT_AS_LATENCY	16
#define DEFAULT_STOP_LATENCY	0	/* at once */
#define DEFAULT_FW_LATENCY	1024
#define DEFAULT_FLIP_LATENCY	256

void agate_sim_set_latency(struct agate_sim *sim, enum agate_sim_latency which,
			   uint32_t cycles)
{
	static const uint32_t defaults[AGATE_SIM_LATENCIES] = {
		[AGATE_SIM_LATENCY_POWER] = DEFAULT_POWER_LATENCY,
		[AGATE_SIM_LATENCY_RESET] = DEFAULT_RESET_LATENCY,
		[AGATE_SIM_LATENCY_HARD_RESET] = DEFAULT_RESET_LATENCY,
		[AGATE_SIM_LATENCY_AS] = DEFAULT_AS_LATENCY,
		[AGATE_SIM_LATENCY_STOP] = DEFAULT_STOP_LATENCY,
		[AGATE_SIM_LATENCY_FW] = DEFAULT_FW_LATENCY,
		[AGATE_SIM_LATENCY_FLIP] = DEFAULT_FLIP_LATENCY,
	};

	sim->latency.cycles[which] = cycles ? cycles : defaults[which];
	sim->latency.once &= ~(1u << which);
}

void agate_sim_set_latency_once(struct agate_sim *sim, enum agate_sim_latency which,
				uint32_t cycles)
{
	agate_sim_set_latency(sim, which, cycles);
	sim->latency.once |= 1u << which;
}

void latency_init(struct agate_sim *sim, const struct agate_sim_config *config)
{
	agate_sim_set_latency(sim, AGATE_SIM_LATENCY_POWER, config->power_latency);
	agate_sim_set_latency(sim, AGATE_SIM_LATENCY_RESET, config->reset_latency);
	agate_sim_set_latency(sim, AGATE_SIM_LATENCY_HARD_RESET, config->hard_reset_latency);
	agate_sim_set_latency(sim, AGATE_SIM_LATENCY_AS, config->as_latency);
	agate_sim_set_latency(sim, AGATE_SIM_LATENCY_STOP, config->stop_latency);
	agate_sim_set_latency(sim, AGATE_SIM_LATENCY_FW, 0);
	agate_sim_set_latency(sim, AGATE_SIM_LATENCY_FLIP, 0);
	memcpy(sim->latency.initial, sim->latency.cycles, sizeof(sim->latency.initial));
}

void latency_restore(struct agate_sim *sim)
{
	memcpy(sim->latency.cycles, sim->latency.initial, sizeof(sim->latency.cycles));
	sim->latency.once = 0;
}

uint64_t sim_due(struct agate_sim *sim, enum agate_sim_latency which)
{
	struct latency *latency = &sim->latency;
	uint32_t cycles = latency->cycles[which];

	if (latency->once & (1u << which)) {
		latency->once &= ~(1u << which);
		latency->cycles[which] = latency->initial[which];
	}
	return cycles == AGATE_SIM_LATENCY_STUCK ? TIME_NEVER : sim->time + cycles;
}
