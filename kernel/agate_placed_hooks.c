// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's hooks for memory that moves, and the managers of system memory.
 *
 * A BO that is mapped in a file's own address space may be touched by a job that did not list
 * it.  So before a move every translation of it goes, the CPUs' and the GPU's, when all its
 * jobs have ended; what comes back later finds the new place.
 */
#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <drm/drm_managed.h>
#include <drm/drm_vma_manager.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_limit.h"
#include "agate_lock_order.h"
#include "agate_move.h"
#include "agate_placed.h"
#include "agate_placement.h"
#include "agate_residency.h"
#include "agate_tt.h"
#include "agate_ttm.h"
#include "agate_vm.h"

static struct agate_bo *bo_of(struct agate_ttm_bo *ttm)
{
	return container_of(ttm, struct agate_bo, ttm);
}

static struct agate_device *adev_of(const struct agate_bo *bo)
{
	return to_agate_device(bo->base.dev);
}

/* ---- Hooks ------------------------------------------------------------- */

static struct agate_tt *placed_tt_create(struct agate_ttm_bo *bo)
{
	return agate_tt_create(adev_of(bo_of(bo)), bo->size, bo->caching);
}

static unsigned int placed_evict_flags(struct agate_ttm_bo *bo, struct agate_place *places)
{
	agate_residency_expect(bo, AGATE_CAUSE_EVICT);
	return agate_places(bo, &adev_of(bo_of(bo))->ttm.man[AGATE_MEM_VRAM], AGATE_USE_EVICT,
			    places);
}

static long wait_until_idle(struct agate_bo *bo, struct agate_ttm_ctx *ctx)
{
	long left;

	if (ctx->no_wait)
		return dma_resv_test_signaled(bo->base.resv, DMA_RESV_USAGE_BOOKKEEP) ? 0 : -EBUSY;
	left = dma_resv_wait_timeout(bo->base.resv, DMA_RESV_USAGE_BOOKKEEP, ctx->interruptible,
				     MAX_SCHEDULE_TIMEOUT);
	return min(left, 0L);
}

void agate_placed_io_free(struct agate_ttm_bo *bo)
{
	if (bo->cpu_maps)
		agate_io_free(bo->res);
	bo->cpu_maps = false;
}

static int placed_move_notify(struct agate_ttm_bo *ttm, struct agate_ttm_ctx *ctx)
{
	struct agate_bo *bo = bo_of(ttm);
	long ret = wait_until_idle(bo, ctx);

	if (ret)
		return ret;
	drm_vma_node_unmap(&bo->base.vma_node, bo->base.dev->anon_inode->i_mapping);
	agate_placed_io_free(ttm);
	agate_vm_teardown_bo(bo);
	return 0;
}

/* A task that evicts the BO does not pay for its pages: its owner does. */
int agate_placed_make_present(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx)
{
	struct mem_cgroup *memcg = set_active_memcg(bo_of(bo)->backing.memcg);
	int ret = -ENOMEM;

	if (!bo->tt)
		bo->tt = placed_tt_create(bo);
	if (bo->tt)
		ret = agate_tt_populate(bo->tt, ctx);
	set_active_memcg(memcg);
	return ret;
}

long agate_placed_swap_out(struct agate_ttm_bo *bo)
{
	struct mem_cgroup *memcg = set_active_memcg(bo_of(bo)->backing.memcg);
	long freed = agate_tt_swapout(bo->tt);

	set_active_memcg(memcg);
	if (freed < 0)
		return freed;
	agate_resource_free(bo->res);
	bo->res = NULL;
	agate_residency_gone(bo, AGATE_IN_SWAP, AGATE_CAUSE_SWAP);
	return freed;
}

/* Pages that the GPU and the mover reach, with the contents that the BO has there. */
static int make_bound(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx)
{
	int ret = agate_placed_make_present(bo, ctx);

	return ret ? ret : agate_tt_bind(bo->tt);
}

/* The BO has left a place; what @fence still does there goes on.  Takes over its reference. */
static void leave(struct agate_ttm_bo *bo, struct agate_resource *to, struct dma_fence *fence)
{
	struct agate_resource *from = bo->res;

	bo->res = to;
	agate_residency_moved(bo);
	agate_limit_leave_begin();
	if (from && from->type == AGATE_MEM_VRAM)
		agate_resource_park(from, dma_fence_get(fence));
	else
		agate_resource_free(from);
	if (to->type == AGATE_MEM_VRAM && bo->tt) {
		agate_tt_park(bo->tt, dma_fence_get(fence));
		bo->tt = NULL;
	}
	agate_limit_leave_end();
	/* placed_move_notify() has waited for it. */
	if (bo->moved && dma_fence_get_status(bo->moved) < 0)
		bo->lost = true;
	dma_fence_put(bo->moved);
	bo->moved = fence;
}

