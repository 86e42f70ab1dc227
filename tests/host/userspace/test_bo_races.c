// SPDX-License-Identifier: MIT
/*
 * Creation, import and the last unreference on several threads.
 *
 * The test holds some races open: a hook inside one thread's call lets another
 * thread run and waits for it, but not for ever, because a correct library may make
 * that other thread wait.  The test runs the other races until the scheduler hits
 * them, also under ThreadSanitizer.
 */
#include "harness.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agate_bo.h"

#define THREADS		8

/* The second thread of a race, and whether it has finished. */
static struct {
	struct agate_device *dev;
	struct agate_bo *bo;		/* to release, or newly made */
	int fd;
	int err;
	pthread_t thread;
	sem_t done;
	unsigned int started;
	bool in_time;			/* it finished while the first one waited */
	void *(*run)(void *arg);
	unsigned long request;
	enum fake_when when;
} other;

/* Wait, but not for ever: a correct library may make the other thread wait. */
static bool wait_a_while(sem_t *sem, unsigned int ms)
{
	struct timespec limit;
	int ret;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += ms / 1000;
	limit.tv_nsec += ms % 1000 * 1000000l;
	if (limit.tv_nsec >= 1000000000) {
		limit.tv_nsec -= 1000000000;
		limit.tv_sec++;
	}
	do
		ret = sem_timedwait(sem, &limit);
	while (ret && errno == EINTR);
	return !ret;
}

/* Start the other thread once, inside the call that it must race with. */
static void interfere(unsigned long request, enum fake_when when, void *arg)
{
	(void)arg;
	if (request != other.request || when != other.when || other.started++)
		return;
	if (pthread_create(&other.thread, NULL, other.run, NULL))
		abort();
	other.in_time = wait_a_while(&other.done, 200);
}

static void race(unsigned long request, enum fake_when when, void *(*run)(void *arg))
{
	other.request = request;
	other.when = when;
	other.run = run;
	other.started = 0;
	sem_init(&other.done, 0, 0);
	fake_hook(interfere);
}

static void race_over(void)
{
	fake_hook(NULL);
	assert_true(other.started > 0);
	pthread_join(other.thread, NULL);
	sem_destroy(&other.done);
}

static void *run_create(void *arg)
{
	other.err = agate_bo_create(other.dev, 8192, 0, NULL, &other.bo);
	sem_post(&other.done);
	return arg;
}

static void *run_unreference(void *arg)
{
	agate_bo_unreference(other.bo);
	sem_post(&other.done);
	return arg;
}

static void *run_import(void *arg)
{
	other.err = agate_bo_import(other.dev, other.fd, &other.bo);
	sem_post(&other.done);
	return arg;
}

/* Check that the BO is complete: known to the kernel, mapped at its address, and usable. */
static void assert_whole(struct agate_bo *bo, uint64_t size)
{
	struct fake_bo seen;
	void *cpu;

	assert_true(fake_bo(agate_bo_handle(bo), &seen));
	assert_int_equal(agate_bo_size(bo), size);
	assert_int_equal(agate_bo_address(bo), seen.va);
	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	memset(cpu, 0xa5, size);
}

/*
 * The kernel reuses the number of a closed handle at once, and the BO that gets it
 * must not lose its slot to the end of the old BO.
 */
static void test_create_takes_a_closing_handle(void **state)
{
	struct agate_bo *old = bo_new(*state, 4096, 0);
	const uint32_t handle = agate_bo_handle(old);

	other.dev = *state;
	race(DRM_IOCTL_GEM_CLOSE, FAKE_AFTER, run_create);
	agate_bo_unreference(old);
	race_over();
	assert_int_equal(other.err, 0);
	assert_int_equal(agate_bo_handle(other.bo), handle);
	assert_whole(other.bo, 8192);
	agate_bo_unreference(other.bo);
	assert_int_equal(fake_refused(DRM_IOCTL_GEM_CLOSE), 0);
}

/* The import gets the old handle; then the BO's owner drops its reference. */
static void test_unreference_during_import(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	struct agate_bo *imported = NULL;
	int fd = -1;

	assert_int_equal(agate_bo_export(bo, &fd), 0);
	other.bo = bo;
	race(DRM_IOCTL_PRIME_FD_TO_HANDLE, FAKE_AFTER, run_unreference);
	assert_int_equal(agate_bo_import(*state, fd, &imported), 0);
	race_over();
	assert_whole(imported, 4096);
	agate_bo_unreference(imported);
	assert_int_equal(fake_live_handles(), 0);
	assert_int_equal(fake_refused(DRM_IOCTL_GEM_CLOSE), 0);
	close(fd);
}

