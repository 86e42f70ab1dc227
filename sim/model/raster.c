// SPDX-License-Identifier: MIT
/*
 * Edge functions over snapped coordinates.  Triangles are first turned
 * clockwise (as seen, y down), so that inside is positive on all three edges.
 */
#include "raster.h"

#include <math.h>
#include <string.h>

#define HALF_PIXEL	(RASTER_SUBPIXELS / 2)

int32_t raster_snap(float pixels)
{
	return (int32_t)lrintf(pixels * RASTER_SUBPIXELS);
}

int64_t raster_area(struct raster_point a, struct raster_point b, struct raster_point c)
{
	return (int64_t)(b.x - a.x) * (c.y - a.y) - (int64_t)(c.x - a.x) * (b.y - a.y);
}

static void raster_edge_init(struct raster_edge *e, struct raster_point from,
			     struct raster_point to)
{
	const int64_t dx = to.x - from.x;
	const int64_t dy = to.y - from.y;
	/* Clockwise, a left edge goes up and a top edge to the right. */
	const bool top_left = dy < 0 || (dy == 0 && dx > 0);

	e->a = -dy;
	e->b = dx;
	e->c = dy * from.x - dx * from.y;
	e->bias = top_left ? 0 : -1;
}

static int32_t min3(int32_t a, int32_t b, int32_t c)
{
	const int32_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static int32_t max3(int32_t a, int32_t b, int32_t c)
{
	return -min3(-a, -b, -c);
}

/* First pixel whose centre is at or after v, and last one at or before it. */
static int32_t pixel_from(int32_t v)
{
	return (v + HALF_PIXEL - 1) >> RASTER_SUBPIXEL_BITS;
}

static int32_t pixel_to(int32_t v)
{
	return (v - HALF_PIXEL) >> RASTER_SUBPIXEL_BITS;
}

bool raster_triangle_init(struct raster_triangle *t, const struct raster_point p[3])
{
	struct raster_point a = p[0], b = p[1], c = p[2];

	t->area = raster_area(a, b, c);
	t->swapped = t->area < 0;
	if (t->swapped) {
		b = p[2];
		c = p[1];
		t->area = -t->area;
	}
	if (!t->area)
		return false;

	raster_edge_init(&t->edge[0], b, c);
	raster_edge_init(&t->edge[1], c, a);
	raster_edge_init(&t->edge[2], a, b);

	t->min_x = pixel_from(min3(a.x, b.x, c.x));
	t->min_y = pixel_from(min3(a.y, b.y, c.y));
	t->max_x = pixel_to(max3(a.x, b.x, c.x));
	t->max_y = pixel_to(max3(a.y, b.y, c.y));
	return t->min_x <= t->max_x && t->min_y <= t->max_y;
}

int64_t raster_edge_at(const struct raster_edge *e, int32_t x, int32_t y)
{
	return e->a * ((int64_t)x * RASTER_SUBPIXELS + HALF_PIXEL) +
	       e->b * ((int64_t)y * RASTER_SUBPIXELS + HALF_PIXEL) + e->c;
}

/* How much an edge's value grows at most from a tile's first pixel to another one. */
static int64_t edge_growth(const struct raster_edge *e)
{
	const int64_t span = (AGATE_TILE_SIZE - 1) * RASTER_SUBPIXELS;

	return (e->a > 0 ? e->a * span : 0) + (e->b > 0 ? e->b * span : 0);
}

/*
 * Two convex shapes are disjoint exactly when a side of one of them separates them:
 * the box test checks the square's sides, the rest the triangle's.
 */
bool raster_meets_tile(const struct raster_triangle *t, uint32_t tile_x, uint32_t tile_y)
{
	const int32_t x = (int32_t)tile_x * AGATE_TILE_SIZE;
	const int32_t y = (int32_t)tile_y * AGATE_TILE_SIZE;

	if (t->max_x < x || t->min_x > x + AGATE_TILE_SIZE - 1 ||
	    t->max_y < y || t->min_y > y + AGATE_TILE_SIZE - 1)
		return false;

	for (unsigned int i = 0; i < 3; i++) {
		const struct raster_edge *e = &t->edge[i];

		if (raster_edge_at(e, x, y) + edge_growth(e) + e->bias < 0)
			return false;
	}
	return true;
}

unsigned int raster_cover_tile(const struct raster_triangle *t, uint32_t tile_x,
			       uint32_t tile_y, uint16_t rows[AGATE_TILE_SIZE])
{
	const int32_t x0 = (int32_t)tile_x * AGATE_TILE_SIZE;
	const int32_t y0 = (int32_t)tile_y * AGATE_TILE_SIZE;
	const int32_t left = t->min_x > x0 ? t->min_x - x0 : 0;
	const int32_t top = t->min_y > y0 ? t->min_y - y0 : 0;
	const int32_t right = t->max_x - x0 < AGATE_TILE_SIZE ?
			      t->max_x - x0 : AGATE_TILE_SIZE - 1;
	const int32_t bottom = t->max_y - y0 < AGATE_TILE_SIZE ?
			       t->max_y - y0 : AGATE_TILE_SIZE - 1;
	const struct raster_edge *e = t->edge;

	memset(rows, 0, AGATE_TILE_SIZE * sizeof(*rows));
	if (left > right || top > bottom)
		return 0;

	for (int32_t y = top; y <= bottom; y++) {
		int64_t v0 = raster_edge_at(&e[0], x0 + left, y0 + y) + e[0].bias;
		int64_t v1 = raster_edge_at(&e[1], x0 + left, y0 + y) + e[1].bias;
		int64_t v2 = raster_edge_at(&e[2], x0 + left, y0 + y) + e[2].bias;
		unsigned int mask = 0;

		for (int32_t x = left; x <= right; x++) {
			/*
			 * The sign bit of the three values combined: the pixel is
			 * outside at least one edge.
			 */
			mask |= (unsigned int)((v0 | v1 | v2) >= 0) << x;
			v0 += e[0].a * RASTER_SUBPIXELS;
			v1 += e[1].a * RASTER_SUBPIXELS;
			v2 += e[2].a * RASTER_SUBPIXELS;
		}
		rows[y] = (uint16_t)mask;
	}
	return (unsigned int)bottom + 1;
}
