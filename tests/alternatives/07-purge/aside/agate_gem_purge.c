// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 07 in another shape, written from the handout: the shrinker takes BOs off the list, puts
 * those that it passes over aside, and brings them back when it ends.  It looks at each fence by
 * itself, and empties page tables by range.
 */
#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/shrinker.h>
#include <drm/drm_vma_manager.h>

#include "agate_backing.h"
#include "agate_compat.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_purge.h"
#include "agate_vm.h"

/* backing.lock and mappings_lock are held. */
static unsigned int other_users(const struct agate_bo *bo)
{
	const struct drm_gem_object *obj = &bo->base;
	struct agate_vm_bo *vm_bo;
	unsigned int users = bo->backing.pins;
	bool owner = false;

	list_for_each_entry(vm_bo, &bo->vm_bos, link) {
		if (!vm_bo->handles)
			continue;
		users += owner;
		owner = true;
	}
	return users + !!obj->dma_buf + !!obj->import_attach;
}

static bool has_fence(struct agate_bo *bo)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	bool found = false;

	dma_resv_iter_begin(&cursor, bo->base.resv, DMA_RESV_USAGE_BOOKKEEP);
	dma_resv_for_each_fence_unlocked(&cursor, fence) {
		found = !dma_fence_is_signaled(fence);
		if (found)
			break;
	}
	dma_resv_iter_end(&cursor);
	return found;
}

/* The GPU gives the BO back; backing.lock is held. */
static bool take_from_gpu(struct agate_bo *bo)
{
	bool taken = false;

	if (atomic_read(&bo->gpu_users) || has_fence(bo))
		return false;
	if (mutex_trylock(&bo->mappings_lock)) {
		if (!other_users(bo))
			taken = agate_vm_try_teardown_bo(bo);
		mutex_unlock(&bo->mappings_lock);
	}
	return taken;
}

static void take_from_processes(struct agate_bo *bo)
{
	struct drm_vma_offset_node *node = &bo->base.vma_node;

	if (drm_mm_node_allocated(&node->vm_node))
		unmap_mapping_range(bo->base.dev->anon_inode->i_mapping,
				    drm_vma_node_offset_addr(node), agate_bo_size(bo), 1);
}

static unsigned long take(struct agate_bo *bo)
{
	unsigned long pages = 0;

	if (!mutex_trylock(&bo->backing.lock))
		return 0;
	if (bo->madv == AGATE_MADV_DONTNEED && agate_backing_resident(bo) && take_from_gpu(bo)) {
		take_from_processes(bo);
		pages = agate_backing_purge_locked(bo);
	}
	mutex_unlock(&bo->backing.lock);
	return pages;
}

static unsigned long scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct agate_purge *purge = agate_shrinker_data(shrinker);
	unsigned long pages, all = 0;
	LIST_HEAD(passed_over);
	struct agate_bo *bo;

	if (!mutex_trylock(&purge->lock))
		return SHRINK_STOP;
	while (all < sc->nr_to_scan && !list_empty(&purge->list)) {
		bo = list_first_entry(&purge->list, struct agate_bo, purge_link);
		pages = take(bo);
		if (pages)
			list_del_init(&bo->purge_link);
		else
			list_move_tail(&bo->purge_link, &passed_over);
		all += pages;
	}
	list_splice(&passed_over, &purge->list);
	mutex_unlock(&purge->lock);
	return all ?: SHRINK_STOP;
}

static unsigned long count(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct agate_purge *purge = agate_shrinker_data(shrinker);
	size_t bytes = 0;
	struct agate_bo *bo;

	if (!mutex_trylock(&purge->lock))
		return 0;
	list_for_each_entry(bo, &purge->list, purge_link)
		bytes += agate_backing_resident(bo);
	mutex_unlock(&purge->lock);
	return bytes ? bytes / PAGE_SIZE : SHRINK_EMPTY;
}

int agate_purge_topic_init(struct agate_device *adev)
{
	int ret = agate_shrinker_register(&adev->purge.shrinker, &adev->purge, count, scan,
					  "agate-purge");

	if (ret)
		drm_err(&adev->drm, "no shrinker: %d\n", ret);
	return ret;
}

void agate_purge_topic_fini(struct agate_device *adev)
{
	agate_shrinker_unregister(&adev->purge.shrinker);
}

static bool may_go(struct agate_bo *bo)
{
	bool may;

	if (!agate_backing_is(bo, AGATE_BACKING_PURGEABLE))
		return false;
	mutex_lock(&bo->backing.lock);
	mutex_lock(&bo->mappings_lock);
	may = !other_users(bo);
	mutex_unlock(&bo->mappings_lock);
	mutex_unlock(&bo->backing.lock);
	return may;
}

static void relist(struct agate_purge *purge, struct agate_bo *bo, bool wanted)
{
	mutex_lock(&purge->lock);
	list_del_init(&bo->purge_link);
	if (!wanted)
		list_add_tail(&bo->purge_link, &purge->list);
	mutex_unlock(&purge->lock);
}

static int change(struct drm_device *dev, struct agate_bo *bo, struct drm_agate_madvise *args,
		  struct drm_file *file)
{
	struct drm_agate_set_label label = { args->handle, args->len, args->label };
	bool wanted = args->madv == AGATE_MADV_WILLNEED;
	int ret = 0;

	if (!wanted && !may_go(bo))
		return -EINVAL;
	if (args->label)
		ret = agate_gem_set_label_ioctl(dev, &label, file);
	if (ret)
		return ret;
	mutex_lock(&bo->backing.lock);
	args->retained = bo->madv != -1;
	if (args->retained) {
		bo->madv = args->madv;
		relist(&to_agate_device(dev)->purge, bo, wanted);
	}
	mutex_unlock(&bo->backing.lock);
	return 0;
}

int agate_purge_madvise_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_madvise *args = data;
	struct agate_bo *bo = agate_gem_lookup(file, args->handle);
	int ret = -EINVAL;

	if (!bo)
		return -ENOENT;
	if (args->madv <= AGATE_MADV_DONTNEED && !args->pad && !args->pad2 &&
	    (!args->len || args->label))
		ret = change(dev, bo, args, file);
	agate_bo_put(bo);
	return ret;
}

void agate_purge_forget(struct agate_bo *bo)
{
	relist(&to_agate_device(bo->base.dev)->purge, bo, true);
}
