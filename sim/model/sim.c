// SPDX-License-Identifier: MIT
/*
 * The library's interface: create and destroy, model time, and the step that gives
 * each engine its turn.
 */
#include <stdlib.h>

#include "model.h"

/* The blocks of the device; transitions that are due at the same time end in this order. */
static const struct block *const blocks[] = {
	&irq_block,
	&gpu_block,
	&identity_block,
	&power_block,
	&l2_block,
	&mmu_block,
	&perfcnt_block,		/* after the commands that it may wait for */
	&slot_block,
	&listed_block,
	&counters_block,
	&soc_block,
	&card_block,		/* before its parts, for which it answers without power */
	&vram_block,
	&ggtt_block,
	&firmware_block,
	&mover_block,
	&scanout_block,
};

struct agate_sim *agate_sim_create(const struct agate_sim_config *config,
				   const struct agate_sim_host_ops *ops, void *ctx)
{
	const struct identity *identity = identity_of(config->gpu);
	struct agate_sim *sim;
	unsigned int i;

	if (!identity || config->coherency > AGATE_SIM_COHERENCY_NONE ||
	    (config->vram_size && !config->vram) || config->dma_bits > AGATE_PHYS_BITS)
		return NULL;
	if (!ops->mem_read || !ops->mem_write || !ops->raise)
		return NULL;
	sim = calloc(1, sizeof(*sim));
	if (!sim)
		return NULL;
	sim->ops = *ops;
	sim->ctx = ctx;
	sim->identity = identity;
	sim->id = config->gpu_id ? config->gpu_id : identity->id;
	sim->coherency = config->coherency;
	phys_init(sim, config);
	latency_init(sim, config);
	crc32_init(&sim->crc32);
	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		if (block_add(sim, blocks[i], config)) {
			agate_sim_destroy(sim);
			return NULL;
		}
	powered_account(sim);
	return sim;
}

void agate_sim_destroy(struct agate_sim *sim)
{
	if (!sim)
		return;
	blocks_fini(sim);
	free(sim);
}

void agate_sim_set_identity(struct agate_sim *sim, enum agate_sim_identity which,
			    uint32_t value)
{
	sim->made_up.said |= 1u << which;
	sim->made_up.identity[which] = value;
}

void agate_sim_set_fault(struct agate_sim *sim, uint32_t status, uint64_t address)
{
	sim->made_up.fault_status = status;
	sim->made_up.fault_address = address;
}

void agate_sim_restore(struct agate_sim *sim)
{
	latency_restore(sim);
	sim->made_up = (struct gpu_made_up){ 0 };
	agate_sim_inject_none(sim);
	agate_sim_power_cut(sim, false);
	gpu_unstick(sim);
	firmware_unstick(sim);
	scanout_unstick(sim);
}

uint64_t agate_sim_time(const struct agate_sim *sim)
{
	return sim->time;
}

uint64_t agate_sim_slot_busy(const struct agate_sim *sim, unsigned int slot)
{
	return sim->slot[slot].busy;
}

bool agate_sim_idle(struct agate_sim *sim, uint64_t cycles)
{
	const uint64_t end = sim->time + cycles;

	if (blocks_next_engine(sim))
		return false;
	/* From one transition to the next, because each may end a need of power. */
	do {
		uint64_t due = blocks_next_due(sim, true);

		sim->time = due > sim->time && due < end ? due : end;
		blocks_run_due(sim);
		powered_account(sim);
	} while (sim->time < end);
	return true;
}

bool agate_sim_step(struct agate_sim *sim, unsigned int budget)
{
	for (; budget; budget--) {
		const struct engine *engine = blocks_next_engine(sim);
		uint64_t due;

		if (engine) {
			sim->turn = engine - sim->engine + 1;
			sim->unit++;
			engine->block->run(sim, engine->n);
		} else {
			due = blocks_next_due(sim, false);
			if (due == TIME_NEVER)
				return false;
			if (sim->time < due)
				sim->time = due;
		}
		blocks_run_due(sim);
		powered_account(sim);
	}
	return blocks_next_engine(sim) || blocks_next_due(sim, false) != TIME_NEVER;
}
