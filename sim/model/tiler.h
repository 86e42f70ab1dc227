/* SPDX-License-Identifier: MIT */
/*
 * Putting one primitive into one tile's bin, in steps that can each stall.
 *
 * A bin is a list of chunks.  The primitive goes into the last chunk, or into
 * a new one from the heap's top.  If a step stalls at any access, repeating it
 * leaves memory as if it had not stalled: no primitive is stored twice, and no
 * chunk is lost.
 */
#ifndef AGATE_TILER_H
#define AGATE_TILER_H

#include "job_exec.h"

struct tiler_insert {
	struct agate_tiler_primitive primitive;	/* set by the caller */
	uint64_t bin_va;
	struct agate_tiler_bin bin;		/* its value when the chunk was taken */
	uint64_t chunk;				/* taken but not linked yet; or 0 */
};

void tiler_insert_begin(struct tiler_insert *insert, uint64_t bin_va);

/*
 * Returns AGATE_RUN_DONE when the primitive is in its bin (the job is not
 * done), AGATE_RUN_AGAIN when another step is needed, else what the job's run
 * function has to return: OUT_OF_MEMORY at heap_end, DATA_INVALID_FAULT when the
 * context's heap_top, the bin or its last chunk is invalid.
 */
enum agate_run tiler_insert_step(struct agate_exec *x, uint64_t ctx_va,
				 const struct agate_tiler_context *ctx,
				 struct tiler_insert *insert);

#endif /* AGATE_TILER_H */
