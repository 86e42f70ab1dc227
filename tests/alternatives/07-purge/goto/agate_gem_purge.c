// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 07 in another shape: both locks of a BO together, one question after the other, and the
 * shrinker asks nobody whether the BO is shared but the pins, which a dma-buf counts in, too.
 * DONTNEED checks and changes under one hold of backing.lock, where there is no label.
 */
#include <linux/dma-resv.h>
#include <linux/shrinker.h>
#include <drm/drm_vma_manager.h>

#include "agate_backing.h"
#include "agate_compat.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_purge.h"
#include "agate_vm.h"

/* Pages that were taken; 0 when this BO has to stay. */
static unsigned long purge_one(struct agate_bo *bo)
{
	unsigned long pages = 0;

	if (!mutex_trylock(&bo->backing.lock))
		return 0;
	if (!mutex_trylock(&bo->mappings_lock))
		goto unlock;
	if (bo->madv != AGATE_MADV_DONTNEED || !READ_ONCE(bo->backing.nr_pages) ||
	    bo->backing.pins || atomic_read(&bo->gpu_users) ||
	    !dma_resv_test_signaled(bo->base.resv, DMA_RESV_USAGE_BOOKKEEP) ||
	    !agate_vm_try_teardown_bo(bo)) {
		mutex_unlock(&bo->mappings_lock);
		goto unlock;
	}
	mutex_unlock(&bo->mappings_lock);
	drm_vma_node_unmap(&bo->base.vma_node, bo->base.dev->anon_inode->i_mapping);
	pages = agate_backing_purge_locked(bo);
	list_del_init(&bo->purge_link);
unlock:
	mutex_unlock(&bo->backing.lock);
	return pages;
}

static unsigned long scan_objects(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct agate_purge *purge = agate_shrinker_data(shrinker);
	struct list_head *at, *next;
	unsigned long left = sc->nr_to_scan, pages, freed = 0;

	if (!left || !mutex_trylock(&purge->lock))
		return SHRINK_STOP;
	list_for_each_safe(at, next, &purge->list) {
		pages = purge_one(list_entry(at, struct agate_bo, purge_link));
		freed += pages;
		if (pages >= left)
			break;
		left -= pages;
	}
	mutex_unlock(&purge->lock);
	sc->nr_scanned = freed;
	return freed ? freed : SHRINK_STOP;
}

static unsigned long count_objects(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct agate_purge *purge = agate_shrinker_data(shrinker);
	unsigned long pages = 0;
	struct agate_bo *bo;

	if (mutex_trylock(&purge->lock)) {
		list_for_each_entry(bo, &purge->list, purge_link)
			if (READ_ONCE(bo->madv) == AGATE_MADV_DONTNEED)
				pages += READ_ONCE(bo->backing.nr_pages);
		mutex_unlock(&purge->lock);
	}
	return pages;
}

int agate_purge_topic_init(struct agate_device *adev)
{
	return agate_shrinker_register(&adev->purge.shrinker, &adev->purge, count_objects,
				       scan_objects, "agate");
}

void agate_purge_topic_fini(struct agate_device *adev)
{
	agate_shrinker_unregister(&adev->purge.shrinker);
}

/* backing.lock is held. */
static int check(struct agate_bo *bo, u32 madv)
{
	if (madv == AGATE_MADV_WILLNEED)
		return 0;
	if (!agate_backing_is(bo, AGATE_BACKING_PURGEABLE) || bo->backing.pins)
		return -EINVAL;
	return 0;
}

int agate_purge_madvise_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct agate_purge *purge = &to_agate_device(dev)->purge;
	struct drm_agate_madvise *args = data;
	struct drm_agate_set_label label = {
		.handle = args->handle, .len = args->len, .label = args->label,
	};
	struct agate_bo *bo;
	int ret;

	switch (args->madv) {
	case AGATE_MADV_WILLNEED:
	case AGATE_MADV_DONTNEED:
		break;
	default:
		return -EINVAL;
	}
	if (args->pad || args->pad2)
		return -EINVAL;
	if (args->len && !args->label)
		return -EINVAL;

	bo = agate_gem_lookup(file, args->handle);
	if (!bo)
		return -ENOENT;
	mutex_lock(&bo->backing.lock);
	ret = check(bo, args->madv);
	if (!ret && args->label) {
		mutex_unlock(&bo->backing.lock);
		ret = agate_gem_set_label_ioctl(dev, &label, file);
		mutex_lock(&bo->backing.lock);
	}
	if (ret)
		goto out;
	args->retained = 0;
	if (bo->madv < 0)
		goto out;
	args->retained = 1;
	mutex_lock(&purge->lock);
	bo->madv = args->madv;
	list_del_init(&bo->purge_link);
	if (args->madv == AGATE_MADV_DONTNEED)
		list_add_tail(&bo->purge_link, &purge->list);
	mutex_unlock(&purge->lock);
out:
	mutex_unlock(&bo->backing.lock);
	agate_bo_put(bo);
	return ret;
}

void agate_purge_forget(struct agate_bo *bo)
{
	struct agate_purge *purge = &to_agate_device(bo->base.dev)->purge;

	mutex_lock(&purge->lock);
	if (!list_empty(&bo->purge_link))
		list_del_init(&bo->purge_link);
	mutex_unlock(&purge->lock);
}
