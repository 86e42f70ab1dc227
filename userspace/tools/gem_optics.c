// SPDX-License-Identifier: MIT
/*
 * Splitting beams in a convex body of flat facets.
 *
 * One direction stands for all rays of a beam, that of the ray through the
 * facet's middle.  From a point p, facet G is then t(p) = (offset - n.p) / (n.d)
 * away, and a ray leaves the body through the nearest G with n.d > 0.  All t are
 * linear in p, so the part of a beam that meets G is cut out by one half-plane
 * for every other facet: no tracing, no sampling, and exact.
 */
#include <stdbool.h>

#include "gem_optics.h"

/* Smaller patches are not drawn; area in squared radii of the girdle. */
#define MIN_AREA	2e-5
#define EPSILON		1e-9

/* A corner of a beam: where it is now, and where it came through the facet. */
struct corner {
	struct vec3 now, entry;
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

static double distance(const struct gem_facet *facet, struct vec3 p, struct vec3 dir)
{
	return (facet->offset - vec3_dot(facet->normal, p)) / vec3_dot(facet->normal, dir);
}

static bool ahead(const struct gem_mesh *mesh, unsigned int facet, unsigned int on,
		  struct vec3 dir)
{
	return facet != on && vec3_dot(mesh->facet[facet].normal, dir) > EPSILON;
}

/* Keep the part of the beam that meets facet g no later than facet h. */
static void clip(struct beam *beam, const struct gem_facet *g, const struct gem_facet *h)
{
	struct corner out[GEM_PATCH_CORNERS];
	unsigned int i, n = 0;

	for (i = 0; i < beam->count; i++) {
		const struct corner a = beam->corner[i];
		const struct corner b = beam->corner[(i + 1) % beam->count];
		const double da = distance(h, a.now, beam->dir) - distance(g, a.now, beam->dir);
		const double db = distance(h, b.now, beam->dir) - distance(g, b.now, beam->dir);

		if (da >= 0.0 && n < GEM_PATCH_CORNERS)
			out[n++] = a;
		if ((da >= 0.0) != (db >= 0.0) && n < GEM_PATCH_CORNERS) {
			const double t = da / (da - db);

			out[n].now = vec3_mix(a.now, b.now, t);
			out[n++].entry = vec3_mix(a.entry, b.entry, t);
		}
	}
	for (i = 0; i < n; i++)
		beam->corner[i] = out[i];
	beam->count = n < 3 ? 0 : n;
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

/* Follow the patch's middle ray from facet to facet, to its last. */
static void follow(const struct gem_mesh *mesh, struct gem_patch *patch, struct vec3 p,
		   struct vec3 dir)
{
	unsigned int on = patch->facet;
	unsigned int bounce, i;

	for (bounce = 0; bounce < GEM_BOUNCES; bounce++) {
		unsigned int nearest = on;
		double best = 1e30;

		for (i = 0; i < mesh->facets; i++) {
			double t;

			if (!ahead(mesh, i, on, dir))
				continue;
			t = distance(&mesh->facet[i], p, dir);
			if (t < best) {
				best = t;
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
	follow(split->mesh, &patch, vec3_scale(middle, 1.0 / beam->count), split->entry_dir);
	split->emit(split->ctx, &patch);
}

/* The part of a beam that meets facet g first, moved there and mirrored. */
static struct beam part(const struct gem_mesh *mesh, const struct beam *beam, unsigned int g)
{
	struct beam out = *beam;
	unsigned int i;

	for (i = 0; i < mesh->facets && out.count; i++) {
		if (i != g && ahead(mesh, i, beam->on, beam->dir))
			clip(&out, &mesh->facet[g], &mesh->facet[i]);
	}
	for (i = 0; i < out.count; i++) {
		struct vec3 *p = &out.corner[i].now;

		*p = vec3_add(*p, vec3_scale(beam->dir,
					     distance(&mesh->facet[g], *p, beam->dir)));
	}
	out.dir = vec3_reflect(beam->dir, mesh->facet[g].normal);
	out.on = g;
	return out;
}

static void split_beam(const struct split *split, unsigned int facet, const struct beam *beam,
		       unsigned int level)
{
	unsigned int i;

	if (level == split->levels) {
		finish(split, facet, beam);
		return;
	}
	for (i = 0; i < split->mesh->facets; i++) {
		struct beam next;

		if (!ahead(split->mesh, i, beam->on, beam->dir))
			continue;
		next = part(split->mesh, beam, i);
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
