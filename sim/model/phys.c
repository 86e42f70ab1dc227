// SPDX-License-Identifier: MIT
/*
 * Physical memory as the GPU sees it (hardware.md, section 1): VRAM belongs to the
 * model, guest RAM to the host, and any other address is a bus fault.
 */
#include <string.h>

#include "model.h"

/* The host address of VRAM at pa, if all len bytes are VRAM; else NULL. */
static uint8_t *phys_vram(struct agate_sim *sim, uint64_t pa, size_t len)
{
	uint64_t offset = pa - AGATE_PHYS_VRAM;

	if (pa < AGATE_PHYS_VRAM || len > sim->vram_size || offset > sim->vram_size - len)
		return NULL;
	return sim->vram + offset;
}

int phys_read(struct agate_sim *sim, uint64_t pa, void *buf, size_t len)
{
	const uint8_t *vram = phys_vram(sim, pa, len);

	if (!vram)
		return sim->ops.mem_read(sim->ctx, pa, buf, len);
	memcpy(buf, vram, len);
	return 0;
}

int phys_write(struct agate_sim *sim, uint64_t pa, const void *buf, size_t len)
{
	uint8_t *vram = phys_vram(sim, pa, len);

	if (!vram)
		return sim->ops.mem_write(sim->ctx, pa, buf, len);
	memcpy(vram, buf, len);
	return 0;
}

static uint8_t *phys_at(struct agate_sim *sim, uint64_t pa, size_t len)
{
	uint8_t *vram = phys_vram(sim, pa, len);

	if (vram || !sim->ops.mem_at)
		return vram;
	return sim->ops.mem_at(sim->ctx, pa, len);
}

int phys_read_entry(struct agate_sim *sim, uint64_t pa, uint64_t *entry)
{
	const uint64_t *at = (const uint64_t *)phys_at(sim, pa, sizeof(*entry));

	if (!at)
		return phys_read(sim, pa, entry, sizeof(*entry));
	*entry = __atomic_load_n(at, __ATOMIC_RELAXED);
	return 0;
}

enum phys_copied phys_copy(struct agate_sim *sim, uint64_t dst, uint64_t src, size_t len)
{
	const uint8_t *from = phys_at(sim, src, len);
	uint8_t *to = phys_at(sim, dst, len);
	uint8_t page[GPU_PAGE_SIZE];

	if (from && to) {
		memmove(to, from, len);
		return PHYS_COPIED;
	}
	if (phys_read(sim, src, page, len))
		return PHYS_NO_SRC;
	return phys_write(sim, dst, page, len) ? PHYS_NO_DST : PHYS_COPIED;
}
