// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages that are not cached, kept for the next one who needs such pages; and how many pages
 * all cards together may use.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/spinlock.h>

#include "agate_pool.h"

/* ---- Kinds ------------------------------------------------------------ */

static unsigned int index_of(struct agate_pool_key key)
{
	return (key.caching * AGATE_POOL_ORDERS + key.order) * 2 + key.dma32;
}

static unsigned int order_of(unsigned int index)
{
	return index / 2 % AGATE_POOL_ORDERS;
}

/* The pool never has blocks that are cached as usual. */
static bool is_pooled(struct agate_pool_key key)
{
	return key.caching;
}

/* ---- One list --------------------------------------------------------- */

static struct page *pop(struct agate_pool_list *list)
{
	struct page *page;

	if (list_empty(&list->blocks))
		return NULL;
	page = list_first_entry(&list->blocks, struct page, lru);
	list_del(&page->lru);
	list->count--;
	return page;
}

static void push(struct agate_pool_list *list, struct page *page)
{
	spin_lock(&list->lock);
	list_add(&page->lru, &list->blocks);
	list->count++;
	spin_unlock(&list->lock);
}

/* ---- Take and give ---------------------------------------------------- */

struct page *agate_pool_take(struct agate_pool *pool, struct agate_pool_key key)
{
	struct agate_pool_list *list = &pool->lists[index_of(key)];
	struct page *page = NULL;

	if (is_pooled(key)) {
		spin_lock(&list->lock);
		page = pop(list);
		spin_unlock(&list->lock);
	}
	if (page)
		return page;

	page = pool->ops->alloc(pool, key);
	if (page && is_pooled(key) &&
	    pool->ops->set_caching(pool, page, key.order, key.caching)) {
		pool->ops->free(pool, page, key.order);
		return NULL;
	}
	return page;
}

void agate_pool_give(struct agate_pool *pool, struct page *page, struct agate_pool_key key)
{
	if (!is_pooled(key)) {
		pool->ops->free(pool, page, key.order);
		return;
	}
	/* Before anybody can take it. */
	pool->ops->clear(pool, page, key.order);
	push(&pool->lists[index_of(key)], page);
}

/* ---- Shrink ----------------------------------------------------------- */

unsigned long agate_pool_count(struct agate_pool *pool)
{
	unsigned long pages = 0;
	unsigned int i;

	for (i = 0; i < AGATE_POOL_KINDS; i++)
		pages += READ_ONCE(pool->lists[i].count) << order_of(i);
	return pages;
}

/* Give a block of one kind to the kernel.  Returns how many pages it had. */
static unsigned long shrink_one(struct agate_pool *pool, unsigned int index)
{
	struct agate_pool_list *list = &pool->lists[index];
	struct page *page;

	if (!spin_trylock(&list->lock))
		return 0;
	page = pop(list);
	spin_unlock(&list->lock);
	if (!page)
		return 0;
	/* The kernel would use it as a cached one. */
	if (pool->ops->set_caching(pool, page, order_of(index), 0)) {
		push(list, page);
		return 0;
	}
	pool->ops->free(pool, page, order_of(index));
	return 1ul << order_of(index);
}

unsigned long agate_pool_scan(struct agate_pool *pool, unsigned long nr)
{
	unsigned int index = READ_ONCE(pool->next);
	unsigned int idle = 0;
	unsigned long freed = 0;

	while (freed < nr && idle < AGATE_POOL_KINDS) {
		unsigned long pages = shrink_one(pool, index);

		idle = pages ? 0 : idle + 1;
		freed += pages;
		index = (index + 1) % AGATE_POOL_KINDS;
	}
	WRITE_ONCE(pool->next, index);
	return freed;
}

void agate_pool_init(struct agate_pool *pool, const struct agate_pool_ops *ops)
{
	unsigned int i;

	pool->ops = ops;
	pool->next = 0;
	for (i = 0; i < AGATE_POOL_KINDS; i++) {
		spin_lock_init(&pool->lists[i].lock);
		INIT_LIST_HEAD(&pool->lists[i].blocks);
		pool->lists[i].count = 0;
	}
}

void agate_pool_fini(struct agate_pool *pool)
{
	unsigned int i;

	for (i = 0; i < AGATE_POOL_KINDS; i++) {
		while (shrink_one(pool, i))
			;
	}
}

/* ---- Accounting ------------------------------------------------------- */

static bool has_room(unsigned long used, unsigned long limit, unsigned long n)
{
	return used <= limit && n <= limit - used;
}

int agate_glob_charge(struct agate_glob *glob, unsigned long n, bool dma32)
{
	int ret = -ENOMEM;
	bool swap;

	spin_lock(&glob->lock);
	if (has_room(glob->used, glob->limit, n) &&
	    (!dma32 || has_room(glob->used_dma32, glob->limit_dma32, n))) {
		glob->used += n;
		glob->used_dma32 += dma32 ? n : 0;
		ret = 0;
	}
	swap = ret || glob->used > glob->swap_limit;
	spin_unlock(&glob->lock);
	if (swap)
		glob->wake(glob);
	return ret;
}

void agate_glob_uncharge(struct agate_glob *glob, unsigned long n, bool dma32)
{
	spin_lock(&glob->lock);
	glob->used -= n;
	glob->used_dma32 -= dma32 ? n : 0;
	spin_unlock(&glob->lock);
}
