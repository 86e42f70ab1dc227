// SPDX-License-Identifier: MIT
/*
 * The life of a BO: the kernel calls of creation, the meaning of each flag, and
 * failing steps, which must leave nothing behind.
 */
#include "harness.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "agate_bo.h"

static void test_sizes(void **state)
{
	static const struct {
		uint64_t asked, got;
	} cases[] = {
		{ 1, 4096 }, { 4095, 4096 }, { 4096, 4096 }, { 4097, 8192 },
		{ 12288, 12288 }, { (1 << 20) + 1, (1 << 20) + 4096 },
	};
	struct agate_device *dev = *state;
	struct fake_bo seen;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct agate_bo *bo = bo_new(dev, cases[i].asked, 0);

		assert_int_equal(agate_bo_size(bo), cases[i].got);
		assert_true(fake_bo(agate_bo_handle(bo), &seen));
		assert_int_equal(seen.size, cases[i].got);
		assert_int_equal(agate_bo_address(bo), seen.va);
		agate_bo_unreference(bo);
	}
}

static void test_bad_arguments_reach_no_kernel(void **state)
{
	static const struct {
		uint64_t size;
		uint32_t flags;
	} cases[] = {
		{ 0, 0 },
		{ AGATE_BO_MAX_SIZE + 1, AGATE_ALLOC_INVISIBLE },
		{ UINT64_MAX, AGATE_ALLOC_INVISIBLE },
		{ 1ull << 32, AGATE_ALLOC_INVISIBLE },
		{ 4096, 1u << 10 },
		{ 4096, AGATE_ALLOC_SPILL },
		{ 4096, AGATE_ALLOC_VRAM | AGATE_ALLOC_SHARED },
		{ 4096, AGATE_ALLOC_VRAM | AGATE_ALLOC_CONTIGUOUS },
		{ 4096, AGATE_ALLOC_VRAM | AGATE_ALLOC_GROWABLE | AGATE_ALLOC_INVISIBLE },
		{ 4096, 1u << 31 },
		{ 4096, AGATE_ALLOC_GROWABLE },
		{ 4096, AGATE_ALLOC_GROWABLE | AGATE_ALLOC_DELAY_MMAP },
		{ 4096, AGATE_ALLOC_GROWABLE | AGATE_ALLOC_INVISIBLE | AGATE_ALLOC_EXECUTE },
		{ 4096, AGATE_ALLOC_GROWABLE | AGATE_ALLOC_INVISIBLE | AGATE_ALLOC_CONTIGUOUS },
	};
	struct agate_bo *const untouched = (void *)&cases;
	struct agate_bo *bo = untouched;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(agate_bo_create(*state, cases[i].size, cases[i].flags, NULL, &bo),
				 -EINVAL);
	assert_ptr_equal(bo, untouched);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_CREATE_BO), 0);
}

static void test_flags_for_the_kernel(void **state)
{
	static const struct {
		uint32_t flags, kernel;
	} cases[] = {
		{ 0, AGATE_BO_NOEXEC },
		{ AGATE_ALLOC_EXECUTE, 0 },
		{ AGATE_ALLOC_GROWABLE | AGATE_ALLOC_INVISIBLE,
		  AGATE_BO_NOEXEC | AGATE_BO_HEAP },
		{ AGATE_ALLOC_CPU_READONLY, AGATE_BO_NOEXEC | AGATE_BO_CPU_READONLY },
		{ AGATE_ALLOC_GPU_READONLY, AGATE_BO_NOEXEC | AGATE_BO_GPU_READONLY },
		{ AGATE_ALLOC_SHARED | AGATE_ALLOC_DELAY_MMAP, AGATE_BO_NOEXEC },
		{ AGATE_ALLOC_CONTIGUOUS, AGATE_BO_NOEXEC | AGATE_BO_CONTIGUOUS },
	};
	struct fake_bo seen;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct agate_bo *bo = bo_new(*state, 4096, cases[i].flags);

		assert_true(fake_bo(agate_bo_handle(bo), &seen));
		assert_int_equal(seen.flags, cases[i].kernel);
		agate_bo_unreference(bo);
	}
}

