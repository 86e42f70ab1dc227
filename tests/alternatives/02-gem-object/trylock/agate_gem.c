// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer object and its names, with locks that are polled.  The memory of a BO that ends
 * goes after a grace period of RCU, by a function of the driver that does nothing else.
 *
 * Everything about a BO is set up before its first handle exists, because from
 * that moment another thread may use it, and even close it.  The contract is
 * agate_gem.h.
 */
#include <linux/delay.h>
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

static void free_memory(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct rcu_bo, rcu));
}

static void poll_lock(struct mutex *lock)
{
	while (!mutex_trylock(lock))
		cond_resched();
}

/*
 * The last reference is gone, and only the two lists still lead to the BO.  It stays
 * in gem.bos until its pages are unmapped: removal unmaps the BOs on that list, and
 * the mapping of a page must not outlast the device.
 */
static void gem_free(struct drm_gem_object *obj)
{
#if LAB02 >= 3
	struct agate_device *adev = to_agate_device(obj->dev);
	struct agate_bo *bo = to_agate_bo(obj);

	WARN_ON(!list_empty(&bo->vm_bos));
	agate_purge_forget(bo);
	agate_backing_release(bo);
	poll_lock(&adev->gem.lock);
	list_del(&bo->link);
	mutex_unlock(&adev->gem.lock);

	drm_gem_object_release(obj);
	mutex_destroy(&bo->backing.lock);
	mutex_destroy(&bo->label_lock);
	mutex_destroy(&bo->mappings_lock);
	call_rcu(&container_of(bo, struct rcu_bo, bo)->rcu, free_memory);
	agate_stat_dec(&adev->stats, AGATE_STAT_BOS);
#else
	/*
	 * STEP 3: undo all that agate_gem_create() did, in the reverse order.  The purge
	 * list forgets the BO first; its pages go while it is still listed in gem.bos.
	 */
#endif
}

static int gem_open(struct drm_gem_object *obj, struct drm_file *file)
{
#if LAB02 >= 2
	struct agate_file *afile = to_agate_file(file);
	int ret;

	ret = agate_vm_open_bo(afile->vm, to_agate_bo(obj));
	if (!ret)
		agate_stat_inc(&afile->adev->stats, AGATE_STAT_HANDLES);
	return ret;
#else
	/*
	 * STEP 2: a file is about to get a handle: reserve GPU addresses for the BO in
	 * the file's address space.  Only a handle that comes to be is counted.
	 */
	return -EOPNOTSUPP;
#endif
}

static void gem_close(struct drm_gem_object *obj, struct drm_file *file)
{
#if LAB02 >= 2
	struct agate_file *afile = to_agate_file(file);

	agate_vm_close_bo(afile->vm, to_agate_bo(obj));
	agate_stat_dec(&afile->adev->stats, AGATE_STAT_HANDLES);
#else
	/* STEP 2: the file gives a handle back: undo gem_open().  The BO may live on. */
#endif
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
#if LAB02 >= 1
	mutex_init(&adev->gem.lock);
	INIT_LIST_HEAD(&adev->gem.bos);
	return 0;
#else
	/* STEP 1: a device begins with an empty list of BOs, and the lock for it. */
	return -EOPNOTSUPP;
#endif
}

/* Open files may still have BOs; those go when they do. */
void agate_gem_topic_fini(struct agate_device *adev)
{
}

#if LAB02 >= 1
static bool create_args_valid(u64 size, u32 flags)
{
	if (!size || size > AGATE_BO_MAX_SIZE || (flags & ~AGATE_BO_FLAGS))
		return false;
	/* The GPU must never run as code what it fills itself. */
	return !(flags & AGATE_BO_HEAP) || (flags & AGATE_BO_NOEXEC);
}

struct agate_bo *agate_gem_create(struct agate_device *adev, u64 size, u32 flags)
{
	struct rcu_bo *outer;
	struct agate_bo *bo;
	int ret;

	if (!create_args_valid(size, flags))
		return ERR_PTR(-EINVAL);

	outer = kzalloc(sizeof(*outer), GFP_KERNEL);
	if (!outer)
		return ERR_PTR(-ENOMEM);
	bo = &outer->bo;
	bo->base.funcs = &agate_gem_funcs;
	ret = agate_backing_object_init(adev, bo, PAGE_ALIGN(size), flags);
	if (ret) {
		drm_gem_object_release(&bo->base);
		kfree(outer);
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

	poll_lock(&adev->gem.lock);
	preempt_disable();
	list_add_tail(&bo->link, &adev->gem.bos);
	preempt_enable();
	mutex_unlock(&adev->gem.lock);
	agate_stat_inc(&adev->stats, AGATE_STAT_BOS);
	return bo;
}
#else
/*
 * STEP 1: refuse what the contract refuses, round the size up to pages, make the
 * GEM object, and set up every field of struct agate_bo before others can find it
 * in gem.bos.  A failure frees all that was made so far, and is -ENOMEM.
 */
struct agate_bo *agate_gem_create(struct agate_device *adev, u64 size, u32 flags)
{
	return ERR_PTR(-EOPNOTSUPP);
}
#endif

/*
 * We keep our own reference to the end: once the handle is published another thread
 * may close it.  Then the mapping is gone, too, and the caller gets an error.  The
 * handle is not ours to delete: its number may be another BO's by then.
 */
int agate_gem_create_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_create_bo *args = data;
	struct agate_bo *bo;
#if LAB02 >= 2
	struct agate_mapping *mapping;
	int ret;
#endif

	bo = agate_gem_create(to_agate_device(dev), args->size, args->flags);
	if (IS_ERR(bo))
		return PTR_ERR(bo);

#if LAB02 >= 2
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
#else
	/*
	 * STEP 2: publish a handle, answer with the BO's address in this file's space,
	 * and drop our own reference when nothing of the BO is needed any more, on
	 * every path.  Another thread may close the handle before you have the address.
	 */
	agate_bo_put(bo);
	return -EOPNOTSUPP;
#endif
}

struct agate_bo *agate_gem_lookup(struct drm_file *file, u32 handle)
{
#if LAB02 >= 2
	struct drm_gem_object *obj = drm_gem_object_lookup(file, handle);

	return obj ? to_agate_bo(obj) : NULL;
#else
	/* STEP 2: the BO behind a handle of this file, with a reference for the caller. */
	return NULL;
#endif
}

#if LAB02 >= 4
/* A label ends up in debugfs: nothing in it may break the line. */
static bool label_valid(const char *label, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if ((u8)label[i] < 0x20 || label[i] == 0x7f)
			return false;
	return true;
}

int agate_gem_set_label_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_set_label *args = data;
	char label[AGATE_LABEL_MAX + 1] = "";
	struct agate_bo *bo;

	if (args->len > AGATE_LABEL_MAX)
		return -EINVAL;
	if (copy_from_user(label, u64_to_user_ptr(args->label), args->len))
		return -EFAULT;
	if (!label_valid(label, args->len))
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
	while (!mutex_trylock(&bo->label_lock))
		usleep_range(100, 200);
	memcpy(label, bo->label, sizeof(bo->label));
	mutex_unlock(&bo->label_lock);
}
#else
/*
 * STEP 4: fetch the text once, check what was fetched, then replace the old label
 * under label_lock.  No lock is held while user memory is touched, and a call that
 * fails leaves the label, and the BO's references, as they were.
 */
int agate_gem_set_label_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	return -EOPNOTSUPP;
}

void agate_gem_get_label(struct agate_bo *bo, char *label)
{
	/* STEP 4: all of it and its terminating zero, of one label and not of two. */
	label[0] = '\0';
}
#endif
