// SPDX-License-Identifier: MIT
/*
 * Register dispatch: each access costs a bus cycle, completes transitions that are
 * due, and then goes to the block that has the register.
 */
#include "model.h"

static void regs_begin(struct agate_sim *sim)
{
	sim->time++;
	blocks_run_due(sim);
}

static void regs_end(struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i < AGATE_NUM_VECTORS; i++)
		irq_watch(sim, &sim->irq[i]);
	powered_account(sim);
}

static bool block_spans(const struct block *block, uint32_t offset)
{
	return block->read && offset >= block->first && offset <= block->last;
}

/* The block that has this register, and its value; NULL: there is no such register. */
static const struct block *regs_look(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	unsigned int i;

	if (offset % 4)
		return NULL;
	for (i = 0; i < sim->blocks; i++)
		if (block_spans(sim->block[i], offset) &&
		    sim->block[i]->read(sim, offset, value))
			return sim->block[i];
	return NULL;
}

static bool regs_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	unsigned int i;

	if (offset % 4)
		return false;
	for (i = 0; i < sim->blocks; i++)
		if (block_spans(sim->block[i], offset) && sim->block[i]->write &&
		    sim->block[i]->write(sim, offset, value))
			return true;
	return false;
}

/*
 * On silicon nobody would answer, and the bus might hang.  The card and the system around the
 * GPU have power of their own; the counters and lists exist only in the model.
 */
static void regs_judge_power(struct agate_sim *sim, uint32_t offset)
{
	if (!sim->soc.power_in && offset < CARD_BASE)
		sim_hint(sim, 7, "a register of the GPU was used while POWER_IN is off");
}

/* A write that no block has taken. */
static void regs_refuse(struct agate_sim *sim, uint32_t offset)
{
	const struct block *block;
	uint32_t ignored;

	block = regs_look(sim, offset, &ignored);
	if (block)
		sim_hint(sim, block->section, "a write to a read-only register is ignored");
	else
		sim_hint(sim, 1, "a write to an unaligned or unknown register is ignored");
}

/* Does a reset in progress make the GPU lose this write? */
static bool regs_deaf(const struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	unsigned int i;

	if (!gpu_is_deaf(&sim->gpu, offset, value))
		return false;
	for (i = 0; i < sim->blocks; i++)
		if (sim->block[i]->beside_gpu && block_spans(sim->block[i], offset))
			return false;
	return true;
}

void agate_sim_write32(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	regs_begin(sim);
	sim_event(sim, AGATE_EV_REG_WRITE, offset, value, 0, NULL);
	sim->accessed = offset + 1;
	regs_judge_power(sim, offset);
	if (regs_deaf(sim, offset, value))
		sim_hint(sim, 2, "a write before RESET_COMPLETED is lost");
	else if (!regs_write(sim, offset, value))
		regs_refuse(sim, offset);
	sim->accessed = 0;
	regs_end(sim);
}

uint32_t agate_sim_read32(struct agate_sim *sim, uint32_t offset)
{
	const struct block *block;
	uint32_t value = 0;

	regs_begin(sim);
	sim->accessed = offset + 1;
	regs_judge_power(sim, offset);
	block = regs_look(sim, offset, &value);
	if (block && block->was_read)
		block->was_read(sim, offset);
	if (!block)
		sim_hint(sim, 1, "a read of an unaligned or unknown register gives 0");
	sim->accessed = 0;
	sim_event(sim, AGATE_EV_REG_READ, offset, value, 0, NULL);
	regs_end(sim);
	return value;
}
