// SPDX-License-Identifier: MIT
/* FRAGMENT: clear, load, depth, perspective, partial tiles, byte order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"

static int setup(void **state)
{
	*state = frame_new(32, 16);	/* 2 x 1 tiles */
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

/* A rectangle of one colour and depth, as two triangles. */
static void rectangle(struct frame *f, float x0, float y0, float x1, float y1, float z,
		      float r, float g, float b)
{
	const struct agate_vertex nw = frame_at(f, x0, y0, z, r, g, b);
	const struct agate_vertex ne = frame_at(f, x1, y0, z, r, g, b);
	const struct agate_vertex sw = frame_at(f, x0, y1, z, r, g, b);
	const struct agate_vertex se = frame_at(f, x1, y1, z, r, g, b);

	frame_triangle(f, nw, ne, sw);
	frame_triangle(f, ne, se, sw);
}

static void clear_only(void **state)
{
	struct frame *f = *state;

	f->fb->tiler = 0;
	f->fb->clear_color[0] = 1.0f;
	f->fb->clear_color[1] = 0.5f;	/* 127.5 + 0.5: 128 */
	f->fb->clear_depth = 0.75f;
	assert_int_equal(frame_draw(f), AGATE_EXC_DONE);
	for (unsigned int y = 0; y < 16; y++) {
		for (unsigned int x = 0; x < 32; x++) {
			assert_int_equal(frame_pixel(f, x, y), 0xff0080ff);
			assert_true(frame_depth(f, x, y) == 0.75f);
		}
	}
	assert_int_equal(f->sim.counter[AGATE_CNT_PIXELS], 0);
}

static void byte_order_of_formats(void **state)
{
	static const uint8_t rgba[] = { 0xff, 0x80, 0x33, 0x00 };
	static const uint8_t bgra[] = { 0x33, 0x80, 0xff, 0x00 };
	struct frame *f = *state;
	const float color[4] = { 1.0f, 0.5f, 0.2f, 0.0f };

	memcpy(f->fb->clear_color, color, sizeof(color));
	assert_int_equal(frame_draw(f), AGATE_EXC_DONE);
	assert_memory_equal(fake_at(&f->sim, FRAME_COLOR, 4), rgba, 4);
	f->fb->format = AGATE_FORMAT_B8G8R8A8;
	assert_int_equal(frame_draw(f), AGATE_EXC_DONE);
	assert_memory_equal(fake_at(&f->sim, FRAME_COLOR, 4), bgra, 4);

	/* Drawn pixels are packed like cleared ones. */
	rectangle(f, 0, 0, 32, 16, 0.5f, 1.0f, 0.5f, 0.2f);
	frame_render(f);
	assert_int_equal(frame_pixel(f, 3, 3), 0xffff8033);
}

/* Each pixel of a rectangle once, although an edge runs through its middle. */
static void rectangle_is_exact(void **state)
{
	struct frame *f = *state;

	rectangle(f, 10, 3, 21, 11, 0.5f, 1, 0, 0);
	frame_render(f);
	for (unsigned int y = 0; y < 16; y++) {
		for (unsigned int x = 0; x < 32; x++) {
			const int in = x >= 10 && x < 21 && y >= 3 && y < 11;

			assert_int_equal(frame_pixel(f, x, y), in ? RED : BLACK);
			assert_true(frame_depth(f, x, y) == (in ? 0.5f : 1.0f));
		}
	}
	assert_int_equal(f->sim.counter[AGATE_CNT_PIXELS], 11 * 8);
}

static void nearer_wins_in_any_order(void **state)
{
	struct frame *f = *state;

	for (unsigned int order = 0; order < 2; order++) {
		f->tiler->index_count = 0;
		f->tiler->vertex_count = 0;
		f->ctx->heap_top = FRAME_HEAP;
		memset(f->bins, 0, 2 * sizeof(*f->bins));

		if (order)
			rectangle(f, 4, 4, 12, 12, 0.25f, 1, 0, 0);
		rectangle(f, 0, 0, 32, 16, 0.5f, 0, 0, 1);
		if (!order)
			rectangle(f, 4, 4, 12, 12, 0.25f, 1, 0, 0);
		frame_render(f);
		assert_int_equal(frame_pixel(f, 3, 4), BLUE);
		assert_int_equal(frame_pixel(f, 4, 4), RED);
		assert_int_equal(frame_pixel(f, 11, 11), RED);
		assert_int_equal(frame_pixel(f, 12, 11), BLUE);
	}
}

