// SPDX-License-Identifier: MIT
/* Lab 90: fill a part of a buffer object. */
#include "agate_fill.h"

#include <errno.h>
#include <stdbool.h>

/* Is the part whole words inside the BO?  offset + size may be too large for 64 bits. */
static bool is_inside(const struct agate_bo *bo, uint64_t offset, uint64_t size)
{
#if LAB90 >= 1
	const uint64_t end = agate_bo_size(bo);

	return (offset | size) % sizeof(uint32_t) == 0 && offset <= end && size <= end - offset;
#else
	/* STEP 1: true for whole words inside the BO, and for nothing else. */
	return false;
#endif
}

int agate_fill(struct agate_bo *bo, uint64_t offset, uint64_t size, uint32_t word)
{
	if (!is_inside(bo, offset, size))
		return -EINVAL;
	if (!size)
		return 0;
#if LAB90 >= 2
	void *cpu;
	const int ret = agate_bo_mmap(bo, &cpu);

	if (ret)
		return ret;
	for (uint32_t *at = (uint32_t *)((char *)cpu + offset); size; size -= sizeof(word))
		*at++ = word;
	return 0;
#else
	/* STEP 2: every word of the part has the value, and no other word has changed. */
	return -EOPNOTSUPP;
#endif
}
