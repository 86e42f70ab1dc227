// SPDX-License-Identifier: MIT
/*
 * VRAM (hardware.md, sections 1.5 and 6.2).
 */
#include "vram.h"

#include <stdlib.h>
#include <string.h>

#include "model.h"

/* Each byte of memory that has lost its supply. */
#define VRAM_POISON	0xa5

/* NULL: nobody answers, because the card has no power. */
static uint8_t *vram_at(struct agate_sim *sim, uint64_t at)
{
	const struct vram *vram = &sim->vram;

	if (sim->card.present && !card_on(sim))
		return NULL;
	return at < vram->visible ? vram->shown + at : vram->hidden + (at - vram->visible);
}

static int vram_read(struct agate_sim *sim, uint64_t at, void *buf, size_t len)
{
	const uint8_t *from = vram_at(sim, at);

	if (!from)
		return -1;
	memcpy(buf, from, len);
	return 0;
}

static int vram_write(struct agate_sim *sim, uint64_t at, const void *buf, size_t len)
{
	uint8_t *to = vram_at(sim, at);

	if (!to)
		return -1;
	memcpy(to, buf, len);
	return 0;
}

static void *vram_map(struct agate_sim *sim, uint64_t at, size_t len)
{
	(void)len;
	return vram_at(sim, at);
}

static int vram_init(struct agate_sim *sim, const struct agate_sim_config *config)
{
	struct vram *vram = &sim->vram;
	struct phys_region region = {
		.first = AGATE_PHYS_VRAM,
		.read = vram_read,
		.write = vram_write,
		.map = vram_map,
	};

	vram->shown = config->vram;
	vram->visible = config->vram_size;
	vram->size = config->card && config->vram_total ? config->vram_total : vram->visible;
	/* An access stays in one page, so it must not find half of it in each part. */
	if (vram->size < vram->visible || vram->size > AGATE_PHYS_VRAM ||
	    (vram->size > vram->visible && vram->visible % GPU_PAGE_SIZE))
		return -1;
	if (vram->size > vram->visible) {
		vram->hidden = calloc(1, vram->size - vram->visible);
		if (!vram->hidden)
			return -1;
	}
	if (!vram->size)
		return 0;
	region.last = AGATE_PHYS_VRAM + vram->size - 1;
	phys_add(sim, &region);
	return 0;
}

static void vram_fini(struct agate_sim *sim)
{
	free(sim->vram.hidden);
}

static void vram_lose(struct agate_sim *sim)
{
	struct vram *vram = &sim->vram;

	if (vram->visible)
		memset(vram->shown, VRAM_POISON, vram->visible);
	if (vram->hidden)
		memset(vram->hidden, VRAM_POISON, vram->size - vram->visible);
}

const struct block vram_block = {
	.init = vram_init,
	.fini = vram_fini,
	.lose = vram_lose,
};
