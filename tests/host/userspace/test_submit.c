// SPDX-License-Identifier: MIT
/*
 * A submission: the data that it passes to the kernel, and its record in the
 * library.
 */
#include "harness.h"

#include <linux/sync_file.h>
#include <string.h>

#include "agate_bo.h"

static struct drm_agate_submit seen;
static uint32_t seen_handles[4], seen_flags[4];
static struct drm_agate_sync seen_sync[2];
static int answer;

static int record(const struct drm_agate_submit *args, const uint32_t *handles)
{
	seen = *args;
	memcpy(seen_handles, handles, args->bo_handle_count * sizeof(*handles));
	if (args->bo_flags)
		memcpy(seen_flags, (const void *)(uintptr_t)args->bo_flags,
		       args->bo_handle_count * sizeof(*seen_flags));
	if (args->in_sync_count)
		seen_sync[0] = *(const struct drm_agate_sync *)(uintptr_t)args->in_syncs;
	if (args->out_sync_count)
		seen_sync[1] = *(const struct drm_agate_sync *)(uintptr_t)args->out_syncs;
	return answer;
}

static void test_arguments(void **state)
{
	struct agate_bo *one = bo_new(*state, 4096, 0);
	struct agate_bo *two = bo_new(*state, 4096, 0);
	const struct agate_submit_bo bos[] = {
		{ two, AGATE_ACCESS_WRITE }, { one, AGATE_ACCESS_READ },
	};
	const struct drm_agate_sync in = { .handle = 5, .point = 9 }, out = { .handle = 6 };
	const struct agate_submit submit = {
		.jc = 0x2000040, .requirements = AGATE_JD_REQ_FS, .bos = bos, .bo_count = 2,
		.in_syncs = &in, .in_sync_count = 1, .out_syncs = &out, .out_sync_count = 1,
	};

	answer = 0;
	fake_submit(record);
	assert_int_equal(agate_submit(*state, &submit), 0);
	assert_int_equal(seen.jc, 0x2000040);
	assert_int_equal(seen.requirements, AGATE_JD_REQ_FS);
	assert_int_equal(seen.bo_handle_count, 2);
	assert_int_equal(seen_handles[0], agate_bo_handle(two));
	assert_int_equal(seen_handles[1], agate_bo_handle(one));
	assert_int_not_equal(seen.bo_flags, 0);
	assert_int_equal(seen_flags[0], AGATE_SUBMIT_BO_WRITE);
	assert_int_equal(seen_flags[1], AGATE_SUBMIT_BO_READ);
	assert_memory_equal(&seen_sync[0], &in, sizeof(in));
	assert_memory_equal(&seen_sync[1], &out, sizeof(out));

	/* A waiter that wants to read waits only for the GPU's writes. */
	assert_int_equal(agate_bo_wait(one, 0, false), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 0);
	assert_int_equal(agate_bo_wait(two, 0, false), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 1);
	agate_bo_unreference(one);
	agate_bo_unreference(two);
}

static void test_refused(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	const struct agate_submit_bo listed = { bo, AGATE_ACCESS_RW };
	const struct agate_submit_bo no_access = { bo, 0 }, bad_access = { bo, 4 };
	const struct agate_submit_bo twice[] = { listed, listed };
	const struct agate_submit good = { .jc = 64, .bos = &listed, .bo_count = 1 };
	struct agate_submit bad[7];
	size_t i;

	for (i = 0; i < 7; i++)
		bad[i] = good;
	bad[0].jc = 0;
	bad[1].jc = 32;
	bad[2].requirements = 4;
	bad[3].bos = &no_access;
	bad[4].bos = &bad_access;
	bad[5].in_sync_count = AGATE_SUBMIT_MAX_SYNCS + 1;
	bad[6].bos = twice;
	bad[6].bo_count = 2;
	answer = 0;
	fake_submit(record);
	for (i = 0; i < 7; i++)
		assert_int_equal(agate_submit(*state, &bad[i]), -EINVAL);

	/* After a refused job, the library considers the BO idle. */
	answer = ENOENT;
	assert_int_equal(agate_submit(*state, &good), -ENOENT);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 0);

	answer = 0;
	assert_int_equal(agate_submit(*state, &good), 0);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 1);
	agate_bo_unreference(bo);
}

/* A handle is a name in one file: in another it may be that of any BO. */
static void test_bo_of_another_device(void **state)
{
	struct agate_device elsewhere = { .fd = agate_device_fd(*state) };
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	const struct agate_submit_bo listed = { bo, AGATE_ACCESS_RW };
	const struct agate_submit submit = { .jc = 64, .bos = &listed, .bo_count = 1 };

	answer = 0;
	fake_submit(record);
	assert_int_equal(agate_submit(&elsewhere, &submit), -EINVAL);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_SUBMIT), 0);
	assert_int_equal(agate_submit(*state, &submit), 0);
	agate_bo_unreference(bo);
}

static void test_result(void **state)
{
	int result = 77;

	assert_int_equal(agate_sync_result(*state, 9, &result), -ENOENT);
	assert_int_equal(agate_sync_result(*state, 1, &result), -EBUSY);
	assert_int_equal(result, 77);
	fake_fence(1);
	assert_int_equal(agate_sync_result(*state, 1, &result), 0);
	assert_int_equal(result, 0);
	fake_fence(-ETIME);
	assert_int_equal(agate_sync_result(*state, 1, &result), 0);
	assert_int_equal(result, -ETIME);
	fake_fail(SYNC_IOC_FILE_INFO, 1, ENOMEM);
	assert_int_equal(agate_sync_result(*state, 1, &result), -ENOMEM);
}

/* An older driver runs the same submission, and sees nothing of the access. */
static void test_older_driver(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	const struct agate_submit_bo listed = { bo, AGATE_ACCESS_READ };
	const struct agate_submit submit = { .jc = 64, .bos = &listed, .bo_count = 1 };

	answer = 0;
	fake_submit(record);
	assert_int_equal(agate_submit(*state, &submit), 0);
	assert_int_equal(seen_handles[0], agate_bo_handle(bo));
	assert_int_equal(seen.bo_flags, 0);
	agate_bo_unreference(bo);
}

static void test_no_bos(void **state)
{
	const struct agate_submit submit = { .jc = 64 };

	answer = 0;
	fake_submit(record);
	assert_int_equal(agate_submit(*state, &submit), 0);
	assert_int_equal(seen.bo_handle_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_device(test_arguments),
		with_device(test_refused),
		with_device(test_bo_of_another_device),
		with_device(test_result),
		with_older_device(test_older_driver),
		with_device(test_no_bos),
	};

	return cmocka_run_group_tests_name("submit", tests, NULL, NULL);
}
