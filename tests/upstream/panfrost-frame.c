// SPDX-License-Identifier: MIT
/*
 * A frame through upstream's Panfrost: TILER jobs fill a heap that grows by page faults,
 * and a FRAGMENT job draws the bins.
 */
#include "panfrost.h"

#include <stdio.h>
#include <unistd.h>

#define WIDTH		256u
#define HEIGHT		256u
#define TILES		(WIDTH / AGATE_TILE_SIZE)
#define HEAP_SIZE	(32u << 20)
/* Each covers half of the picture: the chunks of all bins fill more than 4 MiB. */
#define TRIANGLES	300u

/* Where the parts of a frame are in their BO. */
enum {
	TILER_JOB	= 0,
	FRAGMENT_JOB	= 128,
	CONTEXT		= 256,
	FRAMEBUFFER	= 384,
	BINS		= PAGE,
	VERTICES	= 2 * PAGE,
	INDICES		= VERTICES + 3 * TRIANGLES * sizeof(struct agate_vertex),
	FRAME_SIZE	= INDICES + 3 * TRIANGLES * sizeof(uint32_t),
};

static void *at(const struct bo *bo, uint32_t offset)
{
	return (char *)bo->cpu + offset;
}

/*
 * Each triangle covers the upper left or the lower right half.  The later one is nearer;
 * the last two are red and green, all others blue.
 */
static void make_triangles(const struct bo *frame)
{
	static const float corner[2][3][2] = {
		{ { -1, -1 }, { 1, -1 }, { -1, 1 } },
		{ { 1, 1 }, { -1, 1 }, { 1, -1 } },
	};
	struct agate_vertex *vertex = at(frame, VERTICES);
	uint32_t *index = at(frame, INDICES);

	for (uint32_t i = 0; i < 3 * TRIANGLES; i++) {
		uint32_t triangle = i / 3;

		vertex[i] = (struct agate_vertex){
			.x = corner[triangle & 1][i % 3][0], .y = corner[triangle & 1][i % 3][1],
			.z = 1 - (float)triangle / TRIANGLES, .w = 1, .a = 1,
			.r = triangle == TRIANGLES - 2, .g = triangle == TRIANGLES - 1,
			.b = triangle < TRIANGLES - 2,
		};
		index[i] = i;
	}
}

static void make_frame(struct bo *frame, const struct bo *heap, const struct bo *color,
		       const struct bo *depth)
{
	const struct agate_tiler_payload tiler = {
		.vertices = frame->va + VERTICES, .vertex_count = 3 * TRIANGLES,
		.indices = frame->va + INDICES, .index_count = 3 * TRIANGLES,
		.tiler = frame->va + CONTEXT,
		.viewport = { .width = WIDTH, .height = HEIGHT, .far_depth = 1 },
	};
	const struct agate_fragment_payload fragment = {
		.max_x = TILES - 1, .max_y = HEIGHT / AGATE_TILE_SIZE - 1,
		.framebuffer = frame->va + FRAMEBUFFER,
	};

	*(struct agate_tiler_context *)at(frame, CONTEXT) = (struct agate_tiler_context){
		.heap_start = heap->va, .heap_end = heap->va + heap->size, .heap_top = heap->va,
		.bins = frame->va + BINS, .width = WIDTH, .height = HEIGHT,
	};
	*(struct agate_framebuffer *)at(frame, FRAMEBUFFER) = (struct agate_framebuffer){
		.color = color->va, .depth = depth->va, .tiler = frame->va + CONTEXT,
		.width = WIDTH, .height = HEIGHT, .stride = 4 * WIDTH, .depth_stride = 4 * WIDTH,
		.format = AGATE_FORMAT_R8G8B8A8, .clear_depth = 1,
		.flags = AGATE_FB_CLEAR_COLOR | AGATE_FB_CLEAR_DEPTH | AGATE_FB_DEPTH_TEST,
	};
	memset(at(frame, BINS), 0, PAGE);
	make_triangles(frame);
	guest_job(frame, TILER_JOB, AGATE_JOB_TILER, 0, &tiler, sizeof(tiler));
	guest_job(frame, FRAGMENT_JOB, AGATE_JOB_FRAGMENT, 0, &fragment, sizeof(fragment));
}

