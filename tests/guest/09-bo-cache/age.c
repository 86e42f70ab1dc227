// SPDX-License-Identifier: MIT
/* Lab 09: BOs that nobody wanted for too long, the end of the cache, and its statistics. */
#include "cache.h"

#include <pthread.h>
#include <stdio.h>

static struct {
	struct agate_device *dev;
	struct agate_bo *bo;
} later;

/* The clock is read without the lock: another thread's put comes first, a second later. */
static uint64_t put_after_the_clock(void)
{
	const uint64_t now = clock_ns;
	struct agate_bo *bo = later.bo;

	if (!bo || pthread_mutex_trylock(&later.dev->cache.lock))
		return now;
	pthread_mutex_unlock(&later.dev->cache.lock);
	later.bo = NULL;
	clock_ns += NS_PER_S;
	agate_bo_unreference(bo);
	return now;
}

static void an_older_second(struct agate_device *dev)
{
	uint64_t (*before)(void) = dev->cache.now_ns;
	struct agate_bo *bo = lib_bo(dev, PAGE, DELAY);
	uint64_t stale, second;
	bool early;

	agate_bo_cache_trim(dev);
	later.dev = dev;
	later.bo = lib_bo(dev, MiB, DELAY);
	stale = cache_stats(dev).stale;
	dev->cache.now_ns = put_after_the_clock;
	agate_bo_unreference(bo);
	dev->cache.now_ns = before;
	early = !later.bo;
	second = bo->last_used_s;
	/* It had the lock when it read the clock, so that nobody could come between: right. */
	agate_bo_unreference(later.bo);
	stale = cache_stats(dev).stale - stale;
	rule("a BO is young that another thread put in a second after this put read the clock");
	check_equal((int64_t)stale, 0, "stale BOs");
	if (!early)
		return;
	clock_ns += 2 * NS_PER_S;
	stale = cache_stats(dev).stale;
	cache_new(dev, 64 * KiB, DELAY);
	stale = cache_stats(dev).stale - stale;
	rule("all stale BOs go: a put that reads the clock without the lock looks behind a young BO, too");
	check_equal((int64_t)stale, clock_ns / NS_PER_S - second > 2,
		    "stale BOs, of one behind a BO of a later second");
}

static struct agate_bo_cache *looked_at;
static bool other_second;

static void look_at_newest(unsigned long request, enum call_when when, void *arg)
{
	struct agate_bo *bo;

	if (request != CALL_UNLOCK || when != CALL_BEFORE || arg != &looked_at->lock)
		return;
	bo = TAILQ_LAST(&looked_at->lru, agate_bo_list);
	other_second = other_second || (bo && bo->last_used_s != clock_ns / NS_PER_S);
}

/* From the unlock on the BO may be another thread's. */
static void age_before_the_unlock(struct agate_device *dev)
{
	struct agate_bo *bo = lib_bo(dev, PAGE, DELAY);

	agate_bo_cache_trim(dev);
	clock_ns += 100 * NS_PER_S;
	looked_at = &dev->cache;
	other_second = false;
	calls_watch_locks(true);
	calls_hook(look_at_newest);
	agate_bo_unreference(bo);
	calls_hook(NULL);
	calls_watch_locks(false);
	rule("a put writes nothing to the BO after it has given the lock back, its second neither");
	check_true(!other_second, "last_used_s of the BO, when the lock is given back", "an older one");
}

