// SPDX-License-Identifier: MIT
/*
 * A stall at any access, and missing pages, do not change the result: all bytes in
 * memory, the counters and the model time stay the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"

/*
 * Small enough to run thousands of times, but with everything in it: a chunk that
 * fills up, clipping, tiles met by several, partial tiles, loads, and a picture and
 * rows that cross pages.
 */
static struct frame *scene(void)
{
	struct frame *f = frame_new(24, 12);

	f->fb->color += 4096 - 192;
	f->fb->stride = 104;
	f->fb->flags = AGATE_FB_DEPTH_TEST;
	memset(fake_at(&f->sim, FRAME_COLOR, 8192), 0x33, 8192);
	memset(fake_at(&f->sim, FRAME_DEPTH, 8192), 0x3f, 8192);
	f->tiler->vertices = FRAME_VERTICES + 16;	/* every 128th crosses a page */
	for (unsigned int i = 0; i < 44; i++)
		frame_triangle(f, frame_at(f, 1, 1, 0.7f, 1, 0, 0),
			       frame_at(f, 5, 1, 0.7f, 0, 1, 0),
			       frame_at(f, 1, 6, 0.7f - (float)i / 100, 0, 0, 1));
	frame_triangle(f, frame_at(f, -9, -3, 0.6f, 1, 1, 0), frame_at(f, 40, 5, -0.1f, 1, 0, 1),
		       frame_at(f, 3, 30, 0.2f, 0, 1, 1));
	memmove(fake_at(&f->sim, FRAME_VERTICES + 16, 2 * 4096), f->vertices,
		f->tiler->vertex_count * sizeof(*f->vertices));
	return f;
}

/* Everything that must not depend on stalls. */
static void assert_same(const struct agate_sim *a, const struct agate_sim *b)
{
	assert_int_equal(memcmp(a->mem, b->mem, sizeof(a->mem)), 0);
	assert_int_equal(memcmp(a->counter, b->counter, sizeof(a->counter)), 0);
	assert_int_equal(a->cycles, b->cycles);
}

static int setup(void **state)
{
	struct frame *f = scene();

	frame_render(f);
	assert_int_equal(f->ctx->heap_top, FRAME_HEAP + 3 * 4096);
	assert_true(f->sim.counter[AGATE_CNT_PIXELS] > 100);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void one_stall_anywhere(void **state)
{
	const struct frame *unstalled = *state;

	for (long n = 0; n < unstalled->sim.accesses; n++) {
		struct frame *f = scene();

		f->sim.stall_at = n;
		frame_render(f);
		assert_true(f->sim.accesses > unstalled->sim.accesses);
		assert_same(&f->sim, &unstalled->sim);
		free(f);
	}
}

static void every_access_stalls(void **state)
{
	const struct frame *unstalled = *state;
	struct frame *f = scene();
	const struct agate_job_ops *ops[] = { &agate_tiler_ops, &agate_fragment_ops };
	const uint64_t jobs[] = { FRAME_TILER_JOB, FRAME_FRAGMENT_JOB };

	/*
	 * A unit of several accesses starts again at each stall, so go unit by unit
	 * to stall each access once: stall the first, then the second, ...
	 */
	for (unsigned int i = 0; i < 2; i++) {
		struct agate_exec x = { .sim = &f->sim, .job = jobs[i] };
		void *job = calloc(1, ops[i]->state_size);
		enum agate_run r = AGATE_RUN_AGAIN;

		assert_non_null(job);
		while (r == AGATE_RUN_AGAIN) {
			long depth = 0;

			do {
				f->sim.stall_at = f->sim.accesses + depth++;
				r = ops[i]->run(&x, job);
			} while (r == AGATE_RUN_STALL);
		}
		assert_int_equal(r, AGATE_RUN_DONE);
		free(job);
	}
	assert_true(f->sim.accesses > 2 * unstalled->sim.accesses);
	assert_same(&f->sim, &unstalled->sim);
	free(f);
}

static void all_memory_faults_in(void **state)
{
	const struct frame *unstalled = *state;
	struct frame *f = scene();

	memset(f->sim.missing, true, sizeof(f->sim.missing));
	frame_render(f);
	assert_true(f->sim.page_faults >= 10);
	assert_same(&f->sim, &unstalled->sim);
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_stall_anywhere),
		cmocka_unit_test(every_access_stalls),
		cmocka_unit_test(all_memory_faults_in),
	};

	return cmocka_run_group_tests_name("raster: stalls", tests, setup, teardown);
}
