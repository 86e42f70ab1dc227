// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of heaps: see agate_heap.h.
 *
 * Large pages first: the GPU maps 2 MiB that are consecutive with one entry.
 */
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <drm/drm_drv.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_heap.h"

/* As for the files of other BOs, a client that asks for too much gets an error. */
#define GFP_SUBMIT	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)
#define GFP_FAULT	(GFP_NOWAIT | __GFP_NOWARN | __GFP_ACCOUNT)

/* A page of this order is a chunk; if there is none, try these before single pages. */
#define CHUNK_ORDER	ilog2(AGATE_HEAP_CHUNK >> PAGE_SHIFT)
#define MIDDLE_ORDER	4u

/**
 * struct agate_chunk - the memory of one chunk
 * @sgt: its pages, mapped for DMA; each entry is one allocation
 * @nr_pages: how many single pages these are
 */
struct agate_chunk {
	struct sg_table sgt;
	unsigned long nr_pages;
};

/* ---- One chunk -------------------------------------------------------- */

static struct page *page_take(unsigned int order, gfp_t gfp)
{
	/* Nobody waits for a large page: small ones do as well. */
	if (order)
		gfp = (gfp & ~__GFP_RECLAIM) | __GFP_NORETRY | __GFP_NOWARN;
	return alloc_pages(gfp | __GFP_ZERO, order);
}

static void pages_give_back(struct list_head *pages)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, pages, lru) {
		list_del(&page->lru);
		__free_pages(page, page_private(page));
	}
}

/* Return: how many allocations are on the list, or -ENOMEM with an empty one. */
static int pages_take(struct list_head *pages, unsigned long left, unsigned int order, gfp_t gfp)
{
	int count = 0;

	while (left) {
		struct page *page;

		order = min_t(unsigned int, order, ilog2(left));
		page = page_take(order, gfp);
		if (page) {
			set_page_private(page, order);
			list_add_tail(&page->lru, pages);
			left -= 1ul << order;
			count++;
		} else if (order) {
			order = order > MIDDLE_ORDER ? MIDDLE_ORDER : 0;
		} else {
			pages_give_back(pages);
			return -ENOMEM;
		}
	}
	return count;
}

static void sgt_fill(struct sg_table *sgt, struct list_head *pages)
{
	struct scatterlist *sg = sgt->sgl;
	struct page *page, *next;

	list_for_each_entry_safe(page, next, pages, lru) {
		unsigned long order = page_private(page);

		list_del(&page->lru);
		set_page_private(page, 0);
		sg_set_page(sg, page, PAGE_SIZE << order, 0);
		sg = sg_next(sg);
	}
}

static void sgt_free(struct sg_table *sgt)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(sgt, sg, i)
		__free_pages(sg_page(sg), get_order(sg->length));
	sg_free_table(sgt);
}

/* Take the pages of a chunk, not yet mapped for DMA. */
static int sgt_make(struct device *dev, struct sg_table *sgt, unsigned long nr_pages, gfp_t gfp)
{
	size_t largest = dma_max_mapping_size(dev) >> PAGE_SHIFT;
	LIST_HEAD(pages);
	int count, ret;

	count = pages_take(&pages, nr_pages, min_t(unsigned int, CHUNK_ORDER, ilog2(largest)), gfp);
	if (count < 0)
		return count;
	ret = sg_alloc_table(sgt, count, gfp);
	if (ret) {
		pages_give_back(&pages);
		return ret;
	}
	sgt_fill(sgt, &pages);
	return 0;
}

static int sgt_map(struct drm_device *drm, struct sg_table *sgt)
{
	int idx, ret;

	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	ret = dma_map_sgtable(drm->dev, sgt, DMA_BIDIRECTIONAL, DMA_ATTR_NO_WARN);
	drm_dev_exit(idx);
	/* The memory for bouncing is finite, and the DMA layer says just -EIO. */
	return ret == -EIO ? -ENOMEM : ret;
}

static struct agate_chunk *chunk_create(struct agate_bo *bo, unsigned long nr_pages, gfp_t gfp)
{
	struct drm_device *drm = bo->base.dev;
	struct agate_chunk *chunk;
	int ret;

