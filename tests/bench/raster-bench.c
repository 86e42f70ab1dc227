// SPDX-License-Identifier: MIT
/*
 * How fast the model draws, without a guest; run by bench.sh.
 *
 * Binds the whole model to flat memory, brings it up through its registers and
 * draws one frame after the other: TILER on slot 1, FRAGMENT on slot 0.  Prints
 * one JSON object a line, as guest-bench does.  What is counted is what the
 * GPU's own counters say; what is timed is one job, from START to its message.
 * A plain memset of the same framebuffer is measured in turns with the frames,
 * so that a noisy machine spoils both alike.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agate_job.h"
#include "agate_regs.h"
#include "agate_sim.h"

#define ROUNDS		9
#define FRAME_SIZE	512u		/* pixels, both ways */
#define UNITS_A_STEP	16u		/* as the GPU's process does it */
#define MAX_POLLS	10000u
#define ALL_CORES	0xfu

/* A triangle grid starts beside the tiles' corners, as in any real picture. */
#define GRID_ORIGIN	5u

/* Memory, by offset; the GPU sees it linearly from VA on, in pages of 4 KiB. */
#define PAGE		4096u
#define VA		0x40000000ull
#define TABLES		0x000000u	/* levels 0 to 2, then those of level 3 */
#define JOBS		0x020000u
#define CONTEXT		0x021000u
#define FRAMEBUFFER	0x022000u
#define BINS		0x024000u	/* 16 KiB for 32 x 32 tiles */
#define INDICES		0x080000u
#define VERTICES	0x100000u
#define COLOR		0x200000u
#define HEAP		0x400000u
#define MEMORY_SIZE	0x2000000u

#define TILER_JOB	JOBS
#define FRAGMENT_JOB	(JOBS + 128)

struct bench {
	struct agate_sim *sim;
	uint8_t *memory;
	unsigned int messages;		/* from the job block */
};

static void die(const char *what)
{
	fprintf(stderr, "raster-bench: %s\n", what);
	exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void report(const char *name, const char *unit, const double *samples,
		   const char *against)
{
	printf("{\"name\": \"%s\", \"unit\": \"%s\", ", name, unit);
	if (against)
		printf("\"against\": \"%s\", ", against);
	printf("\"samples\": [");
	for (int i = 0; i < ROUNDS; i++)
		printf("%s%.1f", i ? ", " : "", samples[i]);
	puts("]}");
}

/* ---- What the model asks of its host ------------------------------------ */

static int memory_read(void *ctx, uint64_t pa, void *buf, size_t len)
{
	const struct bench *b = ctx;

	if (pa > MEMORY_SIZE || len > MEMORY_SIZE - pa)
		return -1;
	memcpy(buf, b->memory + pa, len);
	return 0;
}

static int memory_write(void *ctx, uint64_t pa, const void *buf, size_t len)
{
	const struct bench *b = ctx;

	if (pa > MEMORY_SIZE || len > MEMORY_SIZE - pa)
		return -1;
	memcpy(b->memory + pa, buf, len);
	return 0;
}

static void message(void *ctx, unsigned int vector)
{
	struct bench *b = ctx;

	b->messages += vector == AGATE_VECTOR_JOB;
}

/* ---- Bring-up ------------------------------------------------------------ */

static void put(struct bench *b, uint32_t offset, const void *from, size_t len)
{
	memcpy(b->memory + offset, from, len);
}

static void set_entry(struct bench *b, unsigned int table, unsigned int index, uint64_t pte)
{
	put(b, TABLES + table * PAGE + index * 8, &pte, sizeof(pte));
}

/* VA is 1 GiB: entry 0 of level 0, entry 1 of level 1, and level 2 from 0 on. */
static void build_tables(struct bench *b)
{
	const unsigned int pages = MEMORY_SIZE / PAGE;

	set_entry(b, 0, 0, (TABLES + 1 * PAGE) | LPAE_TYPE_TABLE);
	set_entry(b, 1, 1, (TABLES + 2 * PAGE) | LPAE_TYPE_TABLE);
	for (unsigned int i = 0; i < pages / AGATE_PT_ENTRIES; i++)
		set_entry(b, 2, i, (TABLES + (3 + i) * PAGE) | LPAE_TYPE_TABLE);
	for (unsigned int page = 0; page < pages; page++)
		set_entry(b, 3 + page / AGATE_PT_ENTRIES, page % AGATE_PT_ENTRIES,
			  (uint64_t)page * PAGE | LPAE_TYPE_LEAF | LPAE_RD | LPAE_WR);
}

static void poll_for(struct bench *b, uint32_t reg, uint32_t want)
{
	for (unsigned int i = 0; i < MAX_POLLS; i++) {
		if (agate_sim_read32(b->sim, reg) == want)
			return;
		agate_sim_step(b->sim, UNITS_A_STEP);
	}
	die("the GPU does not come up");
}

static void bring_up(struct bench *b)
{
	static const struct agate_sim_host_ops ops = {
		.mem_read = memory_read,
		.mem_write = memory_write,
		.raise = message,
	};
	const struct agate_sim_config config = { .gpu = AGATE_SIM_MIDGARD, .seed = 1 };

	b->memory = calloc(1, MEMORY_SIZE);
	b->sim = agate_sim_create(&config, &ops, b);
	if (!b->memory || !b->sim)
		die("out of memory");
	build_tables(b);
	agate_sim_write32(b->sim, GPU_L2_PWRON_LO, 1);
	poll_for(b, GPU_L2_READY_LO, 1);
	agate_sim_write32(b->sim, GPU_SHADER_PWRON_LO, ALL_CORES);
	poll_for(b, GPU_SHADER_READY_LO, ALL_CORES);
	agate_sim_write32(b->sim, GPU_TILER_PWRON_LO, 1);
	poll_for(b, GPU_TILER_READY_LO, 1);
	agate_sim_write32(b->sim, AS_TRANSTAB_LO(0), TABLES | AS_TRANSTAB_LPAE_ADRMODE_TABLE |
			  AS_TRANSTAB_LPAE_READ_INNER);
	agate_sim_write32(b->sim, AS_COMMAND(0), AS_COMMAND_UPDATE);
	poll_for(b, AS_STATUS(0), 0);
	agate_sim_write32(b->sim, JOB_INT_MASK, JOB_INT_DONE(0) | JOB_INT_FAIL(0) |
			  JOB_INT_DONE(1) | JOB_INT_FAIL(1));
}

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
static uint32_t put_grid(struct bench *b, unsigned int side)
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

			put(b, VERTICES + i * sizeof(v), &v, sizeof(v));
			if (x == squares || y == squares)
				continue;
			put(b, INDICES + count * sizeof(*index), index, sizeof(index));
			count += 6;
		}
	}
	return count;
}

