/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A backing (agate_backing.h) for AGATE_BO_HEAP: memory that comes when the GPU faults,
 * AGATE_HEAP_CHUNK at a time, and that no CPU ever sees.
 *
 * The thread that serves the faults must not wait for memory: whoever has it may wait for
 * the job that faulted.  So the thread takes what the kernel has at once, and else the
 * spare chunk, which every SUBMIT that lists the heap fills up again, where waiting does
 * no harm.  A heap has pages of its own, because those of a shmem file come from
 * allocations that may wait.
 */
#ifndef AGATE_HEAP_H
#define AGATE_HEAP_H

#include "agate_backing.h"

struct agate_chunk;

/**
 * struct agate_heap - what this backing keeps of one BO; all under backing.fault_lock
 * @chunks: one pointer for each AGATE_HEAP_CHUNK of the BO, NULL where the heap has not
 *	grown; the array is NULL before the first SUBMIT and after a purge
 * @missing: how many of @chunks are NULL
 * @spare: the memory of one chunk, or NULL
 */
struct agate_heap {
	struct agate_chunk **chunks;
	unsigned long missing;
	struct agate_chunk *spare;
};

/*
 * A second populate() of a chunk gives the same runs.  One that fails leaves nothing
 * behind.  The last chunk of a BO may be shorter than AGATE_HEAP_CHUNK.
 */
extern const struct agate_backing_ops agate_heap_backing;

#endif /* AGATE_HEAP_H */
