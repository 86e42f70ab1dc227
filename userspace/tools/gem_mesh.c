// SPDX-License-Identifier: MIT
/*
 * Building the stone from the numbers a cutter would use.
 *
 * The angles define the kites and the mains, and so the points where these meet
 * their neighbours.  Every other facet is then flat by construction: a triangle, or
 * a triangle whose side on the girdle is bent within its plane.
 */
#include <assert.h>

#include "gem_mesh.h"

/* Proportions close to the ideal cut; lengths in radii of the girdle. */
#define TABLE_RADIUS		0.56
#define STAR_RADIUS		0.775
#define CROWN_SLOPE		0.687	/* tan 34.5 degrees */
#define PAVILION_SLOPE		0.862	/* tan 40.75 degrees */
#define LOWER_RADIUS		0.22	/* where two mains separate */
#define GIRDLE_HALF		0.035

enum {
	TABLE_CORNER	= 0,
	STAR_POINT	= TABLE_CORNER + GEM_FOLD,
	UPPER_RING	= STAR_POINT + GEM_FOLD,
	LOWER_RING	= UPPER_RING + GEM_GIRDLE,
	LOWER_POINT	= LOWER_RING + GEM_GIRDLE,
	CULET		= LOWER_POINT + GEM_FOLD,
};

static struct vec3 polar(double turns, double radius, double z)
{
	double s, c;

	gem_sin_cos(turns, &s, &c);
	return vec3(radius * c, radius * s, z);
}

static uint16_t upper_ring(unsigned int i)
{
	return (uint16_t)(UPPER_RING + i % GEM_GIRDLE);
}

static uint16_t lower_ring(unsigned int i)
{
	return (uint16_t)(LOWER_RING + i % GEM_GIRDLE);
}

static void add_facet(struct gem_mesh *mesh, enum gem_part part, unsigned int count,
		      const uint16_t *corner)
{
	struct gem_facet *facet = &mesh->facet[mesh->facets++];
	struct vec3 sum = vec3(0.0, 0.0, 0.0);
	unsigned int i;

	assert(mesh->facets <= GEM_FACETS && count <= GEM_FACET_VERTICES);
	facet->part = part;
	facet->count = count;
	for (i = 0; i < count; i++) {
		const struct vec3 a = mesh->vertex[corner[i]];
		const struct vec3 b = mesh->vertex[corner[(i + 1) % count]];

		facet->corner[i] = corner[i];
		sum = vec3_add(sum, vec3_cross(a, b));
	}
	facet->normal = vec3_normalize(sum);
	facet->offset = vec3_dot(facet->normal, mesh->vertex[corner[0]]);
}

/*
 * The height at which a girdle point lies in the plane of its girdle facet: the
 * one through point and the two girdle points a and b, which lie on that
 * facet's ends.
 */
static double height_in_plane(struct vec3 point, struct vec3 a, struct vec3 b, struct vec3 at)
{
	const struct vec3 n = vec3_cross(vec3_sub(a, point), vec3_sub(b, point));

	return point.z - (n.x * (at.x - point.x) + n.y * (at.y - point.y)) / n.z;
}

/* One ring of the girdle; point[] are the inner ends of its 2 * GEM_FOLD facets. */
static void build_ring(struct gem_mesh *mesh, unsigned int ring, unsigned int point, double z)
{
	unsigned int i;

	for (i = 0; i < GEM_GIRDLE; i++) {
		const unsigned int facet = i / GEM_GIRDLE_STEPS;
		const double ends = 2.0 * GEM_FOLD;
		const struct vec3 a = polar(facet / ends, 1.0, z);
		const struct vec3 b = polar((facet + 1) / ends, 1.0, z);
		struct vec3 at = polar((double)i / GEM_GIRDLE, 1.0, z);

		if (i % GEM_GIRDLE_STEPS)
			at.z = height_in_plane(mesh->vertex[point + facet / 2], a, b, at);
		mesh->vertex[ring + i] = at;
	}
}

