// SPDX-License-Identifier: GPL-2.0-only
/*
 * System memory for placed BOs: see agate_pages.h.
 *
 * The kernel maps all memory for itself, cached.  A second mapping that is not cached would make
 * two caches out of one page, so the kernel's own mapping changes together with it.
 */
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/set_memory.h>
#include <linux/shrinker.h>
#include <drm/drm_managed.h>

#include "agate_device.h"
#include "agate_lock_order.h"
#include "agate_pages.h"

/* ---- Where the pool gets pages ----------------------------------------- */

/*
 * A large block saves time, but is not worth the wait for it: many small ones do as well.  The
 * kernel's reserves are for those who free memory: this does not, even while it must not wait for
 * memory (agate_sleep.c).
 *
 * The pool keeps blocks that are not cached when their owner has gone, and gives them to the next
 * one: they are nobody's, so no control group is charged for them.
 */
static struct page *pages_alloc(struct agate_pool *pool, struct agate_pool_key key)
{
	gfp_t gfp = GFP_USER | __GFP_ZERO | __GFP_NOWARN | __GFP_NOMEMALLOC;

	if (key.caching == AGATE_CACHING_WB)
		gfp |= __GFP_ACCOUNT;
	if (key.dma32)
		gfp |= GFP_DMA32;
	if (key.order)
		gfp &= ~__GFP_DIRECT_RECLAIM;
	else
		gfp |= __GFP_RETRY_MAYFAIL;
	return alloc_pages(gfp, key.order);
}

static void pages_free(struct agate_pool *pool, struct page *page, unsigned int order)
{
	__free_pages(page, order);
}

static int pages_set_caching(struct agate_pool *pool, struct page *page, unsigned int order,
			     unsigned int caching)
{
	unsigned long addr = (unsigned long)page_address(page);

	switch (caching) {
	case AGATE_CACHING_WC:
		return set_memory_wc(addr, 1 << order);
	case AGATE_CACHING_UC:
		return set_memory_uc(addr, 1 << order);
	default:
		return set_memory_wb(addr, 1 << order);
	}
}

static void pages_clear(struct agate_pool *pool, struct page *page, unsigned int order)
{
	unsigned int i;

	for (i = 0; i < 1u << order; i++)
		clear_highpage(page + i);
}

static const struct agate_pool_ops pages_ops = {
	.alloc = pages_alloc,
	.free = pages_free,
	.set_caching = pages_set_caching,
	.clear = pages_clear,
};

/* ---- Shrinker ---------------------------------------------------------- */

static unsigned long pages_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	return agate_pool_count(agate_shrinker_data(shrinker));
}

static unsigned long pages_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long freed = agate_pool_scan(agate_shrinker_data(shrinker), sc->nr_to_scan);

	return freed ? freed : SHRINK_STOP;
}

/* ---- Life -------------------------------------------------------------- */

/* BOs of files that outlive the device give their pages to the pool until here. */
static void pages_end(struct drm_device *drm, void *data)
{
	struct agate_pages *pages = data;

	agate_shrinker_unregister(&pages->shrinker);
	agate_pool_fini(&pages->pool);
}

int agate_pages_init(struct agate_device *adev)
{
	struct agate_pages *pages = &adev->pages;
	unsigned int i;
	int ret;

	agate_pool_init(&pages->pool, &pages_ops);
	for (i = 0; i < AGATE_POOL_KINDS; i++)
		agate_lock_class(&pages->pool.lists[i].lock, AGATE_LOCK_POOL);
	INIT_LIST_HEAD(&pages->parked);
	ret = agate_shrinker_register(&pages->shrinker, &pages->pool, pages_count, pages_scan,
				      "drm-agate-pool");
	if (ret)
		return ret;
	return drmm_add_action_or_reset(&adev->drm, pages_end, pages);
}
