// SPDX-License-Identifier: MIT
/*
 * BOs that one address space alone may bind.
 *
 * They are BOs as all others, in the same slots: see agate_bo.h.  When the last reference goes,
 * agate_bo.c offers those in system memory to the cache.  It refuses them, for the kernel
 * takes no advice about memory that has a placement.
 */
#include <assert.h>
#include <errno.h>

#include "agate_bo.h"
#include "agate_space.h"

#define VM_BO_FLAGS	(AGATE_ALLOC_EXECUTE | AGATE_ALLOC_INVISIBLE |		\
			 AGATE_ALLOC_DELAY_MMAP | AGATE_ALLOC_CPU_READONLY |	\
			 AGATE_ALLOC_GPU_READONLY | AGATE_ALLOC_VRAM | AGATE_ALLOC_SPILL)

static uint32_t kernel_flags(uint32_t flags)
{
	uint32_t kflags = 0;

	if (!(flags & AGATE_ALLOC_EXECUTE))
		kflags |= AGATE_BO_NOEXEC;
	if (flags & AGATE_ALLOC_CPU_READONLY)
		kflags |= AGATE_BO_CPU_READONLY;
	if (flags & AGATE_ALLOC_GPU_READONLY)
		kflags |= AGATE_BO_GPU_READONLY;
	if (flags & AGATE_ALLOC_VRAM && !(flags & AGATE_ALLOC_INVISIBLE))
		kflags |= AGATE_BO_CPU_VISIBLE;
	return kflags;
}

static struct drm_agate_create_bo create_args(const struct agate_vm *vm, uint64_t size,
					      uint32_t flags)
{
	struct drm_agate_create_bo arg = {
		.size = (size + AGATE_PAGE_SIZE - 1) & ~(uint64_t)(AGATE_PAGE_SIZE - 1),
		.flags = kernel_flags(flags), .vm_id = vm->id,
		.caching = flags & AGATE_ALLOC_VRAM ? AGATE_CACHING_WC : AGATE_CACHING_WB,
	};

	if (flags & AGATE_ALLOC_VRAM)
		arg.placement = 1u << DRM_AGATE_REGION_VRAM;
	if (!(flags & AGATE_ALLOC_VRAM) || flags & AGATE_ALLOC_SPILL)
		arg.placement |= 1u << DRM_AGATE_REGION_SYSTEM;
	return arg;
}

/* Nobody else can know the handle before the caller has the BO. */
static int alloc(struct agate_vm *vm, uint64_t size, uint32_t flags, struct agate_bo **out)
{
	struct drm_agate_create_bo arg = create_args(vm, size, flags);
	struct drm_gem_close close = { 0 };
	struct agate_bo *bo;
	int err;

	err = agate_ioctl(vm->dev, DRM_IOCTL_AGATE_CREATE_BO, &arg);
	if (err)
		return err;
	bo = agate_sparse_array_get(&vm->dev->bo_map, arg.handle);
	if (!bo) {
		close.handle = arg.handle;
		agate_ioctl(vm->dev, DRM_IOCTL_GEM_CLOSE, &close);
		return -ENOMEM;
	}
	assert(!bo->dev);
	bo->dev = vm->dev;
	bo->size = arg.size;
	bo->va = 0;
	bo->handle = arg.handle;
	bo->flags = flags;
	*out = bo;
	return 0;
}

int agate_vm_create_bo(struct agate_vm *vm, uint64_t size, uint32_t flags, const char *label,
		       struct agate_bo **out)
{
	struct agate_bo *bo;
	void *cpu;
	int err;

	if (!size || size > AGATE_BO_MAX_SIZE || flags & ~VM_BO_FLAGS)
		return -EINVAL;
	if (flags & AGATE_ALLOC_SPILL && !(flags & AGATE_ALLOC_VRAM))
		return -EINVAL;
	err = alloc(vm, size, flags, &bo);
	if (err)
		return err;
	if (label)
		err = agate_bo_set_label(bo, label);
	if (!err && !(flags & (AGATE_ALLOC_INVISIBLE | AGATE_ALLOC_DELAY_MMAP)))
		err = agate_bo_mmap(bo, &cpu);
	if (err) {
		agate_bo_free(bo);
		return err;
	}
	/* Set the count last: a BO with a reference is complete. */
	bo->refcnt = 1;
	*out = bo;
	return 0;
}
