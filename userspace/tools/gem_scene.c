// SPDX-License-Identifier: MIT
/*
 * The stone and its mirror image in the floor, before the backdrop.
 *
 * The triangles are not sorted by depth, and facets that face away are added, too:
 * the depth test finds out which triangle is in front.
 */
#include "gem_backdrop.h"
#include "gem_light.h"

#define TILT_TURNS	0.042		/* of the stone's axis, towards the camera */
#define HEIGHT		0.94		/* of the girdle's middle, above the floor */

/* Patches lie in front of their facet, by this part of the distance to the eye. */
#define PATCH_LIFT	0.002

/* How much the floor reflects, and the height at which the reflection has faded away. */
#define MIRROR_STRENGTH	0.34
#define MIRROR_HEIGHT	1.9

struct builder {
	struct gem_scene *scene;
	struct gem_camera camera;
	struct gem_mesh mesh;
	struct gem_pose pose;
	struct vec3 eye;		/* the viewer's position, in the stone's own space */
	bool mirrored;			/* building the image in the floor */
	struct vec3 light;		/* sum over the facet's patches, by area */
	double area;
};

void gem_scene_polygon(struct gem_scene *scene, const struct gem_corner *corner,
		       unsigned int count)
{
	const uint32_t first = scene->vertices;
	unsigned int i;

	if (first + count > GEM_SCENE_VERTICES ||
	    scene->indices + 3 * (count - 2) > GEM_SCENE_INDICES) {
		scene->full = true;
		return;
	}
	for (i = 0; i < count; i++) {
		const struct vec3 colour = gem_light_display(corner[i].light);

		scene->vertex[scene->vertices++] = (struct agate_vertex) {
			.x = (float)corner[i].x,
			.y = (float)corner[i].y,
			.z = (float)corner[i].z,
			.w = (float)corner[i].w,
			.r = (float)colour.x,
			.g = (float)colour.y,
			.b = (float)colour.z,
			.a = 1.0f,
		};
	}
	for (i = 2; i < count; i++) {
		scene->index[scene->indices++] = first;
		scene->index[scene->indices++] = first + i - 1;
		scene->index[scene->indices++] = first + i;
	}
}

/* A corner of the stone, or of its image, as the camera sees it. */
static struct gem_corner stone_corner(const struct builder *b, struct vec3 p, struct vec3 light)
{
	struct vec3 world = gem_pose_point(&b->pose, p);
	const double height = world.z;
	struct gem_corner corner;
	struct vec3 behind;
	double part;

	if (!b->mirrored) {
		gem_camera_project(&b->camera, world, &corner);
		corner.light = light;
		return corner;
	}
	/* The GPU cannot blend, so mix the image with the floor here. */
	world.z = -world.z;
	gem_camera_project(&b->camera, world, &corner);
	behind = gem_backdrop_light(&b->camera, corner.x / corner.w, corner.y / corner.w);
	part = MIRROR_STRENGTH * (1.0 - gem_smoothstep(0.0, MIRROR_HEIGHT, height));
	corner.light = vec3_add(vec3_scale(behind, 1.0 - 0.5 * part), vec3_scale(light, part));
	return corner;
}

static double patch_area(const struct gem_patch *patch)
{
	struct vec3 sum = vec3(0.0, 0.0, 0.0);
	unsigned int i;

	for (i = 2; i < patch->count; i++)
		sum = vec3_add(sum, vec3_cross(
				vec3_sub(patch->corner[i - 1], patch->corner[0]),
				vec3_sub(patch->corner[i], patch->corner[0])));
	return 0.5 * vec3_length(sum);
}

static void add_patch(void *ctx, const struct gem_patch *patch)
{
	struct builder *b = ctx;
	struct gem_corner corner[GEM_PATCH_CORNERS];
	const double share = patch_area(patch) / patch->count;
	struct gem_tint tint;
	unsigned int i;

	gem_light_tint(patch, &tint);
	for (i = 0; i < patch->count; i++) {
		const struct vec3 p = patch->corner[i];
		const struct vec3 light = gem_light_patch(&b->mesh, &b->pose, patch, &tint,
							  p, b->eye);

		corner[i] = stone_corner(b, vec3_mix(p, b->eye, PATCH_LIFT), light);
		b->light = vec3_add(b->light, vec3_scale(light, share));
	}
	b->area += share * patch->count;
	gem_scene_polygon(b->scene, corner, patch->count);
}

/* Add the facet itself, which is visible from behind and through the seams between patches. */
static void add_facet(struct builder *b, const struct gem_facet *facet)
{
	struct gem_corner corner[GEM_FACET_VERTICES];
	struct vec3 light = vec3(0.0, 0.0, 0.0);
	unsigned int i;

	if (b->area > 0.0)
		light = vec3_scale(b->light, 1.0 / b->area);
	for (i = 0; i < facet->count; i++)
		corner[i] = stone_corner(b, b->mesh.vertex[facet->corner[i]], light);
	gem_scene_polygon(b->scene, corner, facet->count);
}

static void add_stone(struct builder *b, bool mirrored, unsigned int levels)
{
	struct vec3 eye = b->camera.eye;
	unsigned int i;

	if (mirrored)
		eye.z = -eye.z;
	b->mirrored = mirrored;
	b->eye = gem_pose_inverse(&b->pose, eye);
	for (i = 0; i < b->mesh.facets; i++) {
		const struct gem_facet *facet = &b->mesh.facet[i];

		b->light = vec3(0.0, 0.0, 0.0);
		b->area = 0.0;
		if (vec3_dot(facet->normal, b->eye) > facet->offset)
			gem_optics_split(&b->mesh, i, b->eye, levels, add_patch, b);
		add_facet(b, facet);
	}
}

/* Turned about its own axis, then tilted about the world's x axis. */
static struct gem_pose pose(double turns)
{
	double ts, tc, s, c;

	gem_sin_cos(TILT_TURNS, &ts, &tc);
	gem_sin_cos(turns, &s, &c);
	return (struct gem_pose) {
		.axis = {
			vec3(c, s * tc, s * ts),
			vec3(-s, c * tc, c * ts),
			vec3(0.0, -ts, tc),
		},
		.center = vec3(0.0, 0.0, HEIGHT),
	};
}

int gem_scene_build(struct gem_scene *scene, double turns)
{
	struct builder b = { .scene = scene, .pose = pose(turns) };

	scene->vertices = 0;
	scene->indices = 0;
	scene->full = false;
	gem_camera_init(&b.camera);
	gem_mesh_build(&b.mesh);
	add_stone(&b, false, 3);
	add_stone(&b, true, 1);
	gem_backdrop_add(scene, &b.camera);
	return scene->full ? -1 : 0;
}
