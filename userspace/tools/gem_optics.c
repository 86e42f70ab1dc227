// SPDX-License-Identifier: MIT
/*
 * Splitting beams in a convex body of flat facets.
 *
 * One direction stands for all rays of a beam: the direction of the ray through the
 * facet's middle.  From a point p, facet G is then t(p) = (offset - n.p) / (n.d)
 * away, and a ray leaves the body through the nearest G with n.d > 0.  All t are
 * linear in p, so one half-plane for every other facet cuts out the part of a beam
 * that meets G.  This needs no tracing and no sampling, and is exact.  For a beam,
 * the code keeps each facet's t as the two halves of that linear function.
 */
#include <stdbool.h>

#include "gem_optics.h"

/* Smaller patches are not drawn; area in squared radii of the girdle. */
#define MIN_AREA	2e-5
#define EPSILON		1e-9

/* A corner of a beam: its present position, and the point where it came through the facet. */
struct corner {
	struct vec3 now, entry;
};

/* How far a facet is along a beam's direction: constant - slope . p. */
struct depth {
	double constant;
	struct vec3 slope;
	bool ahead;			/* false: never met, the rest is not set */
};

struct beam {
	unsigned int count;
	struct corner corner[GEM_PATCH_CORNERS];
	struct vec3 dir;
	unsigned int on;		/* the facet that the corners are on */
};

struct split {
	const struct gem_mesh *mesh;
	unsigned int levels;
	void (*emit)(void *ctx, const struct gem_patch *patch);
	void *ctx;
	struct vec3 entry_dir;		/* of the beam inside the facet */
};

/* Compute the depths for rays of this direction that start on facet on. */
static struct depth depth_of(const struct gem_mesh *mesh, unsigned int facet, unsigned int on,
			     struct vec3 dir)
{
	const struct gem_facet *f = &mesh->facet[facet];
	const double along = vec3_dot(f->normal, dir);

	if (facet == on || along <= EPSILON)
		return (struct depth) { .ahead = false };
	return (struct depth) {
		.constant = f->offset / along,
		.slope = vec3_scale(f->normal, 1.0 / along),
		.ahead = true,
	};
}

static double depth_at(const struct depth *depth, struct vec3 p)
{
	return depth->constant - vec3_dot(depth->slope, p);
}

static struct corner corner_between(struct corner a, struct corner b, double t)
{
	return (struct corner) {
		.now = vec3_mix(a.now, b.now, t),
		.entry = vec3_mix(a.entry, b.entry, t),
	};
}

/* Keep the part of the beam that meets facet g no later than facet h. */
static void clip(struct beam *beam, const struct depth *g, const struct depth *h)
{
	const struct vec3 slope = vec3_sub(h->slope, g->slope);
	const double constant = h->constant - g->constant;
	struct corner out[GEM_PATCH_CORNERS];
	double later[GEM_PATCH_CORNERS];
	unsigned int i, n = 0, outside = 0;

	for (i = 0; i < beam->count; i++) {
		later[i] = constant - vec3_dot(slope, beam->corner[i].now);
		outside += later[i] < 0.0;
	}
	if (!outside)
		return;
	for (i = 0; i < beam->count && outside < beam->count; i++) {
		const unsigned int next = i + 1 == beam->count ? 0 : i + 1;

		if (later[i] >= 0.0 && n < GEM_PATCH_CORNERS)
			out[n++] = beam->corner[i];
		if ((later[i] < 0.0) != (later[next] < 0.0) && n < GEM_PATCH_CORNERS)
			out[n++] = corner_between(beam->corner[i], beam->corner[next],
						  later[i] / (later[i] - later[next]));
	}
	beam->count = n < 3 ? 0 : n;
	for (i = 0; i < beam->count; i++)
		beam->corner[i] = out[i];
}

static double area(const struct beam *beam)
{
	struct vec3 sum = vec3(0.0, 0.0, 0.0);
	unsigned int i;

	for (i = 2; i < beam->count; i++)
		sum = vec3_add(sum, vec3_cross(
			vec3_sub(beam->corner[i - 1].entry, beam->corner[0].entry),
			vec3_sub(beam->corner[i].entry, beam->corner[0].entry)));
	return 0.5 * vec3_length(sum);
}

/* Follow the patch's middle ray from facet to facet, to the last one. */
static void follow(const struct gem_mesh *mesh, struct gem_patch *patch, struct vec3 p,
		   struct vec3 dir)
{
	unsigned int on = patch->facet;
	unsigned int bounce, i;

	for (bounce = 0; bounce < GEM_BOUNCES; bounce++) {
		unsigned int nearest = on;
		double best = 1e30;

		for (i = 0; i < mesh->facets; i++) {
			const struct depth depth = depth_of(mesh, i, on, dir);

			if (depth.ahead && depth_at(&depth, p) < best) {
				best = depth_at(&depth, p);
				nearest = i;
			}
		}
		p = vec3_add(p, vec3_scale(dir, best));
		patch->hit[bounce] = nearest;
		patch->at[bounce] = p;
		dir = vec3_reflect(dir, mesh->facet[nearest].normal);
		on = nearest;
	}
}

