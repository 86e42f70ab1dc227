// SPDX-License-Identifier: GPL-2.0-only
/*
 * A BO gets the place that it needs, and others leave for it.
 *
 * The contract is agate_evict.h.
 */
#include <linux/dma-resv.h>
#include <linux/wait_bit.h>
#include <linux/ww_mutex.h>

#include "agate_device.h"
#include "agate_evict.h"
#include "agate_exec.h"
#include "agate_gem.h"
#include "agate_limit.h"
#include "agate_placed.h"
#include "agate_placement.h"
#include "agate_tt.h"
#include "agate_ttm.h"

static struct drm_gem_object *gem_of(struct agate_ttm_bo *bo)
{
	return &container_of(bo, struct agate_bo, ttm)->base;
}

static struct dma_resv *resv_of(struct agate_ttm_bo *bo)
{
	return gem_of(bo)->resv;
}

static struct agate_ttm *ttm_of(struct agate_ttm_bo *bo)
{
	return &to_agate_device(gem_of(bo)->dev)->ttm;
}

/* ---- Moves ------------------------------------------------------------- */

/* Takes over @to. */
static int move_to(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx, struct agate_resource *to)
{
	const struct agate_ttm_ops *ops = ttm_of(bo)->ops;
	int ret = bo->res ? ops->move_notify(bo, ctx) : 0;

	if (!ret)
		ret = ops->move(bo, ctx, to);
	if (ret)
		agate_resource_free(to);
	return ret;
}

/* Nobody needs the contents any more; what uses the memory still does. */
static int gut(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx)
{
	int ret = bo->res ? ttm_of(bo)->ops->move_notify(bo, ctx) : 0;

	if (!ret)
		agate_ttm_release(bo);
	return ret;
}

static long wait_for(struct dma_fence *fence, struct agate_ttm_ctx *ctx)
{
	long left;

	if (ctx->no_wait && !dma_fence_is_signaled(fence))
		return -EBUSY;
	left = dma_fence_wait(fence, ctx->interruptible);
	return min(left, 0L);
}

/* What the oldest parked resource waits for: a fence, or the worker alone; false: there is none. */
static bool first_parked(struct agate_man *man, struct dma_fence **fence)
{
	struct agate_ttm *ttm = &man->adev->ttm;
	struct agate_resource *res;

	spin_lock(&ttm->lru_lock);
	res = list_first_entry_or_null(&man->parked, struct agate_resource, lru);
	if (res)
		*fence = dma_fence_get(res->parked.fence);
	spin_unlock(&ttm->lru_lock);
	return res;
}

/* Memory that is about to become free costs nobody his place. */
static int wait_for_parked(struct agate_man *man, struct agate_ttm_ctx *ctx)
{
	struct dma_fence *fence = NULL;
	long ret = 0;

	if (!first_parked(man, &fence))
		return -ENOSPC;
	if (fence)
		ret = wait_for(fence, ctx);
	dma_fence_put(fence);
	if (ret)
		return ret;
	/* Its callback may have yet to come: then the caller comes again. */
	agate_park_flush(&man->adev->ttm.park);
	cond_resched();
	return 0;
}

/* The lock orders this and the look whether somebody waits: see wait_for_dying(). */
static u64 given_back(struct agate_man *man)
{
	struct agate_ttm *ttm = &man->adev->ttm;
	u64 times;

	spin_lock(&ttm->lru_lock);
	times = man->given_back;
	spin_unlock(&ttm->lru_lock);
	return times;
}

/* A BO that dies gives its memory back soon: it waits for nothing that anybody holds here. */
static int wait_for_dying(struct agate_man *man, u64 before, struct agate_ttm_ctx *ctx)
{
	if (ctx->no_wait)
		return -EBUSY;
	if (ctx->interruptible)
		return wait_var_event_interruptible(&man->given_back, given_back(man) != before);
	wait_var_event(&man->given_back, given_back(man) != before);
	return 0;
}

/* Also when nobody has to leave any more, because somebody gave memory back since @before. */
static int make_room(struct agate_man *man, const struct agate_place *place, u64 size, u64 before,
		     struct agate_ttm_ctx *ctx)
{
	int ret = wait_for_parked(man, ctx);

	if (ret == -ENOSPC)
		ret = agate_ttm_evict_one(man, place, size, ctx);
	if (ret == -EAGAIN)
		ret = wait_for_dying(man, before, ctx);
	return ret == -ENOSPC && given_back(man) != before ? 0 : ret;
}

static int force_space(struct agate_ttm_bo *bo, const struct agate_place *place,
		       struct agate_ttm_ctx *ctx, struct agate_resource **res)
{
	struct agate_ttm *ttm = ttm_of(bo);
	struct agate_man *man = &ttm->man[place->type];
	u64 before;
	int ret;

