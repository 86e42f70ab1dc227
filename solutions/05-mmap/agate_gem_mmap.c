// SPDX-License-Identifier: GPL-2.0-only
/*
 * BOs in a process's address space.
 *
 * The core finds the BO by its fake offset.  It checks that the file has a handle
 * to the BO, and that the mapping starts at the BO's first page and fits.  This
 * file decides which kinds of mapping are allowed, and has the BO's backing insert
 * pages, all of them at once or each when the CPU touches it.  The contract is agate_mmap.h.
 */
#include <linux/mm.h>
#include <drm/drm_gem.h>
#include <drm/drm_vma_manager.h>

#include "agate_backing.h"
#include "agate_compat.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_mmap.h"

int agate_mmap_topic_init(struct agate_device *adev)
{
#if LAB05 >= 1
	return 0;
#else
	/* STEP 1: the topic is there; it keeps nothing in the device. */
	return -EOPNOTSUPP;
#endif
}

void agate_mmap_topic_fini(struct agate_device *adev)
{
}

#if LAB05 >= 1
int agate_mmap_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_mmap_bo *args = data;
	struct agate_bo *bo;
	int ret = -EINVAL;

	if (args->flags)
		return -EINVAL;
	bo = agate_gem_lookup(file, args->handle);
	if (!bo)
		return -ENOENT;
	if (!agate_backing_is(bo, AGATE_BACKING_CPU_VISIBLE))
		goto out;
	ret = drm_gem_create_mmap_offset(&bo->base);
	if (!ret)
		args->offset = drm_vma_node_offset_addr(&bo->base.vma_node);
out:
	agate_bo_put(bo);
	return ret;
}
#else
/*
 * STEP 1: refuse flags that nobody defined, find the BO by its handle, refuse a BO that no CPU
 * may see, and answer with the BO's fake offset.  No path keeps the reference of the lookup.
 */
int agate_mmap_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	return -EOPNOTSUPP;
}
#endif

#if LAB05 >= 3
/*
 * Find the page by the offset on the device's file, which is always correct.  The
 * start of the VMA is not: the VMA may be a part of the original one, moved or cut
 * at the front.
 */
static vm_fault_t mmap_fault(struct vm_fault *vmf)
{
	struct drm_gem_object *obj = vmf->vma->vm_private_data;
	struct agate_bo *bo = to_agate_bo(obj);

	return bo->backing.ops->fault(bo, vmf, vmf->pgoff - drm_vma_node_start(&obj->vma_node));
}

static void mmap_count_open(struct agate_bo *bo)
{
	agate_backing_open(bo);
	agate_stat_inc(&to_agate_device(bo->base.dev)->stats, AGATE_STAT_CPU_MAPS);
}

/* A fork or a split VMA adds one more VMA. */
static void mmap_open(struct vm_area_struct *vma)
{
	drm_gem_vm_open(vma);
	mmap_count_open(to_agate_bo(vma->vm_private_data));
}

static void mmap_close(struct vm_area_struct *vma)
{
	struct agate_bo *bo = to_agate_bo(vma->vm_private_data);

	agate_stat_dec(&to_agate_device(bo->base.dev)->stats, AGATE_STAT_CPU_MAPS);
	agate_backing_close(bo);
	drm_gem_vm_close(vma);
}

const struct vm_operations_struct agate_vm_ops = {
	.open = mmap_open,
	.close = mmap_close,
	.fault = mmap_fault,
	.access = agate_backing_access,
};
#else
/*
 * STEP 3: a CPU that touches a page gets that page of the BO, wherever the VMA begins.  Each
 * VMA is counted as long as it exists: in the BO's backing, and in AGATE_STAT_CPU_MAPS.
 */
const struct vm_operations_struct agate_vm_ops = {
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
	.access = agate_backing_access,
};
#endif

#if LAB05 >= 2
int agate_mmap_object(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	struct agate_bo *bo = to_agate_bo(obj);
	int ret;

	if (!agate_backing_is(bo, AGATE_BACKING_CPU_VISIBLE) || is_cow_mapping(vma->vm_flags))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (bo->flags & AGATE_BO_CPU_READONLY) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		/* mprotect() must not allow later what mmap() refused. */
		vm_flags_clear(vma, VM_MAYWRITE);
	}
	vm_flags_clear(vma, VM_MAYEXEC);
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	if (agate_backing_is(bo, AGATE_BACKING_FOREIGN))
		return bo->backing.ops->mmap(bo, vma);
	vm_flags_set(vma, VM_PFNMAP);
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	if (bo->backing.ops->mmap) {
		ret = bo->backing.ops->mmap(bo, vma);
		if (ret)
			return ret;
	}
#if LAB05 >= 3
	mmap_count_open(bo);
#else
	/* STEP 3: count the VMA that mmap() makes, when nothing can fail any more. */
#endif
	return 0;
}
#else
/*
 * STEP 2: refuse the mappings that the contract refuses, now and by a later mprotect(); set
 * the flags of the VMA; let the backing fill in the page table if it wants to.
 */
int agate_mmap_object(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	return -EOPNOTSUPP;
}
#endif
