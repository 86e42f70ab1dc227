/* SPDX-License-Identifier: MIT */
/*
 * The stone: a round brilliant, as a closed convex body of flat facets.
 *
 * It stands upright on its point: the axis is z, the girdle's radius 1 and its
 * middle at z = 0.  The 57 facets of the classic cut (table, 8 stars, 8 kites,
 * 16 upper and 16 lower girdle facets, 8 mains) and a faceted girdle.
 */
#ifndef GEM_MESH_H
#define GEM_MESH_H

#include <stdint.h>

#include "gem_math.h"

#define GEM_FOLD		8	/* symmetry */
#define GEM_GIRDLE_STEPS	2	/* girdle facets on each girdle-side edge */
#define GEM_GIRDLE		(2 * GEM_FOLD * GEM_GIRDLE_STEPS)

/* Table corners, star points, both girdle rings, lower points, culet. */
#define GEM_VERTICES		(3 * GEM_FOLD + 2 * GEM_GIRDLE + 1)
#define GEM_FACETS		(1 + 7 * GEM_FOLD + GEM_GIRDLE)
#define GEM_FACET_VERTICES	8	/* the most a facet has: the table */

enum gem_part {
	GEM_TABLE,
	GEM_STAR,
	GEM_KITE,
	GEM_UPPER_GIRDLE,
	GEM_GIRDLE_FACET,
	GEM_LOWER_GIRDLE,
	GEM_MAIN,
};

/* Corners counter-clockwise as seen from outside; normal . p <= offset inside. */
struct gem_facet {
	enum gem_part part;
	unsigned int count;
	uint16_t corner[GEM_FACET_VERTICES];
	struct vec3 normal;		/* outward, of length 1 */
	double offset;
};

struct gem_mesh {
	struct vec3 vertex[GEM_VERTICES];
	struct gem_facet facet[GEM_FACETS];
	unsigned int vertices, facets;
};

void gem_mesh_build(struct gem_mesh *mesh);

/* Triangles of all facets, each facet a fan from its first corner. */
unsigned int gem_mesh_triangles(const struct gem_mesh *mesh);

#endif /* GEM_MESH_H */
