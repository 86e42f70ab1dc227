// SPDX-License-Identifier: MIT
/* Lab 09: buckets, and how a BO goes into the cache. */
#include "cache.h"

#include <pthread.h>
#include <stdio.h>

#include "dmabuf.h"

void test_buckets(void **state)
{
	static const struct {
		uint64_t size;
		unsigned int bucket;
	} cases[] = {
		{ 1, 0 }, { 4095, 0 }, { 4096, 0 }, { 8191, 0 }, { 8192, 1 }, { 12 * KiB, 1 },
		{ 16 * KiB - 1, 1 }, { 16 * KiB, 2 }, { 32 * KiB, 3 }, { 64 * KiB, 4 },
		{ 128 * KiB, 5 }, { 256 * KiB, 6 }, { 512 * KiB, 7 }, { MiB - 1, 7 }, { MiB, 8 },
		{ 2 * MiB, 9 }, { 4 * MiB - 1, 9 }, { 4 * MiB, 10 }, { 5 * MiB, 10 },
		{ 64 * MiB, 10 }, { 128 * MiB, 10 }, { AGATE_BO_MAX_SIZE, 10 }, { 0, 0 },
		{ 1ull << 32, 10 }, { UINT64_MAX, 10 },
	};
	char what[64];

	(void)state;
	lib_catch_signals();
	rule("bucket n has the sizes from 2^(12+n) up to the next bucket; the last one all larger ones");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(what, sizeof(what), "the bucket of %llu bytes",
			 (unsigned long long)cases[i].size);
		check_equal(agate_bo_cache_bucket(cases[i].size), cases[i].bucket, what);
	}
	for (uint64_t size = PAGE; size <= 128 * MiB; size += PAGE) {
		const unsigned int bucket = agate_bo_cache_bucket(size);

		if (bucket > 10 || size < (uint64_t)PAGE << bucket ||
		    (bucket < 10 && size >= 2ull * PAGE << bucket))
			broken("the bucket whose sizes it is among", "%llu bytes: bucket %u",
			       (unsigned long long)size, bucket);
	}
}

#define CALLS_MAX	16

static unsigned long seen_calls[CALLS_MAX];
static unsigned int seen_count, seen_madv;
static struct agate_device *seen_dev;
static bool seen_listed;

/* Is some BO in the lists already? */
static bool anything_listed(void)
{
	return !TAILQ_EMPTY(&seen_dev->cache.lru);
}

static void record(unsigned long request, enum call_when when, void *arg)
{
	if (when != CALL_BEFORE || seen_count == CALLS_MAX)
		return;
	seen_calls[seen_count++] = request;
	seen_listed = seen_listed || anything_listed();
	if (request == DRM_IOCTL_AGATE_MADVISE)
		seen_madv = ((struct drm_agate_madvise *)arg)->madv;
}

static bool called(unsigned long request)
{
	for (unsigned int i = 0; i < seen_count; i++) {
		if (seen_calls[i] == request)
			return true;
	}
	return false;
}

void test_calls_of_a_put(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *bo = lib_bo(dev, PAGE, 0);
	const uint32_t handle = agate_bo_handle(bo);

	(void)state;
	seen_dev = dev;
	seen_count = 0;
	seen_madv = UINT32_MAX;
	calls_hook(record);
	agate_bo_unreference(bo);
	calls_hook(NULL);
	rule("a BO that lost its last reference stays in the cache, with its handle");
	check_cached(dev, 1);
	check_equal(calls_made(DRM_IOCTL_GEM_CLOSE), 0, "handles closed");
	rule("the kernel hears that the contents of a cached BO do not matter");
	check_true(called(DRM_IOCTL_AGATE_MADVISE), "MADVISE", "none");
	check_equal(seen_madv, AGATE_MADV_DONTNEED, "the advice");
	rule("the label of a cached BO is AGATE_BO_CACHE_LABEL");
	check_true(lib_listed("label=\"" AGATE_BO_CACHE_LABEL "\""), "the label in debugfs",
		   "it is not there");
	rule("advice and label come before the BO is in the lists, where another thread may take it");
	check_true(!seen_listed, "empty lists until then", "the BO is in a list already");
	rule("a put makes one call of the kernel, for both the advice and the label");
	check_equal(seen_count, 2, "calls: munmap() and MADVISE");
	rule("a cached BO is in the list by age and in the bucket of its size");
	check_true(TAILQ_FIRST(&dev->cache.lru) == bo, "it is the first by age", "it is not");
	check_true(TAILQ_FIRST(&dev->cache.bucket[0]) == bo, "it is in bucket 0", "it is not");
	check_equal(agate_bo_handle(bo), handle, "its handle");
	check_equal((int64_t)bo->last_used_s, 1000, "the second in which it went in");
	bo = lib_bo(dev, 12 * KiB, DELAY);
	cache_watch_lock(dev);
	agate_bo_unreference(bo);
	cache_check_lists("a put");
	cache_close(dev);
}

