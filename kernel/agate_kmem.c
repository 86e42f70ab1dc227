// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel memory: see agate_kmem.h.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "agate_device.h"
#include "agate_ggtt.h"
#include "agate_kmem.h"
#include "agate_placement.h"

/*
 * All of it is where the kernel keeps VRAM mapped, tables at the end of that, or where a page is
 * free: away from what processes map.  There they stay, between BOs that need more in one piece.
 */
static int take_vram(struct agate_kmem *kmem)
{
	const struct agate_card *card = &kmem->adev->card;
	struct agate_place place = { .type = AGATE_MEM_VRAM, .last = card->mapped };
	int ret;

	if (kmem->flags & AGATE_KMEM_TABLE)
		place.flags |= AGATE_PLACE_TOPDOWN | AGATE_PLACE_PAGES;
	ret = agate_resource_try(&kmem->adev->ttm, NULL, kmem->size, &place, 1, &kmem->res);
	if (ret)
		return ret;
	kmem->addr = kmem->res->start;
	kmem->vaddr = card->vram + kmem->addr;
	memset_io(kmem->vaddr, 0, kmem->size);
	return 0;
}

static void kmem_list(struct agate_kmem *kmem)
{
	struct agate_card *card = &kmem->adev->card;

	mutex_lock(&card->kmem_lock);
	list_add_tail(&kmem->link, &card->kmems);
	mutex_unlock(&card->kmem_lock);
}

static void kmem_unlist(struct agate_kmem *kmem)
{
	struct agate_card *card = &kmem->adev->card;

	mutex_lock(&card->kmem_lock);
	list_del(&kmem->link);
	mutex_unlock(&card->kmem_lock);
}

/* Return: false if tables have their part already. */
static bool count_table(struct agate_kmem *kmem)
{
	struct agate_card *card = &kmem->adev->card;
	u64 most = card->visible / AGATE_KMEM_TABLES_PART;

	if (!(kmem->flags & AGATE_KMEM_TABLE))
		return true;
	if (atomic64_add_return(kmem->size, &card->tables) <= most)
		return true;
	atomic64_sub(kmem->size, &card->tables);
	return false;
}

static void uncount_table(struct agate_kmem *kmem)
{
	if (kmem->flags & AGATE_KMEM_TABLE)
		atomic64_sub(kmem->size, &kmem->adev->card.tables);
}

static int take_memory(struct agate_kmem *kmem)
{
	int ret;

	if (!(kmem->flags & AGATE_KMEM_NO_SAVE)) {
		kmem->backup = kvmalloc(kmem->size, GFP_KERNEL_ACCOUNT);
		if (!kmem->backup)
			return -ENOMEM;
	}
	if (!count_table(kmem))
		return -ENOSPC;
	ret = take_vram(kmem);
	if (ret)
		uncount_table(kmem);
	return ret;
}

struct agate_kmem *agate_kmem_create(struct agate_device *adev, u64 size, u32 flags)
{
	u64 align = flags & AGATE_KMEM_TABLE ? PAGE_SIZE : adev->card.min_align;
	struct agate_kmem *kmem = kzalloc(sizeof(*kmem), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!kmem)
		return ERR_PTR(-ENOMEM);
	kmem->adev = adev;
	kmem->flags = flags;
	kmem->size = ALIGN(size, align);
	kmem->vram = true;
	ret = take_memory(kmem);
	if (ret) {
		kvfree(kmem->backup);
		kfree(kmem);
		return ERR_PTR(ret);
	}
	kmem_list(kmem);
	return kmem;
}

struct agate_kmem *agate_kmem_create_page(struct agate_device *adev)
{
	struct agate_kmem *kmem = kzalloc(sizeof(*kmem), GFP_KERNEL_ACCOUNT);

	if (!kmem)
		return ERR_PTR(-ENOMEM);
	kmem->adev = adev;
	kmem->flags = AGATE_KMEM_NO_SAVE;
	kmem->size = PAGE_SIZE;
	kmem->page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!kmem->page) {
		kfree(kmem);
		return ERR_PTR(-ENOMEM);
	}
	kmem->addr = dma_map_page(&adev->pdev->dev, kmem->page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(&adev->pdev->dev, kmem->addr)) {
		__free_page(kmem->page);
		kfree(kmem);
		return ERR_PTR(-ENOMEM);
	}
	kmem_list(kmem);
	return kmem;
}

static void page_give_back(struct agate_kmem *kmem)
{
	dma_unmap_page(&kmem->adev->pdev->dev, kmem->addr, PAGE_SIZE, DMA_BIDIRECTIONAL);
	__free_page(kmem->page);
}

void agate_kmem_destroy(struct agate_kmem *kmem)
{
	if (IS_ERR_OR_NULL(kmem))
		return;
	if (kmem->node)
		agate_ggtt_node_remove(kmem->node, true);
	kmem_unlist(kmem);
	uncount_table(kmem);
	if (kmem->page)
		page_give_back(kmem);
	agate_resource_free(kmem->res);
	kvfree(kmem->backup);
	kfree(kmem);
}
