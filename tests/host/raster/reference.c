// SPDX-License-Identifier: MIT
/*
 * A point of the plane through p0, p1, p2 is b0 p0 + b1 p1 + b2 p2.  It is visible
 * at (x, y) when its x, y and w are proportional to (x, y, 1): three linear
 * equations, solved by Cramer's rule.  The ray hits the triangle when all b have
 * one sign and w is above zero.  Attributes are then sums weighted with the b,
 * which need no correction for perspective.
 */
#include "reference.h"

#include <math.h>

/* The vertices' x y w, one to a row. */
static double det3(const double r0[3], const double r1[3], const double r2[3])
{
	return r0[0] * (r1[1] * r2[2] - r1[2] * r2[1]) -
	       r0[1] * (r1[0] * r2[2] - r1[2] * r2[0]) +
	       r0[2] * (r1[0] * r2[1] - r1[1] * r2[0]);
}

/* Scale b so that the hit has w = 1; false where the triangle is not visible. */
static bool meet(const struct agate_vertex v[3], double x, double y, double b[3])
{
	const double ray[3] = { x, y, 1.0 };
	const double r0[3] = { v[0].x, v[0].y, v[0].w };
	const double r1[3] = { v[1].x, v[1].y, v[1].w };
	const double r2[3] = { v[2].x, v[2].y, v[2].w };
	const double det = det3(r0, r1, r2);
	double w, sum;

	if (det == 0.0)
		return false;
	b[0] = det3(ray, r1, r2) / det;
	b[1] = det3(r0, ray, r2) / det;
	b[2] = det3(r0, r1, ray) / det;
	/* The ray's w is 1; the point's is 1 / sum once the b add up to 1. */
	sum = b[0] + b[1] + b[2];
	w = 1.0 / sum;
	for (unsigned int i = 0; i < 3; i++)
		b[i] *= w;
	return w > 0.0 && b[0] >= 0.0 && b[1] >= 0.0 && b[2] >= 0.0;
}

static double blend(const double b[3], double a0, double a1, double a2)
{
	return b[0] * a0 + b[1] * a1 + b[2] * a2;
}

/* Sample one triangle at a point of the screen; false when it is not there. */
static bool sample(const struct agate_vertex v[3], double x, double y,
		   struct reference_pixel *pixel)
{
	double b[3], z, w;

	if (!meet(v, x, y, b))
		return false;
	z = blend(b, v[0].z, v[1].z, v[2].z);
	w = blend(b, v[0].w, v[1].w, v[2].w);
	if (z < 0.0 || z > w)
		return false;
	pixel->depth = z / w;
	pixel->color[0] = blend(b, v[0].r, v[1].r, v[2].r);
	pixel->color[1] = blend(b, v[0].g, v[1].g, v[2].g);
	pixel->color[2] = blend(b, v[0].b, v[1].b, v[2].b);
	pixel->color[3] = blend(b, v[0].a, v[1].a, v[2].a);
	return true;
}

/* Does the triangle appear or disappear within 1/64 of a pixel? */
static bool near_edge(const struct agate_vertex v[3], double x, double y, double dx, double dy,
		      bool hit)
{
	struct reference_pixel ignored;

	for (unsigned int i = 0; i < 4; i++) {
		const double sx = i & 1 ? dx / 64 : -dx / 64;
		const double sy = i & 2 ? dy / 64 : -dy / 64;

		if (sample(v, x + sx, y + sy, &ignored) != hit)
			return true;
	}
	return false;
}

struct reference_pixel reference_pixel(const struct agate_vertex *v, unsigned int count,
				       unsigned int width, unsigned int height,
				       unsigned int x, unsigned int y,
				       const struct reference_pixel *clear)
{
	const double px = 2.0 * (x + 0.5) / width - 1.0;
	const double py = 2.0 * (y + 0.5) / height - 1.0;
	struct reference_pixel nearest = *clear;

	for (unsigned int i = 0; i < count; i++, v += 3) {
		struct reference_pixel here = { .unsure = nearest.unsure };
		const bool hit = sample(v, px, py, &here);

		if (near_edge(v, px, py, 2.0 / width, 2.0 / height, hit))
			nearest.unsure = here.unsure = true;
		if (!hit)
			continue;
		if (fabs(here.depth - nearest.depth) < 1e-4)
			nearest.unsure = here.unsure = true;
		if (here.depth < nearest.depth)
			nearest = here;
	}
	return nearest;
}
