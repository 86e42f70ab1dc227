/* SPDX-License-Identifier: MIT */
/*
 * The view through a facet: the beam that enters it, split where the facets behind
 * it end.
 *
 * In a cut stone, the far facets are mirrored in one another.  The GPU has no
 * refraction and no blending, so the program computes these mirror images as
 * geometry: it cuts each visible facet into patches, such that all rays through one
 * patch meet the same facets inside, in the same order.
 */
#ifndef GEM_OPTICS_H
#define GEM_OPTICS_H

#include "gem_mesh.h"

#define GEM_PATCH_CORNERS	16	/* the most a patch may have */
#define GEM_BOUNCES		7	/* facets a ray is followed to */

/* Mean refractive index; red is bent less and blue more by GEM_DISPERSION. */
#define GEM_INDEX		2.05
#define GEM_DISPERSION		0.065

struct gem_patch {
	unsigned int facet;			/* the facet that it is a part of */
	unsigned int count;
	struct vec3 corner[GEM_PATCH_CORNERS];	/* in that facet's plane */
	struct vec3 middle;			/* of its corners */
	unsigned int hit[GEM_BOUNCES];		/* facets met inside, in order */
	struct vec3 at[GEM_BOUNCES];		/* where the middle ray meets them */
};

/*
 * Cut a facet that faces eye into patches and call emit for each.  levels says
 * how many mirrorings split the beam (0: the facet stays whole); further hits
 * are those of the patch's middle ray.  Patches too small to be seen are left
 * out, so the facet itself must be drawn behind them.
 */
void gem_optics_split(const struct gem_mesh *mesh, unsigned int facet, struct vec3 eye,
		      unsigned int levels,
		      void (*emit)(void *ctx, const struct gem_patch *patch), void *ctx);

#endif /* GEM_OPTICS_H */
