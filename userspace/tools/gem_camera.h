/* SPDX-License-Identifier: MIT */
/*
 * The camera: from the world (z up, the floor at z = 0) to clip space.
 */
#ifndef GEM_CAMERA_H
#define GEM_CAMERA_H

#include "gem_scene.h"

struct gem_camera {
	struct vec3 eye;
	struct vec3 right, up, ahead;	/* of length 1, at right angles */
	double zoom;			/* 1 / tangent of half the angle of view */
};

void gem_camera_init(struct gem_camera *camera);

/* Project a point of the world to clip space; leaves the light unchanged. */
void gem_camera_project(const struct gem_camera *camera, struct vec3 p,
			struct gem_corner *corner);

/* Direction, of length 1, seen at (x, y), -1..1, y growing downward. */
struct vec3 gem_camera_ray(const struct gem_camera *camera, double x, double y);

#endif /* GEM_CAMERA_H */
