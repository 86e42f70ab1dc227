// SPDX-License-Identifier: MIT
/* TILER: bins, chunks and heap worked out by hand; culling; wrong data. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"

#define PAYLOAD	(FRAME_TILER_JOB + AGATE_JOB_HEADER_SIZE)

static int setup(void **state)
{
	*state = frame_new(40, 20);	/* 3 x 2 tiles */
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void add(struct frame *f, float ax, float ay, float bx, float by, float cx, float cy)
{
	frame_triangle(f, frame_at(f, ax, ay, 0.5f, 1, 0, 0), frame_at(f, bx, by, 0.5f, 0, 1, 0),
		       frame_at(f, cx, cy, 0.5f, 0, 0, 1));
}

static void assert_bin(const struct frame *f, unsigned int tile, uint64_t first, uint64_t last)
{
	assert_int_equal(f->bins[tile].first, first);
	assert_int_equal(f->bins[tile].last, last);
}

static void assert_untouched(struct frame *f)
{
	assert_int_equal(f->ctx->heap_top, FRAME_HEAP);
	for (unsigned int i = 0; i < 6; i++)
		assert_bin(f, i, 0, 0);
}

/*
 * From (2, 2) to (30, 2) to (2, 18): of its box's four tiles all but the one
 * at the lower right, beyond the long side.
 */
static void bins_by_hand(void **state)
{
	struct frame *f = *state;
	const struct agate_tiler_chunk *chunk;

	add(f, 2, 2, 30, 2, 2, 18);
	add(f, 4, 4, 8, 4, 4, 8);
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);

	assert_int_equal(f->ctx->heap_top, FRAME_HEAP + 3 * 4096);
	assert_bin(f, 0, FRAME_HEAP, FRAME_HEAP);
	assert_bin(f, 1, FRAME_HEAP + 4096, FRAME_HEAP + 4096);
	assert_bin(f, 2, 0, 0);
	assert_bin(f, 3, FRAME_HEAP + 8192, FRAME_HEAP + 8192);
	assert_bin(f, 4, 0, 0);
	assert_bin(f, 5, 0, 0);
	assert_int_equal(frame_chunk(f, FRAME_HEAP + 4096)->count, 1);
	assert_int_equal(frame_chunk(f, FRAME_HEAP + 8192)->count, 1);

	chunk = frame_chunk(f, FRAME_HEAP);
	assert_int_equal(chunk->count, 2);
	assert_int_equal(chunk->next, 0);
	assert_true(chunk->primitive[0].v[1].x == 30.0f && chunk->primitive[0].v[1].y == 2.0f);
	assert_true(chunk->primitive[0].v[2].x == 2.0f && chunk->primitive[0].v[2].y == 18.0f);
	assert_true(chunk->primitive[1].v[1].x == 8.0f && chunk->primitive[1].v[1].y == 4.0f);
	assert_int_equal(f->sim.counter[AGATE_CNT_TRIANGLES], 2);
}

/* The effect of the viewport and of the division by w on one vertex. */
static void transform_by_hand(void **state)
{
	struct frame *f = *state;
	const struct agate_vertex v[3] = {
		{ .x = 0, .y = 0, .z = 1, .w = 2, .r = 1, .g = 0.5f, .b = 0.25f, .a = 1 },
		{ .x = 4, .y = -2, .z = 0, .w = 4, .r = 1, .a = 1 },
		{ .x = -1, .y = 1, .z = 1, .w = 1, .a = 1 },
	};
	const struct agate_tiler_vertex *out;

	f->tiler->viewport = (struct agate_viewport) {
		.x = 8, .y = 2, .width = 16, .height = 12,
		.near_depth = 0.25f, .far_depth = 0.75f,
	};
	frame_triangle(f, v[0], v[1], v[2]);
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);

	out = frame_chunk(f, FRAME_HEAP)->primitive[0].v;
	assert_true(out[0].x == 16 && out[0].y == 8 && out[0].z == 0.5f && out[0].rw == 0.5f);
	assert_true(out[0].r == 0.5f && out[0].g == 0.25f && out[0].b == 0.125f);
	assert_true(out[0].a == 0.5f);
	assert_true(out[1].x == 24 && out[1].y == 5 && out[1].z == 0.25f && out[1].rw == 0.25f);
	assert_true(out[1].r == 0.25f);
	assert_true(out[2].x == 8 && out[2].y == 14 && out[2].z == 0.75f && out[2].rw == 1);
}

