/* SPDX-License-Identifier: MIT */
/*
 * A tile in the shader core, and drawing primitives into it.
 */
#ifndef AGATE_SHADE_H
#define AGATE_SHADE_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_job.h"

struct shade_tile {
	uint32_t x, y;			/* in tiles */
	uint32_t width, height;		/* pixels of it inside the framebuffer */
	/* Pixels in their memory format: byte 0 is the lowest. */
	uint32_t color[AGATE_TILE_SIZE][AGATE_TILE_SIZE];
	float depth[AGATE_TILE_SIZE][AGATE_TILE_SIZE];
};

/* Convert a colour to a pixel in memory; components are clamped to 0..1, NaN to 0. */
uint32_t shade_pack(enum agate_format format, float r, float g, float b, float a);

/*
 * Can TILER have written p?  It has snapped coordinates in range, depths in 0..1,
 * 1/w above zero, and no number so large that shading would overflow.
 */
bool shade_primitive_valid(const struct agate_tiler_primitive *p);

/*
 * Draw a valid primitive.  With depth_test, draw only pixels that are nearer than
 * the stored depth, and store theirs.  Returns the number of drawn pixels.
 */
unsigned int shade_primitive(struct shade_tile *tile, const struct agate_tiler_primitive *p,
			     enum agate_format format, bool depth_test);

#endif /* AGATE_SHADE_H */
