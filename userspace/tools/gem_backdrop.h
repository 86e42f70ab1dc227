/* SPDX-License-Identifier: MIT */
/*
 * The scene behind the stone: a studio's curved backdrop, with the stone's shadow
 * and the light that the stone throws.
 */
#ifndef GEM_BACKDROP_H
#define GEM_BACKDROP_H

#include "gem_camera.h"

/* Light seen at (x, y), -1..1, y growing downward. */
struct vec3 gem_backdrop_light(const struct gem_camera *camera, double x, double y);

/* Add the backdrop to a scene, behind everything else. */
void gem_backdrop_add(struct gem_scene *scene, const struct gem_camera *camera);

#endif /* GEM_BACKDROP_H */
