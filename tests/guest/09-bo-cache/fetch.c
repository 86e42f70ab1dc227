// SPDX-License-Identifier: MIT
/* Lab 09: which BO of the cache a creation gets, and what becomes of the others. */
#include "cache.h"

#include <pthread.h>
#include <stdio.h>

static struct {
	unsigned int madvise, others;
	uint32_t madv;
	bool listed;
	struct agate_device *dev;
} seen;

static void record(unsigned long request, enum call_when when, void *arg)
{
	if (when != CALL_BEFORE)
		return;
	if (request == DRM_IOCTL_AGATE_MADVISE) {
		seen.madvise++;
		seen.madv = ((struct drm_agate_madvise *)arg)->madv;
	} else {
		seen.others++;
	}
	seen.listed = seen.listed || !TAILQ_EMPTY(&seen.dev->cache.lru);
}

void test_calls_of_a_fetch(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *bo = lib_bo(dev, PAGE, 0), *same;
	const uint32_t handle = agate_bo_handle(bo);
	unsigned char *cpu;

	(void)state;
	agate_bo_mmap(bo, (void **)&cpu);
	cpu[100] = 0x6c;
	agate_bo_unreference(bo);
	seen.dev = dev;
	seen.madvise = seen.others = 0;
	calls_begin(agate_device_fd(dev));
	calls_hook(record);
	bo = agate_bo_cache_fetch(dev, PAGE, 0, "again", false);
	calls_hook(NULL);
	rule("a fetch returns the BO that fits");
	check_true(bo, "a BO", "NULL");
	check_equal(agate_bo_handle(bo), handle, "its handle");
	check_cached(dev, 0);
	rule("a BO that leaves the cache is in no list any more");
	check_true(TAILQ_EMPTY(&dev->cache.lru) && TAILQ_EMPTY(&dev->cache.bucket[0]),
		   "empty lists", "the BO is still in one");
	rule("the kernel hears that the contents matter again, from the thread that has the BO");
	check_equal(seen.madvise, 1, "calls of MADVISE");
	check_equal(seen.madv, AGATE_MADV_WILLNEED, "the advice");
	check_true(!seen.listed, "the BO in no list by then", "it is still in one");
	rule("a fetch returns a BO without a reference and without a mapping, with its new label");
	check_equal(bo->refcnt, 0, "refcnt");
	check_true(!bo->cpu, "no map", "a map");
	check_true(lib_listed("label=\"again\""), "the label in debugfs", "it is not there");
	rule("a fetch costs one call of the kernel: nobody asks about a BO that no job can be using");
	check_equal(seen.others, 0, "calls besides MADVISE");
	agate_bo_free(bo);

	rule("a creation takes the BO of the cache, with the bytes of its last user");
	cache_new(dev, PAGE, 0);
	calls_begin(agate_device_fd(dev));
	same = lib_bo(dev, PAGE, 0);
	check_equal(calls_made(DRM_IOCTL_AGATE_CREATE_BO), 0, "calls of CREATE_BO");
	agate_bo_unreference(same);
	cache_watch_lock(dev);
	bo = agate_bo_cache_fetch(dev, PAGE, 0, NULL, false);
	cache_check_lists("a fetch");
	agate_bo_free(bo);
	rule("a fetch from an empty bucket gives NULL, and asks nobody");
	calls_begin(agate_device_fd(dev));
	check_true(!agate_bo_cache_fetch(dev, MiB, 0, NULL, true), "NULL", "a BO");
	check_equal(calls_all(), 0, "calls of the kernel");
	cache_close(dev);
}

