// SPDX-License-Identifier: MIT
/*
 * Physical memory (hardware.md, section 1): the table of regions, and the first of them,
 * guest RAM, which belongs to the host.
 */
#include "phys.h"

#include <assert.h>
#include <string.h>

#include "model.h"

/* ---- Guest RAM --------------------------------------------------------------- */

static int ram_read(struct agate_sim *sim, uint64_t at, void *buf, size_t len)
{
	return sim->ops.mem_read(sim->ctx, at, buf, len);
}

static int ram_write(struct agate_sim *sim, uint64_t at, const void *buf, size_t len)
{
	return sim->ops.mem_write(sim->ctx, at, buf, len);
}

static void *ram_map(struct agate_sim *sim, uint64_t at, size_t len)
{
	return sim->ops.mem_at ? sim->ops.mem_at(sim->ctx, at, len) : NULL;
}

/* ---- The table --------------------------------------------------------------- */

void phys_add(struct agate_sim *sim, const struct phys_region *region)
{
	assert(sim->phys.regions < PHYS_MAX_REGIONS && region->first <= region->last);
	sim->phys.region[sim->phys.regions++] = *region;
}

/* System addresses that masters can name, by their bits: the others have nobody behind them. */
static uint64_t ram_last(const struct agate_sim_config *config)
{
	unsigned int bits = config->card ? config->dma_bits : 0;
	uint64_t last = AGATE_PHYS_VRAM - 1;

	return bits && (1ull << bits) - 1 < last ? (1ull << bits) - 1 : last;
}

void phys_init(struct agate_sim *sim, const struct agate_sim_config *config)
{
	const struct phys_region ram = {
		.first = 0,	/* the host knows which parts of it exist */
		.last = ram_last(config),
		.line_cycles = config->ram_line_cycles || !config->card ?
			       config->ram_line_cycles : CARD_RAM_LINE_CYCLES,
		.read = ram_read,
		.write = ram_write,
		.map = ram_map,
	};

	phys_add(sim, &ram);
}

/* The region that has all of these bytes, or NULL. */
static const struct phys_region *phys_find(const struct agate_sim *sim, uint64_t pa, size_t len)
{
	unsigned int i;

	for (i = 0; i < sim->phys.regions; i++) {
		const struct phys_region *region = &sim->phys.region[i];

		if (pa >= region->first && pa <= region->last && len - 1 <= region->last - pa)
			return region;
	}
	return NULL;
}

int phys_read(struct agate_sim *sim, uint64_t pa, void *buf, size_t len)
{
	const struct phys_region *region = phys_find(sim, pa, len);

	return region ? region->read(sim, pa - region->first, buf, len) : -1;
}

int phys_write(struct agate_sim *sim, uint64_t pa, const void *buf, size_t len)
{
	const struct phys_region *region = phys_find(sim, pa, len);

	return region ? region->write(sim, pa - region->first, buf, len) : -1;
}

static void *phys_map(struct agate_sim *sim, uint64_t pa, size_t len)
{
	const struct phys_region *region = phys_find(sim, pa, len);

	return region && region->map ? region->map(sim, pa - region->first, len) : NULL;
}

int phys_read_entry(struct agate_sim *sim, uint64_t pa, uint64_t *entry)
{
	const uint64_t *at = phys_map(sim, pa, sizeof(*entry));

	if (!at)
		return phys_read(sim, pa, entry, sizeof(*entry));
	*entry = __atomic_load_n(at, __ATOMIC_RELAXED);
	return 0;
}

int phys_write_entry(struct agate_sim *sim, uint64_t pa, uint64_t entry)
{
	uint64_t *at = phys_map(sim, pa, sizeof(entry));

	if (!at)
		return phys_write(sim, pa, &entry, sizeof(entry));
	__atomic_store_n(at, entry, __ATOMIC_RELEASE);
	return 0;
}

enum phys_copied phys_copy(struct agate_sim *sim, uint64_t dst, uint64_t src, size_t len)
{
	const void *from = phys_map(sim, src, len);
	void *to = phys_map(sim, dst, len);
	uint8_t page[GPU_PAGE_SIZE];

	if (from && to) {
		memmove(to, from, len);
		return PHYS_COPIED;
	}
	if (phys_read(sim, src, page, len))
		return PHYS_NO_SRC;
	return phys_write(sim, dst, page, len) ? PHYS_NO_DST : PHYS_COPIED;
}

/* Little-endian, like the GPU and every supported host. */
static void fill_words(uint64_t *to, uint64_t value, size_t len)
{
	size_t i;

	for (i = 0; i < len / sizeof(value); i++)
		to[i] = value;
}

int phys_fill(struct agate_sim *sim, uint64_t pa, uint64_t value, size_t len)
{
	uint64_t page[GPU_PAGE_SIZE / sizeof(value)];
	uint64_t *to = phys_map(sim, pa, len);

	fill_words(to ? to : page, value, len);
	return to ? 0 : phys_write(sim, pa, page, len);
}

unsigned int phys_cycles(const struct agate_sim *sim, uint64_t pa, size_t len)
{
	const struct phys_region *region = phys_find(sim, pa, len);

	if (!region || !region->line_cycles)
		return 0;
	return region->line_cycles * ((pa + len - 1) / L2_LINE - pa / L2_LINE + 1);
}

int agate_sim_crc_phys(struct agate_sim *sim, uint64_t pa, uint64_t len, uint32_t *crc)
{
	uint8_t page[GPU_PAGE_SIZE];

	*crc = UINT32_MAX;
	while (len) {
		size_t left = GPU_PAGE_SIZE - pa % GPU_PAGE_SIZE;
		size_t part = len < left ? len : left;

		if (phys_read(sim, pa, page, part))
			return -1;
		*crc = crc32_update(&sim->crc32, *crc, page, part);
		pa += part;
		len -= part;
	}
	*crc = ~*crc;
	return 0;
}
