// SPDX-License-Identifier: MIT
/*
 * The port to a GGTT that lies inside the card (hardware.md, section 6.4).  A commit waits
 * in a write buffer until SYNC or INVALIDATE drains it; a commit too many is dropped.
 */
#include "ggtt.h"

#include <string.h>

#include "model.h"

static void ggtt_store(struct ggtt *ggtt, const struct ggtt_commit *commit)
{
	uint32_t i;

	for (i = 0; i < commit->count; i++)
		ggtt->table[commit->first + i] = commit->entry;
}

void ggtt_drain(struct ggtt *ggtt)
{
	unsigned int i;

	for (i = 0; i < ggtt->port.count; i++)
		ggtt_store(ggtt, &ggtt->port.pending[i]);
	ggtt->port.count = 0;
}

uint64_t ggtt_newest(const struct ggtt *ggtt, uint32_t n)
{
	unsigned int i;

	for (i = ggtt->port.count; i; i--) {
		const struct ggtt_commit *commit = &ggtt->port.pending[i - 1];

		if (n >= commit->first && n - commit->first < commit->count)
			return commit->entry;
	}
	return ggtt_entry(ggtt, n);
}

/* INDEX moves on even if the commit is dropped: the CPU does not know. */
static void ggtt_commit(struct agate_sim *sim, uint32_t count, uint64_t entry)
{
	struct ggtt_port *port = &sim->ggtt.port;
	uint32_t first = port->index, room = AGATE_GGTT_NUM_ENTRIES - first;

	if (count > room) {
		sim_hint(sim, 6, "a commit beyond the last GGTT entry is ignored");
		count = room;
	}
	port->last = entry;
	port->index += count;
	if (!count)
		return;
	if (port->count == AGATE_GGTT_PORT_DEPTH) {
		port->dropped++;
		sim_count(sim, AGATE_CNT_GGTT_DROPPED, 1);
		sim_hint(sim, 6, "more than 64 GGTT commits without a SYNC: dropped");
		return;
	}
	port->pending[port->count++] = (struct ggtt_commit){ first, count, entry };
	port->commits++;
	sim_event(sim, AGATE_EV_GGTT_COMMIT, first, count, entry, NULL);
}

bool ggtt_port_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	const struct ggtt_port *port = &sim->ggtt.port;

	switch (offset) {
	case GGTT_PTE_INDEX:
		*value = port->index;
		return true;
	case GGTT_PTE_LO:
		*value = port->lo;
		return true;
	case GGTT_PTE_HI:
	case GGTT_PTE_REPEAT:
		*value = 0;
		return true;
	case GGTT_SYNC:
		*value = port->dropped;
		return true;
	case GGTT_COMMITS:
		*value = port->commits;
		return true;
	}
	return false;
}

void ggtt_port_was_read(struct agate_sim *sim, uint32_t offset)
{
	if (offset != GGTT_SYNC)
		return;
	ggtt_drain(&sim->ggtt);
	sim->ggtt.port.dropped = 0;
}

bool ggtt_port_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	struct ggtt_port *port = &sim->ggtt.port;

	if (offset < GGTT_PTE_INDEX || offset > GGTT_PTE_REPEAT)
		return false;
	if (!sim->ggtt.own) {
		sim_hint(sim, 6, "GGTT port on a card that has GSM");
		return true;
	}
	switch (offset) {
	case GGTT_PTE_INDEX:
		port->index = value < AGATE_GGTT_NUM_ENTRIES ? value : AGATE_GGTT_NUM_ENTRIES;
		break;
	case GGTT_PTE_LO:
		port->lo = value;
		break;
	case GGTT_PTE_HI:
		ggtt_commit(sim, 1, (uint64_t)value << 32 | port->lo);
		break;
	default:
		ggtt_commit(sim, value, port->last);
		break;
	}
	return true;
}