	do {
		before = given_back(man);
		ret = agate_resource_try(ttm, bo, bo->size, place, 1, res);
		if (ret != -ENOSPC)
			return ret;
		ret = make_room(man, place, bo->size, before, ctx);
	} while (!ret);
	return ret;
}

static int mem_space(struct agate_ttm_bo *bo, const struct agate_place *places,
		     unsigned int count, struct agate_ttm_ctx *ctx, struct agate_resource **res)
{
	unsigned int i;
	int ret;

	ret = agate_resource_try(ttm_of(bo), bo, bo->size, places, count, res);
	for (i = 0; ret == -ENOSPC && i < count; i++) {
		if (places[i].flags & AGATE_PLACE_FORCE)
			ret = force_space(bo, &places[i], ctx, res);
	}
	return ret;
}

int agate_ttm_validate(struct agate_ttm_bo *bo, const struct agate_place *places,
		       unsigned int count, struct agate_ttm_ctx *ctx)
{
	struct agate_resource *to;
	int ret;

	dma_resv_assert_held(resv_of(bo));

	if (count && agate_resource_fits(bo->res, places, count))
		return 0;
	if (bo->pins)
		return -EINVAL;
	if (!count)
		return gut(bo, ctx);
	ret = mem_space(bo, places, count, ctx, &to);
	return ret ? ret : move_to(bo, ctx, to);
}

/* ---- Victims ----------------------------------------------------------- */

static bool may_live_elsewhere(const struct agate_ttm_bo *bo, const struct agate_man *man)
{
	return man->type == AGATE_MEM_VRAM && bo->placement & BIT(DRM_AGATE_REGION_SYSTEM);
}

static bool is_valuable(struct agate_man *man, const struct agate_resource *res,
			const struct agate_place *place, u64 size)
{
	return !READ_ONCE(res->bo->pins) && man->ops->intersects(man, res, place, size);
}

/**
 * struct victim - a BO that leaves
 * @bo: with a reference, or NULL
 * @lock: its reservation was locked for this
 * @busy: the first one that cannot be locked now, with a reference, or NULL
 * @dying: one was found whose last reference has gone
 */
struct victim {
	struct agate_ttm_bo *bo;
	bool lock;
	struct agate_ttm_bo *busy;
	bool dying;
};

/*
 * A BO on the list lives, because its resource leaves the list first, but its last reference
 * may be gone.
 */
static bool try_victim(struct victim *victim, struct agate_ttm_bo *bo, struct agate_exec *exec)
{
	victim->lock = ww_mutex_trylock(&resv_of(bo)->lock, &exec->ticket);
	if (!victim->lock && !agate_exec_holds_victim(exec, resv_of(bo)))
		return false;
	if (kref_get_unless_zero(&gem_of(bo)->refcount)) {
		victim->bo = bo;
		return true;
	}
	if (victim->lock)
		dma_resv_unlock(resv_of(bo));
	return false;
}

/* The first one that can be locked now; and the first one that cannot. */
static void find_victim(struct agate_man *man, const struct agate_place *place, u64 size,
			bool elsewhere, struct agate_exec *exec, struct victim *victim)
{
	struct agate_ttm *ttm = &man->adev->ttm;
	struct agate_resource *res;

	spin_lock(&ttm->lru_lock);
	list_for_each_entry(res, &man->lru, lru) {
		struct agate_ttm_bo *bo = res->bo;

		if (!is_valuable(man, res, place, size) ||
		    may_live_elsewhere(bo, man) != elsewhere)
			continue;
		if (try_victim(victim, bo, exec))
			break;
		if (!victim->busy && !agate_exec_holds(exec, resv_of(bo)) &&
		    kref_get_unless_zero(&gem_of(bo)->refcount))
			victim->busy = bo;
		/* This is asked last, because the reference may go at any time. */
		victim->dying |= !kref_read(&gem_of(bo)->refcount);
	}
	spin_unlock(&ttm->lru_lock);
}

/* While nobody held its reservation it may have moved, or have been pinned. */
static int evict_if_still(struct agate_ttm_bo *bo, struct agate_man *man,
			  const struct agate_place *place, u64 size, struct agate_ttm_ctx *ctx)
{
	if (!bo->res || bo->res->man != man || !is_valuable(man, bo->res, place, size))
		return 0;
	return agate_ttm_evict(bo, ctx);
}

static int evict_victim(struct victim *victim, struct agate_man *man,
			const struct agate_place *place, u64 size, struct agate_ttm_ctx *ctx)
{
	int ret = evict_if_still(victim->bo, man, place, size, ctx);

	if (victim->lock)
		dma_resv_unlock(resv_of(victim->bo));
	drm_gem_object_put(gem_of(victim->bo));
	return ret;
}

