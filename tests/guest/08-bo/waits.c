// SPDX-License-Identifier: MIT
/* Lab 08: waiting for the GPU, and not asking when there is nothing to wait for. */
#include "bo.h"

#include <stdio.h>

#define DELAY		AGATE_ALLOC_DELAY_MMAP

static unsigned int asked(void)
{
	return calls_made(DRM_IOCTL_AGATE_WAIT_BO);
}

void test_wait_asks(void **state)
{
	struct agate_device *dev = lib_open();
	struct agate_bo *bo = lib_bo(dev, PAGE, DELAY), *jobs = lib_bo(dev, PAGE, 0);
	struct agate_bo *shared = lib_bo(dev, PAGE, DELAY | AGATE_ALLOC_SHARED);

	(void)state;
	rule("a BO that no job can be using is idle, without a call to the kernel");
	check_lib(agate_bo_wait(bo, FOREVER, true), 0, "agate_bo_wait()");
	check_lib(agate_bo_wait(bo, 0, false), 0, "agate_bo_wait() for writers");
	check_equal(asked(), 0, "calls of WAIT_BO");

	rule("a job that only reads a BO is none for a wait that only wants the writers");
	lib_submit(jobs, bo, AGATE_ACCESS_READ, -1);
	check_lib(agate_bo_wait(bo, FOREVER, false), 0, "agate_bo_wait() for writers");
	check_equal(asked(), 0, "calls of WAIT_BO");
	check_lib(agate_bo_wait(bo, FOREVER, true), 0, "agate_bo_wait() for all");
	check_equal(asked(), 1, "calls of WAIT_BO");

	rule("after a wait has found the BO idle, the kernel is not asked again");
	check_lib(agate_bo_wait(bo, FOREVER, true), 0, "agate_bo_wait()");
	check_equal(asked(), 1, "calls of WAIT_BO");
	lib_submit(jobs, bo, AGATE_ACCESS_RW, -1);
	check_lib(agate_bo_wait(bo, FOREVER, true), 0, "agate_bo_wait()");
	check_lib(agate_bo_wait(bo, 0, true), 0, "agate_bo_wait()");
	check_lib(agate_bo_wait(bo, 0, false), 0, "agate_bo_wait() for writers");
	check_equal(asked(), 2, "calls of WAIT_BO");

	rule("with a driver of minor version 0 a wait for the writers is one for all jobs, and "
	     "clears both bits");
	lib_submit(jobs, bo, AGATE_ACCESS_RW, -1);
	lib_submit(jobs, bo, AGATE_ACCESS_READ, -1);
	dev->minor = 0;
	check_lib(agate_bo_wait(bo, FOREVER, false), 0, "agate_bo_wait() for writers");
	dev->minor = AGATE_DRM_MINOR;
	check_equal(asked(), 3, "calls of WAIT_BO");
	check_lib(agate_bo_wait(bo, 0, true), 0, "agate_bo_wait() for all");
	check_equal(asked(), 3, "calls of WAIT_BO after a second wait, for all jobs");

	rule("of a SHARED BO only the kernel knows: every wait asks it");
	check_lib(agate_bo_wait(shared, 0, true), 0, "agate_bo_wait()");
	check_lib(agate_bo_wait(shared, 0, false), 0, "agate_bo_wait() for writers");
	check_equal(asked(), 5, "calls of WAIT_BO");
	rule("the kernel's error reaches the caller");
	calls_fail(DRM_IOCTL_AGATE_WAIT_BO, 1, ENODEV);
	check_lib(agate_bo_wait(shared, 0, true), -ENODEV, "agate_bo_wait() when the GPU is gone");
	agate_bo_unreference(bo);
	agate_bo_unreference(jobs);
	agate_bo_unreference(shared);
	lib_close(dev);
}

static struct drm_agate_wait_bo wait_arg;

static void note_wait(unsigned long request, enum call_when when, void *arg)
{
	if (request == DRM_IOCTL_AGATE_WAIT_BO && when == CALL_BEFORE)
		wait_arg = *(struct drm_agate_wait_bo *)arg;
}

