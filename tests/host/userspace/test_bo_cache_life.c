// SPDX-License-Identifier: MIT
/*
 * How BOs leave the cache without a new user: purged, too old, evicted; which ones never go
 * in; and a library without a cache.
 */
#include "cache_helpers.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <xf86drm.h>

static bool absent;

int __real_agate_bo_cache_init(struct agate_bo_cache *cache);
int __wrap_agate_bo_cache_init(struct agate_bo_cache *cache);
int __wrap_agate_bo_cache_init(struct agate_bo_cache *cache)
{
	return absent ? -EOPNOTSUPP : __real_agate_bo_cache_init(cache);
}

/* ---- Memory pressure ----------------------------------------------------- */

static void test_purged(void **state)
{
	struct agate_bo *bo;
	uint32_t handles[4];

	cache_many(*state, 4096, 4, handles);
	assert_int_equal(fake_purge(2), 2);
	bo = bo_new(*state, 4096, AGATE_ALLOC_DELAY_MMAP);
	assert_int_equal(agate_bo_handle(bo), handles[2]);
	assert_int_equal(fake_live_handles(), 2);
	assert_int_equal(stats_of(*state).purged, 2);
	assert_cached(*state, 1);
	agate_bo_unreference(bo);

	/* All of them: the kernel is asked for a new one. */
	assert_int_equal(fake_purge(UINT_MAX), 2);
	bo = bo_new(*state, 4096, AGATE_ALLOC_DELAY_MMAP);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_CREATE_BO), 5);
	assert_int_equal(fake_live_handles(), 1);
	agate_bo_unreference(bo);
}

/* Only cached BOs can lose their pages. */
static void test_used_bos_are_safe(void **state)
{
	struct agate_bo *used = bo_new(*state, 4096, 0), *recycled;

	cache_new(*state, 4096, 0);
	recycled = bo_new(*state, 4096, 0);
	assert_int_equal(stats_of(*state).hits, 1);
	assert_int_equal(fake_purge(UINT_MAX), 0);
	agate_bo_unreference(used);
	agate_bo_unreference(recycled);
	assert_int_equal(fake_purge(UINT_MAX), 2);
}

/* Each call of the cache fails in turn. */
static void test_failing_calls(void **state)
{
	struct agate_bo *bo = NULL;

	/* The kernel could never purge a BO whose contents it must keep, so the BO is freed. */
	bo = bo_new(*state, 4096, 0);
	fake_fail(DRM_IOCTL_AGATE_MADVISE, 1, EINVAL);
	agate_bo_unreference(bo);
	assert_int_equal(fake_live_handles(), 0);
	assert_cached(*state, 0);

	/* Nobody gets a BO of unknown contents. */
	cache_new(*state, 4096, 0);
	fake_fail(DRM_IOCTL_AGATE_MADVISE, 1, ENODEV);
	bo = bo_new(*state, 4096, 0);
	assert_int_equal(fake_live_handles(), 1);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_CREATE_BO), 3);
	agate_bo_unreference(bo);

	/* The map of a recycled BO fails: an error for the caller, and nothing is left. */
	bo = NULL;
	fake_fail(FAKE_MMAP, 1, ENOMEM);
	assert_int_equal(agate_bo_create(*state, 4096, 0, NULL, &bo), -ENOMEM);
	assert_null(bo);
	assert_int_equal(fake_live_handles(), 0);
}

/* ---- Age ----------------------------------------------------------------- */