static void put_header(struct bench *b, uint32_t offset, enum agate_job_type type)
{
	const struct agate_job_header header = {
		.control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(type) | AGATE_JOB_INDEX(1),
	};

	put(b, offset, &header, sizeof(header));
}

/* Everything a frame of triangles with that side starts from. */
static void put_frame(struct bench *b, unsigned int side)
{
	const uint32_t indices = put_grid(b, side);
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

	put_header(b, TILER_JOB, AGATE_JOB_TILER);
	put(b, TILER_JOB + AGATE_JOB_HEADER_SIZE, &tiler, sizeof(tiler));
	put_header(b, FRAGMENT_JOB, AGATE_JOB_FRAGMENT);
	put(b, FRAGMENT_JOB + AGATE_JOB_HEADER_SIZE, &fragment, sizeof(fragment));
	put(b, CONTEXT, &ctx, sizeof(ctx));
	put(b, FRAMEBUFFER, &fb, sizeof(fb));
	memset(b->memory + BINS, 0, sizeof(struct agate_tiler_bin) *
	       (FRAME_SIZE / AGATE_TILE_SIZE) * (FRAME_SIZE / AGATE_TILE_SIZE));
}

/* Run one job; returns what it added to the counter, a second. */
static double run(struct bench *b, unsigned int slot, uint32_t job, enum agate_counter counter)
{
	const uint64_t before = agate_sim_counter(b->sim, counter);
	const unsigned int messages = b->messages;
	const double start = now();
	double end;

	agate_sim_write32(b->sim, JS_HEAD_NEXT_LO(slot), (uint32_t)(VA + job));
	agate_sim_write32(b->sim, JS_HEAD_NEXT_HI(slot), (uint32_t)((VA + job) >> 32));
	agate_sim_write32(b->sim, JS_AFFINITY_NEXT_LO(slot), ALL_CORES);
	agate_sim_write32(b->sim, JS_CONFIG_NEXT(slot), JS_CONFIG_AS(0));
	agate_sim_write32(b->sim, JS_COMMAND_NEXT(slot), JS_COMMAND_START);
	while (agate_sim_step(b->sim, UNITS_A_STEP))
		continue;
	end = now();
	if (b->messages == messages || agate_sim_read32(b->sim, JS_STATUS(slot)) != AGATE_EXC_DONE)
		die("a job did not end well");
	if (agate_sim_read32(b->sim, JOB_INT_STAT) != JOB_INT_DONE(slot))
		die("another slot's interrupt");
	agate_sim_write32(b->sim, JOB_INT_CLEAR, JOB_INT_DONE(slot));
	return (double)(agate_sim_counter(b->sim, counter) - before) / (end - start);
}

struct rates {
	double triangles;
	double pixels;
};

static struct rates draw(struct bench *b, unsigned int side)
{
	struct rates r;

	put_frame(b, side);
	r.triangles = run(b, 1, TILER_JOB, AGATE_CNT_TRIANGLES);
	r.pixels = run(b, 0, FRAGMENT_JOB, AGATE_CNT_PIXELS);
	return r;
}

/* The framebuffer's bytes set by the CPU, in pixels a second. */
static double set_memory(struct bench *b, int value)
{
	const int repeat = 64;
	const double start = now();

	for (int i = 0; i < repeat; i++) {
		memset(b->memory + COLOR, value + i, FRAME_SIZE * FRAME_SIZE * 4);
		/* Without this the compiler sees that only the last one counts. */
		__asm__ volatile("" : : "r"(b->memory) : "memory");
	}
	return (double)repeat * FRAME_SIZE * FRAME_SIZE / (now() - start);
}

int main(void)
{
	double pixels[ROUNDS], small[ROUNDS], triangles[ROUNDS], set[ROUNDS];
	struct bench b = { 0 };

	bring_up(&b);
	draw(&b, 16);		/* touches every page first */
	for (int i = 0; i < ROUNDS; i++) {
		set[i] = set_memory(&b, i);
		pixels[i] = draw(&b, 32).pixels;
		small[i] = draw(&b, 4).pixels;
		triangles[i] = draw(&b, 16).triangles;
	}
	report("pixels", "pixels/s", pixels, "memset_pixels");
	report("pixels_small", "pixels/s", small, "memset_pixels");
	report("triangles", "triangles/s", triangles, NULL);
	report("memset_pixels", "pixels/s", set, NULL);
	agate_sim_destroy(b.sim);
	free(b.memory);
	return 0;
}
