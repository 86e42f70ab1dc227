/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "tt" (lab 22), its pool: pages that are not cached, and how many pages there may be.
 *
 * Changing how the CPU caches a page is slow: it changes page tables and flushes all CPUs.  So
 * pages that are not cached go back to a pool, and leave it only when memory is short.  They
 * are zero there, because the next owner may be another client.  Cached pages are
 * the kernel's own business and do not stay here.
 *
 * The accounting is one for all cards of a machine, because they share its memory.
 */
#ifndef AGATE_POOL_H
#define AGATE_POOL_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct agate_pool;
struct page;

#define AGATE_POOL_CACHINGS	3
/* Blocks of 4 KiB to 2 MiB. */
#define AGATE_POOL_ORDERS	10
#define AGATE_POOL_KINDS	(AGATE_POOL_CACHINGS * AGATE_POOL_ORDERS * 2)

/**
 * struct agate_pool_key - the kind of a block of pages
 * @caching: how the CPU caches it, less than AGATE_POOL_CACHINGS; 0: as usual
 * @order: it has 1 << @order pages; less than AGATE_POOL_ORDERS
 * @dma32: it is below 4 GiB
 */
struct agate_pool_key {
	u8 caching;
	u8 order;
	bool dma32;
};

/**
 * struct agate_pool_ops - what the frame does for a pool; all may sleep
 * @alloc: a block of this kind, zeroed, but still cached; or NULL
 * @free: free a cached block
 * @set_caching: change how the CPU caches a block; 0, or an error and no change
 * @clear: fill a block with zeros
 */
struct agate_pool_ops {
	struct page *(*alloc)(struct agate_pool *pool, struct agate_pool_key key);
	void (*free)(struct agate_pool *pool, struct page *page, unsigned int order);
	int (*set_caching)(struct agate_pool *pool, struct page *page, unsigned int order,
			   unsigned int caching);
	void (*clear)(struct agate_pool *pool, struct page *page, unsigned int order);
};

/**
 * struct agate_pool_list - free blocks of one kind
 * @lock: protects both; a leaf
 * @blocks: by page.lru, the one that came last in front: it may still be in a cache
 * @count: of them
 */
struct agate_pool_list {
	spinlock_t lock;	/* blocks and count */
	struct list_head blocks;
	unsigned long count;
};

/**
 * struct agate_pool - the pool of one card
 * @ops: the frame's services
 * @lists: by kind
 * @next: where agate_pool_scan() goes on; it may be wrong, but never out of bounds
 */
struct agate_pool {
	const struct agate_pool_ops *ops;
	struct agate_pool_list lists[AGATE_POOL_KINDS];
	unsigned int next;
};

/** agate_pool_init - an empty pool */
void agate_pool_init(struct agate_pool *pool, const struct agate_pool_ops *ops);

/** agate_pool_fini - free all blocks; nobody else uses the pool any more */
void agate_pool_fini(struct agate_pool *pool);

/**
 * agate_pool_take - a block of pages, filled with zeros
 * @pool: the pool
 * @key: its kind
 *
 * Return: the block, or NULL.
 */
struct page *agate_pool_take(struct agate_pool *pool, struct agate_pool_key key);

/**
 * agate_pool_give - give a block back
 * @pool: the pool
 * @page: the block
 * @key: as it was for agate_pool_take()
 */
void agate_pool_give(struct agate_pool *pool, struct page *page, struct agate_pool_key key);

/** agate_pool_count - how many pages are in the pool? */
unsigned long agate_pool_count(struct agate_pool *pool);

/**
 * agate_pool_scan - free pages of the pool, for the kernel's shrinker
 * @pool: the pool
 * @nr: how many pages, at least
 *
 * Takes blocks of all kinds in turns, and begins behind the kind at which the last call ended.
 * A kind whose lock is taken is in use, and is left out this time.
 *
 * Context: never waits for a lock.
 * Return: how many pages it has freed; fewer than @nr when no more could be freed.
 */
unsigned long agate_pool_scan(struct agate_pool *pool, unsigned long nr);

/* ---- Accounting ------------------------------------------------------- */

/**
 * struct agate_glob - the pages of all cards
 * @lock: protects @used and @used_dma32; a leaf
 * @limit: pages that may be used
 * @limit_dma32: those of them that may be below 4 GiB
 * @swap_limit: from more than this on the worker should swap
 * @used: pages in use
 * @used_dma32: those of them below 4 GiB
 * @wake: wake the worker; does not sleep
 */
struct agate_glob {
	spinlock_t lock;	/* what is used */
	unsigned long limit;
	unsigned long limit_dma32;
	unsigned long swap_limit;
	unsigned long used;
	unsigned long used_dma32;
	void (*wake)(struct agate_glob *glob);
};

/**
 * agate_glob_charge - account for pages before they are allocated
 * @glob: the accounting
 * @n: pages
 * @dma32: they are to be below 4 GiB
 *
 * Wakes the worker when more than the swap limit is used then, and when this fails.
 *
 * Return: 0; -ENOMEM when a limit forbids it, and nothing is charged.
 */
int agate_glob_charge(struct agate_glob *glob, unsigned long n, bool dma32);

/** agate_glob_uncharge - the opposite, with the same arguments */
void agate_glob_uncharge(struct agate_glob *glob, unsigned long n, bool dma32);

#endif /* AGATE_POOL_H */
