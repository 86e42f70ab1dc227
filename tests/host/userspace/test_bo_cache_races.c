// SPDX-License-Identifier: MIT
/*
 * The BO cache on several threads: nobody gets another's BO, and nobody waits for the GPU
 * on behalf of another.
 */
#include "harness.h"

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agate_bo.h"

#define THREADS		8
#define ROUNDS		400
#define HELD		4

struct crowd {
	struct agate_device *dev;
	pthread_barrier_t start;
	_Atomic unsigned int next_id;
	_Atomic unsigned int failures;
};

static const char *const labels[THREADS] = {
	"zero", "one", "two", "three", "four", "five", "six", "seven",
};

/* Is the BO still this thread's alone, and known to the kernel by its label? */
static bool is_mine(struct agate_bo *bo, unsigned int id)
{
	struct fake_bo seen;
	unsigned int *cpu;

	if (agate_bo_mmap(bo, (void **)&cpu) || cpu[0] != id)
		return false;
	return fake_bo(agate_bo_handle(bo), &seen) && !strcmp(seen.label, labels[id]) &&
	       seen.madv == AGATE_MADV_WILLNEED;
}

static void *create_and_release(void *arg)
{
	struct crowd *crowd = arg;
	const unsigned int id = crowd->next_id++;
	unsigned int i, k;

	pthread_barrier_wait(&crowd->start);
	for (i = 0; i < ROUNDS; i++) {
		struct agate_bo *bo[HELD] = { NULL };
		unsigned int *cpu;

		for (k = 0; k < HELD; k++) {
			if (agate_bo_create(crowd->dev, 4096ull << k % 2, 0, labels[id], &bo[k]) ||
			    agate_bo_mmap(bo[k], (void **)&cpu)) {
				crowd->failures++;
				continue;
			}
			cpu[0] = id;
		}
		for (k = 0; k < HELD; k++) {
			if (bo[k] && !is_mine(bo[k], id))
				crowd->failures++;
			if (bo[k] && i % 7 == 0)
				agate_bo_mark_submitted(bo[k], AGATE_ACCESS_RW);
			agate_bo_unreference(bo[k]);
		}
	}
	return NULL;
}

/* The rest of a program empties the cache and switches it off, and the kernel takes pages. */
static void *disturb(void *arg)
{
	struct crowd *crowd = arg;
	struct agate_bo_cache_stats stats;
	unsigned int i;

	pthread_barrier_wait(&crowd->start);
	for (i = 0; i < ROUNDS; i++) {
		int err = 0;

		switch (i % 8) {
		case 0:
			err = agate_bo_cache_trim(crowd->dev);
			break;
		case 1:
			err = agate_bo_cache_enable(crowd->dev, false);
			break;
		case 2:
			err = agate_bo_cache_enable(crowd->dev, true);
			break;
		case 3:
			fake_purge(3);
			break;
		default:
			err = agate_bo_cache_get_stats(crowd->dev, &stats);
			break;
		}
		if (err)
			crowd->failures++;
	}
	return NULL;
}

static void test_crowd(void **state)
{
	struct crowd crowd = { .dev = *state };
	struct agate_bo_cache_stats stats;
	pthread_t thread[THREADS + 1];
	unsigned int t;

	pthread_barrier_init(&crowd.start, NULL, THREADS + 1);
	for (t = 0; t <= THREADS; t++)
		assert_int_equal(pthread_create(&thread[t], NULL,
						t < THREADS ? create_and_release : disturb, &crowd), 0);
	for (t = 0; t <= THREADS; t++)
		pthread_join(thread[t], NULL);
	pthread_barrier_destroy(&crowd.start);
	assert_int_equal(crowd.failures, 0);
	assert_int_equal(agate_bo_cache_get_stats(*state, &stats), 0);
	assert_int_equal(stats.puts, stats.hits + stats.waits + stats.purged + stats.stale +
				     stats.evicted + stats.cached);
	assert_int_equal(fake_live_handles(), stats.cached);
	assert_int_equal(fake_refused(DRM_IOCTL_GEM_CLOSE), 0);
}

/* One thread waits for the GPU, and another makes and releases BOs meanwhile. */
static struct {
	struct agate_device *dev;
	pthread_t thread;
	sem_t done;
	unsigned int started;
	bool in_time;
	int err;
} other;

static void *use_the_cache(void *arg)
{
	struct agate_bo *bo;
	int i;

	for (i = 0; i < 2 && !other.err; i++) {
		other.err = agate_bo_create(other.dev, 4096, AGATE_ALLOC_EXECUTE, "other", &bo);
		if (!other.err)
			agate_bo_unreference(bo);
	}
	sem_post(&other.done);
	return arg;
}

static void during_the_wait(unsigned long request, enum fake_when when, void *arg)
{
	const struct drm_agate_wait_bo *wait = arg;
	struct timespec limit;

	if (request != DRM_IOCTL_AGATE_WAIT_BO || when != FAKE_BEFORE || !other.dev ||
	    !wait->timeout_ns || other.started++)
		return;
	if (pthread_create(&other.thread, NULL, use_the_cache, NULL))
		abort();
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 2;
	do
		other.in_time = !sem_timedwait(&other.done, &limit);
	while (!other.in_time && errno == EINTR);
}

static void test_wait_holds_up_nobody(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	const uint32_t handle = agate_bo_handle(bo);

	agate_bo_mark_submitted(bo, AGATE_ACCESS_RW);
	fake_set_busy(handle, true);
	agate_bo_unreference(bo);
	other.dev = *state;
	sem_init(&other.done, 0, 0);
	fake_fail(DRM_IOCTL_AGATE_CREATE_BO, 1, ENOMEM);
	/* Each search may poll; one wait is without a time limit. */
	fake_hook(during_the_wait);
	bo = bo_new(*state, 4096, 0);
	fake_hook(NULL);
	assert_int_equal(other.started, 1);
	pthread_join(other.thread, NULL);
	assert_int_equal(other.err, 0);
	assert_true(other.in_time);
	assert_int_equal(agate_bo_handle(bo), handle);
	agate_bo_unreference(bo);
	sem_destroy(&other.done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_cached_device(test_crowd),
		with_cached_device(test_wait_holds_up_nobody),
	};

	return cmocka_run_group_tests_name("bo-cache-races", tests, NULL, NULL);
}
