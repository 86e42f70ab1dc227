// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page tables for the GPU's MMU: map, unmap, translate.
 *
 * Map and unmap first find out how many table pages they will need and get them
 * all; what follows cannot fail, so there is nothing to roll back and the GPU
 * never sees half a change.  A table is filled before its parent points to it,
 * and one that became empty is cut off, so a table in the tree always maps
 * something.
 */
#include <asm/byteorder.h>
#include <linux/align.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/minmax.h>

#include "agate_pgtable.h"
#include "agate_regs.h"

#define PAGE_BYTES	BIT_ULL(AGATE_PT_SHIFT(AGATE_PT_LEVELS - 1))
#define VA_LIMIT	BIT_ULL(AGATE_VA_BITS)
#define PA_LIMIT	BIT_ULL(AGATE_PHYS_BITS)

/* No leaf is larger than 1 GiB. */
#define FIRST_LEAF_LEVEL	1

/* ---- Geometry --------------------------------------------------------- */

static u64 level_bytes(unsigned int level)
{
	return BIT_ULL(AGATE_PT_SHIFT(level));
}

static unsigned int level_index(u64 va, unsigned int level)
{
	return (va >> AGATE_PT_SHIFT(level)) % AGATE_PT_ENTRIES;
}

/* Where the part of [va, end) that one entry of this level covers ends. */
static u64 entry_end(u64 va, u64 end, unsigned int level)
{
	return min(end, (va | (level_bytes(level) - 1)) + 1);
}

static bool leaf_fits(u64 va, u64 next, u64 pa, unsigned int level)
{
	return level >= FIRST_LEAF_LEVEL && next - va == level_bytes(level) &&
	       IS_ALIGNED(pa, level_bytes(level));
}

static struct agate_pgtable_page *child_of(const struct agate_pgtable_page *table,
					   unsigned int index)
{
	return table ? table->child[index] : NULL;
}

static u64 entry_of(const struct agate_pgtable_page *table, unsigned int index)
{
	return table ? le64_to_cpu(table->entries[index]) : 0;
}

static bool range_is_valid(u64 start, u64 size, u64 limit)
{
	return size && IS_ALIGNED(start | size, PAGE_BYTES) && start < limit &&
	       size <= limit - start;
}

/* ---- Spare table pages ------------------------------------------------ */

/* What a change will need, gathered before it begins. */
struct spare {
	unsigned int need;
	struct list_head pages;
};

static int spare_fill(struct agate_pgtable *pgt, struct spare *spare)
{
	while (spare->need) {
		struct agate_pgtable_page *page = pgt->mem->alloc(pgt->ctx);

		if (!page) {
			agate_pgtable_free_list(pgt, &spare->pages);
			return -ENOMEM;
		}
		list_add(&page->link, &spare->pages);
		spare->need--;
	}
	return 0;
}

static struct agate_pgtable_page *spare_take(struct agate_pgtable *pgt, struct spare *spare)
{
	struct agate_pgtable_page *page;

	page = list_first_entry(&spare->pages, struct agate_pgtable_page, link);
	list_del(&page->link);
	pgt->pages++;
	return page;
}

/* ---- Map -------------------------------------------------------------- */

/* Is [va, end) free, and which tables are missing?  @table may be one of those. */
static int plan_map(struct agate_pgtable *pgt, const struct agate_pgtable_page *table,
		    unsigned int level, u64 va, u64 end, u64 pa, struct spare *spare)
{
	while (va < end) {
		u64 next = entry_end(va, end, level);
		unsigned int index = level_index(va, level);
		const struct agate_pgtable_page *child = child_of(table, index);

		if (pgt->format->ate_is_valid(entry_of(table, index), level))
			return -EEXIST;
		if (leaf_fits(va, next, pa, level)) {
			/* A table that is there maps something. */
			if (child)
				return -EEXIST;
		} else {
			int ret;

			if (!child)
				spare->need++;
			ret = plan_map(pgt, child, level + 1, va, next, pa, spare);
			if (ret)
				return ret;
		}
		pa += next - va;
		va = next;
	}
	return 0;
}

