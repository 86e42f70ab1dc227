// SPDX-License-Identifier: MIT
/*
 * The cache of unused BOs; a fetch that does not wait has the lock from its first look to the
 * last call that makes a BO useful, and only waits and frees go without.
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
	unsigned int log2 = 63 - (unsigned int)__builtin_clzll(size | 1);

	if (log2 < AGATE_BO_CACHE_MIN_LOG2)
		return 0;
	if (log2 >= AGATE_BO_CACHE_MIN_LOG2 + AGATE_BO_CACHE_BUCKETS)
		return AGATE_BO_CACHE_BUCKETS - 1;
	return log2 - AGATE_BO_CACHE_MIN_LOG2;
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

/* Free the BOs of a list that only the caller knows. */
static void free_list(struct agate_bo_list *list)
{
	struct agate_bo *bo;

	while ((bo = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, bo, lru_link);
		agate_bo_free(bo);
	}
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
static bool make_useful(struct agate_bo *bo, const char *label)
{
	bool retained = false;
	int err = agate_bo_madvise_label(bo, true, label, &retained);

	return !err && retained;
}

struct agate_bo *agate_bo_cache_fetch(struct agate_device *dev, uint64_t size, uint32_t flags,
				      const char *label, bool wait)
{
	struct agate_bo_cache *cache = &dev->cache;
	struct agate_bo_list useless;
	struct agate_bo *bo;

	TAILQ_INIT(&useless);
	pthread_mutex_lock(&cache->lock);
	while ((bo = take_locked(cache, size, flags, wait))) {
		bool useful;

		if (wait) {
			pthread_mutex_unlock(&cache->lock);
			useful = !agate_bo_wait(bo, INT64_MAX, true);
			pthread_mutex_lock(&cache->lock);
			useful = useful && make_useful(bo, label);
		} else {
			useful = make_useful(bo, label);
		}
		if (useful) {
			cache->stats.hits += !wait;
			cache->stats.waits += wait;
			break;
		}
		cache->stats.purged++;
		TAILQ_INSERT_TAIL(&useless, bo, lru_link);
	}
	pthread_mutex_unlock(&cache->lock);
	free_list(&useless);
	return bo;
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

bool agate_bo_cache_put(struct agate_bo *bo)
{
	struct agate_bo_cache *cache = &bo->dev->cache;
	struct agate_bo_list stale;
	bool enabled;

	if (bo->flags & AGATE_ALLOC_SHARED || !cache->enabled)
		return false;
	/* Once it is in the list, another thread may take it and give it a label. */
	if (agate_bo_madvise_label(bo, false, AGATE_BO_CACHE_LABEL, NULL))
		return false;

	TAILQ_INIT(&stale);
	pthread_mutex_lock(&cache->lock);
	enabled = cache->enabled;
	if (enabled) {
		bo->last_used_s = cache->now_ns() / NS_PER_S;
		insert_locked(cache, bo);
		cache->stats.puts++;
		take_stale_locked(cache, bo->last_used_s, &stale);
	}
	pthread_mutex_unlock(&cache->lock);
	free_list(&stale);
	return enabled;
}

void agate_bo_cache_evict_all(struct agate_device *dev)
{
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
}
