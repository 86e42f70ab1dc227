/* SPDX-License-Identifier: MIT */
/*
 * A frame in the fake's memory: one TILER job, one FRAGMENT job and everything
 * they point to, all valid.  Each test then changes the part that it is about.
 */
#ifndef FRAME_H
#define FRAME_H

#include "fake_exec.h"

/* Where things are.  One page each for the first four. */
#define FRAME_TILER_JOB		(FAKE_BASE + 0x0000)
#define FRAME_FRAGMENT_JOB	(FAKE_BASE + 0x1000)
#define FRAME_CONTEXT		(FAKE_BASE + 0x2000)
#define FRAME_FRAMEBUFFER	(FAKE_BASE + 0x3000)
#define FRAME_BINS		(FAKE_BASE + 0x4000)
#define FRAME_VERTICES		(FAKE_BASE + 0x5000)	/* 3 pages */
#define FRAME_INDICES		(FAKE_BASE + 0x8000)
#define FRAME_HEAP		(FAKE_BASE + 0x10000)
#define FRAME_HEAP_SIZE		0x20000u
#define FRAME_COLOR		(FAKE_BASE + 0x40000)
#define FRAME_DEPTH		(FAKE_BASE + 0x60000)

struct frame {
	struct agate_sim sim;
	struct agate_tiler_payload *tiler;
	struct agate_fragment_payload *fragment;
	struct agate_tiler_context *ctx;
	struct agate_framebuffer *fb;
	struct agate_tiler_bin *bins;
	struct agate_vertex *vertices;
	__u32 *indices;
};

/*
 * A frame of width x height (at most 128 x 64), R8G8B8A8, cleared to opaque
 * black and depth 1, depth-tested, no vertices.  Frees with free().
 */
struct frame *frame_new(unsigned int width, unsigned int height);

/* Add one triangle; each vertex is given in clip space. */
void frame_triangle(struct frame *f, struct agate_vertex a, struct agate_vertex b,
		    struct agate_vertex c);

/* A vertex at pixel (x, y) and depth z, with w = 1, in an opaque colour. */
struct agate_vertex frame_at(const struct frame *f, float x, float y, float z,
			     float r, float g, float b);

/* Run the job until it ends; returns its exception code. */
unsigned int frame_tile(struct frame *f);
unsigned int frame_draw(struct frame *f);

/* Run both jobs, which have to succeed. */
void frame_render(struct frame *f);

uint32_t frame_pixel(struct frame *f, unsigned int x, unsigned int y);
float frame_depth(struct frame *f, unsigned int x, unsigned int y);
struct agate_tiler_chunk *frame_chunk(struct frame *f, uint64_t va);

/* Opaque colours in the format R8G8B8A8. */
#define RED	0xff0000ffu
#define GREEN	0xff00ff00u
#define BLUE	0xffff0000u
#define BLACK	0xff000000u

#endif /* FRAME_H */
