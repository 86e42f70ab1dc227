// SPDX-License-Identifier: MIT
/*
 * Export and import in one thread: one BO for each handle, one handle for each
 * dma-buf, and the resulting counts.
 */
#include "harness.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agate_bo.h"

static struct agate_bo *import_fd(struct agate_device *dev, int fd)
{
	struct agate_bo *bo = NULL;

	assert_int_equal(agate_bo_import(dev, fd, &bo), 0);
	assert_non_null(bo);
	return bo;
}

static void test_import_of_another_driver(void **state)
{
	int fd = fake_dma_buf(3 * 4096);
	struct agate_bo *bo = import_fd(*state, fd);
	struct fake_bo seen;
	void *cpu;

	assert_int_equal(agate_bo_size(bo), 3 * 4096);
	assert_true(fake_bo(agate_bo_handle(bo), &seen));
	assert_true(seen.imported);
	assert_int_equal(agate_bo_address(bo), seen.va);
	/* An imported BO is not mapped until the first agate_bo_mmap(). */
	assert_int_equal(fake_calls(FAKE_MMAP), 0);
	assert_int_equal(pwrite(fd, "agate", 5, 8192), 5);
	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	assert_memory_equal((char *)cpu + 8192, "agate", 5);
	/* The test still owns the descriptor, and close-on-exec is unchanged. */
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	agate_bo_unreference(bo);
}

static void test_import_twice(void **state)
{
	int fd = fake_dma_buf(4096);
	int copy = dup(fd);
	struct agate_bo *one = import_fd(*state, fd);
	struct agate_bo *two = import_fd(*state, copy);

	assert_ptr_equal(one, two);
	assert_int_equal(fake_live_handles(), 1);
	agate_bo_unreference(one);
	/* The kernel counted one handle, so only the last reference may close it. */
	assert_int_equal(fake_calls(DRM_IOCTL_GEM_CLOSE), 0);
	assert_int_equal(fake_live_handles(), 1);
	agate_bo_unreference(two);
	assert_int_equal(fake_calls(DRM_IOCTL_GEM_CLOSE), 1);
	close(fd);
	close(copy);
}

static void test_two_dma_bufs_are_two_bos(void **state)
{
	int fd[2] = { fake_dma_buf(4096), fake_dma_buf(8192) };
	struct agate_bo *one = import_fd(*state, fd[0]);
	struct agate_bo *two = import_fd(*state, fd[1]);

	assert_ptr_not_equal(one, two);
	assert_int_equal(agate_bo_size(one), 4096);
	assert_int_equal(agate_bo_size(two), 8192);
	agate_bo_unreference(one);
	agate_bo_unreference(two);
	close(fd[0]);
	close(fd[1]);
}

static void test_self_import(void **state)
{
	struct agate_bo *bo = bo_new(*state, 8192, 0);
	struct agate_bo *same;
	void *cpu;
	int fd = -1;

	assert_int_equal(agate_bo_export(bo, &fd), 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	same = import_fd(*state, fd);
	assert_ptr_equal(same, bo);
	/* It outlives the reference from which it was exported. */
	agate_bo_unreference(bo);
	assert_int_equal(fake_live_handles(), 1);
	assert_int_equal(agate_bo_mmap(same, &cpu), 0);
	memset(cpu, 7, 8192);
	agate_bo_unreference(same);
	assert_int_equal(fake_live_handles(), 0);

	/* The dma-buf keeps the memory: a later import is a new BO of it. */
	bo = import_fd(*state, fd);
	assert_int_equal(agate_bo_size(bo), 8192);
	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	assert_int_equal(((char *)cpu)[8191], 7);
	agate_bo_unreference(bo);
	close(fd);
}

/* The library cannot know who else uses a shared BO: every wait asks the kernel. */
static void test_shared_bos_always_wait(void **state)
{
	struct agate_bo *exported = bo_new(*state, 4096, 0);
	struct agate_bo *asked = bo_new(*state, 4096, AGATE_ALLOC_SHARED);
	int foreign = fake_dma_buf(4096);
	struct agate_bo *imported = import_fd(*state, foreign);
	int fd = -1;

	assert_int_equal(agate_bo_wait(exported, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 0);
	assert_int_equal(agate_bo_export(exported, &fd), 0);
	fake_set_busy(agate_bo_handle(exported), true);
	assert_int_equal(agate_bo_wait(exported, 0, true), -EBUSY);
	assert_int_equal(agate_bo_wait(exported, 0, false), -EBUSY);
	fake_set_busy(agate_bo_handle(exported), false);
	assert_int_equal(agate_bo_wait(exported, 0, true), 0);
	assert_int_equal(agate_bo_wait(exported, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 4);
	assert_int_equal(agate_bo_wait(asked, 0, true), 0);
	assert_int_equal(agate_bo_wait(imported, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 6);
	agate_bo_unreference(exported);
	agate_bo_unreference(asked);
	agate_bo_unreference(imported);
	close(foreign);
	close(fd);
}

static void test_failed_export_shares_nothing(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	int fd = -1;

	fake_fail(DRM_IOCTL_PRIME_HANDLE_TO_FD, 1, EMFILE);
	assert_int_equal(agate_bo_export(bo, &fd), -EMFILE);
	assert_int_equal(fd, -1);
	fake_set_busy(agate_bo_handle(bo), true);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	agate_bo_unreference(bo);
}

static void test_bad_imports(void **state)
{
	struct agate_bo *bo = NULL;
	int empty = fake_dma_buf(0);
	int good = fake_dma_buf(4096);

	assert_int_equal(agate_bo_import(*state, -1, &bo), -EBADF);
	assert_int_equal(agate_bo_import(*state, agate_device_fd(*state), &bo), -EINVAL);
	assert_int_equal(fake_live_handles(), 0);
	/* The kernel accepts it, the library cannot: it closes the handle. */
	assert_int_equal(agate_bo_import(*state, empty, &bo), -EINVAL);
	assert_int_equal(fake_live_handles(), 0);
	fake_fail(DRM_IOCTL_AGATE_GET_BO_OFFSET, 1, ENODEV);
	assert_int_equal(agate_bo_import(*state, good, &bo), -ENODEV);
	assert_int_equal(fake_live_handles(), 0);
	assert_null(bo);
	/* And the library released the lock each time. */
	bo = import_fd(*state, good);
	agate_bo_unreference(bo);
	close(empty);
	close(good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_device(test_import_of_another_driver),
		with_device(test_import_twice),
		with_device(test_two_dma_bufs_are_two_bos),
		with_device(test_self_import),
		with_device(test_shared_bos_always_wait),
		with_device(test_failed_export_shares_nothing),
		with_device(test_bad_imports),
	};

	return cmocka_run_group_tests_name("bo-share", tests, NULL, NULL);
}
