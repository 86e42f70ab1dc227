// SPDX-License-Identifier: GPL-2.0-only
/*
 * Managers of memory, and the places that a BO tries.
 *
 * The contract is agate_placement.h.
 */
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <drm/drm_print.h>

#include "agate_device.h"
#include "agate_drm.h"
#include "agate_limit.h"
#include "agate_placement.h"
#include "agate_range.h"
#include "agate_ttm.h"

/* ---- Managers ---------------------------------------------------------- */

void agate_man_init(struct agate_man *man, enum agate_mem_type type, u64 size,
		    const struct agate_man_ops *ops)
{
	man->type = type;
	man->ops = ops;
	man->size = size;
	mutex_init(&man->lock);
	INIT_LIST_HEAD(&man->lru);
	INIT_LIST_HEAD(&man->parked);
	INIT_LIST_HEAD(&man->kernel);
	agate_range_init(&man->range, 0, size);
	man->used = true;
}

int agate_man_fini(struct agate_man *man)
{
	if (!man->used)
		return 0;
	if (WARN(man->taken || !list_empty(&man->lru) || !list_empty(&man->parked),
		 "memory of type %u is still taken: %llu bytes\n", man->type, man->taken))
		return -EBUSY;
	man->used = false;
	mutex_destroy(&man->lock);
	return agate_range_fini(&man->range);
}

static u64 visible_bytes(const struct agate_man *man, const struct agate_resource *res)
{
	return res->start < man->visible ? min(res->size, man->visible - res->start) : 0;
}

static void resource_publish(struct agate_ttm *ttm, struct agate_resource *res)
{
	struct agate_man *man = res->man;

	spin_lock(&ttm->lru_lock);
	man->taken += res->size;
	man->taken_visible += visible_bytes(man, res);
	list_add_tail(&res->lru, res->bo ? &man->lru : &man->kernel);
	spin_unlock(&ttm->lru_lock);
}

static struct agate_ttm *ttm_of(const struct agate_man *man)
{
	return &man->adev->ttm;
}

void agate_resource_free(struct agate_resource *res)
{
	struct agate_man *man;

	if (!res)
		return;
	man = res->man;
	WARN_ON(res->io.users);
	mutex_lock(&man->lock);
	spin_lock(&ttm_of(man)->lru_lock);
	man->taken -= res->size;
	man->taken_visible -= visible_bytes(man, res);
	list_del(&res->lru);
	man->given_back++;
	spin_unlock(&ttm_of(man)->lru_lock);
	man->ops->free(man, res);
	mutex_unlock(&man->lock);
	wake_up_var(&man->given_back);
	kfree(res);
}

static void resource_release(struct agate_parked *parked)
{
	agate_resource_free(container_of(parked, struct agate_resource, parked));
}

/* A BO that needs the room finds it in man->parked, and waits for the fence. */
void agate_resource_park(struct agate_resource *res, struct dma_fence *fence)
{
	struct agate_man *man = res->man;

	spin_lock(&ttm_of(man)->lru_lock);
	res->bo = NULL;
	list_move_tail(&res->lru, &man->parked);
	man->given_back++;
	spin_unlock(&ttm_of(man)->lru_lock);
	wake_up_var(&man->given_back);
	agate_park(&ttm_of(man)->park, &res->parked, fence, resource_release);
}

/* ---- VRAM -------------------------------------------------------------- */

static u64 place_end(const struct agate_man *man, const struct agate_place *place)
{
	return place->last ? min(place->last, man->size) : man->size;
}

static int vram_alloc(struct agate_man *man, u64 size, const struct agate_place *place,
		      struct agate_resource *res)
{
	enum agate_range_mode mode = AGATE_RANGE_BEST;
	u64 align = place->flags & AGATE_PLACE_PAGES ? PAGE_SIZE : man->min_align;
	u64 end = place_end(man, place);
	int ret;

	lockdep_assert_held(&man->lock);

	if (place->first >= end || size > end - place->first)
		return -EINVAL;
	if (place->flags & AGATE_PLACE_TOPDOWN)
		mode = AGATE_RANGE_HIGH;
	ret = agate_range_insert(&man->range, &res->node, size, align, place->first,
				 end - 1, mode);
	if (!ret)
		res->start = res->node.start;
	return ret;
}

static void vram_free(struct agate_man *man, struct agate_resource *res)
{
	agate_range_remove(&man->range, &res->node);
}

/* A range that only touches the place at its edge gives it nothing. */
static bool vram_intersects(struct agate_man *man, const struct agate_resource *res,
			    const struct agate_place *place, u64 size)
{
	return res->start < place_end(man, place) && res->start + res->size > place->first;
}

static bool vram_compatible(struct agate_man *man, const struct agate_resource *res,
			    const struct agate_place *place)
{
	return res->start >= place->first && res->start + res->size <= place_end(man, place);
}

static void vram_debug(struct agate_man *man, struct drm_printer *p)
{
	u64 start = 0, size, free = 0;

	mutex_lock(&man->lock);
	while (agate_range_next_hole(&man->range, &start, &size)) {
		drm_printf(p, "hole %#llx..%#llx\n", start, start + size);
		free += size;
		start += size;
	}
	mutex_unlock(&man->lock);
	drm_printf(p, "free %llu of %llu\n", free, man->size);
}

const struct agate_man_ops agate_vram_man_ops = {
	.alloc = vram_alloc,
	.free = vram_free,
	.intersects = vram_intersects,
	.compatible = vram_compatible,
	.debug = vram_debug,
};

/* ---- Places ------------------------------------------------------------ */

