// SPDX-License-Identifier: MIT
/*
 * The stone is a closed convex body of flat facets, every one seen from outside,
 * and the patches that its facets are cut into cover them and do not overlap.
 */
#include "harness.h"

#include <string.h>

#include "gem_optics.h"

static struct gem_mesh mesh;

static int build(void **state)
{
	(void)state;
	memset(&mesh, 0xff, sizeof(mesh));
	gem_mesh_build(&mesh);
	return 0;
}

static struct vec3 corner_of(const struct gem_facet *f, unsigned int i)
{
	return mesh.vertex[f->corner[i % f->count]];
}

static void test_counts(void **state)
{
	unsigned int parts[GEM_MAIN + 1] = { 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < mesh.facets; i++)
		parts[mesh.facet[i].part]++;
	assert_int_equal(parts[GEM_TABLE], 1);
	assert_int_equal(parts[GEM_STAR], 8);
	assert_int_equal(parts[GEM_KITE], 8);
	assert_int_equal(parts[GEM_UPPER_GIRDLE], 16);
	assert_int_equal(parts[GEM_GIRDLE_FACET], 32);
	assert_int_equal(parts[GEM_LOWER_GIRDLE], 16);
	assert_int_equal(parts[GEM_MAIN], 8);
	assert_int_equal(mesh.facets, 89);
	/* 6 + 8 + 16 + 32 + 64 + 32 + 16 */
	assert_int_equal(gem_mesh_triangles(&mesh), 174);
}

/* Each edge has two facets, which run along it in opposite directions. */
static void test_closed(void **state)
{
	static int edge[GEM_VERTICES][GEM_VERTICES];
	unsigned int edges = 0, i, k, used = 0;

	(void)state;
	memset(edge, 0, sizeof(edge));
	for (i = 0; i < mesh.facets; i++) {
		const struct gem_facet *f = &mesh.facet[i];

		for (k = 0; k < f->count; k++) {
			const unsigned int a = f->corner[k];
			const unsigned int b = f->corner[(k + 1) % f->count];

			assert_int_equal(edge[a][b], 0);
			edge[a][b] = 1;
			edges++;
		}
	}
	for (i = 0; i < GEM_VERTICES; i++) {
		int seen = 0;

		for (k = 0; k < GEM_VERTICES; k++) {
			assert_int_equal(edge[i][k], edge[k][i]);
			seen |= edge[i][k];
		}
		used += (unsigned int)seen;
	}
	assert_int_equal(used, mesh.vertices);
	/* Euler: one closed surface without holes. */
	assert_int_equal(mesh.vertices + mesh.facets, edges / 2 + 2);
}

static void test_flat_and_convex(void **state)
{
	unsigned int i, k;

	(void)state;
	for (i = 0; i < mesh.facets; i++) {
		const struct gem_facet *f = &mesh.facet[i];

		assert_true(fabs(vec3_length(f->normal) - 1.0) < 1e-12);
		for (k = 0; k < f->count; k++)
			assert_true(fabs(vec3_dot(f->normal, corner_of(f, k)) - f->offset) < 1e-9);
		/* All of the body is behind the facet, and the axis' middle well so. */
		for (k = 0; k < mesh.vertices; k++)
			assert_true(vec3_dot(f->normal, mesh.vertex[k]) <= f->offset + 1e-9);
		assert_true(f->offset > 0.3);
	}
}

static void test_winding(void **state)
{
	unsigned int i, k;

	(void)state;
	for (i = 0; i < mesh.facets; i++) {
		const struct gem_facet *f = &mesh.facet[i];

		for (k = 0; k < f->count; k++) {
			const struct vec3 a = vec3_sub(corner_of(f, k + 1), corner_of(f, k));
			const struct vec3 b = vec3_sub(corner_of(f, k + 2), corner_of(f, k + 1));

			assert_true(vec3_dot(vec3_cross(a, b), f->normal) > 1e-6);
		}
	}
}

struct cut {
	double area;
	unsigned int patches;
};

static double polygon_area(const struct vec3 *p, unsigned int count, struct vec3 normal)
{
	struct vec3 sum = vec3(0.0, 0.0, 0.0);
	unsigned int i;

	for (i = 2; i < count; i++)
		sum = vec3_add(sum, vec3_cross(vec3_sub(p[i - 1], p[0]), vec3_sub(p[i], p[0])));
	return 0.5 * vec3_dot(sum, normal);
}

static void add_patch(void *ctx, const struct gem_patch *patch)
{
	const struct gem_facet *f = &mesh.facet[patch->facet];
	struct cut *cut = ctx;
	unsigned int i;

	assert_in_range(patch->count, 3, GEM_PATCH_CORNERS);
	for (i = 0; i < patch->count; i++)
		assert_true(fabs(vec3_dot(f->normal, patch->corner[i]) - f->offset) < 1e-9);
	for (i = 0; i < GEM_BOUNCES; i++) {
		const struct gem_facet *hit = &mesh.facet[patch->hit[i]];

		assert_true(patch->hit[i] != (i ? patch->hit[i - 1] : patch->facet));
		assert_true(fabs(vec3_dot(hit->normal, patch->at[i]) - hit->offset) < 1e-9);
	}
	cut->area += polygon_area(patch->corner, patch->count, f->normal);
	cut->patches++;
}

/*
 * The sum of signed areas equals the facet's: no patches overlap, and only those
 * too small to draw are missing.
 */
static void test_patches_cover_facets(void **state)
{
	static const struct vec3 eyes[] = {
		{ 0.0, -7.0, 2.5 }, { 3.0, -6.0, 3.0 }, { 0.3, -7.0, -1.5 }, { 0.0, 0.1, 8.0 },
	};
	unsigned int e, i, k, levels;

	(void)state;
	for (e = 0; e < 4; e++) {
		for (i = 0; i < mesh.facets; i++) {
			const struct gem_facet *f = &mesh.facet[i];
			struct vec3 p[GEM_FACET_VERTICES] = { 0 };
			double area;

			if (vec3_dot(f->normal, eyes[e]) <= f->offset)
				continue;
			for (k = 0; k < f->count; k++)
				p[k] = corner_of(f, k);
			area = polygon_area(p, f->count, f->normal);
			for (levels = 0; levels <= 2; levels++) {
				struct cut cut = { 0 };

				gem_optics_split(&mesh, i, eyes[e], levels, add_patch, &cut);
				assert_true(cut.area < area * (1.0 + 1e-9));
				assert_true(cut.area > area * 0.97 - 2e-4);
				if (!levels)
					assert_int_equal(cut.patches, 1);
			}
		}
	}
}

/* Looking straight down the axis, the table shows the pavilion eight times over. */
static void count_hits(void *ctx, const struct gem_patch *patch)
{
	unsigned int *mains = ctx;

	if (mesh.facet[patch->hit[0]].part == GEM_MAIN)
		*mains |= 1u << (patch->hit[0] % 32);
}

static void test_table_shows_all_mains(void **state)
{
	unsigned int mains = 0;

	(void)state;
	assert_int_equal(mesh.facet[0].part, GEM_TABLE);
	gem_optics_split(&mesh, 0, vec3(0.0, 0.0, 50.0), 1, count_hits, &mains);
	/* The mains are seven facets apart, so their numbers differ within 32. */
	assert_int_equal(__builtin_popcount(mains), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_flat_and_convex),
		cmocka_unit_test(test_winding),
		cmocka_unit_test(test_patches_cover_facets),
		cmocka_unit_test(test_table_shows_all_mains),
	};

	return cmocka_run_group_tests_name("gem-mesh", tests, build, NULL);
}
