// SPDX-License-Identifier: MIT
/*
 * Counters (hardware.md, section 8): sim_count() counts, here they are read.
 */
#include "counters.h"

#include "model.h"

uint64_t agate_sim_counter(const struct agate_sim *sim, enum agate_counter counter)
{
	return sim->counter[counter] + (counter == AGATE_CNT_BUSY ? slot_busy_since(sim) : 0);
}

static bool counters_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	unsigned int n = (offset - AGATE_COUNTER_BASE) / 8;

	if (n >= AGATE_CNT_COUNT)
		return false;
	*value = reg_half(agate_sim_counter(sim, n), offset & 4);
	return true;
}

static bool counters_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	uint32_t ignored;

	(void)value;
	if (!counters_read(sim, offset, &ignored))
		return false;
	sim_hint(sim, 8, "counters are read-only");
	return true;
}

const struct block counters_block = {
	.first = AGATE_COUNTER_BASE,
	.last = AGATE_LISTED_BASE - 1,
	.read = counters_read,
	.write = counters_write,
	.section = 8,
};
