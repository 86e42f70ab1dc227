// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of ioctls, and the ioctls that belong to no topic.
 *
 * Each of them passes one gate first: the GPU must not be lost, and the topics that the
 * ioctl needs must be present.  The DRM core handles sizes, directions and copying.
 */
#include <linux/nospec.h>
#include <drm/drm_file.h>
#include <drm/drm_ioctl.h>

#include "agate_backing.h"
#include "agate_device.h"
#include "agate_mmap.h"
#include "agate_placed.h"
#include "agate_scan.h"
#include "agate_submit.h"
#include "agate_vm_ioctl.h"

/* A kind of backing may be absent, as a call may. */
static int create_bo_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	const struct drm_agate_create_bo *args = data;
	int ret;

	if (args->placement)
		return agate_placed_create_ioctl(dev, data, file);
	if (args->caching || args->vm_id || args->pad || args->flags & AGATE_BO_NO_VA)
		return -EINVAL;
	ret = agate_backing_check_flags(to_agate_device(dev), args->flags);

	return ret ? ret : agate_gem_create_ioctl(dev, data, file);
}

static int get_bo_offset_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_get_bo_offset *args = data;
	struct agate_mapping *mapping;
	struct agate_bo *bo;

	if (args->pad)
		return -EINVAL;
	bo = agate_gem_lookup(file, args->handle);
	if (!bo)
		return -ENOENT;
	if (bo->flags & AGATE_BO_NO_VA) {
		agate_bo_put(bo);
		return -EINVAL;
	}
	mapping = agate_vm_find(to_agate_file(file)->vm, bo);
	if (mapping) {
		args->offset = agate_mapping_va(mapping);
		agate_mapping_put(mapping);
	}
	agate_bo_put(bo);
	/* No mapping: the handle was closed after the lookup. */
	return mapping ? 0 : -ENOENT;
}

static int get_param(const struct agate_device *adev, u32 param, u64 *value)
{
	const struct agate_identity *id = &adev->id;
	const u64 values[] = {
		[DRM_AGATE_PARAM_GPU_ID] = id->gpu_id,
		[DRM_AGATE_PARAM_L2_FEATURES] = id->l2_features,
		[DRM_AGATE_PARAM_CORE_FEATURES] = id->core_features,
		[DRM_AGATE_PARAM_TILER_FEATURES] = id->tiler_features,
		[DRM_AGATE_PARAM_MEM_FEATURES] = id->mem_features,
		[DRM_AGATE_PARAM_MMU_FEATURES] = id->mmu_features,
		[DRM_AGATE_PARAM_THREAD_FEATURES] = id->thread_features,
		[DRM_AGATE_PARAM_MAX_THREADS] = id->max_threads,
		[DRM_AGATE_PARAM_THREAD_MAX_WORKGROUP_SZ] = id->max_workgroup_size,
		[DRM_AGATE_PARAM_THREAD_MAX_BARRIER_SZ] = id->max_barrier_size,
		[DRM_AGATE_PARAM_COHERENCY_FEATURES] = id->coherency_features,
		[DRM_AGATE_PARAM_SHADER_PRESENT] = id->shader_present,
		[DRM_AGATE_PARAM_TILER_PRESENT] = id->tiler_present,
		[DRM_AGATE_PARAM_L2_PRESENT] = id->l2_present,
		[DRM_AGATE_PARAM_AS_PRESENT] = id->as_present,
		[DRM_AGATE_PARAM_JS_PRESENT] = id->js_present,
		[DRM_AGATE_PARAM_VA_START] = AGATE_VA_START,
		[DRM_AGATE_PARAM_VA_END] = AGATE_VA_END,
		[DRM_AGATE_PARAM_FEATURES] = adev->features,
	};

	if (param >= ARRAY_SIZE(values))
		return -EINVAL;
	*value = values[array_index_nospec(param, ARRAY_SIZE(values))];
	return 0;
}

static int get_param_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_get_param *args = data;

	if (args->pad)
		return -EINVAL;
	return get_param(to_agate_device(dev), args->param, &args->value);
}

/* ---- The gate --------------------------------------------------------- */

/* Every ioctl serves clients that only render; none needs authentication. */
const struct drm_ioctl_desc agate_ioctls[AGATE_NUM_IOCTLS] = {
	DRM_IOCTL_DEF_DRV(AGATE_SUBMIT, agate_submit_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_WAIT_BO, agate_submit_wait_bo_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_CREATE_BO, create_bo_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_MMAP_BO, agate_mmap_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_GET_PARAM, get_param_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_GET_BO_OFFSET, get_bo_offset_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_MADVISE, agate_purge_madvise_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_SET_LABEL, agate_gem_set_label_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_VM_CREATE, agate_vm_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_VM_DESTROY, agate_vm_destroy_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_VM_BIND, agate_vm_bind_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_QUERY_REGIONS, agate_query_regions_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_FLIP, agate_flip_ioctl, DRM_RENDER_ALLOW),
};

/* The topics without which an ioctl cannot work, AGATE_FEATURE_* bits. */
static const u64 needs[AGATE_NUM_IOCTLS] = {
	[DRM_AGATE_SUBMIT] = AGATE_FEATURE_SUBMIT,
	[DRM_AGATE_WAIT_BO] = AGATE_FEATURE_SUBMIT,
	[DRM_AGATE_CREATE_BO] = AGATE_FEATURE_GEM,
	[DRM_AGATE_MMAP_BO] = AGATE_FEATURE_MMAP,
	[DRM_AGATE_GET_PARAM] = 0,
	[DRM_AGATE_GET_BO_OFFSET] = AGATE_FEATURE_GEM,
	[DRM_AGATE_MADVISE] = AGATE_FEATURE_PURGE,
	[DRM_AGATE_SET_LABEL] = AGATE_FEATURE_GEM,
	[DRM_AGATE_VM_CREATE] = AGATE_FEATURE_VM_BIND,
	[DRM_AGATE_VM_DESTROY] = AGATE_FEATURE_VM_BIND,
	[DRM_AGATE_VM_BIND] = AGATE_FEATURE_VM_BIND,
	[DRM_AGATE_QUERY_REGIONS] = AGATE_FEATURE_ENGINES,
	[DRM_AGATE_FLIP] = AGATE_FEATURE_ENGINES,
};

/* The core answers calls that are not in the table, its own among them. */
static int gate(struct file *file, unsigned int cmd)
{
	struct drm_file *client = file->private_data;
	struct agate_device *adev = to_agate_device(client->minor->dev);
	unsigned int nr = DRM_IOCTL_NR(cmd) - DRM_COMMAND_BASE;

	if (_IOC_TYPE(cmd) != DRM_IOCTL_BASE || nr >= AGATE_NUM_IOCTLS)
		return 0;
	nr = array_index_nospec(nr, AGATE_NUM_IOCTLS);
	if (!agate_ioctls[nr].func)
		return 0;
	if (agate_bus_lost(adev))
		return -ENODEV;
	return (adev->features & needs[nr]) == needs[nr] ? 0 : -EOPNOTSUPP;
}

long agate_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	int ret = gate(file, cmd);

	return ret ? ret : drm_ioctl(file, cmd, arg);
}

#ifdef CONFIG_COMPAT
long agate_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	int ret = gate(file, cmd);

	return ret ? ret : drm_compat_ioctl(file, cmd, arg);
}
#endif
