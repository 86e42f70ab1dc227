/* SPDX-License-Identifier: MIT */
/*
 * Blocks: what the device is made of.
 *
 * A block has registers, transitions that end at a due time, or engines, which do units of
 * work in turn; or several of these.  Each block is one file with one struct block, and
 * sim.c lists them.  A block leaves NULL what it does not have: read and write, run_due and
 * next_due, or runnable and run.
 */
#ifndef AGATE_MODEL_BLOCK_H
#define AGATE_MODEL_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_sim.h"

struct block {
	/*
	 * Called once each; init returns -1 when memory ran out or config makes no sense,
	 * and fini follows all the same.
	 */
	int (*init)(struct agate_sim *sim, const struct agate_sim_config *config);
	void (*fini)(struct agate_sim *sim);

	/* Called by each reset of the GPU. */
	void (*reset)(struct agate_sim *sim);
	/* Called when the card loses its power. */
	void (*lose)(struct agate_sim *sim);

	/*
	 * Registers: offsets first to last.  Another block may have registers in between, so
	 * read and write return false for an offset that is not a register of this one.
	 * write may leave out registers that read has: writes to them are ignored, with a hint.
	 * read only looks, because a write that is refused asks it, too; was_read, which may be
	 * NULL, does what a driver's read does besides.
	 */
	uint32_t first;
	uint32_t last;
	bool (*read)(struct agate_sim *sim, uint32_t offset, uint32_t *value);
	void (*was_read)(struct agate_sim *sim, uint32_t offset);
	bool (*write)(struct agate_sim *sim, uint32_t offset, uint32_t value);
	unsigned int section;	/* of hardware.md */
	bool beside_gpu;	/* not a part of it: it takes writes while the GPU is in reset */

	/* Complete every transition whose time has come. */
	void (*run_due)(struct agate_sim *sim);
	/* The earliest transition of all, or that somebody waits for; or TIME_NEVER. */
	uint64_t (*next_due)(const struct agate_sim *sim, bool all);

	/* Engines: does the n-th have work, and do one unit of it. */
	unsigned int engines;
	bool (*runnable)(const struct agate_sim *sim, unsigned int n);
	void (*run)(struct agate_sim *sim, unsigned int n);
};

/* One engine of a block. */
struct engine {
	const struct block *block;
	unsigned int n;
};

#define MAX_BLOCKS	20
#define MAX_ENGINES	8

/* Make a block a part of this device; returns what its init returns. */
int block_add(struct agate_sim *sim, const struct block *block,
	      const struct agate_sim_config *config);

/* The following call all blocks of a device, in the order in which they were added. */
void blocks_fini(struct agate_sim *sim);
void blocks_reset(struct agate_sim *sim);
void blocks_lose(struct agate_sim *sim);
void blocks_run_due(struct agate_sim *sim);
uint64_t blocks_next_due(const struct agate_sim *sim, bool all);

/* The engine whose turn it is to do a unit of work, or NULL when none has any. */
const struct engine *blocks_next_engine(struct agate_sim *sim);

#endif /* AGATE_MODEL_BLOCK_H */
