// SPDX-License-Identifier: GPL-2.0-only
/*
 * The card's global table: its entries, the addresses that nodes have, and what is free.
 */
#include <linux/align.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>

#include "agate_card.h"
#include "agate_ggtt.h"
#include "agate_kmem.h"

static u32 index_of(u64 addr)
{
	return addr / AGATE_GGTT_PAGE_SIZE;
}

/* ---- Entries, per platform -------------------------------------------- */

/* Midgard has no PAT bits: set, they would be reserved ones. */
static u64 midgard_pte_encode(const struct agate_ggtt *g, u64 addr, bool vram, unsigned int pat)
{
	return AGATE_GGTT_PRESENT | (addr & AGATE_GGTT_ADDR) | (vram ? AGATE_GGTT_VRAM : 0);
}

static u64 bifrost_pte_encode(const struct agate_ggtt *g, u64 addr, bool vram, unsigned int pat)
{
	u64 pte = midgard_pte_encode(g, addr, vram, pat);

	return g->features & CARD_FEATURE_GGTT_PAT ? pte | AGATE_GGTT_PAT(pat) : pte;
}

static void gsm_set_pte(struct agate_ggtt *g, u64 addr, u64 pte)
{
	lockdep_assert_held(&g->lock);
	g->ops->write_gsm(g, index_of(addr), pte);
}

static void gsm_fill(struct agate_ggtt *g, u64 addr, u64 pte, u64 count)
{
	for (; count; count--, addr += AGATE_GGTT_PAGE_SIZE)
		gsm_set_pte(g, addr, pte);
}

static void gsm_flush(struct agate_ggtt *g)
{
	g->ops->flush_gsm(g);
}

static void port_sync(struct agate_ggtt *g)
{
	g->dropped += g->ops->read(g, GGTT_SYNC);
	g->access_count = 0;
}

/* A commit that finds the port's buffer full is lost. */
static void port_commit(struct agate_ggtt *g, u32 reg, u32 value)
{
	lockdep_assert_held(&g->lock);
	g->ops->write(g, reg, value);
	if (++g->access_count == AGATE_GGTT_PORT_DEPTH)
		port_sync(g);
}

static void port_set_pte(struct agate_ggtt *g, u64 addr, u64 pte)
{
	g->ops->write(g, GGTT_PTE_INDEX, index_of(addr));
	g->ops->write(g, GGTT_PTE_LO, lower_32_bits(pte));
	port_commit(g, GGTT_PTE_HI, upper_32_bits(pte));
}

static void port_fill(struct agate_ggtt *g, u64 addr, u64 pte, u64 count)
{
	port_set_pte(g, addr, pte);
	if (count > 1)
		port_commit(g, GGTT_PTE_REPEAT, count - 1);
}

static const struct agate_ggtt_pt_ops midgard_pt_ops = {
	.pte_encode = midgard_pte_encode,
	.set_pte = gsm_set_pte,
	.fill = gsm_fill,
	.flush = gsm_flush,
};

static const struct agate_ggtt_pt_ops bifrost_pt_ops = {
	.pte_encode = bifrost_pte_encode,
	.set_pte = port_set_pte,
	.fill = port_fill,
	.flush = port_sync,
};

void agate_ggtt_invalidate(struct agate_ggtt *g)
{
	g->ops->write(g, GGTT_INVALIDATE, 1);
}

/* End a change: what was written is in the table before the card reads it anew. */
static void unlock_changed(struct agate_ggtt *g, bool invalidate)
{
	g->pt_ops->flush(g);
	mutex_unlock(&g->lock);
	if (invalidate)
		agate_ggtt_invalidate(g);
}

/* On these cards engines use VRAM in whole groups only. */
static u64 min_align(const struct agate_ggtt *g, bool vram)
{
	return vram && g->features & CARD_FEATURE_GGTT_64K ? AGATE_GGTT_GROUP_SIZE :
							     AGATE_GGTT_PAGE_SIZE;
}

