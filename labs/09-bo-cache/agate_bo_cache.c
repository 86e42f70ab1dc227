// SPDX-License-Identifier: MIT
/*
 * The cache of unused BOs: eleven buckets by size, and one list by age.
 */
#include <errno.h>
#include <string.h>

#include "agate_bo.h"

#define NS_PER_S	1000000000u

int agate_bo_cache_init(struct agate_bo_cache *cache)
{
	/* STEP 1: a cache begins with empty lists, and its lock. */
	return -EOPNOTSUPP;
}

void agate_bo_cache_fini(struct agate_device *dev)
{
	/* STEP 3: free all that is in the cache, and the lock. */
}

unsigned int agate_bo_cache_bucket(uint64_t size)
{
	/* STEP 1: say which bucket has the BOs of this size. */
	return 0;
}

struct agate_bo *agate_bo_cache_fetch(struct agate_device *dev, uint64_t size, uint32_t flags,
				      const char *label, bool wait)
{
	/* STEP 2: take a BO that fits out of the cache, and make it useful again. */
	return NULL;
}

int agate_bo_cache_obtain(struct agate_device *dev, uint64_t size, uint32_t flags,
			  const char *label, struct agate_bo **out)
{
	/* STEP 2: try the cache first; agate_bo_cache.h has the order of attempts. */
	return agate_bo_alloc(dev, size, flags, label, out);
}

bool agate_bo_cache_put(struct agate_bo *bo)
{
	/*
	 * STEP 1: refuse what may not go in; otherwise tell the kernel, and put the BO into its
	 * bucket and into the list by age.
	 */
	return false;
}

void agate_bo_cache_evict_all(struct agate_device *dev)
{
	/* STEP 3: free all that is in the cache. */
}
