// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages for page tables: see agate_table.h.
 *
 * A table page belongs to an open file's address space, and a file can stay open
 * after the device is unplugged.  So the device keeps a list of all pages, and
 * undoes their DMA mappings before the driver is unbound.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "agate_device.h"
#include "agate_hand_over.h"
#include "agate_mmu.h"
#include "agate_table.h"
#include "agate_vm.h"

/**
 * struct agate_table - one table page
 * @base: what agate_pgtable.c sees; a page with @base.child follows @base.entries
 * @walked: the entries that the GPU walks: @base.entries, or a page of their own where the
 *	table changes in two steps
 * @link: in mmu.tables while @walked is mapped for DMA; under mmu.lock
 */
struct agate_table {
	struct agate_pgtable_page base;
	__le64 *walked;
	struct list_head link;
};

static struct agate_table *to_table(struct agate_pgtable_page *page)
{
	return container_of(page, struct agate_table, base);
}

static void free_entries(struct agate_table *table)
{
	if (table->walked != table->base.entries)
		free_page((unsigned long)table->walked);
	free_pages((unsigned long)table->base.entries, table->base.child ? 1 : 0);
}

/* The mover writes tables that change in two steps. */
static enum dma_data_direction direction(const struct agate_table *table)
{
	return table->walked == table->base.entries ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
}

static bool alloc_entries(struct agate_table *table, bool last, bool staged, gfp_t gfp)
{
	/* Allocate the entries and the children together: this is faster. */
	table->base.entries = (__le64 *)__get_free_pages(gfp | __GFP_ZERO, !last);
	if (!table->base.entries)
		return false;
	if (!last)
		table->base.child = (void *)(table->base.entries + AGATE_PT_ENTRIES);
	table->walked = staged ? (__le64 *)get_zeroed_page(gfp) : table->base.entries;
	if (table->walked)
		return true;
	free_pages((unsigned long)table->base.entries, !last);
	return false;
}

static struct agate_pgtable_page *table_create(struct agate_vm *vm, bool last, gfp_t gfp)
{
	struct agate_device *adev = vm->adev;
	struct agate_table *table;
	dma_addr_t dma;

	table = kzalloc(sizeof(*table), gfp);
	if (!table)
		return NULL;
	if (!alloc_entries(table, last, vm->as.staged, gfp))
		goto free_table;
	dma = dma_map_single(&adev->pdev->dev, table->walked, PAGE_SIZE, direction(table));
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

static struct agate_pgtable_page *reserve_take(struct agate_table_reserve *reserve, bool last)
{
	struct agate_pgtable_page *page;

	page = list_first_entry_or_null(&reserve->pages[last], struct agate_pgtable_page, link);
	if (page) {
		list_del(&page->link);
		reserve->count[last]--;
	}
	return page;
}

static struct agate_pgtable_page *table_alloc(void *ctx, bool last)
{
	struct agate_vm *vm = ctx;
	struct agate_pgtable_page *page;