static void fill(struct agate_ggtt *g, u64 start, u64 size, u64 pte)
{
	g->pt_ops->fill(g, start, pte, size / AGATE_GGTT_PAGE_SIZE);
}

static u64 kmem_pte(const struct agate_ggtt *g, const struct agate_kmem *kmem, u64 offset)
{
	return g->pt_ops->pte_encode(g, kmem->addr + offset, kmem->vram,
				     kmem->vram ? AGATE_GGTT_PAT_WC : AGATE_GGTT_PAT_WB);
}

/* Write the entries of a node: its memory's, or those of the scratch page. */
static void write_node(struct agate_ggtt_node *node)
{
	const u64 start = agate_ggtt_node_start(node);
	const u64 size = agate_ggtt_node_size(node);
	const u64 vf = AGATE_GGTT_VF(node->vf);
	struct agate_ggtt *g = node->ggtt;
	u64 offset;

	if (!node->kmem) {
		/* An entry with nothing but a VF would be one of page 0. */
		fill(g, start, size, g->scratch_pte ? g->scratch_pte | vf : 0);
		return;
	}
	for (offset = 0; offset < size; offset += AGATE_GGTT_PAGE_SIZE)
		g->pt_ops->set_pte(g, start + offset, kmem_pte(g, node->kmem, offset) | vf);
}

/* ---- The table -------------------------------------------------------- */

int agate_ggtt_init_early(struct agate_ggtt *g)
{
	const u64 entries = g->ops->read(g, GGTT_ENTRIES);

	g->features = g->ops->read(g, CARD_FEATURES);
	/* How much the firmware really takes is known only when it runs. */
	g->start = ALIGN(g->ops->read(g, GGTT_RESERVED_MAX), AGATE_GGTT_PAGE_SIZE);
	g->end = min((u64)g->ops->read(g, GGTT_USABLE_END), entries * AGATE_GGTT_PAGE_SIZE);
	g->end = ALIGN_DOWN(g->end, AGATE_GGTT_PAGE_SIZE);
	if (g->start >= g->end)
		return -ENODEV;

	g->pt_ops = g->features & CARD_FEATURE_GGTT_PORT ? &bifrost_pt_ops : &midgard_pt_ops;
	mutex_init(&g->lock);
	agate_range_init(&g->range, g->start, g->end - g->start);
	return 0;
}

static void fill_holes(struct agate_ggtt *g, u64 pte)
{
	u64 start = 0;
	u64 size;

	for (; agate_range_next_hole(&g->range, &start, &size); start += size)
		fill(g, start, size, pte);
}

int agate_ggtt_init(struct agate_ggtt *g)
{
	const bool vram = !(g->features & CARD_FEATURE_GGTT_64K);
	struct agate_kmem *scratch = g->ops->scratch_create(g, vram);

	if (!scratch)
		return -ENOMEM;

	mutex_lock(&g->lock);
	g->scratch = scratch;
	g->scratch_pte = kmem_pte(g, scratch, 0);
	fill_holes(g, g->scratch_pte);
	unlock_changed(g, true);
	return 0;
}

int agate_ggtt_fini(struct agate_ggtt *g)
{
	int idx;

	if (agate_range_fini(&g->range))
		return -EBUSY;
	if (g->ops->enter(g, &idx)) {
		mutex_lock(&g->lock);
		fill_holes(g, 0);
		unlock_changed(g, true);
		g->ops->exit(g, idx);
	}
	if (g->scratch)
		g->ops->scratch_destroy(g, g->scratch);
	g->scratch = NULL;
	g->scratch_pte = 0;
	return 0;
}

/* ---- Nodes ------------------------------------------------------------ */

struct agate_ggtt_node *agate_ggtt_node_init(struct agate_ggtt *g)
{
	struct agate_ggtt_node *node = g->ops->node_alloc(g);

	if (node)
		node->ggtt = g;
	return node;
}

