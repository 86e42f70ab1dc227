/* SPDX-License-Identifier: MIT */
/*
 * Job descriptors, which userspace writes into GPU memory and the GPU reads.
 *
 * The header is Mali's job-manager header (32 bytes, at a 64-byte boundary);
 * the payloads of COMPUTE, TILER and FRAGMENT are Agate's own.  Everything is
 * little-endian, every address is a GPU virtual address, and a job whose reserved
 * fields are not zero ends in DATA_INVALID_FAULT.
 */
#ifndef AGATE_JOB_H
#define AGATE_JOB_H

#include <linux/types.h>

#define AGATE_JOB_ALIGN		64
#define AGATE_JOB_HEADER_SIZE	32

enum agate_job_type {
	AGATE_JOB_NOT_STARTED	= 0,
	AGATE_JOB_NULL		= 1,
	AGATE_JOB_WRITE_VALUE	= 2,
	AGATE_JOB_CACHE_FLUSH	= 3,
	AGATE_JOB_COMPUTE	= 4,
	AGATE_JOB_TILER		= 7,
	AGATE_JOB_FRAGMENT	= 9,
};

/* struct agate_job_header, word 4 ("control"). */
#define AGATE_JOB_64BIT			(1u << 0)	/* next is 64 bits wide */
#define AGATE_JOB_TYPE(t)		((t) << 1)
#define AGATE_JOB_TYPE_OF(control)	(((control) >> 1) & 0x7f)
#define AGATE_JOB_BARRIER		(1u << 8)
#define AGATE_JOB_INDEX(i)		((__u32)(i) << 16)	/* 1-based; 0: none */
#define AGATE_JOB_INDEX_OF(control)	((control) >> 16)

struct agate_job_header {
	__u32 exception_status;		/* GPU writes; 0 before it starts */
	__u32 first_incomplete_task;	/* GPU writes */
	__u64 fault_pointer;		/* GPU writes */
	__u32 control;
	__u16 dependency1;		/* job indices in the same chain, or 0 */
	__u16 dependency2;
	__u64 next;			/* 0 ends the chain; 32 bits unless 64BIT */
};

/* ---- WRITE_VALUE ------------------------------------------------------ */

enum agate_write_value_type {
	AGATE_WRITE_CYCLE_COUNTER	= 1,	/* 8 bytes */
	AGATE_WRITE_SYSTEM_TIMESTAMP	= 2,	/* 8 bytes */
	AGATE_WRITE_ZERO		= 3,	/* 8 bytes */
	AGATE_WRITE_IMMEDIATE_8		= 4,
	AGATE_WRITE_IMMEDIATE_16	= 5,
	AGATE_WRITE_IMMEDIATE_32	= 6,
	AGATE_WRITE_IMMEDIATE_64	= 7,
};

struct agate_write_value_payload {
	__u64 address;			/* aligned to the size written */
	__u32 type;			/* enum agate_write_value_type */
	__u32 reserved;
	__u64 immediate;
};

/* ---- CACHE_FLUSH: Mali's ---------------------------------------------- */

/* caches: the caches before the L2, which are always empty in this GPU. */
#define AGATE_FLUSH_LS_CLEAN		(1u << 0)	/* the shader cores' load and store */
#define AGATE_FLUSH_LS_INVALIDATE	(1u << 1)
#define AGATE_FLUSH_OTHER_INVALIDATE	(1u << 2)	/* their others */
#define AGATE_FLUSH_JM_CLEAN		(1u << 16)	/* the job manager's */
#define AGATE_FLUSH_JM_INVALIDATE	(1u << 17)
#define AGATE_FLUSH_TILER_CLEAN		(1u << 24)
#define AGATE_FLUSH_TILER_INVALIDATE	(1u << 25)

/* l2: the GPU cleans before it invalidates. */
#define AGATE_FLUSH_L2_CLEAN		(1u << 0)
#define AGATE_FLUSH_L2_INVALIDATE	(1u << 1)

struct agate_cache_flush_payload {
	__u32 caches;
	__u32 l2;
};

/* ---- COMPUTE: memory filled, moved, summed up ------------------------- */

enum agate_compute_op {
	AGATE_COMPUTE_FILL	= 1,
	AGATE_COMPUTE_COPY	= 2,
	AGATE_COMPUTE_COPY_2D	= 3,
	AGATE_COMPUTE_CHECKSUM	= 4,
};

/*
 * Only CHECKSUM's dst must be aligned; every range ends at or below 2^48; a field
 * that an operation does not use is 0; a size of 0 is allowed.
 *
 * FILL writes size bytes at dst: byte i is byte i % 8 of value.
 * COPY copies size bytes from src to dst, as memmove() does: where the ranges
 * overlap, dst gets the earlier contents of src.
 * COPY_2D copies rows of size bytes each, dst_stride and src_stride apart, both at
 * least size.  When dst and src overlap (from the first byte of the first row to the
 * last byte of the last row), the strides must be equal; then dst gets the earlier
 * contents of src.
 * CHECKSUM computes the CRC-32 (of Ethernet and zlib) of size bytes at src, and
 * writes it to dst as 32 bits, aligned to 4.
 */
