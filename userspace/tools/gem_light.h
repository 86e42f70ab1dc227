/* SPDX-License-Identifier: MIT */
/*
 * The light: lamps around the stone, and the light that comes out of the stone.
 */
#ifndef GEM_LIGHT_H
#define GEM_LIGHT_H

#include "gem_optics.h"

/* How the stone stands in the world: its axes, in world space (z is up). */
struct gem_pose {
	struct vec3 axis[3];
	struct vec3 center;
};

struct vec3 gem_pose_direction(const struct gem_pose *pose, struct vec3 dir);
struct vec3 gem_pose_point(const struct gem_pose *pose, struct vec3 p);
/* From the world into the stone. */
struct vec3 gem_pose_inverse(const struct gem_pose *pose, struct vec3 p);

/* Light that arrives from a direction in the world; linear, may exceed 1. */
struct vec3 gem_light_arriving(struct vec3 dir);

/*
 * The part of white light that the stone's colour lets through, where a patch's
 * middle ray meets a facet; for gem_light_patch().
 */
struct gem_tint {
	struct vec3 left[GEM_BOUNCES];
};

void gem_light_tint(const struct gem_patch *patch, struct gem_tint *tint);

/*
 * Light that eye sees at point p of a patch, both in the stone's space: the light
 * that the facet reflects, and the light from the lamps that was reflected inside
 * the stone.
 */
struct vec3 gem_light_patch(const struct gem_mesh *mesh, const struct gem_pose *pose,
			    const struct gem_patch *patch, const struct gem_tint *tint,
			    struct vec3 p, struct vec3 eye);

/* From linear light of any strength to a displayed colour, sRGB encoded. */
struct vec3 gem_light_display(struct vec3 light);

#endif /* GEM_LIGHT_H */
