// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel memory: see agate_kmem.h.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "agate_device.h"
#include "agate_ggtt.h"
#include "agate_kmem.h"
#include "agate_placement.h"

/* Nobody leaves for it: it comes before the first BO. */
static int take_vram(struct agate_kmem *kmem)
{
	const struct agate_card *card = &kmem->adev->card;
	const struct agate_place place = {
		.type = AGATE_MEM_VRAM, .flags = AGATE_PLACE_CONTIGUOUS, .last = card->visible,
	};
	int ret;

	ret = agate_resource_try(&kmem->adev->ttm, NULL, kmem->size, &place, 1, &kmem->res);
	if (ret)
		return ret;
	kmem->addr = kmem->res->start;
	kmem->vaddr = card->vram + kmem->addr;
	memset_io(kmem->vaddr, 0, kmem->size);
	return 0;
}

struct agate_kmem *agate_kmem_create(struct agate_device *adev, u64 size, u32 flags)
{
	struct agate_kmem *kmem = kzalloc(sizeof(*kmem), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (!kmem)
		return ERR_PTR(-ENOMEM);
	kmem->adev = adev;
	kmem->flags = flags;
	kmem->size = ALIGN(size, adev->card.min_align);
	kmem->vram = true;
	if (!(flags & AGATE_KMEM_NO_SAVE))
		kmem->backup = vmalloc(kmem->size);
	if (kmem->backup || flags & AGATE_KMEM_NO_SAVE)
		ret = take_vram(kmem);
	if (ret) {
		vfree(kmem->backup);
		kfree(kmem);
		return ERR_PTR(ret);
	}
	list_add_tail(&kmem->link, &adev->card.kmems);
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
	list_add_tail(&kmem->link, &adev->card.kmems);
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
	list_del(&kmem->link);
	if (kmem->page)
		page_give_back(kmem);
	agate_resource_free(kmem->res);
	vfree(kmem->backup);
	kfree(kmem);
}
