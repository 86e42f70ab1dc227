// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer object and its names.
 *
 * Everything about a BO is set up before its first handle exists, because from
 * that moment another thread may use it, and even close it.  The contract is
 * agate_gem.h.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <drm/drm_gem.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_mmap.h"
#include "agate_prime.h"

/*
 * The last reference is gone, and only the two lists still lead to the BO.  It stays
 * in gem.bos until its pages are unmapped: removal unmaps the BOs on that list, and
 * the mapping of a page must not outlast the device.
 */
static void gem_free(struct drm_gem_object *obj)
{
	/*
	 * STEP 3: undo all that agate_gem_create() did, in the reverse order.  The purge
	 * list forgets the BO first; its pages go while it is still listed in gem.bos.
	 */
}

static int gem_open(struct drm_gem_object *obj, struct drm_file *file)
{
	/*
	 * STEP 2: a file is about to get a handle: reserve GPU addresses for the BO in
	 * the file's address space.  Only a handle that comes to be is counted.
	 */
	return -EOPNOTSUPP;
}

static void gem_close(struct drm_gem_object *obj, struct drm_file *file)
{
	/* STEP 2: the file gives a handle back: undo gem_open().  The BO may live on. */
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
	.export = agate_prime_export,
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
	/* STEP 1: a device begins with an empty list of BOs, and the lock for it. */
	return -EOPNOTSUPP;
}

/* Open files may still have BOs; those go when they do. */
void agate_gem_topic_fini(struct agate_device *adev)
{
}

/*
 * STEP 1: refuse what the contract refuses, round the size up to pages, make the
 * GEM object, and set up every field of struct agate_bo before others can find it
 * in gem.bos.  A failure frees all that was made so far; without memory it is -ENOMEM.
 */
struct agate_bo *agate_gem_create(struct agate_device *adev, u64 size, u32 flags)
{
	return ERR_PTR(-EOPNOTSUPP);
}

/*
 * We keep our own reference to the end: once the handle is published another thread
 * may close it.  Then the mapping is gone, too, and the caller gets an error.  The
 * handle is not ours to delete: its number may be another BO's by then.
 */
int agate_gem_create_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_create_bo *args = data;
	struct agate_bo *bo;

	bo = agate_gem_create(to_agate_device(dev), args->size, args->flags);
	if (IS_ERR(bo))
		return PTR_ERR(bo);

	/*
	 * STEP 2: publish a handle, answer with the BO's address in this file's space,
	 * and drop our own reference when nothing of the BO is needed any more, on
	 * every path.  Another thread may close the handle before you have the address.
	 */
	agate_bo_put(bo);
	return -EOPNOTSUPP;
}

struct agate_bo *agate_gem_lookup(struct drm_file *file, u32 handle)
{
	/* STEP 2: the BO behind a handle of this file, with a reference for the caller. */
	return NULL;
}

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