/* All are locked: wait for one, in turn.  It stays locked until the pass ends. */
static int evict_busy(struct agate_ttm_bo *bo, struct agate_man *man,
		      const struct agate_place *place, u64 size, struct agate_ttm_ctx *ctx)
{
	int ret = ctx->no_wait ? -EBUSY : agate_exec_lock_victim(ctx->exec, gem_of(bo));

	if (!ret)
		ret = evict_if_still(bo, man, place, size, ctx);
	drm_gem_object_put(gem_of(bo));
	return ret;
}

int agate_ttm_evict_one(struct agate_man *man, const struct agate_place *place, u64 size,
			struct agate_ttm_ctx *ctx)
{
	struct victim victim = {};

	find_victim(man, place, size, true, ctx->exec, &victim);
	if (!victim.bo)
		find_victim(man, place, size, false, ctx->exec, &victim);
	if (victim.bo) {
		if (victim.busy)
			drm_gem_object_put(gem_of(victim.busy));
		return evict_victim(&victim, man, place, size, ctx);
	}
	if (victim.busy)
		return evict_busy(victim.busy, man, place, size, ctx);
	return victim.dying ? -EAGAIN : -ENOSPC;
}

int agate_ttm_evict(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx)
{
	struct agate_place places[AGATE_MAX_PLACES];
	struct agate_resource *to;
	unsigned int count;
	int ret;

	dma_resv_assert_held(resv_of(bo));

	count = ttm_of(bo)->ops->evict_flags(bo, places);
	if (!count)
		return gut(bo, ctx);
	ret = mem_space(bo, places, count, ctx, &to);
	return ret ? ret : move_to(bo, ctx, to);
}

/* ---- Swap -------------------------------------------------------------- */

static bool is_swappable(const struct agate_ttm_bo *bo)
{
	return !bo->pins && bo->res && bo->res->type != AGATE_MEM_VRAM && bo->tt &&
	       agate_tt_has_pages(bo->tt);
}

static bool is_idle(struct agate_ttm_bo *bo)
{
	return dma_resv_test_signaled(resv_of(bo), DMA_RESV_USAGE_BOOKKEEP);
}

/*
 * The last reference has gone: its thread takes the BO off the list before its pages go.  This is
 * asked last, because the reference may go at any time.
 */
static bool is_dying(struct agate_ttm_bo *bo)
{
	return !kref_read(&gem_of(bo)->refcount) && is_swappable(bo);
}

/* The first BO of a list that nobody uses, locked and with a reference. */
static struct agate_ttm_bo *find_idle(struct agate_man *man, bool *dying)
{
	struct agate_ttm *ttm = &man->adev->ttm;
	struct agate_ttm_bo *bo = NULL;
	struct agate_resource *res;

	spin_lock(&ttm->lru_lock);
	list_for_each_entry(res, &man->lru, lru) {
		if (dma_resv_trylock(resv_of(res->bo))) {
			if (is_swappable(res->bo) && is_idle(res->bo) &&
			    kref_get_unless_zero(&gem_of(res->bo)->refcount)) {
				bo = res->bo;
				break;
			}
			dma_resv_unlock(resv_of(res->bo));
		}
		*dying |= is_dying(res->bo);
	}
	spin_unlock(&ttm->lru_lock);
	return bo;
}

/*
 * The first one that another thread holds, or that somebody uses, with a reference.  Of those
 * that this thread holds only a victim may go, and it has to have pages.
 */
static struct agate_ttm_bo *find_busy(struct agate_man *man, struct agate_exec *exec, bool *dying)
{
	struct agate_ttm *ttm = &man->adev->ttm;
	struct agate_ttm_bo *bo = NULL;
	struct agate_resource *res;

	spin_lock(&ttm->lru_lock);
	list_for_each_entry(res, &man->lru, lru) {
		struct dma_resv *resv = resv_of(res->bo);

		if (READ_ONCE(res->bo->pins))
			continue;
		if (agate_exec_holds(exec, resv) &&
		    !(agate_exec_holds_victim(exec, resv) && is_swappable(res->bo)))
			continue;
		if (kref_get_unless_zero(&gem_of(res->bo)->refcount)) {
			bo = res->bo;
			break;
		}
		*dying |= is_dying(res->bo);
	}
	spin_unlock(&ttm->lru_lock);
	return bo;
}

/* The CPUs may have mapped pages that the GPU cannot reach, too. */
static long swap_out(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx)
{
	const struct agate_place place = { .type = AGATE_MEM_SYSTEM };
	int ret = ttm_of(bo)->ops->move_notify(bo, ctx);

	if (!ret)
		ret = agate_ttm_validate(bo, &place, 1, ctx);
	return ret ? ret : agate_placed_swap_out(bo);
}

