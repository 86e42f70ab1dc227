// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages of a placed BO, from nothing to memory that the GPU reaches, and back.
 *
 * The contract is agate_tt.h.
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

#include "agate_card.h"
#include "agate_device.h"
#include "agate_hand_over.h"
#include "agate_limit.h"
#include "agate_pool.h"
#include "agate_tt.h"

struct agate_tt *agate_tt_create(struct agate_device *adev, u64 size, u8 caching)
{
	struct agate_tt *tt = kzalloc(sizeof(*tt), GFP_KERNEL_ACCOUNT);

	if (!tt)
		return NULL;
	tt->adev = adev;
	tt->count = size >> PAGE_SHIFT;
	tt->caching = caching;
	tt->dma32 = CARD_FEATURES_DMA_BITS(adev->card.features) <= 32;
	return tt;
}

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

/* The file gives zeros for pages that it has not got. */
static int swap_read(struct agate_tt *tt, struct page **pages)
{
	struct address_space *mapping = tt->swap->f_mapping;
	unsigned long i;

	for (i = 0; i < tt->count; i++) {
		struct page *from = shmem_read_mapping_page(mapping, i);

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

static unsigned long list_count(const struct agate_tt *tt)
{
	return DIV_ROUND_UP(tt->count, AGATE_TT_LIST_PAGES);
}

static void lists_free(struct agate_tt *tt)
{
	unsigned long i;

	for (i = 0; tt->lists && i < list_count(tt) && tt->lists[i]; i++) {
		dma_unmap_single(&tt->adev->pdev->dev, tt->list_addrs[i], PAGE_SIZE,
				 DMA_TO_DEVICE);
		free_page((unsigned long)tt->lists[i]);
	}
	kvfree(tt->lists);
	kvfree(tt->list_addrs);
	tt->lists = NULL;
	tt->list_addrs = NULL;
}

/* The device reads a list as long as the pages are bound, and the CPU writes it only here. */
static int list_map(struct agate_tt *tt, unsigned long i)
{
	struct device *dev = &tt->adev->pdev->dev;

	tt->list_addrs[i] = dma_map_single(dev, tt->lists[i], PAGE_SIZE, DMA_TO_DEVICE);
	if (!dma_mapping_error(dev, tt->list_addrs[i]))
		return 0;
	free_page((unsigned long)tt->lists[i]);
	tt->lists[i] = NULL;
	return -ENOMEM;
}

static int lists_make(struct agate_tt *tt)
{
	struct sg_dma_page_iter iter;
	unsigned long page = 0, i;
	int ret = 0;

	tt->lists = kvcalloc(list_count(tt), sizeof(*tt->lists), GFP_KERNEL_ACCOUNT);
	tt->list_addrs = kvcalloc(list_count(tt), sizeof(*tt->list_addrs), GFP_KERNEL_ACCOUNT);
	if (!tt->lists || !tt->list_addrs)
		ret = -ENOMEM;
	for_each_sgtable_dma_page(&tt->sgt, &iter, 0) {
		i = page / AGATE_TT_LIST_PAGES;
		if (!ret && page % AGATE_TT_LIST_PAGES == 0) {
			tt->lists[i] = (__le64 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
			if (!tt->lists[i])
				ret = -ENOMEM;
		}
		if (ret)
			break;
		tt->lists[i][page % AGATE_TT_LIST_PAGES] =
			cpu_to_le64(sg_page_iter_dma_address(&iter));
		if (++page % AGATE_TT_LIST_PAGES == 0 || page == tt->count)
			ret = list_map(tt, i);
	}
	return ret;
}

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
	lists_free(tt);
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
		ret = lists_make(tt);
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
		struct page *to = shmem_read_mapping_page(swap->f_mapping, i);

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

/* ---- The end ----------------------------------------------------------- */

static void tt_free(struct agate_parked *parked)
{
	struct agate_tt *tt = container_of(parked, struct agate_tt, parked);
	struct agate_ttm *ttm = &tt->adev->ttm;

	agate_tt_unbind(tt);
	if (tt->state == AGATE_TT_UNBOUND)
		agate_tt_unpopulate(tt);
	swap_drop(tt);
	spin_lock(&ttm->lru_lock);
	list_del(&tt->link);
	spin_unlock(&ttm->lru_lock);
	kfree(tt);
}

void agate_tt_park(struct agate_tt *tt, struct dma_fence *fence)
{
	struct agate_ttm *ttm = &tt->adev->ttm;

	spin_lock(&ttm->lru_lock);
	list_add_tail(&tt->link, &tt->adev->pages.parked);
	spin_unlock(&ttm->lru_lock);
	agate_park(&ttm->park, &tt->parked, fence, tt_free);
	agate_limit_parked();
}