static void commit_map(struct agate_pgtable *pgt, struct agate_pgtable_page *table,
		       unsigned int level, u64 va, u64 end, u64 pa, u32 prot,
		       struct spare *spare)
{
	unsigned int first = level_index(va, level);
	unsigned int last = level_index(end - 1, level);

	while (va < end) {
		u64 next = entry_end(va, end, level);
		unsigned int index = level_index(va, level);
		struct agate_pgtable_page *child = child_of(table, index);

		if (leaf_fits(va, next, pa, level)) {
			pgt->format->entry_set_ate(&table->entries[index], pa, prot, level);
			table->used++;
		} else if (child) {
			commit_map(pgt, child, level + 1, va, next, pa, prot, spare);
		} else {
			child = spare_take(pgt, spare);
			commit_map(pgt, child, level + 1, va, next, pa, prot, spare);
			table->child[index] = child;
			pgt->format->entry_set_pte(&table->entries[index], child->phys);
			table->used++;
		}
		pa += next - va;
		va = next;
	}
	pgt->mem->sync(pgt->ctx, table, first, last - first + 1);
}

int agate_pgtable_map(struct agate_pgtable *pgt, u64 va, u64 pa, u64 size, u32 prot)
{
	struct spare spare = { .pages = LIST_HEAD_INIT(spare.pages) };
	int ret;

	if (!range_is_valid(va, size, VA_LIMIT) || !range_is_valid(pa, size, PA_LIMIT))
		return -EINVAL;
	if (!(prot & (AGATE_PROT_READ | AGATE_PROT_WRITE)))
		return -EINVAL;

	ret = plan_map(pgt, pgt->root, 0, va, va + size, pa, &spare);
	if (ret)
		return ret;
	ret = spare_fill(pgt, &spare);
	if (ret)
		return ret;
	commit_map(pgt, pgt->root, 0, va, va + size, pa, prot, &spare);
	return 0;
}

/* ---- Unmap ------------------------------------------------------------ */

/* The table and level that hold the leaf over an address, or NULL. */
static struct agate_pgtable_page *find_leaf(const struct agate_pgtable *pgt, u64 va,
					    unsigned int *level)
{
	struct agate_pgtable_page *table = pgt->root;

	for (*level = 0; table; (*level)++) {
		unsigned int index = level_index(va, *level);
		u64 entry = entry_of(table, index);

		if (pgt->format->ate_is_valid(entry, *level))
			return table;
		table = pgt->format->pte_is_valid(entry, *level) ? child_of(table, index) : NULL;
	}
	return NULL;
}

/* Which tables does it take for a leaf to begin at this address? */
static void plan_split(struct agate_pgtable *pgt, u64 va, struct spare *spare)
{
	unsigned int level;

	if (va == VA_LIMIT || !find_leaf(pgt, va, &level))
		return;
	for (; !IS_ALIGNED(va, level_bytes(level)); level++)
		spare->need++;
}

/* Replace leaves over an address by tables of smaller ones until one begins there. */
static void commit_split(struct agate_pgtable *pgt, u64 va, struct spare *spare)
{
	struct agate_pgtable_page *table;
	unsigned int level;

	if (va == VA_LIMIT)
		return;
	table = find_leaf(pgt, va, &level);
	while (table && !IS_ALIGNED(va, level_bytes(level))) {
		unsigned int index = level_index(va, level);
		u64 entry = entry_of(table, index);
		u64 pa = pgt->format->pte_to_phy_addr(entry);
		struct agate_pgtable_page *child = spare_take(pgt, spare);
		unsigned int i;

		for (i = 0; i < AGATE_PT_ENTRIES; i++)
			pgt->format->entry_set_ate(&child->entries[i],
						   pa + i * level_bytes(level + 1),
						   pgt->format->ate_prot(entry), level + 1);
		child->used = AGATE_PT_ENTRIES;
		pgt->mem->sync(pgt->ctx, child, 0, AGATE_PT_ENTRIES);

		table->child[index] = child;
		pgt->format->entry_set_pte(&table->entries[index], child->phys);
		pgt->mem->sync(pgt->ctx, table, index, 1);

		table = child;
		level++;
	}
}

