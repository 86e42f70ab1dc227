// SPDX-License-Identifier: MIT
/*
 * Inputs that are jobs: COMPUTE, and TILER with FRAGMENT.
 */
#include <stdbool.h>

#include "actions.h"
#include "agate_job.h"
#include "agate_regs.h"
#include "seeds.h"

/* ---- compute ---- */

static void compute_end(uint64_t unmapped)
{
	p64(unmapped);
	p8(7);
}

static void compute_copy(uint32_t dst, uint32_t src, uint32_t bytes)
{
	p8(AGATE_COMPUTE_COPY);
	va(dst);
	size(bytes);
	va(src);
}

void compute_seeds(void)
{
	p8(KIND_MIDGARD | KIND_DIRECT);
	p8(AGATE_COMPUTE_FILL);
	va(0x1ffd);
	size(0x2345);
	p64(0x0123456789abcdefull);
	compute_end(0xc);
	p8(AGATE_COMPUTE_CHECKSUM);
	va(0x1004);
	size(0x1801);
	va(0x4321);
	compute_end(0x12);
	save("compute", "fill-and-checksum");

	/* Over itself, both ways. */
	p8(KIND_AARCH64 | KIND_NONE);
	compute_copy(0x2100, 0x1f00, 0x3000);
	compute_end(0);
	compute_copy(0x1f00, 0x2101, 0x3000);
	compute_end(0x3ff);
	save("compute", "overlaps");

	p8(KIND_BIFROST | KIND_ACE_LITE);
	p8(AGATE_COMPUTE_COPY_2D);
	va(0x8000);
	size(0x50);
	va(0x1000);
	p8(40);
	p8(0x30);
	p8(0x80);
	compute_end(0x300);
	/* Overlapping rows with equal strides, copied downward: 0x40 makes the strides equal. */
	p8(0x40 + AGATE_COMPUTE_COPY_2D + 2);
	va(0x1230);
	size(0x60);
	va(0x1000);
	p8(60);
	p8(0x20);
	compute_end(0);
	save("compute", "rectangles");

	p8(KIND_MIDGARD);
	p8(AGATE_COMPUTE_FILL);
	p8(0xf0);
	p64(0xffffffffffffff00ull);
	p8(0xff);
	p64(0x200);
	p64(0);
	compute_end(0);
	compute_copy(0x23000, 0x1000, 0x7000);
	compute_end(0);
	save("compute", "out-of-range");
}

/* ---- tiler ---- */

/* One byte for -3 to 2.96 in steps of 1/32; else the bits of the number. */
static void real(float value)
{
	float step = value * 32 + 96;

	if (step >= 0 && step < 0xc0 && step == (float)(int)step) {
		p8((int)step);
		return;
	}
	p8(0xe0);
	put(&value, sizeof(value));
}

static void vertex(float x, float y, float z)
{
	p8(1);
	real(x);
	real(y);
	real(z);
}

/* Width, height, pages that fault, and the frame's two jobs without damage. */
static void frame_of(unsigned int kind, unsigned int width, unsigned int height,
		     uint64_t unmapped, unsigned int flags, unsigned int triangles)
{
	unsigned int vertices = triangles < 12 ? triangles + 2 : 12, i;

	p8(width - 1);
	p8(height - 1);
	p64(unmapped);
	p8(kind);
	p8(vertices);
	p8(triangles);
	for (i = 0; i < vertices; i++)
		vertex(i % 2 ? 1.5f : -0.75f + 0.125f * i, i % 3 ? -1 : 0.875f, 0.25f * (i % 4));
	for (i = 0; i < triangles; i++) {
		p8(i % vertices);
		p8((i + 1) % vertices);
		p8((i + 2) % vertices);
	}
	p8(flags);
}

static void frame(unsigned int width, unsigned int height, uint64_t unmapped, unsigned int flags,
		  unsigned int triangles)
{
	frame_of(0, width, height, unmapped, flags, triangles);
}