static void test_placement(void **state)
{
	static const struct {
		uint32_t flags, kernel, placement, caching;
	} cases[] = {
		{ 0, AGATE_BO_NOEXEC, 0, 0 },
		{ AGATE_ALLOC_VRAM, AGATE_BO_NOEXEC | AGATE_BO_CPU_VISIBLE,
		  1u << DRM_AGATE_REGION_VRAM, AGATE_CACHING_WC },
		{ AGATE_ALLOC_VRAM | AGATE_ALLOC_INVISIBLE, AGATE_BO_NOEXEC,
		  1u << DRM_AGATE_REGION_VRAM, AGATE_CACHING_WC },
		{ AGATE_ALLOC_VRAM | AGATE_ALLOC_SPILL, AGATE_BO_NOEXEC | AGATE_BO_CPU_VISIBLE,
		  1u << DRM_AGATE_REGION_VRAM | 1u << DRM_AGATE_REGION_SYSTEM, AGATE_CACHING_WC },
	};
	struct fake_bo seen;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct agate_bo *bo = bo_new(*state, 4096, cases[i].flags);

		assert_true(fake_bo(agate_bo_handle(bo), &seen));
		assert_int_equal(seen.flags, cases[i].kernel);
		assert_int_equal(seen.placement, cases[i].placement);
		assert_int_equal(seen.caching, cases[i].caching);
		agate_bo_unreference(bo);
	}
}

static void test_mapped_at_once(void **state)
{
	struct agate_bo *bo = bo_new(*state, 8192, 0);
	void *cpu, *again;

	assert_int_equal(fake_calls(FAKE_MMAP), 1);
	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	assert_int_equal(agate_bo_mmap(bo, &again), 0);
	assert_ptr_equal(cpu, again);
	assert_int_equal(fake_calls(FAKE_MMAP), 1);
	memset(cpu, 0x5a, 8192);
	agate_bo_unreference(bo);
	assert_int_equal(fake_calls(FAKE_MUNMAP), 1);
}

static void test_mapped_on_demand(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, AGATE_ALLOC_DELAY_MMAP);
	void *cpu;

	assert_int_equal(fake_calls(FAKE_MMAP), 0);
	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	assert_int_equal(fake_calls(FAKE_MMAP), 1);
	memset(cpu, 1, 4096);
	agate_bo_unreference(bo);

	/* It was never mapped, so there is nothing to undo. */
	bo = bo_new(*state, 4096, AGATE_ALLOC_DELAY_MMAP);
	agate_bo_unreference(bo);
	assert_int_equal(fake_calls(FAKE_MMAP), 1);
	assert_int_equal(fake_calls(FAKE_MUNMAP), 1);
}

static void test_never_mapped(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, AGATE_ALLOC_INVISIBLE);
	struct agate_bo *heap = bo_new(*state, 64 << 20,
				       AGATE_ALLOC_INVISIBLE | AGATE_ALLOC_GROWABLE);
	void *cpu = state;

	assert_int_equal(agate_bo_mmap(bo, &cpu), -EINVAL);
	assert_int_equal(agate_bo_mmap(heap, &cpu), -EINVAL);
	assert_ptr_equal(cpu, state);
	assert_int_equal(fake_calls(FAKE_MMAP), 0);
	agate_bo_unreference(bo);
	agate_bo_unreference(heap);
}

static void test_readonly_map(void **state)
{
	/* The fake refuses a writable map of it, as the kernel does. */
	struct agate_bo *bo = bo_new(*state, 4096, AGATE_ALLOC_CPU_READONLY);
	void *cpu;

	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	assert_int_equal(*(char *)cpu, 0);
	agate_bo_unreference(bo);
}

