// SPDX-License-Identifier: MIT
/*
 * Something that a driver may do: a viewport larger than the frame.  Something that
 * it must not do: move the heap while a job runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"

#define WIDTH	24u
#define HEIGHT	12u	/* one row of tiles, and not all of it */

/* Two triangles over all of the viewport. */
static void cover(struct frame *f)
{
	const struct agate_vertex v[4] = {
		{ -1, -1, 0.5f, 1, 1, 0, 0, 1 }, { 1, -1, 0.5f, 1, 1, 0, 0, 1 },
		{ -1, 1, 0.5f, 1, 1, 0, 0, 1 }, { 1, 1, 0.5f, 1, 1, 0, 0, 1 },
	};

	frame_triangle(f, v[0], v[1], v[2]);
	frame_triangle(f, v[1], v[3], v[2]);
}

static void a_viewport_beyond_the_frame(void **state)
{
	struct frame *f = frame_new(WIDTH, HEIGHT);
	uint8_t *picture = fake_at(&f->sim, FRAME_COLOR, 8192);
	uint8_t *depth = fake_at(&f->sim, FRAME_DEPTH, 8192);
	uint32_t x, y, i;

	(void)state;
	memset(picture, 0x5a, 8192);
	memset(depth, 0x5a, 8192);
	f->tiler->viewport.width = 64;
	f->tiler->viewport.height = 64;
	cover(f);
	frame_render(f);
	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++) {
			assert_int_equal(frame_pixel(f, x, y), RED);
			assert_true(frame_depth(f, x, y) == 0.5f);
		}
	/* Each pixel of the picture once, and none outside it. */
	assert_int_equal(f->sim.counter[AGATE_CNT_PIXELS], WIDTH * HEIGHT);
	for (i = WIDTH * HEIGHT * 4; i < 8192; i++) {
		assert_int_equal(picture[i], 0x5a);
		assert_int_equal(depth[i], 0x5a);
	}
	free(f);
}

/* Run the TILER job unit by unit; after the first, the context says another top. */
static unsigned int tile_with_top(struct frame *f, uint64_t top)
{
	struct agate_exec x = { .sim = &f->sim, .job = FRAME_TILER_JOB };
	void *job = calloc(1, agate_tiler_ops.state_size);
	enum agate_run r;

	assert_non_null(job);
	r = agate_tiler_ops.run(&x, job);
	f->ctx->heap_top = top;
	while (r == AGATE_RUN_AGAIN)
		r = agate_tiler_ops.run(&x, job);
	free(job);
	return r == AGATE_RUN_DONE ? AGATE_EXC_DONE : f->sim.exception;
}

static void a_heap_whose_top_moves(void **state)
{
	static const uint64_t wrong[] = {
		FRAME_HEAP + 8, FRAME_HEAP - 4096, FRAME_HEAP + FRAME_HEAP_SIZE + 4096, 0,
		UINT64_MAX,
	};
	struct frame *f;
	unsigned int i;

	(void)state;
	/* Another job of the frame has taken a chunk meanwhile. */
	f = frame_new(WIDTH, HEIGHT);
	cover(f);
	assert_int_equal(tile_with_top(f, FRAME_HEAP + 4096), AGATE_EXC_DONE);
	assert_int_equal(f->bins[0].first, FRAME_HEAP + 4096);
	free(f);

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		f = frame_new(WIDTH, HEIGHT);
		cover(f);
		assert_int_equal(tile_with_top(f, wrong[i]), AGATE_EXC_DATA_INVALID_FAULT);
		assert_int_equal(f->sim.fault_pointer,
				 FRAME_CONTEXT + offsetof(struct agate_tiler_context, heap_top));
		assert_int_equal(f->ctx->heap_top, wrong[i]);
		assert_int_equal(f->bins[0].first, 0);
		free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_viewport_beyond_the_frame),
		cmocka_unit_test(a_heap_whose_top_moves),
	};

	return cmocka_run_group_tests_name("raster-outside", tests, NULL, NULL);
}