void test_what_fits(void **state)
{
	const uint32_t heap = INVISIBLE | AGATE_ALLOC_GROWABLE;
	const struct {
		uint64_t cached, asked;
		uint32_t cached_flags, asked_flags;
		bool fits;
		const char *what;
	} cases[] = {
		{ PAGE, PAGE, DELAY, DELAY, true, "the same size" },
		{ PAGE, 1, DELAY, DELAY, true, "1 byte, from 4 KiB" },
		{ 12 * KiB, 8 * KiB, DELAY, DELAY, true, "8 KiB, from 12 KiB" },
		{ 8 * KiB, 12 * KiB, DELAY, DELAY, false, "12 KiB, from 8 KiB" },
		{ 8 * KiB, 5 * KiB, DELAY, DELAY, true, "5 KiB, from 8 KiB" },
		{ 16 * KiB, 12 * KiB, DELAY, DELAY, false, "12 KiB, from 16 KiB: the next bucket" },
		{ 64 * MiB, 5 * MiB, INVISIBLE, INVISIBLE, true, "5 MiB, from 64 MiB" },
		{ PAGE, PAGE, DELAY, 0, false, "no DELAY_MMAP, from DELAY_MMAP" },
		{ PAGE, PAGE, 0, DELAY, false, "DELAY_MMAP, from none" },
		{ PAGE, PAGE, AGATE_ALLOC_EXECUTE, 0, false, "not executable, from EXECUTE" },
		{ PAGE, PAGE, 0, AGATE_ALLOC_EXECUTE, false, "EXECUTE, from not executable" },
		{ PAGE, PAGE, INVISIBLE, heap, false, "a heap, from INVISIBLE" },
		{ PAGE, PAGE, heap, heap, true, "a heap, from a heap" },
		{ PAGE, PAGE, AGATE_ALLOC_GPU_READONLY, 0, false, "writable, from GPU_READONLY" },
		{ PAGE, PAGE, AGATE_ALLOC_CPU_READONLY, AGATE_ALLOC_CPU_READONLY, true,
		  "CPU_READONLY, from the same" },
	};
	struct agate_device *dev = cache_open();
	char what[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint32_t handle = cache_new(dev, cases[i].cached, cases[i].cached_flags);
		struct agate_bo *bo = lib_bo(dev, cases[i].asked, cases[i].asked_flags);

		rule("a BO fits when it is in the bucket, large enough, and has exactly these flags");
		snprintf(what, sizeof(what), "taken from the cache, %s", cases[i].what);
		check_equal(agate_bo_handle(bo) == handle, cases[i].fits, what);
		check_at_least((int64_t)agate_bo_size(bo), (int64_t)cases[i].asked, "agate_bo_size()");
		check_equal(agate_bo_flags(bo), cases[i].asked_flags, "agate_bo_flags()");
		/* Nothing of this case may be there for the next one. */
		agate_bo_unreference(bo);
		agate_bo_cache_trim(dev);
		while ((bo = TAILQ_FIRST(&dev->cache.lru)) &&
		       (bo = agate_bo_cache_fetch(dev, bo->size, bo->flags, NULL, false)))
			agate_bo_free(bo);
	}
	cache_close(dev);
}

static void skips_other_flags(void)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *got;
	uint32_t expected;

	cache_new(dev, PAGE, AGATE_ALLOC_EXECUTE);
	expected = cache_new(dev, PAGE, DELAY);
	got = lib_bo(dev, PAGE, DELAY);
	rule("a search skips a BO that has other flags, and goes on with the next one");
	check_equal(agate_bo_handle(got), expected, "the handle");
	check_cached(dev, 1);
	agate_bo_unreference(got);
	cache_close(dev);
}

void test_oldest_that_fits(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *small = lib_bo(dev, 8 * KiB, 0), *first = lib_bo(dev, 12 * KiB, 0);
	struct agate_bo *second = lib_bo(dev, 12 * KiB, 0), *got;
	const uint32_t expected = agate_bo_handle(first);

	(void)state;
	agate_bo_unreference(small);
	agate_bo_unreference(first);
	agate_bo_unreference(second);
	got = lib_bo(dev, 9 * KiB, 0);
	rule("a search skips what does not fit, and takes the oldest of those that do");
	check_equal(agate_bo_handle(got), expected, "the handle");
	check_cached(dev, 2);
	agate_bo_unreference(got);
	cache_close(dev);
	skips_other_flags();
}

void test_labels(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *bo = NULL;

	(void)state;
	rule("a BO that goes into the cache loses its label, and one that comes out has its new one");
	check_lib(agate_bo_create(dev, PAGE, DELAY, "colour", &bo), 0, "agate_bo_create()");
	agate_bo_unreference(bo);
	check_true(!lib_listed("colour"), "no label of the last user", "it is there");
	check_lib(agate_bo_create(dev, PAGE, DELAY, "depth", &bo), 0, "agate_bo_create()");
	check_true(lib_listed("label=\"depth\""), "the new label", "it is not there");
	agate_bo_unreference(bo);
	rule("a BO that is wanted without a label has none");
	bo = lib_bo(dev, PAGE, DELAY);
	check_true(!lib_listed("BO cache"), "no label", "that of the cache");
	agate_bo_unreference(bo);
	cache_close(dev);
}

static uint32_t purged[2];