/* At equal depths the first stays; nothing is drawn behind the cleared depth. */
static void depth_test_is_less(void **state)
{
	struct frame *f = *state;

	f->fb->clear_depth = 0.5f;
	rectangle(f, 0, 0, 4, 4, 0.25f, 1, 0, 0);
	rectangle(f, 0, 0, 4, 4, 0.25f, 0, 1, 0);
	rectangle(f, 8, 0, 12, 4, 0.5f, 0, 0, 1);
	frame_render(f);
	assert_int_equal(frame_pixel(f, 1, 1), RED);
	assert_int_equal(frame_pixel(f, 9, 1), BLACK);
	assert_int_equal(f->sim.counter[AGATE_CNT_PIXELS], 16);
}

static void without_depth_test_the_last_wins(void **state)
{
	struct frame *f = *state;

	f->fb->flags = AGATE_FB_CLEAR_COLOR;
	memset(fake_at(&f->sim, FRAME_DEPTH, 4), 0x5a, 4);
	rectangle(f, 0, 0, 32, 16, 0.25f, 1, 0, 0);
	rectangle(f, 0, 0, 32, 16, 0.5f, 0, 1, 0);
	frame_render(f);
	assert_int_equal(frame_pixel(f, 0, 0), GREEN);
	/* Depth is neither cleared nor tested: the depth buffer stays unchanged. */
	assert_int_equal(*(uint32_t *)fake_at(&f->sim, FRAME_DEPTH, 4), 0x5a5a5a5a);
}

/* Depth in the tile only: tested, but never written to memory. */
static void depth_without_a_buffer(void **state)
{
	struct frame *f = *state;

	f->fb->depth = 0;
	rectangle(f, 4, 4, 12, 12, 0.25f, 1, 0, 0);
	rectangle(f, 0, 0, 32, 16, 0.5f, 0, 0, 1);
	frame_render(f);
	assert_int_equal(frame_pixel(f, 5, 5), RED);
	assert_int_equal(frame_pixel(f, 0, 0), BLUE);
	assert_int_equal(*(uint32_t *)fake_at(&f->sim, FRAME_DEPTH, 4), 0);
}

/* Colour and depth of an earlier job are the start of the next. */
static void loaded_instead_of_cleared(void **state)
{
	struct frame *f = *state;

	rectangle(f, 0, 0, 16, 16, 0.25f, 1, 0, 0);
	frame_render(f);

	f->tiler->index_count = 0;
	f->ctx->heap_top = FRAME_HEAP;
	memset(f->bins, 0, 2 * sizeof(*f->bins));
	f->tiler->vertex_count = 0;
	rectangle(f, 8, 0, 24, 16, 0.5f, 0, 1, 0);
	f->fb->flags = AGATE_FB_DEPTH_TEST;
	frame_render(f);
	assert_int_equal(frame_pixel(f, 7, 9), RED);
	assert_int_equal(frame_pixel(f, 15, 9), RED);
	assert_int_equal(frame_pixel(f, 16, 9), GREEN);
	assert_int_equal(frame_pixel(f, 24, 9), BLACK);
	assert_true(frame_depth(f, 15, 0) == 0.25f && frame_depth(f, 23, 0) == 0.5f);
}

/*
 * w = 1 on the left edge and 3 on the right one, red from 0 to 1, over 16
 * pixels: at t = (2 i + 1) / 32 of the way red is (t / 3) / (1 - t + t / 3)
 * = (2 i + 1) / (94 - 4 i), and depth, linear on the screen, is t.
 */
static void perspective_is_correct(void **state)
{
	static const struct { unsigned int x; uint32_t red; } expected[] = {
		{ 0, 3 },	/* 1/94 of 255: 2.71 */
		{ 3, 22 },	/* 7/82: 21.77 */
		{ 7, 58 },	/* 15/66: 57.95 */
		{ 11, 117 },	/* 23/50: 117.3 */
		{ 14, 195 },	/* 29/38: 194.6 */
	};
	const struct agate_vertex v[4] = {
		{ .x = -1, .y = -1, .z = 0, .w = 1, .a = 1 },
		{ .x = 3, .y = -3, .z = 3, .w = 3, .r = 1, .a = 1 },
		{ .x = -1, .y = 1, .z = 0, .w = 1, .a = 1 },
		{ .x = 3, .y = 3, .z = 3, .w = 3, .r = 1, .a = 1 },
	};
	struct frame *f = *state;

	/* One triangle of each winding: colours stay with their vertices. */
	f->tiler->viewport.width = 16;
	frame_triangle(f, v[0], v[1], v[2]);
	frame_triangle(f, v[3], v[1], v[2]);
	frame_render(f);
	for (unsigned int y = 0; y < 16; y++) {
		for (unsigned int i = 0; i < 5; i++) {
			const unsigned int x = expected[i].x;

			assert_int_equal(frame_pixel(f, x, y), BLACK | expected[i].red);
			assert_true(fabsf(frame_depth(f, x, y) - (float)(2 * x + 1) / 32) < 1e-6f);
		}
		/* The viewport ends here, though the framebuffer does not. */
		assert_int_equal(frame_pixel(f, 16, y), BLACK);
	}
}