/* Whole seconds are compared: a BO is stale between two and three seconds after its put. */
static void test_stale_boundary(void **state)
{
	static const struct {
		uint64_t put_ns, next_ns;
		bool stale;
	} cases[] = {
		{ 0, 2 * NS_PER_S, false },
		{ 0, 3 * NS_PER_S - 1, false },
		{ 0, 3 * NS_PER_S, true },
		{ NS_PER_S - 1, 2 * NS_PER_S + NS_PER_S - 1, false },
		{ NS_PER_S - 1, 3 * NS_PER_S - 1, false },
		{ NS_PER_S - 1, 3 * NS_PER_S, true },	/* two seconds and a nanosecond */
		{ 0, 3600 * NS_PER_S, true },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint64_t base = (i + 1) * 10000 * NS_PER_S;
		const uint64_t stale = stats_of(*state).stale;

		assert_int_equal(agate_bo_cache_trim(*state), 0);
		clock_ns = base + cases[i].put_ns;
		cache_new(*state, 4096, AGATE_ALLOC_DELAY_MMAP);
		clock_ns = base + cases[i].next_ns;
		cache_new(*state, MiB, AGATE_ALLOC_DELAY_MMAP);
		assert_int_equal(stats_of(*state).stale - stale, cases[i].stale);
		assert_int_equal(fake_live_handles(), cases[i].stale ? 1 : 2);
	}
}

/* Only a put looks at the age: an old BO is as good as a young one. */
static void test_stale_goes_at_the_next_put(void **state)
{
	const uint32_t handle = cache_new(*state, 4096, 0);
	struct agate_bo *bo;

	clock_ns += 3600 * NS_PER_S;
	bo = bo_new(*state, MiB, AGATE_ALLOC_DELAY_MMAP);
	assert_int_equal(fake_live_handles(), 2);
	agate_bo_unreference(bo_new(*state, 4096, 0));
	assert_int_equal(stats_of(*state).hits, 1);
	/* That put made it young again. */
	clock_ns += 2 * NS_PER_S;
	agate_bo_unreference(bo);
	assert_int_equal(fake_live_handles(), 2);
	assert_fake_label(handle, AGATE_BO_CACHE_LABEL);
}

/* All stale BOs go at once, of whatever size, and no younger one. */
static void test_stale_in_order(void **state)
{
	struct agate_bo *last = bo_new(*state, 16 * MiB, AGATE_ALLOC_DELAY_MMAP);

	cache_new(*state, 4096, AGATE_ALLOC_DELAY_MMAP);
	cache_new(*state, MiB, AGATE_ALLOC_DELAY_MMAP);
	clock_ns += NS_PER_S;
	cache_new(*state, 64 * KiB, AGATE_ALLOC_DELAY_MMAP);
	clock_ns += 2 * NS_PER_S;
	agate_bo_unreference(last);
	assert_int_equal(stats_of(*state).stale, 2);
	assert_int_equal(stats_of(*state).cached_bytes, 16 * MiB + 64 * KiB);
	assert_int_equal(fake_live_handles(), 2);
}

/* ---- Never in the cache -------------------------------------------------- */

static void test_shared(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0), *imported;
	int fd = -1;

	assert_int_equal(agate_bo_export(bo, &fd), 0);
	agate_bo_unreference(bo);
	assert_int_equal(fake_live_handles(), 0);
	close(fd);

	fd = fake_dma_buf(8192);
	assert_int_equal(agate_bo_import(*state, fd, &imported), 0);
	agate_bo_unreference(imported);
	assert_int_equal(fake_live_handles(), 0);
	close(fd);

	bo = bo_new(*state, 4096, AGATE_ALLOC_SHARED);
	assert_false(agate_bo_cache_put(bo));
	agate_bo_unreference(bo);
	assert_int_equal(fake_live_handles(), 0);
	assert_int_equal(stats_of(*state).puts, 0);
}

/* There is little such memory, so it goes back at once. */
static void test_contiguous(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, AGATE_ALLOC_CONTIGUOUS);

	agate_bo_unreference(bo);
	assert_int_equal(fake_live_handles(), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_MADVISE), 0);
	assert_int_equal(stats_of(*state).puts, 0);
}

