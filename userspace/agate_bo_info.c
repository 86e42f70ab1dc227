// SPDX-License-Identifier: MIT
/*
 * The getters of a BO, for the library and its users, and the record of submitted
 * work.
 */
#include "agate_bo.h"

uint64_t agate_bo_size(const struct agate_bo *bo)
{
	return bo->size;
}

uint64_t agate_bo_address(const struct agate_bo *bo)
{
	return bo->va;
}

uint32_t agate_bo_handle(const struct agate_bo *bo)
{
	return bo->handle;
}

void agate_bo_mark_submitted(struct agate_bo *bo, uint32_t access)
{
	uint64_t old = atomic_load(&bo->pending);

	while (!atomic_compare_exchange_weak(&bo->pending, &old,
					     (old + AGATE_PENDING_SUBMIT) | access))
		;
}

void agate_bo_mark_idle(struct agate_bo *bo, uint64_t seen)
{
	atomic_compare_exchange_strong(&bo->pending, &seen, seen & ~AGATE_PENDING_ACCESS);
}
