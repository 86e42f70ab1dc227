// SPDX-License-Identifier: MIT
/*
 * Translation by the GGTT (hardware.md, section 6.3): the table, its cache, the range that
 * engines may use, and the checks of an entry.
 *
 * An engine uses a cached entry however old it is; a comparison with the table only serves
 * to report that the driver forgot INVALIDATE.
 */
#include "ggtt.h"

#include <stdlib.h>
#include <string.h>

#include "model.h"

#define GGTT_POISON	0xa5

static bool ggtt_uses_port(const struct agate_sim *sim)
{
	return sim->card.features & CARD_FEATURE_GGTT_PORT;
}

static void ggtt_forget_outside(struct ggtt *ggtt)
{
	ggtt->outside[GGTT_READ] = GGTT_OUTSIDE / GGTT_PAGE;
	ggtt->outside[GGTT_WRITE] = GGTT_OUTSIDE / GGTT_PAGE;
}

static int ggtt_init(struct agate_sim *sim, const struct agate_sim_config *config)
{
	struct ggtt *ggtt = &sim->ggtt;

	if (!sim->card.present)
		return 0;
	ggtt->own = ggtt_uses_port(sim);
	ggtt_forget_outside(ggtt);
	/* Any odd constant will do: the generator must not start at 0. */
	ggtt->noise = config->seed ? config->seed : 0x9e3779b9;
	if (!ggtt->own && (!config->gsm || config->gsm_size < GGTT_TABLE_SIZE))
		return -1;
	ggtt->table = ggtt->own ? calloc(1, GGTT_TABLE_SIZE) : config->gsm;
	ggtt->cached = calloc(AGATE_GGTT_NUM_ENTRIES, sizeof(*ggtt->cached));
	return ggtt->table && ggtt->cached ? 0 : -1;
}

static void ggtt_fini(struct agate_sim *sim)
{
	if (sim->ggtt.own)
		free(sim->ggtt.table);
	free(sim->ggtt.cached);
}

static void ggtt_forget(struct ggtt *ggtt)
{
	memset(ggtt->cached, 0, AGATE_GGTT_NUM_ENTRIES * sizeof(*ggtt->cached));
}

static void ggtt_lose(struct agate_sim *sim)
{
	struct ggtt *ggtt = &sim->ggtt;

	memset(ggtt->table, GGTT_POISON, GGTT_TABLE_SIZE);
	ggtt_forget(ggtt);
	ggtt->usable_start = 0;
	ggtt_forget_outside(ggtt);
	ggtt->port = (struct ggtt_port){ 0 };
}

/* ---- Translation ------------------------------------------------------------- */

/* The entry as the engines know it; sets *stale if the table has another one. */
static uint64_t ggtt_use(struct agate_sim *sim, uint32_t n, bool *stale)
{
	struct ggtt *ggtt = &sim->ggtt;
	struct ggtt_cached *cached = &ggtt->cached[n];

	if (!cached->valid)
		*cached = (struct ggtt_cached){ .entry = ggtt_entry(ggtt, n), .valid = true };
	if (cached->entry == ggtt_newest(ggtt, n))
		return cached->entry;
	*stale = true;
	if (!cached->reported)
		sim_hint(sim, 6, "a GGTT entry was used that changed without INVALIDATE");
	cached->reported = true;
	return cached->entry;
}

static enum agate_mover_reason ggtt_check(struct agate_sim *sim, uint64_t entry, unsigned int vf)
{
	uint64_t known = AGATE_GGTT_PRESENT | AGATE_GGTT_VRAM | AGATE_GGTT_VF(0x3ff) |
			 AGATE_GGTT_ADDR;

	if (sim->card.features & CARD_FEATURE_GGTT_PAT)
		known |= AGATE_GGTT_PAT(3);
	if (!(entry & AGATE_GGTT_PRESENT))
		return AGATE_REASON_ENTRY;
	if (entry & ~known) {
		sim_hint(sim, 6, "a GGTT entry has reserved bits");
		return AGATE_REASON_ENTRY;
	}
	return AGATE_GGTT_VF_OF(entry) == vf ? AGATE_REASON_NONE : AGATE_REASON_VF;
}

/* Do all entries of the group make one piece of 64 KiB in VRAM? */
static bool ggtt_group_whole(struct agate_sim *sim, uint32_t n, bool *stale)
{
	uint32_t first = n - n % AGATE_GGTT_GROUP;
	uint64_t base = ggtt_use(sim, first, stale) & AGATE_GGTT_ADDR;
	uint32_t i;

	if (base % (AGATE_GGTT_GROUP * GGTT_PAGE))
		return false;
	for (i = 0; i < AGATE_GGTT_GROUP; i++) {
		uint64_t entry = ggtt_use(sim, first + i, stale);

		if ((entry & (AGATE_GGTT_PRESENT | AGATE_GGTT_VRAM)) !=
		    (AGATE_GGTT_PRESENT | AGATE_GGTT_VRAM) ||
		    (entry & AGATE_GGTT_ADDR) != base + i * GGTT_PAGE)
			return false;
	}
	return true;
}

/*
 * Report each run of pages outside the usable range once.  A copy reads one run and writes
 * another one, by turns.
 */
static bool ggtt_is_outside(struct agate_sim *sim, uint64_t addr, enum ggtt_access access)
{
	struct ggtt *ggtt = &sim->ggtt;
	uint32_t start = ggtt->usable_start ? ggtt->usable_start : GGTT_RESERVED_BYTES;
	uint64_t page = addr / GGTT_PAGE;

	if (addr >= start && addr < GGTT_END)
		return false;
	if (page != ggtt->outside[access] && page != ggtt->outside[access] + 1)
		sim_hint(sim, 6, "an address outside the usable GGTT");
	ggtt->outside[access] = page;
	return true;
}

