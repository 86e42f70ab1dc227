// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer object and its names, with the kernel's helpers for text: the label comes
 * as a string of its own, is checked by ctype.h, and replaces the old one as a whole.
 */
#include <linux/ctype.h>
#include <linux/string.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <drm/drm_gem.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_mmap.h"

/*
 * The last reference is gone: nobody else can find the BO but by the lists.  It
 * leaves gem.bos only when its pages are unmapped: until then removal, which
 * unmaps what is listed, must find it, as the mapping must not outlast the device.
 */
static void gem_free(struct drm_gem_object *obj)
{
	struct agate_device *adev = to_agate_device(obj->dev);
	struct agate_bo *bo = to_agate_bo(obj);

	WARN_ON(!list_empty(&bo->vm_bos));
	agate_purge_forget(bo);
	agate_backing_release(bo);
	mutex_lock(&adev->gem.lock);
	list_del(&bo->link);
	mutex_unlock(&adev->gem.lock);

	drm_gem_object_release(obj);
	mutex_destroy(&bo->backing.lock);
	mutex_destroy(&bo->label_lock);
	mutex_destroy(&bo->mappings_lock);
	kfree(bo);
	agate_stat_dec(&adev->stats, AGATE_STAT_BOS);
}

static int gem_open(struct drm_gem_object *obj, struct drm_file *file)
{
	struct agate_file *afile = to_agate_file(file);
	int ret;

	ret = agate_vm_open_bo(afile->vm, to_agate_bo(obj));
	if (!ret)
		agate_stat_inc(&afile->adev->stats, AGATE_STAT_HANDLES);
	return ret;
}

static void gem_close(struct drm_gem_object *obj, struct drm_file *file)
{
	struct agate_file *afile = to_agate_file(file);

	agate_vm_close_bo(afile->vm, to_agate_bo(obj));
	agate_stat_dec(&afile->adev->stats, AGATE_STAT_HANDLES);
}

static int gem_vmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	return agate_backing_vmap(to_agate_bo(obj), map);
}

static void gem_vunmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	agate_backing_vunmap(to_agate_bo(obj), map);
}

static const struct drm_gem_object_funcs agate_gem_funcs = {
	.free = gem_free,
	.open = gem_open,
	.close = gem_close,
	.pin = agate_backing_pin,
	.unpin = agate_backing_unpin,
	.get_sg_table = agate_backing_get_sg_table,
	.vmap = gem_vmap,
	.vunmap = gem_vunmap,
	.mmap = agate_mmap_object,
	.vm_ops = &agate_vm_ops,
};

int agate_gem_topic_init(struct agate_device *adev)
{
	mutex_init(&adev->gem.lock);
	INIT_LIST_HEAD(&adev->gem.bos);
	return 0;
}

/* Open files may still have BOs; those go when they do. */
void agate_gem_topic_fini(struct agate_device *adev)
{
}

static bool create_args_valid(u64 size, u32 flags)
{
	if (!size || size > AGATE_BO_MAX_SIZE || (flags & ~AGATE_BO_FLAGS))
		return false;
	/* The GPU must never run as code what it fills itself. */
	return !(flags & AGATE_BO_HEAP) || (flags & AGATE_BO_NOEXEC);
}

/* BOs with other flags may have memory from the beginning. */
#define LATE_FLAGS	(AGATE_BO_NOEXEC | AGATE_BO_HEAP | AGATE_BO_CPU_READONLY | \
			 AGATE_BO_GPU_READONLY)

struct agate_bo *agate_gem_create(struct agate_device *adev, u64 size, u32 flags)
{
	struct agate_bo *bo;
	int ret = 0;

	if (!create_args_valid(size, flags))
		return ERR_PTR(-EINVAL);

	bo = kzalloc(sizeof(*bo), GFP_KERNEL);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->base.funcs = &agate_gem_funcs;
	if (flags & ~LATE_FLAGS)
		ret = agate_backing_object_init(adev, bo, PAGE_ALIGN(size), flags);
	else
		drm_gem_private_object_init(&adev->drm, &bo->base, PAGE_ALIGN(size));
	if (ret) {
		drm_gem_object_release(&bo->base);
		kfree(bo);
		return ERR_PTR(-ENOMEM);
	}
	/* A client that asks for too much gets an error, not the OOM killer. */
	agate_backing_set_gfp_mask(bo, GFP_HIGHUSER | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);

	bo->flags = flags;
	bo->madv = AGATE_MADV_WILLNEED;
	mutex_init(&bo->mappings_lock);
	INIT_LIST_HEAD(&bo->vm_bos);
	INIT_LIST_HEAD(&bo->purge_link);
	mutex_init(&bo->label_lock);
	agate_backing_init(bo, flags);

	mutex_lock(&adev->gem.lock);
	list_add_tail(&bo->link, &adev->gem.bos);
	mutex_unlock(&adev->gem.lock);
	agate_stat_inc(&adev->stats, AGATE_STAT_BOS);
	return bo;
}

/*
 * Our own reference is kept to the end: once the handle is published another
 * thread may close it.  Then the mapping is gone too, and the caller, who has no
 * handle any more, gets an error.
 */
int agate_gem_create_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_create_bo *args = data;
	struct agate_bo *bo;
	struct agate_mapping *mapping;
	int ret;

	bo = agate_gem_create(to_agate_device(dev), args->size, args->flags);
	if (IS_ERR(bo))
		return PTR_ERR(bo);

	ret = drm_gem_handle_create(file, &bo->base, &args->handle);
	if (ret)
		goto out;

	mapping = agate_vm_find(to_agate_file(file)->vm, bo);
	if (mapping) {
		args->offset = agate_mapping_va(mapping);
		agate_mapping_put(mapping);
	} else {
		ret = -EINVAL;
	}
out:
	agate_bo_put(bo);
	return ret;
}

struct agate_bo *agate_gem_lookup(struct drm_file *file, u32 handle)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file, handle);

	return obj ? to_agate_bo(obj) : NULL;
}

/* A label ends up in debugfs: nothing in it may break the line. */
static bool label_valid(const char *label, u32 len)
{
	while (len) {
		if (iscntrl(label[--len]))
			return false;
	}
	return true;
}

int agate_gem_set_label_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_set_label *args = data;
	struct agate_bo *bo;
	char *label;
	int ret = -EINVAL;

	if (args->len > AGATE_LABEL_MAX)
		return -EINVAL;
	label = memdup_user_nul(u64_to_user_ptr(args->label), args->len);
	if (IS_ERR(label))
		return PTR_ERR(label);
	if (!label_valid(label, args->len))
		goto out;

	ret = -ENOENT;
	bo = agate_gem_lookup(file, args->handle);
	if (!bo)
		goto out;
	mutex_lock(&bo->label_lock);
	memset(bo->label, 0, sizeof(bo->label));
	strscpy(bo->label, label, sizeof(bo->label));
	mutex_unlock(&bo->label_lock);
	agate_bo_put(bo);
	ret = 0;
out:
	kfree(label);
	return ret;
}

void agate_gem_get_label(struct agate_bo *bo, char *label)
{
	mutex_lock(&bo->label_lock);
	memcpy(label, bo->label, sizeof(bo->label));
	mutex_unlock(&bo->label_lock);
}
