// SPDX-License-Identifier: MIT
/*
 * Sutherland-Hodgman, one plane after the other.  A new vertex is always computed
 * from the inner end of the edge to the outer end, whatever their order in the
 * triangle, so that two triangles get the same vertex on a shared edge.
 */
#include "clip.h"

#include <math.h>
#include <string.h>

enum clip_plane {
	CLIP_W,			/* first: the others compare with w */
	CLIP_NEAR,
	CLIP_FAR,
	CLIP_LEFT,
	CLIP_RIGHT,
	CLIP_TOP,
	CLIP_BOTTOM,
	CLIP_PLANES
};

bool clip_vertex_valid(const struct agate_vertex *v)
{
	const float c[8] = { v->x, v->y, v->z, v->w, v->r, v->g, v->b, v->a };

	/* The comparison is false for a NaN. */
	for (unsigned int i = 0; i < 8; i++)
		if (!(fabsf(c[i]) <= CLIP_MAX_MAGNITUDE))
			return false;
	return true;
}

/* How far inside the plane v is; negative outside. */
static float clip_distance(enum clip_plane plane, const struct agate_vertex *v)
{
	switch (plane) {
	case CLIP_W:
		return v->w - CLIP_MIN_W;
	case CLIP_NEAR:
		return v->z;
	case CLIP_FAR:
		return v->w - v->z;
	case CLIP_LEFT:
		return v->w + v->x;
	case CLIP_RIGHT:
		return v->w - v->x;
	case CLIP_TOP:
		return v->w + v->y;
	case CLIP_BOTTOM:
		return v->w - v->y;
	case CLIP_PLANES:
		break;
	}
	return 0.0f;
}

/* Rounding may have moved v off the plane that cut the edge: put it on the plane. */
static void clip_put_on_plane(enum clip_plane plane, struct agate_vertex *v)
{
	if (v->w < CLIP_MIN_W)
		v->w = CLIP_MIN_W;

	switch (plane) {
	case CLIP_NEAR:
		v->z = 0.0f;
		break;
	case CLIP_FAR:
		v->z = v->w;
		break;
	case CLIP_LEFT:
		v->x = -v->w;
		break;
	case CLIP_RIGHT:
		v->x = v->w;
		break;
	case CLIP_TOP:
		v->y = -v->w;
		break;
	case CLIP_BOTTOM:
		v->y = v->w;
		break;
	case CLIP_W:
	case CLIP_PLANES:
		break;
	}
}

static struct agate_vertex clip_cut(enum clip_plane plane, const struct agate_vertex *in,
				    const struct agate_vertex *out, float d_in, float d_out)
{
	const float t = d_in / (d_in - d_out);
	struct agate_vertex v = {
		.x = in->x + t * (out->x - in->x),
		.y = in->y + t * (out->y - in->y),
		.z = in->z + t * (out->z - in->z),
		.w = in->w + t * (out->w - in->w),
		.r = in->r + t * (out->r - in->r),
		.g = in->g + t * (out->g - in->g),
		.b = in->b + t * (out->b - in->b),
		.a = in->a + t * (out->a - in->a),
	};

	clip_put_on_plane(plane, &v);
	return v;
}

static unsigned int clip_polygon(enum clip_plane plane, const struct agate_vertex *in,
				 unsigned int count, struct agate_vertex *out)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < count; i++) {
		const struct agate_vertex *a = &in[i];
		const struct agate_vertex *b = &in[(i + 1) % count];
		const float da = clip_distance(plane, a);
		const float db = clip_distance(plane, b);

		if (da >= 0.0f)
			out[n++] = *a;
		if (da >= 0.0f && db < 0.0f)
			out[n++] = clip_cut(plane, a, b, da, db);
		else if (da < 0.0f && db >= 0.0f)
			out[n++] = clip_cut(plane, b, a, db, da);
	}
	return n;
}

/* Count how often the polygon crosses the plane; *outside: vertices beyond it. */
static unsigned int clip_crossings(enum clip_plane plane, const struct agate_vertex *v,
				   unsigned int count, unsigned int *outside)
{
	bool before = clip_distance(plane, &v[count - 1]) < 0.0f;
	unsigned int crossings = 0;

	*outside = 0;
	for (unsigned int i = 0; i < count; i++) {
		const bool now = clip_distance(plane, &v[i]) < 0.0f;

		crossings += now != before;
		*outside += now;
		before = now;
	}
	return crossings;
}

unsigned int clip_triangle(const struct agate_vertex in[3],
			   struct agate_vertex out[CLIP_MAX_VERTICES])
{
	struct agate_vertex cut[CLIP_MAX_VERTICES];
	unsigned int count = 3;

	memcpy(out, in, 3 * sizeof(*in));
	for (enum clip_plane plane = 0; plane < CLIP_PLANES; plane++) {
		unsigned int outside;
		const unsigned int crossings = clip_crossings(plane, out, count, &outside);

		if (outside == count)
			return 0;
		if (!outside)
			continue;
		/*
		 * A convex polygon crosses a plane twice, and grows by at most one
		 * vertex.  A polygon that rounding has folded is a sliver: drop it,
		 * because it could outgrow the array.
		 */
		if (crossings > 2)
			return 0;
		count = clip_polygon(plane, out, count, cut);
		memcpy(out, cut, count * sizeof(*cut));
	}
	return count;
}