/* 42 primitives fill a chunk; the 43rd starts the second one of the list. */
static void full_chunk_starts_another(void **state)
{
	struct frame *f = *state;

	for (unsigned int i = 0; i < 43; i++)
		add(f, 1, 1, 9, 1, 1, 9);
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
	assert_bin(f, 0, FRAME_HEAP, FRAME_HEAP + 4096);
	assert_int_equal(frame_chunk(f, FRAME_HEAP)->count, 42);
	assert_int_equal(frame_chunk(f, FRAME_HEAP)->next, FRAME_HEAP + 4096);
	assert_int_equal(frame_chunk(f, FRAME_HEAP + 4096)->count, 1);
	assert_int_equal(frame_chunk(f, FRAME_HEAP + 4096)->next, 0);
	assert_int_equal(f->ctx->heap_top, FRAME_HEAP + 2 * 4096);
}

/* A second job of the frame continues where the first one stopped. */
static void jobs_share_the_bins(void **state)
{
	struct frame *f = *state;

	add(f, 1, 1, 9, 1, 1, 9);
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
	assert_int_equal(frame_chunk(f, FRAME_HEAP)->count, 2);
	assert_int_equal(f->ctx->heap_top, FRAME_HEAP + 4096);
}

static void heap_faults_in_page_by_page(void **state)
{
	struct frame *f = *state;

	for (unsigned int page = 0; page < FRAME_HEAP_SIZE / 4096; page++)
		f->sim.missing[(FRAME_HEAP - FAKE_BASE) / 4096 + page] = true;
	add(f, 2, 2, 30, 2, 2, 18);
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
	assert_int_equal(f->sim.page_faults, 3);
	assert_int_equal(f->sim.last_fault, FRAME_HEAP + 2 * 4096);
}

static void used_up_heap_is_out_of_memory(void **state)
{
	struct frame *f = *state;

	f->ctx->heap_end = FRAME_HEAP + 2 * 4096;
	add(f, 2, 2, 30, 2, 2, 18);
	assert_int_equal(frame_tile(f), AGATE_EXC_OUT_OF_MEMORY);
	assert_int_equal(f->sim.fault_pointer, FRAME_HEAP + 2 * 4096);
	/* Everything that fitted is present and complete. */
	assert_int_equal(f->ctx->heap_top, FRAME_HEAP + 2 * 4096);
	assert_bin(f, 1, FRAME_HEAP + 4096, FRAME_HEAP + 4096);
	assert_bin(f, 3, 0, 0);
}

static void culling_drops_clockwise_only(void **state)
{
	struct frame *f = *state;

	f->tiler->flags = AGATE_TILER_CULL_BACK;
	add(f, 1, 1, 9, 1, 1, 9);	/* right, then down to the left: clockwise */
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
	assert_untouched(f);

	f->tiler->index_count = 0;
	add(f, 1, 1, 1, 9, 9, 1);
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
	assert_int_equal(frame_chunk(f, FRAME_HEAP)->count, 1);

	f->tiler->flags = 0;
	f->tiler->index_count = 0;
	add(f, 1, 1, 9, 1, 1, 9);
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
	assert_int_equal(frame_chunk(f, FRAME_HEAP)->count, 2);
}

static void empty_triangles_are_dropped(void **state)
{
	struct frame *f = *state;

	add(f, 1, 1, 9, 9, 5, 5);
	add(f, 3, 3, 3, 3, 3, 3);
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
	assert_untouched(f);
	assert_int_equal(f->sim.counter[AGATE_CNT_TRIANGLES], 2);
}

