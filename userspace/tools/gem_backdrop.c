// SPDX-License-Identifier: MIT
/*
 * The backdrop is a function of the position in the picture, sampled at the
 * vertices of a web of triangles.  The web is fine around the stone's foot, where
 * shadow and glow change fast, and coarse towards the corners.
 */
#include "gem_backdrop.h"

#define RINGS	18
#define SPOKES	48

/* Centre of the web; the outermost ring must reach past every corner. */
#define CENTER_X	0.0
#define CENTER_Y	0.52
#define REACH		2.6

/* Behind everything that the camera sees, in front of the far plane. */
#define DEPTH	0.9999

/* A soft round spot: 1 in its middle, half at its radius. */
static double spot(double x, double y, double cx, double cy, double rx, double ry)
{
	const double dx = (x - cx) / rx;
	const double dy = (y - cy) / ry;
	const double d = 1.0 / (1.0 + 0.41421356 * (dx * dx + dy * dy));

	return d * d;
}

static struct vec3 floor_light(struct vec3 p)
{
	const double shadow = spot(p.x, p.y, 0.10, 0.15, 0.75, 0.75);
	const double caustic = spot(p.x, p.y, 0.34, 0.18, 0.42, 0.36);
	const double core = spot(p.x, p.y, 0.30, 0.10, 0.16, 0.14);
	const double cool = spot(p.x, p.y, -0.55, 0.25, 0.50, 0.42);
	struct vec3 light = vec3_scale(vec3(0.014, 0.023, 0.029),
				       spot(p.x, p.y, 0.0, 0.0, 3.2, 3.6));

	light = vec3_scale(light, 1.0 - 0.85 * shadow);
	light = vec3_add(light, vec3_scale(vec3(0.20, 0.095, 0.026), caustic));
	light = vec3_add(light, vec3_scale(vec3(0.42, 0.26, 0.10), core));
	return vec3_add(light, vec3_scale(vec3(0.006, 0.060, 0.072), cool));
}

static struct vec3 wall_light(double x, double y)
{
	const struct vec3 glow = vec3_scale(vec3(0.007, 0.026, 0.034),
					    spot(x, y, 0.0, -0.12, 0.85, 0.75));
	const struct vec3 warm = vec3_scale(vec3(0.012, 0.006, 0.003),
					    spot(x, y, -0.75, -0.65, 0.65, 0.55));

	return vec3_add(vec3(0.0018, 0.0028, 0.0042), vec3_add(glow, warm));
}

struct vec3 gem_backdrop_light(const struct gem_camera *camera, double x, double y)
{
	const struct vec3 ray = gem_camera_ray(camera, x, y);
	const struct vec3 wall = wall_light(x, y);
	double distance;
	struct vec3 p;

	if (ray.z > -0.02)
		return wall;
	distance = -camera->eye.z / ray.z;
	p = vec3_add(camera->eye, vec3_scale(ray, distance));
	/* The floor bends into the wall without an edge. */
	return vec3_mix(floor_light(p), wall, gem_smoothstep(0.4, 4.5, p.y));
}

/* Radius of a ring: quadratic, so that the inner ones are close together. */
static double ring_radius(unsigned int ring)
{
	const double t = (double)ring / RINGS;

	return REACH * (0.15 * t + 0.85 * t * t);
}

static struct gem_corner web_corner(const struct gem_camera *camera, unsigned int ring,
				    unsigned int spoke)
{
	const double radius = ring_radius(ring);
	struct gem_corner corner = { .z = DEPTH, .w = 1.0 };
	double s, c;

	gem_sin_cos((double)(spoke % SPOKES) / SPOKES, &s, &c);
	corner.x = CENTER_X + radius * c;
	/* Near the foot the rings look like circles on the floor, seen at an angle. */
	corner.y = CENTER_Y + radius * s * (0.42 + 0.58 * gem_smoothstep(0.2, 1.2, radius));
	corner.light = gem_backdrop_light(camera, corner.x, corner.y);
	return corner;
}

void gem_backdrop_add(struct gem_scene *scene, const struct gem_camera *camera)
{
	unsigned int ring, spoke;

	for (ring = 0; ring < RINGS; ring++) {
		for (spoke = 0; spoke < SPOKES; spoke++) {
			struct gem_corner corner[4] = {
				web_corner(camera, ring + 1, spoke),
				web_corner(camera, ring + 1, spoke + 1),
				web_corner(camera, ring, spoke + 1),
				web_corner(camera, ring, spoke),
			};

			/* The innermost ring is a point. */
			gem_scene_polygon(scene, corner, ring ? 4 : 3);
		}
	}
}
