// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 02 checks something about BOs that the driver's own debugfs does not show, and does
 * what no client can do.
 *
 * In /sys/kernel/debug, and each about the BOs on the device's list:
 *
 *	agate_masks	a line for each BO, the oldest first: its size, "-" with the bits that are
 *			missing in the gfp mask of its file, and "+" with those that are too many;
 *			no bits in the mask that agate_gem.h demands
 *	agate_vmap	maps the newest BO for the kernel and unmaps it, by its funcs.  The
 *			result of vmap, then the BO's pins after vmap, and after vunmap
 *	agate_hide	takes the newest BO's vm_bos off their list and puts them back, under
 *			mappings_lock; calls agate_mappings_hidden() in between
 *	agate_listed	how many BOs the driver counts, and how many entries the list has; one more
 *			than that number stands for any more.  Entries may lead to freed memory, so
 *			this file trusts none of them: tests ask before debugfs walks the list
 */
#include "gem_watch.h"
#include "watch.h"

#include <linux/debugfs.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/pci.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "agate_device.h"
#include "agate_gem.h"

#define WANTED_MASK	(GFP_HIGHUSER | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

static struct dentry *masks_file, *vmap_file, *hide_file, *listed_file;

/* ---- Fields ------------------------------------------------------------------ */

/* If the BO has no file yet, agate_backing_file() will make one with this mask. */
static gfp_t mask_of(const struct agate_bo *bo)
{
	return bo->base.filp ? mapping_gfp_mask(bo->base.filp->f_mapping) : bo->backing.gfp_mask;
}

/* A mutex in zeroed memory has no list of waiters. */
static bool is_initialised(const struct mutex *lock)
{
	return READ_ONCE(lock->wait_list.next);
}

static const char *wrong_in_base(const struct drm_gem_object *obj, struct agate_device *adev)
{
	const struct drm_gem_object_funcs *funcs = obj->funcs;

	if (!funcs)
		return "base.funcs is NULL";
	if (!funcs->free || !funcs->open || !funcs->close || !funcs->pin || !funcs->unpin ||
	    !funcs->get_sg_table || !funcs->vmap || !funcs->vunmap || !funcs->mmap ||
	    !funcs->vm_ops)
		return "a member of base.funcs is NULL";
	if (obj->dev != &adev->drm)
		return "base.dev is another device";
	if (!obj->size || !PAGE_ALIGNED(obj->size) || obj->size > AGATE_BO_MAX_SIZE)
		return "base.size is no size of a BO";
	if (obj->filp && i_size_read(file_inode(obj->filp)) != obj->size)
		return "the file has another size than base.size";
	if (!obj->resv)
		return "base.resv is NULL";
	return kref_read(&obj->refcount) ? NULL : "base.refcount is 0";
}

/* Kinds that have memory, or somebody else's, before they are listed. */
#define EARLY_KINDS	(AGATE_BO_NO_CLIENTS | AGATE_BO_CONTIGUOUS)

/* What other kinds of backing keep. */
static bool rest_is_zero(const struct agate_bo *bo)
{
	if (bo->flags & AGATE_BO_HEAP)
		return true;
	return !memchr_inv(&bo->heap, 0, sizeof(bo->heap)) &&
	       !memchr_inv(&bo->cma, 0, sizeof(bo->cma)) &&
	       !memchr_inv(&bo->import, 0, sizeof(bo->import)) &&
	       !memchr_inv(&bo->ttm, 0, sizeof(bo->ttm)) &&
	       !memchr_inv(&bo->userptr, 0, sizeof(bo->userptr));
}

static const char *wrong_in_backing(const struct agate_bo *bo)
{
	if (!is_initialised(&bo->backing.lock))
		return "backing.lock is not initialised";
	if (!bo->backing.ops)
		return "backing.ops is NULL";
	if (!(bo->flags & EARLY_KINDS)) {
		if (bo->backing.nr_pages || memchr_inv(&bo->shmem, 0, sizeof(bo->shmem)))
			return "there are pages already";
		if (!rest_is_zero(bo))
			return "fields that nobody sets are not zero: the memory was not zeroed";
	}
	return bo->backing.pins ? "somebody has pinned the BO" : NULL;
}

static const char *wrong_in_bo(const struct agate_bo *bo)
{
	if (!is_initialised(&bo->mappings_lock))
		return "mappings_lock is not initialised";
	if (!is_initialised(&bo->label_lock))
		return "label_lock is not initialised";
	if (!bo->vm_bos.next || bo->vm_bos.next->prev != &bo->vm_bos)
		return "vm_bos is no list";
	if (bo->purge_link.next != &bo->purge_link)
		return "purge_link is not an empty list";
	if (atomic_read(&bo->gpu_users))
		return "gpu_users is not 0";
	if (bo->madv != AGATE_MADV_WILLNEED)
		return "madv is not AGATE_MADV_WILLNEED";
	if (bo->label[0])
		return "there is a label";
	return mask_of(bo) == WANTED_MASK ? NULL : "the gfp mask is another one";
}

