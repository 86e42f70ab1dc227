// SPDX-License-Identifier: MIT
/*
 * Pictures through the whole model: registers, page tables, job chains, TILER
 * on slot 1 and FRAGMENT on slot 0, with a heap that is mapped only when it faults;
 * compared with an independent rasteriser.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver.h"
#include "reference.h"

#define WIDTH		160u
#define HEIGHT		120u		/* the last row of tiles is half outside */

#define PAGE(n)		(GPU_VA + (n) * 4096ull)
#define TILER_JOB	PAGE(0)
#define FRAGMENT_JOB	PAGE(1)
#define CONTEXT		PAGE(2)
#define FRAMEBUFFER	PAGE(3)
#define BINS		PAGE(4)
#define VERTICES	PAGE(5)
#define INDICES		PAGE(6)
#define HEAP_FIRST	64u
#define HEAP_LAST	320u
#define COLOR_FIRST	320u
#define DEPTH_FIRST	352u
#define DEPTH_LAST	384u

/* Clip space as a camera makes it: z and w grow with the distance. */
#define SCENE_VERTICES	15
static const struct agate_vertex scene[SCENE_VERTICES] = {
	/* A floor that begins behind the eye and ends far away. */
	{ -9, 3, -2.2f, -2, 1, 0.9f, 0.5f, 1 }, { 9, 3, -2.2f, -2, 0.5f, 0.9f, 1, 1 },
	{ -9, 3, 18.0f, 19, 0, 0.2f, 0.1f, 1 },
	{ 9, 3, -2.2f, -2, 0.5f, 0.9f, 1, 1 }, { 9, 3, 18.0f, 19, 0, 0.1f, 0.2f, 1 },
	{ -9, 3, 18.0f, 19, 0, 0.2f, 0.1f, 1 },
	/* A shaded wall, turned away from the viewer, that stands in the floor. */
	{ -3, -2.5f, 3.1f, 4, 1, 0, 0, 1 }, { 5.2f, -3.5f, 7.3f, 8, 0, 0, 1, 1 },
	{ -3, 4, 3.1f, 4, 1, 1, 0, 1 },
	{ 5.2f, -3.5f, 7.3f, 8, 0, 0, 1, 1 }, { 5.2f, 5, 7.3f, 8, 0, 1, 1, 1 },
	{ -3, 4, 3.1f, 4, 1, 1, 0, 1 },
	/* A triangle before them, which runs through the wall and off the screen. */
	{ -0.4f, -1.7f, 1.5f, 2.5f, 1, 1, 1, 1 }, { 3.5f, 0.3f, 2.1f, 3, 0, 1, 0, 1 },
	{ 0.3f, 2.5f, 8.9f, 9.5f, 1, 0, 1, 1 },
};

static void put_jobs(struct driver *drv)
{
	const struct agate_job_header tiler = {
		.control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(AGATE_JOB_TILER) | AGATE_JOB_INDEX(1),
	};
	const struct agate_job_header fragment = {
		.control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(AGATE_JOB_FRAGMENT) |
			   AGATE_JOB_INDEX(1),
	};
	const struct agate_tiler_payload payload = {
		.vertices = VERTICES, .indices = INDICES, .tiler = CONTEXT,
		.vertex_count = SCENE_VERTICES, .index_count = SCENE_VERTICES,
		.viewport = { .width = WIDTH, .height = HEIGHT, .far_depth = 1 },
	};
	const struct agate_fragment_payload range = {
		.max_x = (WIDTH - 1) / 16, .max_y = (HEIGHT - 1) / 16,
		.framebuffer = FRAMEBUFFER,
	};

	driver_put(drv, TILER_JOB, &tiler, sizeof(tiler));
	driver_put(drv, TILER_JOB + AGATE_JOB_HEADER_SIZE, &payload, sizeof(payload));
	driver_put(drv, FRAGMENT_JOB, &fragment, sizeof(fragment));
	driver_put(drv, FRAGMENT_JOB + AGATE_JOB_HEADER_SIZE, &range, sizeof(range));
}

static void put_frame(struct driver *drv)
{
	const struct agate_tiler_context ctx = {
		.heap_start = PAGE(HEAP_FIRST), .heap_end = PAGE(HEAP_LAST),
		.heap_top = PAGE(HEAP_FIRST), .bins = BINS,
		.width = WIDTH, .height = HEIGHT,
	};
	const struct agate_framebuffer fb = {
		.color = PAGE(COLOR_FIRST), .depth = PAGE(DEPTH_FIRST), .tiler = CONTEXT,
		.width = WIDTH, .height = HEIGHT,
		.stride = WIDTH * 4, .depth_stride = WIDTH * 4,
		.format = AGATE_FORMAT_R8G8B8A8,
		.flags = AGATE_FB_CLEAR_COLOR | AGATE_FB_CLEAR_DEPTH | AGATE_FB_DEPTH_TEST,
		.clear_color = { 0.2f, 0.4f, 0.6f, 1 }, .clear_depth = 1,
	};

	put_jobs(drv);
	driver_put(drv, CONTEXT, &ctx, sizeof(ctx));
	driver_put(drv, FRAMEBUFFER, &fb, sizeof(fb));
	driver_put(drv, VERTICES, scene, sizeof(scene));
	for (uint32_t i = 0; i < SCENE_VERTICES; i++)
		driver_put(drv, INDICES + i * 4, &i, sizeof(i));
}

