// SPDX-License-Identifier: MIT
/*
 * The library's interface: create and destroy, model time, and the step that gives
 * each slot its turn.
 */
#include <stdlib.h>

#include "model.h"

struct agate_sim *agate_sim_create(const struct agate_sim_config *config,
				   const struct agate_sim_host_ops *ops, void *ctx)
{
	const struct identity *identity = identity_of(config->gpu);
	struct agate_sim *sim;

	if (!identity || config->coherency > AGATE_SIM_COHERENCY_NONE ||
	    (config->vram_size && !config->vram))
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
	sim->vram = config->vram;
	sim->vram_size = config->vram_size;
	latency_init(sim, config);
	crc32_init(&sim->crc32);
	gpu_init(sim);
	soc_init(sim, !config->power_in_off);
	power_init(sim);
	perf_init(sim);
	slot_init(sim);
	if (l2_init(&sim->l2, config->l2_size ? config->l2_size : identity->l2_size,
		    config->seed) ||
	    mmu_init(sim, config->tlb_entries, config->seed)) {
		agate_sim_destroy(sim);
		return NULL;
	}
	return sim;
}

void agate_sim_destroy(struct agate_sim *sim)
{
	if (!sim)
		return;
	mmu_fini(sim);
	l2_fini(&sim->l2);
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
	gpu_unstick(sim);
}

uint64_t agate_sim_time(const struct agate_sim *sim)
{
	return sim->time;
}

uint64_t agate_sim_counter(const struct agate_sim *sim, enum agate_counter counter)
{
	return sim->counter[counter];
}

uint64_t agate_sim_slot_busy(const struct agate_sim *sim, unsigned int slot)
{
	return sim->slot[slot].busy;
}

void sim_run_due(struct agate_sim *sim)
{
	irq_run_due(sim);
	gpu_run_due(sim);
	power_run_due(sim);
	mmu_run_due(sim);
	perf_run_due(sim);	/* after the commands that it may wait for */
	slot_run_due(sim);
}

/* The earliest transition that somebody waits for, or TIME_NEVER. */
static uint64_t sim_next_due(const struct agate_sim *sim)
{
	uint64_t due = gpu_jump(sim);
	uint64_t other = power_jump(sim);

	if (other < due)
		due = other;
	other = perf_jump(sim);
	if (other < due)
		due = other;
	other = irq_jump(sim);
	if (other < due)
		due = other;
	other = mmu_jump(sim);
	if (other < due)
		due = other;
	other = slot_jump(sim);
	return other < due ? other : due;
}

/* The slot whose turn it is, or NULL when no slot has work. */
static struct slot *sim_next_slot(struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++) {
		struct slot *slot = &sim->slot[(sim->turn + i) % AGATE_MAX_SLOTS];

		if (slot_runnable(slot))
			return slot;
	}
	return NULL;
}

bool agate_sim_step(struct agate_sim *sim, unsigned int budget)
{
	for (; budget; budget--) {
		struct slot *slot = sim_next_slot(sim);
		uint64_t due;

		if (slot) {
			sim->turn = (slot->index + 1) % AGATE_MAX_SLOTS;
			sim->unit++;
			chain_run(sim, slot);
		} else {
			due = sim_next_due(sim);
			if (due == TIME_NEVER)
				return false;
			if (sim->time < due)
				sim->time = due;
		}
		sim_run_due(sim);
	}
	return sim_next_slot(sim) || sim_next_due(sim) != TIME_NEVER;
}
