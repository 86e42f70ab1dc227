// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lists by which the mover finds the pages of a placed BO.
 *
 * The contract is agate_tt_lists.h.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "agate_device.h"
#include "agate_tt.h"
#include "agate_tt_lists.h"

static unsigned long list_count(const struct agate_tt *tt)
{
	return DIV_ROUND_UP(tt->count, AGATE_TT_LIST_PAGES);
}

void agate_tt_lists_free(struct agate_tt *tt)
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

int agate_tt_lists_make(struct agate_tt *tt)
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
