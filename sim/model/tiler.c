// SPDX-License-Identifier: MIT
/*
 * TILER: fetch triangles, clip and transform them, and put each one into the
 * bins of the tiles it meets (tiler_bin.c).  A unit of work is one triangle
 * fetched, or one primitive put into one tile.
 *
 * A vertex that is not a number (or beyond 2^40) makes the job's data invalid: it
 * is an error of the program, and dropping the triangle would hide the error.
 */
#include "tiler.h"

#include <math.h>

#include "clip.h"
#include "raster.h"
#include "tiler_context.h"

/* Model time: the cost of a unit, in cycles. */
#define TILER_CYCLES_SETUP	32
#define TILER_CYCLES_VERTEX	4	/* fetched, or made by clipping */
#define TILER_CYCLES_TILE	4	/* a primitive put into a tile */
#define TILER_CYCLES_SEARCH	1	/* a row of tiles searched */

enum tiler_phase {
	TILER_SETUP,
	TILER_FETCH,		/* the next triangle, into polygon[] */
	TILER_FAN,		/* the polygon's next triangle, into primitive */
	TILER_SEARCH,		/* the next tile it meets */
	TILER_BIN,
};

struct tiler_job {
	enum tiler_phase phase;
	struct agate_tiler_payload payload;
	struct agate_tiler_context ctx;

	uint32_t next_index;		/* first index of the next triangle */

	struct agate_tiler_vertex polygon[CLIP_MAX_VERTICES];
	unsigned int polygon_count;
	unsigned int fan;		/* polygon[0], [fan], [fan + 1] are next */
	bool clockwise;

	struct raster_triangle triangle;
	uint32_t tile_x, tile_y;
	uint32_t tile_min_x, tile_max_x, tile_max_y;

	struct tiler_insert insert;
};

_Static_assert(sizeof(struct tiler_job) <= AGATE_JOB_STATE_MAX, "job state");
_Static_assert(sizeof(struct agate_tiler_payload) == 64, "payload layout");
_Static_assert(sizeof(struct agate_vertex) == 32, "vertex layout");

static bool viewport_ok(const struct agate_viewport *vp)
{
	/* Each comparison is false for a NaN. */
	return fabsf(vp->x) <= AGATE_MAX_FB_SIZE && fabsf(vp->y) <= AGATE_MAX_FB_SIZE &&
	       vp->width > 0.0f && vp->width <= AGATE_MAX_FB_SIZE &&
	       vp->height > 0.0f && vp->height <= AGATE_MAX_FB_SIZE &&
	       vp->near_depth >= 0.0f && vp->near_depth <= 1.0f &&
	       vp->far_depth >= 0.0f && vp->far_depth <= 1.0f;
}

static bool payload_ok(const struct agate_tiler_payload *p)
{
	return tiler_va_ok(p->vertices, (uint64_t)p->vertex_count *
			   sizeof(struct agate_vertex), 16) &&
	       tiler_va_ok(p->indices, (uint64_t)p->index_count * sizeof(uint32_t),
			   sizeof(uint32_t)) &&
	       p->index_count % 3 == 0 &&
	       !(p->flags & ~AGATE_TILER_CULL_BACK) && !p->reserved &&
	       viewport_ok(&p->viewport);
}

static enum agate_run tiler_setup(struct agate_exec *x, struct tiler_job *job)
{
	const uint64_t va = x->job + AGATE_JOB_HEADER_SIZE;
	enum agate_run why;

	if (agate_exec_read(x, va, &job->payload, sizeof(job->payload), &why))
		return why;
	if (!payload_ok(&job->payload))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, va);
	why = tiler_context_read(x, job->payload.tiler, &job->ctx);
	if (why != AGATE_RUN_AGAIN)
		return why;

	agate_exec_cost(x, TILER_CYCLES_SETUP);
	job->phase = TILER_FETCH;
	return AGATE_RUN_AGAIN;
}

static float clamp(float v, float low, float high)
{
	return v < low ? low : v > high ? high : v;
}