/* The viewport may reach beyond the framebuffer; bins do not. */
static void viewport_beyond_the_framebuffer(void **state)
{
	struct frame *f = *state;

	f->tiler->viewport = (struct agate_viewport) {
		.x = -100, .y = -100, .width = 300, .height = 300, .far_depth = 1,
	};
	add(f, 0, 0, 400, 0, 0, 400);	/* the viewport's upper left half, cut */
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
	for (unsigned int tile = 0; tile < 6; tile++)
		assert_true(f->bins[tile].first != 0);

	f->tiler->viewport.x = -8192;
	f->tiler->viewport.width = 64;
	memset(f->bins, 0, 6 * sizeof(*f->bins));
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
	for (unsigned int tile = 0; tile < 6; tile++)
		assert_bin(f, tile, 0, 0);
}

static void no_triangles_no_work(void **state)
{
	struct frame *f = *state;

	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
	assert_untouched(f);
}

/* Set the field, expect DATA_INVALID_FAULT at where, set it back. */
#define ASSERT_INVALID(f, field, value, where)					\
	do {									\
		const __typeof__(field) good_ = (field);			\
										\
		(field) = (value);						\
		assert_int_equal(frame_tile(f), AGATE_EXC_DATA_INVALID_FAULT);	\
		assert_int_equal((f)->sim.fault_pointer, where);		\
		(field) = good_;						\
	} while (0)

static void wrong_payloads(void **state)
{
	struct frame *f = *state;
	struct agate_tiler_payload *p = f->tiler;
	struct agate_viewport *vp = &p->viewport;

	add(f, 1, 1, 9, 1, 1, 9);
	ASSERT_INVALID(f, p->vertices, FRAME_VERTICES + 8, PAYLOAD);
	ASSERT_INVALID(f, p->vertices, (1ull << 48) - 64, PAYLOAD);
	ASSERT_INVALID(f, p->vertices, -16ull, PAYLOAD);
	ASSERT_INVALID(f, p->indices, FRAME_INDICES + 2, PAYLOAD);
	ASSERT_INVALID(f, p->indices, (1ull << 48) - 8, PAYLOAD);
	ASSERT_INVALID(f, p->indices, -4ull, PAYLOAD);
	ASSERT_INVALID(f, p->index_count, 4, PAYLOAD);
	ASSERT_INVALID(f, p->flags, 2, PAYLOAD);
	ASSERT_INVALID(f, p->reserved, 1, PAYLOAD);
	ASSERT_INVALID(f, p->tiler, FRAME_CONTEXT + 32, FRAME_CONTEXT + 32);
	ASSERT_INVALID(f, p->tiler, -64ull, -64ull);
	ASSERT_INVALID(f, vp->x, NAN, PAYLOAD);
	ASSERT_INVALID(f, vp->y, -8193, PAYLOAD);
	ASSERT_INVALID(f, vp->width, 0, PAYLOAD);
	ASSERT_INVALID(f, vp->width, INFINITY, PAYLOAD);
	ASSERT_INVALID(f, vp->height, -1, PAYLOAD);
	ASSERT_INVALID(f, vp->height, 8193, PAYLOAD);
	ASSERT_INVALID(f, vp->near_depth, -0.5f, PAYLOAD);
	ASSERT_INVALID(f, vp->far_depth, NAN, PAYLOAD);
	assert_untouched(f);
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
}