/*
 * A move has failed, and the BO stays where it is.  In VRAM it has no use for the pages that it
 * got for the move.  Elsewhere they may have its contents: they stay, in a state in which they
 * can be swapped.
 */
static void stay(struct agate_ttm_bo *bo)
{
	const struct agate_place system = { .type = AGATE_MEM_SYSTEM };

	if (!bo->tt || (bo->res && bo->res->type == AGATE_MEM_TT))
		return;
	if (bo->res && bo->res->type == AGATE_MEM_VRAM) {
		agate_tt_park(bo->tt, NULL);
		bo->tt = NULL;
		return;
	}
	agate_tt_unbind(bo->tt);
	/* Without a resource it is on no list.  No memory for one: then until its next use. */
	if (!bo->res && agate_tt_has_pages(bo->tt))
		agate_resource_try(&adev_of(bo_of(bo))->ttm, bo, bo->size, &system, 1, &bo->res);
}

static int move_to_vram(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx,
			struct agate_resource *to)
{
	const struct agate_side dst = { .res = to };
	struct agate_side src = {};
	struct dma_fence *fence;
	bool empty = !bo->res && !bo->tt;
	int ret = 0;

	if (bo->res && bo->res->type == AGATE_MEM_VRAM)
		src.res = bo->res;
	else if (!empty)
		ret = make_bound(bo, ctx);
	if (ret)
		return ret;
	src.tt = bo->tt;
	fence = agate_move(bo, empty ? NULL : &src, &dst);
	if (IS_ERR(fence))
		return PTR_ERR(fence);
	leave(bo, to, fence);
	return 0;
}

static int move_to_tt(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx,
		      struct agate_resource *to)
{
	struct agate_side src, dst;
	struct dma_fence *fence = NULL;
	int ret = make_bound(bo, ctx);

	if (ret)
		return ret;
	if (bo->res && bo->res->type == AGATE_MEM_VRAM) {
		src = (struct agate_side){ .res = bo->res };
		dst = (struct agate_side){ .tt = bo->tt };
		fence = agate_move(bo, &src, &dst);
	}
	if (IS_ERR(fence))
		return PTR_ERR(fence);
	leave(bo, to, fence);
	return 0;
}

/* Pages without a mapping: no copy.  Nothing uses them, because of placed_move_notify(). */
static int move_to_system(struct agate_ttm_bo *bo, struct agate_resource *to)
{
	if (bo->res && bo->res->type == AGATE_MEM_VRAM)
		return -EINVAL;
	if (bo->tt)
		agate_tt_unbind(bo->tt);
	agate_residency_expect(bo, AGATE_CAUSE_SWAP);
	leave(bo, to, NULL);
	return 0;
}

static int placed_move(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx,
		       struct agate_resource *to)
{
	int ret;

	switch (to->type) {
	case AGATE_MEM_VRAM:
		ret = move_to_vram(bo, ctx, to);
		break;
	case AGATE_MEM_TT:
		ret = move_to_tt(bo, ctx, to);
		break;
	default:
		ret = move_to_system(bo, to);
	}
	if (ret)
		stay(bo);
	return ret;
}

static int placed_io_reserve(struct agate_resource *res)
{
	struct agate_device *adev = res->man->adev;
	const struct agate_card *card = &adev->card;

	res->io.iomem = res->type == AGATE_MEM_VRAM;
	if (!res->io.iomem)
		return 0;
	if (res->start + res->size > card->visible)
		return -EINVAL;
	res->io.base = adev->bus.vram.start + res->start;
	res->io.caching = card->caching;
	if (res->start + res->size <= card->mapped)
		res->io.vaddr = card->vram + res->start;
	return 0;
}

static void placed_io_free(struct agate_resource *res)
{
	res->io.base = 0;
	res->io.vaddr = NULL;
}

static const struct agate_ttm_ops placed_ttm_ops = {
	.tt_create = placed_tt_create,
	.evict_flags = placed_evict_flags,
	.move = placed_move,
	.move_notify = placed_move_notify,
	.io_reserve = placed_io_reserve,
	.io_free = placed_io_free,
};