/* Names the first field of a BO that has just been listed which is not as it must be, or NULL. */
const char *bos_wrong_field(const struct agate_bo *bo, struct agate_device *adev)
{
	const char *wrong = wrong_in_base(&bo->base, adev);

	if (!wrong)
		wrong = wrong_in_backing(bo);
	return wrong ? wrong : wrong_in_bo(bo);
}

/* ---- Files ------------------------------------------------------------------- */

static int masks_show(struct seq_file *seq, void *unused)
{
	struct agate_device *adev = watch_device();
	gfp_t missing, extra;
	struct agate_bo *bo;

	if (!adev)
		return -ENODEV;
	mutex_lock(&adev->gem.lock);
	list_for_each_entry(bo, &adev->gem.bos, link) {
		missing = WANTED_MASK & ~mask_of(bo);
		extra = mask_of(bo) & ~WANTED_MASK;
		seq_printf(seq, "%zu -%pGg +%pGg\n", agate_bo_size(bo), &missing, &extra);
	}
	mutex_unlock(&adev->gem.lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(masks);

/* The newest BO, with a reference, or NULL. */
struct agate_bo *bos_newest(void)
{
	struct agate_device *adev = watch_device();
	struct agate_bo *bo = NULL;

	if (!adev)
		return NULL;
	mutex_lock(&adev->gem.lock);
	if (!list_empty(&adev->gem.bos))
		bo = list_last_entry(&adev->gem.bos, struct agate_bo, link);
	if (bo && !kref_get_unless_zero(&bo->base.refcount))
		bo = NULL;
	mutex_unlock(&adev->gem.lock);
	return bo;
}

static int vmap_show(struct seq_file *seq, void *unused)
{
	struct agate_bo *bo = bos_newest();
	struct iosys_map map = { 0 };
	unsigned int pins;
	int ret;

	if (!bo)
		return -ENOENT;
	dma_resv_lock(bo->base.resv, NULL);
	ret = bo->base.funcs->vmap(&bo->base, &map);
	pins = bo->backing.pins;
	if (!ret)
		bo->base.funcs->vunmap(&bo->base, &map);
	seq_printf(seq, "%d %u %u\n", ret, pins, bo->backing.pins);
	dma_resv_unlock(bo->base.resv);
	agate_bo_put(bo);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vmap);

static int hide_show(struct seq_file *seq, void *unused)
{
	struct agate_bo *bo = bos_newest();
	LIST_HEAD(away);

	if (!bo)
		return -ENOENT;
	mutex_lock(&bo->mappings_lock);
	list_splice_init(&bo->vm_bos, &away);
	agate_mappings_hidden();
	list_splice(&away, &bo->vm_bos);
	mutex_unlock(&bo->mappings_lock);
	agate_bo_put(bo);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hide);

s64 bos_times_listed(const struct list_head *head, const struct list_head *which, s64 most)
{
	const struct list_head *at = READ_ONCE(head->next);
	s64 n = 0, times = 0;

	while (at && at != head && n < most) {
		times += !which || at == which;
		if (copy_from_kernel_nofault(&at, &at->next, sizeof(at)))
			return most;
		n++;
	}
	return times;
}

static int listed_show(struct seq_file *seq, void *unused)
{
	struct agate_device *adev = watch_device();
	s64 counted, listed;

	if (!adev)
		return -ENODEV;
	mutex_lock(&adev->gem.lock);
	counted = atomic64_read(&adev->stats.v[AGATE_STAT_BOS]);
	listed = bos_times_listed(&adev->gem.bos, NULL, max_t(s64, counted, 0) + 1);
	mutex_unlock(&adev->gem.lock);
	seq_printf(seq, "%lld %lld\n", counted, listed);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(listed);

int bos_init(void)
{
	masks_file = debugfs_create_file("agate_masks", 0400, NULL, NULL, &masks_fops);
	vmap_file = debugfs_create_file("agate_vmap", 0400, NULL, NULL, &vmap_fops);
	hide_file = debugfs_create_file("agate_hide", 0400, NULL, NULL, &hide_fops);
	listed_file = debugfs_create_file("agate_listed", 0400, NULL, NULL, &listed_fops);
	gem_touches_init();
	return gem_watch_init();
}

void bos_exit(void)
{
	gem_watch_exit();
	gem_touches_exit();
	debugfs_remove(listed_file);
	debugfs_remove(hide_file);
	debugfs_remove(vmap_file);
	debugfs_remove(masks_file);
}
