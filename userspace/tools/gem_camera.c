// SPDX-License-Identifier: MIT
/*
 * A fixed camera, a little above the stone.
 */
#include "gem_camera.h"

#define NEAR	2.0
#define FAR	20.0

void gem_camera_init(struct gem_camera *camera)
{
	const struct vec3 target = vec3(0.0, 0.0, 0.70);

	camera->eye = vec3(0.0, -7.4, 3.0);
	camera->ahead = vec3_normalize(vec3_sub(target, camera->eye));
	camera->right = vec3_normalize(vec3_cross(camera->ahead, vec3(0.0, 0.0, 1.0)));
	camera->up = vec3_cross(camera->right, camera->ahead);
	camera->zoom = 5.15;
}

void gem_camera_project(const struct gem_camera *camera, struct vec3 p,
			struct gem_corner *corner)
{
	const struct vec3 d = vec3_sub(p, camera->eye);
	const double depth = vec3_dot(d, camera->ahead);

	corner->x = vec3_dot(d, camera->right) * camera->zoom;
	corner->y = -vec3_dot(d, camera->up) * camera->zoom;
	corner->z = (depth - NEAR) * FAR / (FAR - NEAR);
	corner->w = depth;
}

struct vec3 gem_camera_ray(const struct gem_camera *camera, double x, double y)
{
	return vec3_normalize(vec3_add(vec3_scale(camera->ahead, camera->zoom),
				       vec3_add(vec3_scale(camera->right, x),
						vec3_scale(camera->up, -y))));
}
