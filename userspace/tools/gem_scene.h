/* SPDX-License-Identifier: MIT */
/*
 * One frame in the GPU's format: vertices in clip space, and triangles.
 *
 * It is independent of the GPU's memory and jobs, so anything can draw it.
 */
#ifndef GEM_SCENE_H
#define GEM_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_job.h"
#include "gem_math.h"

#define GEM_SCENE_VERTICES	24576
#define GEM_SCENE_INDICES	49152

struct gem_scene {
	struct agate_vertex vertex[GEM_SCENE_VERTICES];
	uint32_t index[GEM_SCENE_INDICES];
	uint32_t vertices, indices;
	bool full;		/* something did not fit and was left out */
};

/* A corner: in clip space, and the light that is seen there (linear). */
struct gem_corner {
	double x, y, z, w;
	struct vec3 light;
};

/* Add a convex polygon, as a fan from its first corner. */
void gem_scene_polygon(struct gem_scene *scene, const struct gem_corner *corner,
		       unsigned int count);

/*
 * Build the frame in which the stone has turned by turns (0..1) about its axis.
 * The picture is square.  Returns 0, or -1 when it does not fit the arrays.
 */
int gem_scene_build(struct gem_scene *scene, double turns);

#endif /* GEM_SCENE_H */