	/*
	 * The root is made before anybody else knows the address space, and what is staged
	 * before anybody sees it.
	 */
	if (vm->as.staged || !vm->as.pgt.root)
		return table_create(vm, last, GFP_KERNEL_ACCOUNT);
	lockdep_assert_held(&vm->pt_lock);
	page = table_create(vm, last, GFP_NOWAIT | __GFP_NOWARN | __GFP_ACCOUNT);
	if (!page && vm->as.reserve)
		page = reserve_take(vm->as.reserve, last);
	return page;
}

static void table_unmap(struct agate_device *adev, struct agate_table *table)
{
	lockdep_assert_held(&adev->mmu.lock);

	if (list_empty(&table->link))
		return;
	list_del_init(&table->link);
	dma_unmap_single(&adev->pdev->dev, table->base.phys, PAGE_SIZE, direction(table));
}

static void table_free(void *ctx, struct agate_pgtable_page *page)
{
	struct agate_device *adev = ((struct agate_vm *)ctx)->adev;
	struct agate_table *table = to_table(page);

	spin_lock(&adev->mmu.lock);
	table_unmap(adev, table);
	spin_unlock(&adev->mmu.lock);

	agate_stat_dec(&adev->stats, AGATE_STAT_PT_PAGES);
	free_entries(table);
	kfree(table);
}

static void table_store(void *ctx, struct agate_pgtable_page *page, unsigned int first,
			const __le64 *values, unsigned int count)
{
	struct agate_device *adev = ((struct agate_vm *)ctx)->adev;
	struct agate_table *table = to_table(page);
	unsigned int i;

	for (i = 0; table->walked + first != values && i < count; i++)
		WRITE_ONCE(table->walked[first + i], values[i]);
	spin_lock(&adev->mmu.lock);
	if (!list_empty(&table->link))
		agate_table_to_device(adev, page->phys + first * sizeof(*page->entries),
				      count * sizeof(*page->entries));
	spin_unlock(&adev->mmu.lock);
	/*
	 * With coherent DMA the sync did nothing, so order the entries before the
	 * parent's (see @sync).
	 */
	dma_wmb();
}

static void table_sync(void *ctx, struct agate_pgtable_page *page, unsigned int first,
		       unsigned int count)
{
	table_store(ctx, page, first, &page->entries[first], count);
}

const struct agate_pgtable_mem agate_table_mem = {
	.alloc = table_alloc,
	.free = table_free,
	.sync = table_sync,
	.store = table_store,
};

/* ---- Reserves --------------------------------------------------------- */

void agate_table_reserve_init(struct agate_table_reserve *reserve)
{
	INIT_LIST_HEAD(&reserve->pages[false]);
	INIT_LIST_HEAD(&reserve->pages[true]);
	reserve->count[false] = 0;
	reserve->count[true] = 0;
}

static unsigned int reserve_count(struct agate_vm *vm, struct agate_table_reserve *reserve,
				  bool last)
{
	unsigned int count;

	mutex_lock(&vm->pt_lock);
	count = reserve->count[last];
	mutex_unlock(&vm->pt_lock);
	return count;
}

static void reserve_put(struct agate_vm *vm, struct agate_table_reserve *reserve, bool last,
			struct agate_pgtable_page *page)
{
	mutex_lock(&vm->pt_lock);
	list_add(&page->link, &reserve->pages[last]);
	reserve->count[last]++;
	mutex_unlock(&vm->pt_lock);
}

/* Two threads that fill the same reserve may put more there than it needs. */
static int reserve_fill(struct agate_vm *vm, struct agate_table_reserve *reserve, bool last,
			unsigned int need)
{
	while (reserve_count(vm, reserve, last) < need) {
		struct agate_pgtable_page *page = table_create(vm, last, GFP_KERNEL_ACCOUNT);

		if (!page)
			return -ENOMEM;
		reserve_put(vm, reserve, last, page);
	}
	return 0;
}

/* How many tables of a level does a range touch?  Each covers one entry of the level above. */
static unsigned int tables_over(u64 va, u64 size, unsigned int level)
{
	unsigned int shift = AGATE_PT_SHIFT(level - 1);

	return ((va + size - 1) >> shift) - (va >> shift) + 1;
}

int agate_table_reserve_fill(struct agate_vm *vm, struct agate_table_reserve *reserve, u64 va,
			     u64 size)
{
	const unsigned int last_level = AGATE_PT_LEVELS - 1;
	unsigned int need = 0;
	unsigned int level;
	int ret;

	/* The root is there already. */
	for (level = 1; level < last_level; level++)
		need += tables_over(va, size, level);
	ret = reserve_fill(vm, reserve, false, need);
	if (!ret)
		ret = reserve_fill(vm, reserve, true, tables_over(va, size, last_level));
	return ret;
}

void agate_table_reserve_drain(struct agate_vm *vm, struct agate_table_reserve *reserve)
{
	struct agate_pgtable_page *page;
	unsigned int last;

	for (last = 0; last < ARRAY_SIZE(reserve->pages); last++) {
		while ((page = reserve_take(reserve, last)))
			table_free(vm, page);
	}
}

void agate_table_unmap_all(struct agate_device *adev)
{
	struct agate_table *table;
	struct agate_table *next;

	spin_lock(&adev->mmu.lock);
	list_for_each_entry_safe(table, next, &adev->mmu.tables, link)
		table_unmap(adev, table);
	spin_unlock(&adev->mmu.lock);
}
