// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer object and its names, with labels as objects of their own.
 *
 * The BO is the beginning of a larger structure, and its label a string that is
 * replaced as a whole: readers see the old one or the new one, and take no lock.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <drm/drm_gem.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_mmap.h"

struct gem_label {
	struct rcu_head rcu;
	char text[];
};

/* What is allocated; the driver knows @bo, and only this file the rest. */
struct gem_bo {
	struct agate_bo bo;
	struct gem_label __rcu *label;
};

static struct gem_bo *to_gem_bo(struct agate_bo *bo)
{
	return container_of(bo, struct gem_bo, bo);
}

static void list_join(struct agate_device *adev, struct agate_bo *bo)
{
	mutex_lock(&adev->gem.lock);
	list_add_tail(&bo->link, &adev->gem.bos);
	mutex_unlock(&adev->gem.lock);
	agate_stat_inc(&adev->stats, AGATE_STAT_BOS);
}

static void list_leave(struct agate_device *adev, struct agate_bo *bo)
{
	mutex_lock(&adev->gem.lock);
	list_del(&bo->link);
	mutex_unlock(&adev->gem.lock);
	agate_stat_dec(&adev->stats, AGATE_STAT_BOS);
}

static void gem_free(struct drm_gem_object *obj)
{
	struct gem_bo *gbo = to_gem_bo(to_agate_bo(obj));

	agate_purge_forget(&gbo->bo);
	agate_backing_release(&gbo->bo);
	list_leave(to_agate_device(obj->dev), &gbo->bo);
	drm_gem_object_release(obj);
	kfree(rcu_dereference_protected(gbo->label, true));
	mutex_destroy(&gbo->bo.label_lock);
	mutex_destroy(&gbo->bo.mappings_lock);
	mutex_destroy(&gbo->bo.backing.lock);
	kfree(gbo);
}

static int gem_open(struct drm_gem_object *obj, struct drm_file *file)
{
	struct agate_file *afile = to_agate_file(file);
	int ret;

	agate_stat_inc(&afile->adev->stats, AGATE_STAT_HANDLES);
	ret = agate_vm_open_bo(afile->vm, to_agate_bo(obj));
	if (ret)
		agate_stat_dec(&afile->adev->stats, AGATE_STAT_HANDLES);
	return ret;
}

static void gem_close(struct drm_gem_object *obj, struct drm_file *file)
{
	struct agate_file *afile = to_agate_file(file);

	agate_stat_dec(&afile->adev->stats, AGATE_STAT_HANDLES);
	agate_vm_close_bo(afile->vm, to_agate_bo(obj));
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
	INIT_LIST_HEAD(&adev->gem.bos);
	mutex_init(&adev->gem.lock);
	return 0;
}

void agate_gem_topic_fini(struct agate_device *adev)
{
}

static int check_args(u64 size, u32 flags)
{
	if (size - 1 >= AGATE_BO_MAX_SIZE)
		return -EINVAL;
	if ((flags & AGATE_BO_FLAGS) != flags)
		return -EINVAL;
	if ((flags & (AGATE_BO_HEAP | AGATE_BO_NOEXEC)) == AGATE_BO_HEAP)
		return -EINVAL;
	return 0;
}

/* All fields that have no zero for a beginning. */
static void init_fields(struct agate_bo *bo, u32 flags)
{
	bo->flags = flags;
	bo->madv = AGATE_MADV_WILLNEED;
	bo->base.funcs = &agate_gem_funcs;
	mutex_init(&bo->mappings_lock);
	mutex_init(&bo->label_lock);
	INIT_LIST_HEAD(&bo->vm_bos);
	INIT_LIST_HEAD(&bo->purge_link);
	INIT_LIST_HEAD(&bo->link);
	agate_backing_init(bo, flags);
}

struct agate_bo *agate_gem_create(struct agate_device *adev, u64 size, u32 flags)
{
	struct gem_bo *gbo;
	int ret;

	ret = check_args(size, flags);
	if (ret)
		return ERR_PTR(ret);
	gbo = kzalloc(sizeof(*gbo), GFP_KERNEL);
	if (!gbo)
		return ERR_PTR(-ENOMEM);

	ret = agate_backing_object_init(adev, &gbo->bo, round_up(size, PAGE_SIZE), flags);
	if (ret)
		goto fail;
	agate_backing_set_gfp_mask(&gbo->bo,
				   GFP_HIGHUSER | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	init_fields(&gbo->bo, flags);
	list_join(adev, &gbo->bo);
	return &gbo->bo;

fail:
	drm_gem_object_release(&gbo->bo.base);
	kfree(gbo);
	return ERR_PTR(-ENOMEM);
}

static int tell_address(struct drm_file *file, struct agate_bo *bo, u64 *offset)
{
	struct agate_mapping *mapping = agate_vm_find(to_agate_file(file)->vm, bo);

	if (!mapping)
		return -ENOENT;
	*offset = agate_mapping_va(mapping);
	agate_mapping_put(mapping);
	return 0;
}

int agate_gem_create_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_create_bo *args = data;
	struct agate_bo *bo;
	int ret;

	bo = agate_gem_create(to_agate_device(dev), args->size, args->flags);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	ret = drm_gem_handle_create(file, &bo->base, &args->handle);
	if (!ret)
		ret = tell_address(file, bo, &args->offset);
	agate_bo_put(bo);
	return ret;
}

struct agate_bo *agate_gem_lookup(struct drm_file *file, u32 handle)
{
	struct drm_gem_object *obj;

	obj = drm_gem_object_lookup(file, handle);
	if (!obj)
		return NULL;
	return to_agate_bo(obj);
}

/* The text as a label that nobody knows yet; NULL for none. */
static struct gem_label *label_fetch(const struct drm_agate_set_label *args)
{
	struct gem_label *label;
	u32 i;

	if (!args->len)
		return NULL;
	if (args->len > AGATE_LABEL_MAX)
		return ERR_PTR(-EINVAL);
	label = kzalloc(struct_size(label, text, args->len + 1), GFP_KERNEL);
	if (!label)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(label->text, u64_to_user_ptr(args->label), args->len)) {
		kfree(label);
		return ERR_PTR(-EFAULT);
	}
	for (i = 0; i < args->len; i++) {
		unsigned char c = label->text[i];

		if (c < ' ' || c == 0x7f) {
			kfree(label);
			return ERR_PTR(-EINVAL);
		}
	}
	return label;
}

int agate_gem_set_label_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_set_label *args = data;
	struct gem_label *label, *old;
	struct agate_bo *bo;

	label = label_fetch(args);
	if (IS_ERR(label))
		return PTR_ERR(label);
	bo = agate_gem_lookup(file, args->handle);
	if (!bo) {
		kfree(label);
		return -ENOENT;
	}
	mutex_lock(&bo->label_lock);
	old = rcu_replace_pointer(to_gem_bo(bo)->label, label,
				  lockdep_is_held(&bo->label_lock));
	mutex_unlock(&bo->label_lock);
	agate_bo_put(bo);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

void agate_gem_get_label(struct agate_bo *bo, char *text)
{
	struct gem_label *label;

	rcu_read_lock();
	label = rcu_dereference(to_gem_bo(bo)->label);
	strscpy(text, label ? label->text : "", AGATE_LABEL_MAX + 1);
	rcu_read_unlock();
}