/*
 * Depth from -1 on the left to 1 on the right: the left half is in front of the
 * near plane, and the rest runs from 0 to 1.
 */
static void near_plane_cuts_the_picture(void **state)
{
	struct frame *f = *state;

	frame_triangle(f, frame_at(f, 0, 0, -1, 0, 1, 0), frame_at(f, 32, 0, 1, 0, 1, 0),
		       frame_at(f, 0, 16, -1, 0, 1, 0));
	frame_triangle(f, frame_at(f, 32, 0, 1, 0, 1, 0), frame_at(f, 32, 16, 1, 0, 1, 0),
		       frame_at(f, 0, 16, -1, 0, 1, 0));
	frame_render(f);
	for (unsigned int y = 0; y < 16; y++) {
		for (unsigned int x = 0; x < 32; x++)
			assert_int_equal(frame_pixel(f, x, y), x < 16 ? BLACK : GREEN);
		/* Pixel 20's centre: 4.5 of 16. */
		assert_true(fabsf(frame_depth(f, 20, y) - 4.5f / 16) < 1e-6f);
	}
	assert_int_equal(f->sim.counter[AGATE_CNT_PIXELS], 16 * 16);
}

/* 21 x 11 pixels in rows of 96 bytes: the memory next to them stays unchanged. */
static void partial_tiles_and_stride(void **state)
{
	struct frame *f = frame_new(21, 11);

	(void)state;
	f->fb->stride = 96;
	f->fb->depth_stride = 100;
	memset(fake_at(&f->sim, FRAME_COLOR, 0x2000), 0x77, 0x2000);
	memset(fake_at(&f->sim, FRAME_DEPTH, 0x2000), 0x77, 0x2000);
	rectangle(f, 0, 0, 21, 11, 0.5f, 0, 0, 1);
	frame_render(f);
	for (unsigned int i = 0; i < 0x2000 / 4; i++) {
		const uint32_t *color = fake_at(&f->sim, FRAME_COLOR + i * 4, 4);
		const uint32_t *depth = fake_at(&f->sim, FRAME_DEPTH + i * 4, 4);
		const int in_color = i / 24 < 11 && i % 24 < 21;
		const int in_depth = i / 25 < 11 && i % 25 < 21;

		assert_int_equal(*color, in_color ? BLUE : 0x77777777);
		assert_int_equal(*depth, in_depth ? 0x3f000000 : 0x77777777);
	}
	assert_int_equal(f->sim.counter[AGATE_CNT_PIXELS], 21 * 11);
	free(f);
}

/* Only the requested tiles are drawn. */
static void tile_range(void **state)
{
	struct frame *f = *state;

	f->fragment->min_x = 1;
	rectangle(f, 0, 0, 32, 16, 0.5f, 1, 0, 0);
	frame_render(f);
	assert_int_equal(frame_pixel(f, 15, 0), 0);
	assert_int_equal(frame_pixel(f, 16, 0), RED);
	assert_int_equal(f->sim.counter[AGATE_CNT_PIXELS], 256);
}

/* More primitives in a tile than a chunk holds; the last drawn is nearest. */
static void list_of_chunks(void **state)
{
	struct frame *f = *state;

	for (unsigned int i = 0; i < 60; i++)
		rectangle(f, 0, 0, 16, 16, 1.0f - (float)i / 128, i == 59, 1, 0);
	frame_render(f);	/* the first at depth 1 is not nearer */
	assert_int_equal(frame_pixel(f, 0, 0), RED | GREEN);
	assert_true(frame_chunk(f, f->bins[0].first)->next != 0);
	assert_int_equal(f->sim.counter[AGATE_CNT_PIXELS], 59 * 256);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(clear_only),
		TEST(byte_order_of_formats),
		TEST(rectangle_is_exact),
		TEST(nearer_wins_in_any_order),
		TEST(depth_test_is_less),
		TEST(without_depth_test_the_last_wins),
		TEST(depth_without_a_buffer),
		TEST(loaded_instead_of_cleared),
		TEST(perspective_is_correct),
		TEST(near_plane_cuts_the_picture),
		TEST(partial_tiles_and_stride),
		TEST(tile_range),
		TEST(list_of_chunks),
	};

	return cmocka_run_group_tests_name("raster: fragment", tests, NULL, NULL);
}
