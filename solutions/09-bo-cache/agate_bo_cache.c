// SPDX-License-Identifier: MIT
/*
 * The cache of unused BOs: eleven buckets by size, and one list by age.
 */
#include <errno.h>
#include <string.h>

#include "agate_bo.h"

#if LAB09 >= 3
/*
 * Both are in the order in which the BOs went in.  So the oldest BO of a bucket is the one
 * that is most likely idle, and all stale BOs are at the head of the list by age.
 *
 * A thread holds the lock only to search and to link, and never for a call that takes long.
 * Once it has taken a BO out of the lists, it owns that BO alone, and can wait for it or free
 * it without the lock.
 */
#endif

#define NS_PER_S	1000000000u

int agate_bo_cache_init(struct agate_bo_cache *cache)
{
#if LAB09 >= 1
	unsigned int i;

	TAILQ_INIT(&cache->lru);
	for (i = 0; i < AGATE_BO_CACHE_BUCKETS; i++)
		TAILQ_INIT(&cache->bucket[i]);
	return -pthread_mutex_init(&cache->lock, NULL);
#else
	/* STEP 1: a cache begins with empty lists, and its lock. */
	return -EOPNOTSUPP;
#endif
}

void agate_bo_cache_fini(struct agate_device *dev)
{
#if LAB09 >= 3
	agate_bo_cache_evict_all(dev);
	pthread_mutex_destroy(&dev->cache.lock);
#else
	/* STEP 3: free all that is in the cache, and the lock. */
#endif
}

unsigned int agate_bo_cache_bucket(uint64_t size)
{
#if LAB09 >= 1
	unsigned int log2 = 63 - (unsigned int)__builtin_clzll(size | 1);

	if (log2 < AGATE_BO_CACHE_MIN_LOG2)
		return 0;
	if (log2 >= AGATE_BO_CACHE_MIN_LOG2 + AGATE_BO_CACHE_BUCKETS)
		return AGATE_BO_CACHE_BUCKETS - 1;
	return log2 - AGATE_BO_CACHE_MIN_LOG2;
#else
	/* STEP 1: say which bucket has the BOs of this size. */
	return 0;
#endif
}

#if LAB09 >= 1
static void insert_locked(struct agate_bo_cache *cache, struct agate_bo *bo)
{
	TAILQ_INSERT_TAIL(&cache->bucket[agate_bo_cache_bucket(bo->size)], bo, bucket_link);
	TAILQ_INSERT_TAIL(&cache->lru, bo, lru_link);
	cache->stats.cached++;
	cache->stats.cached_bytes += bo->size;
}
#endif

#if LAB09 >= 2
static void remove_locked(struct agate_bo_cache *cache, struct agate_bo *bo)
{
	TAILQ_REMOVE(&cache->bucket[agate_bo_cache_bucket(bo->size)], bo, bucket_link);
	TAILQ_REMOVE(&cache->lru, bo, lru_link);
	cache->stats.cached--;
	cache->stats.cached_bytes -= bo->size;
}

static void count(struct agate_bo_cache *cache, uint64_t *counter)
{
	pthread_mutex_lock(&cache->lock);
	(*counter)++;
	pthread_mutex_unlock(&cache->lock);
}
#endif

#if LAB09 >= 3
/* Free the BOs of a list that only the caller knows. */
static void free_list(struct agate_bo_list *list)
{
	struct agate_bo *bo;

	while ((bo = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, bo, lru_link);
		agate_bo_free(bo);
	}
}
#endif

#if LAB09 >= 2
/* Remove the oldest BO that fits.  To ask whether it is busy is a short call. */
static struct agate_bo *take_locked(struct agate_bo_cache *cache, uint64_t size, uint32_t flags,
				    bool wait)
{
	struct agate_bo *bo;

	TAILQ_FOREACH(bo, &cache->bucket[agate_bo_cache_bucket(size)], bucket_link) {
		if (bo->size < size || bo->flags != flags)
			continue;
		if (!wait && agate_bo_wait(bo, 0, true)) {
			cache->stats.busy++;
			return NULL;
		}
		remove_locked(cache, bo);
		return bo;
	}
	return NULL;
}

/* A BO that the kernel cannot make useful again is as good as one whose pages it took. */
static bool make_useful(struct agate_bo *bo, const char *label, bool wait)
{
	bool retained;

	if (wait && agate_bo_wait(bo, INT64_MAX, true))
		return false;
	return !agate_bo_madvise_label(bo, true, label, &retained) && retained;
}
#endif

