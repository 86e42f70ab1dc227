/* SPDX-License-Identifier: MIT */
/*
 * Supplies that are on without need: the counter powered_idle.
 */
#ifndef AGATE_MODEL_POWERED_H
#define AGATE_MODEL_POWERED_H

#include <stdbool.h>
#include <stdint.h>

struct agate_sim;

struct powered {
	bool idle;		/* since then a supply has been on and nothing needed it */
	uint64_t since;
};

/*
 * Call it after each access, each unit of work, each transition while the GPU is idle, and each
 * change of the supply: the state changes only in these.
 */
void powered_account(struct agate_sim *sim);

#endif /* AGATE_MODEL_POWERED_H */
