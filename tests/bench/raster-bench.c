// SPDX-License-Identifier: MIT
/*
 * Measures how fast the model draws, without a guest; bench.sh runs it.
 *
 * Draws one frame after the other: TILER on slot 1, FRAGMENT on slot 0.  Prints one JSON
 * object per line, like guest-bench.  The counts come from the GPU's own counters; the
 * time is that of one job, from START to its message.  The program measures the same job
 * in an address space without translation in turns with it, so that a noisy machine
 * affects both equally.
 */
#include "bench.h"
#include "bench_model.h"

#include <string.h>

#define ROUNDS		15
#define FRAME_SIZE	512u		/* pixels, both ways */

/* The triangle grid is not aligned with the tiles' corners, as in any real picture. */
#define GRID_ORIGIN	5u

/* Memory, by offset. */
#define JOBS		TABLES_SIZE
#define CONTEXT		(DATA + 0x001000u)
#define FRAMEBUFFER	(DATA + 0x002000u)
#define BINS		(DATA + 0x004000u)	/* 16 KiB for 32 x 32 tiles */
#define INDICES		(DATA + 0x040000u)
#define VERTICES	(DATA + 0x0c0000u)
#define COLOR		(DATA + 0x1c0000u)
#define HEAP		(DATA + 0x400000u)
#define MEMORY_SIZE	(DATA + 0x2000000u)

#define TILER_JOB	JOBS
#define FRAGMENT_JOB	(JOBS + 128)

/* ---- A frame -------------------------------------------------------------- */

/* One corner of the grid; neighbours differ in colour and depth. */
static struct agate_vertex corner(unsigned int x, unsigned int y)
{
	return (struct agate_vertex) {
		.x = 2.0f * (float)x / FRAME_SIZE - 1.0f,
		.y = 2.0f * (float)y / FRAME_SIZE - 1.0f,
		.z = (float)((x * 7 + y * 3) % 64) / 64.0f, .w = 1.0f,
		.r = (float)x / FRAME_SIZE, .g = (float)y / FRAME_SIZE, .b = 0.5f, .a = 1.0f,
	};
}

/* Fill memory with a grid of squares, two triangles each; returns the indices. */
static uint32_t put_grid(struct model *m, unsigned int side)
{
	const unsigned int squares = (FRAME_SIZE - GRID_ORIGIN) / side;
	const uint32_t row = squares + 1;
	uint32_t count = 0;

	for (unsigned int y = 0; y <= squares; y++) {
		for (unsigned int x = 0; x <= squares; x++) {
			const struct agate_vertex v = corner(GRID_ORIGIN + x * side,
							     GRID_ORIGIN + y * side);
			const uint32_t i = y * row + x;
			const uint32_t index[6] = { i, i + 1, i + row,
						    i + 1, i + row + 1, i + row };

			model_put(m, VERTICES + i * sizeof(v), &v, sizeof(v));
			if (x == squares || y == squares)
				continue;
			model_put(m, INDICES + count * sizeof(*index), index, sizeof(index));
			count += 6;
		}
	}
	return count;
}

