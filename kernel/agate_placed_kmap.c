// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placed BOs as the kernel sees them, for those who ask it to: other drivers, which want all of a
 * BO at one address for a long time, and debuggers, which want some bytes of it now.
 *
 * See agate_kmap.h, agate_placed.h and struct agate_backing_ops.
 */
#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <drm/drm_drv.h>

#include "agate_backing.h"
#include "agate_compat.h"
#include "agate_evict.h"
#include "agate_exec.h"
#include "agate_gem.h"
#include "agate_kmap.h"
#include "agate_placed.h"
#include "agate_ttm.h"

/* ---- Other drivers ----------------------------------------------------- */

/*
 * The core takes an error of vmap for a bug of a driver, so no signal ends a wait.  It may hold the
 * reservation without a ticket: see agate_placed_pin_shared().
 */
static int pin_and_map(struct agate_bo *bo)
{
	struct agate_ttm_bo *ttm = &bo->ttm;
	struct agate_ttm_ctx ctx = {};
	int ret = agate_placed_pin_locked(bo, AGATE_USE_PIN_TT, false, &ctx);

	if (ret)
		return ret;
	/* The caller looks at it at once. */
	if (ttm->moved)
		dma_fence_wait(ttm->moved, false);
	ret = agate_placed_contents(ttm);
	if (!ret)
		ret = agate_kmap(ttm, 0, agate_bo_size(bo) >> PAGE_SHIFT, &ttm->kmap);
	if (ret)
		agate_ttm_unpin(ttm);
	return ret;
}

/* Several users share one mapping, which is one user of the pages. */
static int vmap_locked(struct agate_bo *bo, struct iosys_map *map)
{
	int ret = -ENODEV;
	int idx;

	dma_resv_assert_held(bo->base.resv);

	if (!bo->ttm.kmap_users) {
		/* Removal waits for this, and stops the mover then. */
		if (drm_dev_enter(bo->base.dev, &idx)) {
			ret = pin_and_map(bo);
			drm_dev_exit(idx);
		}
		if (ret)
			return ret;
	}
	bo->ttm.kmap_users++;
	*map = bo->ttm.kmap.at;
	return 0;
}

static void vunmap_locked(struct agate_bo *bo)
{
	dma_resv_assert_held(bo->base.resv);

	if (WARN_ON(!bo->ttm.kmap_users) || --bo->ttm.kmap_users)
		return;
	agate_kunmap(&bo->ttm.kmap);
	agate_ttm_unpin(&bo->ttm);
}

#ifdef HAVE_GEM_VMAP_LOCKED

int agate_placed_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	return vmap_locked(bo, map);
}

void agate_placed_vunmap(struct agate_bo *bo, struct iosys_map *map)
{
	vunmap_locked(bo);
}

#else

int agate_placed_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	int ret;

	dma_resv_lock(bo->base.resv, NULL);
	ret = vmap_locked(bo, map);
	dma_resv_unlock(bo->base.resv);
	return ret;
}

void agate_placed_vunmap(struct agate_bo *bo, struct iosys_map *map)
{
	dma_resv_lock(bo->base.resv, NULL);
	vunmap_locked(bo);
	dma_resv_unlock(bo->base.resv);
}

#endif

/* ---- Debuggers --------------------------------------------------------- */

static int copy(struct agate_bo *bo, u64 offset, void *buf, int len, bool write)
{
	const size_t in_page = offset_in_page(offset);
	struct agate_kmap map;
	int ret;

	ret = agate_kmap(&bo->ttm, offset >> PAGE_SHIFT, DIV_ROUND_UP(in_page + len, PAGE_SIZE),
			 &map);
	if (ret)
		return ret;
	if (write) {
		iosys_map_memcpy_to(&map.at, in_page, buf, len);
		/* Writes that the CPU combines reach the card before the debugger goes on. */
		wmb();
	} else {
		iosys_map_memcpy_from(buf, &map.at, in_page, len);
	}
	agate_kunmap(&map);
	return len;
}

/* As a fault: a BO without memory gets some, and stays where it is otherwise. */
static int copy_when_there(struct agate_bo *bo, struct agate_exec *exec, u64 offset, void *buf,
			   int len, bool write)
{
	int idx, ret;

	ret = agate_exec_lock(exec, &bo->base);
	if (!ret)
		ret = agate_placed_present(bo, exec);
	if (!ret)
		ret = agate_placed_wait(&bo->ttm);
	if (ret)
		return ret;
	if (bo->ttm.res->type != AGATE_MEM_VRAM)
		return copy(bo, offset, buf, len, write);
	/* BAR2 may be somebody else's when the device is unplugged. */
	if (!drm_dev_enter(bo->base.dev, &idx))
		return -ENODEV;
	ret = copy(bo, offset, buf, len, write);
	drm_dev_exit(idx);
	return ret;
}

int agate_placed_access(struct agate_bo *bo, u64 offset, void *buf, int len, bool write)
{
	struct agate_exec exec;
	int ret;

	if (offset >= agate_bo_size(bo))
		return -EIO;
	len = min_t(u64, len, agate_bo_size(bo) - offset);
	agate_exec_init(&exec, AGATE_EXEC_INTERRUPTIBLE);
	do {
		ret = copy_when_there(bo, &exec, offset, buf, len, write);
	} while (agate_exec_retry(&exec, &ret));
	agate_exec_fini(&exec);
	return ret;
}
