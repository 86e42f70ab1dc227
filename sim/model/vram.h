/* SPDX-License-Identifier: MIT */
/*
 * VRAM: a region of physical memory.  BAR2 shows the first part of it, perhaps all; the
 * rest is in the simulator's own memory.
 */
#ifndef AGATE_MODEL_VRAM_H
#define AGATE_MODEL_VRAM_H

#include <stdint.h>

#include "block.h"

struct vram {
	uint64_t size;		/* all of it ... */
	uint64_t visible;	/* ... and what BAR2 shows */
	uint8_t *shown;		/* visible bytes */
	uint8_t *hidden;	/* the others, or NULL */
};

/* No registers. */
extern const struct block vram_block;

#endif /* AGATE_MODEL_VRAM_H */