/* So many BOs are tried, one after the other, if they cannot be swapped. */
#define SWAP_TRIES	8

/*
 * Swap the first BO of a list that nobody uses.  If that fails the BO goes to the end of the list:
 * the owner of the next one may have more memory.
 */
static long swap_idle(struct agate_man *man, struct agate_ttm_ctx *ctx, bool *dying)
{
	struct agate_ttm_bo *bo;
	unsigned int tries = SWAP_TRIES;
	long ret = -EBUSY;

	while (ret < 0 && tries-- && (bo = find_idle(man, dying))) {
		ret = swap_out(bo, ctx);
		if (ret < 0)
			agate_ttm_bump(bo);
		dma_resv_unlock(resv_of(bo));
		drm_gem_object_put(gem_of(bo));
	}
	return ret;
}

/* Wait for its turn, and for what uses it.  It stays locked until the pass ends. */
static long swap_busy(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx)
{
	long ret = 0;

	if (!agate_exec_holds(ctx->exec, resv_of(bo)))
		ret = agate_exec_lock_victim(ctx->exec, gem_of(bo));
	/* While nobody held its reservation it may have moved. */
	if (!ret && is_swappable(bo))
		ret = swap_out(bo, ctx);
	drm_gem_object_put(gem_of(bo));
	return ret;
}

long agate_ttm_swap_one(struct agate_ttm *ttm, struct agate_ttm_ctx *ctx)
{
	static const u8 order[] = { AGATE_MEM_SYSTEM, AGATE_MEM_TT };
	struct agate_ttm_bo *bo = NULL;
	bool dying = false;
	long ret = -EBUSY;
	unsigned int i;

	for (i = 0; ret < 0 && i < ARRAY_SIZE(order); i++)
		ret = swap_idle(&ttm->man[order[i]], ctx, &dying);
	if (ret >= 0)
		return ret;
	for (i = 0; !bo && !dying && !ctx->no_wait && i < ARRAY_SIZE(order); i++)
		bo = find_busy(&ttm->man[order[i]], ctx->exec, &dying);
	if (bo)
		return swap_busy(bo, ctx);
	return dying ? -EAGAIN : ret;
}

/* ---- Life -------------------------------------------------------------- */

/*
 * All that may still use the memory.  There may be no memory for one fence that stands for
 * all of them: then wait here.
 */
static struct dma_fence *last_fence(struct dma_resv *resv)
{
	struct dma_fence *fence = NULL;

	if (!dma_resv_get_singleton(resv, DMA_RESV_USAGE_BOOKKEEP, &fence))
		return fence;
	dma_resv_wait_timeout(resv, DMA_RESV_USAGE_BOOKKEEP, false, MAX_SCHEDULE_TIMEOUT);
	return NULL;
}

void agate_ttm_release(struct agate_ttm_bo *bo)
{
	struct dma_fence *fence = last_fence(resv_of(bo));

	WARN_ON(bo->pins);
	agate_limit_leave_begin();
	/* First off the lists: whoever finds the BO there looks at its pages. */
	if (bo->res)
		agate_resource_park(bo->res, dma_fence_get(fence));
	if (bo->tt)
		agate_tt_park(bo->tt, dma_fence_get(fence));
	agate_limit_leave_end();
	bo->tt = NULL;
	bo->res = NULL;
	dma_fence_put(fence);
}

void agate_ttm_bump(struct agate_ttm_bo *bo)
{
	struct agate_ttm *ttm = ttm_of(bo);

	dma_resv_assert_held(resv_of(bo));

	if (!bo->res)
		return;
	spin_lock(&ttm->lru_lock);
	list_move_tail(&bo->res->lru, &bo->res->man->lru);
	spin_unlock(&ttm->lru_lock);
}

int agate_ttm_pin(struct agate_ttm_bo *bo, enum agate_use use, struct agate_ttm_ctx *ctx)
{
	struct agate_place places[AGATE_MAX_PLACES];
	unsigned int count;
	int ret;

	count = agate_places(bo, &ttm_of(bo)->man[AGATE_MEM_VRAM], use, places);
	ret = agate_ttm_validate(bo, places, count, ctx);
	if (!ret)
		WRITE_ONCE(bo->pins, bo->pins + 1);
	return ret;
}

void agate_ttm_unpin(struct agate_ttm_bo *bo)
{
	dma_resv_assert_held(resv_of(bo));

	if (!WARN_ON(!bo->pins))
		WRITE_ONCE(bo->pins, bo->pins - 1);
}