/* An address in the usable range. */
static enum agate_mover_reason ggtt_find(struct agate_sim *sim, uint64_t addr, unsigned int vf,
					 uint64_t *pa, bool *stale)
{
	uint32_t n = addr / GGTT_PAGE;
	uint64_t entry = ggtt_use(sim, n, stale);
	enum agate_mover_reason reason = ggtt_check(sim, entry, vf);

	if (reason != AGATE_REASON_NONE)
		return reason;
	if ((entry & AGATE_GGTT_VRAM) && (sim->card.features & CARD_FEATURE_GGTT_64K) &&
	    !ggtt_group_whole(sim, n, stale))
		return AGATE_REASON_GROUP;
	*pa = (entry & AGATE_GGTT_ADDR) + addr % GGTT_PAGE;
	if (entry & AGATE_GGTT_VRAM)
		*pa += AGATE_PHYS_VRAM;
	else if (*pa >= AGATE_PHYS_VRAM)
		return AGATE_REASON_BUS;	/* VRAM is no system memory */
	return AGATE_REASON_NONE;
}

enum agate_mover_reason ggtt_translate(struct agate_sim *sim, uint64_t addr, unsigned int vf,
				       enum ggtt_access access, uint64_t *pa)
{
	enum agate_mover_reason reason;
	bool stale = false;

	*pa = GGTT_OUTSIDE;
	if (ggtt_is_outside(sim, addr, access))
		return AGATE_REASON_NONE;
	reason = ggtt_find(sim, addr, vf, pa, &stale);
	if (stale)
		sim_count(sim, AGATE_CNT_GGTT_STALE, 1);
	return reason;
}

void ggtt_noise(struct agate_sim *sim, void *buf, size_t len)
{
	struct ggtt *ggtt = &sim->ggtt;
	uint8_t *to = buf;

	while (len--) {
		ggtt->noise ^= ggtt->noise << 13;
		ggtt->noise ^= ggtt->noise >> 17;
		ggtt->noise ^= ggtt->noise << 5;
		*to++ = ggtt->noise >> 24;
	}
}

enum agate_mover_reason ggtt_read(struct agate_sim *sim, uint64_t addr, unsigned int vf,
				  void *buf, size_t len)
{
	enum agate_mover_reason reason;
	uint64_t pa;

	reason = ggtt_translate(sim, addr, vf, GGTT_READ, &pa);
	if (reason != AGATE_REASON_NONE)
		return reason;
	if (pa == GGTT_OUTSIDE)
		ggtt_noise(sim, buf, len);
	else if (phys_read(sim, pa, buf, len))
		return AGATE_REASON_BUS;
	return AGATE_REASON_NONE;
}

enum agate_mover_reason ggtt_write(struct agate_sim *sim, uint64_t addr, unsigned int vf,
				   const void *buf, size_t len)
{
	enum agate_mover_reason reason;
	uint64_t pa;

	reason = ggtt_translate(sim, addr, vf, GGTT_WRITE, &pa);
	if (reason != AGATE_REASON_NONE)
		return reason;
	if (pa != GGTT_OUTSIDE && phys_write(sim, pa, buf, len))
		return AGATE_REASON_BUS;
	return AGATE_REASON_NONE;
}

/* ---- Registers ---------------------------------------------------------------- */

void ggtt_set_usable(struct agate_sim *sim, uint32_t start)
{
	sim->ggtt.usable_start = start;
}

static bool ggtt_block_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	switch (offset) {
	case GGTT_ENTRIES:
		*value = AGATE_GGTT_NUM_ENTRIES;
		return true;
	case GGTT_RESERVED_MAX:
		*value = GGTT_RESERVED_BYTES;
		return true;
	case GGTT_USABLE_START:
		*value = sim->ggtt.usable_start;
		return true;
	case GGTT_USABLE_END:
		*value = GGTT_END;
		return true;
	case GGTT_INVALIDATE:
		*value = 0;
		return true;
	}
	return ggtt_port_read(sim, offset, value);
}

static bool ggtt_block_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	if (offset != GGTT_INVALIDATE)
		return ggtt_port_write(sim, offset, value);
	ggtt_drain(&sim->ggtt);
	ggtt_forget(&sim->ggtt);
	sim_event(sim, AGATE_EV_GGTT_INVALIDATE, 0, 0, 0, NULL);
	return true;
}

const struct block ggtt_block = {
	.init = ggtt_init,
	.fini = ggtt_fini,
	.lose = ggtt_lose,
	.first = GGTT_ENTRIES,
	.last = GGTT_COMMITS,
	.read = ggtt_block_read,
	.was_read = ggtt_port_was_read,
	.write = ggtt_block_write,
	.section = 6,
	.beside_gpu = true,
};

/* ---- What the launcher asks ------------------------------------------------- */

int agate_sim_crc_ggtt(struct agate_sim *sim, uint32_t first, uint32_t count, uint32_t *crc)
{
	const struct ggtt *ggtt = &sim->ggtt;
	uint32_t i;

	if (!sim->card.present || first > AGATE_GGTT_NUM_ENTRIES ||
	    count > AGATE_GGTT_NUM_ENTRIES - first)
		return -1;
	*crc = UINT32_MAX;
	for (i = first; i < first + count; i++) {
		uint64_t entry = ggtt_entry(ggtt, i);

		*crc = crc32_update(&sim->crc32, *crc, &entry, sizeof(entry));
	}
	*crc = ~*crc;
	return 0;
}