/* Make each step of creation fail in turn: the caller gets the error, and nothing stays. */
static void test_failing_steps(void **state)
{
	static const struct {
		unsigned long request;
		int err;
	} steps[] = {
		{ DRM_IOCTL_AGATE_CREATE_BO, ENOMEM },
		{ DRM_IOCTL_AGATE_CREATE_BO, ENOSPC },
		{ DRM_IOCTL_AGATE_MMAP_BO, ENODEV },
		{ FAKE_MMAP, ENOMEM },
		{ FAKE_MMAP, EAGAIN },
		{ DRM_IOCTL_AGATE_SET_LABEL, ENOMEM },
	};
	struct agate_bo *bo = NULL;
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		fake_fail(steps[i].request, 1, steps[i].err);
		assert_int_equal(agate_bo_create(*state, 4096, 0, "victim", &bo), -steps[i].err);
		assert_null(bo);
		assert_int_equal(fake_live_handles(), 0);
		assert_int_equal(fake_live_maps(), 0);
	}
	/* The slot can be used again. */
	assert_int_equal(agate_bo_create(*state, 4096, 0, "victim", &bo), 0);
	agate_bo_unreference(bo);
}

static void test_failing_map_on_demand(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, AGATE_ALLOC_DELAY_MMAP);
	void *cpu = NULL;

	fake_fail(FAKE_MMAP, 1, ENOMEM);
	assert_int_equal(agate_bo_mmap(bo, &cpu), -ENOMEM);
	assert_null(cpu);
	fake_fail(DRM_IOCTL_AGATE_MMAP_BO, 1, ENODEV);
	assert_int_equal(agate_bo_mmap(bo, &cpu), -ENODEV);
	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	memset(cpu, 1, 4096);
	agate_bo_unreference(bo);
}

static void test_references(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);

	assert_ptr_equal(agate_bo_reference(bo), bo);
	assert_ptr_equal(agate_bo_reference(bo), bo);
	agate_bo_unreference(bo);
	agate_bo_unreference(bo);
	assert_int_equal(fake_calls(DRM_IOCTL_GEM_CLOSE), 0);
	agate_bo_unreference(bo);
	assert_int_equal(fake_calls(DRM_IOCTL_GEM_CLOSE), 1);
	agate_bo_unreference(NULL);
	assert_int_equal(fake_calls(DRM_IOCTL_GEM_CLOSE), 1);
}

/* A recycled handle is a new BO: nothing of the old one shows. */
static void test_handle_comes_back(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	const uint32_t handle = agate_bo_handle(bo);

	fake_set_busy(handle, true);
	agate_bo_mark_submitted(bo, AGATE_ACCESS_RW);
	agate_bo_unreference(bo);
	bo = bo_new(*state, 8192, AGATE_ALLOC_DELAY_MMAP);
	assert_int_equal(agate_bo_handle(bo), handle);
	assert_int_equal(agate_bo_size(bo), 8192);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 0);
	agate_bo_unreference(bo);
}

static void test_thousands(void **state)
{
	static struct agate_bo *bo[3000];
	size_t i;

	for (i = 0; i < 3000; i++) {
		bo[i] = bo_new(*state, 4096, AGATE_ALLOC_DELAY_MMAP);
		assert_int_equal(agate_bo_handle(bo[i]), i + 1);
	}
	for (i = 0; i < 3000; i++)
		assert_int_equal(agate_bo_handle(bo[i]), i + 1);
	for (i = 0; i < 3000; i++)
		agate_bo_unreference(bo[i]);
}

