// SPDX-License-Identifier: MIT
/* Lab 09, on the debug kernel: eight threads, and a kernel that takes memory back. */
#include "cache.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

#define ROUNDS		60
#define PRESSED		4

static struct agate_device *dev;
static unsigned int failures;

static void fail_if(bool wrong)
{
	if (wrong)
		__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
}

static void take_and_put(unsigned int thread, void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		const uint64_t size = PAGE << (i + thread) % 3;
		struct agate_bo *bo = NULL;
		unsigned int *cpu = NULL;

		if (agate_bo_create(dev, size, i % 2 ? DELAY : 0, "mine", &bo) ||
		    agate_bo_mmap(bo, (void **)&cpu)) {
			fail_if(true);
			continue;
		}
		/* Nobody else has this BO: the word stays. */
		cpu[0] = thread;
		cpu[size / sizeof(*cpu) - 1] = i;
		agate_bo_set_label(bo, "mine");
		fail_if(cpu[0] != thread || cpu[size / sizeof(*cpu) - 1] != i);
		fail_if(agate_bo_size(bo) < size);
		agate_bo_unreference(bo);
	}
}

static struct agate_bo *third;

static unsigned int locks_until;

/* Another thread comes first, where this one is about to take a lock and has none. */
static void at_a_lock(unsigned long request, enum call_when when, void *arg)
{
	(void)arg;
	if (request != CALL_LOCK || when != CALL_BEFORE || --locks_until ||
	    pthread_mutex_trylock(&dev->cache.lock))
		return;
	pthread_mutex_unlock(&dev->cache.lock);
	third = agate_bo_cache_fetch(dev, PAGE, DELAY, NULL, false);
}

static void two_fetches(unsigned int nth)
{
	struct agate_bo *bo;

	cache_new(dev, PAGE, DELAY);
	third = NULL;
	locks_until = nth;
	calls_hook(at_a_lock);
	calls_watch_locks(true);
	bo = agate_bo_cache_fetch(dev, PAGE, DELAY, NULL, false);
	calls_watch_locks(false);
	calls_hook(NULL);
	rule("a BO leaves the cache for one thread");
	check_equal((bo != NULL) + (third != NULL), 1, "threads that got the only BO");
	agate_bo_free(bo ? bo : third);
}

void test_crowd(void **state)
{
	(void)state;
	dev = cache_open();
	for (unsigned int nth = 1; nth <= 4; nth++)
		two_fetches(nth);
	crowd(take_and_put, NULL);
	rule("no BO is used by two threads at the same time");
	check_equal(failures, 0, "calls that failed, or BOs that somebody else used");
	cache_stats(dev);
	check_equal(lib_handles(), (int64_t)cache_stats(dev).cached, "handles, all in the cache");
	rule("each handle is closed once");
	check_equal(calls_refused(DRM_IOCTL_GEM_CLOSE), 0, "handles closed that were none");
	cache_close(dev);
}

static void press(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "2", 1) != 1)
		guest_broken("memory pressure", "drop_caches: %s", strerror(errno));
	close(fd);
}

void test_pressure(void **state)
{
	struct agate_bo *used, *jobs, *bo[PRESSED];
	unsigned char *cpu, *kept;

	(void)state;
	dev = cache_open();
	used = lib_bo(dev, PAGE, 0);
	jobs = lib_bo(dev, PAGE, AGATE_ALLOC_EXECUTE);
	agate_bo_mmap(used, (void **)&kept);
	kept[0] = 0x77;
	for (size_t i = 0; i < PRESSED; i++) {
		bo[i] = lib_bo(dev, PAGE, 0);
		agate_bo_mmap(bo[i], (void **)&cpu);
		memset(cpu, 1, PAGE);
		lib_submit(jobs, bo[i], AGATE_ACCESS_RW, -1);
		agate_bo_wait(bo[i], FOREVER, true);
	}
	for (size_t i = 0; i < PRESSED; i++)
		agate_bo_unreference(bo[i]);
	press();
	rule("under pressure the kernel takes the pages of cached BOs, and of no others");
	check_equal(kept[0], 0x77, "a byte of a BO that is used");
	bo[0] = agate_bo_cache_fetch(dev, PAGE, 0, NULL, true);
	check_true(!bo[0], "no BO of the cache", "one whose pages are gone");
	check_equal((int64_t)cache_stats(dev).purged, PRESSED, "BOs whose pages were gone");
	bo[0] = lib_bo(dev, PAGE, 0);
	rule("a BO whose pages are gone is no longer used");
	agate_bo_mmap(bo[0], (void **)&cpu);
	check_equal(cpu[PAGE / 2], 0, "a byte of the new BO");
	agate_bo_unreference(bo[0]);
	agate_bo_unreference(used);
	agate_bo_unreference(jobs);
	cache_close(dev);
}