struct agate_bo *agate_bo_cache_fetch(struct agate_device *dev, uint64_t size, uint32_t flags,
				      const char *label, bool wait)
{
#if LAB09 >= 2
	struct agate_bo_cache *cache = &dev->cache;
	struct agate_bo *bo;

	for (;;) {
		pthread_mutex_lock(&cache->lock);
		bo = take_locked(cache, size, flags, wait);
		pthread_mutex_unlock(&cache->lock);
		if (!bo)
			return NULL;
		if (make_useful(bo, label, wait)) {
			count(cache, wait ? &cache->stats.waits : &cache->stats.hits);
			return bo;
		}
		count(cache, &cache->stats.purged);
		agate_bo_free(bo);
	}
#else
	/* STEP 2: take a BO that fits out of the cache, and make it useful again. */
	return NULL;
#endif
}

int agate_bo_cache_obtain(struct agate_device *dev, uint64_t size, uint32_t flags,
			  const char *label, struct agate_bo **out)
{
#if LAB09 >= 2
	struct agate_bo_cache *cache = &dev->cache;
	struct agate_bo *bo;

	if (!cache->enabled)
		return agate_bo_alloc(dev, size, flags, label, out);
	bo = agate_bo_cache_fetch(dev, size, flags, label, false);
	if (!bo) {
		count(cache, &cache->stats.misses);
		if (!agate_bo_alloc(dev, size, flags, label, out))
			return 0;
		/* It was too early to wait as long as there was memory for a new one. */
		bo = agate_bo_cache_fetch(dev, size, flags, label, true);
	}
	if (!bo) {
		agate_bo_cache_evict_all(dev);
		return agate_bo_alloc(dev, size, flags, label, out);
	}
	*out = bo;
	return 0;
#else
	/* STEP 2: try the cache first; agate_bo_cache.h has the order of attempts. */
	return agate_bo_alloc(dev, size, flags, label, out);
#endif
}

#if LAB09 >= 3
/* Move the BOs that are stale now to another list. */
static void take_stale_locked(struct agate_bo_cache *cache, uint64_t now_s,
			      struct agate_bo_list *stale)
{
	struct agate_bo *bo;

	while ((bo = TAILQ_FIRST(&cache->lru)) &&
	       now_s - bo->last_used_s > AGATE_BO_CACHE_MAX_AGE_S) {
		remove_locked(cache, bo);
		TAILQ_INSERT_TAIL(stale, bo, lru_link);
		cache->stats.stale++;
	}
}
#endif

bool agate_bo_cache_put(struct agate_bo *bo)
{
#if LAB09 >= 1
	struct agate_bo_cache *cache = &bo->dev->cache;
#if LAB09 >= 3
	struct agate_bo_list stale;
#endif
	bool enabled;

	if (bo->flags & AGATE_ALLOC_SHARED || !cache->enabled)
		return false;
	/* Once it is in the list, another thread may take it and give it a label. */
	if (agate_bo_madvise_label(bo, false, AGATE_BO_CACHE_LABEL, NULL))
		return false;

#if LAB09 >= 3
	TAILQ_INIT(&stale);
#endif
	pthread_mutex_lock(&cache->lock);
	enabled = cache->enabled;
	if (enabled) {
		bo->last_used_s = cache->now_ns() / NS_PER_S;
		insert_locked(cache, bo);
		cache->stats.puts++;
#if LAB09 >= 3
		take_stale_locked(cache, bo->last_used_s, &stale);
#else
		/* STEP 3: take what is stale now out of the lists, and free it without the lock. */
#endif
	}
	pthread_mutex_unlock(&cache->lock);
#if LAB09 >= 3
	free_list(&stale);
#endif
	return enabled;
#else
	/*
	 * STEP 1: refuse what may not go in; otherwise tell the kernel, and put the BO into its
	 * bucket and into the list by age.
	 */
	return false;
#endif
}

void agate_bo_cache_evict_all(struct agate_device *dev)
{
#if LAB09 >= 3
	struct agate_bo_cache *cache = &dev->cache;
	struct agate_bo_list all;
	struct agate_bo *bo;

	TAILQ_INIT(&all);
	pthread_mutex_lock(&cache->lock);
	while ((bo = TAILQ_FIRST(&cache->lru))) {
		remove_locked(cache, bo);
		TAILQ_INSERT_TAIL(&all, bo, lru_link);
		cache->stats.evicted++;
	}
	pthread_mutex_unlock(&cache->lock);
	free_list(&all);
#else
	/* STEP 3: free all that is in the cache. */
#endif
}
