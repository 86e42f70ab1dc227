// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer object and its names; the address comes before the handle.
 *
 * CREATE_BO takes the range in the file's address space for itself and knows its
 * address before anybody can close anything.  So it has no answer to find out later,
 * and succeeds even when its handle was closed meanwhile.  The GEM object is put
 * together by hand, and handles are looked up by hand, too.
 */
#include <linux/idr.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <drm/drm_gem.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_mmap.h"

static void gem_free(struct drm_gem_object *obj)
{
	struct agate_device *adev = to_agate_device(obj->dev);
	struct agate_bo *bo = to_agate_bo(obj);

	agate_purge_forget(bo);
	agate_backing_release(bo);

	mutex_lock(&adev->gem.lock);
	list_del_init(&bo->link);
	agate_stat_dec(&adev->stats, AGATE_STAT_BOS);
	mutex_unlock(&adev->gem.lock);

	mutex_destroy(&bo->label_lock);
	mutex_destroy(&bo->mappings_lock);
	mutex_destroy(&bo->backing.lock);
	drm_gem_object_release(obj);
	kfree(bo);
}

static int gem_open(struct drm_gem_object *obj, struct drm_file *file)
{
	struct agate_file *afile = to_agate_file(file);
	int ret = agate_vm_open_bo(afile->vm, to_agate_bo(obj));

	if (ret)
		return ret;
	agate_stat_inc(&afile->adev->stats, AGATE_STAT_HANDLES);
	return 0;
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
	adev->gem = (struct agate_gem){ .bos = LIST_HEAD_INIT(adev->gem.bos) };
	mutex_init(&adev->gem.lock);
	return 0;
}

void agate_gem_topic_fini(struct agate_device *adev)
{
}

/* The pages' file; whatever goes wrong with it is a lack of memory. */
static struct file *make_file(size_t size)
{
	struct file *file = shmem_file_setup("agate bo", size, VM_NORESERVE);

	if (IS_ERR(file))
		return ERR_PTR(-ENOMEM);
	mapping_set_gfp_mask(file->f_mapping,
			     GFP_HIGHUSER | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	return file;
}

/* BOs with other flags may have memory from the beginning, or no file at all. */
#define FILE_FLAGS	(AGATE_BO_NOEXEC | AGATE_BO_HEAP | AGATE_BO_CPU_READONLY | \
			 AGATE_BO_GPU_READONLY)

static int init_object(struct agate_device *adev, struct agate_bo *bo, size_t size, u32 flags)
{
	struct file *file;

	if (flags & ~FILE_FLAGS) {
		if (agate_backing_object_init(adev, bo, size, flags)) {
			drm_gem_object_release(&bo->base);
			return -ENOMEM;
		}
		agate_backing_set_gfp_mask(bo, GFP_HIGHUSER | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
		return 0;
	}
	file = make_file(size);
	if (IS_ERR(file))
		return PTR_ERR(file);
	drm_gem_private_object_init(&adev->drm, &bo->base, size);
	bo->base.filp = file;
	return 0;
}

struct agate_bo *agate_gem_create(struct agate_device *adev, u64 size, u32 flags)
{
	struct agate_bo *bo;
	int ret;

	if (size == 0 || size > AGATE_BO_MAX_SIZE || flags & ~AGATE_BO_FLAGS)
		return ERR_PTR(-EINVAL);
	if ((flags & (AGATE_BO_NOEXEC | AGATE_BO_HEAP)) == AGATE_BO_HEAP)
		return ERR_PTR(-EINVAL);

	bo = kzalloc(sizeof(*bo), GFP_KERNEL);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->base.funcs = &agate_gem_funcs;
	ret = init_object(adev, bo, ALIGN(size, PAGE_SIZE), flags);
	if (ret) {
		kfree(bo);
		return ERR_PTR(ret);
	}
	bo->flags = flags;
	bo->madv = AGATE_MADV_WILLNEED;
	mutex_init(&bo->mappings_lock);
	mutex_init(&bo->label_lock);
	INIT_LIST_HEAD(&bo->vm_bos);
	INIT_LIST_HEAD(&bo->purge_link);
	agate_backing_init(bo, flags);

	mutex_lock(&adev->gem.lock);
	agate_stat_inc(&adev->stats, AGATE_STAT_BOS);
	list_add_tail(&bo->link, &adev->gem.bos);
	mutex_unlock(&adev->gem.lock);
	return bo;
}

/* Our own use of the range keeps mapping and BO until the handle is there. */
static int publish(struct agate_vm *vm, struct agate_bo *bo, struct drm_file *file,
		   struct drm_agate_create_bo *args)
{
	struct agate_mapping *mapping;
	int ret;

	ret = agate_vm_open_bo(vm, bo);
	if (ret)
		return ret;
	mapping = agate_vm_find(vm, bo);
	args->offset = agate_mapping_va(mapping);
	agate_mapping_put(mapping);
	ret = drm_gem_handle_create(file, &bo->base, &args->handle);
	agate_vm_close_bo(vm, bo);
	return ret;
}

int agate_gem_create_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_create_bo *args = data;
	struct agate_bo *bo;
	int ret;

	bo = agate_gem_create(to_agate_device(dev), args->size, args->flags);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	ret = publish(to_agate_file(file)->vm, bo, file, args);
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

int agate_gem_set_label_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_set_label *args = data;
	struct agate_bo *bo;
	int ret = 0;
	char *text;
	u32 i;

	/* The handle first: whoever has none hears that, whatever else is wrong. */
	bo = agate_gem_lookup(file, args->handle);
	if (!bo)
		return -ENOENT;
	if (args->len > AGATE_LABEL_MAX) {
		agate_bo_put(bo);
		return -EINVAL;
	}
	text = memdup_user_nul(u64_to_user_ptr(args->label), args->len);
	if (IS_ERR(text)) {
		agate_bo_put(bo);
		return PTR_ERR(text);
	}
	for (i = 0; i < args->len; i++)
		if ((u8)text[i] <= 0x1f || (u8)text[i] == 0x7f)
			ret = -EINVAL;
	if (!ret) {
		mutex_lock(&bo->label_lock);
		strscpy_pad(bo->label, text, sizeof(bo->label));
		mutex_unlock(&bo->label_lock);
	}
	kfree(text);
	agate_bo_put(bo);
	return ret;
}

void agate_gem_get_label(struct agate_bo *bo, char *label)
{
	mutex_lock(&bo->label_lock);
	strscpy(label, bo->label, sizeof(bo->label));
	mutex_unlock(&bo->label_lock);
}