	chunk = kzalloc(sizeof(*chunk), gfp);
	if (!chunk)
		return ERR_PTR(-ENOMEM);
	chunk->nr_pages = nr_pages;
	ret = sgt_make(drm->dev, &chunk->sgt, nr_pages, gfp);
	if (ret)
		goto err_chunk;
	ret = sgt_map(drm, &chunk->sgt);
	if (ret)
		goto err_sgt;
	agate_stat_inc(&to_agate_device(drm)->stats, AGATE_STAT_SG_TABLES);
	return chunk;

err_sgt:
	sgt_free(&chunk->sgt);
err_chunk:
	kfree(chunk);
	return ERR_PTR(ret);
}

static void chunk_destroy(struct agate_bo *bo, struct agate_chunk *chunk)
{
	struct drm_device *drm = bo->base.dev;

	if (!chunk)
		return;
	/* No CPU reads what jobs have written there. */
	dma_unmap_sgtable(drm->dev, &chunk->sgt, DMA_BIDIRECTIONAL, DMA_ATTR_SKIP_CPU_SYNC);
	agate_stat_dec(&to_agate_device(drm)->stats, AGATE_STAT_SG_TABLES);
	sgt_free(&chunk->sgt);
	kfree(chunk);
}

/* ---- The chunks of a heap --------------------------------------------- */

static unsigned long heap_length(const struct agate_bo *bo)
{
	return DIV_ROUND_UP(agate_bo_size(bo), AGATE_HEAP_CHUNK);
}

/* Only the last chunk may be shorter than the others. */
static unsigned long chunk_pages(const struct agate_bo *bo, unsigned long index)
{
	u64 left = agate_bo_size(bo) - (u64)index * AGATE_HEAP_CHUNK;

	return min_t(u64, AGATE_HEAP_CHUNK, left) >> PAGE_SHIFT;
}

/* Keep a chunk's memory as the spare.  Return: the chunk, if it is not needed any more. */
static struct agate_chunk *spare_put(struct agate_bo *bo, struct agate_chunk *chunk)
{
	struct agate_heap *heap = &bo->heap;

	spin_lock(&bo->backing.fault_lock);
	if (heap->missing && !heap->spare) {
		heap->spare = chunk;
		agate_backing_account(bo, chunk->nr_pages);
		chunk = NULL;
	}
	spin_unlock(&bo->backing.fault_lock);
	return chunk;
}

/* How many pages has the spare to have that the heap lacks?  Enough for any chunk. */
static unsigned long spare_due(struct agate_bo *bo)
{
	const struct agate_heap *heap = &bo->heap;
	unsigned long last = heap_length(bo) - 1;
	unsigned long pages = 0;

	spin_lock(&bo->backing.fault_lock);
	if (heap->missing && !heap->spare)
		pages = chunk_pages(bo, heap->missing == 1 && !heap->chunks[last] ? last : 0);
	spin_unlock(&bo->backing.fault_lock);
	return pages;
}

static struct agate_chunk *spare_take(struct agate_heap *heap)
{
	struct agate_chunk *chunk = heap->spare;

	heap->spare = NULL;
	return chunk;
}

/* Make the array of an empty heap. */
static int chunks_begin(struct agate_bo *bo)
{
	struct agate_heap *heap = &bo->heap;
	struct agate_chunk **chunks;

	lockdep_assert_held(&bo->backing.lock);

	if (heap->chunks)
		return 0;
	chunks = kvcalloc(heap_length(bo), sizeof(*chunks), GFP_KERNEL_ACCOUNT);
	if (!chunks)
		return -ENOMEM;
	spin_lock(&bo->backing.fault_lock);
	heap->chunks = chunks;
	heap->missing = heap_length(bo);
	spin_unlock(&bo->backing.fault_lock);
	return 0;
}

static int spare_fill(struct agate_bo *bo)
{
	unsigned long pages = spare_due(bo);
	struct agate_chunk *chunk;

	lockdep_assert_held(&bo->backing.lock);

	if (!pages)
		return 0;
	chunk = chunk_create(bo, pages, GFP_SUBMIT);
	if (IS_ERR(chunk))
		return PTR_ERR(chunk);
	/* The heap may have grown to its full size meanwhile. */
	chunk_destroy(bo, spare_put(bo, chunk));
	return 0;
}

static int heap_reserve(struct agate_bo *bo)
{
	int ret = -EFAULT;

	mutex_lock(&bo->backing.lock);
	if (bo->madv >= 0)
		ret = chunks_begin(bo);
	if (!ret)
		ret = spare_fill(bo);
	mutex_unlock(&bo->backing.lock);
	return ret;
}

