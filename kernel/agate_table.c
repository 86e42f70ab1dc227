// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages for page tables: see agate_table.h.
 *
 * A table page belongs to an open file's address space, and a file can stay open
 * after the device is unplugged.  So the device keeps a list of all pages, and
 * undoes their DMA mappings before the driver is unbound.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "agate_device.h"
#include "agate_hand_over.h"
#include "agate_kmem.h"
#include "agate_mmu.h"
#include "agate_table.h"
#include "agate_vm.h"

/**
 * struct agate_table - one table page
 * @base: what agate_pgtable.c sees; a page with @base.child follows @base.entries
 * @walked: the entries that the GPU walks: @base.entries, or a page of their own where the
 *	table changes in two steps; NULL if they are in @vram
 * @vram: that page of their own, on a card; or NULL
 * @link: in mmu.tables while the GPU may walk the table, and @walked is mapped for DMA; under
 *	mmu.lock
 */
struct agate_table {
	struct agate_pgtable_page base;
	__le64 *walked;
	struct agate_kmem *vram;
	struct list_head link;
};

static struct agate_table *to_table(struct agate_pgtable_page *page)
{
	return container_of(page, struct agate_table, base);
}

static void free_entries(struct agate_table *table)
{
	agate_kmem_destroy(table->vram);
	if (table->walked != table->base.entries)
		free_page((unsigned long)table->walked);
	free_pages((unsigned long)table->base.entries, table->base.child ? 1 : 0);
}

/* The mover writes tables that change in two steps. */
static enum dma_data_direction direction(const struct agate_table *table)
{
	return table->walked == table->base.entries ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
}

/*
 * Where an address space's table goes: to VRAM, which the GPU walks faster, or if tables have
 * their part of that already, to system memory.
 */
enum where { ONE_COPY, WALKED, ASIDE };

static bool alloc_walked(struct agate_device *adev, struct agate_table *table, enum where where,
			 gfp_t gfp)
{
	struct agate_kmem *vram = NULL;

	if (where == WALKED && agate_topic_present(adev, AGATE_FEATURE_CARD))
		vram = agate_kmem_create(adev, PAGE_SIZE, AGATE_KMEM_TABLE);
	if (!IS_ERR_OR_NULL(vram))
		table->vram = vram;
	else
		table->walked = (__le64 *)get_zeroed_page(gfp);
	return table->vram || table->walked;
}

static bool alloc_entries(struct agate_device *adev, struct agate_table *table, bool last,
			  enum where where, gfp_t gfp)
{
	/* Allocate the entries and the children together: this is faster. */
	table->base.entries = (__le64 *)__get_free_pages(gfp | __GFP_ZERO, !last);
	if (!table->base.entries)
		return false;
	if (!last)
		table->base.child = (void *)(table->base.entries + AGATE_PT_ENTRIES);
	if (where == ONE_COPY) {
		table->walked = table->base.entries;
		return true;
	}
	if (alloc_walked(adev, table, where, gfp))
		return true;
	free_pages((unsigned long)table->base.entries, !last);
	return false;
}

/* Return: false: no DMA address. */
static bool table_map(struct agate_device *adev, struct agate_table *table)
{
	dma_addr_t dma;

	if (table->vram) {
		table->base.phys = AGATE_PHYS_VRAM + table->vram->addr;
		return true;
	}
	dma = dma_map_single(&adev->pdev->dev, table->walked, PAGE_SIZE, direction(table));
	table->base.phys = dma;
	return !dma_mapping_error(&adev->pdev->dev, dma);
}

static struct agate_pgtable_page *table_create(struct agate_vm *vm, bool last, enum where where,
					       gfp_t gfp)
{
	struct agate_device *adev = vm->adev;
	struct agate_table *table;

	table = kzalloc(sizeof(*table), gfp);
	if (!table)
		return NULL;
	if (!alloc_entries(adev, table, last, where, gfp))
		goto free_table;
	if (!table_map(adev, table))
		goto free_pages;

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
	if (vm->as.staged)
		return table_create(vm, last, WALKED, GFP_KERNEL_ACCOUNT);
	if (!vm->as.pgt.root)
		return table_create(vm, last, ONE_COPY, GFP_KERNEL_ACCOUNT);
	lockdep_assert_held(&vm->pt_lock);
	page = table_create(vm, last, ONE_COPY, GFP_NOWAIT | __GFP_NOWARN | __GFP_ACCOUNT);
	if (!page && vm->as.reserve)
		page = reserve_take(vm->as.reserve, last);
	return page;
}

/* The mover reads it. */
static struct agate_pgtable_page *table_alloc_aside(void *ctx, bool last)
{
	return table_create(ctx, last, ASIDE, GFP_KERNEL_ACCOUNT);
}

static void table_unmap(struct agate_device *adev, struct agate_table *table)
{
	lockdep_assert_held(&adev->mmu.lock);

	if (list_empty(&table->link))
		return;
	list_del_init(&table->link);
	if (!table->vram)
		dma_unmap_single(&adev->pdev->dev, table->base.phys, PAGE_SIZE,
				 direction(table));
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

/* A store for each entry. */
static void write_vram(struct agate_table *table, unsigned int first, const __le64 *values,
		       unsigned int count)
{
	void __iomem *at = table->vram->vaddr + first * sizeof(*values);
	unsigned int i;

	/* The card has no power, and what resume brings back is in the copy. */
	if (table->vram->saved) {
		memcpy(table->vram->backup + first * sizeof(*values), values,
		       count * sizeof(*values));
		return;
	}
	for (i = 0; i < count; i++)
		writeq(le64_to_cpu(values[i]), at + i * sizeof(*values));
	/* They leave the CPU's write buffers before the entry does that leads to them. */
	wmb();
}

static void write_walked(struct agate_table *table, unsigned int first, const __le64 *values,
			 unsigned int count)
{
	unsigned int i;

	for (i = 0; table->walked + first != values && i < count; i++)
		WRITE_ONCE(table->walked[first + i], values[i]);
}

static void table_store(void *ctx, struct agate_pgtable_page *page, unsigned int first,
			const __le64 *values, unsigned int count)
{
	struct agate_device *adev = ((struct agate_vm *)ctx)->adev;
	struct agate_table *table = to_table(page);

	if (table->walked)
		write_walked(table, first, values, count);
	spin_lock(&adev->mmu.lock);
	/* Without the device there is no VRAM, and no DMA address. */
	if (!list_empty(&table->link) && table->vram)
		write_vram(table, first, values, count);
	else if (!list_empty(&table->link))
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
	.alloc_aside = table_alloc_aside,
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
		struct agate_pgtable_page *page = table_create(vm, last, ONE_COPY,
							       GFP_KERNEL_ACCOUNT);

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
