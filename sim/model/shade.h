/* SPDX-License-Identifier: MIT */
/*
 * A tile as the shader core holds it, and drawing primitives into it.
 */
#ifndef AGATE_SHADE_H
#define AGATE_SHADE_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_job.h"

struct shade_tile {
	uint32_t x, y;			/* in tiles */
	uint32_t width, height;		/* pixels of it inside the framebuffer */
	/* Pixels as they stand in memory: byte 0 is the lowest. */
	uint32_t color[AGATE_TILE_SIZE][AGATE_TILE_SIZE];
	float depth[AGATE_TILE_SIZE][AGATE_TILE_SIZE];
};

/* What memory may hold as a pixel; components are clamped to 0..1, NaN to 0. */
uint32_t shade_pack(enum agate_format format, float r, float g, float b, float a);

/*
 * Whether p can be one that TILER wrote: snapped coordinates in range, depths
 * in 0..1, 1/w above zero, and no number so large that shading it overflows.
 */
bool shade_primitive_valid(const struct agate_tiler_primitive *p);

/*
 * Draw a valid primitive.  With depth_test only the pixels nearer than what is
 * stored are drawn, and their depth is kept.  Returns how many were drawn.
 */
unsigned int shade_primitive(struct shade_tile *tile, const struct agate_tiler_primitive *p,
			     enum agate_format format, bool depth_test);

#endif /* AGATE_SHADE_H */
