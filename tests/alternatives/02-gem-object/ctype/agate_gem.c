// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer object and its names; the kernel's own helpers wherever there is one.
 *
 * A BO that ends has gem.lock until it has left the list, so nobody ever meets it half
 * gone.  SET_LABEL looks its BO up first, and iscntrl() knows what a control character is.
 */
#include <linux/ctype.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <drm/drm_gem.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_mmap.h"

static void gem_free(struct drm_gem_object *obj)
{
	struct agate_gem *gem = &to_agate_device(obj->dev)->gem;
	struct agate_bo *bo = to_agate_bo(obj);

	agate_purge_forget(bo);
	agate_backing_release(bo);
	mutex_lock(&gem->lock);
	list_del(&bo->link);
	mutex_unlock(&gem->lock);

	agate_stat_dec(&to_agate_device(obj->dev)->stats, AGATE_STAT_BOS);
	mutex_destroy(&bo->label_lock);
	mutex_destroy(&bo->mappings_lock);
	mutex_destroy(&bo->backing.lock);
	drm_gem_object_release(obj);
	kfree(bo);
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

struct agate_bo *agate_gem_create(struct agate_device *adev, u64 size, u32 flags)
{
	struct agate_bo *bo;
	int ret;

	if (!create_args_valid(size, flags))
		return ERR_PTR(-EINVAL);

	bo = kzalloc(sizeof(*bo), GFP_KERNEL);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->base.funcs = &agate_gem_funcs;
	ret = agate_backing_object_init(adev, bo, PAGE_ALIGN(size), flags);
	if (ret) {
		drm_gem_object_release(&bo->base);
		kfree(bo);
		/* If a backing says ENOSPC it means memory; our uAPI has it for addresses. */
		return ERR_PTR(ret == -ENOSPC ? -ENOMEM : ret);
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

/* The address of a BO whose handle was closed meanwhile is no use to anybody. */
static int tell_address(struct agate_vm *vm, struct agate_bo *bo, __u64 *offset)
{
	struct agate_mapping *mapping = agate_vm_find(vm, bo);

	if (!mapping)
		return -ENOENT;
	*offset = agate_mapping_va(mapping);
	agate_mapping_put(mapping);
	return 0;
}

int agate_gem_create_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_create_bo *args = data;
	struct agate_bo *bo = agate_gem_create(to_agate_device(dev), args->size, args->flags);
	u32 handle = 0;
	int ret;

	if (IS_ERR(bo))
		return PTR_ERR(bo);
	ret = drm_gem_handle_create(file, &bo->base, &handle);
	if (!ret)
		ret = tell_address(to_agate_file(file)->vm, bo, &args->offset);
	agate_bo_put(bo);
	if (!ret)
		args->handle = handle;
	return ret;
}

struct agate_bo *agate_gem_lookup(struct drm_file *file, u32 handle)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file, handle);

	return obj ? to_agate_bo(obj) : NULL;
}

static int fetch_label(const struct drm_agate_set_label *args, char *label)
{
	u32 i;

	if (args->len > AGATE_LABEL_MAX)
		return -EINVAL;
	memset(label, 0, AGATE_LABEL_MAX + 1);
	if (copy_from_user(label, u64_to_user_ptr(args->label), args->len))
		return -EFAULT;
	for (i = 0; i < args->len; i++)
		if (iscntrl(label[i]))
			return -EINVAL;
	return 0;
}

int agate_gem_set_label_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_set_label *args = data;
	struct agate_bo *bo = agate_gem_lookup(file, args->handle);
	char label[AGATE_LABEL_MAX + 1];
	int ret;

	if (!bo)
		return -ENOENT;
	ret = fetch_label(args, label);
	if (!ret) {
		mutex_lock(&bo->label_lock);
		strscpy_pad(bo->label, label, sizeof(bo->label));
		mutex_unlock(&bo->label_lock);
	}
	agate_bo_put(bo);
	return ret;
}

void agate_gem_get_label(struct agate_bo *bo, char *label)
{
	mutex_lock(&bo->label_lock);
	memcpy(label, bo->label, sizeof(bo->label));
	mutex_unlock(&bo->label_lock);
}
