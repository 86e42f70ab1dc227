/* SPDX-License-Identifier: MIT */
/*
 * The tiler context and the structures behind it, with the checks that TILER and
 * FRAGMENT share.  Guest memory can change at any time: the code reads a structure
 * once, checks the copy, and uses only the copy.
 */
#ifndef AGATE_TILER_CONTEXT_H
#define AGATE_TILER_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "job_exec.h"

/* One past the highest GPU virtual address. */
#define TILER_VA_END	(1ull << 48)

/* Does [va, va + bytes) lie in the address space, and is va aligned? */
bool tiler_va_ok(uint64_t va, uint64_t bytes, uint64_t align);

/*
 * Read the context at va into ctx and check it.  Returns AGATE_RUN_AGAIN when
 * it can be used, else what the job's run function has to return:
 * DATA_INVALID_FAULT with the context's address when a field is wrong.
 */
enum agate_run tiler_context_read(struct agate_exec *x, uint64_t va,
				  struct agate_tiler_context *ctx);

/* How many tiles so many pixels take, in one direction. */
uint32_t tiler_tiles(uint32_t pixels);

uint64_t tiler_bin_va(const struct agate_tiler_context *ctx, uint32_t tile_x,
		      uint32_t tile_y);

/* Can va be a chunk: is it aligned, and in [heap_start, end)? */
bool tiler_chunk_va_ok(const struct agate_tiler_context *ctx, uint64_t va, uint64_t end);

/* The fields before a chunk's primitives, read and written on their own. */
struct tiler_chunk_header {
	uint64_t next;
	uint32_t count;
	uint32_t reserved;
};

bool tiler_chunk_header_ok(const struct tiler_chunk_header *header);

uint64_t tiler_primitive_va(uint64_t chunk, uint32_t index);

#endif /* AGATE_TILER_CONTEXT_H */
