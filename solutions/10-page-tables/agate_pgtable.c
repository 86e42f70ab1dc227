// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page tables for the GPU's MMU: map, unmap, translate.
 *
 * Map and unmap first count the table pages that they will need, and allocate all
 * of them.  The rest cannot fail, so they never have to roll back, and the GPU
 * never sees half a change.  They fill a table before its parent points to it, and
 * unlink a table that became empty, so every table in the tree maps something.
 */
#include <linux/align.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/minmax.h>

#include "agate_pgtable.h"
#include "agate_regs.h"

#define LAST_LEVEL	(AGATE_PT_LEVELS - 1)
#define PAGE_BYTES	BIT_ULL(AGATE_PT_SHIFT(LAST_LEVEL))
#define VA_LIMIT	BIT_ULL(AGATE_VA_BITS)
#define PA_LIMIT	BIT_ULL(AGATE_PHYS_BITS)

/* No leaf is larger than 1 GiB. */
#define FIRST_LEAF_LEVEL	1

/* ---- Geometry --------------------------------------------------------- */

static unsigned int level_index(u64 va, unsigned int level)
{
	return (va >> AGATE_PT_SHIFT(level)) % AGATE_PT_ENTRIES;
}

/* The end of the part of [va, end) that one entry of this level covers. */
static u64 entry_end(u64 va, u64 end, unsigned int level)
{
	return min(end, (va | (agate_pgtable_level_bytes(level) - 1)) + 1);
}

/*
 * How many leaves of this level can map the beginning of [va, end); 0 when it needs
 * smaller ones.
 */
static unsigned int leaves_in(u64 va, u64 end, u64 pa, unsigned int level)
{
	if (level < FIRST_LEAF_LEVEL || !IS_ALIGNED(va | pa, agate_pgtable_level_bytes(level)))
		return 0;
	return (end - va) >> AGATE_PT_SHIFT(level);
}

/* A table of the last level has no children. */
static struct agate_pgtable_page *child_of(const struct agate_pgtable_page *table,
					   unsigned int index)
{
	return table && table->child ? table->child[index] : NULL;
}

static u64 entry_of(const struct agate_pgtable_page *table, unsigned int index)
{
	return table ? le64_to_cpu(table->entries[index]) : 0;
}

static bool is_leaf(const struct agate_pgtable *pgt, const struct agate_pgtable_page *table,
		    unsigned int index, unsigned int level)
{
	u64 entry = entry_of(table, index);

	/* Most entries that are not leaves are 0, and 0 is not a leaf in any format. */
	return entry && pgt->format->ate_is_valid(entry, level);
}

/* Find the smallest table that covers all of [va, end): the tables above it do not change. */
static struct agate_pgtable_page *table_over(const struct agate_pgtable *pgt, u64 va, u64 end,
					     unsigned int *level)
{
	const u64 differ = va ^ (end - 1);
	struct agate_pgtable_page *table = pgt->root;

	for (*level = 0; *level < LAST_LEVEL && differ < agate_pgtable_level_bytes(*level);
	     (*level)++) {
		struct agate_pgtable_page *child = table->child[level_index(va, *level)];

		if (!child)
			break;
		table = child;
	}
	return table;
}

static bool range_is_valid(u64 start, u64 size, u64 limit)
{
	return size && IS_ALIGNED(start | size, PAGE_BYTES) && start < limit &&
	       size <= limit - start;
}

/* ---- Spare table pages ------------------------------------------------ */

/**
 * struct spare - the table pages that a change needs, allocated before it begins
 * @need: how many of the levels above the last one
 * @need_last: how many of the last level
 * @pages: those of the last level are at the end
 */
struct spare {
	unsigned int need;
	unsigned int need_last;
	struct list_head pages;
};

static void spare_count(struct spare *spare, unsigned int level)
{
	if (level == LAST_LEVEL)
		spare->need_last++;
	else
		spare->need++;
}

static int spare_fill(struct agate_pgtable *pgt, struct spare *spare)
{
	while (spare->need || spare->need_last) {
		bool last = !spare->need;
		struct agate_pgtable_page *page = pgt->mem->alloc(pgt->ctx, last);

		if (!page) {
			agate_pgtable_free_list(pgt, &spare->pages);
			return -ENOMEM;
		}
		list_add_tail(&page->link, &spare->pages);
		if (last)
			spare->need_last--;
		else
			spare->need--;
	}
	return 0;
}

static struct agate_pgtable_page *spare_take(struct agate_pgtable *pgt, struct spare *spare,
					     unsigned int level)
{
	struct agate_pgtable_page *page;

	if (level == LAST_LEVEL)
		page = list_last_entry(&spare->pages, struct agate_pgtable_page, link);
	else
		page = list_first_entry(&spare->pages, struct agate_pgtable_page, link);
	list_del(&page->link);
	pgt->pages++;
	return page;
}

/* Make a filled table visible to the walker. */
static void link_child(struct agate_pgtable *pgt, struct agate_pgtable_page *table,
		       unsigned int index, struct agate_pgtable_page *child)
{
	table->child[index] = child;
	pgt->format->entry_set_pte(&table->entries[index], child->phys);
	pgt->mem->sync(pgt->ctx, table, index, 1);
}

