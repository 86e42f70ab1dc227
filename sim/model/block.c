// SPDX-License-Identifier: MIT
/*
 * All blocks at once (block.h).
 */
#include "block.h"

#include <assert.h>

#include "model.h"

int block_add(struct agate_sim *sim, const struct block *block,
	      const struct agate_sim_config *config)
{
	unsigned int n;

	assert(sim->blocks < MAX_BLOCKS && sim->engines + block->engines <= MAX_ENGINES);
	sim->block[sim->blocks++] = block;
	if (block->run_due)
		sim->timed[sim->timed_blocks++] = block;
	for (n = 0; n < block->engines; n++)
		sim->engine[sim->engines++] = (struct engine){ block, n };
	return block->init ? block->init(sim, config) : 0;
}

void blocks_fini(struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i < sim->blocks; i++)
		if (sim->block[i]->fini)
			sim->block[i]->fini(sim);
}

void blocks_reset(struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i < sim->blocks; i++)
		if (sim->block[i]->reset)
			sim->block[i]->reset(sim);
}

void blocks_lose(struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i < sim->blocks; i++)
		if (sim->block[i]->lose)
			sim->block[i]->lose(sim);
}

void blocks_run_due(struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i < sim->timed_blocks; i++)
		sim->timed[i]->run_due(sim);
}

uint64_t blocks_next_due(const struct agate_sim *sim, bool all)
{
	uint64_t due = TIME_NEVER;
	unsigned int i;

	for (i = 0; i < sim->timed_blocks; i++) {
		uint64_t other = sim->timed[i]->next_due(sim, all);

		if (other < due)
			due = other;
	}
	return due;
}

const struct engine *blocks_next_engine(struct agate_sim *sim)
{
	const struct engine *end = sim->engine + sim->engines;
	const struct engine *engine = sim->engine + sim->turn;
	unsigned int i;

	for (i = 0; i < sim->engines; i++, engine++) {
		if (engine == end)
			engine = sim->engine;
		if (engine->block->runnable(sim, engine->n))
			return engine;
	}
	return NULL;
}
