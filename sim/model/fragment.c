// SPDX-License-Identifier: MIT
/*
 * FRAGMENT: for each tile of a range, clear or load it, draw the primitives of
 * its bin, write it back.  A unit of work is one row of a tile loaded or
 * written, one chunk read, or one primitive drawn into one tile; so an endless list
 * of chunks keeps the job running, but does not block the GPU.
 */
#include "job_exec.h"
#include "shade.h"
#include "tiler_context.h"

/* Model time: the cost of a unit, in cycles. */
#define FRAGMENT_CYCLES_SETUP		32
#define FRAGMENT_CYCLES_TILE		8
#define FRAGMENT_CYCLES_ROW		4	/* loaded or written, colour or depth */
#define FRAGMENT_CYCLES_CHUNK		4
#define FRAGMENT_CYCLES_PRIMITIVE	8	/* plus one for each drawn pixel */

enum fragment_phase {
	FRAGMENT_SETUP,
	FRAGMENT_TILE,
	FRAGMENT_LOAD,		/* a row of colour or depth, or both */
	FRAGMENT_CHUNK,
	FRAGMENT_PRIMITIVE,
	FRAGMENT_STORE,		/* a row */
};

struct fragment_job {
	enum fragment_phase phase;
	struct agate_fragment_payload range;
	struct agate_framebuffer fb;
	struct agate_tiler_context ctx;

	bool load_color, load_depth;
	bool depth_test, store_depth;

	uint32_t row;
	uint64_t here;			/* the chunk that was read last */
	uint64_t chunk;			/* to be read next, or 0 */
	uint32_t count, next;		/* primitives here, and the next to draw */
	struct shade_tile tile;
	struct agate_tiler_primitive primitive[AGATE_CHUNK_PRIMITIVES];
};

_Static_assert(sizeof(struct fragment_job) <= AGATE_JOB_STATE_MAX, "job state");
_Static_assert(sizeof(struct agate_fragment_payload) == 16, "payload layout");
_Static_assert(sizeof(struct agate_framebuffer) == 96, "framebuffer layout");

static bool unit_interval(float v)
{
	/* False for a NaN. */
	return v >= 0.0f && v <= 1.0f;
}

/* A picture of fb's size at va, rows stride apart. */
static bool picture_ok(const struct agate_framebuffer *fb, uint64_t va, uint32_t stride)
{
	const uint64_t row = (uint64_t)fb->width * 4;

	return stride % 4 == 0 && stride >= row &&
	       tiler_va_ok(va, (uint64_t)stride * (fb->height - 1) + row, AGATE_JOB_ALIGN);
}

static bool framebuffer_ok(const struct agate_framebuffer *fb)
{
	const uint32_t flags = AGATE_FB_CLEAR_COLOR | AGATE_FB_CLEAR_DEPTH |
			       AGATE_FB_DEPTH_TEST;

	if (!fb->width || fb->width > AGATE_MAX_FB_SIZE ||
	    !fb->height || fb->height > AGATE_MAX_FB_SIZE)
		return false;
	if (fb->format != AGATE_FORMAT_R8G8B8A8 && fb->format != AGATE_FORMAT_B8G8R8A8)
		return false;
	if (fb->flags & ~flags)
		return false;
	for (unsigned int i = 0; i < 7; i++)
		if (fb->reserved[i])
			return false;
	for (unsigned int i = 0; i < 4; i++)
		if (!unit_interval(fb->clear_color[i]))
			return false;
	if (!unit_interval(fb->clear_depth))
		return false;

	/* A depth test needs depths: from a buffer or from a clear. */
	if ((fb->flags & AGATE_FB_DEPTH_TEST) && !(fb->flags & AGATE_FB_CLEAR_DEPTH) &&
	    !fb->depth)
		return false;

	return picture_ok(fb, fb->color, fb->stride) &&
	       (!fb->depth || picture_ok(fb, fb->depth, fb->depth_stride));
}

static bool range_ok(const struct agate_fragment_payload *range,
		     const struct agate_framebuffer *fb)
{
	return range->min_x <= range->max_x && range->min_y <= range->max_y &&
	       range->max_x < tiler_tiles(fb->width) &&
	       range->max_y < tiler_tiles(fb->height);
}

/* The bins, if there are any, must belong to a frame of this size. */
static enum agate_run read_bins(struct agate_exec *x, struct fragment_job *job)
{
	const enum agate_run r = tiler_context_read(x, job->fb.tiler, &job->ctx);