/* ---- Map -------------------------------------------------------------- */

static bool entries_are_free(const struct agate_pgtable *pgt,
			     const struct agate_pgtable_page *table, unsigned int level,
			     unsigned int first, unsigned int count)
{
	unsigned int i;

	for (i = first; i < first + count; i++) {
		/* Every child table maps something. */
		if (table->entries[i] &&
		    (child_of(table, i) || is_leaf(pgt, table, i, level)))
			return false;
	}
	return true;
}

/* Is [va, end) free, and which tables are missing?  @table is NULL if it is missing itself. */
static int plan_map(struct agate_pgtable *pgt, const struct agate_pgtable_page *table,
		    unsigned int level, u64 va, u64 end, u64 pa, struct spare *spare)
{
	while (va < end) {
		unsigned int index = level_index(va, level);
		unsigned int leaves = leaves_in(va, end, pa, level);
		u64 next = leaves ? va + leaves * agate_pgtable_level_bytes(level) :
				    entry_end(va, end, level);

		if (leaves) {
			if (table && !entries_are_free(pgt, table, level, index, leaves))
				return -EEXIST;
		} else {
			const struct agate_pgtable_page *child = child_of(table, index);
			int ret;

			if (is_leaf(pgt, table, index, level))
				return -EEXIST;
			if (!child)
				spare_count(spare, level + 1);
			ret = plan_map(pgt, child, level + 1, va, next, pa, spare);
			if (ret)
				return ret;
		}
		pa += next - va;
		va = next;
	}
	return 0;
}

static void set_leaves(struct agate_pgtable *pgt, struct agate_pgtable_page *table,
		       unsigned int level, unsigned int first, unsigned int count, u64 pa, u32 prot)
{
	pgt->format->entries_set_ate(&table->entries[first], count, pa, prot, level);
	table->used += count;
	pgt->mem->sync(pgt->ctx, table, first, count);
}

static void commit_map(struct agate_pgtable *pgt, struct agate_pgtable_page *table,
		       unsigned int level, u64 va, u64 end, u64 pa, u32 prot,
		       struct spare *spare)
{
	while (va < end) {
		unsigned int index = level_index(va, level);
		unsigned int leaves = leaves_in(va, end, pa, level);
		u64 next = leaves ? va + leaves * agate_pgtable_level_bytes(level) :
				    entry_end(va, end, level);

		if (leaves) {
			set_leaves(pgt, table, level, index, leaves, pa, prot);
		} else if (table->child[index]) {
			commit_map(pgt, table->child[index], level + 1, va, next, pa, prot, spare);
		} else {
			struct agate_pgtable_page *child = spare_take(pgt, spare, level + 1);

			commit_map(pgt, child, level + 1, va, next, pa, prot, spare);
			link_child(pgt, table, index, child);
			table->used++;
		}
		pa += next - va;
		va = next;
	}
}

/* Map a range that needs tables below this one. */
static int map_below(struct agate_pgtable *pgt, struct agate_pgtable_page *table,
		     unsigned int level, u64 va, u64 end, u64 pa, u32 prot)
{
	struct spare spare = { .pages = LIST_HEAD_INIT(spare.pages) };
	int ret;

	ret = plan_map(pgt, table, level, va, end, pa, &spare);
	if (ret)
		return ret;
	ret = spare_fill(pgt, &spare);
	if (ret)
		return ret;
	commit_map(pgt, table, level, va, end, pa, prot, &spare);
	return 0;
}

int agate_pgtable_map(struct agate_pgtable *pgt, u64 va, u64 pa, u64 size, u32 prot)
{
	const u64 end = va + size;
	struct agate_pgtable_page *table;
	unsigned int leaves;
	unsigned int level;

	if (!range_is_valid(va, size, VA_LIMIT) || !range_is_valid(pa, size, PA_LIMIT))
		return -EINVAL;
	if (!(prot & (AGATE_PROT_READ | AGATE_PROT_WRITE)))
		return -EINVAL;

	table = table_over(pgt, va, end, &level);
	leaves = leaves_in(va, end, pa, level);
	if (!leaves || !IS_ALIGNED(end, agate_pgtable_level_bytes(level)))
		return map_below(pgt, table, level, va, end, pa, prot);
	/* Most ranges end up here: they need leaves of one table, and no new one. */
	if (!entries_are_free(pgt, table, level, level_index(va, level), leaves))
		return -EEXIST;
	set_leaves(pgt, table, level, level_index(va, level), leaves, pa, prot);
	return 0;
}

/* ---- Unmap ------------------------------------------------------------ */

/* Find the table and level of the leaf that straddles an address, or NULL. */
static struct agate_pgtable_page *find_straddled(const struct agate_pgtable *pgt, u64 va,
						 unsigned int *level)
{
	struct agate_pgtable_page *table;

	if (va == VA_LIMIT)
		return NULL;
	table = table_over(pgt, va, va + 1, level);
	if (IS_ALIGNED(va, agate_pgtable_level_bytes(*level)) ||
	    !is_leaf(pgt, table, level_index(va, *level), *level))
		return NULL;
	return table;
}

