// SPDX-License-Identifier: MIT
/*
 * The cache of unused BOs; whatever leaves it without a user leaves one by one, each in a
 * critical section of its own.
 */
#include <errno.h>
#include <string.h>

#include "agate_bo.h"

#define NS_PER_S	1000000000u

int agate_bo_cache_init(struct agate_bo_cache *cache)
{
	unsigned int i;

	TAILQ_INIT(&cache->lru);
	for (i = 0; i < AGATE_BO_CACHE_BUCKETS; i++)
		TAILQ_INIT(&cache->bucket[i]);
	return -pthread_mutex_init(&cache->lock, NULL);
}

void agate_bo_cache_fini(struct agate_device *dev)
{
	agate_bo_cache_evict_all(dev);
	pthread_mutex_destroy(&dev->cache.lock);
}

unsigned int agate_bo_cache_bucket(uint64_t size)
{
	unsigned int bucket = 0;

	for (size >>= AGATE_BO_CACHE_MIN_LOG2 + 1; size && bucket < AGATE_BO_CACHE_BUCKETS - 1;
	     size >>= 1)
		bucket++;
	return bucket;
}

static void insert_locked(struct agate_bo_cache *cache, struct agate_bo *bo)
{
	TAILQ_INSERT_TAIL(&cache->bucket[agate_bo_cache_bucket(bo->size)], bo, bucket_link);
	TAILQ_INSERT_TAIL(&cache->lru, bo, lru_link);
	cache->stats.cached++;
	cache->stats.cached_bytes += bo->size;
}

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

struct agate_bo *agate_bo_cache_fetch(struct agate_device *dev, uint64_t size, uint32_t flags,
				      const char *label, bool wait)
{
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
}

int agate_bo_cache_obtain(struct agate_device *dev, uint64_t size, uint32_t flags,
			  const char *label, struct agate_bo **out)
{
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
}

/*
 * Free a BO that went in before a second; count it as one that left in this way.  A put reads the
 * clock before it has the lock, so an older BO may stand behind a younger one.
 */
static bool drop_one(struct agate_bo_cache *cache, uint64_t before_s, uint64_t *counter)
{
	struct agate_bo *bo, *found = NULL;

	pthread_mutex_lock(&cache->lock);
	TAILQ_FOREACH(bo, &cache->lru, lru_link)
		if (!found && bo->last_used_s < before_s)
			found = bo;
	if (found) {
		remove_locked(cache, found);
		(*counter)++;
	}
	pthread_mutex_unlock(&cache->lock);
	if (found)
		agate_bo_free(found);
	return found;
}

bool agate_bo_cache_put(struct agate_bo *bo)
{
	struct agate_bo_cache *cache = &bo->dev->cache;
	uint64_t now_s = cache->now_ns() / NS_PER_S;
	bool in;

	if (!cache->enabled || bo->flags & AGATE_ALLOC_SHARED)
		return false;
	if (agate_bo_madvise_label(bo, false, AGATE_BO_CACHE_LABEL, NULL))
		return false;
	pthread_mutex_lock(&cache->lock);
	in = cache->enabled;
	if (in) {
		bo->last_used_s = now_s;
		insert_locked(cache, bo);
		cache->stats.puts++;
	}
	pthread_mutex_unlock(&cache->lock);
	while (in && now_s > AGATE_BO_CACHE_MAX_AGE_S &&
	       drop_one(cache, now_s - AGATE_BO_CACHE_MAX_AGE_S, &cache->stats.stale))
		;
	return in;
}

void agate_bo_cache_evict_all(struct agate_device *dev)
{
	while (drop_one(&dev->cache, UINT64_MAX, &dev->cache.stats.evicted))
		;
}
