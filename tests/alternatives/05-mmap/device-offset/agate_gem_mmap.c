// SPDX-License-Identifier: GPL-2.0-only
/* Lab 05 in another shape: references of the object, bytes in place of pages. */
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

static int offset_of(struct drm_gem_object *obj, u64 *offset)
{
	int ret;

	if (!agate_backing_is(to_agate_bo(obj), AGATE_BACKING_CPU_VISIBLE))
		return -EINVAL;
	ret = drm_gem_create_mmap_offset_size(obj, obj->size);
	if (ret)
		return ret;
	*offset = drm_vma_node_offset_addr(&obj->vma_node);
	return 0;
}

int agate_mmap_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_mmap_bo *args = data;
	struct drm_gem_object *obj;
	int ret;

	if (args->flags != 0)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	ret = offset_of(obj, &args->offset);
	drm_gem_object_put(obj);
	return ret;
}

static void one_more(struct drm_gem_object *obj, s64 vmas)
{
	atomic64_add(vmas, &to_agate_device(obj->dev)->stats.v[AGATE_STAT_CPU_MAPS]);
	if (vmas > 0)
		agate_backing_open(to_agate_bo(obj));
	else
		agate_backing_close(to_agate_bo(obj));
}

static void vma_open(struct vm_area_struct *vma)
{
	drm_gem_object_get(vma->vm_private_data);
	one_more(vma->vm_private_data, 1);
}

static void vma_close(struct vm_area_struct *vma)
{
	one_more(vma->vm_private_data, -1);
	drm_gem_object_put(vma->vm_private_data);
}

static vm_fault_t vma_fault(struct vm_fault *vmf)
{
	struct agate_bo *bo = to_agate_bo(vmf->vma->vm_private_data);
	u64 byte = (u64)vmf->pgoff << PAGE_SHIFT;

	byte -= drm_vma_node_offset_addr(&bo->base.vma_node);
	if (byte >= bo->base.size)
		return VM_FAULT_SIGBUS;
	return bo->backing.ops->fault(bo, vmf, byte >> PAGE_SHIFT);
}

const struct vm_operations_struct agate_vm_ops = {
	.fault = vma_fault,
	.open = vma_open,
	.close = vma_close,
	.access = agate_backing_access,
};

/* Return the error of a mapping that is not allowed, or 0. */
static int forbidden(const struct agate_bo *bo, unsigned long flags)
{
	if (is_cow_mapping(flags) || !agate_backing_is(bo, AGATE_BACKING_CPU_VISIBLE))
		return -EINVAL;
	if (flags & VM_EXEC)
		return -EPERM;
	if ((bo->flags & AGATE_BO_CPU_READONLY) && (flags & VM_WRITE))
		return -EACCES;
	return 0;
}

int agate_mmap_object(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	struct agate_bo *bo = to_agate_bo(obj);
	bool foreign = agate_backing_is(bo, AGATE_BACKING_FOREIGN);
	int ret = forbidden(bo, vma->vm_flags);

	if (ret)
		return ret;
	vm_flags_clear(vma, VM_MAYEXEC);
	if (bo->flags & AGATE_BO_CPU_READONLY)
		vm_flags_clear(vma, VM_MAYWRITE);
	vm_flags_set(vma, VM_DONTDUMP | VM_DONTEXPAND | (foreign ? 0 : VM_PFNMAP));
	if (!foreign)
		vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	if (bo->backing.ops->mmap)
		ret = bo->backing.ops->mmap(bo, vma);
	if (!ret && !foreign)
		one_more(obj, 1);
	return ret;
}