static int setup(void **state)
{
	struct driver *drv = driver_new();

	put_frame(drv);
	*state = drv;
	return 0;
}

static int teardown(void **state)
{
	driver_free(*state);
	return 0;
}

struct picture {
	uint8_t color[HEIGHT][WIDTH][4];
	float depth[HEIGHT][WIDTH];
};

static void render(struct driver *drv, struct picture *picture)
{
	struct agate_job_header header;

	assert_int_equal(driver_run(drv, 1, TILER_JOB), AGATE_EXC_DONE);
	assert_int_equal(driver_run(drv, 0, FRAGMENT_JOB), AGATE_EXC_DONE);
	driver_get(drv, FRAGMENT_JOB, &header, sizeof(header));
	assert_int_equal(header.exception_status, AGATE_EXC_DONE);
	driver_get(drv, PAGE(COLOR_FIRST), picture->color, sizeof(picture->color));
	driver_get(drv, PAGE(DEPTH_FIRST), picture->depth, sizeof(picture->depth));
}

static bool pixel_agrees(const struct picture *picture, unsigned int x, unsigned int y,
			 const struct reference_pixel *expected)
{
	for (unsigned int c = 0; c < 4; c++)
		if (fabs(picture->color[y][x][c] - expected->color[c] * 255) > 1.5)
			return false;
	return fabs(picture->depth[y][x] - expected->depth) < 1e-4;
}

static void picture_agrees_with_the_reference(void **state)
{
	static const struct reference_pixel clear = {
		.depth = 1, .color = { 0.2f, 0.4f, 0.6f, 1 },
	};
	struct driver *drv = *state;
	struct picture picture;
	unsigned int unsure = 0, wrong = 0, cleared = 0;

	render(drv, &picture);
	for (unsigned int y = 0; y < HEIGHT; y++) {
		for (unsigned int x = 0; x < WIDTH; x++) {
			const struct reference_pixel expected =
				reference_pixel(scene, SCENE_VERTICES / 3, WIDTH, HEIGHT, x, y,
						&clear);

			unsure += expected.unsure;
			cleared += expected.depth == 1.0;
			wrong += !expected.unsure &&
				 !pixel_agrees(&picture, x, y, &expected);
		}
	}
	assert_int_equal(wrong, 0);
	/* The picture must not be empty, and almost all of it must be compared. */
	assert_in_range(cleared, WIDTH * HEIGHT / 10, WIDTH * HEIGHT / 2);
	assert_in_range(unsure, 0, WIDTH * HEIGHT / 100);
}

/* Tiles that anything was put into. */
static unsigned int used_bins(struct driver *drv)
{
	struct agate_tiler_bin bins[((WIDTH + 15) / 16) * ((HEIGHT + 15) / 16)];
	unsigned int used = 0;

	driver_get(drv, BINS, bins, sizeof(bins));
	for (unsigned int i = 0; i < sizeof(bins) / sizeof(bins[0]); i++)
		used += bins[i].first != 0;
	assert_true(used > 40);
	return used;
}

/* Pages fault in once each, from the bottom of the heap upward. */
static void heap_grows_by_page_faults(void **state)
{
	struct driver *drv = *state;
	struct agate_tiler_context ctx;
	struct picture mapped, faulted;
	struct driver *other = driver_new();

	put_frame(other);
	render(other, &mapped);
	driver_free(other);

	driver_unmap(drv, HEAP_FIRST, HEAP_LAST);
	render(drv, &faulted);
	driver_get(drv, CONTEXT, &ctx, sizeof(ctx));
	assert_int_equal(drv->faults, used_bins(drv));	/* a chunk is enough for each */
	assert_int_equal(PAGE(HEAP_FIRST + drv->faults), ctx.heap_top);
	for (unsigned int i = 0; i < drv->faults; i++)
		assert_int_equal(drv->fault_va[i], PAGE(HEAP_FIRST + i));
	assert_int_equal(agate_sim_counter(drv->sim, AGATE_CNT_FAULTS), drv->faults);
	assert_int_equal(agate_sim_counter(drv->sim, AGATE_CNT_STALE_USED), 0);
	assert_memory_equal(&mapped, &faulted, sizeof(mapped));
}

