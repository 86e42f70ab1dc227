// SPDX-License-Identifier: MIT
/*
 * TILER and FRAGMENT: a frame like an application's, drawn with faults served, and
 * damage to any of its structures before the two jobs, between them and while they
 * run.
 */
#include "hostile_guest.h"

#define TILER_JOB	(GUEST_VA + 0x000)
#define FRAGMENT_JOB	(GUEST_VA + 0x400)
#define CONTEXT		(GUEST_VA + 0x800)
#define FRAMEBUFFER	(GUEST_VA + 0xc00)
#define BINS		(GUEST_VA + 1 * GUEST_PAGE)
#define VERTICES	(GUEST_VA + 2 * GUEST_PAGE)
#define INDICES		(GUEST_VA + 3 * GUEST_PAGE)
#define HEAP		(GUEST_VA + 4 * GUEST_PAGE)
#define HEAP_PAGES	24u
#define COLOR		(GUEST_VA + 28 * GUEST_PAGE)	/* 4 pages */
#define DEPTH		(GUEST_VA + 32 * GUEST_PAGE)	/* the same */

#define MAX_SIZE	64u	/* pixels, both ways */
#define MAX_VERTICES	32u
#define MAX_TRIANGLES	63u	/* a chunk has room for 42 */
#define MAX_FRAMES	2u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Mostly a number from a picture; else one that checks tend to get wrong; else any bits. */
static float take_float(struct input *in)
{
	static const uint32_t odd[] = {
		0x00000000, 0x80000000, 0x00000001, 0x007fffff, 0x00800000, 0x2b800000,
		0x33800000, 0x3f7fffff, 0x3f800001, 0x45ffffff, 0x46000000, 0x53800000,
		0x53800001, 0x71800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
	};
	unsigned int kind = take8(in);
	uint32_t bits;
	float value;

	if (kind < 0xc0)
		return ((float)kind - 96) / 32;
	bits = kind < 0xe0 ? odd[kind % (sizeof(odd) / sizeof(odd[0]))] : take32(in);
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void put_geometry(struct guest *g, unsigned int vertices, unsigned int triangles)
{
	unsigned int i, k;

	for (i = 0; i < vertices; i++) {
		struct agate_vertex v = { .r = 1, .g = 0.5f, .a = 1 };
		unsigned int kind = take8(&g->in);

		v.x = take_float(&g->in);
		v.y = take_float(&g->in);
		v.z = kind & 1 ? take_float(&g->in) : 0.5f;
		v.w = kind & 2 ? take_float(&g->in) : 1;
		if (kind & 4)
			v.b = take_float(&g->in);
		guest_put(VERTICES + i * sizeof(v), &v, sizeof(v));
	}
	for (i = 0; i < triangles; i++)
		for (k = 0; k < 3; k++) {
			uint32_t index = take8(&g->in);

			/* Out of range now and then. */
			index = index < 0xfc && vertices ? index % vertices : index;
			guest_put(INDICES + (i * 3 + k) * sizeof(index), &index, sizeof(index));
		}
}

/* Both return whether to disturb the job. */
static bool put_tiler_job(struct guest *g, uint32_t width, uint32_t height)
{
	unsigned int kind = take8(&g->in);
	struct agate_tiler_payload p = {
		.vertices = VERTICES, .indices = INDICES, .tiler = CONTEXT,
		.vertex_count = take8(&g->in) % (MAX_VERTICES + 1),
		.viewport = { .width = (float)width, .height = (float)height, .far_depth = 1 },
		.flags = kind & 1,
	};
	struct agate_tiler_context ctx = {
		.heap_start = HEAP, .heap_end = HEAP + HEAP_PAGES * GUEST_PAGE, .heap_top = HEAP,
		.bins = BINS, .width = width, .height = height,
	};
	unsigned int triangles = take8(&g->in) % (MAX_TRIANGLES + 1);

	p.index_count = triangles * 3;
	if (kind & 2) {
		p.viewport.x = take_float(&g->in) * 64;
		p.viewport.y = take_float(&g->in) * 64;
	}
	if (kind & 4)
		p.viewport.far_depth = take_float(&g->in);
	put_header(TILER_JOB, AGATE_JOB_TILER, 0);
	guest_put(TILER_JOB + AGATE_JOB_HEADER_SIZE, &p, sizeof(p));
	guest_put(CONTEXT, &ctx, sizeof(ctx));
	put_geometry(g, p.vertex_count, triangles);
	return kind & 0x80;
}

static bool put_fragment_job(struct guest *g, uint32_t width, uint32_t height)
{
	unsigned int kind = take8(&g->in);
	struct agate_framebuffer fb = {
		.color = COLOR, .depth = kind & 8 ? DEPTH : 0, .tiler = CONTEXT,
		.width = width, .height = height, .stride = width * 4, .depth_stride = width * 4,
		.format = 1 + (kind >> 4 & 1), .flags = kind & 7, .clear_depth = 1,
	};
	struct agate_fragment_payload p = {
		.max_x = (width - 1) / AGATE_TILE_SIZE, .max_y = (height - 1) / AGATE_TILE_SIZE,
		.framebuffer = FRAMEBUFFER,
	};

	if (kind & 0x20)
		p.min_x = take8(&g->in) % 16;
	put_header(FRAGMENT_JOB, AGATE_JOB_FRAGMENT, 0);
	guest_put(FRAGMENT_JOB + AGATE_JOB_HEADER_SIZE, &p, sizeof(p));
	guest_put(FRAMEBUFFER, &fb, sizeof(fb));
	return kind & 0x80;
}

/* Change a few words that a job reads. */
static void damage(struct guest *g)
{
	static const struct { uint64_t va; unsigned int words; } target[] = {
		{ TILER_JOB + AGATE_JOB_HEADER_SIZE, 16 },
		{ FRAGMENT_JOB + AGATE_JOB_HEADER_SIZE, 4 },
		{ CONTEXT, 16 }, { FRAMEBUFFER, 24 }, { BINS, 256 }, { VERTICES, 256 },
		{ HEAP, 256 }, { HEAP + GUEST_PAGE, 256 },
	};
	unsigned int n = take8(&g->in) % 8;

	while (n--) {
		unsigned int t = take8(&g->in), kind = take8(&g->in);
		uint64_t va = target[t % 8].va + take8(&g->in) % target[t % 8].words * 4;
		uint64_t value = kind < 0x40 ? kind : kind < 0x80 ? take_va(&g->in) :
				 take32(&g->in);

		guest_put(va, &value, kind >= 0x40 && kind < 0x80 && va % 8 == 0 ? 8 : 4);
	}
}

static bool ended(struct guest *g, unsigned int slot, uint32_t *status)
{
	bool end = rd(g, JOB_INT_RAWSTAT) & (JOB_INT_DONE(slot) | JOB_INT_FAIL(slot));

	if (!end)
		wr(g, JS_COMMAND(slot), JS_COMMAND_HARD_STOP);
	*status = rd(g, JS_STATUS(slot));
	wr(g, JOB_INT_CLEAR, ~0u);
	return end;
}

/* Unmap pages, or restrict access to them; serving the fault restores them. */
static void take_away(struct guest *g, uint64_t pages, enum guest_access left)
{
	unsigned int n;

	for (n = 1; n < GUEST_MAPPED; n++)
		guest_map(g, n, pages >> n & 1 ? left : GUEST_WRITE);
	wr64(g, AS_LOCKADDR_LO(0), 0x3f);
	as_command(g, 0, AS_COMMAND_LOCK);
	as_command(g, 0, AS_COMMAND_FLUSH_PT);
}

static void run_job(struct guest *g, unsigned int slot, uint64_t job, bool disturbed)
{
	start_job(g, slot, job, JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE |
		  JS_CONFIG_END_FLUSH_CLEAN_INVALIDATE);
	while (disturbed && input_left(&g->in)) {
		unsigned int kind = take8(&g->in);

		step(g, 1 + kind % 32);
		guest_serve(g);
		if (kind & 0x40)
			take_away(g, take64(&g->in), kind & 0x20 ? GUEST_READ : GUEST_NONE);
		else
			damage(g);
		disturbed = kind & 0x80;
	}
	guest_finish(g);
}

static void draw_frame(struct guest *g)
{
	uint32_t width = take8(&g->in) % MAX_SIZE + 1, height = take8(&g->in) % MAX_SIZE + 1;
	uint64_t unmapped = take64(&g->in);
	static const uint8_t zeroes[GUEST_PAGE];
	bool tiler_disturbed, fragment_disturbed;
	uint32_t status;

	guest_put(BINS, zeroes, sizeof(zeroes));
	tiler_disturbed = put_tiler_job(g, width, height);
	fragment_disturbed = put_fragment_job(g, width, height);
	damage(g);
	take_away(g, unmapped, GUEST_NONE);
	run_job(g, 1, TILER_JOB, tiler_disturbed);
	if (ended(g, 1, &status))
		REQUIRE(status == AGATE_EXC_DONE || status == AGATE_EXC_DATA_INVALID_FAULT ||
			status == AGATE_EXC_OUT_OF_MEMORY);
	damage(g);
	run_job(g, 0, FRAGMENT_JOB, fragment_disturbed);
	if (ended(g, 0, &status))
		REQUIRE(status == AGATE_EXC_DONE || status == AGATE_EXC_DATA_INVALID_FAULT ||
			status == AGATE_EXC_TILE_RANGE_FAULT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guest *g = guest_new(data, size, NULL);
	unsigned int n;

	for (n = 0; n < MAX_FRAMES && input_left(&g->in); n++)
		draw_frame(g);
	guest_check_unmapped();
	guest_end(g);
	return 0;
}
