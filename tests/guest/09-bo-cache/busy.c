// SPDX-License-Identifier: MIT
/* Lab 09: BOs that the GPU still uses, and a kernel that has no memory. */
#include "cache.h"

#include <pthread.h>

/* A BO in the cache that a job uses until the timeline is advanced. */
static uint32_t cache_busy_of(struct agate_device *dev, struct agate_bo *jobs, uint64_t size,
			      uint32_t access, int timeline)
{
	struct agate_bo *bo = lib_bo(dev, size, DELAY);
	const uint32_t handle = agate_bo_handle(bo);

	lib_submit(jobs, bo, access, timeline);
	agate_bo_unreference(bo);
	return handle;
}

static uint32_t cache_busy(struct agate_device *dev, struct agate_bo *jobs, uint32_t access,
			   int timeline)
{
	return cache_busy_of(dev, jobs, PAGE, access, timeline);
}

static void let_go(struct agate_bo *jobs, int timeline)
{
	guest_timeline_advance(timeline);
	agate_bo_wait(jobs, FOREVER, true);
	close(timeline);
}

/* The oldest BO of the bucket is busy, and too small: that is no reason to end the search. */
static void busy_and_too_small(void)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *jobs = lib_bo(dev, PAGE, AGATE_ALLOC_EXECUTE), *bo;
	int timeline = guest_timeline();
	uint32_t handle;

	cache_busy_of(dev, jobs, 8 * KiB, AGATE_ACCESS_RW, timeline);
	handle = cache_new(dev, 12 * KiB, DELAY);
	bo = agate_bo_cache_fetch(dev, 12 * KiB, DELAY, NULL, false);
	rule("only a BO that fits can end the search: one that is too small is skipped, busy or idle");
	check_true(bo, "the idle BO that fits", "NULL");
	check_equal(agate_bo_handle(bo), handle, "the handle");
	agate_bo_free(bo);
	let_go(jobs, timeline);
	agate_bo_unreference(jobs);
	cache_close(dev);
}

void test_busy_oldest(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *jobs = lib_bo(dev, PAGE, AGATE_ALLOC_EXECUTE), *bo;
	const struct agate_bo *first, *second;
	int timeline = guest_timeline();
	uint32_t older, handle, others[3];
	uint64_t misses;

	(void)state;
	older = cache_new(dev, MiB, DELAY);
	handle = cache_busy(dev, jobs, AGATE_ACCESS_RW, timeline);
	/* Each of these finds the busy one first. */
	cache_many(dev, PAGE, 3, others);
	misses = cache_stats(dev).misses;
	calls_begin(agate_device_fd(dev));
	bo = lib_bo(dev, PAGE, DELAY);
	rule("a fitting BO that is busy ends the search: one fetch asks about one busy BO");
	check_equal(calls_made(DRM_IOCTL_AGATE_WAIT_BO), 1, "calls of WAIT_BO");
	check_equal(calls_made(DRM_IOCTL_AGATE_CREATE_BO), 1, "calls of CREATE_BO");
	check_cached(dev, 5);
	check_at_least((int64_t)cache_stats(dev).busy, 1, "stats.busy");
	misses = cache_stats(dev).misses - misses;
	rule("a creation whose search ends at a busy BO has found no idle one: that is a miss");
	check_equal((int64_t)misses, 1, "stats.misses, since before that creation");
	first = TAILQ_FIRST(&dev->cache.lru);
	second = first ? TAILQ_NEXT(first, lru_link) : NULL;
	rule("a busy BO keeps its place: the list by age is in the order in which the BOs went in");
	check_true(second && first->handle == older && second->handle == handle,
		   "the older BO before the busy one", "another order");
	agate_bo_unreference(bo);
	let_go(jobs, timeline);
	rule("when it is idle again the oldest is taken");
	bo = lib_bo(dev, PAGE, DELAY);
	check_equal(agate_bo_handle(bo), handle, "the handle");
	agate_bo_unreference(bo);
	agate_bo_unreference(jobs);
	cache_close(dev);
	busy_and_too_small();
}

void test_busy_with_a_reader(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *jobs = lib_bo(dev, PAGE, AGATE_ALLOC_EXECUTE), *bo;
	int timeline = guest_timeline();
	uint32_t handle;

	(void)state;
	handle = cache_busy(dev, jobs, AGATE_ACCESS_READ, timeline);
	bo = lib_bo(dev, PAGE, DELAY);
	rule("a BO that a job only reads is busy, too: its next user will write to it");
	check_true(agate_bo_handle(bo) != handle, "another BO", "the busy one");
	let_go(jobs, timeline);
	agate_bo_unreference(bo);
	rule("when the reader has ended the BO is taken");
	bo = lib_bo(dev, PAGE, DELAY);
	check_equal(agate_bo_handle(bo), handle, "the handle");
	agate_bo_unreference(bo);
	agate_bo_unreference(jobs);
	cache_close(dev);
}