/* The kernel has taken the pages of these two. */
static void purge(unsigned long request, enum call_when when, void *arg)
{
	struct drm_agate_madvise *advice = arg;

	cache_at_close(request, when, arg);
	if (request != DRM_IOCTL_AGATE_MADVISE || when != CALL_AFTER)
		return;
	if (advice->madv == AGATE_MADV_WILLNEED &&
	    (advice->handle == purged[0] || advice->handle == purged[1]))
		advice->retained = 0;
}

/* Each BO is busy until somebody waits for it, and then the first one has no pages. */
static void purge_the_busy(unsigned long request, enum call_when when, void *arg)
{
	const struct drm_agate_wait_bo *wait = arg;

	purge(request, when, arg);
	if (request == DRM_IOCTL_AGATE_WAIT_BO && when == CALL_BEFORE && !wait->timeout_ns)
		calls_fail(DRM_IOCTL_AGATE_WAIT_BO, 1, EBUSY);
}

static void purged_while_busy(void)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *jobs = lib_bo(dev, PAGE, AGATE_ALLOC_EXECUTE), *bo[2], *got;
	uint32_t handle;

	for (size_t i = 0; i < 2; i++)
		bo[i] = lib_bo(dev, PAGE, DELAY);
	purged[0] = purged[1] = agate_bo_handle(bo[0]);
	handle = agate_bo_handle(bo[1]);
	for (size_t i = 0; i < 2; i++) {
		lib_submit(jobs, bo[i], AGATE_ACCESS_RW, -1);
		agate_bo_wait(jobs, INT64_MAX, true);
		agate_bo_unreference(bo[i]);
	}
	calls_hook(purge_the_busy);
	got = agate_bo_cache_fetch(dev, PAGE, DELAY, NULL, true);
	calls_hook(NULL);
	rule("a BO without its pages is freed after a wait, too: only retained says that they are there");
	check_true(got, "the next BO", "NULL");
	check_true(agate_bo_handle(got) == handle, "the next BO", "the BO without its pages");
	check_equal(lib_handles(), 2, "handles that are left");
	agate_bo_free(got);
	agate_bo_unreference(jobs);
	cache_close(dev);
}

static struct {
	struct agate_device *dev;
	struct agate_bo *bo;
	bool begun;
} second;

/* Another thread's fetch, while this one hears that the BO has no pages any more. */
static void purge_and_fetch(unsigned long request, enum call_when when, void *arg)
{
	const struct drm_agate_madvise *advice = arg;

	purge(request, when, arg);
	if (request != DRM_IOCTL_AGATE_MADVISE || when != CALL_AFTER || second.begun ||
	    advice->handle != purged[0] || pthread_mutex_trylock(&second.dev->cache.lock))
		return;
	pthread_mutex_unlock(&second.dev->cache.lock);
	second.begun = true;
	second.bo = agate_bo_cache_fetch(second.dev, PAGE, DELAY, NULL, false);
}

static void fetched_meanwhile(void)
{
	struct agate_device *dev = cache_open();
	uint32_t handles[3];
	struct agate_bo *got;

	cache_many(dev, PAGE, 3, handles);
	purged[0] = purged[1] = handles[0];
	second.dev = dev;
	second.bo = NULL;
	second.begun = false;
	calls_hook(purge_and_fetch);
	got = agate_bo_cache_fetch(dev, PAGE, DELAY, NULL, false);
	calls_hook(NULL);
	rule("two fetches never get the same BO: after the lock was free a search begins anew");
	check_true(!got || got != second.bo, "another BO, or none", "the BO that another thread has got");
	check_cached(dev, second.begun ? 0 : 1);
	agate_bo_free(got);
	if (second.bo)
		agate_bo_free(second.bo);
	cache_close(dev);
}

void test_purged(void **state)
{
	struct agate_device *dev = cache_open();
	uint32_t handles[4];
	struct agate_bo *bo;
	uint64_t misses;

	(void)state;
	cache_many(dev, PAGE, 4, handles);
	misses = cache_stats(dev).misses;
	purged[0] = handles[0];
	purged[1] = handles[1];
	cache_watch_closes(dev);
	calls_hook(purge);
	bo = lib_bo(dev, PAGE, DELAY);
	cache_check_closes("it is taken: a fetch frees a BO without pages");
	rule("a BO whose pages the kernel took is freed, and the search goes on");
	check_true(agate_bo_handle(bo) == handles[2], "the oldest BO that still has its pages",
		   "another one, or a new BO");
	check_equal(lib_handles(), 2, "handles that are left");
	check_equal((int64_t)cache_stats(dev).purged, 2, "stats.purged");
	misses = cache_stats(dev).misses - misses;
	rule("a creation that gets a BO of the cache in the end is no miss");
	check_equal((int64_t)misses, 0, "stats.misses, since before that creation");
	agate_bo_unreference(bo);
	rule("when the kernel took all of them a new one is made");
	purged[0] = handles[2];
	purged[1] = handles[3];
	calls_begin(agate_device_fd(dev));
	calls_hook(purge);
	bo = lib_bo(dev, PAGE, DELAY);
	calls_hook(NULL);
	check_equal(calls_made(DRM_IOCTL_AGATE_CREATE_BO), 1, "calls of CREATE_BO");
	check_equal(lib_handles(), 1, "handles that are left");
	agate_bo_unreference(bo);
	cache_close(dev);
	purged_while_busy();
	fetched_meanwhile();
}

