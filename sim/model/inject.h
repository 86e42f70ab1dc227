/* SPDX-License-Identifier: MIT */
/*
 * Failures made on purpose: each strikes once, the n-th time that there is
 * something to strike.
 */
#ifndef AGATE_MODEL_INJECT_H
#define AGATE_MODEL_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_sim.h"

struct inject {
	struct agate_sim_injection pending[AGATE_SIM_MAX_INJECTIONS];
	unsigned int count;
};

/*
 * One more of what kind strikes has come: count it.  True when it is struck, with
 * *arg as the injection has it; vector is for messages, 0 for all else.
 */
bool inject_strikes(struct agate_sim *sim, enum agate_sim_injection_kind kind,
		    unsigned int vector, uint32_t *arg);

#endif /* AGATE_MODEL_INJECT_H */
