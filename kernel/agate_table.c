// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages for page tables: from the kernel's allocator, mapped for DMA.
 *
 * A table page belongs to an open file's address space, and a file can stay open
 * after the device is unplugged.  So the device keeps a list of all pages, and
 * undoes their DMA mappings before the driver is unbound.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "agate_device.h"
#include "agate_mmu.h"

/**
 * struct agate_table - one table page
 * @base: what agate_pgtable.c sees; a page with @base.child follows @base.entries
 * @link: in mmu.tables while the page is mapped for DMA; under mmu.lock
 */
struct agate_table {
	struct agate_pgtable_page base;
	struct list_head link;
};

static struct agate_table *to_table(struct agate_pgtable_page *page)
{
	return container_of(page, struct agate_table, base);
}

static void free_entries(struct agate_table *table)
{
	free_pages((unsigned long)table->base.entries, table->base.child ? 1 : 0);
}

static struct agate_pgtable_page *table_alloc(void *ctx, bool last)
{
	struct agate_device *adev = ctx;
	struct agate_table *table;
	dma_addr_t dma;

	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;
	/* Allocate the entries and the children together: this is faster. */
	table->base.entries = (__le64 *)__get_free_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO, !last);
	if (!table->base.entries)
		goto free_table;
	if (!last)
		table->base.child = (void *)(table->base.entries + AGATE_PT_ENTRIES);
	dma = dma_map_single(&adev->pdev->dev, table->base.entries, PAGE_SIZE, DMA_TO_DEVICE);
	if (dma_mapping_error(&adev->pdev->dev, dma))
		goto free_pages;

	table->base.phys = dma;
	spin_lock(&adev->mmu.lock);
	list_add(&table->link, &adev->mmu.tables);
	spin_unlock(&adev->mmu.lock);
	agate_stat_inc(&adev->stats, AGATE_STAT_PT_PAGES);
	return &table->base;

free_pages:
	free_entries(table);
free_table:
	kfree(table);
	return NULL;
}

static void table_unmap(struct agate_device *adev, struct agate_table *table)
{
	lockdep_assert_held(&adev->mmu.lock);

	if (list_empty(&table->link))
		return;
	list_del_init(&table->link);
	dma_unmap_single(&adev->pdev->dev, table->base.phys, PAGE_SIZE, DMA_TO_DEVICE);
}

static void table_free(void *ctx, struct agate_pgtable_page *page)
{
	struct agate_device *adev = ctx;
	struct agate_table *table = to_table(page);

	spin_lock(&adev->mmu.lock);
	table_unmap(adev, table);
	spin_unlock(&adev->mmu.lock);

	agate_stat_dec(&adev->stats, AGATE_STAT_PT_PAGES);
	free_entries(table);
	kfree(table);
}

static void table_sync(void *ctx, struct agate_pgtable_page *page, unsigned int first,
		       unsigned int count)
{
	struct agate_device *adev = ctx;
	struct agate_table *table = to_table(page);

	spin_lock(&adev->mmu.lock);
	if (!list_empty(&table->link))
		dma_sync_single_range_for_device(&adev->pdev->dev, page->phys,
						 first * sizeof(*page->entries),
						 count * sizeof(*page->entries), DMA_TO_DEVICE);
	spin_unlock(&adev->mmu.lock);
	/*
	 * With coherent DMA the sync did nothing, so order the entries before the
	 * parent's (see @sync).
	 */
	dma_wmb();
}

const struct agate_pgtable_mem agate_table_mem = {
	.alloc = table_alloc,
	.free = table_free,
	.sync = table_sync,
};

void agate_table_unmap_all(struct agate_device *adev)
{
	struct agate_table *table;
	struct agate_table *next;

	spin_lock(&adev->mmu.lock);
	list_for_each_entry_safe(table, next, &adev->mmu.tables, link)
		table_unmap(adev, table);
	spin_unlock(&adev->mmu.lock);
}