	if (r == AGATE_RUN_AGAIN &&
	    (job->ctx.width != job->fb.width || job->ctx.height != job->fb.height))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, job->fb.tiler);
	return r;
}

static enum agate_run fragment_setup(struct agate_exec *x, struct fragment_job *job)
{
	const uint64_t va = x->job + AGATE_JOB_HEADER_SIZE;
	struct agate_framebuffer *fb = &job->fb;
	enum agate_run why;

	if (agate_exec_read(x, va, &job->range, sizeof(job->range), &why))
		return why;
	if (!tiler_va_ok(job->range.framebuffer, sizeof(*fb), AGATE_JOB_ALIGN))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, va);
	if (agate_exec_read(x, job->range.framebuffer, fb, sizeof(*fb), &why))
		return why;
	if (!framebuffer_ok(fb))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT,
				       job->range.framebuffer);
	if (!range_ok(&job->range, fb))
		return agate_exec_fail(x, AGATE_EXC_TILE_RANGE_FAULT, va);
	if (fb->tiler) {
		why = read_bins(x, job);
		if (why != AGATE_RUN_AGAIN)
			return why;
	}

	/* Without a clear or a test, leave the depth buffer alone. */
	job->depth_test = fb->flags & AGATE_FB_DEPTH_TEST;
	job->load_color = !(fb->flags & AGATE_FB_CLEAR_COLOR);
	job->load_depth = job->depth_test && !(fb->flags & AGATE_FB_CLEAR_DEPTH);
	job->store_depth = fb->depth &&
			   (job->depth_test || (fb->flags & AGATE_FB_CLEAR_DEPTH));

	job->tile.x = job->range.min_x;
	job->tile.y = job->range.min_y;
	agate_exec_cost(x, FRAGMENT_CYCLES_SETUP);
	job->phase = FRAGMENT_TILE;
	return AGATE_RUN_AGAIN;
}

static void clear_tile(struct shade_tile *tile, const struct agate_framebuffer *fb)
{
	const float *c = fb->clear_color;
	const uint32_t color = shade_pack(fb->format, c[0], c[1], c[2], c[3]);

	for (unsigned int y = 0; y < AGATE_TILE_SIZE; y++) {
		for (unsigned int x = 0; x < AGATE_TILE_SIZE; x++) {
			tile->color[y][x] = color;
			tile->depth[y][x] = fb->clear_depth;
		}
	}
}

static uint32_t tile_extent(uint32_t tile, uint32_t size)
{
	const uint32_t left = size - tile * AGATE_TILE_SIZE;

	return left < AGATE_TILE_SIZE ? left : AGATE_TILE_SIZE;
}

static enum agate_run fragment_tile(struct agate_exec *x, struct fragment_job *job)
{
	struct agate_tiler_bin bin = { 0 };
	struct shade_tile *tile = &job->tile;
	enum agate_run why;

	if (job->fb.tiler &&
	    agate_exec_read(x, tiler_bin_va(&job->ctx, tile->x, tile->y), &bin, sizeof(bin),
			    &why))
		return why;

	tile->width = tile_extent(tile->x, job->fb.width);
	tile->height = tile_extent(tile->y, job->fb.height);
	clear_tile(tile, &job->fb);
	job->chunk = bin.first;
	job->row = 0;
	job->phase = job->load_color || job->load_depth ? FRAGMENT_LOAD : FRAGMENT_CHUNK;
	agate_exec_cost(x, FRAGMENT_CYCLES_TILE);
	return AGATE_RUN_AGAIN;
}

/* The address of the tile's current row in a picture. */
static uint64_t row_va(const struct fragment_job *job, uint64_t picture, uint32_t stride)
{
	const uint64_t y = (uint64_t)job->tile.y * AGATE_TILE_SIZE + job->row;

	return picture + y * stride + (uint64_t)job->tile.x * AGATE_TILE_SIZE * 4;
}

static enum agate_run fragment_load(struct agate_exec *x, struct fragment_job *job)
{
	const struct agate_framebuffer *fb = &job->fb;
	const size_t bytes = job->tile.width * 4;
	enum agate_run why;

