// SPDX-License-Identifier: MIT
/*
 * Gouraud shading with correct perspective: depth is linear in screen space,
 * and so are 1/w and colour/w, whose quotient is the colour.
 *
 * The exact edge values are the weights of everything.  They are never negative
 * inside, so a sum loses no digits, however thin the triangle is.
 */
#include "shade.h"

#include <math.h>

#include "raster.h"

#if defined(__FAST_MATH__) || __FLT_EVAL_METHOD__ != 0
#error "pictures must not depend on how the compiler evaluates floats"
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "structures are copied from guest memory as they are: little-endian only"
#endif

/* Far above any value that TILER writes; a sum of three cannot overflow. */
#define SHADE_MAX_MAGNITUDE	0x1p100f

static uint32_t unorm8(float c)
{
	/* The first comparison is false for a NaN. */
	if (!(c > 0.0f))
		return 0;
	if (c >= 1.0f)
		return 255;
	return (uint32_t)(c * 255.0f + 0.5f);
}

uint32_t shade_pack(enum agate_format format, float r, float g, float b, float a)
{
	const uint32_t ga = unorm8(g) << 8 | unorm8(a) << 24;

	if (format == AGATE_FORMAT_B8G8R8A8)
		return ga | unorm8(b) | unorm8(r) << 16;
	return ga | unorm8(r) | unorm8(b) << 16;
}

bool shade_primitive_valid(const struct agate_tiler_primitive *p)
{
	/* Each comparison is false for a NaN. */
	for (unsigned int i = 0; i < 3; i++) {
		const struct agate_tiler_vertex *v = &p->v[i];

		if (!(fabsf(v->x) <= RASTER_MAX_COORDINATE &&
		      fabsf(v->y) <= RASTER_MAX_COORDINATE &&
		      v->z >= 0.0f && v->z <= 1.0f &&
		      v->rw > 0.0f && v->rw <= SHADE_MAX_MAGNITUDE &&
		      fabsf(v->r) <= SHADE_MAX_MAGNITUDE &&
		      fabsf(v->g) <= SHADE_MAX_MAGNITUDE &&
		      fabsf(v->b) <= SHADE_MAX_MAGNITUDE &&
		      fabsf(v->a) <= SHADE_MAX_MAGNITUDE))
			return false;
	}
	return true;
}

/* A triangle ready to be shaded: its vertices in the rasteriser's order. */
struct shade_setup {
	struct raster_triangle triangle;
	const struct agate_tiler_vertex *v[3];
	double inverse_area;
	enum agate_format format;
};

static bool shade_setup(struct shade_setup *s, const struct agate_tiler_primitive *p,
			enum agate_format format)
{
	struct raster_point points[3];

	for (unsigned int i = 0; i < 3; i++) {
		points[i].x = raster_snap(p->v[i].x);
		points[i].y = raster_snap(p->v[i].y);
	}
	if (!raster_triangle_init(&s->triangle, points))
		return false;

	s->v[0] = &p->v[0];
	s->v[1] = &p->v[s->triangle.swapped ? 2 : 1];
	s->v[2] = &p->v[s->triangle.swapped ? 1 : 2];
	s->inverse_area = 1.0 / (double)s->triangle.area;
	s->format = format;
	return true;
}

/* The sum of one component over the vertices, weighted by e. */
#define SHADE_SUM(s, e, component)			\
	((e)[0] * (double)(s)->v[0]->component +	\
	 (e)[1] * (double)(s)->v[1]->component +	\
	 (e)[2] * (double)(s)->v[2]->component)

static uint32_t shade_color(const struct shade_setup *s, const double e[3])
{
	const double w = 1.0 / SHADE_SUM(s, e, rw);

	return shade_pack(s->format, (float)(SHADE_SUM(s, e, r) * w),
			  (float)(SHADE_SUM(s, e, g) * w), (float)(SHADE_SUM(s, e, b) * w),
			  (float)(SHADE_SUM(s, e, a) * w));
}

/* Shade the pixels of one row of the tile that are set in mask. */
static unsigned int shade_row(struct shade_tile *tile, const struct shade_setup *s,
			      unsigned int y, unsigned int mask, bool depth_test)
{
	const int32_t px = (int32_t)tile->x * AGATE_TILE_SIZE;
	const int32_t py = (int32_t)tile->y * AGATE_TILE_SIZE + (int32_t)y;
	const struct raster_edge *edge = s->triangle.edge;
	unsigned int drawn = 0;
	int64_t row[3];

	for (unsigned int i = 0; i < 3; i++)
		row[i] = raster_edge_at(&edge[i], px, py);

	for (; mask; mask &= mask - 1) {
		const unsigned int x = (unsigned int)__builtin_ctz(mask);
		const int64_t step = (int64_t)x * RASTER_SUBPIXELS;
		const double e[3] = {
			(double)(row[0] + edge[0].a * step),
			(double)(row[1] + edge[1].a * step),
			(double)(row[2] + edge[2].a * step),
		};

		if (depth_test) {
			const float z = (float)(SHADE_SUM(s, e, z) * s->inverse_area);

			/* Keep the nearer fragment; of equal ones, the earlier. */
			if (!(z < tile->depth[y][x]))
				continue;
			tile->depth[y][x] = z;
		}
		tile->color[y][x] = shade_color(s, e);
		drawn++;
	}
	return drawn;
}

unsigned int shade_primitive(struct shade_tile *tile, const struct agate_tiler_primitive *p,
			     enum agate_format format, bool depth_test)
{
	const unsigned int inside = (1u << tile->width) - 1;
	uint16_t rows[AGATE_TILE_SIZE];
	struct shade_setup s;
	unsigned int count, drawn = 0;

	if (!shade_setup(&s, p, format))
		return 0;

	count = raster_cover_tile(&s.triangle, tile->x, tile->y, rows);
	if (count > tile->height)
		count = tile->height;
	for (unsigned int y = 0; y < count; y++)
		drawn += shade_row(tile, &s, y, rows[y] & inside, depth_test);
	return drawn;
}