static void wrong_contexts(void **state)
{
	struct frame *f = *state;
	struct agate_tiler_context *c = f->ctx;

	add(f, 1, 1, 9, 1, 1, 9);
	ASSERT_INVALID(f, c->heap_start, 0, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->heap_start, FRAME_HEAP + 16, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->heap_start, FRAME_HEAP + 4096, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->heap_end, FRAME_HEAP - 4096, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->heap_end, FRAME_HEAP + 17, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->heap_end, -4096ull, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->heap_top, FRAME_HEAP + 64, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->heap_top, FRAME_HEAP - 4096, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->heap_top, FRAME_HEAP + FRAME_HEAP_SIZE + 4096, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->bins, FRAME_BINS + 8, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->bins, (1ull << 48) - 80, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->bins, -16ull, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->width, 0, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->width, 8193, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->height, 0, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->height, -1u, FRAME_CONTEXT);
	ASSERT_INVALID(f, c->reserved[2], 1, FRAME_CONTEXT);
	assert_untouched(f);
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
}

static void wrong_indices_and_vertices(void **state)
{
	struct frame *f = *state;

	add(f, 1, 1, 9, 1, 1, 9);
	ASSERT_INVALID(f, f->indices[1], 3, FRAME_INDICES + 4);
	ASSERT_INVALID(f, f->indices[2], -1u, FRAME_INDICES + 8);
	ASSERT_INVALID(f, f->vertices[0].x, NAN, FRAME_VERTICES);
	ASSERT_INVALID(f, f->vertices[1].w, INFINITY, FRAME_VERTICES + 32);
	ASSERT_INVALID(f, f->vertices[2].a, -0x1p41f, FRAME_VERTICES + 64);
	assert_untouched(f);

	/* The largest possible number is not an error in itself: memory ends first. */
	f->tiler->vertex_count = -1u;
	f->indices[1] = -2u;
	assert_int_equal(frame_tile(f), AGATE_EXC_TRANSLATION_FAULT_0 + 3);
	assert_int_equal(f->sim.fault_pointer, FRAME_VERTICES + 32ull * -2u);
	f->indices[1] = 1;
	f->tiler->index_count = -1u;
	assert_int_equal(frame_tile(f), AGATE_EXC_TRANSLATION_FAULT_0 + 3);
}

static void wrong_bins_and_chunks(void **state)
{
	struct frame *f = *state;
	struct agate_tiler_chunk *chunk = frame_chunk(f, FRAME_HEAP);

	add(f, 1, 1, 9, 1, 1, 9);
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
	ASSERT_INVALID(f, f->bins[0].first, 0, FRAME_BINS);
	ASSERT_INVALID(f, f->bins[0].last, 0, FRAME_BINS);
	ASSERT_INVALID(f, f->bins[0].last, FRAME_HEAP + 96, FRAME_BINS);
	ASSERT_INVALID(f, f->bins[0].last, FRAME_HEAP - 4096, FRAME_BINS);
	ASSERT_INVALID(f, f->bins[0].last, FRAME_HEAP + FRAME_HEAP_SIZE, FRAME_BINS);
	ASSERT_INVALID(f, f->bins[0].last, FRAME_TILER_JOB, FRAME_BINS);
	ASSERT_INVALID(f, chunk->count, 43, FRAME_HEAP);
	ASSERT_INVALID(f, chunk->count, -1u, FRAME_HEAP);
	ASSERT_INVALID(f, chunk->reserved, 1, FRAME_HEAP);
	assert_int_equal(chunk->count, 1);
	assert_int_equal(f->ctx->heap_top, FRAME_HEAP + 4096);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bins_by_hand),
		TEST(transform_by_hand),
		TEST(full_chunk_starts_another),
		TEST(jobs_share_the_bins),
		TEST(heap_faults_in_page_by_page),
		TEST(used_up_heap_is_out_of_memory),
		TEST(culling_drops_clockwise_only),
		TEST(empty_triangles_are_dropped),
		TEST(viewport_beyond_the_framebuffer),
		TEST(no_triangles_no_work),
		TEST(wrong_payloads),
		TEST(wrong_contexts),
		TEST(wrong_indices_and_vertices),
		TEST(wrong_bins_and_chunks),
	};

	return cmocka_run_group_tests_name("raster: tiler", tests, NULL, NULL);
}
