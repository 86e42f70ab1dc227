/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System memory for placed BOs of one card: the pool of topic "tt" (agate_pool.h) gets its pages
 * here, and a shrinker takes them back when memory is short.
 */
#ifndef AGATE_PAGES_H
#define AGATE_PAGES_H

#include <linux/list.h>
#include <linux/mm_types.h>

#include "agate_compat.h"
#include "agate_drm.h"
#include "agate_pool.h"

struct agate_device;

/**
 * struct agate_pages - a card's system memory
 * @pool: pages that are not cached, and that nobody uses
 * @shrinker: takes them back
 * @parked: struct agate_tt: pages that no BO has any more, but that a fence may still use; under
 *	ttm.lru_lock
 * @device: in the list of agate_limit.c
 */
struct agate_pages {
	struct agate_pool pool;
	struct agate_shrinker shrinker;
	struct list_head parked;
	struct list_head device;
};

/**
 * agate_pages_init - an empty pool, and its shrinker
 * @adev: the device
 *
 * Both live as long as the device.
 *
 * Return: 0 or -ENOMEM.
 */
int agate_pages_init(struct agate_device *adev);

/**
 * agate_caching_prot - how page tables have to map memory
 * @caching: AGATE_CACHING_*
 * @prot: the protection of cached memory
 */
static inline pgprot_t agate_caching_prot(u8 caching, pgprot_t prot)
{
	switch (caching) {
	case AGATE_CACHING_WC:
		return pgprot_writecombine(prot);
	case AGATE_CACHING_UC:
		return pgprot_noncached(prot);
	default:
		return prot;
	}
}

#endif /* AGATE_PAGES_H */
