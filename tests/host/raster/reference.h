/* SPDX-License-Identifier: MIT */
/*
 * A rasteriser that shares nothing with the model: no clipping, no snapping, no
 * tiles, no fixed point.  For each pixel it asks of each triangle, in double
 * precision and in homogeneous coordinates, whether the pixel's ray meets it.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>

#include "agate_job.h"

struct reference_pixel {
	bool unsure;		/* too near an edge, or two depths too near */
	double depth;
	double color[4];	/* r g b a, 0..1 */
};

/* The nearest of count triangles at a pixel of a width x height viewport. */
struct reference_pixel reference_pixel(const struct agate_vertex *v, unsigned int count,
				       unsigned int width, unsigned int height,
				       unsigned int x, unsigned int y,
				       const struct reference_pixel *clear);

#endif /* REFERENCE_H */
