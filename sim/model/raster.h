/* SPDX-License-Identifier: MIT */
/*
 * Which pixels and tiles a triangle covers, in exact integer arithmetic.
 *
 * Vertices are snapped to 1/256 of a pixel; from there on nothing is rounded.
 * A pixel belongs to a triangle when its centre lies inside, or on a top or left
 * edge.  So triangles that share an edge share no pixel and leave none out, in any
 * order and on any machine.
 */
#ifndef AGATE_RASTER_H
#define AGATE_RASTER_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_job.h"

#define RASTER_SUBPIXEL_BITS	8
#define RASTER_SUBPIXELS	(1 << RASTER_SUBPIXEL_BITS)

/*
 * Pixels from the origin, in every direction; the product of two differences
 * of snapped coordinates then takes 46 bits of the 63 there are.
 */
#define RASTER_MAX_COORDINATE	(2 * AGATE_MAX_FB_SIZE)

/* Convert pixels to 1/256 pixels, rounded to nearest; |pixels| <= RASTER_MAX_COORDINATE. */
int32_t raster_snap(float pixels);

struct raster_point {
	int32_t x, y;		/* snapped */
};

/* Twice the area; positive when the three turn clockwise, as seen (y is down). */
int64_t raster_area(struct raster_point a, struct raster_point b, struct raster_point c);

/* The line a x + b y + c, positive on the triangle's side, in 1/256 pixels. */
struct raster_edge {
	int64_t a, b, c;
	int64_t bias;		/* 0 on a top or left edge, else -1 */
};

/* edge[i] is opposite to vertex i: edge[i] / area is i's barycentric weight. */
struct raster_triangle {
	struct raster_edge edge[3];
	int64_t area;		/* twice the area, above zero */
	int32_t min_x, min_y;	/* pixels whose centres may be inside, inclusive */
	int32_t max_x, max_y;
	bool swapped;		/* was counter-clockwise: vertices 1 and 2 swapped */
};

/* Returns false when the triangle has no area or meets no pixel's centre. */
bool raster_triangle_init(struct raster_triangle *t, const struct raster_point p[3]);

/*
 * Does the triangle meet the square of the 16x16 pixel centres of tile (tile_x,
 * tile_y)?  The position counts in tiles.
 */
bool raster_meets_tile(const struct raster_triangle *t, uint32_t tile_x, uint32_t tile_y);

/* An edge's value at the centre of pixel (x, y), without the bias. */
int64_t raster_edge_at(const struct raster_edge *e, int32_t x, int32_t y);

/*
 * Coverage of a tile: bit x of rows[y] is pixel (16 tile_x + x, 16 tile_y + y).
 * Returns the number of rows from the top that hold all covered pixels.
 */
unsigned int raster_cover_tile(const struct raster_triangle *t, uint32_t tile_x,
			       uint32_t tile_y, uint16_t rows[AGATE_TILE_SIZE]);

#endif /* AGATE_RASTER_H */
