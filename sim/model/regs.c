// SPDX-License-Identifier: MIT
/*
 * Register dispatch: each access costs a bus cycle, completes transitions that are
 * due, and then goes to its block.
 */
#include "model.h"

static void regs_begin(struct agate_sim *sim)
{
	sim->time++;
	sim_run_due(sim);
}

static void regs_end(struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i <= AGATE_VECTOR_MMU; i++)
		irq_watch(sim, &sim->irq[i]);
}

static bool counter_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	unsigned int n = (offset - AGATE_COUNTER_BASE) / 8;

	if (n >= AGATE_CNT_COUNT)
		return false;
	*value = reg_half(sim->counter[n], offset & 4);
	return true;
}

static bool block_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	if (offset % 4)
		return false;
	if (offset < JOB_INT_RAWSTAT)
		return gpu_read(sim, offset, value);
	if (offset < MMU_INT_RAWSTAT)
		return slot_read(sim, offset, value);
	if (offset < MMU_INT_RAWSTAT + 0x1000)
		return mmu_read(sim, offset, value);
	if (offset >= AGATE_SOC_BASE)
		return soc_read(sim, offset, value);
	if (offset >= AGATE_LISTED_BASE)
		return listed_read(sim, offset, value);
	return offset >= AGATE_COUNTER_BASE && counter_read(sim, offset, value);
}

static bool block_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	uint32_t ignored;

	if (offset % 4)
		return false;
	if (offset < JOB_INT_RAWSTAT)
		return gpu_write(sim, offset, value);
	if (offset < MMU_INT_RAWSTAT)
		return slot_write(sim, offset, value);
	if (offset < MMU_INT_RAWSTAT + 0x1000)
		return mmu_write(sim, offset, value);
	if (offset >= AGATE_SOC_BASE)
		return soc_write(sim, offset, value);
	if (offset >= AGATE_LISTED_BASE)
		return listed_write(sim, offset, value);
	if (offset < AGATE_COUNTER_BASE || !counter_read(sim, offset, &ignored))
		return false;
	sim_hint(sim, 8, "counters are read-only");
	return true;
}

void agate_sim_write32(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	regs_begin(sim);
	sim_event(sim, AGATE_EV_REG_WRITE, offset, value, 0, NULL);
	sim->accessed = offset + 1;
	if (gpu_is_deaf(&sim->gpu, offset, value))
		sim_hint(sim, 2, "a write before RESET_COMPLETED is lost");
	else if (!block_write(sim, offset, value))
		sim_hint(sim, 1, "a write to an unaligned or unknown register is ignored");
	sim->accessed = 0;
	regs_end(sim);
}

uint32_t agate_sim_read32(struct agate_sim *sim, uint32_t offset)
{
	uint32_t value = 0;

	regs_begin(sim);
	sim->accessed = offset + 1;
	if (!block_read(sim, offset, &value))
		sim_hint(sim, 1, "a read of an unaligned or unknown register gives 0");
	sim->accessed = 0;
	sim_event(sim, AGATE_EV_REG_READ, offset, value, 0, NULL);
	regs_end(sim);
	return value;
}