/*
 * From clip space to pixels: y = -w is the viewport's top edge.  This snaps x and
 * y, so that FRAGMENT draws exactly the coordinates in the chunk.
 */
static struct agate_tiler_vertex transform(const struct agate_viewport *vp,
					   const struct agate_vertex *v)
{
	const float x = clamp(v->x / v->w, -1.0f, 1.0f);
	const float y = clamp(v->y / v->w, -1.0f, 1.0f);
	const float z = clamp(v->z / v->w, 0.0f, 1.0f);
	const float depth = vp->near_depth + z * (vp->far_depth - vp->near_depth);
	const float rw = 1.0f / v->w;
	const float px = vp->x + (x + 1.0f) * (vp->width * 0.5f);
	const float py = vp->y + (y + 1.0f) * (vp->height * 0.5f);

	return (struct agate_tiler_vertex) {
		.x = (float)raster_snap(px) / RASTER_SUBPIXELS,
		.y = (float)raster_snap(py) / RASTER_SUBPIXELS,
		.z = depth,		/* rounding cannot leave 0..1 */
		.rw = rw,
		.r = v->r * rw,
		.g = v->g * rw,
		.b = v->b * rw,
		.a = v->a * rw,
	};
}

static struct raster_point point_of(const struct agate_tiler_vertex *v)
{
	return (struct raster_point) { raster_snap(v->x), raster_snap(v->y) };
}

/* Twice the snapped polygon's area: the sum over its fan. */
static int64_t polygon_area(const struct agate_tiler_vertex *v, unsigned int count)
{
	int64_t area = 0;

	for (unsigned int i = 1; i + 1 < count; i++)
		area += raster_area(point_of(&v[0]), point_of(&v[i]), point_of(&v[i + 1]));
	return area;
}

/* Read one triangle's indices and vertices; an invalid one fails the job. */
static enum agate_run fetch_vertices(struct agate_exec *x, const struct tiler_job *job,
				     struct agate_vertex v[3])
{
	const uint64_t indices = job->payload.indices +
				 (uint64_t)job->next_index * sizeof(uint32_t);
	uint32_t index[3];
	enum agate_run why;

	if (agate_exec_read(x, indices, index, sizeof(index), &why))
		return why;

	for (unsigned int i = 0; i < 3; i++) {
		const uint64_t va = job->payload.vertices +
				    (uint64_t)index[i] * sizeof(struct agate_vertex);

		if (index[i] >= job->payload.vertex_count)
			return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT,
					       indices + i * sizeof(uint32_t));
		if (agate_exec_read(x, va, &v[i], sizeof(v[i]), &why))
			return why;
		if (!clip_vertex_valid(&v[i]))
			return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, va);
	}
	return AGATE_RUN_AGAIN;
}

static enum agate_run tiler_fetch(struct agate_exec *x, struct tiler_job *job)
{
	struct agate_vertex v[3], clipped[CLIP_MAX_VERTICES];
	enum agate_run why;
	unsigned int count;
	int64_t area;

	if (job->next_index == job->payload.index_count)
		return AGATE_RUN_DONE;

	why = fetch_vertices(x, job, v);
	if (why != AGATE_RUN_AGAIN)
		return why;

	job->next_index += 3;
	count = clip_triangle(v, clipped);
	for (unsigned int i = 0; i < count; i++)
		job->polygon[i] = transform(&job->payload.viewport, &clipped[i]);
	area = polygon_area(job->polygon, count);

	agate_exec_count(x, AGATE_CNT_TRIANGLES, 1);
	agate_exec_cost(x, TILER_CYCLES_VERTEX * (count > 3 ? count : 3));

	if (!area || (area > 0 && (job->payload.flags & AGATE_TILER_CULL_BACK)))
		return AGATE_RUN_AGAIN;
	job->polygon_count = count;
	job->clockwise = area > 0;
	job->fan = 1;
	job->phase = TILER_FAN;
	return AGATE_RUN_AGAIN;
}