/* Pixels on the diagonal belong to either half. */
static void check_picture(const struct bo *color)
{
	const uint32_t red = 0xff0000ff, green = 0xff00ff00;
	const uint32_t *pixel = color->cpu;

	for (uint32_t y = 0; y < HEIGHT; y++)
		for (uint32_t x = 0; x < WIDTH; x++) {
			uint32_t seen = pixel[y * WIDTH + x];

			if (x + y < WIDTH - 2)
				assert_int_equal(seen, red);
			else if (x + y > WIDTH)
				assert_int_equal(seen, green);
			else
				assert_true(seen == red || seen == green);
		}
}

/* TILER on slot 1, FRAGMENT on slot 0; the BOs that both use put them in order. */
static void draw(int fd, const struct bo *heap)
{
	struct bo frame = panfrost_bo(fd, FRAME_SIZE, 0);
	struct bo color = panfrost_bo(fd, 4 * WIDTH * HEIGHT, PANFROST_BO_NOEXEC);
	struct bo depth = panfrost_bo(fd, 4 * WIDTH * HEIGHT, PANFROST_BO_NOEXEC);
	const uint32_t handles[] = { frame.handle, heap->handle, color.handle, depth.handle };
	const struct agate_tiler_context *context = at(&frame, CONTEXT);

	make_frame(&frame, heap, &color, &depth);
	assert_int_equal(panfrost_submit(fd, frame.va + TILER_JOB, 0, handles, 4, 0), 0);
	assert_int_equal(panfrost_submit(fd, frame.va + FRAGMENT_JOB, PANFROST_JD_REQ_FS,
					 handles, 4, 0), 0);
	assert_int_equal(guest_wait(fd, color.handle, FOREVER), 0);
	assert_int_equal(panfrost_status(&frame, TILER_JOB), AGATE_EXC_DONE);
	assert_int_equal(panfrost_status(&frame, FRAGMENT_JOB), AGATE_EXC_DONE);
	assert_in_range(context->heap_top - heap->va, (4u << 20) + 1, HEAP_SIZE);
	check_picture(&color);
	guest_destroy(&frame);
	guest_destroy(&color);
	guest_destroy(&depth);
}

static void heap_grows(void **state)
{
	int fd = panfrost_open();
	struct bo heap;

	(void)state;
	assert_int_equal(panfrost_create(fd, HEAP_SIZE, PANFROST_BO_HEAP | PANFROST_BO_NOEXEC,
					 &heap), 0);
	/* The second frame finds the pages of the first. */
	draw(fd, &heap);
	draw(fd, &heap);
	/* The heap is freed with holes: the frames touched only a part of it. */
	guest_destroy(&heap);
	close(fd);
}

/* Two files draw at the same time, each with a heap of its own. */
static void two_files(void **state)
{
	struct bo heap[2];
	int fd[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		fd[i] = panfrost_open();
		assert_int_equal(panfrost_create(fd[i], HEAP_SIZE,
						 PANFROST_BO_HEAP | PANFROST_BO_NOEXEC,
						 &heap[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		draw(fd[i & 1], &heap[i & 1]);
	/* The last close frees the heaps. */
	close(fd[0]);
	close(fd[1]);
}

/* A heap that is used up ends the job, not the file. */
static void heap_full(void **state)
{
	int fd = panfrost_open();
	struct bo frame = panfrost_bo(fd, FRAME_SIZE, 0), heap;
	uint32_t handles[] = { frame.handle, 0 };

	(void)state;
	assert_int_equal(panfrost_create(fd, 2u << 20, PANFROST_BO_HEAP | PANFROST_BO_NOEXEC,
					 &heap), 0);
	handles[1] = heap.handle;
	make_frame(&frame, &heap, &frame, &frame);
	assert_int_equal(panfrost_submit(fd, frame.va + TILER_JOB, 0, handles, 2, 0), 0);
	assert_int_equal(guest_wait(fd, frame.handle, FOREVER), 0);
	assert_int_equal(panfrost_status(&frame, TILER_JOB), AGATE_EXC_OUT_OF_MEMORY);
	panfrost_job_store(&frame, 5);
	assert_int_equal(panfrost_run(&frame, 0), 0);
	assert_int_equal(panfrost_word(&frame, DATA), 5);
	guest_destroy(&heap);
	guest_destroy(&frame);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heap_grows),
		cmocka_unit_test(two_files),
		cmocka_unit_test(heap_full),
	};

	return cmocka_run_group_tests_name("panfrost-frame", tests, NULL, NULL);
}
