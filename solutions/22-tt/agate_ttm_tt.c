// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages of a placed BO, from nothing to memory that the GPU reaches, and back.
 *
 * The contract is agate_tt.h; agate_tt_lists.h has the lists by which the mover finds pages.
 */
#include <linux/dma-mapping.h>
#include <linux/highmem.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <drm/drm_drv.h>
#include <drm/drm_prime.h>

#include "agate_device.h"
#include "agate_hand_over.h"
#include "agate_limit.h"
#include "agate_pool.h"
#include "agate_tt.h"
#include "agate_tt_lists.h"

/* ---- Pages ------------------------------------------------------------- */

static struct agate_pool_key key_of(const struct agate_tt *tt, unsigned int order)
{
	return (struct agate_pool_key){
		.caching = tt->caching, .order = order, .dma32 = tt->dma32,
	};
}

static void pages_free(struct agate_tt *tt, struct page **pages, unsigned long count)
{
	unsigned long i, order;

	for (i = 0; i < count; i += 1ul << order) {
		order = page_private(pages[i]);
		set_page_private(pages[i], 0);
		agate_pool_give(&tt->adev->pages.pool, pages[i], key_of(tt, order));
	}
	kvfree(pages);
}

/* The largest block that is not too large: @order is that of the one before. */
static struct page *block_take(struct agate_tt *tt, unsigned long left, unsigned int *order)
{
	struct page *block;

	for (*order = min_t(unsigned int, *order, ilog2(left)); ; (*order)--) {
		block = agate_pool_take(&tt->adev->pages.pool, key_of(tt, *order));
		if (block || !*order)
			return block;
	}
}

static struct page **pages_take(struct agate_tt *tt)
{
	struct page **pages = kvcalloc(tt->count, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	unsigned int order = AGATE_POOL_ORDERS - 1;
	unsigned long taken = 0, i;

	while (pages && taken < tt->count) {
		struct page *block = block_take(tt, tt->count - taken, &order);

		if (!block) {
			pages_free(tt, pages, taken);
			return NULL;
		}
		set_page_private(block, order);
		for (i = 0; i < 1ul << order; i++)
			pages[taken++] = block + i;
	}
	return pages;
}

/* If its owner has no memory left, that is an error, and kills nobody. */
static struct page *swap_page(struct file *swap, unsigned long i)
{
	struct address_space *mapping = swap->f_mapping;

