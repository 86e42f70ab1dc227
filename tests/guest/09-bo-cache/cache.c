// SPDX-License-Identifier: MIT
/* Helpers of lab 09's tests; see cache.h. */
#include "cache.h"

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

struct agate_bo_cache_stats cache_stats(struct agate_device *dev)
{
	struct agate_bo_cache_stats s = { 0 };
	uint64_t sum;

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
