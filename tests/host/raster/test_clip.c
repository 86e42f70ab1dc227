// SPDX-License-Identifier: MIT
/*
 * clip.c: the parts that are cut off, the position of the cuts, and shared edges
 * that stay shared.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "clip.h"

static struct agate_vertex at(float x, float y, float z, float w)
{
	return (struct agate_vertex) { .x = x, .y = y, .z = z, .w = w, .a = 1.0f };
}

static void assert_position(const struct agate_vertex *v, float x, float y, float z, float w)
{
	assert_true(v->x == x);
	assert_true(v->y == y);
	assert_true(v->z == z);
	assert_true(v->w == w);
}

static void inside_is_left_alone(void **state)
{
	/* A point on a plane counts as inside. */
	const struct agate_vertex in[3] = { at(-1, -1, 0, 1), at(1, -1, 1, 1), at(0, 2, 1, 2) };
	struct agate_vertex out[CLIP_MAX_VERTICES];

	(void)state;
	assert_int_equal(clip_triangle(in, out), 3);
	assert_memory_equal(in, out, sizeof(in));
}

static void outside_one_plane_is_dropped(void **state)
{
	static const struct agate_vertex away[] = {
		{ .x = 0, .y = 0, .z = -0.5f, .w = 1 },		/* before near */
		{ .x = 0, .y = 0, .z = 1.5f, .w = 1 },		/* behind far */
		{ .x = -1.5f, .y = 0, .z = 0.5f, .w = 1 },
		{ .x = 1.5f, .y = 0, .z = 0.5f, .w = 1 },
		{ .x = 0, .y = -1.5f, .z = 0.5f, .w = 1 },
		{ .x = 0, .y = 1.5f, .z = 0.5f, .w = 1 },
		{ .x = 0, .y = 0, .z = 0.5f, .w = -1 },		/* behind the eye */
		{ .x = 0, .y = 0, .z = 0, .w = 0 },
	};
	struct agate_vertex out[CLIP_MAX_VERTICES];

	(void)state;
	for (unsigned int i = 0; i < sizeof(away) / sizeof(away[0]); i++) {
		const struct agate_vertex in[3] = { away[i], away[i], away[i] };

		assert_int_equal(clip_triangle(in, out), 0);
	}
}

/*
 * One vertex before the near plane: z runs from -1 to 1, so the cuts are in
 * the middle of both edges, and colours are halfway too.
 */
static void near_plane_cuts_a_corner(void **state)
{
	struct agate_vertex in[3] = {
		at(0, -0.5f, -1, 2), at(0.5f, 0.5f, 1, 2), at(-0.5f, 0.5f, 1, 2),
	};
	struct agate_vertex out[CLIP_MAX_VERTICES];

	(void)state;
	in[0].r = 1.0f;
	in[1].g = 1.0f;
	assert_int_equal(clip_triangle(in, out), 4);
	assert_position(&out[0], 0.25f, 0, 0, 2);
	assert_position(&out[1], 0.5f, 0.5f, 1, 2);
	assert_position(&out[2], -0.5f, 0.5f, 1, 2);
	assert_position(&out[3], -0.25f, 0, 0, 2);
	assert_true(out[0].r == 0.5f && out[0].g == 0.5f && out[0].a == 1.0f);
	assert_true(out[3].r == 0.5f && out[3].g == 0.0f);
}

/* From w = -1 behind the eye to w = 3: z = w - 1 is zero at w = 1, halfway. */
static void behind_the_eye_is_cut_at_near(void **state)
{
	const struct agate_vertex in[3] = {
		at(0, 0.5f, -2, -1), at(0, 0.5f, 2, 3), at(0.5f, 0.5f, 2, 3),
	};
	struct agate_vertex out[CLIP_MAX_VERTICES];

	(void)state;
	assert_int_equal(clip_triangle(in, out), 4);
	assert_position(&out[0], 0, 0.5f, 0, 1);
	assert_position(&out[1], 0, 0.5f, 2, 3);
	assert_position(&out[2], 0.5f, 0.5f, 2, 3);
	assert_position(&out[3], 0.25f, 0.5f, 0, 1);
}

/* A triangle with all of the frustum inside it becomes the viewport's square. */
static void viewport_is_cut_out(void **state)
{
	const struct agate_vertex in[3] = {
		at(-8, -8, 0.5f, 1), at(8, -8, 0.5f, 1), at(0, 16, 0.5f, 1),
	};
	struct agate_vertex out[CLIP_MAX_VERTICES];
	unsigned int corners = 0;
	unsigned int count;

	(void)state;
	count = clip_triangle(in, out);
	assert_true(count >= 4);
	for (unsigned int i = 0; i < count; i++) {
		assert_true(fabsf(out[i].x) <= 1.0f && fabsf(out[i].y) <= 1.0f);
		corners += fabsf(out[i].x) == 1.0f && fabsf(out[i].y) == 1.0f;
	}
	assert_true(corners >= 4);
}

static float next_random(uint32_t *seed, float range)
{
	*seed = *seed * 1664525u + 1013904223u;
	return ((float)(*seed >> 8) / 0x1p23f - 1.0f) * range;
}

static struct agate_vertex random_vertex(uint32_t *seed, float range)
{
	struct agate_vertex v;
	float f[8];

	for (unsigned int i = 0; i < 8; i++)
		f[i] = next_random(seed, range);
	memcpy(&v, f, sizeof(v));
	return v;
}