/*
 * Return: the chunk, if the heap has it already.  If no other one is missing, the spare
 * becomes the chunk if it fits, because it is of no other use.  Else NULL; -EFAULT for a heap
 * without contents.
 */
static struct agate_chunk *chunk_look(struct agate_bo *bo, unsigned long index)
{
	struct agate_heap *heap = &bo->heap;
	struct agate_chunk *chunk = ERR_PTR(-EFAULT);

	spin_lock(&bo->backing.fault_lock);
	if (heap->chunks) {
		chunk = heap->chunks[index];
		if (!chunk && heap->missing == 1 && heap->spare &&
		    heap->spare->nr_pages == chunk_pages(bo, index)) {
			chunk = spare_take(heap);
			heap->chunks[index] = chunk;
			heap->missing = 0;
		}
	}
	spin_unlock(&bo->backing.fault_lock);
	return chunk;
}

/* Return: the spare, if a heap that has grown to its full size still has one. */
static struct agate_chunk *spare_retire(struct agate_bo *bo)
{
	struct agate_heap *heap = &bo->heap;

	lockdep_assert_held(&bo->backing.fault_lock);

	if (heap->missing || !heap->spare)
		return NULL;
	agate_backing_account(bo, -(long)heap->spare->nr_pages);
	return spare_take(heap);
}

/*
 * Put a new chunk in its place, or the spare if @chunk is an error.  Return: the chunk that
 * the heap has then, or the error.  *@unused is what is needed no more: @chunk if somebody
 * else was faster, or the spare.
 */
static struct agate_chunk *chunk_insert(struct agate_bo *bo, unsigned long index,
					struct agate_chunk *chunk, struct agate_chunk **unused)
{
	struct agate_heap *heap = &bo->heap;

	spin_lock(&bo->backing.fault_lock);
	if (heap->chunks[index]) {
		*unused = IS_ERR(chunk) ? NULL : chunk;
		chunk = heap->chunks[index];
	} else {
		if (!IS_ERR(chunk))
			agate_backing_account(bo, chunk->nr_pages);
		else if (heap->spare)
			chunk = spare_take(heap);
		if (!IS_ERR(chunk)) {
			heap->chunks[index] = chunk;
			heap->missing--;
		}
		*unused = spare_retire(bo);
	}
	spin_unlock(&bo->backing.fault_lock);
	return chunk;
}

/* In the thread that serves faults: it waits for nothing. */
static int heap_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	unsigned long index = offset / AGATE_HEAP_CHUNK;
	struct agate_chunk *unused = NULL;
	struct agate_chunk *chunk;

	if (offset >= agate_bo_size(bo) || offset % AGATE_HEAP_CHUNK ||
	    size != min_t(u64, AGATE_HEAP_CHUNK, agate_bo_size(bo) - offset))
		return -EINVAL;

	chunk = chunk_look(bo, index);
	if (!chunk) {
		chunk = chunk_create(bo, chunk_pages(bo, index), GFP_FAULT);
		chunk = chunk_insert(bo, index, chunk, &unused);
		chunk_destroy(bo, unused);
	}
	if (IS_ERR(chunk))
		return PTR_ERR(chunk);
	*runs = (struct agate_runs){ .sg = chunk->sgt.sgl, .left = size };
	return 0;
}

/* Nobody uses the heap, or the device has gone: no other thread looks at it. */
static void heap_empty(struct agate_bo *bo)
{
	struct agate_heap heap;
	unsigned long i;

	spin_lock(&bo->backing.fault_lock);
	heap = bo->heap;
	memset(&bo->heap, 0, sizeof(bo->heap));
	agate_backing_account(bo, -(long)bo->backing.nr_pages);
	spin_unlock(&bo->backing.fault_lock);

	for (i = 0; heap.chunks && i < heap_length(bo); i++)
		chunk_destroy(bo, heap.chunks[i]);
	chunk_destroy(bo, heap.spare);
	kvfree(heap.chunks);
}

/* No CPU sees the contents, so a heap without a device needs none. */
static void heap_give_back(struct agate_bo *bo)
{
	mutex_lock(&bo->backing.lock);
	heap_empty(bo);
	mutex_unlock(&bo->backing.lock);
}

const struct agate_backing_ops agate_heap_backing = {
	.flags = AGATE_BACKING_PURGEABLE | AGATE_BACKING_GROWS,
	.reserve = heap_reserve,
	.populate = heap_populate,
	.purge = heap_empty,
	.detach = heap_give_back,
	.release = heap_give_back,
};