static bool placed_in(const struct agate_ttm_bo *bo, enum drm_agate_region_type region)
{
	return bo->placement & BIT(region);
}

static struct agate_place vram_place(const struct agate_ttm_bo *bo, const struct agate_man *vram)
{
	struct agate_place place = { .type = AGATE_MEM_VRAM };

	if (bo->visible)
		place.last = vram->visible;
	else
		place.flags = AGATE_PLACE_TOPDOWN;
	return place;
}

static unsigned int places_by_wish(const struct agate_ttm_bo *bo, const struct agate_man *vram,
				   struct agate_place *places)
{
	unsigned int n = 0;

	if (placed_in(bo, DRM_AGATE_REGION_VRAM))
		places[n++] = vram_place(bo, vram);
	if (placed_in(bo, DRM_AGATE_REGION_SYSTEM))
		places[n++] = (struct agate_place){ .type = AGATE_MEM_TT };
	if (n)
		places[n - 1].flags |= AGATE_PLACE_FORCE;
	return n;
}

/* Pages alone are not where the GPU, or a display, can reach them. */
static bool is_reachable(const struct agate_resource *res)
{
	return res && res->type != AGATE_MEM_SYSTEM;
}

unsigned int agate_places(const struct agate_ttm_bo *bo, const struct agate_man *vram,
			  enum agate_use use, struct agate_place *places)
{
	unsigned int n = places_by_wish(bo, vram, places);

	switch (use) {
	case AGATE_USE_PIN_HERE:
		if (!is_reachable(bo->res))
			return n;
		if (!bo->pins && !agate_resource_fits(bo->res, places, n))
			return n;
		places[0] = (struct agate_place){
			.type = bo->res->type, .first = bo->res->start,
			.last = bo->res->start + bo->res->size,
		};
		return 1;
	case AGATE_USE_EVICT:
	case AGATE_USE_PIN_TT:
		places[0] = (struct agate_place){
			.type = AGATE_MEM_TT, .flags = AGATE_PLACE_FORCE,
		};
		return 1;
	default:
		return n;
	}
}

static bool fits_one(const struct agate_resource *res, const struct agate_place *place)
{
	return res->type == place->type && res->man->ops->compatible(res->man, res, place);
}

bool agate_resource_fits(const struct agate_resource *res, const struct agate_place *places,
			 unsigned int count)
{
	unsigned int i;

	for (i = 0; res && i < count; i++) {
		if (fits_one(res, &places[i]))
			return true;
	}
	return false;
}

static int try_one(struct agate_ttm *ttm, struct agate_ttm_bo *bo, u64 size,
		   const struct agate_place *place, struct agate_resource **out)
{
	struct agate_man *man = &ttm->man[place->type];
	struct agate_resource *res;
	int ret;

	if (!man->used)
		return -EINVAL;
	res = kzalloc(sizeof(*res), GFP_KERNEL_ACCOUNT);
	if (!res)
		return -ENOMEM;
	res->type = man->type;
	res->size = size;
	res->man = man;
	res->bo = bo;
	/* A thread that finds no room also finds, on a list, the resource that has it. */
	mutex_lock(&man->lock);
	ret = man->ops->alloc(man, size, place, res);
	if (!ret)
		resource_publish(ttm, res);
	mutex_unlock(&man->lock);
	if (ret)
		kfree(res);
	else
		*out = res;
	return ret;
}

int agate_resource_try(struct agate_ttm *ttm, struct agate_ttm_bo *bo, u64 size,
		       const struct agate_place *places, unsigned int count,
		       struct agate_resource **res)
{
	bool could_fit = false;
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++) {
		ret = try_one(ttm, bo, size, &places[i], res);
		if (!ret || ret == -ENOMEM)
			return ret;
		could_fit |= ret == -ENOSPC;
	}
	return could_fit ? -ENOSPC : -EINVAL;
}

/* ---- The CPUs' way ----------------------------------------------------- */

int agate_io_reserve(struct agate_resource *res)
{
	int ret = 0;

	if (!res->io.users)
		ret = ttm_of(res->man)->ops->io_reserve(res);
	if (!ret)
		res->io.users++;
	return ret;
}

void agate_io_free(struct agate_resource *res)
{
	if (!WARN_ON(!res->io.users) && !--res->io.users)
		ttm_of(res->man)->ops->io_free(res);
}

/* ---- What there is ----------------------------------------------------- */

static struct drm_agate_region system_region(void)
{
	u64 used;
	const u64 size = agate_limit_bytes(&used);

	return (struct drm_agate_region){
		.type = DRM_AGATE_REGION_SYSTEM, .id = DRM_AGATE_REGION_SYSTEM,
		.size = size, .used = used, .cpu_visible = size, .cpu_visible_used = used,
		.min_align = PAGE_SIZE,
	};
}

static struct drm_agate_region vram_region(const struct agate_man *vram)
{
	return (struct drm_agate_region){
		.type = DRM_AGATE_REGION_VRAM, .id = DRM_AGATE_REGION_VRAM,
		.size = vram->size, .used = vram->taken,
		.cpu_visible = vram->visible, .cpu_visible_used = vram->taken_visible,
		.min_align = vram->min_align,
	};
}

unsigned int agate_regions_fill(struct agate_device *adev, struct drm_agate_region *regions)
{
	struct agate_ttm *ttm = &adev->ttm;

	regions[0] = system_region();
	spin_lock(&ttm->lru_lock);
	regions[1] = vram_region(&ttm->man[AGATE_MEM_VRAM]);
	spin_unlock(&ttm->lru_lock);
	return 2;
}