/* Bits, not values: the two sides of an edge must snap to the same points. */
static unsigned int count_of(const struct agate_vertex *v, const struct agate_vertex *in,
			     unsigned int count)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < count; i++)
		n += !memcmp(v, &in[i], sizeof(*v));
	return n;
}

/*
 * Two triangles on either side of a-b, whose third vertices are far inside: both
 * get the same vertices on the edge.
 */
static void shared_edges_are_cut_alike(void **state)
{
	const struct agate_vertex left = at(-0.25f, 0, 0.5f, 1), right = at(0.25f, 0, 0.5f, 1);
	uint32_t seed = 7;

	(void)state;
	for (unsigned int i = 0; i < 2000; i++) {
		const struct agate_vertex a = random_vertex(&seed, 4), b = random_vertex(&seed, 4);
		const struct agate_vertex one[3] = { a, b, left }, two[3] = { b, a, right };
		const struct agate_vertex edge[3] = { a, b, b };
		struct agate_vertex cut1[CLIP_MAX_VERTICES], cut2[CLIP_MAX_VERTICES];
		struct agate_vertex line[CLIP_MAX_VERTICES];
		const unsigned int n1 = clip_triangle(one, cut1);
		const unsigned int n2 = clip_triangle(two, cut2);
		const unsigned int n = clip_triangle(edge, line);

		for (unsigned int k = 0; k < n; k++) {
			assert_true(count_of(&line[k], cut1, n1) >= 1);
			assert_true(count_of(&line[k], cut2, n2) >= 1);
		}
	}
}

/*
 * A vertex cut by the right plane lies exactly on it, so that the picture reaches
 * the viewport's last pixel and no further.
 */
static void cuts_lie_on_the_plane(void **state)
{
	struct agate_vertex out[CLIP_MAX_VERTICES];
	uint32_t seed = 11;

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		const float w = 2.0f + next_random(&seed, 1);
		const struct agate_vertex in[3] = {
			at(next_random(&seed, 1), 0, 0.5f, w), at(w * 3.3f, -0.3f, 0.5f, w),
			at(w * 2.2f, 0.7f, 0.5f, w + 0.1f),
		};
		unsigned int cut = 0;

		assert_int_equal(clip_triangle(in, out), 3);
		for (unsigned int k = 0; k < 3; k++)
			cut += out[k].x == out[k].w;
		assert_int_equal(cut, 2);
	}
}

/*
 * Magnitudes so far apart that rounding folds the polygon: it crosses the far
 * plane four times, and is dropped.
 */
static void folded_slivers_are_dropped(void **state)
{
	const struct agate_vertex in[3] = {
		at(-0x1.0fcp-28f, 0x1.e2cp+26f, 0x1.a28p-22f, -0x1.708p-32f),
		at(-0x1.b9cp-32f, 0x1p+7f, 0x1.db4p+13f, 0x1.54cp-6f),
		at(0x1.3ecp+34f, -0x1p-14f, 0x1.6b4p-31f, 0x1.3ecp+34f),
	};
	struct agate_vertex out[CLIP_MAX_VERTICES];

	(void)state;
	assert_int_equal(clip_triangle(in, out), 0);
}

/* Whatever the input, the output can be divided by w. */
static void hostile_magnitudes(void **state)
{
	static const float ranges[] = { 0x1p40f, 1.0f, 0x1p-30f, 0x1p-60f, FLT_MIN };
	struct agate_vertex out[CLIP_MAX_VERTICES];
	uint32_t seed = 3;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		const struct agate_vertex in[3] = {
			random_vertex(&seed, ranges[i % 5]),
			random_vertex(&seed, ranges[i / 5 % 5]),
			random_vertex(&seed, ranges[i / 25 % 5]),
		};
		const unsigned int count = clip_triangle(in, out);

		assert_true(count <= CLIP_MAX_VERTICES && count != 1 && count != 2);
		for (unsigned int k = 0; k < count; k++) {
			assert_true(out[k].w >= CLIP_MIN_W);
			assert_true(isfinite(out[k].x) && isfinite(out[k].y));
			assert_true(isfinite(out[k].z) && isfinite(out[k].r));
		}
	}
}

static void valid_vertices(void **state)
{
	static const float bad[] = { NAN, -NAN, INFINITY, -INFINITY, FLT_MAX, -0x1.1p40f };
	const struct agate_vertex good = at(0x1p40f, -0x1p40f, FLT_MIN, 0);

	(void)state;
	assert_true(clip_vertex_valid(&good));
	for (unsigned int i = 0; i < 8; i++) {
		for (unsigned int k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
			struct agate_vertex v = good;

			memcpy((char *)&v + i * sizeof(float), &bad[k], sizeof(float));
			assert_false(clip_vertex_valid(&v));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inside_is_left_alone),
		cmocka_unit_test(outside_one_plane_is_dropped),
		cmocka_unit_test(near_plane_cuts_a_corner),
		cmocka_unit_test(behind_the_eye_is_cut_at_near),
		cmocka_unit_test(viewport_is_cut_out),
		cmocka_unit_test(shared_edges_are_cut_alike),
		cmocka_unit_test(cuts_lie_on_the_plane),
		cmocka_unit_test(folded_slivers_are_dropped),
		cmocka_unit_test(hostile_magnitudes),
		cmocka_unit_test(valid_vertices),
	};

	return cmocka_run_group_tests_name("raster: clipping", tests, NULL, NULL);
}
