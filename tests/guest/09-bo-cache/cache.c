// SPDX-License-Identifier: MIT
/* Helpers of lab 09's tests; see cache.h. */
#include "cache.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

uint64_t clock_ns;

static uint64_t test_clock(void)
{
	return clock_ns;
}

struct agate_device *cache_open(void)
{
	struct agate_device *dev = lib_open_cached();

	rule("the library has a cache: agate_bo_cache_init() returns 0");
	check_true(dev->has_cache, "success", "-EOPNOTSUPP");
	clock_ns = 1000 * NS_PER_S;
	dev->cache.now_ns = test_clock;
	return dev;
}

void cache_close(struct agate_device *dev)
{
	cache_stats(dev);
	lib_close(dev);
}

/* If an earlier call has kept the lock, the next one that takes it waits for ever. */
static void check_lock(struct agate_device *dev)
{
	calls_ignore(true);
	if (pthread_mutex_trylock(&dev->cache.lock)) {
		rule("a call gives the lock of the cache back before it returns, whatever it returns");
		check_true(false, "a free lock after the last call", "it is still taken");
	}
	pthread_mutex_unlock(&dev->cache.lock);
	calls_ignore(false);
}

struct agate_bo_cache_stats cache_stats(struct agate_device *dev)
{
	struct agate_bo_cache_stats s = { 0 };
	uint64_t sum;

	check_lock(dev);
	agate_bo_cache_get_stats(dev, &s);
	sum = s.hits + s.waits + s.purged + s.stale + s.evicted + s.cached;
	/* Otherwise the test goes on with the rule that it has named. */
	if (sum != s.puts)
		rule("the statistics add up: puts = hits + waits + purged + stale + evicted + cached");
	check_equal((int64_t)sum, (int64_t)s.puts, "the sum");
	return s;
}

void check_cached(struct agate_device *dev, uint64_t count)
{
	struct agate_bo_cache_stats s = { 0 };

	check_lock(dev);
	agate_bo_cache_get_stats(dev, &s);
	check_equal((int64_t)s.cached, (int64_t)count, "BOs in the cache");
}

uint32_t cache_new(struct agate_device *dev, uint64_t size, uint32_t flags)
{
	struct agate_bo *bo = lib_bo(dev, size, flags);
	const uint32_t handle = agate_bo_handle(bo);

	agate_bo_unreference(bo);
	return handle;
}

void cache_many(struct agate_device *dev, uint64_t size, unsigned int n, uint32_t *handles)
{
	struct agate_bo *bo[16];

	for (unsigned int i = 0; i < n; i++) {
		bo[i] = lib_bo(dev, size, DELAY);
		handles[i] = agate_bo_handle(bo[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		agate_bo_unreference(bo[i]);
}

/* ---- The lock ---------------------------------------------------------------- */

static struct agate_device *watched;
static bool closed_inside;

/* The hook runs in the thread that closes, and no other one is there. */
void cache_at_close(unsigned long request, enum call_when when, void *arg)
{
	(void)arg;
	if (request != DRM_IOCTL_GEM_CLOSE || when != CALL_BEFORE)
		return;
	if (pthread_mutex_trylock(&watched->cache.lock))
		closed_inside = true;
	else
		pthread_mutex_unlock(&watched->cache.lock);
}

void cache_watch_closes(struct agate_device *dev)
{
	watched = dev;
	closed_inside = false;
	calls_hook(cache_at_close);
}

void cache_check_closes(const char *when)
{
	calls_hook(NULL);
	rule("a thread that has the lock of the cache takes no other one: it frees BOs without it");
	check_true(!closed_inside, "a free lock when a handle is closed", when);
}

/* More BOs than any test has; a list that is longer is a ring. */
#define LISTED_MAX	64

static struct agate_bo_cache_stats last;
static unsigned int unlocks;
static bool lists_differ, counts_change;

static bool in_list(const struct agate_bo_list *list, const struct agate_bo *wanted)
{
	const struct agate_bo *bo;
	unsigned int n = 0;

	TAILQ_FOREACH(bo, list, bucket_link) {
		if (bo == wanted || ++n > LISTED_MAX)
			break;
	}
	return bo == wanted;
}

/* With the lock: has each list the same BOs? */
static bool lists_agree(const struct agate_bo_cache *cache)
{
	unsigned int by_age = 0, by_size = 0;
	const struct agate_bo *bo;

	TAILQ_FOREACH(bo, &cache->lru, lru_link) {
		if (++by_age > LISTED_MAX ||
		    !in_list(&cache->bucket[agate_bo_cache_bucket(bo->size)], bo))
			return false;
	}
	for (unsigned int i = 0; i < AGATE_BO_CACHE_BUCKETS; i++) {
		TAILQ_FOREACH(bo, &cache->bucket[i], bucket_link) {
			if (++by_size > LISTED_MAX)
				return false;
		}
	}
	return by_age == by_size;
}

static void look_for_changes(void)
{
	const struct agate_bo_cache_stats *now = &watched->cache.stats;

	counts_change = counts_change || memcmp(&last, now, sizeof(last)) != 0;
}

/* From an unlock to the next lock is the time in which other threads look at the cache. */
void cache_at_lock(unsigned long request, enum call_when when, void *arg)
{
	cache_at_close(request, when, arg);
	if (arg != &watched->cache.lock)
		return;
	if (request == CALL_LOCK && when == CALL_AFTER)
		look_for_changes();
	if (request == CALL_UNLOCK && when == CALL_BEFORE) {
		unlocks++;
		lists_differ = lists_differ || !lists_agree(&watched->cache);
		last = watched->cache.stats;
	}
}

void cache_watch_lock(struct agate_device *dev)
{
	cache_watch_closes(dev);
	last = dev->cache.stats;
	unlocks = 0;
	lists_differ = counts_change = false;
	calls_hook(cache_at_lock);
	calls_watch_locks(true);
}

void cache_check_lists(const char *call)
{
	char seen[96];

	calls_hook(NULL);
	calls_watch_locks(false);
	rule("nobody changes the lists without the lock");
	snprintf(seen, sizeof(seen), "%s gave no lock back", call);
	check_true(unlocks, "the lock of the cache, taken and given back", seen);
	rule("whenever the lock is free a BO is in both lists, or in none");
	snprintf(seen, sizeof(seen), "in %s the lock was given back with a BO in one list only", call);
	check_true(!lists_differ, "the same BOs by age and in the buckets", seen);
}

void cache_check_counts(const char *calls)
{
	calls_hook(NULL);
	calls_watch_locks(false);
	look_for_changes();
	rule("the statistics change with the lock of the cache held, and at no other time");
	check_true(!counts_change, "the same counts from an unlock to the next lock", calls);
}
