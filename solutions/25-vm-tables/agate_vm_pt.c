// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page tables that change in two steps.
 *
 * The contract is agate_vm_pt.h.
 */
#include <linux/align.h>
#include <linux/bits.h>
#include <linux/dma-resv.h>
#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>

#include "agate_card.h"
#include "agate_vm_pt.h"

#define LAST_LEVEL	(AGATE_PT_LEVELS - 1)
#define VA_LIMIT	BIT_ULL(AGATE_VA_BITS)
#define PAGE_BYTES	BIT_ULL(AGATE_PT_SHIFT(LAST_LEVEL))

/* No leaf is larger than 1 GiB. */
#define FIRST_LEAF_LEVEL	1

/**
 * struct change - what is being staged
 * @stage: where
 * @map: it maps memory; otherwise it unmaps
 * @runs: the memory behind @run
 * @run: what is left of the run that comes next
 * @prot: of the memory
 */
struct change {
	struct agate_pt_stage *stage;
	bool map;
	struct agate_runs runs;
	struct agate_run run;
	u32 prot;
};

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

/* How many entries are wholly in the range, from @va on? */
static unsigned int whole_entries(u64 va, u64 end, unsigned int level)
{
	if (!IS_ALIGNED(va, agate_pgtable_level_bytes(level)))
		return 0;
	return (end - va) >> AGATE_PT_SHIFT(level);
}

static struct agate_pgtable_page *child_of(const struct agate_pgtable_page *table,
					   unsigned int index)
{
	return table->child ? table->child[index] : NULL;
}

static u64 leaf_of(const struct agate_pgtable *pgt, const struct agate_pgtable_page *table,
		   unsigned int index, unsigned int level)
{
	u64 entry = le64_to_cpu(table->entries[index]);

	return entry && pgt->format->ate_is_valid(entry, level) ? entry : 0;
}

static bool is_used(const struct agate_pgtable *pgt, const struct agate_pgtable_page *table,
		    unsigned int index, unsigned int level)
{
	return child_of(table, index) || leaf_of(pgt, table, index, level);
}

/* ---- Private tables ---------------------------------------------------- */

static int build(struct change *change, struct agate_pgtable_page *parent, unsigned int level,
		 u64 va, u64 end, u64 leaf);
static int stage_parts(struct change *change, struct agate_pgtable_page *next,
		       unsigned int level, u64 va, u64 end);

static void set_child(const struct agate_pgtable *pgt, struct agate_pgtable_page *table,
		      unsigned int index, struct agate_pgtable_page *child)
{
	table->child[index] = child;
	pgt->format->entry_set_pte(&table->entries[index], child->phys);
}

/* How many leaves of a level can the next run fill? */
static unsigned int leaves_in_run(struct change *change, unsigned int level)
{
	if (!change->run.size)
		agate_runs_next(&change->runs, &change->run);
	if (level < FIRST_LEAF_LEVEL ||
	    !IS_ALIGNED(change->run.addr, agate_pgtable_level_bytes(level)))
		return 0;
	return change->run.size >> AGATE_PT_SHIFT(level);
}

/* New leaves, which replace whatever was there. */
static void set_leaves(struct change *change, struct agate_pgtable_page *table,
		       unsigned int level, unsigned int index, unsigned int count)
{
	u64 bytes = (u64)count << AGATE_PT_SHIFT(level);

	change->stage->pgt->format->entries_set_ate(&table->entries[index], count,
						    change->run.addr, change->prot, level);
	change->run.addr += bytes;
	change->run.size -= bytes;
}

/* The tables behind these entries go when the change is committed. */
static void forget(const struct agate_pgtable *pgt, struct agate_pgtable_page *table,
		   unsigned int first, unsigned int count)
{
	unsigned int i;

	for (i = first; i < first + count; i++) {
		pgt->format->entry_invalidate(&table->entries[i]);
		if (table->child)
			table->child[i] = NULL;
	}
}

