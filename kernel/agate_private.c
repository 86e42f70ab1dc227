// SPDX-License-Identifier: GPL-2.0-only
/*
 * Private BOs: see agate_private.h.
 */
#include <linux/dma-resv.h>

#include "agate_device.h"
#include "agate_evict.h"
#include "agate_gem.h"
#include "agate_private.h"
#include "agate_ttm.h"

static struct agate_bo *bo_of(struct agate_ttm_bo *ttm)
{
	return container_of(ttm, struct agate_bo, ttm);
}

/*
 * The root's reservation is held, and no binding of a private BO takes effect, or goes, without
 * it.  Its record may come or go at any time, and then this is decided too early or too late,
 * which harms nobody.
 */
static bool may_leave(struct agate_ttm_bo *bo, const struct drm_gem_object *root)
{
	return bo->root == root && !bo->pins && list_empty(&bo_of(bo)->vm_bos);
}

/* With a reference, or NULL. */
static struct agate_ttm_bo *find_unbound(struct agate_man *man, struct agate_ttm_bo *bo,
					 const struct agate_place *place)
{
	struct agate_ttm_bo *found = NULL;
	struct agate_resource *res;

	spin_lock(&man->adev->ttm.lru_lock);
	list_for_each_entry(res, &man->lru, lru) {
		if (res->bo != bo && may_leave(res->bo, bo->root) &&
		    man->ops->intersects(man, res, place, bo->size) &&
		    kref_get_unless_zero(&bo_of(res->bo)->base.refcount)) {
			found = res->bo;
			break;
		}
	}
	spin_unlock(&man->adev->ttm.lru_lock);
	return found;
}

int agate_private_make_room(struct agate_ttm_bo *bo, const struct agate_place *place,
			    struct agate_ttm_ctx *ctx)
{
	struct agate_ttm *ttm = &to_agate_device(bo_of(bo)->base.dev)->ttm;
	struct agate_ttm_bo *other = NULL;
	int ret;

	dma_resv_assert_held(bo_of(bo)->base.resv);

	if (bo->root && place->type == AGATE_MEM_VRAM)
		other = find_unbound(&ttm->man[AGATE_MEM_VRAM], bo, place);
	if (!other)
		return -ENOSPC;
	ret = agate_ttm_evict(other, ctx);
	drm_gem_object_put(&bo_of(other)->base);
	return ret;
}