static void build_vertices(struct gem_mesh *mesh)
{
	const double table_z = GIRDLE_HALF + (1.0 - TABLE_RADIUS) * CROWN_SLOPE;
	const double culet_z = -GIRDLE_HALF - PAVILION_SLOPE;
	double s, c;
	unsigned int i;

	/* The points lie half a step away from the kites and mains whose planes they share. */
	gem_sin_cos(0.5 / GEM_FOLD, &s, &c);
	for (i = 0; i < GEM_FOLD; i++) {
		const double kite = (double)i / GEM_FOLD;
		const double beside = (i + 0.5) / GEM_FOLD;

		mesh->vertex[TABLE_CORNER + i] = polar(kite, TABLE_RADIUS, table_z);
		mesh->vertex[STAR_POINT + i] =
			polar(beside, STAR_RADIUS,
			      table_z - (STAR_RADIUS * c - TABLE_RADIUS) * CROWN_SLOPE);
		mesh->vertex[LOWER_POINT + i] =
			polar(beside, LOWER_RADIUS,
			      culet_z + LOWER_RADIUS * c * PAVILION_SLOPE);
	}
	mesh->vertex[CULET] = vec3(0.0, 0.0, culet_z);
	build_ring(mesh, UPPER_RING, STAR_POINT, GIRDLE_HALF);
	build_ring(mesh, LOWER_RING, LOWER_POINT, -GIRDLE_HALF);
	mesh->vertices = GEM_VERTICES;
}

/* The two girdle facets that share point i, above (up) or below the girdle. */
static void add_girdle_pair(struct gem_mesh *mesh, unsigned int i, int up)
{
	unsigned int half, k;

	for (half = 0; half < 2; half++) {
		const unsigned int first = (2 * i + half) * GEM_GIRDLE_STEPS;
		uint16_t corner[GEM_GIRDLE_STEPS + 2];

		corner[0] = (uint16_t)((up ? STAR_POINT : LOWER_POINT) + i);
		for (k = 0; k <= GEM_GIRDLE_STEPS; k++)
			corner[1 + k] = up ? upper_ring(first + k) :
					     lower_ring(first + GEM_GIRDLE_STEPS - k);
		add_facet(mesh, up ? GEM_UPPER_GIRDLE : GEM_LOWER_GIRDLE,
			  GEM_GIRDLE_STEPS + 2, corner);
	}
}

static void build_facets(struct gem_mesh *mesh)
{
	uint16_t table[GEM_FOLD];
	unsigned int i;

	for (i = 0; i < GEM_FOLD; i++)
		table[i] = (uint16_t)(TABLE_CORNER + i);
	add_facet(mesh, GEM_TABLE, GEM_FOLD, table);

	for (i = 0; i < GEM_FOLD; i++) {
		const unsigned int next = (i + 1) % GEM_FOLD;
		const unsigned int before = (i + GEM_FOLD - 1) % GEM_FOLD;
		const unsigned int girdle = 2 * i * GEM_GIRDLE_STEPS;
		const uint16_t star[] = { STAR_POINT + i, TABLE_CORNER + next, TABLE_CORNER + i };
		const uint16_t kite[] = { TABLE_CORNER + i, STAR_POINT + before,
					  upper_ring(girdle), STAR_POINT + i };
		const uint16_t main[] = { CULET, LOWER_POINT + i, lower_ring(girdle),
					  LOWER_POINT + before };

		add_facet(mesh, GEM_STAR, 3, star);
		add_facet(mesh, GEM_KITE, 4, kite);
		add_girdle_pair(mesh, i, 1);
		add_girdle_pair(mesh, i, 0);
		add_facet(mesh, GEM_MAIN, 4, main);
	}
	for (i = 0; i < GEM_GIRDLE; i++) {
		const uint16_t side[] = { lower_ring(i), lower_ring(i + 1),
					  upper_ring(i + 1), upper_ring(i) };

		add_facet(mesh, GEM_GIRDLE_FACET, 4, side);
	}
}

void gem_mesh_build(struct gem_mesh *mesh)
{
	mesh->facets = 0;
	build_vertices(mesh);
	build_facets(mesh);
}

unsigned int gem_mesh_triangles(const struct gem_mesh *mesh)
{
	unsigned int i, triangles = 0;

	for (i = 0; i < mesh->facets; i++)
		triangles += mesh->facet[i].count - 2;
	return triangles;
}