void test_wait_busy(void **state)
{
	struct agate_device *dev = lib_open();
	struct agate_bo *bo = lib_bo(dev, PAGE, DELAY), *jobs = lib_bo(dev, PAGE, 0);
	struct agate_bo *reader = lib_bo(dev, PAGE, DELAY), *other = lib_bo(dev, PAGE, 0);
	const int64_t at = guest_deadline(param("MS"));
	int timeline = guest_timeline();

	(void)state;
	lib_submit(jobs, bo, AGATE_ACCESS_RW, timeline);
	rule("a poll of a BO that a job uses gives EBUSY, again and again");
	check_lib(agate_bo_wait(bo, 0, true), -EBUSY, "agate_bo_wait(0)");
	check_lib(agate_bo_wait(bo, 0, false), -EBUSY, "agate_bo_wait(0) for writers");
	check_lib(agate_bo_wait(bo, 0, true), -EBUSY, "agate_bo_wait(0)");
	rule("a wait whose time runs out gives ETIMEDOUT; the time is absolute, CLOCK_MONOTONIC");
	calls_hook(note_wait);
	check_lib(agate_bo_wait(bo, at, true), -ETIMEDOUT, "agate_bo_wait() with a time");
	check_equal(wait_arg.timeout_ns, at, "timeout_ns in WAIT_BO");
	check_equal(wait_arg.flags, 0, "flags of WAIT_BO, for a wait for all");
	rule("a wait for the writers tells the kernel so");
	check_lib(agate_bo_wait(bo, 0, false), -EBUSY, "agate_bo_wait(0) for writers");
	check_equal(wait_arg.flags, AGATE_WAIT_BO_WRITERS, "flags of WAIT_BO");
	rule("a driver of minor version 0 takes all jobs for writers, and no flag");
	dev->minor = 0;
	check_lib(agate_bo_wait(bo, 0, false), -EBUSY, "agate_bo_wait(0) for writers");
	check_equal(wait_arg.flags, 0, "flags of WAIT_BO");
	dev->minor = AGATE_DRM_MINOR;

	rule("a wait for the writers leaves the readers, and remembers them");
	agate_bo_mark_submitted(reader, AGATE_ACCESS_WRITE);
	lib_submit(other, reader, AGATE_ACCESS_READ, timeline);
	check_lib(agate_bo_wait(reader, 0, false), 0, "agate_bo_wait(0) for writers");
	check_lib(agate_bo_wait(reader, 0, true), -EBUSY, "agate_bo_wait(0) for all");
	calls_hook(NULL);

	rule("a wait without a time limit ends when the job has ended");
	guest_timeline_advance(timeline);
	check_lib(agate_bo_wait(bo, FOREVER, true), 0, "agate_bo_wait()");
	check_lib(agate_bo_wait(reader, FOREVER, true), 0, "agate_bo_wait()");
	close(timeline);
	agate_bo_unreference(bo);
	agate_bo_unreference(jobs);
	agate_bo_unreference(reader);
	agate_bo_unreference(other);
	lib_close(dev);
}

static struct agate_bo *again_bo, *again_jobs;
static int again_timeline;

static void submit_again(unsigned long request, enum call_when when, void *arg)
{
	(void)arg;
	if (request != DRM_IOCTL_AGATE_WAIT_BO || when != CALL_AFTER || !again_bo)
		return;
	lib_submit(again_jobs, again_bo, AGATE_ACCESS_RW, again_timeline);
	again_bo = NULL;
}

/* The wait has found the BO idle, and before it returns somebody submits the next job. */
void test_wait_submit(void **state)
{
	struct agate_device *dev = lib_open();
	struct agate_bo *bo = lib_bo(dev, PAGE, DELAY), *jobs = lib_bo(dev, PAGE, 0);

	(void)state;
	again_timeline = guest_timeline();
	for (unsigned int readers = 0; readers < 2; readers++) {
		lib_submit(jobs, bo, AGATE_ACCESS_RW, -1);
		again_bo = bo;
		again_jobs = lib_bo(dev, PAGE, 0);
		calls_hook(submit_again);
		check_lib(agate_bo_wait(bo, FOREVER, readers), 0, "agate_bo_wait()");
		calls_hook(NULL);
		rule("a job that is submitted while a wait returns does not count as finished");
		check_lib(agate_bo_wait(bo, 0, true), -EBUSY, "agate_bo_wait(0)");
		guest_timeline_advance(again_timeline);
		check_lib(agate_bo_wait(bo, FOREVER, true), 0, "agate_bo_wait()");
		close(again_timeline);
		again_timeline = guest_timeline();
		agate_bo_unreference(again_jobs);
	}
	close(again_timeline);
	agate_bo_unreference(bo);
	agate_bo_unreference(jobs);
	lib_close(dev);
}
