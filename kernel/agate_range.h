/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "range" (lab 19): allocate ranges of an address space, such as VRAM or the GGTT.
 *
 * The allocator never touches the memory that it hands out, so its records are in the nodes
 * of the ranges.  Free space between two nodes is a hole; the node before a hole describes
 * it.  Neighbouring holes do not exist: they are one.
 *
 * Every operation takes O(log n) steps for n nodes.  Only agate_range_insert() takes one more
 * step (O(log n) at most) for each hole that is large enough, but is unusable because of
 * alignment or, in mode BEST, because of the bounds.
 *
 * Nothing here allocates, locks or sleeps: the caller provides the nodes and the lock.  The
 * code needs no kernel service, and the same source compiles for host tests.
 */
#ifndef AGATE_RANGE_H
#define AGATE_RANGE_H

#include <linux/list.h>
#include <linux/types.h>

#include "agate_tree.h"

/**
 * struct agate_range_node - one allocated range; zeroed before its first use
 * @link: in agate_range.head.link, in the order of addresses
 * @by_address: in agate_range.by_address while @hole is not 0
 * @largest: the largest @hole of the subtree below @by_address, this node included
 * @size: bytes; 0 while nothing is allocated
 * @start: its first address
 * @hole: free bytes between this node's end and the next node
 * @by_size: in agate_range.by_size while @hole is not 0
 *
 * What a search by address reads of each node lies together, from @by_address to @hole, and so
 * does what a search by size reads, from @start to @by_size: fewer cache lines a node.
 */
struct agate_range_node {
	struct list_head link;
	struct agate_tree_node by_address;
	u64 largest;
	u64 size;
	u64 start;
	u64 hole;
	struct agate_tree_node by_size;
};

/**
 * struct agate_range - an address space
 * @head: a node without bytes at its start, which describes the hole there
 * @by_address: nodes with a hole by address, augmented with the largest hole
 * @by_size: nodes with a hole by its size, then by address
 */
struct agate_range {
	struct agate_range_node head;
	struct agate_tree by_address;
	struct agate_tree by_size;
};

/**
 * enum agate_range_mode - where a new range goes
 * @AGATE_RANGE_BEST: at the low end of the smallest hole in which it fits, of several at the
 *	lowest address
 * @AGATE_RANGE_LOW: at the lowest address at which it fits
 * @AGATE_RANGE_HIGH: at the highest
 */
enum agate_range_mode {
	AGATE_RANGE_BEST,
	AGATE_RANGE_LOW,
	AGATE_RANGE_HIGH,
};

/** agate_range_node_allocated - does the node hold a range? */
static inline bool agate_range_node_allocated(const struct agate_range_node *n)
{
	return n->size;
}

/** agate_range_for_each_node - every node, by address; do not insert or remove meanwhile */
#define agate_range_for_each_node(n, r) \
	list_for_each_entry(n, &(r)->head.link, link)

/**
 * agate_range_init - set up an address space without nodes
 * @r: to be filled in
 * @start: its first address
 * @size: bytes, not 0; @start + @size does not wrap
 */
void agate_range_init(struct agate_range *r, u64 start, u64 size);

/**
 * agate_range_fini - look whether an address space is empty, and may go
 * @r: the address space
 *
 * Return: 0; -EBUSY while it has nodes.
 */
int agate_range_fini(struct agate_range *r);

/**
 * agate_range_insert - allocate a range
 * @r: the address space
 * @n: not allocated
 * @size: bytes, not 0
 * @align: of its start, a power of two
 * @first: lowest address that it may have
 * @last: highest address that it may have, so its last byte is at most there; U64_MAX: no
 *	limit
 * @mode: which of the possible places
 *
 * "Fits" means: after alignment, and between @first and @last.
 *
 * Return: 0; -EINVAL for a wrong @size, @align or @mode, or for @first behind @last; -ENOSPC
 * when no hole has room.  After an error nothing has changed.
 */
int agate_range_insert(struct agate_range *r, struct agate_range_node *n, u64 size, u64 align,
		       u64 first, u64 last, enum agate_range_mode mode);

/**
 * agate_range_reserve - allocate exactly this range
 * @r: the address space
 * @n: not allocated
 * @start: its first address
 * @size: bytes, not 0
 *
 * Return: 0; -EINVAL when the range is empty or wraps; -ENOSPC when a part of it is allocated
 * or outside of the address space.  After an error nothing has changed.
 */
int agate_range_reserve(struct agate_range *r, struct agate_range_node *n, u64 start, u64 size);

/**
 * agate_range_remove - free a range
 * @r: the address space
 * @n: a node of it
 *
 * The range and the holes beside it become one hole.
 */
void agate_range_remove(struct agate_range *r, struct agate_range_node *n);

/**
 * agate_range_next_hole - the first free bytes from an address on
 * @r: the address space
 * @start: in: where to look; out: the first free address there or behind it
 * @size: out: how many bytes are free from @start on
 *
 * To see every hole, begin at 0, and add @size to @start after each.
 *
 * Return: false, with both unchanged, when nothing is free there.
 */
bool agate_range_next_hole(const struct agate_range *r, u64 *start, u64 *size);

/**
 * agate_range_augment - agate_range.by_address's callback: compute agate_range_node.largest
 * @n: its by_address
 *
 * Return: did it change?
 */
bool agate_range_augment(struct agate_tree_node *n);

#endif /* AGATE_RANGE_H */