void agate_ggtt_node_fini(struct agate_ggtt_node *node)
{
	node->ggtt->ops->node_free(node->ggtt, node);
}

int agate_ggtt_node_insert_locked(struct agate_ggtt_node *node, u64 size, u64 align,
				  enum agate_range_mode mode)
{
	struct agate_ggtt *g = node->ggtt;

	lockdep_assert_held(&g->lock);
	if (!IS_ALIGNED(size, AGATE_GGTT_PAGE_SIZE))
		return -EINVAL;
	if (agate_ggtt_node_allocated(node))
		return -EBUSY;
	return agate_range_insert(&g->range, &node->range, size, max(align, AGATE_GGTT_PAGE_SIZE),
				  0, U64_MAX, mode);
}

int agate_ggtt_node_insert(struct agate_ggtt_node *node, u64 size, u64 align,
			   enum agate_range_mode mode)
{
	int ret;

	mutex_lock(&node->ggtt->lock);
	ret = agate_ggtt_node_insert_locked(node, size, align, mode);
	mutex_unlock(&node->ggtt->lock);
	return ret;
}

int agate_ggtt_node_insert_balloon(struct agate_ggtt_node *node, u64 start, u64 end)
{
	struct agate_ggtt *g = node->ggtt;
	int ret = -EBUSY;

	if (start >= end || !IS_ALIGNED(start | end, AGATE_GGTT_PAGE_SIZE))
		return -EINVAL;
	mutex_lock(&g->lock);
	if (!agate_ggtt_node_allocated(node))
		ret = agate_range_reserve(&g->range, &node->range, start, end - start);
	mutex_unlock(&g->lock);
	return ret;
}

void agate_ggtt_node_remove_balloon(struct agate_ggtt_node *node)
{
	mutex_lock(&node->ggtt->lock);
	if (agate_ggtt_node_allocated(node))
		agate_range_remove(&node->ggtt->range, &node->range);
	mutex_unlock(&node->ggtt->lock);
}

/* The card is awake, or there is no table any more. */
static void remove_now(struct agate_ggtt_node *node, bool there)
{
	struct agate_ggtt *g = node->ggtt;

	mutex_lock(&g->lock);
	if (there)
		fill(g, agate_ggtt_node_start(node), agate_ggtt_node_size(node), g->scratch_pte);
	agate_range_remove(&g->range, &node->range);
	if (there)
		unlock_changed(g, node->invalidate);
	else
		mutex_unlock(&g->lock);
	agate_ggtt_node_fini(node);
}

void agate_ggtt_node_remove_queued(struct agate_ggtt_node *node)
{
	struct agate_ggtt *g = node->ggtt;
	int idx;
	bool there = g->ops->enter(g, &idx);

	remove_now(node, there);
	if (there)
		g->ops->exit(g, idx);
}

/* The memory may go before the addresses do. */
static void forget_kmem(struct agate_ggtt_node *node)
{
	mutex_lock(&node->ggtt->lock);
	if (node->kmem)
		node->kmem->node = NULL;
	node->kmem = NULL;
	mutex_unlock(&node->ggtt->lock);
}

void agate_ggtt_node_remove(struct agate_ggtt_node *node, bool invalidate)
{
	struct agate_ggtt *g;
	int idx;

	if (!node)
		return;
	g = node->ggtt;
	forget_kmem(node);
	node->invalidate = invalidate;
	if (!agate_ggtt_node_allocated(node)) {
		agate_ggtt_node_fini(node);
	} else if (!g->ops->enter(g, &idx)) {
		remove_now(node, false);
	} else {
		if (g->ops->get_if_awake(g)) {
			remove_now(node, true);
			g->ops->put(g);
		} else {
			g->ops->queue(g, node);
		}
		g->ops->exit(g, idx);
	}
}