/* Whole seconds are compared: a BO is stale between two and three seconds after its put. */
void test_stale_boundary(void **state)
{
	static const struct {
		uint64_t put_ns, next_ns;
		bool stale;
	} cases[] = {
		{ 0, 2 * NS_PER_S, false },
		{ 0, 3 * NS_PER_S - 1, false },
		{ 0, 3 * NS_PER_S, true },
		{ NS_PER_S - 1, 2 * NS_PER_S + NS_PER_S - 1, false },
		{ NS_PER_S - 1, 3 * NS_PER_S, true },
		{ 0, 3600 * NS_PER_S, true },
	};
	struct agate_device *dev = cache_open();
	char what[96];

	(void)state;
	/* A clock that has just begun: no time is two seconds before this one. */
	clock_ns = 0;
	cache_new(dev, PAGE, DELAY);
	clock_ns = NS_PER_S;
	cache_new(dev, MiB, DELAY);
	rule("a BO that went in one second ago is young, also when the clock itself began only then");
	check_equal((int64_t)cache_stats(dev).stale, 0,
		    "stats.stale, put in at 0 s, looked at at 1 s");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint64_t base = (i + 1) * 10000 * NS_PER_S;
		const uint64_t before = cache_stats(dev).stale;

		agate_bo_cache_trim(dev);
		clock_ns = base + cases[i].put_ns;
		cache_new(dev, PAGE, DELAY);
		clock_ns = base + cases[i].next_ns;
		cache_new(dev, MiB, DELAY);
		rule("a BO is stale when more than two whole seconds have passed since it went in");
		snprintf(what, sizeof(what), "stale BOs, put in at %llu ns, looked at at %llu ns",
			 (unsigned long long)cases[i].put_ns, (unsigned long long)cases[i].next_ns);
		check_equal((int64_t)(cache_stats(dev).stale - before), cases[i].stale, what);
		check_equal(lib_handles(), cases[i].stale ? 1 : 2, "handles that are left");
	}
	an_older_second(dev);
	age_before_the_unlock(dev);
	cache_close(dev);
}

/* Two puts that refuse their BOs, while the cache has one that is stale. */
static void nothing_goes_in(struct agate_device *dev)
{
	struct agate_bo *bo = lib_bo(dev, PAGE, AGATE_ALLOC_SHARED);
	uint64_t stale;

	agate_bo_cache_trim(dev);
	cache_new(dev, MiB, DELAY);
	clock_ns += 3600 * NS_PER_S;
	stale = cache_stats(dev).stale;
	rule("agate_bo_cache_put() refuses a SHARED BO: another process may use it");
	check_true(!agate_bo_cache_put(bo), "false", "true");
	rule("a put that refuses its BO frees no other one: stale BOs go when another one goes in");
	check_equal((int64_t)(cache_stats(dev).stale - stale), 0, "stale BOs, at a put of a SHARED one");
	agate_bo_unreference(bo);
	bo = lib_bo(dev, PAGE, DELAY);
	calls_fail(DRM_IOCTL_AGATE_MADVISE, 1, EINVAL);
	rule("agate_bo_cache_put() refuses a BO for which the kernel does not take the advice");
	check_true(!agate_bo_cache_put(bo), "false", "true");
	rule("a put that refuses its BO frees no other one: stale BOs go when another one goes in");
	check_equal((int64_t)(cache_stats(dev).stale - stale), 0,
		    "stale BOs, at a put for which the kernel refused the advice");
	agate_bo_unreference(bo);
}

void test_stale_next_put(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *bo;

	(void)state;
	cache_new(dev, PAGE, DELAY);
	clock_ns += 3600 * NS_PER_S;
	rule("only a put looks at the age: a creation, and time, free nothing");
	bo = lib_bo(dev, MiB, DELAY);
	check_equal(lib_handles(), 2, "handles that are left");
	agate_bo_unreference(lib_bo(dev, PAGE, DELAY));
	check_equal((int64_t)cache_stats(dev).hits, 1, "stats.hits");
	rule("each put gives a BO its age anew");
	clock_ns += 2 * NS_PER_S;
	agate_bo_unreference(bo);
	check_equal(lib_handles(), 2, "handles that are left");
	clock_ns += NS_PER_S;
	cache_new(dev, 64 * KiB, DELAY);
	check_equal((int64_t)cache_stats(dev).stale, 1, "stats.stale, a second later");
	nothing_goes_in(dev);
	cache_close(dev);
}

void test_stale_in_order(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *last = lib_bo(dev, 16 * MiB, DELAY);

	(void)state;
	cache_new(dev, PAGE, DELAY);
	cache_new(dev, MiB, DELAY);
	clock_ns += NS_PER_S;
	cache_new(dev, 64 * KiB, DELAY);
	clock_ns += 2 * NS_PER_S;
	cache_watch_lock(dev);
	agate_bo_unreference(last);
	cache_check_closes("it is taken: a put frees what is stale");
	cache_check_lists("a put that frees what is stale");
	rule("all stale BOs go at once, of whatever size, and no younger one");
	check_equal((int64_t)cache_stats(dev).stale, 2, "stats.stale");
	check_equal((int64_t)cache_stats(dev).cached_bytes, 16 * MiB + 64 * KiB, "stats.cached_bytes");
	check_equal(lib_handles(), 2, "handles that are left");
	cache_close(dev);
}