static void test_labels(void **state)
{
	char longest[AGATE_LABEL_MAX + 2];
	struct agate_bo *bo = NULL;
	struct fake_bo seen;
	uint32_t handle;

	assert_int_equal(agate_bo_create(*state, 4096, 0, "colour buffer", &bo), 0);
	handle = agate_bo_handle(bo);
	assert_true(fake_bo(handle, &seen));
	assert_string_equal(seen.label, "colour buffer");

	memset(longest, 'x', sizeof(longest));
	longest[AGATE_LABEL_MAX + 1] = '\0';
	assert_int_equal(agate_bo_set_label(bo, longest), -EINVAL);
	longest[AGATE_LABEL_MAX] = '\0';
	assert_int_equal(agate_bo_set_label(bo, longest), 0);
	assert_true(fake_bo(handle, &seen));
	assert_string_equal(seen.label, longest);

	assert_int_equal(agate_bo_set_label(bo, "tab\there"), -EINVAL);
	assert_int_equal(agate_bo_set_label(bo, "del\x7f"), -EINVAL);
	assert_int_equal(agate_bo_set_label(bo, "Achat \xc3\xa4"), 0);
	assert_int_equal(agate_bo_set_label(bo, NULL), 0);
	assert_true(fake_bo(handle, &seen));
	assert_string_equal(seen.label, "");
	agate_bo_unreference(bo);

	bo = NULL;
	assert_int_equal(agate_bo_create(*state, 4096, 0, "new\nline", &bo), -EINVAL);
	assert_null(bo);
}

static void test_madvise(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	struct fake_bo seen;
	bool retained = false;

	assert_int_equal(agate_bo_madvise(bo, false, &retained), 0);
	assert_true(retained);
	assert_true(fake_bo(agate_bo_handle(bo), &seen));
	assert_int_equal(seen.madv, AGATE_MADV_DONTNEED);
	assert_int_equal(fake_purge(UINT_MAX), 1);
	assert_int_equal(agate_bo_madvise(bo, true, &retained), 0);
	assert_false(retained);
	assert_true(fake_bo(agate_bo_handle(bo), &seen));
	assert_int_equal(seen.madv, AGATE_MADV_WILLNEED);
	assert_int_equal(agate_bo_madvise(bo, true, NULL), 0);

	retained = true;
	fake_fail(DRM_IOCTL_AGATE_MADVISE, 1, EINVAL);
	assert_int_equal(agate_bo_madvise(bo, false, &retained), -EINVAL);
	assert_true(retained);
	agate_bo_unreference(bo);
}

static void test_getters(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4097, AGATE_ALLOC_GPU_READONLY);
	int fd;

	assert_ptr_equal(agate_bo_device(bo), *state);
	assert_int_equal(agate_bo_size(bo), 8192);
	assert_int_equal(agate_bo_flags(bo), AGATE_ALLOC_GPU_READONLY);
	assert_int_equal(agate_bo_export(bo, &fd), 0);
	assert_int_equal(agate_bo_flags(bo), AGATE_ALLOC_GPU_READONLY | AGATE_ALLOC_SHARED);
	close(fd);
	agate_bo_unreference(bo);
}

static void test_wait_asks_only_when_needed(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);

	/* Nothing is submitted: the BO is idle, without a call to the kernel. */
	assert_int_equal(agate_bo_wait(bo, INT64_MAX, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 0);

	/* A job only reads the BO: this matters only to a waiter that wants to write. */
	agate_bo_mark_submitted(bo, AGATE_ACCESS_READ);
	fake_set_busy(agate_bo_handle(bo), true);
	assert_int_equal(agate_bo_wait(bo, 0, false), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 0);
	assert_int_equal(agate_bo_wait(bo, 0, true), -EBUSY);
	assert_int_equal(agate_bo_wait(bo, 12345, true), -ETIMEDOUT);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 2);

	/* The library asks again after the BO was busy, but not after it was idle. */
	assert_int_equal(agate_bo_wait(bo, INT64_MAX, true), 0);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 3);

	/* A write matters to everybody; a job that reads as well is a writer like another. */
	agate_bo_mark_submitted(bo, AGATE_ACCESS_RW);
	assert_int_equal(agate_bo_wait(bo, 0, false), 0);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 4);
	agate_bo_unreference(bo);
}

