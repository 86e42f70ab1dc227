// SPDX-License-Identifier: GPL-2.0-only
/*
 * A range allocator: holes in two trees.
 *
 * A node's hole is what is free behind it.  Nodes with a hole are in a tree by address, in
 * which each node knows the largest hole below it, so a search can leave out subtrees in
 * which nothing fits.  They are also in a tree by size, for the best fit.  All nodes are in a
 * list, which leads from a node to the one whose hole grows when the node goes.
 *
 * Addresses are compared by the last byte of a range, which cannot wrap.
 */
#include <linux/align.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>

#include "agate_range.h"

static struct agate_range_node *by_address(const struct agate_tree_node *n)
{
	return n ? agate_tree_entry(n, struct agate_range_node, by_address) : NULL;
}

static struct agate_range_node *by_size(const struct agate_tree_node *n)
{
	return n ? agate_tree_entry(n, struct agate_range_node, by_size) : NULL;
}

static u64 hole_start(const struct agate_range_node *n)
{
	return n->start + n->size;
}

/* The last byte of a hole that is not empty. */
static u64 hole_last(const struct agate_range_node *n)
{
	return hole_start(n) + n->hole - 1;
}

/* ---- The trees -------------------------------------------------------- */

static u64 largest_below(const struct agate_tree_node *n)
{
	return n ? by_address(n)->largest : 0;
}

bool agate_range_augment(struct agate_tree_node *n)
{
	struct agate_range_node *node = by_address(n);
	u64 below = max(largest_below(n->child[AGATE_TREE_LEFT]),
			largest_below(n->child[AGATE_TREE_RIGHT]));
	u64 old = node->largest;

	node->largest = max(node->hole, below);
	return node->largest != old;
}

static bool lower(const struct agate_tree_node *a, const struct agate_tree_node *b)
{
	return by_address(a)->start < by_address(b)->start;
}

/* First by size, then by address; one number needs no branch, which nobody could predict. */
static unsigned __int128 size_key(const struct agate_range_node *n)
{
	return (unsigned __int128)n->hole << 64 | n->start;
}

static bool smaller(const struct agate_tree_node *a, const struct agate_tree_node *b)
{
	return size_key(by_size(a)) < size_key(by_size(b));
}

AGATE_TREE_DEFINE(addresses, lower, agate_range_augment)
AGATE_TREE_DEFINE(sizes, smaller, NULL)

/* Change how many bytes are free behind a node.  The tree by address is the caller's. */
static void resize(struct agate_range *r, struct agate_range_node *n, u64 hole)
{
	if (n->hole)
		sizes_erase(&r->by_size, &n->by_size);
	n->hole = hole;
	if (hole)
		sizes_insert(&r->by_size, &n->by_size);
}

static void set_hole(struct agate_range *r, struct agate_range_node *n, u64 hole)
{
	bool had_one = n->hole;

	resize(r, n, hole);
	if (had_one && hole)
		addresses_update(&n->by_address);
	else if (had_one)
		addresses_erase(&r->by_address, &n->by_address);
	else if (hole)
		addresses_insert(&r->by_address, &n->by_address);
}

/* The hole of @from, or what is left of it, becomes that of its neighbour @to, which has none. */
static void hand_over(struct agate_range *r, struct agate_range_node *from,
		      struct agate_range_node *to, u64 hole)
{
	resize(r, from, 0);
	resize(r, to, hole);
	addresses_replace(&r->by_address, &from->by_address, &to->by_address);
}

/* Let @n hold [@start, @start + @size) in the hole behind @before. */
static void take(struct agate_range *r, struct agate_range_node *before,
		 struct agate_range_node *n, u64 start, u64 size)
{
	const u64 left = start - hole_start(before);
	const u64 right = before->hole - left - size;

	n->start = start;
	n->size = size;
	n->hole = 0;
	list_add(&n->link, &before->link);

	if (!left && right) {
		hand_over(r, before, n, right);
		return;
	}
	set_hole(r, before, left);
	set_hole(r, n, right);
}

void agate_range_remove(struct agate_range *r, struct agate_range_node *n)
{
	struct agate_range_node *before = list_prev_entry(n, link);
	const u64 hole = before->hole + n->size + n->hole;

	list_del(&n->link);
	if (!before->hole && n->hole) {
		hand_over(r, n, before, hole);
	} else {
		set_hole(r, n, 0);
		set_hole(r, before, hole);
	}
	n->size = 0;
}

/* ---- Search ----------------------------------------------------------- */

/**
 * struct wish - a range that somebody asks for
 * @size: bytes
 * @align: of its start
 * @first: lowest byte
 * @last: highest byte
 * @mode: which place
 * @ahead: the side on which the next hole to try is, in the tree that is searched
 */
struct wish {
	u64 size;
	u64 align;
	u64 first;
	u64 last;
	enum agate_range_mode mode;
	enum agate_tree_side ahead;
};

/* Where does the range go in the hole behind this node? */
static bool place_in(const struct agate_range_node *n, const struct wish *w, u64 *start)
{
	const u64 from = max(hole_start(n), w->first);
	const u64 to = min(hole_last(n), w->last);

	if (from > to || to - from < w->size - 1)
		return false;
	if (w->mode == AGATE_RANGE_HIGH)
		*start = ALIGN_DOWN(to - (w->size - 1), w->align);
	else
		*start = ALIGN(from, w->align);		/* becomes 0 if it wraps */
	return *start >= from && *start <= to - (w->size - 1);
}

