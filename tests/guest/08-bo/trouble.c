// SPDX-License-Identifier: MIT
/* Lab 08, on the debug kernel: its memory runs out; three threads at one slot, and eight at all. */
#include "bo.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "dmabuf.h"
#include "fail_nth.h"

#define SIZE		(3 * PAGE)
#define MOST		400
#define ROUNDS		60

static struct agate_device *dev;
static int shared_fd;
static unsigned int failures;

/* One call of the library: made, then undone. */
static int do_create(struct agate_bo **bo)
{
	int err = agate_bo_create(dev, SIZE, 0, "victim", bo);

	if (!err)
		check_true((*bo)->cpu, "a BO that is mapped when its creation succeeds", "no map");
	return err;
}

static int do_import(struct agate_bo **bo)
{
	return agate_bo_import(dev, shared_fd, bo);
}

/* Copies from and to user memory fail as well as allocations. */
static bool for_memory(int err)
{
	return err == ENOMEM || err == ENOSPC || err == EMFILE || err == ENFILE ||
	       err == EAGAIN || err == EFAULT;
}

/* The n-th allocation of the kernel fails.  Return: the call had so many. */
static bool allocation_of(int (*call)(struct agate_bo **bo), const char *what, long handles,
			  int fail_nth, int n)
{
	struct agate_bo *bo = NULL;
	bool fired;
	int err;

	fail_nth_arm(fail_nth, n);
	err = -call(&bo);
	fired = fail_nth_fired(fail_nth);
	rule("%s for which the kernel has no memory fails, and leaves nothing", what);
	if (err && !for_memory(err))
		check_errno(err, ENOMEM, what);
	check_true(!bo == !!err, "a BO when it succeeds, and none when it fails", "the opposite");
	if (!err)
		agate_bo_unreference(bo);
	check_equal(calls_maps(), 0, "maps that are left");
	/* The kernel could not tell which handle it made: it goes with the file. */
	if (err == EFAULT) {
		agate_device_close(dev);
		dev = lib_open();
	}
	check_equal(lib_handles(), handles, "handles that are left");
	if (!fired)
		check_errno(err, 0, what);
	return fired;
}

/*
 * Each in turn, until the call succeeds.  It may succeed although an allocation failed: the kernel
 * can do without some.  Each number gets as many calls as in fail_nth_each().
 */
static void allocations_of(int (*call)(struct agate_bo **bo), const char *what, long handles)
{
	int fail_nth = fail_nth_open();
	bool fired = true;

	for (int n = 1; fired; n++) {
		fired = false;
		for (int i = 0; i < FAIL_NTH_CALLS; i++)
			fired |= allocation_of(call, what, handles, fail_nth, n);
		if (n > MOST)
			broken("an end of the allocations that can fail", "another one, %d times", n);
	}
	close(fail_nth);
}

static int export_victim(struct agate_bo **bo)
{
	int fd = -1, next = dup(STDERR_FILENO), err;

	close(next);
	err = agate_bo_create(dev, SIZE, AGATE_ALLOC_DELAY_MMAP, NULL, bo);
	if (err)
		return err;
	err = agate_bo_export(*bo, &fd);
	/* A kernel that cannot tell the number of the new file leaves the file open. */
	close(err == -EFAULT ? next : fd);
	if (!err)
		return 0;
	agate_bo_unreference(*bo);
	*bo = NULL;
	return err;
}

void test_allocations(void **state)
{
	int file = guest_open();
	struct bo far = guest_bo(file, SIZE, 0);

	(void)state;
	dev = lib_open();
	shared_fd = dmabuf_export(&far);
	allocations_of(do_create, "a creation", 1);
	allocations_of(do_import, "an import", 1);
	allocations_of(export_victim, "an export", 1);
	guest_destroy(&far);
	close(shared_fd);
	close(file);
	lib_close(dev);
}

/* ---- Three threads at one slot ------------------------------------------------- */

static struct agate_bo *second;
static int second_err;

static void import_second(void)
{
	second_err = agate_bo_import(dev, shared_fd, &second);
}