void test_shared(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *bo = lib_bo(dev, PAGE, AGATE_ALLOC_SHARED);

	(void)state;
	rule("agate_bo_cache_put() refuses a SHARED BO: another process may use it");
	check_true(!agate_bo_cache_put(bo), "false", "true");
	check_equal(calls_made(DRM_IOCTL_AGATE_MADVISE), 0, "advice to the kernel");
	check_cached(dev, 0);
	agate_bo_unreference(bo);
	check_equal(lib_handles(), 0, "handles that are left");
	cache_close(dev);
}

void test_put_refused(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *bo = lib_bo(dev, PAGE, 0);
	int fd = -1;

	(void)state;
	rule("agate_bo_cache_put() refuses a BO when the kernel does not take the advice");
	calls_fail(DRM_IOCTL_AGATE_MADVISE, 1, EINVAL);
	agate_bo_unreference(bo);
	check_cached(dev, 0);
	check_equal(lib_handles(), 0, "handles that are left");
	rule("agate_bo_cache_put() refuses a BO whatever the error with which the kernel refuses it");
	bo = lib_bo(dev, PAGE, 0);
	calls_fail(DRM_IOCTL_AGATE_MADVISE, 1, ENOMEM);
	agate_bo_unreference(bo);
	check_cached(dev, 0);
	check_equal(lib_handles(), 0, "handles that are left");
	rule("agate_bo_cache_put() refuses a BO when the kernel does not take the advice");
	/* The library does not know that this one has a dma-buf. */
	bo = lib_bo(dev, PAGE, 0);
	calls_ignore(true);
	check_errno(dmabuf_try_export(agate_device_fd(dev), agate_bo_handle(bo), 0, &fd), 0,
		    "PRIME_HANDLE_TO_FD");
	calls_ignore(false);
	agate_bo_unreference(bo);
	check_cached(dev, 0);
	check_equal(lib_handles(), 0, "handles that are left");
	close(fd);
	cache_close(dev);
}

static bool held_inside;

/* As long as the put has the lock, nobody can switch the cache off: that is right, too. */
static void switch_off(unsigned long request, enum call_when when, void *arg)
{
	(void)arg;
	if (request != DRM_IOCTL_AGATE_MADVISE || when != CALL_AFTER)
		return;
	held_inside = pthread_mutex_trylock(&seen_dev->cache.lock) != 0;
	if (held_inside)
		return;
	pthread_mutex_unlock(&seen_dev->cache.lock);
	agate_bo_cache_enable(seen_dev, false);
}

/* Another thread is the first to get the lock that the put wants. */
static void switch_off_at_lock(unsigned long request, enum call_when when, void *arg)
{
	if (request == CALL_LOCK && when == CALL_BEFORE && arg == &seen_dev->cache.lock)
		agate_bo_cache_enable(seen_dev, false);
}

void test_switch(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *bo = lib_bo(dev, PAGE, DELAY);

	(void)state;
	rule("nothing goes into a cache that is switched off");
	agate_bo_cache_enable(dev, false);
	agate_bo_unreference(bo);
	check_cached(dev, 0);
	check_equal(lib_handles(), 0, "handles that are left");
	if (calls_made(DRM_IOCTL_AGATE_MADVISE))
		note("a put into a cache that is switched off gave the kernel advice, for nothing");
	rule("with the cache switched off a creation makes a new BO");
	bo = lib_bo(dev, PAGE, DELAY);
	agate_bo_unreference(bo);
	rule("with the cache switched off a creation asks the kernel once, and its error is the caller's");
	calls_begin(agate_device_fd(dev));
	calls_fail(DRM_IOCTL_AGATE_CREATE_BO, 1, ENOMEM);
	bo = NULL;
	check_lib(agate_bo_create(dev, PAGE, DELAY, NULL, &bo), -ENOMEM, "agate_bo_create()");
	check_equal(calls_made(DRM_IOCTL_AGATE_CREATE_BO), 1, "calls of CREATE_BO");
	seen_dev = dev;
	agate_bo_cache_enable(dev, true);
	bo = lib_bo(dev, PAGE, DELAY);
	rule("nothing goes into a cache that is switched off meanwhile: enabled is looked at under the lock");
	calls_watch_locks(true);
	calls_hook(switch_off_at_lock);
	agate_bo_unreference(bo);
	calls_hook(NULL);
	calls_watch_locks(false);
	check_cached(dev, 0);
	check_equal(lib_handles(), 0, "handles that are left");
	agate_bo_cache_enable(dev, true);
	bo = lib_bo(dev, PAGE, DELAY);
	calls_hook(switch_off);
	agate_bo_unreference(bo);
	calls_hook(NULL);
	if (!held_inside) {
		check_cached(dev, 0);
		check_equal(lib_handles(), 0, "handles that are left");
	}
	cache_close(dev);
}
