// SPDX-License-Identifier: MIT
/*
 * Checks on the structures that TILER writes and FRAGMENT reads.  No sum here can
 * wrap: the code compares every size with the space above the address.
 */
#include "tiler_context.h"

_Static_assert(sizeof(struct agate_tiler_context) == 64, "tiler context layout");
_Static_assert(sizeof(struct agate_tiler_bin) == 16, "bin layout");
_Static_assert(sizeof(struct agate_tiler_primitive) == 96, "primitive layout");
_Static_assert(sizeof(struct agate_tiler_chunk) == AGATE_HEAP_CHUNK_SIZE, "chunk layout");
_Static_assert(sizeof(struct tiler_chunk_header) ==
	       offsetof(struct agate_tiler_chunk, primitive), "chunk header layout");

bool tiler_va_ok(uint64_t va, uint64_t bytes, uint64_t align)
{
	return va % align == 0 && va <= TILER_VA_END && bytes <= TILER_VA_END - va;
}

uint32_t tiler_tiles(uint32_t pixels)
{
	return (pixels + AGATE_TILE_SIZE - 1) / AGATE_TILE_SIZE;
}

uint64_t tiler_bin_va(const struct agate_tiler_context *ctx, uint32_t tile_x,
		      uint32_t tile_y)
{
	const uint64_t tile = (uint64_t)tile_y * tiler_tiles(ctx->width) + tile_x;

	return ctx->bins + tile * sizeof(struct agate_tiler_bin);
}

bool tiler_chunk_va_ok(const struct agate_tiler_context *ctx, uint64_t va, uint64_t end)
{
	return va % AGATE_HEAP_CHUNK_SIZE == 0 && va >= ctx->heap_start && va < end;
}

bool tiler_chunk_header_ok(const struct tiler_chunk_header *header)
{
	return header->count <= AGATE_CHUNK_PRIMITIVES && !header->reserved;
}

uint64_t tiler_primitive_va(uint64_t chunk, uint32_t index)
{
	return chunk + offsetof(struct agate_tiler_chunk, primitive) +
	       (uint64_t)index * sizeof(struct agate_tiler_primitive);
}

static bool tiler_heap_ok(const struct agate_tiler_context *ctx)
{
	/* Address 0 ends a list, so no chunk can be there. */
	return ctx->heap_start &&
	       ctx->heap_start % AGATE_HEAP_CHUNK_SIZE == 0 &&
	       ctx->heap_end % AGATE_HEAP_CHUNK_SIZE == 0 &&
	       ctx->heap_top % AGATE_HEAP_CHUNK_SIZE == 0 &&
	       ctx->heap_start <= ctx->heap_top &&
	       ctx->heap_top <= ctx->heap_end &&
	       ctx->heap_end <= TILER_VA_END;
}

static bool tiler_context_ok(const struct agate_tiler_context *ctx)
{
	uint64_t bins;

	if (!ctx->width || ctx->width > AGATE_MAX_FB_SIZE ||
	    !ctx->height || ctx->height > AGATE_MAX_FB_SIZE)
		return false;
	if (ctx->reserved[0] || ctx->reserved[1] || ctx->reserved[2])
		return false;

	bins = (uint64_t)tiler_tiles(ctx->width) * tiler_tiles(ctx->height);
	return tiler_heap_ok(ctx) &&
	       tiler_va_ok(ctx->bins, bins * sizeof(struct agate_tiler_bin),
			   sizeof(struct agate_tiler_bin));
}

enum agate_run tiler_context_read(struct agate_exec *x, uint64_t va,
				  struct agate_tiler_context *ctx)
{
	enum agate_run why;

	if (!tiler_va_ok(va, sizeof(*ctx), AGATE_JOB_ALIGN))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, va);
	if (agate_exec_read(x, va, ctx, sizeof(*ctx), &why))
		return why;
	if (!tiler_context_ok(ctx))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, va);
	return AGATE_RUN_AGAIN;
}