	return shmem_read_mapping_page_gfp(mapping, i, mapping_gfp_mask(mapping) |
					   __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
}

/* The file gives zeros for pages that it has not got. */
static int swap_read(struct agate_tt *tt, struct page **pages)
{
	unsigned long i;

	for (i = 0; i < tt->count; i++) {
		struct page *from = swap_page(tt->swap, i);

		if (IS_ERR(from))
			return PTR_ERR(from);
		copy_highpage(pages[i], from);
		put_page(from);
	}
	return 0;
}

static void swap_drop(struct agate_tt *tt)
{
	if (tt->swap)
		fput(tt->swap);
	tt->swap = NULL;
}

/* With the contents that they had. */
static int pages_make(struct agate_tt *tt)
{
	struct page **pages = pages_take(tt);
	int ret = 0;

	if (!pages)
		return -ENOMEM;
	if (tt->swap)
		ret = swap_read(tt, pages);
	if (ret) {
		pages_free(tt, pages, tt->count);
		return ret;
	}
	swap_drop(tt);
	tt->pages = pages;
	return 0;
}

int agate_tt_populate(struct agate_tt *tt, struct agate_ttm_ctx *ctx)
{
	int ret;

	if (tt->state != AGATE_TT_UNPOPULATED)
		return 0;
	ret = agate_limit_charge(tt->adev, tt->count, tt->dma32, ctx);
	if (ret)
		return ret;
	ret = pages_make(tt);
	if (ret) {
		agate_limit_uncharge(tt->count, tt->dma32);
		return ret;
	}
	tt->state = AGATE_TT_UNBOUND;
	agate_stat_add(&tt->adev->stats, AGATE_STAT_PAGES, tt->count);
	return 0;
}

void agate_tt_unpopulate(struct agate_tt *tt)
{
	if (WARN_ON(tt->state != AGATE_TT_UNBOUND))
		return;
	agate_stat_add(&tt->adev->stats, AGATE_STAT_PAGES, -(s64)tt->count);
	pages_free(tt, tt->pages, tt->count);
	agate_limit_uncharge(tt->count, tt->dma32);
	tt->pages = NULL;
	tt->state = AGATE_TT_UNPOPULATED;
}

/* ---- For the GPU ------------------------------------------------------- */

static void sgt_unmap(struct agate_tt *tt)
{
	dma_unmap_sgtable(&tt->adev->pdev->dev, &tt->sgt, DMA_BIDIRECTIONAL, 0);
	sg_free_table(&tt->sgt);
}

static int sgt_map(struct agate_tt *tt)
{
	struct device *dev = &tt->adev->pdev->dev;
	int ret;

	ret = sg_alloc_table_from_pages_segment(&tt->sgt, tt->pages, tt->count, 0,
						(u64)tt->count << PAGE_SHIFT,
						dma_get_max_seg_size(dev), GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	ret = dma_map_sgtable(dev, &tt->sgt, DMA_BIDIRECTIONAL, DMA_ATTR_NO_WARN);
	if (ret)
		sg_free_table(&tt->sgt);
	/* The memory for bouncing is finite, and the DMA layer says just -EIO. */
	return ret == -EIO ? -ENOMEM : ret;
}

static void unmap(struct agate_tt *tt)
{
	agate_tt_lists_free(tt);
	sgt_unmap(tt);
}

static int bind(struct agate_tt *tt)
{
	struct agate_ttm *ttm = &tt->adev->ttm;
	int ret = sgt_map(tt);

	if (ret)
		return ret;
	if (agate_sgt_needs_sync(tt->adev, &tt->sgt))
		ret = -EOPNOTSUPP;
	if (!ret)
		ret = agate_tt_lists_make(tt);
	if (ret) {
		unmap(tt);
		return ret;
	}
	mutex_lock(&ttm->bound_lock);
	list_add(&tt->bound, &ttm->bound);
	tt->state = AGATE_TT_BOUND;
	mutex_unlock(&ttm->bound_lock);
	return 0;
}

int agate_tt_bind(struct agate_tt *tt)
{
	int ret = -ENODEV;
	int idx;

	if (tt->state == AGATE_TT_BOUND)
		return 0;
	if (WARN_ON(tt->state == AGATE_TT_UNPOPULATED))
		return -EINVAL;
	if (drm_dev_enter(&tt->adev->drm, &idx)) {
		ret = bind(tt);
		drm_dev_exit(idx);
	}
	return ret;
}

static void unbind_locked(struct agate_tt *tt)
{
	lockdep_assert_held(&tt->adev->ttm.bound_lock);

	if (tt->state != AGATE_TT_BOUND)
		return;
	list_del(&tt->bound);
	unmap(tt);
	tt->state = AGATE_TT_UNBOUND;
}

void agate_tt_unbind(struct agate_tt *tt)
{
	mutex_lock(&tt->adev->ttm.bound_lock);
	unbind_locked(tt);
	mutex_unlock(&tt->adev->ttm.bound_lock);
}

void agate_tt_unbind_all(struct agate_device *adev)
{
	struct agate_tt *tt, *next;

	mutex_lock(&adev->ttm.bound_lock);
	list_for_each_entry_safe(tt, next, &adev->ttm.bound, bound)
		unbind_locked(tt);
	mutex_unlock(&adev->ttm.bound_lock);
}

/* ---- Swap -------------------------------------------------------------- */

static int swap_write(struct agate_tt *tt, struct file *swap)
{
	unsigned long i;

	for (i = 0; i < tt->count; i++) {
		struct page *to = swap_page(swap, i);

		if (IS_ERR(to))
			return PTR_ERR(to);
		copy_highpage(to, tt->pages[i]);
		set_page_dirty(to);
		mark_page_accessed(to);
		put_page(to);
	}
	return 0;
}

long agate_tt_swapout(struct agate_tt *tt)
{
	struct file *swap;
	int ret;

	if (WARN_ON(tt->state != AGATE_TT_UNBOUND))
		return -EINVAL;
	swap = shmem_file_setup("agate swap", (loff_t)tt->count << PAGE_SHIFT, 0);
	if (IS_ERR(swap))
		return PTR_ERR(swap);
	ret = swap_write(tt, swap);
	if (ret) {
		fput(swap);
		return ret;
	}
	agate_tt_unpopulate(tt);
	tt->swap = swap;
	return tt->count;
}