static uint64_t waits_of(struct agate_device *dev)
{
	struct agate_bo_cache_stats stats = { 0 };

	agate_bo_cache_get_stats(dev, &stats);
	return stats.waits;
}

/* A wait with a time limit ends at the limit this number of times, before the job may end. */
#define SLICES		3

static int waited_timeline;
static unsigned int slices;
static bool waited, useful;
static uint32_t waited_handle;

/*
 * The cache waits without a time limit: now the job may end.  To wait for a while, again and
 * again, is as good, so only a cache that does not wait again is none that waits.
 */
static void end_when_waited(unsigned long request, enum call_when when, void *arg)
{
	const struct drm_agate_madvise *advice = arg;
	const struct drm_agate_wait_bo *wait = arg;

	if (request == DRM_IOCTL_AGATE_MADVISE && when == CALL_BEFORE)
		useful = useful || (advice->handle == waited_handle &&
				    advice->madv == AGATE_MADV_WILLNEED);
	if (request != DRM_IOCTL_AGATE_WAIT_BO || when != CALL_BEFORE || !wait->timeout_ns)
		return;
	if (wait->timeout_ns != FOREVER && slices++ < SLICES) {
		calls_fail(DRM_IOCTL_AGATE_WAIT_BO, 1, ETIMEDOUT);
		return;
	}
	waited = true;
	guest_timeline_advance(waited_timeline);
}

void test_no_memory_waits(void **state)
{
	static const int errors[] = { ENOMEM, ENOSPC };
	static const uint32_t uses[] = { AGATE_ACCESS_RW, AGATE_ACCESS_READ };
	struct agate_device *dev = cache_open();
	struct agate_bo *jobs = lib_bo(dev, PAGE, AGATE_ALLOC_EXECUTE), *bo;
	uint64_t busy;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		waited_timeline = guest_timeline();
		waited_handle = cache_busy(dev, jobs, uses[i], waited_timeline);
		calls_begin(agate_device_fd(dev));
		calls_fail(DRM_IOCTL_AGATE_CREATE_BO, 1, errors[i]);
		waited = useful = false;
		slices = 0;
		calls_hook(end_when_waited);
		bo = NULL;
		rule(i ? "a creation goes on to a busy BO whatever the error of the new one was"
		       : "without memory for a new BO a creation waits for a busy one of the cache");
		check_lib(agate_bo_create(dev, PAGE, DELAY, "late", &bo), 0, "agate_bo_create()");
		calls_hook(NULL);
		if (i && calls_made(DRM_IOCTL_AGATE_CREATE_BO) == 1)
			rule("a creation waits for jobs that only read the BO, too: its next user writes");
		else if (i && !calls_made(DRM_IOCTL_AGATE_CREATE_BO))
			rule("a BO is busy with jobs that only read it, too: its next user writes");
		check_true(waited || !slices, "a wait that goes on until the job has ended",
			   "it ended with its time limit, and nobody waited again");
		check_true(waited, "a wait until the job has ended", "no wait, or only a poll");
		check_equal(agate_bo_handle(bo), waited_handle, "the handle");
		check_equal(calls_made(DRM_IOCTL_AGATE_CREATE_BO), 1, "calls of CREATE_BO");
		rule("a BO that was waited for is idle");
		check_lib(agate_bo_wait(bo, 0, true), 0, "agate_bo_wait(0)");
		rule("the kernel hears that the contents of a BO that was waited for matter again");
		check_true(useful, "MADVISE with WILLNEED", "the BO is still DONTNEED");
		rule("a BO that was waited for has the label of its new user");
		check_true(lib_listed("label=\"late\""), "the label in debugfs", "it is not there");
		agate_bo_unreference(bo);
		agate_bo_wait(jobs, FOREVER, true);
		close(waited_timeline);
		/* Without the BO of this round in the next one. */
		agate_bo_free(agate_bo_cache_fetch(dev, PAGE, DELAY, NULL, false));
	}
	rule("a BO that was waited for counts as one");
	check_equal((int64_t)waits_of(dev), 2, "stats.waits");
	busy = cache_stats(dev).busy;
	rule("stats.busy counts searches that end at a busy BO: one that waits does not end there");
	check_equal((int64_t)busy, 2, "stats.busy, of two creations that waited");
	agate_bo_unreference(jobs);
	cache_close(dev);
}