/* [va, end) is some entries, which are wholly in the range. */
static int fill_whole(struct change *change, struct agate_pgtable_page *table,
		      unsigned int level, u64 va, u64 end)
{
	const unsigned int shift = AGATE_PT_SHIFT(level);
	int ret = 0;

	forget(change->stage->pgt, table, level_index(va, level), (end - va) >> shift);
	while (!ret && change->map && va < end) {
		u64 count = min((u64)leaves_in_run(change, level), (end - va) >> shift);

		if (count) {
			set_leaves(change, table, level, level_index(va, level), count);
		} else {
			count = 1;
			ret = build(change, table, level, va, va + BIT_ULL(shift), 0);
		}
		va += count << shift;
	}
	return ret;
}

static unsigned int count_used(const struct agate_pgtable *pgt,
			       const struct agate_pgtable_page *table, unsigned int level)
{
	unsigned int used = 0;
	unsigned int i;

	for (i = 0; i < AGATE_PT_ENTRIES; i++)
		used += is_used(pgt, table, i, level);
	return used;
}

/*
 * Build a private table for [va, end), which one entry of @parent covers, and link it there:
 * @parent is private as well, or the future of a shared one.  @leaf is what that entry was.
 */
static int build(struct change *change, struct agate_pgtable_page *parent, unsigned int level,
		 u64 va, u64 end, u64 leaf)
{
	struct agate_pgtable *pgt = change->stage->pgt;
	const struct agate_pgtable_format *format = pgt->format;
	struct agate_pgtable_page *table = pgt->mem->alloc(pgt->ctx, level + 1 == LAST_LEVEL);
	int ret;

	if (!table)
		return -ENOMEM;
	list_add_tail(&table->link, &change->stage->fresh);
	if (leaf)
		format->entries_set_ate(table->entries, AGATE_PT_ENTRIES,
					format->pte_to_phy_addr(leaf), format->ate_prot(leaf),
					level + 1);
	ret = stage_parts(change, table, level + 1, va, end);
	if (ret)
		return ret;
	table->used = count_used(pgt, table, level + 1);
	pgt->mem->sync(pgt->ctx, table, 0, AGATE_PT_ENTRIES);
	set_child(pgt, parent, level_index(va, level), table);
	return 0;
}

/* ---- Shared tables ----------------------------------------------------- */

/* Free the pages of the updates from this one on. */
static void drop_updates(struct agate_pt_stage *stage, unsigned int first)
{
	while (stage->updates > first) {
		struct agate_pt_update *update = &stage->update[--stage->updates];

		stage->pgt->mem->free(stage->pgt->ctx, update->next);
	}
}

/* The future of entries @first .. is their present, to begin with. */
static struct agate_pgtable_page *copy_entries(struct agate_pgtable *pgt,
					       const struct agate_pgtable_page *table,
					       unsigned int level, unsigned int first,
					       unsigned int count)
{
	struct agate_pgtable_page *next = pgt->mem->alloc_aside(pgt->ctx, level == LAST_LEVEL);
	unsigned int i;

	for (i = first; next && i < first + count; i++) {
		next->entries[i] = table->entries[i];
		if (table->child)
			next->child[i] = table->child[i];
	}
	return next;
}

static int stage_table(struct change *change, struct agate_pgtable_page *table,
		       unsigned int level, u64 va, u64 end, bool *empty);

/* [va, end) is a part of what one entry covers. */
static int stage_part(struct change *change, struct agate_pgtable_page *next,
		      unsigned int level, u64 va, u64 end)
{
	struct agate_pt_stage *stage = change->stage;
	unsigned int index = level_index(va, level);
	u64 leaf = leaf_of(stage->pgt, next, index, level);
	unsigned int before = stage->updates;
	bool empty = false;
	int ret;

	if (child_of(next, index)) {
		ret = stage_table(change, next->child[index], level + 1, va, end, &empty);
		if (!ret && empty) {
			drop_updates(stage, before);
			forget(stage->pgt, next, index, 1);
		}
		return ret;
	}
	if (!leaf && !change->map)
		return 0;
	return build(change, next, level, va, end, leaf);
}

/* @next is the future of a shared table, or a private one. */
static int stage_parts(struct change *change, struct agate_pgtable_page *next,
		       unsigned int level, u64 va, u64 end)
{
	int ret = 0;

	while (!ret && va < end) {
		unsigned int whole = whole_entries(va, end, level);
		u64 until = whole ? va + whole * agate_pgtable_level_bytes(level) :
				    entry_end(va, end, level);

		if (whole)
			ret = fill_whole(change, next, level, va, until);
		else
			ret = stage_part(change, next, level, va, until);
		va = until;
	}
	return ret;
}