/* Count the tables that are necessary to make a leaf begin at this address. */
static void plan_split(struct agate_pgtable *pgt, u64 va, struct spare *spare)
{
	unsigned int level;

	if (!find_straddled(pgt, va, &level))
		return;
	for (; !IS_ALIGNED(va, agate_pgtable_level_bytes(level)); level++)
		spare_count(spare, level + 1);
}

/* Split the leaf that straddles an address into smaller ones, until a leaf begins there. */
static void commit_split(struct agate_pgtable *pgt, u64 va, struct spare *spare)
{
	unsigned int level;
	struct agate_pgtable_page *table = find_straddled(pgt, va, &level);

	while (table && !IS_ALIGNED(va, agate_pgtable_level_bytes(level))) {
		unsigned int index = level_index(va, level);
		u64 entry = entry_of(table, index);
		u64 pa = pgt->format->pte_to_phy_addr(entry);
		struct agate_pgtable_page *child = spare_take(pgt, spare, level + 1);

		pgt->format->entries_set_ate(child->entries, AGATE_PT_ENTRIES, pa,
					     pgt->format->ate_prot(entry), level + 1);
		child->used = AGATE_PT_ENTRIES;
		pgt->mem->sync(pgt->ctx, child, 0, AGATE_PT_ENTRIES);
		link_child(pgt, table, index, child);
		table = child;
		level++;
	}
}

static void cut_off(struct agate_pgtable *pgt, struct agate_pgtable_page *table,
		    unsigned int index, struct list_head *gone)
{
	list_add_tail(&table->child[index]->link, gone);
	table->child[index] = NULL;
	pgt->format->entry_invalidate(&table->entries[index]);
	table->used--;
	pgt->pages--;
	pgt->mem->sync(pgt->ctx, table, index, 1);
}

/* The caller has split all leaves that straddled an end of [va, end). */
static void commit_unmap(struct agate_pgtable *pgt, struct agate_pgtable_page *table,
			 unsigned int level, u64 va, u64 end, struct list_head *gone)
{
	const u64 bytes = agate_pgtable_level_bytes(level);
	unsigned int first = level_index(va, level);
	unsigned int count = level_index(end - 1, level) - first + 1;
	unsigned int leaves;
	unsigned int i;

	leaves = pgt->format->ates_invalidate(&table->entries[first], count, level);
	if (leaves) {
		table->used -= leaves;
		pgt->mem->sync(pgt->ctx, table, first, count);
	}
	/* All of them were leaves: there is no child to look for. */
	if (leaves == count || level == LAST_LEVEL)
		return;
	for (i = first; i < first + count; i++) {
		if (table->child[i]) {
			u64 begin = max(va, ALIGN_DOWN(va, bytes) + (i - first) * bytes);

			commit_unmap(pgt, table->child[i], level + 1, begin,
				     entry_end(begin, end, level), gone);
			if (!table->child[i]->used)
				cut_off(pgt, table, i, gone);
		}
	}
}

/* Split the leaves that straddle the ends of [va, end). */
static int split_ends(struct agate_pgtable *pgt, u64 va, u64 end)
{
	struct spare spare = { .pages = LIST_HEAD_INIT(spare.pages) };
	int ret;

	plan_split(pgt, va, &spare);
	plan_split(pgt, end, &spare);
	if (!spare.need && !spare.need_last)
		return 0;
	ret = spare_fill(pgt, &spare);
	if (ret)
		return ret;
	commit_split(pgt, va, &spare);
	commit_split(pgt, end, &spare);

	/* Two splits of one block share a table, which plan_split() counted twice. */
	agate_pgtable_free_list(pgt, &spare.pages);
	return 0;
}

int agate_pgtable_unmap(struct agate_pgtable *pgt, u64 va, u64 size, struct list_head *gone)
{
	const u64 end = va + size;
	struct agate_pgtable_page *table;
	unsigned int level;

	if (!range_is_valid(va, size, VA_LIMIT))
		return -EINVAL;

	table = table_over(pgt, va, end, &level);
	/* No leaf below is larger than one entry of this table. */
	if (!IS_ALIGNED(va | end, agate_pgtable_level_bytes(level))) {
		int ret = split_ends(pgt, va, end);

		if (ret)
			return ret;
	}
	/* If this table might become empty, start at the root, which can unlink it. */
	if (table->used <= level_index(end - 1, level) - level_index(va, level) + 1) {
		table = pgt->root;
		level = 0;
	}
	commit_unmap(pgt, table, level, va, end, gone);
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

/* Find the table and level of the leaf that covers an address, or NULL. */
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
		*pa = pgt->format->pte_to_phy_addr(entry) |
		      (va & (agate_pgtable_level_bytes(level) - 1));
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
	pgt->root = mem->alloc(ctx, false);
	if (!pgt->root)
		return -ENOMEM;
	pgt->pages = 1;
	return 0;
}

static void free_tables(struct agate_pgtable *pgt, struct agate_pgtable_page *table)
{
	unsigned int i;

	for (i = 0; table->child && i < AGATE_PT_ENTRIES; i++) {
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
