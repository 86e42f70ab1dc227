// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer object and its names; no wait for a lock ever queues for it.
 *
 * The memory of a BO that ends goes after a grace period of RCU, for which no code of the
 * driver has to run.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <drm/drm_gem.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_mmap.h"

struct rcu_bo {
	struct agate_bo bo;
	struct rcu_head rcu;
};

/* As long as it takes. */
static void poll_lock(struct mutex *lock)
{
	while (!mutex_trylock(lock))
		schedule_timeout_uninterruptible(1);
}

static void gem_free(struct drm_gem_object *obj)
{
	struct agate_device *adev = to_agate_device(obj->dev);
	struct agate_bo *bo = to_agate_bo(obj);

	agate_purge_forget(bo);
	agate_backing_release(bo);
	poll_lock(&adev->gem.lock);
	list_del(&bo->link);
	mutex_unlock(&adev->gem.lock);
	agate_stat_dec(&adev->stats, AGATE_STAT_BOS);
	drm_gem_object_release(obj);
	mutex_destroy(&bo->label_lock);
	mutex_destroy(&bo->mappings_lock);
	mutex_destroy(&bo->backing.lock);
	kfree_rcu(container_of(bo, struct rcu_bo, bo), rcu);
}

static int gem_open(struct drm_gem_object *obj, struct drm_file *file)
{
	int ret = agate_vm_open_bo(to_agate_file(file)->vm, to_agate_bo(obj));

	if (ret)
		return ret;
	agate_stat_inc(&to_agate_device(obj->dev)->stats, AGATE_STAT_HANDLES);
	return 0;
}

static void gem_close(struct drm_gem_object *obj, struct drm_file *file)
{
	agate_stat_dec(&to_agate_device(obj->dev)->stats, AGATE_STAT_HANDLES);
	agate_vm_close_bo(to_agate_file(file)->vm, to_agate_bo(obj));
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

void agate_gem_topic_fini(struct agate_device *adev)
{
}

struct agate_bo *agate_gem_create(struct agate_device *adev, u64 size, u32 flags)
{
	struct rcu_bo *outer;
	struct agate_bo *bo;
	int ret;

	if (!size || size > AGATE_BO_MAX_SIZE)
		return ERR_PTR(-EINVAL);
	if (flags & ~AGATE_BO_FLAGS)
		return ERR_PTR(-EINVAL);
	if ((flags & AGATE_BO_HEAP) && !(flags & AGATE_BO_NOEXEC))
		return ERR_PTR(-EINVAL);

	outer = kzalloc(sizeof(*outer), GFP_KERNEL_ACCOUNT);
	if (!outer)
		return ERR_PTR(-ENOMEM);
	bo = &outer->bo;
	bo->base.funcs = &agate_gem_funcs;
	ret = agate_backing_object_init(adev, bo, PAGE_ALIGN(size), flags);
	if (ret) {
		drm_gem_object_release(&bo->base);
		kfree(outer);
		return ERR_PTR(-ENOMEM);
	}
	agate_backing_set_gfp_mask(bo, GFP_HIGHUSER | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);

	bo->flags = flags;
	bo->madv = AGATE_MADV_WILLNEED;
	mutex_init(&bo->mappings_lock);
	INIT_LIST_HEAD(&bo->vm_bos);
	INIT_LIST_HEAD(&bo->purge_link);
	mutex_init(&bo->label_lock);
	agate_backing_init(bo, flags);

	poll_lock(&adev->gem.lock);
	list_add_tail(&bo->link, &adev->gem.bos);
	mutex_unlock(&adev->gem.lock);
	agate_stat_inc(&adev->stats, AGATE_STAT_BOS);
	return bo;
}

int agate_gem_create_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_create_bo *args = data;
	struct agate_mapping *mapping;
	struct agate_bo *bo;
	int ret;

	bo = agate_gem_create(to_agate_device(dev), args->size, args->flags);
	if (IS_ERR(bo))
		return PTR_ERR(bo);

	ret = drm_gem_handle_create(file, &bo->base, &args->handle);
	if (ret)
		goto out;
	mapping = agate_vm_find(to_agate_file(file)->vm, bo);
	if (!mapping) {
		ret = -EINVAL;
		goto out;
	}
	args->offset = agate_mapping_va(mapping);
	agate_mapping_put(mapping);
out:
	agate_bo_put(bo);
	return ret;
}

struct agate_bo *agate_gem_lookup(struct drm_file *file, u32 handle)
{
	struct drm_gem_object *obj;

	spin_lock(&file->table_lock);
	obj = idr_find(&file->object_idr, handle);
	if (obj)
		drm_gem_object_get(obj);
	spin_unlock(&file->table_lock);
	return obj ? to_agate_bo(obj) : NULL;
}

static bool label_is_text(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char c = text[i];

		if (c < 0x20 || c == 0x7f)
			return false;
	}
	return true;
}

int agate_gem_set_label_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	const struct drm_agate_set_label *args = data;
	char label[AGATE_LABEL_MAX + 1] = "";
	struct agate_bo *bo;

	if (args->len > AGATE_LABEL_MAX)
		return -EINVAL;
	if (args->len && copy_from_user(label, u64_to_user_ptr(args->label), args->len))
		return -EFAULT;
	if (!label_is_text(label, args->len))
		return -EINVAL;
	bo = agate_gem_lookup(file, args->handle);
	if (!bo)
		return -ENOENT;
	poll_lock(&bo->label_lock);
	memcpy(bo->label, label, sizeof(label));
	mutex_unlock(&bo->label_lock);
	agate_bo_put(bo);
	return 0;
}

void agate_gem_get_label(struct agate_bo *bo, char *label)
{
	poll_lock(&bo->label_lock);
	memcpy(label, bo->label, sizeof(bo->label));
	mutex_unlock(&bo->label_lock);
}
