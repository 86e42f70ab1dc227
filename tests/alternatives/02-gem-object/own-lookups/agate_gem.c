// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer object and its names; the tables and lists are walked here, and not by helpers.
 *
 * A signal ends the waits of CREATE_BO and SET_LABEL, which then undo what they did.
 */
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <drm/drm_gem.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_mmap.h"

/* The BO's address in @vm, or 0 when the file has no handle any more. */
static u64 own_address(struct agate_bo *bo, struct agate_vm *vm)
{
	struct agate_vm_bo *vm_bo;
	u64 va = 0;

	mutex_lock(&bo->mappings_lock);
	list_for_each_entry(vm_bo, &bo->vm_bos, link) {
		/* An older mapping, which is about to go, is behind the one of the handles. */
		if (vm_bo->vm == vm && vm_bo->handles) {
			va = agate_mapping_va(list_first_entry(&vm_bo->mappings,
							       struct agate_mapping, link));
			break;
		}
	}
	mutex_unlock(&bo->mappings_lock);
	return va;
}

static void gem_free(struct drm_gem_object *obj)
{
	struct agate_device *adev = to_agate_device(obj->dev);
	struct agate_bo *bo = to_agate_bo(obj);

	agate_purge_forget(bo);
	agate_backing_release(bo);
	mutex_lock(&adev->gem.lock);
	list_del(&bo->link);
	mutex_unlock(&adev->gem.lock);
	agate_stat_dec(&adev->stats, AGATE_STAT_BOS);
	drm_gem_object_release(obj);
	mutex_destroy(&bo->label_lock);
	mutex_destroy(&bo->mappings_lock);
	mutex_destroy(&bo->backing.lock);
	kfree(bo);
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

/* BOs with other flags may have memory from the beginning, or no file at all. */
#define FILE_FLAGS	(AGATE_BO_NOEXEC | AGATE_BO_HEAP | AGATE_BO_CPU_READONLY | \
			 AGATE_BO_GPU_READONLY)
#define BO_MASK		(GFP_HIGHUSER | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

struct agate_bo *agate_gem_create(struct agate_device *adev, u64 size, u32 flags)
{
	struct agate_bo *bo;
	int ret;

	if (!size || size > AGATE_BO_MAX_SIZE)
		return ERR_PTR(-EINVAL);
	if (flags & ~AGATE_BO_FLAGS)
		return ERR_PTR(-EINVAL);
	if ((flags & AGATE_BO_HEAP) && !(flags & AGATE_BO_NOEXEC))
		return ERR_PTR(-EINVAL);

	bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->base.funcs = &agate_gem_funcs;
	if (flags & ~FILE_FLAGS)
		ret = agate_backing_object_init(adev, bo, PAGE_ALIGN(size), flags);
	else
		ret = drm_gem_object_init(&adev->drm, &bo->base, PAGE_ALIGN(size));
	if (ret) {
		drm_gem_object_release(&bo->base);
		kfree(bo);
		return ERR_PTR(-ENOMEM);
	}
	if (bo->base.filp)
		mapping_set_gfp_mask(bo->base.filp->f_mapping, BO_MASK);
	else
		agate_backing_set_gfp_mask(bo, BO_MASK);

	bo->flags = flags;
	bo->madv = AGATE_MADV_WILLNEED;
	mutex_init(&bo->mappings_lock);
	INIT_LIST_HEAD(&bo->vm_bos);
	INIT_LIST_HEAD(&bo->purge_link);
	mutex_init(&bo->label_lock);
	agate_backing_init(bo, flags);

	if (mutex_lock_interruptible(&adev->gem.lock)) {
		agate_backing_release(bo);
		mutex_destroy(&bo->backing.lock);
		mutex_destroy(&bo->label_lock);
		mutex_destroy(&bo->mappings_lock);
		drm_gem_object_release(&bo->base);
		kfree(bo);
		return ERR_PTR(-ERESTARTSYS);
	}
	list_add_tail(&bo->link, &adev->gem.bos);
	mutex_unlock(&adev->gem.lock);
	agate_stat_inc(&adev->stats, AGATE_STAT_BOS);
	return bo;
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
	if (ret)
		goto out;
	args->offset = own_address(bo, to_agate_file(file)->vm);
	if (!args->offset)
		ret = -ENOENT;
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
	char *label = NULL;
	struct agate_bo *bo;
	int ret = -EINVAL;

	if (args->len > AGATE_LABEL_MAX)
		return -EINVAL;
	if (args->len) {
		label = memdup_user_nul(u64_to_user_ptr(args->label), args->len);
		if (IS_ERR(label))
			return PTR_ERR(label);
	}
	if (label && !label_is_text(label, args->len))
		goto out;
	ret = -ENOENT;
	bo = agate_gem_lookup(file, args->handle);
	if (!bo)
		goto out;
	ret = mutex_lock_interruptible(&bo->label_lock);
	if (!ret) {
		strscpy_pad(bo->label, label ?: "", sizeof(bo->label));
		mutex_unlock(&bo->label_lock);
	}
	agate_bo_put(bo);
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
