/* SPDX-License-Identifier: MIT */
/*
 * Clipping of triangles in clip space, where a vertex is still x y z w.
 *
 * The result lies in the viewport's frustum (-w <= x, y <= w, 0 <= z <= w), with w
 * well above zero, so that later code can divide by w.  Two triangles that share an
 * edge get exactly the same new vertices on it, whatever the direction of the edge
 * in each: clipping opens no cracks.
 */
#ifndef AGATE_CLIP_H
#define AGATE_CLIP_H

#include <stdbool.h>

#include "agate_job.h"

/* Each of the seven planes (six of the frustum, and w > 0) adds one at most. */
#define CLIP_MAX_VERTICES	10

/*
 * A vertex that the hardware accepts: every component is a number, of a magnitude
 * that no step of clipping can turn into infinity.
 */
#define CLIP_MAX_MAGNITUDE	0x1p40f
bool clip_vertex_valid(const struct agate_vertex *v);

/* The smallest w that the code divides by. */
#define CLIP_MIN_W		0x1p-40f

/*
 * Clip a triangle of valid vertices into a convex polygon, which starts at the
 * same vertex and turns the same way.  Returns its number of vertices: 0 when
 * nothing is left, 3 and the triangle itself when nothing was cut.
 */
unsigned int clip_triangle(const struct agate_vertex in[3],
			   struct agate_vertex out[CLIP_MAX_VERTICES]);

#endif /* AGATE_CLIP_H */