enum { FRAME_DEPTH = 8, FRAME_BGRA = 16, FRAME_DISTURBED = 0x80 };

/* While a job runs: units of work, then pages to unmap, and so on. */
static void taken_after(unsigned int units, uint64_t pages, bool readable, bool more)
{
	p8((units - 1) | (readable ? 0x20 : 0) | 0x40 | (more ? 0x80 : 0));
	p64(pages);
}

void tiler_seeds(void)
{
	unsigned int i;

	p8(KIND_MIDGARD | KIND_DIRECT);
	frame(33, 20, 0, AGATE_FB_CLEAR_COLOR, 1);
	p8(0);
	p8(0);
	save("tiler", "triangle");

	/* Heap and picture fault in; then the same again on pages that are present. */
	p8(KIND_AARCH64 | KIND_NONE);
	frame(60, 50, 0x7ffffffff0ull, AGATE_FB_CLEAR_COLOR | AGATE_FB_CLEAR_DEPTH |
	      AGATE_FB_DEPTH_TEST | FRAME_DEPTH, 12);
	p8(0);
	p8(0);
	frame(60, 50, 0, AGATE_FB_DEPTH_TEST | FRAME_DEPTH | FRAME_BGRA, 3);
	p8(0);
	p8(0);
	save("tiler", "faults");

	/* More primitives than a chunk has room for. */
	p8(KIND_BIFROST);
	frame(16, 16, 0x20, AGATE_FB_CLEAR_COLOR, 63);
	p8(0);
	p8(0);
	save("tiler", "two-chunks");

	/* A full chunk with a count one too high, and a count above any page's. */
	for (i = 0; i < 2; i++) {
		p8(KIND_BIFROST);
		frame(16, 16, 0, AGATE_FB_CLEAR_COLOR, 63);
		p8(0);
		p8(1);
		p8(6);
		p8(0x80);
		p8(2);
		p32(i ? 0x7fffffff : AGATE_CHUNK_PRIMITIVES + 1);
		save("tiler", i ? "count-huge" : "count-above");
	}

	/* The context, the heap or both are unmapped again and again. */
	p8(KIND_MIDGARD);
	frame_of(FRAME_DISTURBED, 33, 33, 0, AGATE_FB_CLEAR_COLOR | FRAME_DISTURBED, 20);
	p8(0);
	for (i = 0; i < 40; i++)
		taken_after(1 + i % 7, i % 3 ? 0xffffff0 : 0xffffff3, i % 2, i < 39);
	p8(0);
	for (i = 0; i < 10; i++)
		taken_after(3 + i, 0x3ffffffffeull, i % 2, i < 9);
	save("tiler", "pages-taken-away");

	/* heap_top and a chunk's next changed between the jobs. */
	p8(KIND_BIFROST | KIND_ACE_LITE);
	frame(40, 40, 0, AGATE_FB_CLEAR_COLOR, 4);
	p8(0);
	p8(2);
	p8(2);
	p8(0x44);
	p8(4);
	va(0x5000);
	p8(6);
	p8(0x40);
	p8(0);
	va(0x4000);
	save("tiler", "lists-damaged");

	/* A vertex that is not a number, then an index out of range. */
	p8(KIND_MIDGARD);
	p8(20);
	p8(20);
	p64(0);
	p8(7);
	p8(3);
	p8(2);
	real(16);
	real(-16);
	real(0.5f);
	vertex(0, 0, 0);
	vertex(1, -1, 3);
	vertex(-1, 1, -2);
	p8(0);
	p8(1);
	p8(2);
	p8(0);
	p8(0xff);
	p8(2);
	p8(AGATE_FB_CLEAR_COLOR);
	p8(1);
	p8(5);
	p8(0x80);
	p8(8);
	p32(0x7fc00000);
	p8(0);
	save("tiler", "bad-vertices");
}