/* The BO is being freed, but not yet closed, when another thread imports it. */
static void test_import_during_unreference(void **state)
{
	static const struct {
		unsigned long request;
		enum fake_when when;
	} moments[] = {
		{ FAKE_MUNMAP, FAKE_BEFORE },
		{ FAKE_MUNMAP, FAKE_AFTER },
		{ DRM_IOCTL_GEM_CLOSE, FAKE_BEFORE },
		{ DRM_IOCTL_GEM_CLOSE, FAKE_AFTER },
	};
	size_t i;

	for (i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		struct agate_bo *bo = bo_new(*state, 4096, 0);

		assert_int_equal(agate_bo_export(bo, &other.fd), 0);
		other.dev = *state;
		race(moments[i].request, moments[i].when, run_import);
		agate_bo_unreference(bo);
		race_over();
		assert_int_equal(other.err, 0);
		assert_whole(other.bo, 4096);
		agate_bo_unreference(other.bo);
		assert_int_equal(fake_live_handles(), 0);
		close(other.fd);
	}
	assert_int_equal(fake_refused(DRM_IOCTL_GEM_CLOSE), 0);
}

/* ---- A third thread gets the handle ----------------------------------- */

/* One thread closes a handle, and one imports its dma-buf. */
static _Thread_local bool closes, imports;

static struct {
	struct agate_device *dev;
	struct agate_bo *bo, *late;
	sem_t closing, asked, made;
	bool in_time;		/* made while the import has its answer, and has not looked yet */
} third;

/*
 * The import's answer is stale when it looks at the slot.  It has the map lock meanwhile, and a
 * creation may take that lock, too: then the import goes on first, and waits for the close.
 */
static void outdate(unsigned long request, enum fake_when when, void *arg)
{
	(void)arg;
	if (closes && request == DRM_IOCTL_GEM_CLOSE && when == FAKE_BEFORE) {
		sem_post(&third.closing);
		sem_wait(&third.asked);
	} else if (closes && request == DRM_IOCTL_GEM_CLOSE) {
		if (agate_bo_create(third.dev, 8192, 0, NULL, &third.late))
			abort();
		sem_post(&third.made);
	} else if (imports && request == DRM_IOCTL_PRIME_FD_TO_HANDLE && when == FAKE_AFTER) {
		imports = false;
		sem_post(&third.asked);
		third.in_time = wait_a_while(&third.made, 1000);
	}
}

static void *close_it(void *arg)
{
	closes = true;
	agate_bo_unreference(third.bo);
	return arg;
}

static void test_import_meets_a_new_bo(void **state)
{
	struct agate_bo *imported = NULL;
	uint32_t handle;
	pthread_t closer;
	int fd = -1;

	third.dev = *state;
	third.bo = bo_new(*state, 4096, 0);
	handle = agate_bo_handle(third.bo);
	assert_int_equal(agate_bo_export(third.bo, &fd), 0);
	sem_init(&third.closing, 0, 0);
	sem_init(&third.asked, 0, 0);
	sem_init(&third.made, 0, 0);
	imports = true;
	third.in_time = false;
	fake_hook(outdate);
	assert_int_equal(pthread_create(&closer, NULL, close_it, NULL), 0);
	sem_wait(&third.closing);
	assert_int_equal(agate_bo_import(*state, fd, &imported), 0);
	pthread_join(closer, NULL);
	fake_hook(NULL);
	if (third.in_time)
		assert_int_equal(agate_bo_handle(third.late), handle);
	else
		print_message("could not look: the creation waited, so the import had no old answer\n");
	assert_ptr_not_equal(imported, third.late);
	assert_whole(imported, 4096);
	assert_whole(third.late, 8192);
	agate_bo_unreference(imported);
	agate_bo_unreference(third.late);
	assert_int_equal(fake_live_handles(), 0);
	assert_int_equal(fake_refused(DRM_IOCTL_GEM_CLOSE), 0);
	close(fd);
}

/* ---- Who waits --------------------------------------------------------- */

/*
 * To close a handle may take as long as a reset of the GPU.  Nobody waits for that who
 * does not want this very BO.
 */
static void test_close_holds_up_nobody(void **state)
{
	static const unsigned long moments[] = { FAKE_MUNMAP, DRM_IOCTL_GEM_CLOSE };
	size_t i;

	for (i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		struct agate_bo *bo = bo_new(*state, 4096, 0);

		other.dev = *state;
		other.fd = fake_dma_buf(8192);
		race(moments[i], FAKE_BEFORE, run_import);
		agate_bo_unreference(bo);
		race_over();
		assert_int_equal(other.err, 0);
		assert_true(other.in_time);
		agate_bo_unreference(other.bo);
		close(other.fd);
	}
}

struct crowd {
	struct agate_device *dev;
	struct agate_bo *bo;
	int fd;
	unsigned int rounds;
	pthread_barrier_t start;
	_Atomic unsigned int failures;
};