static unsigned int long_waits;

/* The first wait without a time limit fails, and so does each poll. */
static void fail_waits(unsigned long request, enum call_when when, void *arg)
{
	const struct drm_agate_wait_bo *wait = arg;

	if (request != DRM_IOCTL_AGATE_WAIT_BO || when != CALL_BEFORE)
		return;
	if (!wait->timeout_ns || !long_waits++)
		calls_fail(DRM_IOCTL_AGATE_WAIT_BO, 1, ENODEV);
}

/* The jobs have ended; the kernel fails to say so. */
static void wait_fails(void)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *jobs = lib_bo(dev, PAGE, AGATE_ALLOC_EXECUTE), *bo[2], *got;
	uint32_t handle;
	uint64_t count;

	for (size_t i = 0; i < 2; i++)
		bo[i] = lib_bo(dev, PAGE, DELAY);
	handle = agate_bo_handle(bo[1]);
	for (size_t i = 0; i < 2; i++) {
		lib_submit(jobs, bo[i], AGATE_ACCESS_RW, -1);
		agate_bo_wait(jobs, INT64_MAX, true);
		agate_bo_unreference(bo[i]);
	}
	calls_hook(fail_waits);
	got = agate_bo_cache_fetch(dev, PAGE, DELAY, NULL, false);
	rule("a poll that fails does not make a BO idle, whatever the error");
	check_true(!got, "NULL", "a BO");
	check_cached(dev, 2);
	long_waits = 0;
	got = agate_bo_cache_fetch(dev, PAGE, DELAY, NULL, true);
	calls_hook(NULL);
	rule("a BO for which the wait fails is freed, and the search begins anew");
	check_true(got, "the next BO", "NULL");
	check_true(agate_bo_handle(got) == handle, "the next BO", "the BO whose wait failed");
	check_equal(lib_handles(), 2, "handles that are left");
	check_cached(dev, 0);
	count = cache_stats(dev).purged;
	rule("a BO for which the wait fails counts as purged");
	check_equal((int64_t)count, 1, "stats.purged");
	agate_bo_free(got);
	agate_bo_unreference(jobs);
	cache_close(dev);
}

/* The kernel does not take the advice for the first of two. */
static void advice_fails(void)
{
	struct agate_device *dev = cache_open();
	uint32_t handles[2];
	struct agate_bo *got;

	cache_many(dev, PAGE, 2, handles);
	calls_fail(DRM_IOCTL_AGATE_MADVISE, 1, ENODEV);
	got = agate_bo_cache_fetch(dev, PAGE, DELAY, NULL, false);
	rule("a BO for which the advice fails is freed, and the search begins anew");
	check_true(got, "the next BO", "NULL");
	check_true(agate_bo_handle(got) == handles[1], "the next BO", "the BO whose advice failed");
	check_cached(dev, 0);
	check_equal(lib_handles(), 1, "handles that are left");
	agate_bo_free(got);
	cache_close(dev);
}

void test_fetch_fails(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *bo = NULL;
	uint64_t count;

	(void)state;
	cache_new(dev, PAGE, DELAY);
	rule("nobody gets a BO of which the kernel does not say that its contents are there");
	calls_begin(agate_device_fd(dev));
	calls_fail(DRM_IOCTL_AGATE_MADVISE, 1, ENODEV);
	bo = lib_bo(dev, PAGE, DELAY);
	check_equal(calls_made(DRM_IOCTL_AGATE_CREATE_BO), 1, "calls of CREATE_BO");
	rule("a BO for which the advice fails is freed");
	check_equal(lib_handles(), 1, "handles that are left");
	count = cache_stats(dev).purged;
	rule("a BO for which the advice fails counts as purged");
	check_equal((int64_t)count, 1, "stats.purged");
	agate_bo_unreference(bo);
	cache_close(dev);
	advice_fails();
	wait_fails();
}
