// SPDX-License-Identifier: MIT
/*
 * Supplies that are on without need (hardware.md, section 8.1).
 */
#include "powered.h"

#include "model.h"

static bool powered_idle(const struct agate_sim *sim)
{
	return (sim->soc.power_in || card_on(sim)) && !slot_any_active(sim) && !sim->card.busy &&
	       !power_any(sim);
}

void powered_account(struct agate_sim *sim)
{
	struct powered *powered = &sim->powered;

	if (powered->idle)
		sim_count(sim, AGATE_CNT_POWERED_IDLE, sim->time - powered->since);
	powered->since = sim->time;
	powered->idle = powered_idle(sim);
}
