// SPDX-License-Identifier: MIT
/*
 * raster.c: which pixels a triangle covers.  The expected pixels were drawn on
 * squared paper.  The meshes check the most important rule: an edge that two
 * triangles share gives each pixel to exactly one of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "raster.h"

static struct raster_point at(float x, float y)
{
	return (struct raster_point) { raster_snap(x), raster_snap(y) };
}

/* Coverage of tile (0, 0), or nothing. */
static void cover(struct raster_point a, struct raster_point b, struct raster_point c,
		  uint16_t rows[16])
{
	const struct raster_point p[3] = { a, b, c };
	struct raster_triangle t;

	memset(rows, 0, 16 * sizeof(*rows));
	if (raster_triangle_init(&t, p))
		raster_cover_tile(&t, 0, 0, rows);
}

static void assert_rows(const uint16_t rows[16], const uint16_t *expected, unsigned int n)
{
	for (unsigned int y = 0; y < 16; y++)
		assert_int_equal(rows[y], y < n ? expected[y] : 0);
}

static void snapping(void **state)
{
	(void)state;
	assert_int_equal(raster_snap(0.0f), 0);
	assert_int_equal(raster_snap(1.0f), 256);
	assert_int_equal(raster_snap(-1.0f), -256);
	assert_int_equal(raster_snap(0.5f), 128);
	assert_int_equal(raster_snap(10.001f), 2560);
	assert_int_equal(raster_snap(10.003f), 2561);
	assert_int_equal(raster_snap(RASTER_MAX_COORDINATE), RASTER_MAX_COORDINATE * 256);
}

/*
 * The square 0..4 cut along x + y = 4.  The centres with x + y = 3 (whole
 * pixels) lie on the cut.  It is the right edge of the upper half, so they
 * belong to the lower one, whose left edge it is.
 */
static void diagonal_belongs_to_the_lower_half(void **state)
{
	static const uint16_t upper[] = { 0x7, 0x3, 0x1 };
	static const uint16_t lower[] = { 0x8, 0xc, 0xe, 0xf };
	uint16_t rows[16];

	(void)state;
	cover(at(0, 0), at(4, 0), at(0, 4), rows);
	assert_rows(rows, upper, 3);
	cover(at(4, 0), at(4, 4), at(0, 4), rows);
	assert_rows(rows, lower, 4);
}

static void either_winding_covers_the_same(void **state)
{
	static const uint16_t upper[] = { 0x7, 0x3, 0x1 };
	uint16_t rows[16];

	(void)state;
	cover(at(0, 0), at(0, 4), at(4, 0), rows);
	assert_rows(rows, upper, 3);
	cover(at(4, 0), at(0, 4), at(0, 0), rows);
	assert_rows(rows, upper, 3);
}

/*
 * A square whose sides run through pixel centres, 0.5 to 2.5: the top row and
 * the left column of centres are in, the bottom row and the right column out.
 */
static void top_and_left_centres_are_inside(void **state)
{
	const struct raster_point nw = at(0.5f, 0.5f), ne = at(2.5f, 0.5f);
	const struct raster_point sw = at(0.5f, 2.5f), se = at(2.5f, 2.5f);
	static const uint16_t expected[] = { 0x3, 0x3 };
	uint16_t one[16], two[16];

	(void)state;
	cover(nw, ne, sw, one);
	cover(ne, se, sw, two);
	for (unsigned int y = 0; y < 16; y++) {
		assert_int_equal(one[y] & two[y], 0);
		one[y] |= two[y];
	}
	assert_rows(one, expected, 2);
}

/* From (1, 1) to (7, 3) to (3, 6): worked out centre by centre. */
static void oblique_triangle(void **state)
{
	/*
	 * Edges: y = 1 + (x - 1) / 3; x = 7 - 4 (y - 3) / 3; x = 1 + 2 (y - 1) / 5.
	 * At y = 1.5: x from 1.2 to 2.5 (1.5 in; 2.5 is on the top right edge,
	 * which goes down to the right with the inside below: a top edge is only
	 * a level one, and a left one goes up, so out).
	 * 2.5: 1.6 to 5.5 (2.5 3.5 4.5; 5.5 out likewise).  3.5: 2 to 6.33 (2.5 .. 5.5).
	 * 4.5: 2.4 to 5 (2.5 3.5 4.5).  5.5: 2.8 to 3.67 (3.5).
	 */
	static const uint16_t expected[] = { 0, 0x02, 0x1c, 0x3c, 0x1c, 0x08 };
	uint16_t rows[16];

	(void)state;
	cover(at(1, 1), at(7, 3), at(3, 6), rows);
	assert_rows(rows, expected, 6);
}

static void nothing_to_draw(void **state)
{
	const struct raster_point line[3] = { at(1, 1), at(5, 5), at(9, 9) };
	const struct raster_point between[3] = { at(1.6f, 1.6f), at(2.4f, 1.6f), at(2, 2.4f) };
	const struct raster_point point[3] = { at(3, 3), at(3, 3), at(3, 3) };
	struct raster_triangle t;

	(void)state;
	assert_false(raster_triangle_init(&t, line));
	assert_false(raster_triangle_init(&t, between));
	assert_false(raster_triangle_init(&t, point));
}