static bool entry_differs(const struct agate_pt_update *update, unsigned int index)
{
	return update->table->entries[index] != update->next->entries[index];
}

/*
 * Leave out what does not change at the ends: such an entry may lead to a table that is
 * shared, and another change may replace it before this one is written.
 */
static void trim(struct agate_pt_update *update)
{
	while (update->count && !entry_differs(update, update->first)) {
		update->first++;
		update->count--;
	}
	while (update->count && !entry_differs(update, update->first + update->count - 1))
		update->count--;
}

static void add_update(struct agate_pt_stage *stage, const struct agate_pt_update *update)
{
	if (update->count) {
		stage->update[stage->updates++] = *update;
		return;
	}
	stage->pgt->mem->free(stage->pgt->ctx, update->next);
}

static int used_difference(const struct agate_pgtable *pgt, const struct agate_pt_update *update)
{
	int more = 0;
	unsigned int i;

	for (i = update->first; i < update->first + update->count; i++) {
		more += is_used(pgt, update->next, i, update->level);
		more -= is_used(pgt, update->table, i, update->level);
	}
	return more;
}

/* Stage the update of a shared table, or of the root; *@empty: it will map nothing. */
static int stage_table(struct change *change, struct agate_pgtable_page *table,
		       unsigned int level, u64 va, u64 end, bool *empty)
{
	struct agate_pt_stage *stage = change->stage;
	struct agate_pt_update update = {
		.table = table,
		.level = level,
		.first = level_index(va, level),
		.count = level_index(end - 1, level) - level_index(va, level) + 1,
	};
	int ret;

	update.next = copy_entries(stage->pgt, table, level, update.first, update.count);
	if (!update.next)
		return -ENOMEM;
	ret = stage_parts(change, update.next, level, va, end);
	if (ret) {
		stage->pgt->mem->free(stage->pgt->ctx, update.next);
		return ret;
	}
	trim(&update);
	update.used = used_difference(stage->pgt, &update);
	*empty = (int)table->used + update.used == 0;
	add_update(stage, &update);
	return 0;
}

/* ---- The steps --------------------------------------------------------- */

static void free_fresh(struct agate_pt_stage *stage)
{
	agate_pgtable_free_list(stage->pgt, &stage->fresh);
}

static int stage_change(struct change *change, struct agate_pgtable *pgt, u64 va, u64 size)
{
	struct agate_pt_stage *stage = change->stage;
	bool empty;
	int ret;

	stage->pgt = pgt;
	stage->updates = 0;
	INIT_LIST_HEAD(&stage->fresh);
	INIT_LIST_HEAD(&stage->gone);
	if (!size || !IS_ALIGNED(va | size, PAGE_BYTES) || va >= VA_LIMIT ||
	    size > VA_LIMIT - va)
		return -EINVAL;
	ret = stage_table(change, pgt->root, 0, va, va + size, &empty);
	if (ret)
		agate_pt_abort(stage);
	return ret;
}

int agate_pt_stage_map(struct agate_pt_stage *stage, struct agate_pgtable *pgt, u64 va,
		       struct agate_runs runs, u32 prot)
{
	struct change change = { .stage = stage, .map = true, .runs = runs, .prot = prot };
	struct agate_run run;
	u64 size = 0;

	while (agate_runs_next(&runs, &run))
		size += run.size;
	return stage_change(&change, pgt, va, size);
}

int agate_pt_stage_unmap(struct agate_pt_stage *stage, struct agate_pgtable *pgt, u64 va, u64 size)
{
	struct change change = { .stage = stage };

	return stage_change(&change, pgt, va, size);
}

void agate_pt_abort(struct agate_pt_stage *stage)
{
	drop_updates(stage, 0);
	free_fresh(stage);
}

/* A table with all that it leads to. */
static void collect(struct agate_pt_stage *stage, struct agate_pgtable_page *table)
{
	unsigned int i;

	for (i = 0; table->child && i < AGATE_PT_ENTRIES; i++) {
		if (table->child[i])
			collect(stage, table->child[i]);
	}
	list_add_tail(&table->link, &stage->gone);
	stage->pgt->pages--;
}

