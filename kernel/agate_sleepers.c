// SPDX-License-Identifier: GPL-2.0-only
/*
 * The BOs that are in VRAM when the system goes to sleep: see agate_sleepers.h.
 */
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_move.h"
#include "agate_mover.h"
#include "agate_placed.h"
#include "agate_sleepers.h"
#include "agate_tt.h"

static struct drm_gem_object *gem_of(struct agate_ttm_bo *bo)
{
	return &container_of(bo, struct agate_bo, ttm)->base;
}

static bool is_in_vram(const struct agate_ttm_bo *bo)
{
	return bo->res && bo->res->type == AGATE_MEM_VRAM;
}

/* A BO on the list of resources lives, but its last reference may be gone. */
static void collect(struct agate_device *adev)
{
	struct agate_man *man = &adev->ttm.man[AGATE_MEM_VRAM];
	struct agate_resource *res;

	lockdep_assert_held(&adev->unplug_lock);
	WARN_ON(!list_empty(&adev->card.sleepers));

	spin_lock(&adev->ttm.lru_lock);
	list_for_each_entry(res, &man->lru, lru) {
		if (kref_get_unless_zero(&gem_of(res->bo)->refcount))
			list_add_tail(&res->bo->asleep, &adev->card.sleepers);
	}
	spin_unlock(&adev->ttm.lru_lock);
}

/* Pages to which the mover can copy it. */
static int make_ready(struct agate_ttm_bo *bo)
{
	struct agate_ttm_ctx ctx = { .no_wait = true };
	int ret = agate_placed_make_present(bo, &ctx);

	return ret ? ret : agate_tt_bind(bo->tt);
}

int agate_sleepers_prepare(struct agate_device *adev)
{
	struct agate_ttm_bo *bo;
	int ret = 0;

	collect(adev);
	list_for_each_entry(bo, &adev->card.sleepers, asleep) {
		dma_resv_lock(gem_of(bo)->resv, NULL);
		if (is_in_vram(bo) && !agate_placed_contents(bo))
			ret = make_ready(bo);
		dma_resv_unlock(gem_of(bo)->resv);
		if (ret)
			break;
	}
	return ret;
}

void agate_sleepers_release(struct agate_device *adev)
{
	struct agate_ttm_bo *bo, *next;

	lockdep_assert_held(&adev->unplug_lock);

	list_for_each_entry_safe(bo, next, &adev->card.sleepers, asleep) {
		list_del(&bo->asleep);
		dma_resv_lock(gem_of(bo)->resv, NULL);
		/* A copy for which nobody waited any more may still use the pages. */
		if (agate_sleepers_saved(bo)) {
			agate_tt_park(bo->tt, dma_fence_get(bo->copy));
			bo->tt = NULL;
		}
		dma_fence_put(bo->copy);
		bo->copy = NULL;
		dma_resv_unlock(gem_of(bo)->resv);
		drm_gem_object_put(gem_of(bo));
	}
}

bool agate_sleepers_saved(const struct agate_ttm_bo *bo)
{
	return is_in_vram(bo) && bo->tt;
}

/* ---- Waits -------------------------------------------------------------- */

int agate_sleepers_wait(struct agate_ttm_bo *bo)
{
	struct drm_gem_object *obj = gem_of(bo);
	unsigned int look = 0;
	int ret = 0;

	while (!ret && dma_resv_wait_timeout(obj->resv, DMA_RESV_USAGE_KERNEL, false,
					     AGATE_MOVER_LOOK) <= 0)
		ret = agate_mover_look_again(to_agate_device(obj->dev), ++look);
	return ret;
}

static int wait_for_copy(struct agate_device *adev, struct dma_fence *fence)
{
	unsigned int look = 0;
	int ret = 0;

	while (!ret && dma_fence_wait_timeout(fence, false, AGATE_MOVER_LOOK) <= 0)
		ret = agate_mover_look_again(adev, ++look);
	return ret ? ret : min(dma_fence_get_status(fence), 0);
}

/* ---- Copies ------------------------------------------------------------- */

/*
 * The wait for it has a limit, and the mover goes on: so its fence keeps the VRAM, in the
 * reservation, and the pages, see agate_sleepers_release().
 */
static int copy_and_wait(struct agate_ttm_bo *bo, const struct agate_side *from,
			 const struct agate_side *to)
{
	struct dma_resv *resv = gem_of(bo)->resv;
	struct dma_fence *fence;
	int ret = dma_resv_reserve_fences(resv, 1);

	if (ret)
		return ret;
	fence = agate_copy(bo, from, to);
	if (IS_ERR(fence))
		return PTR_ERR(fence);
	dma_resv_add_fence(resv, fence, DMA_RESV_USAGE_KERNEL);
	dma_fence_put(bo->copy);
	bo->copy = fence;
	return wait_for_copy(to_agate_device(gem_of(bo)->dev), fence);
}

int agate_sleepers_save(struct agate_ttm_bo *bo)
{
	int ret = make_ready(bo);

	if (ret)
		return ret;
	return copy_and_wait(bo, &(struct agate_side){ .res = bo->res },
			     &(struct agate_side){ .tt = bo->tt });
}

int agate_sleepers_restore(struct agate_ttm_bo *bo)
{
	return copy_and_wait(bo, &(struct agate_side){ .tt = bo->tt },
			     &(struct agate_side){ .res = bo->res });
}
