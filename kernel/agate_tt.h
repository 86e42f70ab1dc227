/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages of a placed BO (lab 22): from nothing to memory that the GPU reaches, and back.
 *
 *   UNPOPULATED  no pages.  The contents are zero, or in a swap file
 *   UNBOUND      pages, in memory of type SYSTEM
 *   BOUND        the same, mapped for DMA, in memory of type TT
 *
 * The mover finds pages by lists: one page of 512 addresses for each 2 MiB.
 *
 * The BO's reservation protects all of it.
 */
#ifndef AGATE_TT_H
#define AGATE_TT_H

#include <linux/scatterlist.h>
#include <linux/types.h>

#include "agate_park.h"

struct agate_device;
struct agate_ttm_ctx;
struct dma_fence;
struct file;
struct page;

enum agate_tt_state {
	AGATE_TT_UNPOPULATED = 0,
	AGATE_TT_UNBOUND,
	AGATE_TT_BOUND,
};

/* Pages that one list names. */
#define AGATE_TT_LIST_PAGES	512u

/**
 * struct agate_tt - the pages of one BO
 * @adev: the device
 * @state: enum agate_tt_state
 * @caching: AGATE_CACHING_*
 * @dma32: the card reaches no more than 4 GiB
 * @count: pages
 * @pages: all of them, or NULL in UNPOPULATED; the first one of each block of the pool knows
 *	the block's order as its private data
 * @sgt: BOUND: mapped for DMA
 * @lists: BOUND: one page for each AGATE_TT_LIST_PAGES of @count
 * @list_addrs: BOUND: where the mover finds @lists
 * @swap: where the contents are, if they are not zero; UNPOPULATED only
 * @bound: in ttm.bound while BOUND
 * @link: in pages.parked while @parked is in use
 * @parked: for when a fence still uses the pages
 */
struct agate_tt {
	struct agate_device *adev;
	u8 state;
	u8 caching;
	bool dma32;
	unsigned long count;
	struct page **pages;
	struct sg_table sgt;
	__le64 **lists;
	dma_addr_t *list_addrs;
	struct file *swap;
	struct list_head bound;
	struct list_head link;
	struct agate_parked parked;
};

static inline bool agate_tt_has_pages(const struct agate_tt *tt)
{
	return tt->state != AGATE_TT_UNPOPULATED;
}

/**
 * agate_tt_create - the pages of a new BO, unpopulated
 * @adev: the device
 * @size: bytes
 * @caching: AGATE_CACHING_*
 *
 * Return: NULL when there is no memory.
 */
struct agate_tt *agate_tt_create(struct agate_device *adev, u64 size, u8 caching);

/**
 * agate_tt_populate - UNPOPULATED to UNBOUND
 * @tt: in any state; one that has pages keeps them
 * @ctx: how to wait for others to be swapped
 *
 * New pages are zero; those of a swap file have its contents.
 *
 * Return: 0; -ENOMEM, the error of the swap file, or that of agate_limit_charge(), with nothing
 * changed.
 */
int agate_tt_populate(struct agate_tt *tt, struct agate_ttm_ctx *ctx);

/** agate_tt_unpopulate - UNBOUND to UNPOPULATED; the contents are lost */
void agate_tt_unpopulate(struct agate_tt *tt);

/**
 * agate_tt_bind - UNBOUND to BOUND
 * @tt: not UNPOPULATED
 *
 * Return: 0; -ENOMEM; -EOPNOTSUPP for pages that the machine would copy for the device: the
 * CPUs and the mover would see different memory; -ENODEV when the device is unplugged.
 */
int agate_tt_bind(struct agate_tt *tt);

/** agate_tt_unbind - BOUND to UNBOUND; nothing uses the addresses any more */
void agate_tt_unbind(struct agate_tt *tt);

/**
 * agate_tt_unbind_all - the device goes: no page may stay mapped for it
 * @adev: the device, which is unplugged: no new mapping can appear
 *
 * Whoever holds the BO's reservation may look at its pages meanwhile.
 */
void agate_tt_unbind_all(struct agate_device *adev);

/**
 * agate_tt_swapout - UNBOUND to UNPOPULATED, with the contents in a swap file
 * @tt: not BOUND
 *
 * Return: how many pages are free now; an error with nothing changed.
 */
long agate_tt_swapout(struct agate_tt *tt);

/**
 * agate_tt_park - free all of it when a fence has signalled
 * @tt: its BO has left it
 * @fence: the reference is taken over; NULL: soon
 *
 * Calls agate_limit_parked() when agate_limit_charge() can find the pages and wait for the fence.
 */
void agate_tt_park(struct agate_tt *tt, struct dma_fence *fence);

#endif /* AGATE_TT_H */
