// SPDX-License-Identifier: GPL-2.0-only
/*
 * Purging memory that its owner does not need at the moment.
 *
 * The kernel calls the shrinker when memory runs short, perhaps in a thread that is
 * itself inside this driver.  So the shrinker only tries locks, and skips a BO when
 * a lock is taken.  It purges only BOs that no job, no other file or driver, and no
 * kernel mapping uses; processes that have mapped such a BO get SIGBUS.  The
 * contract is agate_purge.h.
 */
#include <linux/dma-resv.h>
#include <linux/shrinker.h>
#include <drm/drm_vma_manager.h>

#include "agate_backing.h"
#include "agate_compat.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_purge.h"

#if LAB07 >= 3
/*
 * Does more than one file, another driver or the kernel use the BO?  base.dma_buf tells
 * that it was exported, but the core forgets that with the last handle, and the dma-buf
 * lives on: every driver that has imported it, and relies on the pages, has pinned the BO.
 */
static bool bo_is_shared(struct agate_bo *bo)
{
	struct agate_vm_bo *vm_bo;
	unsigned int files = 0;

	lockdep_assert_held(&bo->backing.lock);
	lockdep_assert_held(&bo->mappings_lock);
	list_for_each_entry(vm_bo, &bo->vm_bos, link)
		files += vm_bo->handles > 0;
	return files > 1 || bo->backing.pins || bo->base.dma_buf || bo->base.import_attach;
}
#else
/*
 * STEP 3: write two helpers.  One answers whether anybody else than one file uses the BO; the
 * other, whether a job, or anybody who has left a fence, may still be using it.
 */
#endif

#if LAB07 >= 2
static bool bo_is_unwanted(const struct agate_bo *bo)
{
	lockdep_assert_held(&bo->backing.lock);

	return bo->madv == AGATE_MADV_DONTNEED && bo->backing.nr_pages;
}
#else
/* STEP 2: write a helper: does a BO have pages that its owner does not need? */
#endif

#if LAB07 >= 3
/* A job raises gpu_users before it asks for pages. */
static bool bo_is_idle(struct agate_bo *bo)
{
	return !atomic_read(&bo->gpu_users) &&
	       dma_resv_test_signaled(bo->base.resv, DMA_RESV_USAGE_BOOKKEEP);
}

/*
 * Remove the GPU's page-table entries, if nobody needs them.  They stay away as long as
 * backing.lock is held: a job asks for the pages first.
 */
static bool gpu_try_forget(struct agate_bo *bo)
{
	bool gone;

	lockdep_assert_held(&bo->backing.lock);

	if (!mutex_trylock(&bo->mappings_lock))
		return false;
	gone = bo_is_idle(bo) && !bo_is_shared(bo) && agate_vm_try_teardown_bo(bo);
	mutex_unlock(&bo->mappings_lock);
	return gone;
}
#else
#if LAB07 >= 2
/*
 * STEP 3: false while anybody may be using the BO.  Otherwise the GPU loses its page-table
 * entries.  Until then only a BO that no GPU and no driver had is purged.
 */
static bool gpu_try_forget(struct agate_bo *bo)
{
	return !bo->backing.sgt && !bo->backing.pins;
}
#endif
#endif

#if LAB07 >= 2
/*
 * Without mappings_lock: to unmap the BO for the CPUs calls MMU notifiers, which may wait for a
 * job, and the GPU's fault thread wants that lock for a job.
 */
static unsigned long try_purge(struct agate_bo *bo)
{
	unsigned long freed = 0;

	if (!mutex_trylock(&bo->backing.lock))
		return 0;
	if (bo_is_unwanted(bo) && gpu_try_forget(bo)) {
		drm_vma_node_unmap(&bo->base.vma_node, bo->base.dev->anon_inode->i_mapping);
		freed = agate_backing_purge_locked(bo);
	}
	mutex_unlock(&bo->backing.lock);
	return freed;
}
#else
/*
 * STEP 2: write a helper that purges one BO, if nobody needs it and no lock is taken, and tells
 * how many pages that gave.  Step 3 asks who needs it.
 */
#endif

#if LAB07 >= 2
static unsigned long purge_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct agate_purge *purge = agate_shrinker_data(shrinker);
	unsigned long pages = 0;
	struct agate_bo *bo;

	if (!mutex_trylock(&purge->lock))
		return 0;
	list_for_each_entry(bo, &purge->list, purge_link)
		pages += agate_backing_resident(bo) >> PAGE_SHIFT;
	mutex_unlock(&purge->lock);
	return pages;
}

