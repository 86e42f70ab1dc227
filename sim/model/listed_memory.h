/* SPDX-License-Identifier: MIT */
/*
 * Listed memory: a driver may list the ranges that each chain may touch, and the
 * GPU reports when a chain touches anything else.  Nothing depends on it.
 */
#ifndef AGATE_MODEL_LISTED_MEMORY_H
#define AGATE_MODEL_LISTED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_regs.h"
#include "block.h"

struct slot;

/* Runs of unlisted memory that the model remembers and reports for each chain. */
#define LISTED_RUNS	4u

/* Pages of virtual memory, both ends included. */
struct listed_range {
	uint64_t first;
	uint64_t last;
};

struct listed_list {
	bool told;		/* there is a list, perhaps an empty one */
	unsigned int count;
	struct listed_range range[AGATE_LISTED_RANGES];	/* sorted, with gaps between */
};

/* One slot's lists.  Like its chains, they move from made to next to current. */
struct listed {
	uint64_t start;			/* the register */
	struct listed_list made;	/* for the chain that START will queue */
	struct listed_list next;	/* of the queued chain */
	struct listed_list current;	/* of the current chain: */
	unsigned int hit;		/* a guess: the range that it touched last */
	struct listed_range run[LISTED_RUNS];	/* unlisted memory that it touched */
	unsigned int runs;
	unsigned int oldest;		/* the run to replace by the next one */
};

extern const struct block listed_block;

/* Called when a chain is queued, is withdrawn, becomes current. */
void listed_queue(struct listed *listed);
void listed_take_back(struct listed *listed);
void listed_start(struct listed *listed);

/* Check an access to va by the slot's chain, which has a list. */
void listed_judge(struct agate_sim *sim, struct slot *slot, uint64_t va, bool write);

#endif /* AGATE_MODEL_LISTED_MEMORY_H */