	if (job->load_color &&
	    agate_exec_read(x, row_va(job, fb->color, fb->stride),
			    job->tile.color[job->row], bytes, &why))
		return why;
	if (job->load_depth &&
	    agate_exec_read(x, row_va(job, fb->depth, fb->depth_stride),
			    job->tile.depth[job->row], bytes, &why))
		return why;

	agate_exec_cost(x, FRAGMENT_CYCLES_ROW * (job->load_color + job->load_depth));
	if (++job->row == job->tile.height)
		job->phase = FRAGMENT_CHUNK;
	return AGATE_RUN_AGAIN;
}

/* Read the next chunk of the bin, or begin to write the tile when there is none. */
static enum agate_run fragment_chunk(struct agate_exec *x, struct fragment_job *job)
{
	const uint64_t va = job->chunk;
	struct tiler_chunk_header header;
	enum agate_run why;

	if (!va) {
		job->row = 0;
		job->phase = FRAGMENT_STORE;
		return AGATE_RUN_AGAIN;
	}

	if (!tiler_chunk_va_ok(&job->ctx, va, job->ctx.heap_top))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, va);
	if (agate_exec_read(x, va, &header, sizeof(header), &why))
		return why;
	if (!tiler_chunk_header_ok(&header))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, va);
	if (header.count &&
	    agate_exec_read(x, tiler_primitive_va(va, 0), job->primitive,
			    header.count * sizeof(job->primitive[0]), &why))
		return why;

	job->here = va;
	job->chunk = header.next;
	job->count = header.count;
	job->next = 0;
	job->phase = header.count ? FRAGMENT_PRIMITIVE : FRAGMENT_CHUNK;
	agate_exec_cost(x, FRAGMENT_CYCLES_CHUNK);
	return AGATE_RUN_AGAIN;
}

static enum agate_run fragment_primitive(struct agate_exec *x, struct fragment_job *job)
{
	const struct agate_tiler_primitive *p = &job->primitive[job->next];
	unsigned int drawn;

	if (!shade_primitive_valid(p))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT,
				       tiler_primitive_va(job->here, job->next));

	drawn = shade_primitive(&job->tile, p, job->fb.format, job->depth_test);
	agate_exec_count(x, AGATE_CNT_PIXELS, drawn);
	agate_exec_cost(x, FRAGMENT_CYCLES_PRIMITIVE + drawn);
	if (++job->next == job->count)
		job->phase = FRAGMENT_CHUNK;
	return AGATE_RUN_AGAIN;
}

static enum agate_run next_tile(struct fragment_job *job)
{
	job->phase = FRAGMENT_TILE;
	if (job->tile.x < job->range.max_x) {
		job->tile.x++;
		return AGATE_RUN_AGAIN;
	}
	job->tile.x = job->range.min_x;
	return job->tile.y++ < job->range.max_y ? AGATE_RUN_AGAIN : AGATE_RUN_DONE;
}

static enum agate_run fragment_store(struct agate_exec *x, struct fragment_job *job)
{
	const struct agate_framebuffer *fb = &job->fb;
	const size_t bytes = job->tile.width * 4;
	enum agate_run why;

	if (agate_exec_write(x, row_va(job, fb->color, fb->stride),
			     job->tile.color[job->row], bytes, &why))
		return why;
	if (job->store_depth &&
	    agate_exec_write(x, row_va(job, fb->depth, fb->depth_stride),
			     job->tile.depth[job->row], bytes, &why))
		return why;

	agate_exec_cost(x, FRAGMENT_CYCLES_ROW * (1 + job->store_depth));
	return ++job->row == job->tile.height ? next_tile(job) : AGATE_RUN_AGAIN;
}

static enum agate_run fragment_run(struct agate_exec *x, void *state)
{
	struct fragment_job *job = state;

	switch (job->phase) {
	case FRAGMENT_SETUP:
		return fragment_setup(x, job);
	case FRAGMENT_TILE:
		return fragment_tile(x, job);
	case FRAGMENT_LOAD:
		return fragment_load(x, job);
	case FRAGMENT_CHUNK:
		return fragment_chunk(x, job);
	case FRAGMENT_PRIMITIVE:
		return fragment_primitive(x, job);
	case FRAGMENT_STORE:
		return fragment_store(x, job);
	}
	return agate_exec_fail(x, AGATE_EXC_UNKNOWN, x->job);
}

const struct agate_job_ops agate_fragment_ops = {
	.state_size = sizeof(struct fragment_job),
	.run = fragment_run,
};