static void finish(const struct split *split, unsigned int facet, const struct beam *beam)
{
	struct gem_patch patch = { .facet = facet, .count = beam->count };
	struct vec3 middle = vec3(0.0, 0.0, 0.0);
	unsigned int i;

	for (i = 0; i < beam->count; i++) {
		patch.corner[i] = beam->corner[i].entry;
		middle = vec3_add(middle, beam->corner[i].entry);
	}
	patch.middle = vec3_scale(middle, 1.0 / beam->count);
	follow(split->mesh, &patch, patch.middle, split->entry_dir);
	split->emit(split->ctx, &patch);
}

/* The part of a beam that meets facet g first, moved there and mirrored. */
static struct beam part(const struct gem_mesh *mesh, const struct beam *beam,
			const struct depth depth[GEM_FACETS], unsigned int g)
{
	struct beam out = *beam;
	unsigned int i;

	for (i = 0; i < mesh->facets && out.count; i++) {
		if (i != g && depth[i].ahead)
			clip(&out, &depth[g], &depth[i]);
	}
	for (i = 0; i < out.count; i++) {
		struct vec3 *p = &out.corner[i].now;

		*p = vec3_add(*p, vec3_scale(beam->dir, depth_at(&depth[g], *p)));
	}
	out.dir = vec3_reflect(beam->dir, mesh->facet[g].normal);
	out.on = g;
	return out;
}

/* The facet that a ray from p meets. */
static unsigned int nearest_facet(const struct gem_mesh *mesh,
				  const struct depth depth[GEM_FACETS], struct vec3 p)
{
	double best = 1e30;
	unsigned int i, nearest = 0;

	for (i = 0; i < mesh->facets; i++) {
		const double t = depth[i].ahead ? depth_at(&depth[i], p) : best;

		if (t < best) {
			best = t;
			nearest = i;
		}
	}
	return nearest;
}

/*
 * Is facet g hidden in the whole beam behind a facet that the corners' rays meet?
 * This test makes clipping unnecessary for most facets.
 */
static bool hidden(const struct beam *beam, const struct depth depth[GEM_FACETS],
		   const unsigned int *nearest, unsigned int g)
{
	unsigned int i, k;

	for (i = 0; i < beam->count; i++) {
		const struct depth *front = &depth[nearest[i]];

		for (k = 0; k < beam->count; k++) {
			const struct vec3 p = beam->corner[k].now;

			if (depth_at(front, p) >= depth_at(&depth[g], p))
				break;
		}
		if (k == beam->count)
			return true;
	}
	return false;
}

static void split_beam(const struct split *split, unsigned int facet, const struct beam *beam,
		       unsigned int level)
{
	unsigned int nearest[GEM_PATCH_CORNERS] = { 0 };
	struct depth depth[GEM_FACETS];
	unsigned int i;

	if (level == split->levels) {
		finish(split, facet, beam);
		return;
	}
	for (i = 0; i < split->mesh->facets; i++)
		depth[i] = depth_of(split->mesh, i, beam->on, beam->dir);
	for (i = 0; i < beam->count; i++)
		nearest[i] = nearest_facet(split->mesh, depth, beam->corner[i].now);
	for (i = 0; i < split->mesh->facets; i++) {
		struct beam next;

		if (!depth[i].ahead || hidden(beam, depth, nearest, i))
			continue;
		next = part(split->mesh, beam, depth, i);
		if (next.count && area(&next) > MIN_AREA)
			split_beam(split, facet, &next, level + 1);
	}
}

void gem_optics_split(const struct gem_mesh *mesh, unsigned int facet, struct vec3 eye,
		      unsigned int levels,
		      void (*emit)(void *ctx, const struct gem_patch *patch), void *ctx)
{
	const struct gem_facet *f = &mesh->facet[facet];
	struct split split = { .mesh = mesh, .levels = levels, .emit = emit, .ctx = ctx };
	struct beam beam = { .count = f->count, .on = facet };
	struct vec3 middle = vec3(0.0, 0.0, 0.0);
	unsigned int i;

	for (i = 0; i < f->count; i++) {
		const struct vec3 p = mesh->vertex[f->corner[i]];

		beam.corner[i] = (struct corner) { .now = p, .entry = p };
		middle = vec3_add(middle, p);
	}
	middle = vec3_scale(middle, 1.0 / f->count);
	/* Into a denser medium there is always a refracted ray. */
	gem_refract(vec3_normalize(vec3_sub(middle, eye)), f->normal, 1.0 / GEM_INDEX, &beam.dir);
	split.entry_dir = beam.dir;
	split_beam(&split, facet, &beam, 0);
}