/* ---- Managers of system memory: they only count ------------------------ */

static int system_alloc(struct agate_man *man, u64 size, const struct agate_place *place,
			struct agate_resource *res)
{
	return 0;
}

static void system_free(struct agate_man *man, struct agate_resource *res)
{
}

static bool system_intersects(struct agate_man *man, const struct agate_resource *res,
			      const struct agate_place *place, u64 size)
{
	return true;
}

static bool system_compatible(struct agate_man *man, const struct agate_resource *res,
			      const struct agate_place *place)
{
	return true;
}

static void system_debug(struct agate_man *man, struct drm_printer *p)
{
}

static const struct agate_man_ops system_man_ops = {
	.alloc = system_alloc,
	.free = system_free,
	.intersects = system_intersects,
	.compatible = system_compatible,
	.debug = system_debug,
};

/* ---- Life -------------------------------------------------------------- */

static struct lock_class_key park_key;

/* No engine works any more, and no importer has an attachment: no fence has to be waited for. */
static void release_parked(struct agate_device *adev)
{
	struct agate_ttm *ttm = &adev->ttm;
	struct agate_resource *res;
	struct agate_tt *tt;
	unsigned int i;

	spin_lock(&ttm->lru_lock);
	for (i = 0; i < AGATE_MEM_TYPES; i++) {
		if (ttm->man[i].used)
			list_for_each_entry(res, &ttm->man[i].parked, lru)
				agate_park_now(&res->parked);
	}
	list_for_each_entry(tt, &adev->pages.parked, link)
		agate_park_now(&tt->parked);
	spin_unlock(&ttm->lru_lock);
	agate_park_drain(&ttm->park);
}

/* The last file is closed: nobody has a BO any more. */
static void placed_end(struct drm_device *drm, void *unused)
{
	struct agate_ttm *ttm = &to_agate_device(drm)->ttm;
	unsigned int i;

	/* Address spaces, whose tables are in VRAM. */
	agate_park_drain(&to_agate_device(drm)->park);
	release_parked(to_agate_device(drm));
	for (i = 0; i < AGATE_MEM_TYPES; i++)
		agate_man_fini(&ttm->man[i]);
}

void agate_placed_fini(struct agate_device *adev)
{
	agate_limit_remove(adev);
	agate_park_flush(&adev->ttm.park);
	agate_tt_unbind_all(adev);
}

int agate_placed_init(struct agate_device *adev)
{
	struct agate_ttm *ttm = &adev->ttm;
	unsigned int i;
	int ret;

	ret = agate_park_init(adev, &ttm->park, &park_key);
	if (ret)
		return ret;
	ret = agate_residency_init(adev);
	if (!ret)
		ret = agate_pages_init(adev);
	if (!ret)
		ret = drmm_mutex_init(&adev->drm, &ttm->bound_lock);
	if (ret)
		return ret;
	INIT_LIST_HEAD(&ttm->bound);
	agate_lock_class(&ttm->bound_lock, AGATE_LOCK_BOUND);
	spin_lock_init(&ttm->lru_lock);
	agate_lock_class(&ttm->lru_lock, AGATE_LOCK_LRU);
	ttm->ops = &placed_ttm_ops;
	for (i = 0; i < AGATE_MEM_TYPES; i++)
		ttm->man[i].adev = adev;
	agate_man_init(&ttm->man[AGATE_MEM_SYSTEM], AGATE_MEM_SYSTEM, U64_MAX, &system_man_ops);
	agate_man_init(&ttm->man[AGATE_MEM_TT], AGATE_MEM_TT, U64_MAX, &system_man_ops);
	ttm->man[AGATE_MEM_VRAM].visible = adev->card.visible;
	ttm->man[AGATE_MEM_VRAM].min_align = adev->card.min_align;
	agate_man_init(&ttm->man[AGATE_MEM_VRAM], AGATE_MEM_VRAM, adev->card.vram_size,
		       &agate_vram_man_ops);
	for (i = 0; i < AGATE_MEM_TYPES; i++)
		agate_lock_class(&ttm->man[i].lock, AGATE_LOCK_MAN);
	ret = drmm_add_action_or_reset(&adev->drm, placed_end, NULL);
	if (!ret)
		agate_limit_add(adev);
	return ret;
}