struct agate_compute_payload {
	__u32 op;			/* enum agate_compute_op */
	__u32 rows;			/* COPY_2D */
	__u64 dst;
	__u64 src;			/* COPY, COPY_2D, CHECKSUM */
	__u64 size;			/* bytes; COPY_2D: of a row */
	__u64 value;			/* FILL */
	__u64 dst_stride;		/* COPY_2D: bytes */
	__u64 src_stride;		/* COPY_2D: bytes */
	__u64 reserved;
};

/* ---- TILER: from triangles to bins ------------------------------------ */

#define AGATE_TILE_SIZE		16	/* pixels, both ways */
#define AGATE_MAX_FB_SIZE	8192	/* pixels, both ways */
#define AGATE_HEAP_CHUNK_SIZE	4096

/* A vertex in clip space: visible where 0 <= z <= w. Colours in 0..1, linear. */
struct agate_vertex {
	float x, y, z, w;
	float r, g, b, a;
};

/*
 * The TILER jobs and the FRAGMENT job of a frame share one.  The GPU takes chunks
 * of 4 KiB from the heap, upward from heap_top.  The heap is usually a growing BO:
 * a chunk that nobody has touched before raises a page fault.  When the heap is
 * used up the job ends in OUT_OF_MEMORY.  Software sets heap_top to heap_start and
 * zeroes the bins before a frame; the GPU advances both.
 */
struct agate_tiler_context {
	__u64 heap_start;		/* aligned to 4 KiB */
	__u64 heap_end;			/* one past the last byte, same alignment */
	__u64 heap_top;			/* GPU: next free chunk */
	__u64 bins;			/* struct agate_tiler_bin, row by row */
	__u32 width;			/* pixels, 1 .. AGATE_MAX_FB_SIZE */
	__u32 height;
	__u64 reserved[3];
};

/* One for each tile: a list of chunks.  The row stride is DIV_ROUND_UP(width, 16). */
struct agate_tiler_bin {
	__u64 first;			/* first chunk, or 0 */
	__u64 last;			/* chunk now being filled, or 0 */
};

/* A vertex after transform: pixels, depth 0..1, 1/w, colour divided by w. */
struct agate_tiler_vertex {
	float x, y, z, rw;
	float r, g, b, a;
};

struct agate_tiler_primitive {
	struct agate_tiler_vertex v[3];	/* 96 bytes */
};

#define AGATE_CHUNK_PRIMITIVES	42	/* (4096 - 16) / 96 */

struct agate_tiler_chunk {
	__u64 next;			/* next chunk of the same tile, or 0 */
	__u32 count;			/* primitives in use */
	__u32 reserved;
	struct agate_tiler_primitive primitive[AGATE_CHUNK_PRIMITIVES];
	__u8 unused[48];
};

/*
 * Maps clip space to pixels: x = -w is the left edge and y = -w the top edge.  The
 * GPU clips everything outside.  x and y are within +-AGATE_MAX_FB_SIZE, width and
 * height are above 0 and at most AGATE_MAX_FB_SIZE, and the depths are within 0..1
 * in either order.
 */
struct agate_viewport {
	float x, y, width, height;	/* pixels; y grows downward */
	float near_depth, far_depth;	/* z/w 0..1 is mapped to these */
};

#define AGATE_TILER_CULL_BACK	(1u << 0)	/* drop clockwise triangles, as seen */

struct agate_tiler_payload {
	__u64 vertices;			/* struct agate_vertex[vertex_count], 16-aligned */
	__u64 indices;			/* __u32[index_count], 4-aligned */
	__u32 vertex_count;
	__u32 index_count;		/* a multiple of 3 */
	__u64 tiler;			/* struct agate_tiler_context, 64-aligned */
	struct agate_viewport viewport;
	__u32 flags;			/* AGATE_TILER_* */
	__u32 reserved;
};

/* ---- FRAGMENT: from bins to pixels ------------------------------------ */

enum agate_format {
	AGATE_FORMAT_R8G8B8A8 = 1,	/* bytes R G B A */
	AGATE_FORMAT_B8G8R8A8 = 2,	/* bytes B G R A */
};

#define AGATE_FB_CLEAR_COLOR	(1u << 0)	/* else the tile is loaded first */
#define AGATE_FB_CLEAR_DEPTH	(1u << 1)	/* else loaded; needs a depth buffer */
#define AGATE_FB_DEPTH_TEST	(1u << 2)	/* keep the nearer: z < stored */

struct agate_framebuffer {
	__u64 color;			/* pixels, aligned to 64 */
	__u64 depth;			/* float32 a pixel, aligned to 64, or 0: none */
	__u64 tiler;			/* struct agate_tiler_context, or 0: clear only */
	__u32 width;			/* pixels */
	__u32 height;
	__u32 stride;			/* bytes, a multiple of 4 */
	__u32 depth_stride;		/* bytes, a multiple of 4 */
	__u32 format;			/* enum agate_format */
	__u32 flags;			/* AGATE_FB_* */
	float clear_color[4];		/* r g b a, 0..1 */
	float clear_depth;
	__u32 reserved[7];
};

struct agate_fragment_payload {
	__u16 min_x, min_y;		/* tiles, inclusive */
	__u16 max_x, max_y;
	__u64 framebuffer;		/* struct agate_framebuffer, 64-aligned */
};

#endif /* AGATE_JOB_H */