/* The largest possible triangle: no product overflows (UBSan checks). */
static void extreme_coordinates(void **state)
{
	const float m = RASTER_MAX_COORDINATE;
	const struct raster_point p[3] = { at(-m, -m), at(m, -m), at(-m, m) };
	static const uint16_t none[1];
	struct raster_triangle t;
	uint16_t rows[16];

	(void)state;
	assert_true(raster_triangle_init(&t, p));
	assert_int_equal(t.area, (int64_t)4 * 16384 * 16384 * 65536);
	/* x + y = 0 touches only tile (0, 0)'s corner, which is not a centre. */
	assert_false(raster_meets_tile(&t, 0, 0));
	assert_int_equal(raster_cover_tile(&t, 0, 0, rows), 16);
	assert_rows(rows, none, 0);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

#define SIDE	48	/* pixels, 3 x 3 tiles */

static void count_coverage(const struct raster_point p[3], uint8_t hits[SIDE][SIDE])
{
	struct raster_triangle t;
	uint16_t rows[16];

	if (!raster_triangle_init(&t, p))
		return;
	for (uint32_t tile = 0; tile < 9; tile++) {
		const unsigned int n = raster_cover_tile(&t, tile % 3, tile / 3, rows);
		unsigned int covered = 0;

		for (unsigned int i = 0; i < 256; i++) {
			const unsigned int set = rows[i / 16] >> i % 16 & 1;

			assert_true(i / 16 < n || !set);
			covered += set;
			hits[tile / 3 * 16 + i / 16][tile % 3 * 16 + i % 16] += set;
		}
		/* The tile test may be generous, but must not miss anything. */
		if (covered)
			assert_true(raster_meets_tile(&t, tile % 3, tile / 3));
	}
}

/* Fans around a random point fill their square, every pixel once. */
static void meshes_touch_each_pixel_once(void **state)
{
	const int32_t far = SIDE * RASTER_SUBPIXELS;
	uint32_t seed = 1;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		uint8_t hits[SIDE][SIDE] = { 0 };
		const int32_t cut[4] = {
			(int32_t)(next_random(&seed) % far), (int32_t)(next_random(&seed) % far),
			(int32_t)(next_random(&seed) % far), (int32_t)(next_random(&seed) % far),
		};
		/* Every other middle point lies on a pixel's centre, where ties occur. */
		const int32_t snap = round % 2 ? 1 : 128;
		const struct raster_point middle = {
			(int32_t)(next_random(&seed) % far) / snap * snap,
			(int32_t)(next_random(&seed) % far) / snap * snap,
		};
		const struct raster_point rim[8] = {
			{ 0, 0 }, { cut[0], 0 }, { far, 0 }, { far, cut[1] },
			{ far, far }, { cut[2], far }, { 0, far }, { 0, cut[3] },
		};

		for (unsigned int i = 0; i < 8; i++) {
			const struct raster_point p[3] = { middle, rim[(i + 1) % 8], rim[i] };

			count_coverage(p, hits);
		}
		for (unsigned int i = 0; i < SIDE * SIDE; i++)
			assert_int_equal(hits[i / SIDE][i % SIDE], 1);
	}
}

/* The tile test is exact for lines that pass a tile's corner on the outside. */
static void tile_test_is_tight(void **state)
{
	const struct raster_point p[3] = { at(2, 2), at(30, 2), at(2, 18) };
	const struct raster_point steep[3] = { at(0, 0), at(160, 159), at(159, 160) };
	const struct raster_point touching[3] = {
		at(15.5f, 2), at(30, 7), at(15.5f, 14),
	};
	const struct raster_point leaving[3] = { at(4, 7), at(16.5f, 2), at(16.5f, 14) };
	struct raster_triangle t;

	(void)state;
	assert_true(raster_triangle_init(&t, p));
	assert_true(raster_meets_tile(&t, 0, 0));
	assert_true(raster_meets_tile(&t, 1, 0));
	assert_true(raster_meets_tile(&t, 0, 1));
	assert_false(raster_meets_tile(&t, 1, 1));
	assert_false(raster_meets_tile(&t, 2, 0));

	/* The left side runs through the centres of tile 0's last column. */
	assert_true(raster_triangle_init(&t, touching));
	assert_true(raster_meets_tile(&t, 0, 0));
	assert_false(raster_meets_tile(&t, 0, 1));
	/* As a right side it leaves them out, and tile (1, 0) is not reached. */
	assert_true(raster_triangle_init(&t, leaving));
	assert_true(raster_meets_tile(&t, 0, 0));
	assert_false(raster_meets_tile(&t, 1, 0));

	/*
	 * A needle along the diagonal, whose box has 100 tiles: its lower side,
	 * y = 159/160 x, would have to fall half a pixel and more behind the
	 * diagonal in each tile to meet the next one.
	 */
	assert_true(raster_triangle_init(&t, steep));
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(raster_meets_tile(&t, i % 10, i / 10), i % 10 == i / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(snapping),
		cmocka_unit_test(diagonal_belongs_to_the_lower_half),
		cmocka_unit_test(either_winding_covers_the_same),
		cmocka_unit_test(top_and_left_centres_are_inside),
		cmocka_unit_test(oblique_triangle),
		cmocka_unit_test(nothing_to_draw),
		cmocka_unit_test(extreme_coordinates),
		cmocka_unit_test(meshes_touch_each_pixel_once),
		cmocka_unit_test(tile_test_is_tight),
	};

	return cmocka_run_group_tests_name("raster: coverage", tests, NULL, NULL);
}
