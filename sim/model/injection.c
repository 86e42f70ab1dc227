// SPDX-License-Identifier: MIT
/*
 * Injections (hardware.md, section 8): which are pending, and when they strike.
 * The block in which an injection strikes implements its effect.
 */
#include "injection.h"

#include "model.h"

int agate_sim_inject(struct agate_sim *sim, const struct agate_sim_injection *injection)
{
	struct inject *inject = &sim->inject;

	if ((unsigned int)injection->kind >= AGATE_SIM_INJECTION_KINDS || !injection->n ||
	    inject->count == AGATE_SIM_MAX_INJECTIONS)
		return -1;
	inject->pending[inject->count++] = *injection;
	return 0;
}

void agate_sim_inject_none(struct agate_sim *sim)
{
	sim->inject.count = 0;
}

unsigned int agate_sim_inject_room(const struct agate_sim *sim)
{
	return AGATE_SIM_MAX_INJECTIONS - sim->inject.count;
}

static bool inject_applies(const struct agate_sim_injection *injection,
			   enum agate_sim_injection_kind kind, unsigned int vector)
{
	return injection->kind == kind &&
	       (!injection->vectors || (injection->vectors & (1u << vector)));
}

bool inject_strikes(struct agate_sim *sim, enum agate_sim_injection_kind kind,
		    unsigned int vector, uint32_t *arg)
{
	struct inject *inject = &sim->inject;
	unsigned int i, left = 0;
	bool struck = false;

	for (i = 0; i < inject->count; i++) {
		struct agate_sim_injection *injection = &inject->pending[i];

		if (inject_applies(injection, kind, vector) && !--injection->n) {
			struck = true;
			*arg = injection->arg;
			sim_event(sim, AGATE_EV_INJECTED, kind, injection->arg, 0, NULL);
		} else {
			inject->pending[left++] = *injection;
		}
	}
	inject->count = left;
	return struck;
}