static struct agate_device *trimmed;

static void trim(void)
{
	agate_bo_cache_trim(trimmed);
}

/* The statistics are read with the lock, and another thread empties the cache at that moment. */
static void trim_when_locked(struct agate_device *dev, uint64_t cached)
{
	struct agate_bo_cache_stats stats = { 0 };

	trimmed = dev;
	calls_watch_locks(true);
	race_begin(CALL_LOCK, CALL_AFTER, trim);
	agate_bo_cache_get_stats(dev, &stats);
	calls_watch_locks(false);
	race_end();
	rule("nobody changes the lists without the lock, and agate_bo_cache_evict_all() takes it, too");
	check_equal((int64_t)stats.cached, (int64_t)cached,
		    "BOs in the cache while another thread has the lock");
}

static struct {
	struct agate_device *dev;
	struct agate_bo *bo[4];
	uint32_t handle[4];
	unsigned int count;
	bool begun, freed;
} taken;

/* While the first BO is freed, another thread takes all that the cache still has. */
static void take_the_rest(unsigned long request, enum call_when when, void *arg)
{
	const struct drm_gem_close *closed = arg;
	struct agate_bo *bo;

	if (request != DRM_IOCTL_GEM_CLOSE || when != CALL_BEFORE)
		return;
	for (unsigned int i = 0; i < taken.count; i++)
		taken.freed = taken.freed || taken.handle[i] == closed->handle;
	if (taken.begun || pthread_mutex_trylock(&taken.dev->cache.lock))
		return;
	pthread_mutex_unlock(&taken.dev->cache.lock);
	taken.begun = true;
	while (taken.count < 4 &&
	       (bo = agate_bo_cache_fetch(taken.dev, PAGE, DELAY, NULL, false))) {
		taken.handle[taken.count] = bo->handle;
		taken.bo[taken.count++] = bo;
	}
}

static void taken_meanwhile(struct agate_device *dev)
{
	uint32_t handles[4];

	cache_many(dev, PAGE, 4, handles);
	taken.dev = dev;
	calls_hook(take_the_rest);
	agate_bo_cache_trim(dev);
	calls_hook(NULL);
	rule("agate_bo_cache_evict_all() frees no BO that another thread took while it had no lock");
	check_true(!taken.freed, "those BOs are still there", "it freed one of them");
	while (taken.count)
		agate_bo_free(taken.bo[--taken.count]);
}

void test_close_empties(void **state)
{
	struct agate_device *dev = cache_open();
	const int fd = agate_device_fd(dev), keep = dup(fd);
	uint32_t handles[8];

	(void)state;
	cache_many(dev, PAGE, 8, handles);
	cache_new(dev, MiB, INVISIBLE);
	cache_watch_lock(dev);
	agate_bo_cache_trim(dev);
	cache_check_closes("it is taken: agate_bo_cache_evict_all() frees all");
	cache_check_lists("agate_bo_cache_evict_all()");
	rule("agate_bo_cache_trim() empties the cache");
	check_equal(lib_handles(), 0, "handles that are left");
	taken_meanwhile(dev);
	cache_many(dev, PAGE, 8, handles);
	trim_when_locked(dev, 8);
	cache_many(dev, PAGE, 8, handles);
	rule("the close of a device frees all that its cache has, not only with the file");
	agate_device_close(dev);
	calls_begin(-1);
	check_equal(lib_handles(), 0, "handles of the file, which is still open");
	close(keep);
	check_nothing_left();
}

static void busy_until_waited_for(unsigned long request, enum call_when when, void *arg)
{
	const struct drm_agate_wait_bo *wait = arg;

	cache_at_lock(request, when, arg);
	if (request == DRM_IOCTL_AGATE_WAIT_BO && when == CALL_BEFORE && !wait->timeout_ns)
		calls_fail(DRM_IOCTL_AGATE_WAIT_BO, 1, EBUSY);
}

