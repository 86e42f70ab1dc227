/* SPDX-License-Identifier: MIT */
/*
 * Injected failures: each strikes once, at the n-th occasion.
 */
#ifndef AGATE_MODEL_INJECTION_H
#define AGATE_MODEL_INJECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_sim.h"

struct inject {
	struct agate_sim_injection pending[AGATE_SIM_MAX_INJECTIONS];
	unsigned int count;
};

/*
 * Count one more occasion of this kind.  Returns true when an injection strikes,
 * with its argument in *arg.  vector matters only for messages; pass 0 otherwise.
 */
bool inject_strikes(struct agate_sim *sim, enum agate_sim_injection_kind kind,
		    unsigned int vector, uint32_t *arg);

#endif /* AGATE_MODEL_INJECTION_H */