static void run_crowd(struct crowd *crowd, void *(*run)(void *arg))
{
	pthread_t thread[THREADS];
	unsigned int t;

	pthread_barrier_init(&crowd->start, NULL, THREADS);
	crowd->failures = 0;
	for (t = 0; t < THREADS; t++)
		assert_int_equal(pthread_create(&thread[t], NULL, run, crowd), 0);
	for (t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	pthread_barrier_destroy(&crowd->start);
	assert_int_equal(crowd->failures, 0);
}

/* Import and drop at once, so that every thread holds the last reference at some time. */
static void *import_and_drop(void *arg)
{
	struct crowd *crowd = arg;
	unsigned int i;

	pthread_barrier_wait(&crowd->start);
	for (i = 0; i < crowd->rounds; i++) {
		struct agate_bo *bo;
		struct fake_bo seen;

		if (agate_bo_import(crowd->dev, crowd->fd, &bo)) {
			crowd->failures++;
			continue;
		}
		if (agate_bo_size(bo) != 4096 || !fake_bo(agate_bo_handle(bo), &seen) ||
		    agate_bo_address(bo) != seen.va)
			crowd->failures++;
		if (i % 3 == 0)
			agate_bo_unreference(agate_bo_reference(bo));
		agate_bo_unreference(bo);
	}
	return NULL;
}

static void test_imports_of_one_dma_buf(void **state)
{
	struct crowd crowd = { .dev = *state, .fd = fake_dma_buf(4096), .rounds = 2000 };

	run_crowd(&crowd, import_and_drop);
	assert_int_equal(fake_live_handles(), 0);
	assert_int_equal(fake_refused(DRM_IOCTL_GEM_CLOSE), 0);
	close(crowd.fd);
}

/* Some import, some create: handles change owner all the time. */
static void *create_and_import(void *arg)
{
	static _Atomic unsigned int turn;
	struct crowd *crowd = arg;
	const unsigned int id = turn++;
	unsigned int i;

	if (id % 2)
		return import_and_drop(arg);
	pthread_barrier_wait(&crowd->start);
	for (i = 0; i < crowd->rounds; i++) {
		struct agate_bo *bo;
		unsigned int *cpu;

		if (agate_bo_create(crowd->dev, 8192, 0, NULL, &bo)) {
			crowd->failures++;
			continue;
		}
		if (agate_bo_size(bo) != 8192 || agate_bo_mmap(bo, (void **)&cpu))
			crowd->failures++;
		else
			cpu[2047] = i;
		agate_bo_unreference(bo);
	}
	return NULL;
}

static void test_creation_beside_import(void **state)
{
	struct crowd crowd = { .dev = *state, .fd = fake_dma_buf(4096), .rounds = 1000 };

	run_crowd(&crowd, create_and_import);
	assert_int_equal(fake_live_handles(), 0);
	assert_int_equal(fake_refused(DRM_IOCTL_GEM_CLOSE), 0);
	close(crowd.fd);
}

static _Atomic(void *) first_map;

static void *map_it(void *arg)
{
	struct crowd *crowd = arg;
	void *cpu, *expected = NULL;

	pthread_barrier_wait(&crowd->start);
	if (agate_bo_mmap(crowd->bo, &cpu)) {
		crowd->failures++;
		return NULL;
	}
	if (!atomic_compare_exchange_strong(&first_map, &expected, cpu) && expected != cpu)
		crowd->failures++;
	return NULL;
}

static void test_maps_on_demand(void **state)
{
	struct crowd crowd = { .dev = *state };
	unsigned int round;

	for (round = 0; round < 200; round++) {
		crowd.bo = bo_new(*state, 4096, AGATE_ALLOC_DELAY_MMAP);
		first_map = NULL;
		run_crowd(&crowd, map_it);
		assert_int_equal(fake_live_maps(), 1);
		agate_bo_unreference(crowd.bo);
	}
}

static void *count_references(void *arg)
{
	struct crowd *crowd = arg;
	unsigned int i;

	pthread_barrier_wait(&crowd->start);
	for (i = 0; i < crowd->rounds; i++)
		agate_bo_unreference(agate_bo_reference(crowd->bo));
	agate_bo_unreference(crowd->bo);
	return NULL;
}

/* One reference for each thread: the last one frees the BO, whichever thread drops it. */
static void test_references(void **state)
{
	struct crowd crowd = { .dev = *state, .rounds = 200 };
	unsigned int round, t;

	for (round = 0; round < 50; round++) {
		crowd.bo = bo_new(*state, 4096, 0);
		for (t = 1; t < THREADS; t++)
			agate_bo_reference(crowd.bo);
		run_crowd(&crowd, count_references);
		assert_int_equal(fake_live_handles(), 0);
	}
	assert_int_equal(fake_calls(DRM_IOCTL_GEM_CLOSE), 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_device(test_create_takes_a_closing_handle),
		with_device(test_unreference_during_import),
		with_device(test_import_during_unreference),
		with_device(test_import_meets_a_new_bo),
		with_device(test_close_holds_up_nobody),
		with_device(test_imports_of_one_dma_buf),
		with_device(test_creation_beside_import),
		with_device(test_maps_on_demand),
		with_device(test_references),
	};

	return cmocka_run_group_tests_name("bo-races", tests, NULL, NULL);
}