/* Everything that counts happens once. */
static void counts_change_locked(void)
{
	struct agate_device *dev = cache_open();
	struct agate_bo *jobs = lib_bo(dev, PAGE, AGATE_ALLOC_EXECUTE), *bo[2];

	for (size_t i = 0; i < 2; i++)
		bo[i] = lib_bo(dev, PAGE, DELAY);
	lib_submit(jobs, bo[0], AGATE_ACCESS_RW, -1);
	agate_bo_wait(jobs, FOREVER, true);
	cache_watch_lock(dev);
	calls_hook(busy_until_waited_for);
	/* A search ends at a busy BO; the next one, without memory, waits for it. */
	agate_bo_unreference(bo[0]);
	calls_fail(DRM_IOCTL_AGATE_CREATE_BO, 1, ENOMEM);
	agate_bo_unreference(lib_bo(dev, PAGE, DELAY));
	/* A hit; and a BO that nobody can use any more, before a miss. */
	agate_bo_unreference(lib_bo(dev, PAGE, DELAY));
	calls_fail(DRM_IOCTL_AGATE_MADVISE, 1, ENODEV);
	agate_bo_unreference(lib_bo(dev, PAGE, DELAY));
	clock_ns += 5 * NS_PER_S;
	agate_bo_unreference(bo[1]);
	agate_bo_cache_trim(dev);
	cache_check_counts("a count changed while the lock was free");
	agate_bo_unreference(jobs);
	cache_close(dev);
}

/* A fetch may take a BO that is larger than what was wanted. */
static void bytes_of_a_larger_bo(struct agate_device *dev)
{
	const uint64_t before = cache_stats(dev).cached_bytes;
	struct agate_bo *bo;
	uint64_t after;

	cache_new(dev, 12 * KiB, DELAY);
	bo = lib_bo(dev, 8 * KiB, DELAY);
	after = cache_stats(dev).cached_bytes;
	rule("stats.cached_bytes are the bytes of the BOs in the cache, whatever sizes were wanted");
	check_equal((int64_t)after, (int64_t)before,
		    "stats.cached_bytes, after a BO of 12 KiB came in and left for a creation of 8 KiB");
	agate_bo_unreference(bo);
}

void test_stats(void **state)
{
	struct agate_device *dev = cache_open();
	struct agate_bo_cache_stats s = cache_stats(dev);

	(void)state;
	rule("the statistics begin with zeroes, and count what happens");
	check_equal((int64_t)(s.misses + s.hits + s.puts + s.cached), 0, "the counts");
	agate_bo_unreference(lib_bo(dev, 12 * KiB, DELAY));
	agate_bo_unreference(lib_bo(dev, 12 * KiB, DELAY));
	agate_bo_unreference(lib_bo(dev, 64 * MiB, INVISIBLE));
	s = cache_stats(dev);
	rule("the statistics begin with zeroes, and count what happens");
	check_equal((int64_t)s.misses, 2, "stats.misses");
	check_equal((int64_t)s.hits, 1, "stats.hits");
	check_equal((int64_t)s.puts, 3, "stats.puts");
	check_equal((int64_t)s.cached, 2, "stats.cached");
	check_equal((int64_t)s.cached_bytes, 12 * KiB + 64 * MiB, "stats.cached_bytes");
	agate_bo_cache_trim(dev);
	check_equal((int64_t)cache_stats(dev).evicted, 2, "stats.evicted, after a trim");
	calls_fail(DRM_IOCTL_AGATE_CREATE_BO, 1, ENOMEM);
	agate_bo_unreference(lib_bo(dev, 12 * KiB, DELAY));
	s = cache_stats(dev);
	rule("a creation that finds no idle BO is one miss, however often the kernel is asked");
	check_equal((int64_t)s.misses, 3, "stats.misses");
	agate_bo_cache_enable(dev, false);
	agate_bo_unreference(lib_bo(dev, 12 * KiB, DELAY));
	s = cache_stats(dev);
	rule("with the cache switched off a creation is no miss");
	check_equal((int64_t)s.misses, 3, "stats.misses");
	agate_bo_cache_enable(dev, true);
	bytes_of_a_larger_bo(dev);
	cache_close(dev);
	counts_change_locked();
}