/* No leaf straddles the ends of [va, end) any more. */
static void commit_unmap(struct agate_pgtable *pgt, struct agate_pgtable_page *table,
			 unsigned int level, u64 va, u64 end, struct list_head *gone)
{
	unsigned int first = level_index(va, level);
	unsigned int last = level_index(end - 1, level);

	while (va < end) {
		u64 next = entry_end(va, end, level);
		unsigned int index = level_index(va, level);
		struct agate_pgtable_page *child = child_of(table, index);

		if (child) {
			commit_unmap(pgt, child, level + 1, va, next, gone);
			if (!child->used) {
				pgt->format->entry_invalidate(&table->entries[index]);
				table->child[index] = NULL;
				table->used--;
				list_add_tail(&child->link, gone);
				pgt->pages--;
			}
		} else if (pgt->format->ate_is_valid(entry_of(table, index), level)) {
			pgt->format->entry_invalidate(&table->entries[index]);
			table->used--;
		}
		va = next;
	}
	pgt->mem->sync(pgt->ctx, table, first, last - first + 1);
}

int agate_pgtable_unmap(struct agate_pgtable *pgt, u64 va, u64 size, struct list_head *gone)
{
	struct spare spare = { .pages = LIST_HEAD_INIT(spare.pages) };
	int ret;

	if (!range_is_valid(va, size, VA_LIMIT))
		return -EINVAL;

	plan_split(pgt, va, &spare);
	plan_split(pgt, va + size, &spare);
	ret = spare_fill(pgt, &spare);
	if (ret)
		return ret;
	commit_split(pgt, va, &spare);
	commit_split(pgt, va + size, &spare);
	commit_unmap(pgt, pgt->root, 0, va, va + size, gone);

	/* Two splits of one block share a table that was counted twice. */
	agate_pgtable_free_list(pgt, &spare.pages);
	return 0;
}

void agate_pgtable_free_list(struct agate_pgtable *pgt, struct list_head *gone)
{
	struct agate_pgtable_page *page;
	struct agate_pgtable_page *next;

	list_for_each_entry_safe(page, next, gone, link) {
		list_del(&page->link);
		pgt->mem->free(pgt->ctx, page);
	}
}

/* ---- Translate, create, destroy --------------------------------------- */

int agate_pgtable_translate(const struct agate_pgtable *pgt, u64 va, u64 *pa, u32 *prot)
{
	struct agate_pgtable_page *table;
	unsigned int level;
	u64 entry;

	if (va >= VA_LIMIT)
		return -ENOENT;
	table = find_leaf(pgt, va, &level);
	if (!table)
		return -ENOENT;

	entry = entry_of(table, level_index(va, level));
	if (pa)
		*pa = pgt->format->pte_to_phy_addr(entry) | (va & (level_bytes(level) - 1));
	if (prot)
		*prot = pgt->format->ate_prot(entry);
	return 0;
}

int agate_pgtable_init(struct agate_pgtable *pgt, const struct agate_pgtable_format *format,
		       const struct agate_pgtable_mem *mem, void *ctx)
{
	pgt->format = format;
	pgt->mem = mem;
	pgt->ctx = ctx;
	pgt->pages = 0;
	pgt->root = mem->alloc(ctx);
	if (!pgt->root)
		return -ENOMEM;
	pgt->pages = 1;
	return 0;
}

static void free_tables(struct agate_pgtable *pgt, struct agate_pgtable_page *table)
{
	unsigned int i;

	for (i = 0; i < AGATE_PT_ENTRIES; i++) {
		if (table->child[i])
			free_tables(pgt, table->child[i]);
	}
	pgt->mem->free(pgt->ctx, table);
}

void agate_pgtable_fini(struct agate_pgtable *pgt)
{
	if (pgt->root)
		free_tables(pgt, pgt->root);
	pgt->root = NULL;
	pgt->pages = 0;
}

int agate_pgtable_topic_init(struct agate_device *adev)
{
	return 0;
}

void agate_pgtable_topic_fini(struct agate_device *adev)
{
}
