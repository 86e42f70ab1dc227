// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placed BOs that stay where they are: other drivers have imported them, or the display shows
 * them.  See agate_placed.h.
 */
#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <drm/drm_drv.h>

#include "agate_compat.h"
#include "agate_device.h"
#include "agate_evict.h"
#include "agate_exec.h"
#include "agate_gem.h"
#include "agate_placed.h"
#include "agate_residency.h"
#include "agate_tt.h"
#include "agate_ttm.h"

/* Nothing happens if it is there already. */
static int bring_to_vram(struct agate_ttm_bo *bo, const struct agate_man *vram,
			 struct agate_ttm_ctx *ctx)
{
	const struct agate_place place = {
		.type = AGATE_MEM_VRAM, .flags = AGATE_PLACE_FORCE,
		.last = bo->visible ? vram->visible : 0,
	};

	if (!(bo->placement & BIT(DRM_AGATE_REGION_VRAM)))
		return -EINVAL;
	return agate_ttm_validate(bo, &place, 1, ctx);
}

int agate_placed_pin_locked(struct agate_bo *bo, enum agate_use use, bool vram,
			    struct agate_ttm_ctx *ctx)
{
	struct agate_ttm *ttm = &to_agate_device(bo->base.dev)->ttm;
	int ret = agate_placed_contents(&bo->ttm);

	agate_residency_expect(&bo->ttm, use == AGATE_USE_PIN_TT ? AGATE_CAUSE_SHARE :
								  AGATE_CAUSE_FLIP);
	if (!ret && vram)
		ret = bring_to_vram(&bo->ttm, &ttm->man[AGATE_MEM_VRAM], ctx);
	if (!ret)
		ret = agate_ttm_pin(&bo->ttm, use, ctx);
	return ret;
}

int agate_placed_pin(struct agate_bo *bo, enum agate_use use, bool vram)
{
	struct agate_exec exec;
	struct agate_ttm_ctx ctx = { .exec = &exec, .interruptible = true };
	int idx, ret;

	/* Removal waits for this, and stops the mover then. */
	if (!drm_dev_enter(bo->base.dev, &idx))
		return -ENODEV;
	agate_exec_init(&exec, AGATE_EXEC_INTERRUPTIBLE);
	do {
		ret = agate_exec_lock(&exec, &bo->base);
		if (!ret)
			ret = agate_placed_pin_locked(bo, use, vram, &ctx);
	} while (agate_exec_retry(&exec, &ret));
	agate_exec_fini(&exec);
	drm_dev_exit(idx);
	return ret;
}

void agate_placed_unpin(struct agate_bo *bo)
{
	dma_resv_lock(bo->base.resv, NULL);
	agate_ttm_unpin(&bo->ttm);
	dma_resv_unlock(bo->base.resv);
}

/* ---- Other drivers ----------------------------------------------------- */

#ifdef HAVE_GEM_PIN_LOCKED

/*
 * The core holds the reservation without a ticket, so nobody could be made to leave.  Nobody has
 * to: system memory is only counted.
 */
static int pin_to_system(struct agate_bo *bo)
{
	struct agate_ttm_ctx ctx = { .interruptible = true };
	int idx, ret;

	if (!drm_dev_enter(bo->base.dev, &idx))
		return -ENODEV;
	ret = agate_placed_pin_locked(bo, AGATE_USE_PIN_TT, false, &ctx);
	drm_dev_exit(idx);
	return ret;
}

void agate_placed_unpin_shared(struct agate_bo *bo)
{
	agate_ttm_unpin(&bo->ttm);
}

#else

static int pin_to_system(struct agate_bo *bo)
{
	return agate_placed_pin(bo, AGATE_USE_PIN_TT, false);
}

void agate_placed_unpin_shared(struct agate_bo *bo)
{
	agate_placed_unpin(bo);
}

#endif

/* The importer waits for the move: its fence is in the reservation that both share. */
int agate_placed_pin_shared(struct agate_bo *bo)
{
	return pin_to_system(bo);
}

struct sg_table *agate_placed_get_sg_table(struct agate_bo *bo, unsigned int max_segment)
{
	const struct agate_tt *tt = bo->ttm.tt;
	struct sg_table *sgt;
	int ret;

	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL_ACCOUNT);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table_from_pages_segment(sgt, tt->pages, tt->count, 0, agate_bo_size(bo),
						max_segment, GFP_KERNEL_ACCOUNT);
	if (ret) {
		kfree(sgt);
		return ERR_PTR(ret);
	}
	return sgt;
}
