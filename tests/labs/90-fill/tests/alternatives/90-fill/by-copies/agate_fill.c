// SPDX-License-Identifier: MIT
/* Lab 90 in another shape: the part that has the word already is copied behind itself. */
#include "agate_fill.h"

#include <errno.h>
#include <string.h>

int agate_fill(struct agate_bo *bo, uint64_t offset, uint64_t size, uint32_t word)
{
	uint64_t end, done = sizeof(word), next;
	char *begin;
	void *cpu;
	int ret;

	if (__builtin_add_overflow(offset, size, &end) || end > agate_bo_size(bo) ||
	    offset % 4 || size % 4)
		return -EINVAL;
	if (!size)
		return 0;
	ret = agate_bo_mmap(bo, &cpu);
	if (ret)
		return ret;
	begin = (char *)cpu + offset;
	memcpy(begin, &word, sizeof(word));
	for (; done < size; done += next) {
		next = done < size - done ? done : size - done;
		memcpy(begin + done, begin, next);
	}
	return 0;
}