/* The tiles of the framebuffer that the triangle's box touches. */
static bool tile_range(struct tiler_job *job)
{
	const struct raster_triangle *t = &job->triangle;
	const int32_t width = (int32_t)job->ctx.width;
	const int32_t height = (int32_t)job->ctx.height;

	if (t->max_x < 0 || t->max_y < 0 || t->min_x >= width || t->min_y >= height)
		return false;

	job->tile_min_x = (uint32_t)(t->min_x < 0 ? 0 : t->min_x) / AGATE_TILE_SIZE;
	job->tile_y = (uint32_t)(t->min_y < 0 ? 0 : t->min_y) / AGATE_TILE_SIZE;
	job->tile_max_x = (uint32_t)(t->max_x < width ? t->max_x : width - 1) /
			  AGATE_TILE_SIZE;
	job->tile_max_y = (uint32_t)(t->max_y < height ? t->max_y : height - 1) /
			  AGATE_TILE_SIZE;
	job->tile_x = job->tile_min_x;
	return true;
}

/*
 * Cut the next triangle off the polygon.  Snapping can flip a sliver of a clipped
 * polygon; then its neighbours cover its pixels, so drop it.
 */
static enum agate_run tiler_fan(struct tiler_job *job)
{
	const unsigned int i = job->fan++;
	struct agate_tiler_vertex *v = job->insert.primitive.v;
	struct raster_point p[3];

	if (i + 1 >= job->polygon_count) {
		job->phase = TILER_FETCH;
		return AGATE_RUN_AGAIN;
	}

	v[0] = job->polygon[0];
	v[1] = job->polygon[i];
	v[2] = job->polygon[i + 1];
	for (unsigned int k = 0; k < 3; k++)
		p[k] = point_of(&v[k]);

	if (raster_triangle_init(&job->triangle, p) &&
	    job->triangle.swapped != job->clockwise && tile_range(job))
		job->phase = TILER_SEARCH;
	return AGATE_RUN_AGAIN;
}

/* A unit searches at most one row of tiles: a thin triangle can have a large box. */
static enum agate_run tiler_search(struct agate_exec *x, struct tiler_job *job)
{
	agate_exec_cost(x, TILER_CYCLES_SEARCH);

	while (job->tile_x <= job->tile_max_x) {
		const uint32_t tile_x = job->tile_x++;

		if (raster_meets_tile(&job->triangle, tile_x, job->tile_y)) {
			tiler_insert_begin(&job->insert,
					   tiler_bin_va(&job->ctx, tile_x, job->tile_y));
			job->phase = TILER_BIN;
			return AGATE_RUN_AGAIN;
		}
	}

	job->tile_x = job->tile_min_x;
	job->phase = job->tile_y++ < job->tile_max_y ? TILER_SEARCH : TILER_FAN;
	return AGATE_RUN_AGAIN;
}

static enum agate_run tiler_bin(struct agate_exec *x, struct tiler_job *job)
{
	const enum agate_run r = tiler_insert_step(x, job->payload.tiler, &job->ctx,
						   &job->insert);

	if (r != AGATE_RUN_DONE)
		return r;
	agate_exec_cost(x, TILER_CYCLES_TILE);
	job->phase = TILER_SEARCH;
	return AGATE_RUN_AGAIN;
}

static enum agate_run tiler_run(struct agate_exec *x, void *state)
{
	struct tiler_job *job = state;

	switch (job->phase) {
	case TILER_SETUP:
		return tiler_setup(x, job);
	case TILER_FETCH:
		return tiler_fetch(x, job);
	case TILER_FAN:
		return tiler_fan(job);
	case TILER_SEARCH:
		return tiler_search(x, job);
	case TILER_BIN:
		return tiler_bin(x, job);
	}
	return agate_exec_fail(x, AGATE_EXC_UNKNOWN, x->job);
}

const struct agate_job_ops agate_tiler_ops = {
	.state_size = sizeof(struct tiler_job),
	.run = tiler_run,
};