static void commit_update(struct agate_pt_stage *stage, const struct agate_pt_update *update)
{
	struct agate_pgtable_page *table = update->table;
	unsigned int i;

	for (i = update->first; i < update->first + update->count; i++) {
		struct agate_pgtable_page *old = child_of(table, i);

		if (old && old != update->next->child[i])
			collect(stage, old);
		if (table->child)
			table->child[i] = update->next->child[i];
		table->entries[i] = update->next->entries[i];
	}
	table->used += update->used;
}

void agate_pt_commit(struct agate_pt_stage *stage)
{
	const struct agate_pt_locks *locks = stage->pgt->locks;
	struct agate_pgtable_page *page, *next;
	unsigned int i;

	lockdep_assert_held(locks->vm);
	dma_resv_assert_held(locks->resv);
	lockdep_assert_held(locks->pt);

	for (i = 0; i < stage->updates; i++)
		commit_update(stage, &stage->update[i]);
	list_for_each_entry_safe(page, next, &stage->fresh, link) {
		list_del(&page->link);
		stage->pgt->pages++;
	}
}

void agate_pt_write_cpu(const struct agate_pt_stage *stage)
{
	const struct agate_pgtable *pgt = stage->pgt;
	unsigned int i;

	lockdep_assert_held(pgt->locks->pt);

	for (i = 0; i < stage->updates; i++) {
		const struct agate_pt_update *update = &stage->update[i];

		pgt->mem->store(pgt->ctx, update->table, update->first,
				&update->next->entries[update->first], update->count);
	}
}

unsigned int agate_pt_write_gpu(const struct agate_pt_stage *stage, struct agate_mover_cmd *cmds)
{
	const struct agate_pgtable *pgt = stage->pgt;
	unsigned int i;

	for (i = 0; i < stage->updates; i++) {
		const struct agate_pt_update *update = &stage->update[i];
		u64 offset = update->first * sizeof(__le64);

		pgt->mem->sync(pgt->ctx, update->next, update->first, update->count);
		cmds[i].op = AGATE_MOVER_STORE;
		cmds[i].flags = AGATE_MOVER_SRC(AGATE_MOVER_PHYS) |
				AGATE_MOVER_DST(AGATE_MOVER_PHYS);
		cmds[i].src = update->next->phys + offset;
		cmds[i].dst = update->table->phys + offset;
		cmds[i].length = update->count * sizeof(__le64);
	}
	return stage->updates;
}

void agate_pt_stage_fini(struct agate_pt_stage *stage)
{
	drop_updates(stage, 0);
	agate_pgtable_free_list(stage->pgt, &stage->gone);
}

/* ---- Zap --------------------------------------------------------------- */

/* Only leaves are shown: what else the CPU's view says may wait in the queue. */
static bool zap_leaves(struct agate_pgtable *pgt, struct agate_pgtable_page *table,
		       unsigned int level, unsigned int first, unsigned int count)
{
	unsigned int leaves = pgt->format->ates_invalidate(&table->entries[first], count, level);

	if (!leaves)
		return false;
	table->used -= leaves;
	pgt->mem->sync(pgt->ctx, table, first, count);
	return true;
}

static bool zap_table(struct agate_pgtable *pgt, struct agate_pgtable_page *table,
		      unsigned int level, u64 va, u64 end)
{
	bool zapped = false;

	if (level == LAST_LEVEL)
		return zap_leaves(pgt, table, level, level_index(va, level),
				  whole_entries(va, end, level));
	while (va < end) {
		unsigned int index = level_index(va, level);
		u64 next = entry_end(va, end, level);

		if (table->child[index])
			zapped |= zap_table(pgt, table->child[index], level + 1, va, next);
		else
			zapped |= zap_leaves(pgt, table, level, index, 1);
		va = next;
	}
	return zapped;
}

bool agate_pt_zap(struct agate_pgtable *pgt, u64 va, u64 size)
{
	lockdep_assert_held(pgt->locks->pt);

	return zap_table(pgt, pgt->root, 0, va, va + size);
}

/* ---- Topic ------------------------------------------------------------- */

int agate_vm_tables_topic_init(struct agate_device *adev)
{
	return 0;
}

void agate_vm_tables_topic_fini(struct agate_device *adev)
{
}
