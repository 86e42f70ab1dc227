// SPDX-License-Identifier: MIT
/* Lab 90 in another shape: words are counted, and the first and the last one are looked up. */
#include "agate_fill.h"

#include <errno.h>

int agate_fill(struct agate_bo *bo, uint64_t offset, uint64_t size, uint32_t word)
{
	const uint64_t words = agate_bo_size(bo) / 4, first = offset / 4, count = size / 4;
	uint32_t *at;
	void *cpu;
	int ret;

	if (offset & 3 || size & 3)
		return -EINVAL;
	if (first > words || count > words - first)
		return -EINVAL;
	if (count == 0)
		return 0;
	ret = agate_bo_mmap(bo, &cpu);
	if (ret)
		return ret;
	at = cpu;
	for (uint64_t i = first; i < first + count; i++)
		at[i] = word;
	return 0;
}