static bool fits_below(const struct agate_tree_node *n, const struct wish *w)
{
	return largest_below(n) >= w->size;
}

/* The first node of a subtree, in the order of the search, with a large enough hole. */
static struct agate_range_node *first_below(struct agate_tree_node *n, const struct wish *w)
{
	while (by_address(n)->hole < w->size || fits_below(n->child[!w->ahead], w))
		n = n->child[fits_below(n->child[!w->ahead], w) ? !w->ahead : w->ahead];
	return by_address(n);
}

/* The next one after this node. */
static struct agate_range_node *next_by_address(const struct agate_range_node *from,
						const struct wish *w)
{
	const struct agate_tree_node *n = &from->by_address;
	const struct agate_tree_node *below;

	do {
		if (fits_below(n->child[w->ahead], w))
			return first_below(n->child[w->ahead], w);
		do {
			below = n;
			n = n->parent;
		} while (n && n->child[w->ahead] == below);
	} while (n && by_address(n)->hole < w->size);
	return by_address(n);
}

/* The first node whose hole reaches @address or lies ahead of it; NULL: all are behind. */
static struct agate_range_node *hole_from(const struct agate_range *r, u64 address,
					  enum agate_tree_side ahead)
{
	struct agate_tree_node *n = r->by_address.root;
	struct agate_range_node *found = NULL;

	while (n) {
		struct agate_range_node *node = by_address(n);
		bool reaches = ahead == AGATE_TREE_RIGHT ? hole_last(node) >= address :
							   hole_start(node) <= address;

		if (reaches)
			found = node;
		n = n->child[reaches ? !ahead : ahead];
	}
	return found;
}

/* The node with the smallest hole that is large enough. */
static struct agate_range_node *smallest(const struct agate_range *r, u64 size)
{
	struct agate_tree_node *n = r->by_size.root;
	struct agate_range_node *found = NULL;

	while (n) {
		bool enough = by_size(n)->hole >= size;

		if (enough)
			found = by_size(n);
		n = n->child[enough ? AGATE_TREE_LEFT : AGATE_TREE_RIGHT];
	}
	return found;
}

/* Does a search by address begin at the end of the address space, not at a bound? */
static bool from_the_end(const struct wish *w)
{
	return w->mode == AGATE_RANGE_LOW ? !w->first : w->last == U64_MAX;
}

static struct agate_range_node *first_candidate(const struct agate_range *r,
						const struct wish *w)
{
	struct agate_tree_node *root = r->by_address.root;

	if (w->mode == AGATE_RANGE_BEST)
		return smallest(r, w->size);
	if (!from_the_end(w))
		return hole_from(r, w->mode == AGATE_RANGE_LOW ? w->first : w->last, w->ahead);
	return fits_below(root, w) ? first_below(root, w) : NULL;
}

static struct agate_range_node *next_candidate(struct agate_range_node *n, const struct wish *w)
{
	if (w->mode == AGATE_RANGE_BEST)
		return by_size(agate_tree_next(&n->by_size, AGATE_TREE_RIGHT));
	/* All the others are out of bounds, too. */
	if (w->mode == AGATE_RANGE_LOW ? hole_last(n) >= w->last : hole_start(n) <= w->first)
		return NULL;
	return next_by_address(n, w);
}

/* ---- The calls -------------------------------------------------------- */

int agate_range_insert(struct agate_range *r, struct agate_range_node *n, u64 size, u64 align,
		       u64 first, u64 last, enum agate_range_mode mode)
{
	const struct wish w = {
		.size = size, .align = align, .first = first, .last = last, .mode = mode,
		.ahead = mode == AGATE_RANGE_HIGH ? AGATE_TREE_LEFT : AGATE_TREE_RIGHT,
	};
	struct agate_range_node *hole;
	u64 start;

	if (!size || !is_power_of_2(align) || first > last || mode > AGATE_RANGE_HIGH)
		return -EINVAL;

	for (hole = first_candidate(r, &w); hole; hole = next_candidate(hole, &w)) {
		if (!place_in(hole, &w, &start))
			continue;
		take(r, hole, n, start, size);
		return 0;
	}
	return -ENOSPC;
}

int agate_range_reserve(struct agate_range *r, struct agate_range_node *n, u64 start, u64 size)
{
	struct agate_range_node *hole;

	if (!size || size - 1 > U64_MAX - start)
		return -EINVAL;
	hole = hole_from(r, start, AGATE_TREE_RIGHT);
	if (!hole || hole_start(hole) > start || hole_last(hole) - start < size - 1)
		return -ENOSPC;
	take(r, hole, n, start, size);
	return 0;
}

bool agate_range_next_hole(const struct agate_range *r, u64 *start, u64 *size)
{
	const struct agate_range_node *hole = hole_from(r, *start, AGATE_TREE_RIGHT);

	if (!hole)
		return false;
	*start = max(*start, hole_start(hole));
	*size = hole_last(hole) - *start + 1;
	return true;
}

void agate_range_init(struct agate_range *r, u64 start, u64 size)
{
	*r = (struct agate_range) { .head = { .start = start } };
	INIT_LIST_HEAD(&r->head.link);
	set_hole(r, &r->head, size);
}

int agate_range_fini(struct agate_range *r)
{
	return list_empty(&r->head.link) ? 0 : -EBUSY;
}
