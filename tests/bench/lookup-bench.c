// SPDX-License-Identifier: MIT
/*
 * Measures data structures of libagate on the host, without a driver; bench.sh runs it.
 *
 * The sparse array, beside the obvious alternative: an array that a mutex protects, because
 * it moves when it grows.  One thread and eight threads look up the handles of a program
 * with a thousand BOs.  Eight threads contend for the mutex only as far as the machine has
 * cores for them.
 *
 * The BO cache with ten and with 100,000 BOs in it: the guest's memory is too small for that.
 * The kernel's part is replaced by a function that answers at once, so these figures
 * are the library's alone.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>

#include "agate_bo.h"
#include "bench.h"

#define ROUNDS		9
#define HANDLES		1000
#define THREADS_MAX	8
#define LOOKUPS		1000000
#define FETCHES		100000
#define MANY		100000

/* ---- Lookups ------------------------------------------------------------- */

struct element {
	uint64_t words[8];
};

static struct agate_sparse_array sparse;
static struct element *array;
static pthread_mutex_t array_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start_line;

static void *look_up_sparse(void *arg)
{
	uint64_t sum = 0;

	pthread_barrier_wait(&start_line);
	for (uint32_t i = 0; i < LOOKUPS; i++) {
		const struct element *e = agate_sparse_array_get(&sparse, 1 + i % HANDLES);

		sum += e->words[0];
	}
	*(volatile uint64_t *)arg = sum;
	return NULL;
}

static void *look_up_array(void *arg)
{
	uint64_t sum = 0;

	pthread_barrier_wait(&start_line);
	for (uint32_t i = 0; i < LOOKUPS; i++) {
		pthread_mutex_lock(&array_lock);
		sum += array[1 + i % HANDLES].words[0];
		pthread_mutex_unlock(&array_lock);
	}
	*(volatile uint64_t *)arg = sum;
	return NULL;
}

/* Millions of lookups a second, of all threads together. */
static double look_up(unsigned int threads, void *(*run)(void *arg))
{
	pthread_t thread[THREADS_MAX];
	uint64_t sums[THREADS_MAX];
	double start, end;

	pthread_barrier_init(&start_line, NULL, threads + 1);
	for (unsigned int t = 0; t < threads; t++)
		if (pthread_create(&thread[t], NULL, run, &sums[t]))
			bench_die("pthread_create");
	/* Before the barrier: on a busy machine the others may be done before this one wakes up. */
	start = bench_now();
	pthread_barrier_wait(&start_line);
	for (unsigned int t = 0; t < threads; t++)
		pthread_join(thread[t], NULL);
	end = bench_now();
	pthread_barrier_destroy(&start_line);
	return threads * (double)LOOKUPS * 1e3 / (end - start);
}

/* ---- A cache that is full ------------------------------------------------ */

static uint32_t last_handle;

int __wrap_drmIoctl(int fd, unsigned long request, void *arg);
int __wrap_drmIoctl(int fd, unsigned long request, void *arg)
{
	(void)fd;
	if (request == DRM_IOCTL_AGATE_CREATE_BO)
		((struct drm_agate_create_bo *)arg)->handle = ++last_handle;
	else if (request == DRM_IOCTL_AGATE_MADVISE)
		((struct drm_agate_madvise *)arg)->retained = 1;
	return 0;
}

drmVersionPtr __wrap_drmGetVersion(int fd);
drmVersionPtr __wrap_drmGetVersion(int fd)
{
	static char name[] = "agate";
	static struct _drmVersion version = { .name = name };

	(void)fd;
	version.version_major = AGATE_DRM_MAJOR;
	version.version_minor = AGATE_DRM_MINOR;
	return &version;
}

void __wrap_drmFreeVersion(drmVersionPtr version);
void __wrap_drmFreeVersion(drmVersionPtr version)
{
	(void)version;
}

/* BOs do not grow stale while this measures. */
static uint64_t no_time(void)
{
	return 0;
}

static struct agate_bo *create(struct agate_device *dev)
{
	struct agate_bo *bo;

	errno = -agate_bo_create(dev, 4096, AGATE_ALLOC_DELAY_MMAP, NULL, &bo);
	if (errno)
		bench_die("agate_bo_create");
	return bo;
}

/* Nanoseconds for one creation and release beside count cached BOs of the same size. */
static double fetch_among(unsigned int count)
{
	struct agate_bo **bo = calloc(count, sizeof(*bo));
	struct agate_device *dev;
	double start, ns;

	errno = -agate_device_open_fd(dup(STDIN_FILENO), &dev);
	if (errno || !bo)
		bench_die("agate_device_open_fd");
	dev->cache.now_ns = no_time;
	for (unsigned int i = 0; i < count; i++)
		bo[i] = create(dev);
	for (unsigned int i = 0; i < count; i++)
		agate_bo_unreference(bo[i]);
	start = bench_now();
	for (unsigned int i = 0; i < FETCHES; i++)
		agate_bo_unreference(create(dev));
	ns = (bench_now() - start) / FETCHES;
	agate_device_close(dev);
	free(bo);
	return ns;
}

int main(void)
{
	double one[2][ROUNDS], eight[2][ROUNDS], few[ROUNDS], many[ROUNDS];

	agate_sparse_array_init(&sparse, sizeof(struct element), 9);
	array = calloc(HANDLES + 1, sizeof(*array));
	if (!array)
		bench_die("calloc");
	for (int i = 0; i < ROUNDS; i++) {
		one[0][i] = look_up(1, look_up_sparse);
		one[1][i] = look_up(1, look_up_array);
		eight[0][i] = look_up(8, look_up_sparse);
		eight[1][i] = look_up(8, look_up_array);
		few[i] = fetch_among(10);
		many[i] = fetch_among(MANY);
	}
	bench_report("sparse_array_1_thread", "M/s", one[0], ROUNDS, "mutex_array_1_thread");
	bench_report("mutex_array_1_thread", "M/s", one[1], ROUNDS, NULL);
	bench_report("sparse_array_8_threads", "M/s", eight[0], ROUNDS, "mutex_array_8_threads");
	bench_report("mutex_array_8_threads", "M/s", eight[1], ROUNDS, NULL);
	bench_report("cache_among_10", "ns", few, ROUNDS, NULL);
	bench_report("cache_among_100000", "ns", many, ROUNDS, "cache_among_10");
	agate_sparse_array_fini(&sparse);
	free(array);
	return 0;
}