/* Two threads import a dma-buf that the process does not know. */
static void two_imports(unsigned long request, enum call_when when)
{
	struct agate_bo *first = NULL;
	int err;

	second = NULL;
	race_begin(request, when, import_second);
	err = agate_bo_import(dev, shared_fd, &first);
	race_end();
	rule("two imports of one dma-buf at the same time give one BO, with two references");
	check_lib(err, 0, "agate_bo_import()");
	check_lib(second_err, 0, "agate_bo_import() in the other thread");
	check_true(first == second, "one BO", "two");
	check_equal(first->refcnt, 2, "refcnt");
	agate_bo_unreference(first);
	lib_check_bo(second, SIZE);
	agate_bo_unreference(second);
	check_equal(lib_handles(), 1, "handles, one of which is the exporter's");
}

static struct waiter {
	pthread_t thread;
	struct agate_bo *bo;
	bool ended;
	int err;
} waiters[3];

static void *import_waiting(void *arg)
{
	struct waiter *waiter = arg;

	waiter->err = agate_bo_import(dev, shared_fd, &waiter->bo);
	return NULL;
}

static bool ends(struct waiter *waiter, unsigned int ms)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += ms / 1000 + (limit.tv_nsec + ms % 1000 * 1000000) / 1000000000;
	limit.tv_nsec = (limit.tv_nsec + ms % 1000 * 1000000) % 1000000000;
	if (!waiter->ended)
		waiter->ended = !pthread_timedjoin_np(waiter->thread, NULL, &limit);
	return waiter->ended;
}

/* They have a while to come to where they wait, if they do. */
static void import_at_once(void)
{
	for (size_t i = 0; i < 3; i++) {
		waiters[i] = (struct waiter){ 0 };
		if (pthread_create(&waiters[i].thread, NULL, import_waiting, &waiters[i]))
			abort();
	}
	ends(&waiters[0], 100);
}

static void three_imports(void)
{
	struct agate_bo *bo = NULL;

	check_lib(agate_bo_import(dev, shared_fd, &bo), 0, "agate_bo_import()");
	race_begin(DRM_IOCTL_GEM_CLOSE, CALL_BEFORE, import_at_once);
	agate_bo_unreference(bo);
	race_end();
	rule("all who wait for a handle to be closed are woken");
	for (size_t i = 0; i < 3; i++) {
		if (!ends(&waiters[i], 3000))
			broken("the end of each import", "one that still waits after 3 s");
		check_lib(waiters[i].err, 0, "agate_bo_import()");
		check_true(waiters[i].bo == waiters[0].bo, "one BO for all", "another one");
	}
	check_equal(waiters[0].bo->refcnt, 3, "refcnt");
	for (size_t i = 0; i < 3; i++)
		agate_bo_unreference(waiters[i].bo);
	check_equal(lib_handles(), 1, "handles, one of which is the exporter's");
}

/* ---- Eight threads -------------------------------------------------------------- */

static void one_of_eight(unsigned int thread, void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct agate_bo *bo = NULL;
		unsigned char *cpu = NULL;
		const uint64_t size = thread % 2 ? SIZE : (1 + i % 4) * PAGE;
		int err = thread % 2 ? agate_bo_import(dev, shared_fd, &bo) :
			  agate_bo_create(dev, size, i % 2 ? AGATE_ALLOC_DELAY_MMAP : 0, NULL, &bo);

		if (err || agate_bo_size(bo) != size || !agate_bo_handle(bo) ||
		    agate_bo_mmap(bo, (void **)&cpu)) {
			__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
			continue;
		}
		cpu[size - 1] = (unsigned char)thread;
		if (i % 3 == 0)
			agate_bo_unreference(agate_bo_reference(bo));
		agate_bo_unreference(bo);
	}
}

void test_storm(void **state)
{
	int file = guest_open();
	struct bo far = guest_bo(file, SIZE, 0);

	(void)state;
	dev = lib_open();
	shared_fd = dmabuf_export(&far);
	two_imports(DRM_IOCTL_PRIME_FD_TO_HANDLE, CALL_AFTER);
	two_imports(DRM_IOCTL_AGATE_GET_BO_OFFSET, CALL_BEFORE);
	two_imports(DRM_IOCTL_AGATE_GET_BO_OFFSET, CALL_AFTER);
	three_imports();
	crowd(one_of_eight, NULL);
	rule("eight threads that create, import, map and drop get whole BOs");
	check_equal(failures, 0, "calls that failed, or BOs that were not whole");
	rule("each handle is closed once");
	check_equal(calls_refused(DRM_IOCTL_GEM_CLOSE), 0, "handles closed that were none");
	check_equal(lib_handles(), 1, "handles, one of which is the exporter's");
	guest_destroy(&far);
	close(shared_fd);
	close(file);
	lib_close(dev);
}
