// SPDX-License-Identifier: MIT
/*
 * The GPU vanishes in mid-job.  run.sh runs this, and kills the simulator when it
 * reads BUSY.
 *
 * At that time one waiter sleeps in WAIT_BO and one in a sync object's wait.  Both
 * must wake with an error or with a fence whose status is ENODEV, every later call
 * must give ENODEV, and mapped memory must stay readable.
 */
#include "guest.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct waiter {
	int fd;
	uint32_t syncobj;
	int result;
};

static void *wait_for_sync(void *arg)
{
	struct waiter *w = arg;
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&w->syncobj, .count_handles = 1, .timeout_nsec = FOREVER,
	};

	w->result = guest_ioctl(w->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
	return NULL;
}

static void every_call_says_nodev(int fd, uint32_t handle)
{
	struct drm_agate_get_param param = { .param = DRM_AGATE_PARAM_GPU_ID };
	struct drm_agate_mmap_bo map = { .handle = handle };
	struct drm_agate_set_label label = { .handle = handle };
	struct drm_agate_madvise madvise = { .handle = handle };
	struct drm_agate_get_bo_offset offset = { .handle = handle };
	struct bo bo;

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &param), ENODEV);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MMAP_BO, &map), ENODEV);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_SET_LABEL, &label), ENODEV);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MADVISE, &madvise), ENODEV);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_BO_OFFSET, &offset), ENODEV);
	assert_int_equal(guest_create(fd, PAGE, 0, &bo), ENODEV);
	assert_int_equal(guest_wait(fd, handle, 0), ENODEV);
	assert_int_equal(guest_submit(fd, PAGE, 0, &handle, 1, 0), ENODEV);
}

static void gpu_vanishes(void **state)
{
	struct waiter waiter = { .fd = guest_open() };
	int fd = waiter.fd, err, sync_file;
	struct bo bo = guest_bo(fd, PAGE, 0);
	pthread_t thread;

	(void)state;
	waiter.syncobj = guest_syncobj(fd);
	guest_job_write64(&bo, 0, bo.va, bo.va + 2048, 0x99);
	assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, waiter.syncobj), 0);
	sync_file = guest_sync_file(fd, waiter.syncobj);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_sync, &waiter), 0);
	/* The chain never ends; the write of its first round shows that it runs. */
	for (int64_t end = guest_deadline(10000); guest_deadline(0) < end;)
		if (*(volatile uint64_t *)((char *)bo.cpu + 2048) == 0x99)
			break;
	puts("# BUSY");
	fflush(stdout);

	/* The wait ends because the job does, or because the device is gone. */
	err = guest_wait(fd, bo.handle, FOREVER);
	assert_true(err == 0 || err == ENODEV);
	pthread_join(thread, NULL);
	assert_true(waiter.result == 0 || waiter.result == ENODEV);
	assert_int_equal(guest_fence_status(sync_file), -ENODEV);
	close(sync_file);

	/* The fence may come a moment before the unplug: the calls do not wait. */
	for (int64_t end = guest_deadline(10000); guest_deadline(0) < end;)
		if (guest_wait(fd, bo.handle, 0) == ENODEV)
			break;
	every_call_says_nodev(fd, bo.handle);
	assert_int_equal(*(volatile uint64_t *)((char *)bo.cpu + 2048), 0x99);
	munmap(bo.cpu, bo.size);
	close(fd);
	assert_int_equal(guest_try_open(), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpu_vanishes),
	};

	return cmocka_run_group_tests_name("gone", tests, NULL, NULL);
}
