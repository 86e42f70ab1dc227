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
	return 0;
}

void agate_mmap_topic_fini(struct agate_device *adev)
{
}

int agate_mmap_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_mmap_bo *args = data;
	struct agate_bo *bo;
	int ret = -EINVAL;

	bo = agate_gem_lookup(file, args->handle);
	if (!bo)
		return args->flags ? -EINVAL : -ENOENT;
	if (args->flags || !agate_backing_is(bo, AGATE_BACKING_CPU_VISIBLE))
		goto out;
	ret = drm_gem_create_mmap_offset(&bo->base);
	if (!ret)
		args->offset = drm_vma_node_offset_addr(&bo->base.vma_node);
out:
	agate_bo_put(bo);
	return ret;
}

/* As TTM computes it: what a cut adds to vm_start it adds to vm_pgoff, too. */
static unsigned long index_of(struct vm_fault *vmf, struct drm_gem_object *obj)
{
	struct vm_area_struct *vma = vmf->vma;

	return ((vmf->address - vma->vm_start) >> PAGE_SHIFT) + vma->vm_pgoff -
	       drm_vma_node_start(&obj->vma_node);
}

static vm_fault_t mmap_fault(struct vm_fault *vmf)
{
	struct drm_gem_object *obj = vmf->vma->vm_private_data;
	struct agate_bo *bo = to_agate_bo(obj);

	return bo->backing.ops->fault(bo, vmf, index_of(vmf, obj));
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
	mmap_count_open(bo);
	return 0;
}
