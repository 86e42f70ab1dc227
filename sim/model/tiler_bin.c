// SPDX-License-Identifier: MIT
/*
 * Bins, chunks and the heap.  Every step ends with the one write that makes
 * its effect visible, and changes the job's state only after that write:
 *
 *	append	primitive into the last chunk, then the chunk's count
 *	take	new chunk's content (the access that faults in a heap not yet
 *		grown), then heap_top
 *	link	the former last chunk's next, then the bin
 */
#include "tiler.h"

#include "tiler_context.h"

void tiler_insert_begin(struct tiler_insert *insert, uint64_t bin_va)
{
	insert->bin_va = bin_va;
	insert->chunk = 0;
}

/*
 * Append to the bin's last chunk.  Returns AGATE_RUN_AGAIN when there is none
 * with room in it.
 */
static enum agate_run insert_append(struct agate_exec *x,
				    const struct agate_tiler_context *ctx,
				    struct tiler_insert *insert)
{
	const uint64_t last = insert->bin.last;
	struct tiler_chunk_header header;
	enum agate_run why;
	uint32_t count;

	if (!last)
		return AGATE_RUN_AGAIN;
	if (!tiler_chunk_va_ok(ctx, last, ctx->heap_end))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, insert->bin_va);
	if (agate_exec_read(x, last, &header, sizeof(header), &why))
		return why;
	if (!tiler_chunk_header_ok(&header))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, last);
	if (header.count == AGATE_CHUNK_PRIMITIVES)
		return AGATE_RUN_AGAIN;

	if (agate_exec_write(x, tiler_primitive_va(last, header.count), &insert->primitive,
			     sizeof(insert->primitive), &why))
		return why;
	count = header.count + 1;
	if (agate_exec_write(x, last + offsetof(struct agate_tiler_chunk, count), &count,
			     sizeof(count), &why))
		return why;
	return AGATE_RUN_DONE;
}

/* Take a chunk from the heap's top, with the primitive in it, not yet linked. */
static enum agate_run insert_take(struct agate_exec *x, uint64_t ctx_va,
				  const struct agate_tiler_context *ctx,
				  struct tiler_insert *insert)
{
	const uint64_t top_va = ctx_va + offsetof(struct agate_tiler_context, heap_top);
	struct {
		struct tiler_chunk_header header;
		struct agate_tiler_primitive primitive;
	} content = { .header.count = 1, .primitive = insert->primitive };
	enum agate_run why;
	uint64_t top, next_top;

	/* Read heap_top every time: another job of the same frame may advance it, too. */
	if (agate_exec_read(x, top_va, &top, sizeof(top), &why))
		return why;
	if (top == ctx->heap_end)
		return agate_exec_fail(x, AGATE_EXC_OUT_OF_MEMORY, top);
	if (!tiler_chunk_va_ok(ctx, top, ctx->heap_end))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, top_va);

	if (agate_exec_write(x, top, &content, sizeof(content), &why))
		return why;
	next_top = top + AGATE_HEAP_CHUNK_SIZE;
	if (agate_exec_write(x, top_va, &next_top, sizeof(next_top), &why))
		return why;
	insert->chunk = top;
	return AGATE_RUN_AGAIN;
}

static enum agate_run insert_link(struct agate_exec *x, const struct tiler_insert *insert)
{
	struct agate_tiler_bin bin = insert->bin;
	enum agate_run why;

	if (bin.last && agate_exec_write(x, bin.last, &insert->chunk,
					 sizeof(insert->chunk), &why))
		return why;
	if (!bin.last)
		bin.first = insert->chunk;
	bin.last = insert->chunk;
	if (agate_exec_write(x, insert->bin_va, &bin, sizeof(bin), &why))
		return why;
	return AGATE_RUN_DONE;
}

enum agate_run tiler_insert_step(struct agate_exec *x, uint64_t ctx_va,
				 const struct agate_tiler_context *ctx,
				 struct tiler_insert *insert)
{
	enum agate_run r;

	if (insert->chunk)
		return insert_link(x, insert);

	if (agate_exec_read(x, insert->bin_va, &insert->bin, sizeof(insert->bin), &r))
		return r;
	/* A valid bin has both first and last, or neither. */
	if (!insert->bin.first != !insert->bin.last)
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, insert->bin_va);
	r = insert_append(x, ctx, insert);
	if (r != AGATE_RUN_AGAIN)
		return r;
	return insert_take(x, ctx_va, ctx, insert);
}