/* Prepares all inputs of a frame of triangles with that side. */
static void put_frame(struct model *m, unsigned int side)
{
	const uint32_t indices = put_grid(m, side);
	const struct agate_tiler_context ctx = {
		.heap_start = VA + HEAP, .heap_end = VA + MEMORY_SIZE, .heap_top = VA + HEAP,
		.bins = VA + BINS, .width = FRAME_SIZE, .height = FRAME_SIZE,
	};
	const struct agate_tiler_payload tiler = {
		.vertices = VA + VERTICES, .indices = VA + INDICES, .tiler = VA + CONTEXT,
		.vertex_count = (COLOR - VERTICES) / sizeof(struct agate_vertex),
		.index_count = indices,
		.viewport = { .width = FRAME_SIZE, .height = FRAME_SIZE, .far_depth = 1 },
	};
	const struct agate_framebuffer fb = {
		.color = VA + COLOR, .tiler = VA + CONTEXT,
		.width = FRAME_SIZE, .height = FRAME_SIZE, .stride = FRAME_SIZE * 4,
		.format = AGATE_FORMAT_R8G8B8A8, .clear_depth = 1,
		.flags = AGATE_FB_CLEAR_COLOR | AGATE_FB_CLEAR_DEPTH | AGATE_FB_DEPTH_TEST,
	};
	const struct agate_fragment_payload fragment = {
		.max_x = FRAME_SIZE / AGATE_TILE_SIZE - 1,
		.max_y = FRAME_SIZE / AGATE_TILE_SIZE - 1,
		.framebuffer = VA + FRAMEBUFFER,
	};

	model_put_header(m, TILER_JOB, AGATE_JOB_TILER, 0);
	model_put(m, TILER_JOB + AGATE_JOB_HEADER_SIZE, &tiler, sizeof(tiler));
	model_put_header(m, FRAGMENT_JOB, AGATE_JOB_FRAGMENT, 0);
	model_put(m, FRAGMENT_JOB + AGATE_JOB_HEADER_SIZE, &fragment, sizeof(fragment));
	model_put(m, CONTEXT, &ctx, sizeof(ctx));
	model_put(m, FRAMEBUFFER, &fb, sizeof(fb));
	memset(m->memory + BINS, 0, sizeof(struct agate_tiler_bin) *
	       (FRAME_SIZE / AGATE_TILE_SIZE) * (FRAME_SIZE / AGATE_TILE_SIZE));
}

/* Run one job; returns by how much it raised the counter per second. */
static double rate(struct model *m, unsigned int slot, enum model_as as, uint32_t job,
		   enum agate_counter counter)
{
	const uint64_t before = agate_sim_counter(m->sim, counter);
	const double seconds = model_run(m, slot, as, job);

	return (double)(agate_sim_counter(m->sim, counter) - before) / seconds;
}

struct rates {
	double triangles;
	double pixels;
};

static struct rates draw(struct model *m, enum model_as as, unsigned int side)
{
	struct rates r;

	put_frame(m, side);
	r.triangles = rate(m, 1, as, TILER_JOB, AGATE_CNT_TRIANGLES);
	r.pixels = rate(m, 0, as, FRAGMENT_JOB, AGATE_CNT_PIXELS);
	return r;
}

/* The same frames through page tables and without, of large and of small triangles. */
int main(void)
{
	double pixels[2][ROUNDS], small[2][ROUNDS], triangles[2][ROUNDS];
	static const enum model_as as[2] = { AS_LINEAR, AS_IDENTITY };
	struct model m;

	model_bring_up(&m, MEMORY_SIZE);
	draw(&m, AS_LINEAR, 16);		/* touches every page first */
	for (int i = 0; i < ROUNDS; i++) {
		for (int j = 0; j < 2; j++)
			pixels[j][i] = draw(&m, as[j], 32).pixels;
		for (int j = 0; j < 2; j++)
			small[j][i] = draw(&m, as[j], 4).pixels;
		for (int j = 0; j < 2; j++)
			triangles[j][i] = draw(&m, as[j], 16).triangles;
	}
	bench_report("pixels", "pixels/s", pixels[0], ROUNDS, "pixels_no_mmu");
	bench_report("pixels_no_mmu", "pixels/s", pixels[1], ROUNDS, NULL);
	bench_report("pixels_small", "pixels/s", small[0], ROUNDS, "pixels_small_no_mmu");
	bench_report("pixels_small_no_mmu", "pixels/s", small[1], ROUNDS, NULL);
	bench_report("triangles", "triangles/s", triangles[0], ROUNDS, "triangles_no_mmu");
	bench_report("triangles_no_mmu", "triangles/s", triangles[1], ROUNDS, NULL);
	model_free(&m);
	return 0;
}