/* A wait for the writers leaves the readers alone, and remembers them. */
static void test_wait_for_writers(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);

	agate_bo_mark_submitted(bo, AGATE_ACCESS_WRITE);
	agate_bo_mark_submitted(bo, AGATE_ACCESS_READ);
	fake_set_read(agate_bo_handle(bo), true);
	assert_int_equal(agate_bo_wait(bo, 0, false), 0);
	assert_int_equal(agate_bo_wait(bo, 0, true), -EBUSY);
	assert_int_equal(agate_bo_wait(bo, 0, false), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 2);
	assert_int_equal(agate_bo_wait(bo, INT64_MAX, true), 0);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 3);
	assert_int_equal(fake_refused(DRM_IOCTL_AGATE_WAIT_BO), 1);
	agate_bo_unreference(bo);
}

/* A driver of that version would take the flag for an unknown one. */
static void test_contiguous_with_an_older_driver(void **state)
{
	struct agate_bo *bo = NULL;

	assert_int_equal(agate_bo_create(*state, 4096, AGATE_ALLOC_CONTIGUOUS, NULL, &bo),
			 -EOPNOTSUPP);
	assert_null(bo);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_CREATE_BO), 0);
}

static void test_vram_with_an_older_driver(void **state)
{
	struct agate_bo *bo = NULL;

	assert_int_equal(agate_bo_create(*state, 4096, AGATE_ALLOC_VRAM, NULL, &bo), -EOPNOTSUPP);
	assert_null(bo);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_CREATE_BO), 0);
}

/* To a driver that does not know of readers every job is a writer. */
static void test_wait_with_an_older_driver(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);

	assert_int_equal(agate_device_minor(*state), 0);
	agate_bo_mark_submitted(bo, AGATE_ACCESS_WRITE);
	agate_bo_mark_submitted(bo, AGATE_ACCESS_READ);
	fake_set_busy(agate_bo_handle(bo), true);
	assert_int_equal(agate_bo_wait(bo, 0, false), -EBUSY);
	assert_int_equal(agate_bo_wait(bo, INT64_MAX, false), 0);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 2);
	agate_bo_unreference(bo);
}

static struct agate_bo *resubmitted;

static void resubmit(unsigned long request, enum fake_when when, void *arg)
{
	(void)arg;
	if (request == DRM_IOCTL_AGATE_WAIT_BO && when == FAKE_AFTER)
		agate_bo_mark_submitted(resubmitted, AGATE_ACCESS_RW);
}

/* Work submitted while a wait returns must not count as finished. */
static void test_wait_against_submit(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);

	agate_bo_mark_submitted(bo, AGATE_ACCESS_RW);
	resubmitted = bo;
	fake_hook(resubmit);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	fake_hook(NULL);
	fake_set_busy(agate_bo_handle(bo), true);
	assert_int_equal(agate_bo_wait(bo, 0, true), -EBUSY);
	agate_bo_unreference(bo);
}

static void test_other_devices_are_refused(void **state)
{
	struct agate_device *dev = NULL;

	/* Standard error is not a GPU, and stays open. */
	assert_int_equal(agate_device_open_fd(2, &dev), -ENODEV);
	assert_null(dev);
	assert_true(agate_device_fd(*state) > 2);
	agate_device_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_device(test_sizes),
		with_device(test_bad_arguments_reach_no_kernel),
		with_device(test_flags_for_the_kernel),
		with_device(test_placement),
		with_device(test_mapped_at_once),
		with_device(test_mapped_on_demand),
		with_device(test_never_mapped),
		with_device(test_readonly_map),
		with_device(test_failing_steps),
		with_device(test_failing_map_on_demand),
		with_device(test_references),
		with_device(test_handle_comes_back),
		with_device(test_thousands),
		with_device(test_labels),
		with_device(test_madvise),
		with_device(test_getters),
		with_device(test_wait_asks_only_when_needed),
		with_device(test_wait_for_writers),
		with_older_device(test_contiguous_with_an_older_driver),
		with_older_device(test_vram_with_an_older_driver),
		with_older_device(test_wait_with_an_older_driver),
		with_device(test_wait_against_submit),
		with_device(test_other_devices_are_refused),
	};

	return cmocka_run_group_tests_name("bo", tests, NULL, NULL);
}