static unsigned int creations;

static void no_memory_at_all(unsigned long request, enum call_when when, void *arg)
{
	(void)arg;
	if (request == DRM_IOCTL_AGATE_CREATE_BO && when == CALL_BEFORE) {
		creations++;
		calls_fail(DRM_IOCTL_AGATE_CREATE_BO, 1, creations == 1 ? ENOMEM : ENOSPC);
	}
}

void test_no_memory_evicts(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *bo = NULL;
	uint32_t handles[4];

	(void)state;
	cache_many(dev, PAGE, 4, handles);
	cache_new(dev, 5 * MiB, DELAY);
	calls_fail(DRM_IOCTL_AGATE_CREATE_BO, 1, ENOMEM);
	rule("at last all that the cache has goes back to the kernel, and the kernel is asked again");
	check_lib(agate_bo_create(dev, MiB, DELAY, NULL, &bo), 0, "agate_bo_create()");
	check_equal(lib_handles(), 1, "handles that are left");
	check_equal((int64_t)cache_stats(dev).evicted, 5, "stats.evicted");
	agate_bo_unreference(bo);

	agate_bo_cache_trim(dev);
	bo = NULL;
	calls_fail(DRM_IOCTL_AGATE_CREATE_BO, 1, ENOMEM);
	rule("the kernel is asked once more, also when the cache had nothing to free");
	check_lib(agate_bo_create(dev, MiB, DELAY, NULL, &bo), 0, "agate_bo_create()");
	agate_bo_unreference(bo);

	rule("the error is that of the last attempt, and there are two");
	creations = 0;
	calls_hook(no_memory_at_all);
	check_lib(agate_bo_create(dev, PAGE, DELAY, NULL, &bo), -ENOSPC, "agate_bo_create()");
	calls_hook(NULL);
	check_equal(creations, 2, "calls of CREATE_BO");
	check_equal(lib_handles(), 0, "handles that are left");
	cache_close(dev);
}

static struct agate_device *other_dev;

static void make_and_drop(void)
{
	struct agate_bo *bo = NULL;

	if (!agate_bo_create(other_dev, 64 * KiB, DELAY, NULL, &bo))
		agate_bo_unreference(bo);
}

static bool held, listed;

/* With the lock: is the BO that somebody waits for in one of the lists? */
static bool is_listed(uint32_t handle)
{
	struct agate_bo *bo;

	TAILQ_FOREACH(bo, &other_dev->cache.lru, lru_link) {
		if (bo->handle == handle)
			return true;
	}
	TAILQ_FOREACH(bo, &other_dev->cache.bucket[0], bucket_link) {
		if (bo->handle == handle)
			return true;
	}
	return false;
}

/* In the middle of that wait another thread uses the cache. */
static void in_the_wait(unsigned long request, enum call_when when, void *arg)
{
	const struct drm_agate_wait_bo *wait = arg;

	if (request == DRM_IOCTL_AGATE_WAIT_BO && when == CALL_BEFORE && wait->timeout_ns &&
	    !pthread_mutex_trylock(&other_dev->cache.lock)) {
		listed = listed || is_listed(wait->handle);
		pthread_mutex_unlock(&other_dev->cache.lock);
		held = false;
		make_and_drop();
	}
	end_when_waited(request, when, arg);
}

void test_wait_holds_up_nobody(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *jobs = lib_bo(dev, PAGE, AGATE_ALLOC_EXECUTE), *bo = NULL;

	(void)state;
	other_dev = dev;
	waited_timeline = guest_timeline();
	cache_busy(dev, jobs, AGATE_ACCESS_RW, waited_timeline);
	calls_fail(DRM_IOCTL_AGATE_CREATE_BO, 1, ENOMEM);
	held = true;
	listed = waited = false;
	slices = 0;
	calls_hook(in_the_wait);
	check_lib(agate_bo_create(dev, PAGE, DELAY, NULL, &bo), 0, "agate_bo_create()");
	calls_hook(NULL);
	/* Nobody waited, or not for long enough: no-memory-waits says so. */
	if (!waited)
		guest_timeline_advance(waited_timeline);
	rule("nobody waits for the GPU while holding the lock of the cache");
	check_true(!held, "a free lock during the wait", "it is taken");
	rule("a BO that a thread waits for is in no list: another thread must not find it, nor free it");
	check_true(!listed, "it is in no list", "it is still in a list");
	agate_bo_unreference(bo);
	agate_bo_wait(jobs, FOREVER, true);
	close(waited_timeline);
	agate_bo_unreference(jobs);
	cache_close(dev);
}