int agate_ggtt_assign(struct agate_ggtt_node *node, unsigned int vf)
{
	struct agate_ggtt *g = node->ggtt;
	int idx;

	if (vf > AGATE_GGTT_VF_MAX)
		return -EINVAL;
	if (!g->ops->enter(g, &idx))
		return -ENODEV;
	g->ops->get(g);
	mutex_lock(&g->lock);
	node->vf = vf;
	write_node(node);
	unlock_changed(g, true);
	g->ops->put(g);
	g->ops->exit(g, idx);
	return 0;
}

/* ---- Memory ----------------------------------------------------------- */

static int insert_and_write(struct agate_ggtt_node *node, struct agate_kmem *kmem, u64 start,
			    u64 end)
{
	struct agate_ggtt *g = node->ggtt;
	int ret;

	mutex_lock(&g->lock);
	ret = agate_range_insert(&g->range, &node->range, kmem->size, min_align(g, kmem->vram),
				 start, end - 1, AGATE_RANGE_BEST);
	if (ret) {
		mutex_unlock(&g->lock);
		return ret;
	}
	node->kmem = kmem;
	kmem->node = node;
	write_node(node);
	unlock_changed(g, true);
	return 0;
}

int agate_ggtt_insert(struct agate_ggtt *g, struct agate_kmem *kmem, u64 start, u64 end)
{
	struct agate_ggtt_node *node;
	int idx;
	int ret;

	if (kmem->node)
		return 0;
	if (start >= end || !IS_ALIGNED(kmem->addr | kmem->size, min_align(g, kmem->vram)))
		return -EINVAL;
	if (!g->ops->enter(g, &idx))
		return -ENODEV;

	ret = -ENOMEM;
	node = agate_ggtt_node_init(g);
	if (node) {
		g->ops->get(g);
		ret = insert_and_write(node, kmem, start, end);
		g->ops->put(g);
		if (ret)
			agate_ggtt_node_fini(node);
	}
	g->ops->exit(g, idx);
	return ret;
}

void agate_ggtt_map(struct agate_ggtt *g, struct agate_kmem *kmem)
{
	if (!kmem->node)
		return;
	mutex_lock(&g->lock);
	write_node(kmem->node);
	unlock_changed(g, true);
}

/* ---- What there is ---------------------------------------------------- */

/* The next hole from *@at on that has room between aligned ends; *@at moves behind it. */
static bool next_aligned_hole(const struct agate_ggtt *g, u64 align, u64 *at, u64 *start, u64 *size)
{
	u64 hole;

	lockdep_assert_held(&g->lock);
	while (agate_range_next_hole(&g->range, at, &hole)) {
		u64 end = ALIGN_DOWN(*at + hole, align);

		*start = ALIGN(*at, align);
		*at += hole;
		if (*start < end) {
			*size = end - *start;
			return true;
		}
	}
	return false;
}

u64 agate_ggtt_largest_hole(struct agate_ggtt *g, u64 align, u64 *spare)
{
	u64 at = 0, largest = 0;
	u64 start, size;

	mutex_lock(&g->lock);
	while (next_aligned_hole(g, align, &at, &start, &size)) {
		/* The smaller one of this hole and the largest so far has room for others. */
		if (spare)
			*spare -= min3(*spare, size, largest);
		largest = max(largest, size);
	}
	mutex_unlock(&g->lock);
	return largest;
}

u64 agate_ggtt_holes(struct agate_ggtt *g, u64 align,
		     void (*show)(void *arg, u64 start, u64 size), void *arg)
{
	u64 at = 0, total = 0;
	u64 start, size;

	mutex_lock(&g->lock);
	while (next_aligned_hole(g, align, &at, &start, &size)) {
		show(arg, start, size);
		total += size;
	}
	mutex_unlock(&g->lock);
	return total;
}

void agate_ggtt_dump(struct agate_ggtt *g,
		     void (*show)(void *arg, const struct agate_ggtt_node *node), void *arg)
{
	const struct agate_range_node *n;

	mutex_lock(&g->lock);
	agate_range_for_each_node(n, &g->range)
		show(arg, container_of(n, struct agate_ggtt_node, range));
	mutex_unlock(&g->lock);
}
