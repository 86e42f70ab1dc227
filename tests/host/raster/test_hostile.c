// SPDX-License-Identifier: MIT
/*
 * FRAGMENT against wrong descriptors and lists, each with its exception code,
 * and both job types against random damage to a good frame.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"

#define PAYLOAD	(FRAME_FRAGMENT_JOB + AGATE_JOB_HEADER_SIZE)

/* A frame of 3 x 2 tiles with one triangle in the first tile's bin. */
static int setup(void **state)
{
	struct frame *f = frame_new(40, 20);

	frame_triangle(f, frame_at(f, 1, 1, 0.5f, 1, 0, 0), frame_at(f, 9, 1, 0.5f, 0, 1, 0),
		       frame_at(f, 1, 9, 0.5f, 0, 0, 1));
	assert_int_equal(frame_tile(f), AGATE_EXC_DONE);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

/* Set the field, expect the exception at where, set it back. */
#define ASSERT_FAULT(f, exc, field, value, where)				\
	do {									\
		const __typeof__(field) good_ = (field);			\
										\
		(field) = (value);						\
		assert_int_equal(frame_draw(f), exc);				\
		assert_int_equal((f)->sim.fault_pointer, where);		\
		(field) = good_;						\
	} while (0)

#define ASSERT_INVALID(f, field, value, where)					\
	ASSERT_FAULT(f, AGATE_EXC_DATA_INVALID_FAULT, field, value, where)
#define ASSERT_RANGE(f, field, value)						\
	ASSERT_FAULT(f, AGATE_EXC_TILE_RANGE_FAULT, field, value, PAYLOAD)

static void wrong_ranges(void **state)
{
	struct frame *f = *state;

	ASSERT_INVALID(f, f->fragment->framebuffer, FRAME_FRAMEBUFFER + 8, PAYLOAD);
	ASSERT_INVALID(f, f->fragment->framebuffer, -64ull, PAYLOAD);
	ASSERT_RANGE(f, f->fragment->min_x, 3);
	ASSERT_RANGE(f, f->fragment->min_y, 2);
	ASSERT_RANGE(f, f->fragment->max_x, 3);
	ASSERT_RANGE(f, f->fragment->max_x, 0xffff);
	ASSERT_RANGE(f, f->fragment->max_y, 2);
}

static void wrong_framebuffers(void **state)
{
	struct frame *f = *state;
	struct agate_framebuffer *fb = f->fb;
	const uint64_t va = FRAME_FRAMEBUFFER;

	ASSERT_INVALID(f, fb->color, FRAME_COLOR + 4, va);
	ASSERT_INVALID(f, fb->color, -64ull, va);
	ASSERT_INVALID(f, fb->color, (1ull << 48) - 3072, va);	/* needs 3,200 */
	ASSERT_INVALID(f, fb->depth, FRAME_DEPTH + 32, va);
	ASSERT_INVALID(f, fb->depth, (1ull << 48) - 64, va);
	ASSERT_INVALID(f, fb->width, 0, va);
	ASSERT_INVALID(f, fb->width, 41, va);			/* more than the stride */
	ASSERT_INVALID(f, fb->width, 0x40000000, va);		/* times 4 wraps */
	ASSERT_INVALID(f, fb->height, 0, va);
	ASSERT_INVALID(f, fb->height, 8193, va);
	ASSERT_INVALID(f, fb->stride, 0, va);
	ASSERT_INVALID(f, fb->stride, 162, va);
	ASSERT_INVALID(f, fb->depth_stride, 156, va);
	ASSERT_INVALID(f, fb->format, 0, va);
	ASSERT_INVALID(f, fb->format, 3, va);
	ASSERT_INVALID(f, fb->flags, 1u << 3, va);
	ASSERT_INVALID(f, fb->clear_color[2], NAN, va);
	ASSERT_INVALID(f, fb->clear_color[3], 1.5f, va);
	ASSERT_INVALID(f, fb->clear_depth, -0.5f, va);
	ASSERT_INVALID(f, fb->reserved[0], 1, va);
	ASSERT_INVALID(f, fb->reserved[6], 1, va);

	/* A depth test without depths to compare with. */
	fb->flags = AGATE_FB_DEPTH_TEST;
	ASSERT_INVALID(f, fb->depth, 0, va);
	assert_int_equal(frame_draw(f), AGATE_EXC_DONE);
}

/* A stride that moves the second row far away is not an error in itself. */
static void far_rows_fault_in_the_mmu(void **state)
{
	struct frame *f = *state;

	f->fb->stride = -4u;
	assert_int_equal(frame_draw(f), AGATE_EXC_TRANSLATION_FAULT_0 + 3);
	assert_int_equal(f->sim.fault_pointer, FRAME_COLOR + 0xfffffffcull);
}

static void wrong_contexts(void **state)
{
	struct frame *f = *state;

	ASSERT_INVALID(f, f->fb->tiler, FRAME_CONTEXT + 4, FRAME_CONTEXT + 4);
	ASSERT_INVALID(f, f->ctx->heap_start, 0, FRAME_CONTEXT);
	ASSERT_INVALID(f, f->ctx->bins, FRAME_BINS + 1, FRAME_CONTEXT);
	/* Bins of a frame of another size. */
	ASSERT_INVALID(f, f->ctx->width, 48, FRAME_CONTEXT);
	ASSERT_INVALID(f, f->ctx->height, 32, FRAME_CONTEXT);
	assert_int_equal(frame_draw(f), AGATE_EXC_DONE);
}

static void wrong_chunks(void **state)
{
	struct frame *f = *state;
	struct agate_tiler_chunk *chunk = frame_chunk(f, FRAME_HEAP);

	ASSERT_INVALID(f, f->bins[0].first, FRAME_HEAP + 96, FRAME_HEAP + 96);
	ASSERT_INVALID(f, f->bins[0].first, FRAME_HEAP - 4096, FRAME_HEAP - 4096);
	/* Above heap_top no chunk was ever taken. */
	ASSERT_INVALID(f, f->bins[0].first, FRAME_HEAP + 4096, FRAME_HEAP + 4096);
	ASSERT_INVALID(f, chunk->next, 8, 8);
	ASSERT_INVALID(f, chunk->count, 43, FRAME_HEAP);
	ASSERT_INVALID(f, chunk->reserved, 1, FRAME_HEAP);
	ASSERT_INVALID(f, chunk->primitive[0].v[0].x, NAN, FRAME_HEAP + 16);
	ASSERT_INVALID(f, chunk->primitive[0].v[1].y, 16385, FRAME_HEAP + 16);
	ASSERT_INVALID(f, chunk->primitive[0].v[1].z, 1.5f, FRAME_HEAP + 16);
	ASSERT_INVALID(f, chunk->primitive[0].v[1].rw, 0, FRAME_HEAP + 16);
	ASSERT_INVALID(f, chunk->primitive[0].v[2].rw, INFINITY, FRAME_HEAP + 16);
	ASSERT_INVALID(f, chunk->primitive[0].v[2].a, -INFINITY, FRAME_HEAP + 16);
	chunk->count = 2;
	ASSERT_INVALID(f, chunk->primitive[1].v[0].z, NAN, FRAME_HEAP + 16 + 96);
}

/*
 * A list that leads back to itself keeps the job running, one unit at a time, and
 * the tile is never written, whether its chunk holds primitives or not.
 */
static void cyclic_lists_never_end(void **state)
{
	struct frame *f = *state;
	struct agate_tiler_chunk *chunk = frame_chunk(f, FRAME_HEAP);

	chunk->next = FRAME_HEAP;
	assert_int_equal(fake_run(&f->sim, &agate_fragment_ops, FRAME_FRAGMENT_JOB, 20000),
			 FAKE_STILL_RUNNING);
	assert_int_equal(frame_pixel(f, 0, 0), 0);

	chunk->count = 0;
	assert_int_equal(fake_run(&f->sim, &agate_fragment_ops, FRAME_FRAGMENT_JOB, 20000),
			 FAKE_STILL_RUNNING);
	assert_int_equal(frame_pixel(f, 0, 0), 0);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Values that checks tend to get wrong, and plain noise. */
static uint32_t nasty_word(uint32_t *seed)
{
	static const uint32_t nasty[] = {
		0, 1, 2, 3, 42, 43, 0xffffffff, 0x80000000, 0x7fffffff, 0xfffffff0,
		0xffff, 0x10000, 0x7fc00000, 0x7f800000, 0xff800000, 0x7f7fffff,
		0x00000001, 0x80000001, 0x3f800000, 0x53800000, (uint32_t)FRAME_HEAP,
		(uint32_t)FRAME_BINS, (uint32_t)FRAME_CONTEXT, (uint32_t)FRAME_TILER_JOB,
	};
	const uint32_t pick = next_random(seed) % 32;

	if (pick < sizeof(nasty) / sizeof(nasty[0]))
		return nasty[pick];
	return next_random(seed) << 16 ^ next_random(seed);
}

/*
 * Damage a few words of a structure, then run both jobs.  ASan, UBSan and the fake
 * check that they neither crash nor leave the fake's memory.  This function checks
 * that they end in an allowed way: done, failed with a known code, or still
 * running.
 */
static void damaged_frames(void **state)
{
	static const struct { uint64_t va; uint32_t words; } target[] = {
		{ FRAME_TILER_JOB + AGATE_JOB_HEADER_SIZE, 16 }, { PAYLOAD, 4 },
		{ FRAME_CONTEXT, 16 }, { FRAME_FRAMEBUFFER, 24 }, { FRAME_BINS, 24 },
		{ FRAME_VERTICES, 24 }, { FRAME_INDICES, 3 }, { FRAME_HEAP, 28 },
	};
	struct frame *good = *state;
	struct agate_sim *sim = calloc(1, sizeof(*sim));
	unsigned int done = 0, failed = 0;
	uint32_t seed = 42;

	assert_non_null(sim);
	for (unsigned int round = 0; round < 4000; round++) {
		const struct agate_job_ops *ops[] = { &agate_fragment_ops, &agate_tiler_ops,
						      &agate_fragment_ops };
		const uint64_t jobs[] = { FRAME_FRAGMENT_JOB, FRAME_TILER_JOB,
					  FRAME_FRAGMENT_JOB };

		memcpy(sim->mem, good->sim.mem, sizeof(sim->mem));
		sim->stall_at = FAKE_NO_STALL;
		for (uint32_t n = next_random(&seed) % 3 + 1; n; n--) {
			const uint32_t t = next_random(&seed) %
					   (sizeof(target) / sizeof(target[0]));
			const uint32_t word = next_random(&seed) % target[t].words;
			const uint32_t value = nasty_word(&seed);

			memcpy(fake_at(sim, target[t].va + word * 4, 4), &value, 4);
		}
		for (unsigned int i = 0; i < 3; i++) {
			const unsigned int e = fake_run(sim, ops[i], jobs[i], 3000);

			assert_true(e == AGATE_EXC_DONE || e == FAKE_STILL_RUNNING ||
				    e == AGATE_EXC_DATA_INVALID_FAULT ||
				    e == AGATE_EXC_TILE_RANGE_FAULT ||
				    e == AGATE_EXC_OUT_OF_MEMORY ||
				    e == AGATE_EXC_TRANSLATION_FAULT_0 + 3);
			done += e == AGATE_EXC_DONE;
			failed += e != AGATE_EXC_DONE;
		}
	}
	/* The damage must not be so heavy that most frames fail at once. */
	assert_true(done > 1000 && failed > 1000);
	free(sim);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wrong_ranges),
		TEST(wrong_framebuffers),
		TEST(far_rows_fault_in_the_mmu),
		TEST(wrong_contexts),
		TEST(wrong_chunks),
		TEST(cyclic_lists_never_end),
		TEST(damaged_frames),
	};

	return cmocka_run_group_tests_name("raster: hostile data", tests, NULL, NULL);
}
