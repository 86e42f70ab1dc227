// SPDX-License-Identifier: MIT
/*
 * Buffer objects: create, count, map, share, wait, free.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agate_bo.h"

#define ALLOC_FLAGS	(AGATE_ALLOC_EXECUTE | AGATE_ALLOC_GROWABLE |		\
			 AGATE_ALLOC_INVISIBLE | AGATE_ALLOC_DELAY_MMAP |	\
			 AGATE_ALLOC_SHARED | AGATE_ALLOC_CPU_READONLY |	\
			 AGATE_ALLOC_GPU_READONLY | AGATE_ALLOC_CONTIGUOUS |	\
			 AGATE_ALLOC_VRAM | AGATE_ALLOC_SPILL)

/* Nobody but this process and the kernel's shrinker has a say in the other BOs' memory. */
#define NEVER_CACHED	(AGATE_ALLOC_SHARED | AGATE_ALLOC_CONTIGUOUS | AGATE_ALLOC_VRAM)

void agate_bo_free(struct agate_bo *bo)
{
	/* STEP 3: leave the slot as a free one, unmap the BO and close its handle. */
}

int agate_bo_alloc(struct agate_device *dev, uint64_t size, uint32_t flags, const char *label,
		   struct agate_bo **out)
{
	/*
	 * STEP 2: ask the kernel for a BO, and fill in its slot.  When a step fails nothing
	 * stays: no handle, and no BO in the slot.
	 */
	return -EOPNOTSUPP;
}

int agate_bo_create(struct agate_device *dev, uint64_t size, uint32_t flags,
		    const char *label, struct agate_bo **out)
{
	/*
	 * STEP 2: check what the caller asks for, get a BO from the cache or from the kernel,
	 * map it if it has to be, and give it its first reference.
	 */
	return -EOPNOTSUPP;
}

struct agate_bo *agate_bo_reference(struct agate_bo *bo)
{
	/* STEP 3: count one more user. */
	return bo;
}

void agate_bo_unreference(struct agate_bo *bo)
{
	/*
	 * STEP 3: count one user less.  When it was the last one, unmap the BO and give it to
	 * the cache, or free it.
	 */
}

int agate_bo_mmap(struct agate_bo *bo, void **cpu)
{
	/* STEP 3: return the map of the BO, and make it if there is none. */
	return -EOPNOTSUPP;
}

int agate_bo_set_label(struct agate_bo *bo, const char *label)
{
	/* STEP 2: check the text, and give it to the kernel. */
	return -EOPNOTSUPP;
}

int agate_bo_export(struct agate_bo *bo, int *fd)
{
	/* STEP 4: make a dma-buf of the BO, which others may use from then on. */
	return -EOPNOTSUPP;
}

int agate_bo_import(struct agate_device *dev, int fd, struct agate_bo **out)
{
	/*
	 * STEP 4: let the kernel make a handle of the dma-buf.  One handle is one BO, and
	 * another thread may be about to close that handle.
	 */
	return -EOPNOTSUPP;
}

int agate_bo_wait(struct agate_bo *bo, int64_t timeout_ns, bool wait_readers)
{
	/* STEP 4: wait for the jobs that use the BO; ask the kernel only if there may be one. */
	return -EOPNOTSUPP;
}