static unsigned long purge_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct agate_purge *purge = agate_shrinker_data(shrinker);
	struct agate_bo *bo, *next;
	unsigned long freed = 0;

	if (!mutex_trylock(&purge->lock))
		return SHRINK_STOP;
	list_for_each_entry_safe(bo, next, &purge->list, purge_link) {
		unsigned long pages;

		if (freed >= sc->nr_to_scan)
			break;
		pages = try_purge(bo);
		if (pages)
			list_del_init(&bo->purge_link);
		freed += pages;
	}
	mutex_unlock(&purge->lock);
	return freed ? freed : SHRINK_STOP;
}
#else
/*
 * STEP 2: write the two functions of a shrinker: one tells how many pages there may be to take,
 * and one takes some.
 */
#endif

int agate_purge_topic_init(struct agate_device *adev)
{
#if LAB07 >= 1
#if LAB07 >= 2
	return agate_shrinker_register(&adev->purge.shrinker, &adev->purge, purge_count,
				       purge_scan, "drm-agate");
#else
	/* STEP 2: register the shrinker. */
	return 0;
#endif
#else
	/* STEP 1: with 0 here the topic is there. */
	return -EOPNOTSUPP;
#endif
}

void agate_purge_topic_fini(struct agate_device *adev)
{
#if LAB07 >= 2
	agate_shrinker_unregister(&adev->purge.shrinker);
#else
	/* STEP 2: no call of the shrinker comes after this one. */
#endif
}

#if LAB07 >= 1
static bool args_valid(const struct drm_agate_madvise *args)
{
	return !args->pad && !args->pad2 && (args->label || !args->len) &&
	       (args->madv == AGATE_MADV_WILLNEED || args->madv == AGATE_MADV_DONTNEED);
}

/* May this advice be given for the BO? */
static int advice_check(struct agate_bo *bo, u32 madv)
{
#if LAB07 >= 3
	bool shared;

	if (madv == AGATE_MADV_WILLNEED)
		return 0;
	if (!agate_backing_is(bo, AGATE_BACKING_PURGEABLE))
		return -EINVAL;
	mutex_lock(&bo->backing.lock);
	mutex_lock(&bo->mappings_lock);
	shared = bo_is_shared(bo);
	mutex_unlock(&bo->mappings_lock);
	mutex_unlock(&bo->backing.lock);
	return shared ? -EINVAL : 0;
#else
	/* STEP 3: refuse DONTNEED for what is shared, or cannot be purged. */
	return 0;
#endif
}

/* A purged BO stays purged, whatever userspace advises. */
static bool advise(struct agate_device *adev, struct agate_bo *bo, u32 madv)
{
	bool retained;

	mutex_lock(&bo->backing.lock);
	retained = bo->madv >= 0;
	if (retained) {
		bo->madv = madv;
		mutex_lock(&adev->purge.lock);
		if (madv == AGATE_MADV_DONTNEED)
			list_move_tail(&bo->purge_link, &adev->purge.list);
		else
			list_del_init(&bo->purge_link);
		mutex_unlock(&adev->purge.lock);
	}
	mutex_unlock(&bo->backing.lock);
	return retained;
}

/*
 * Without backing.lock: fetching the text may fault, and the fault may need pages of this BO.
 * If another thread closes the handle meanwhile, and its number becomes the name of another
 * BO, that one gets the label, as if the client had called SET_LABEL after MADVISE.
 */
static int set_label(struct drm_device *dev, struct drm_file *file,
		     const struct drm_agate_madvise *args)
{
	struct drm_agate_set_label label = {
		.handle = args->handle,
		.len = args->len,
		.label = args->label,
	};

	return args->label ? agate_gem_set_label_ioctl(dev, &label, file) : 0;
}
#else
/*
 * STEP 1: write what checks the arguments, what gives the BO its new advice, and what gives it a
 * label.
 */
#endif

#if LAB07 >= 1
/*
 * Whatever can fail comes before the advice.  If somebody begins to share the BO after the
 * check, it is as if the advice had come first: the shrinker looks once more.
 */
int agate_purge_madvise_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_madvise *args = data;
	struct agate_bo *bo;
	int ret;

	if (!args_valid(args))
		return -EINVAL;
	bo = agate_gem_lookup(file, args->handle);
	if (!bo)
		return -ENOENT;

	ret = advice_check(bo, args->madv);
	if (!ret)
		ret = set_label(dev, file, args);
	if (!ret)
		args->retained = advise(to_agate_device(dev), bo, args->madv);
	agate_bo_put(bo);
	return ret;
}
#else
/* STEP 1: the advice, and the label.  A call that fails changes neither of them. */
int agate_purge_madvise_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	return -EOPNOTSUPP;
}
#endif

void agate_purge_forget(struct agate_bo *bo)
{
#if LAB07 >= 1
	struct agate_device *adev = to_agate_device(bo->base.dev);

	/* Always take the lock: the shrinker may be looking at this BO just now. */
	mutex_lock(&adev->purge.lock);
	list_del(&bo->purge_link);
	mutex_unlock(&adev->purge.lock);
#else
	/* STEP 1: the BO dies: no list leads to it afterwards. */
#endif
}
