// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of ioctls, and the ioctls that belong to no topic.
 *
 * Each ioctl of a topic passes the same check first: the GPU must not be lost, and
 * the topic must be present.  The DRM core handles sizes, directions and copying.
 */
#include <linux/nospec.h>
#include <drm/drm_ioctl.h>

#include "agate_device.h"
#include "agate_mmap.h"
#include "agate_submit.h"

typedef int (*agate_ioctl_fn)(struct drm_device *dev, void *data, struct drm_file *file);

static int topic_ioctl(u64 feature, agate_ioctl_fn fn, struct drm_device *dev, void *data,
		       struct drm_file *file)
{
	struct agate_device *adev = to_agate_device(dev);

	if (agate_bus_lost(adev))
		return -ENODEV;
	if (!agate_topic_present(adev, feature))
		return -EOPNOTSUPP;
	return fn(dev, data, file);
}

static int ioctl_submit(struct drm_device *dev, void *data, struct drm_file *file)
{
	return topic_ioctl(AGATE_FEATURE_SUBMIT, agate_submit_ioctl, dev, data, file);
}

static int ioctl_wait_bo(struct drm_device *dev, void *data, struct drm_file *file)
{
	return topic_ioctl(AGATE_FEATURE_SUBMIT, agate_submit_wait_bo_ioctl, dev, data, file);
}

static int ioctl_create_bo(struct drm_device *dev, void *data, struct drm_file *file)
{
	return topic_ioctl(AGATE_FEATURE_GEM, agate_gem_create_ioctl, dev, data, file);
}

static int ioctl_set_label(struct drm_device *dev, void *data, struct drm_file *file)
{
	return topic_ioctl(AGATE_FEATURE_GEM, agate_gem_set_label_ioctl, dev, data, file);
}

static int ioctl_mmap_bo(struct drm_device *dev, void *data, struct drm_file *file)
{
	return topic_ioctl(AGATE_FEATURE_MMAP, agate_mmap_ioctl, dev, data, file);
}

static int ioctl_madvise(struct drm_device *dev, void *data, struct drm_file *file)
{
	return topic_ioctl(AGATE_FEATURE_PURGE, agate_purge_madvise_ioctl, dev, data, file);
}

static int get_bo_offset(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_get_bo_offset *args = data;
	struct agate_mapping *mapping;
	struct agate_bo *bo;

	if (args->pad)
		return -EINVAL;
	bo = agate_gem_lookup(file, args->handle);
	if (!bo)
		return -ENOENT;
	mapping = agate_vm_find(to_agate_file(file)->vm, bo);
	if (mapping) {
		args->offset = agate_mapping_va(mapping);
		agate_mapping_put(mapping);
	}
	agate_bo_put(bo);
	/* No mapping: the handle was closed after the lookup. */
	return mapping ? 0 : -ENOENT;
}

static int ioctl_get_bo_offset(struct drm_device *dev, void *data, struct drm_file *file)
{
	return topic_ioctl(AGATE_FEATURE_GEM, get_bo_offset, dev, data, file);
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

static int ioctl_get_param(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct agate_device *adev = to_agate_device(dev);
	struct drm_agate_get_param *args = data;

	if (agate_bus_lost(adev))
		return -ENODEV;
	if (args->pad)
		return -EINVAL;
	return get_param(adev, args->param, &args->value);
}

/* Every ioctl serves clients that only render; none needs authentication. */
const struct drm_ioctl_desc agate_ioctls[AGATE_NUM_IOCTLS] = {
	DRM_IOCTL_DEF_DRV(AGATE_SUBMIT, ioctl_submit, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_WAIT_BO, ioctl_wait_bo, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_CREATE_BO, ioctl_create_bo, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_MMAP_BO, ioctl_mmap_bo, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_GET_PARAM, ioctl_get_param, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_GET_BO_OFFSET, ioctl_get_bo_offset, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_MADVISE, ioctl_madvise, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(AGATE_SET_LABEL, ioctl_set_label, DRM_RENDER_ALLOW),
};
