// SPDX-License-Identifier: MIT
/*
 * The getters of a BO, for the library and its users; advice about its contents; and
 * the record of submitted work.
 */
#include <string.h>

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

uint32_t agate_bo_flags(const struct agate_bo *bo)
{
	return bo->flags;
}

struct agate_device *agate_bo_device(const struct agate_bo *bo)
{
	return bo->dev;
}

/* Without @text the BO keeps its label. */
static int bo_advise(struct agate_bo *bo, bool needed, const char *text, bool *retained)
{
	struct drm_agate_madvise arg = {
		.handle = bo->handle,
		.madv = needed ? AGATE_MADV_WILLNEED : AGATE_MADV_DONTNEED,
		.label = (uintptr_t)text,
		.len = text ? (uint32_t)strlen(text) : 0,
	};
	int err = agate_ioctl(bo->dev, DRM_IOCTL_AGATE_MADVISE, &arg);

	if (!err && retained)
		*retained = arg.retained;
	return err;
}

int agate_bo_madvise(struct agate_bo *bo, bool needed, bool *retained)
{
	return bo_advise(bo, needed, NULL, retained);
}

int agate_bo_madvise_label(struct agate_bo *bo, bool needed, const char *label, bool *retained)
{
	int err;

	if (agate_device_labels_advice(bo->dev))
		return bo_advise(bo, needed, label ? label : "", retained);
	err = bo_advise(bo, needed, NULL, retained);
	return err ? err : agate_bo_set_label(bo, label);
}

void agate_bo_mark_submitted(struct agate_bo *bo, uint32_t access)
{
	uint64_t old = atomic_load(&bo->pending);

	if (access & AGATE_ACCESS_WRITE)
		access = AGATE_ACCESS_WRITE;
	while (!atomic_compare_exchange_weak(&bo->pending, &old,
					     (old + AGATE_PENDING_SUBMIT) | access))
		;
}

void agate_bo_mark_bound(struct agate_bo *bo)
{
	bo->bound = true;
	agate_bo_mark_submitted(bo, AGATE_ACCESS_WRITE);
}

void agate_bo_mark_idle(struct agate_bo *bo, uint64_t seen, uint64_t access)
{
	if (bo->bound)
		return;
	atomic_compare_exchange_strong(&bo->pending, &seen, seen & ~access);
}