static void picture_faults_in_too(void **state)
{
	struct driver *drv = *state;
	struct picture mapped, faulted;

	render(drv, &mapped);
	put_frame(drv);
	memset(driver_at(drv, BINS), 0, 4096);
	driver_unmap(drv, HEAP_FIRST, DEPTH_LAST);
	render(drv, &faulted);
	assert_memory_equal(&mapped, &faulted, sizeof(mapped));
}

/*
 * The same bytes on every machine and from every compiler: look at a changed
 * picture before you change this number.
 */
static void picture_never_changes(void **state)
{
	struct picture picture;
	const uint8_t *bytes;
	uint32_t hash = 2166136261u;

	render(*state, &picture);
	bytes = (const uint8_t *)&picture;
	for (size_t i = 0; i < sizeof(picture); i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	assert_int_equal(hash, 0xdf4a6f3a);
}

static void errors_reach_the_header(void **state)
{
	struct driver *drv = *state;
	struct agate_tiler_context *ctx = driver_at(drv, CONTEXT);
	struct agate_job_header *header = driver_at(drv, TILER_JOB);

	ctx->heap_end = PAGE(HEAP_FIRST + 3);
	assert_int_equal(driver_run(drv, 1, TILER_JOB), AGATE_EXC_OUT_OF_MEMORY);
	assert_int_equal(header->exception_status, AGATE_EXC_OUT_OF_MEMORY);
	assert_int_equal(header->fault_pointer, PAGE(HEAP_FIRST + 3));

	ctx->reserved[0] = 1;
	assert_int_equal(driver_run(drv, 1, TILER_JOB), AGATE_EXC_DATA_INVALID_FAULT);
	assert_int_equal(header->exception_status, AGATE_EXC_DATA_INVALID_FAULT);
	assert_int_equal(header->fault_pointer, CONTEXT);
}

/* One range of pages, and which of the two jobs touches it. */
struct part {
	unsigned int first, last;
	bool tiler, fragment;
};

static const struct part parts[] = {
	{ 0, 1, true, false },				/* its header */
	{ 1, 2, false, true },
	{ 2, 3, true, true },				/* context */
	{ 3, 4, false, true },				/* framebuffer */
	{ 4, 5, true, true },				/* bins */
	{ 5, 7, true, false },				/* vertices and indices */
	{ HEAP_FIRST, HEAP_LAST, true, true },
	{ COLOR_FIRST, DEPTH_FIRST, false, true },
	{ DEPTH_FIRST, DEPTH_LAST, false, true },
};

#define PARTS		(sizeof(parts) / sizeof(parts[0]))

static void list_all_but(struct driver *drv, unsigned int slot, size_t left_out)
{
	agate_sim_write32(drv->sim, AGATE_LISTED_COMMAND(slot), AGATE_LISTED_COMMAND_BEGIN);
	for (size_t i = 0; i < PARTS; i++) {
		if (i == left_out)
			continue;
		agate_sim_write32(drv->sim, AGATE_LISTED_START_LO(slot),
				  (uint32_t)PAGE(parts[i].first));
		agate_sim_write32(drv->sim, AGATE_LISTED_PAGES(slot),
				  parts[i].last - parts[i].first);
	}
}

/* Did that job touch the part that was left out of its list? */
static bool touched_unlisted(struct driver *drv, unsigned int slot, uint64_t job, size_t left_out)
{
	const uint64_t before = agate_sim_counter(drv->sim, AGATE_CNT_UNLISTED);

	list_all_but(drv, slot, left_out);
	assert_int_equal(driver_run(drv, slot, job), AGATE_EXC_DONE);
	return agate_sim_counter(drv->sim, AGATE_CNT_UNLISTED) > before;
}

static void jobs_touch_what_they_are_said_to(void **state)
{
	struct driver *drv = *state;

	for (size_t i = 0; i <= PARTS; i++) {	/* the last time nothing is left out */
		put_frame(drv);
		memset(driver_at(drv, BINS), 0, 4096);
		assert_int_equal(touched_unlisted(drv, 1, TILER_JOB, i),
				 i < PARTS && parts[i].tiler);
		assert_int_equal(touched_unlisted(drv, 0, FRAGMENT_JOB, i),
				 i < PARTS && parts[i].fragment);
	}
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(picture_agrees_with_the_reference),
		TEST(heap_grows_by_page_faults),
		TEST(picture_faults_in_too),
		TEST(picture_never_changes),
		TEST(errors_reach_the_header),
		TEST(jobs_touch_what_they_are_said_to),
	};

	return cmocka_run_group_tests_name("raster: whole GPU", tests, NULL, NULL);
}
