/* SPDX-License-Identifier: MIT */
/*
 * Power domains: L2, shader cores, tiler.  A change takes model time, and the
 * shader cores and the tiler need the L2.
 */
#ifndef AGATE_MODEL_POWER_H
#define AGATE_MODEL_POWER_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"

#define POWER_MAX_CORES		8

enum power_domain_id {
	POWER_SHADER,
	POWER_TILER,
	POWER_L2,
	POWER_DOMAINS,
};

struct power_domain {
	uint32_t present;
	uint32_t ready;
	uint32_t trans;			/* cores in transition, on or off */
	uint32_t failing;		/* those of them that will fail to power up */
	uint64_t due[POWER_MAX_CORES];	/* when their transitions end */
};

struct power {
	struct power_domain domain[POWER_DOMAINS];
	bool watched;			/* the driver polls for the change */
};

extern const struct block power_block;

/* Is the whole L2 on, and not in transition? */
static inline bool power_l2_ready(const struct power *power)
{
	const struct power_domain *l2 = &power->domain[POWER_L2];

	return (l2->ready & ~l2->trans) == l2->present;
}

/* Is any core of any domain on or in transition? */
bool power_any(const struct agate_sim *sim);
/* Switch everything off at once, because the power input went away. */
void power_lose(struct agate_sim *sim);

/* True while the L2 is on or in transition. */
bool power_l2_in_use(const struct agate_sim *sim);

/* Called when protected mode or a new protocol of the L2 begins. */
void power_judge_protected(struct agate_sim *sim);

/* True when the L2 and all of these shader cores (and the tiler) are ready. */
bool power_ready(const struct agate_sim *sim, uint64_t shaders, bool tiler);

#endif /* AGATE_MODEL_POWER_H */
