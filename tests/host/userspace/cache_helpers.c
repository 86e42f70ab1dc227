// SPDX-License-Identifier: MIT
#include "cache_helpers.h"

uint64_t clock_ns;

static uint64_t test_clock(void)
{
	return clock_ns;
}

int clock_setup(void **state)
{
	struct agate_device *dev;

	cached_device_setup(state);
	dev = *state;
	clock_ns = 1000 * NS_PER_S;
	dev->cache.now_ns = test_clock;
	return 0;
}

struct agate_bo_cache_stats stats_of(struct agate_device *dev)
{
	struct agate_bo_cache_stats stats;

	assert_int_equal(agate_bo_cache_get_stats(dev, &stats), 0);
	assert_int_equal(stats.puts, stats.hits + stats.waits + stats.purged + stats.stale +
				     stats.evicted + stats.cached);
	return stats;
}

void assert_cached(struct agate_device *dev, uint64_t count)
{
	assert_int_equal(stats_of(dev).cached, count);
}

uint32_t cache_new(struct agate_device *dev, uint64_t size, uint32_t flags)
{
	struct agate_bo *bo = bo_new(dev, size, flags);
	const uint32_t handle = agate_bo_handle(bo);

	agate_bo_unreference(bo);
	return handle;
}

void cache_many(struct agate_device *dev, uint64_t size, unsigned int n, uint32_t *handles)
{
	struct agate_bo *bo[16];
	unsigned int i;

	assert_true(n <= 16);
	for (i = 0; i < n; i++) {
		bo[i] = bo_new(dev, size, AGATE_ALLOC_DELAY_MMAP);
		handles[i] = agate_bo_handle(bo[i]);
	}
	for (i = 0; i < n; i++)
		agate_bo_unreference(bo[i]);
}

void release_busy(struct agate_bo *bo)
{
	agate_bo_mark_submitted(bo, AGATE_ACCESS_RW);
	fake_set_busy(agate_bo_handle(bo), true);
	agate_bo_unreference(bo);
}

void assert_fake_label(uint32_t handle, const char *label)
{
	struct fake_bo seen;

	assert_true(fake_bo(handle, &seen));
	assert_string_equal(seen.label, label);
}