/* The kernel knows what somebody exported without telling the library. */
static void test_exported_by_others(void **state)
{
	struct agate_device *dev = *state;
	struct agate_bo *bo = bo_new(dev, 4096, 0), *imported;
	int fd = -1;

	assert_int_equal(drmPrimeHandleToFD(agate_device_fd(dev), agate_bo_handle(bo),
					    DRM_CLOEXEC, &fd), 0);
	assert_int_equal(agate_bo_import(dev, fd, &imported), 0);
	assert_ptr_equal(imported, bo);
	assert_true(agate_bo_flags(bo) & AGATE_ALLOC_SHARED);
	agate_bo_unreference(imported);
	agate_bo_unreference(bo);
	close(fd);

	bo = bo_new(dev, 4096, 0);
	assert_int_equal(drmPrimeHandleToFD(agate_device_fd(dev), agate_bo_handle(bo),
					    DRM_CLOEXEC, &fd), 0);
	agate_bo_unreference(bo);
	assert_int_equal(stats_of(dev).puts, 0);
	assert_int_equal(fake_live_handles(), 0);
	close(fd);
}

/* ---- The switch, and the end --------------------------------------------- */

static void test_switch(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	uint32_t handles[3];

	cache_many(*state, 4096, 3, handles);
	assert_int_equal(agate_bo_cache_enable(*state, false), 0);
	assert_cached(*state, 0);
	assert_int_equal(fake_live_handles(), 1);
	agate_bo_unreference(bo);
	assert_int_equal(fake_live_handles(), 0);
	agate_bo_unreference(bo_new(*state, 4096, 0));
	assert_int_equal(fake_live_handles(), 0);
	assert_int_equal(stats_of(*state).puts, 3);

	assert_int_equal(agate_bo_cache_enable(*state, true), 0);
	agate_bo_unreference(bo_new(*state, 4096, 0));
	assert_cached(*state, 1);
}

static void test_close_empties(void **state)
{
	struct agate_device *dev;
	uint32_t handles[8];

	(void)state;
	fake_reset();
	dev = fake_open();
	cache_many(dev, 4096, 8, handles);
	release_busy(bo_new(dev, MiB, AGATE_ALLOC_DELAY_MMAP));
	assert_int_equal(fake_live_handles(), 9);
	agate_device_close(dev);
	assert_int_equal(fake_live_handles(), 0);
	assert_int_equal(fake_refused(DRM_IOCTL_GEM_CLOSE), 0);
}

static void test_absent(void **state)
{
	struct agate_bo_cache_stats stats;
	struct agate_device *dev;

	(void)state;
	fake_reset();
	absent = true;
	dev = fake_open();
	absent = false;
	agate_bo_unreference(bo_new(dev, 4096, 0));
	assert_int_equal(fake_live_handles(), 0);
	assert_int_equal(agate_bo_cache_get_stats(dev, &stats), -EOPNOTSUPP);
	assert_int_equal(agate_bo_cache_trim(dev), -EOPNOTSUPP);
	assert_int_equal(agate_bo_cache_enable(dev, true), -EOPNOTSUPP);
	assert_int_equal(agate_bo_cache_enable(dev, false), 0);
	agate_device_close(dev);
}

static void test_stats(void **state)
{
	struct agate_bo_cache_stats stats = stats_of(*state);

	assert_int_equal(stats.misses + stats.hits + stats.puts + stats.cached, 0);
	agate_bo_unreference(bo_new(*state, 12 * KiB, 0));
	agate_bo_unreference(bo_new(*state, 12 * KiB, 0));
	agate_bo_unreference(bo_new(*state, 64 * MiB, AGATE_ALLOC_INVISIBLE));
	stats = stats_of(*state);
	assert_int_equal(stats.misses, 2);
	assert_int_equal(stats.hits, 1);
	assert_int_equal(stats.puts, 3);
	assert_int_equal(stats.cached, 2);
	assert_int_equal(stats.cached_bytes, 12 * KiB + 64 * MiB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_clock(test_purged),
		with_clock(test_used_bos_are_safe),
		with_clock(test_failing_calls),
		with_clock(test_stale_boundary),
		with_clock(test_stale_goes_at_the_next_put),
		with_clock(test_stale_in_order),
		with_clock(test_shared),
		with_clock(test_contiguous),
		with_clock(test_exported_by_others),
		with_clock(test_switch),
		cmocka_unit_test(test_close_empties),
		cmocka_unit_test(test_absent),
		with_clock(test_stats),
	};

	return cmocka_run_group_tests_name("bo-cache-life", tests, NULL, NULL);
}
