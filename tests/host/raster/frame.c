// SPDX-License-Identifier: MIT
/* Building and drawing the frame that most tests start from. */
#include "frame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Far more than any frame here needs. */
#define FRAME_MAX_UNITS	1000000

struct frame *frame_new(unsigned int width, unsigned int height)
{
	struct frame *f = calloc(1, sizeof(*f));
	struct agate_sim *sim = &f->sim;

	assert(f && width <= 128 && height <= 64);
	sim->stall_at = FAKE_NO_STALL;
	f->tiler = fake_at(sim, FRAME_TILER_JOB + AGATE_JOB_HEADER_SIZE, sizeof(*f->tiler));
	f->fragment = fake_at(sim, FRAME_FRAGMENT_JOB + AGATE_JOB_HEADER_SIZE,
			      sizeof(*f->fragment));
	f->ctx = fake_at(sim, FRAME_CONTEXT, sizeof(*f->ctx));
	f->fb = fake_at(sim, FRAME_FRAMEBUFFER, sizeof(*f->fb));
	f->bins = fake_at(sim, FRAME_BINS, 4096);
	f->vertices = fake_at(sim, FRAME_VERTICES, 3 * 4096);
	f->indices = fake_at(sim, FRAME_INDICES, 4096);

	*f->tiler = (struct agate_tiler_payload) {
		.vertices = FRAME_VERTICES,
		.indices = FRAME_INDICES,
		.tiler = FRAME_CONTEXT,
		.viewport = { .width = (float)width, .height = (float)height,
			      .far_depth = 1.0f },
	};
	*f->ctx = (struct agate_tiler_context) {
		.heap_start = FRAME_HEAP,
		.heap_end = FRAME_HEAP + FRAME_HEAP_SIZE,
		.heap_top = FRAME_HEAP,
		.bins = FRAME_BINS,
		.width = width,
		.height = height,
	};
	*f->fragment = (struct agate_fragment_payload) {
		.max_x = (__u16)((width - 1) / AGATE_TILE_SIZE),
		.max_y = (__u16)((height - 1) / AGATE_TILE_SIZE),
		.framebuffer = FRAME_FRAMEBUFFER,
	};
	*f->fb = (struct agate_framebuffer) {
		.color = FRAME_COLOR,
		.depth = FRAME_DEPTH,
		.tiler = FRAME_CONTEXT,
		.width = width,
		.height = height,
		.stride = width * 4,
		.depth_stride = width * 4,
		.format = AGATE_FORMAT_R8G8B8A8,
		.flags = AGATE_FB_CLEAR_COLOR | AGATE_FB_CLEAR_DEPTH | AGATE_FB_DEPTH_TEST,
		.clear_color = { 0.0f, 0.0f, 0.0f, 1.0f },
		.clear_depth = 1.0f,
	};
	return f;
}

void frame_triangle(struct frame *f, struct agate_vertex a, struct agate_vertex b,
		    struct agate_vertex c)
{
	const struct agate_vertex v[3] = { a, b, c };

	assert(f->tiler->index_count + 3 <= 4096 / sizeof(__u32));
	assert((f->tiler->vertex_count + 3) * sizeof(*v) <= 3 * 4096);
	for (unsigned int i = 0; i < 3; i++) {
		f->indices[f->tiler->index_count++] = f->tiler->vertex_count;
		f->vertices[f->tiler->vertex_count++] = v[i];
	}
}

struct agate_vertex frame_at(const struct frame *f, float x, float y, float z,
			     float r, float g, float b)
{
	return (struct agate_vertex) {
		.x = 2.0f * x / (float)f->ctx->width - 1.0f,
		.y = 2.0f * y / (float)f->ctx->height - 1.0f,
		.z = z, .w = 1.0f,
		.r = r, .g = g, .b = b, .a = 1.0f,
	};
}

unsigned int frame_tile(struct frame *f)
{
	return fake_run(&f->sim, &agate_tiler_ops, FRAME_TILER_JOB, FRAME_MAX_UNITS);
}

unsigned int frame_draw(struct frame *f)
{
	return fake_run(&f->sim, &agate_fragment_ops, FRAME_FRAGMENT_JOB, FRAME_MAX_UNITS);
}

void frame_render(struct frame *f)
{
	unsigned int exception = frame_tile(f);

	assert(exception == AGATE_EXC_DONE);
	exception = frame_draw(f);
	assert(exception == AGATE_EXC_DONE);
}

uint32_t frame_pixel(struct frame *f, unsigned int x, unsigned int y)
{
	const uint8_t *p = fake_at(&f->sim, f->fb->color + y * f->fb->stride + x * 4, 4);

	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

float frame_depth(struct frame *f, unsigned int x, unsigned int y)
{
	float z;

	memcpy(&z, fake_at(&f->sim, f->fb->depth + y * f->fb->depth_stride + x * 4, 4), 4);
	return z;
}

struct agate_tiler_chunk *frame_chunk(struct frame *f, uint64_t va)
{
	return fake_at(&f->sim, va, sizeof(struct agate_tiler_chunk));
}
