// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer object and its names; the BO is part of a larger structure, and its label an
 * object that is counted.
 *
 * A reader takes a reference to the label under a spinlock and copies it without one.
 * A label is never written to: SET_LABEL makes another one and changes the pointer.
 */
#include <linux/kref.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <drm/drm_gem.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_mmap.h"

struct label {
	struct kref refs;
	char text[AGATE_LABEL_MAX + 1];
};

struct named_bo {
	struct agate_bo bo;
	spinlock_t lock;	/* @label, the pointer */
	struct label *label;	/* NULL for none */
};

static struct named_bo *to_named(struct agate_bo *bo)
{
	return container_of(bo, struct named_bo, bo);
}

static void label_release(struct kref *refs)
{
	kfree(container_of(refs, struct label, refs));
}

static void label_put(struct label *label)
{
	if (label)
		kref_put(&label->refs, label_release);
}

static struct label *label_get(struct named_bo *named)
{
	struct label *label;

	spin_lock(&named->lock);
	label = named->label;
	if (label)
		kref_get(&label->refs);
	spin_unlock(&named->lock);
	return label;
}

static struct label *label_swap(struct named_bo *named, struct label *label)
{
	spin_lock(&named->lock);
	swap(named->label, label);
	spin_unlock(&named->lock);
	return label;
}

static void destroy_locks(struct agate_bo *bo)
{
	mutex_destroy(&bo->mappings_lock);
	mutex_destroy(&bo->backing.lock);
	mutex_destroy(&bo->label_lock);
}

static void gem_free(struct drm_gem_object *obj)
{
	struct agate_device *adev = to_agate_device(obj->dev);
	struct agate_bo *bo = to_agate_bo(obj);

	agate_purge_forget(bo);
	agate_backing_release(bo);
	mutex_lock(&adev->gem.lock);
	list_del_init(&bo->link);
	mutex_unlock(&adev->gem.lock);

	label_put(to_named(bo)->label);
	destroy_locks(bo);
	drm_gem_object_release(obj);
	kfree(to_named(bo));
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

struct agate_bo *agate_gem_create(struct agate_device *adev, u64 size, u32 flags)
{
	struct named_bo *named;
	struct agate_bo *bo;
	int ret;

	if (!create_args_valid(size, flags))
		return ERR_PTR(-EINVAL);

	named = kzalloc(sizeof(*named), GFP_KERNEL);
	if (!named)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&named->lock);
	bo = &named->bo;
	bo->base.funcs = &agate_gem_funcs;
	ret = agate_backing_object_init(adev, bo, PAGE_ALIGN(size), flags);
	if (ret) {
		drm_gem_object_release(&bo->base);
		kfree(named);
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
	u32 i;

	for (i = 0; i < len; i++)
		if ((u8)label[i] < 0x20 || label[i] == 0x7f)
			return false;
	return true;
}

static struct label *label_fetch(const struct drm_agate_set_label *args)
{
	struct label *label;
	int ret = 0;

	if (args->len > AGATE_LABEL_MAX)
		return ERR_PTR(-EINVAL);
	label = kzalloc(sizeof(*label), GFP_KERNEL);
	if (!label)
		return ERR_PTR(-ENOMEM);
	kref_init(&label->refs);
	if (copy_from_user(label->text, u64_to_user_ptr(args->label), args->len))
		ret = -EFAULT;
	else if (!label_valid(label->text, args->len))
		ret = -EINVAL;
	if (!ret)
		return label;
	label_put(label);
	return ERR_PTR(ret);
}

int agate_gem_set_label_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct label *label = label_fetch(data);
	struct agate_bo *bo;

	if (IS_ERR(label))
		return PTR_ERR(label);
	bo = agate_gem_lookup(file, ((struct drm_agate_set_label *)data)->handle);
	if (bo) {
		label = label_swap(to_named(bo), label);
		agate_bo_put(bo);
	}
	label_put(label);
	return bo ? 0 : -ENOENT;
}

void agate_gem_get_label(struct agate_bo *bo, char *text)
{
	struct label *label = label_get(to_named(bo));

	memset(text, 0, AGATE_LABEL_MAX + 1);
	if (label)
		strscpy(text, label->text, sizeof(label->text));
	label_put(label);
}
