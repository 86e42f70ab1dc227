// SPDX-License-Identifier: MIT
/*
 * The uAPI's error contract, first half: the ioctls about BOs.
 *
 * Every wrong size, flag, handle, pad and pointer gives the errno that
 * include/agate_drm.h promises, and leaves nothing behind.
 */
#include "dmabuf.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define NO_HANDLE	0x7fffffffu

static void create_sizes(void **state)
{
	static const struct {
		uint64_t size;
		int err;
	} cases[] = {
		{ 0, EINVAL }, { 1, 0 }, { 4095, 0 }, { 4096, 0 }, { 4097, 0 },
		{ AGATE_BO_MAX_SIZE, 0 }, { AGATE_BO_MAX_SIZE + 1, EINVAL },
		{ 1ull << 32, EINVAL }, { (1ull << 32) + 4096, EINVAL },
		{ 1ull << 63, EINVAL }, { UINT64_MAX - 4095, EINVAL }, { UINT64_MAX, EINVAL },
	};
	int fd = guest_open();
	struct bo bo;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int err = guest_create(fd, cases[i].size, AGATE_BO_NOEXEC, &bo);

		if (err != cases[i].err)
			fail_msg("CREATE_BO of %#llx bytes: errno %d, expected %d",
				 (unsigned long long)cases[i].size, err, cases[i].err);
		if (err)
			continue;
		assert_int_not_equal(bo.handle, 0);
		assert_int_not_equal(bo.va, 0);
		assert_int_equal(bo.va % PAGE, 0);
		guest_destroy(&bo);
	}
	close(fd);
}

static void create_flags(void **state)
{
	int fd = guest_open();
	struct bo bo;

	(void)state;
	for (unsigned int bit = 5; bit < 32; bit++)
		assert_int_equal(guest_create(fd, PAGE, 1u << bit, &bo), EINVAL);
	assert_int_equal(guest_create(fd, PAGE, AGATE_BO_HEAP, &bo), EINVAL);
	assert_int_equal(guest_create(fd, PAGE, AGATE_BO_HEAP | AGATE_BO_NOEXEC, &bo), 0);
	guest_destroy(&bo);
	close(fd);
}

/* Without a card there is nothing to place a BO in. */
static void create_placed(void **state)
{
	static const struct {
		uint32_t placement, caching;
		int err;
	} cases[] = {
		{ 1u << DRM_AGATE_REGION_SYSTEM, AGATE_CACHING_WB, EOPNOTSUPP },
		{ 1u << DRM_AGATE_REGION_SYSTEM, AGATE_CACHING_UC, EOPNOTSUPP },
		{ 1u << DRM_AGATE_REGION_VRAM, AGATE_CACHING_WC, EOPNOTSUPP },
		{ 1u << DRM_AGATE_REGION_SYSTEM | 1u << DRM_AGATE_REGION_VRAM, AGATE_CACHING_WC,
		  EOPNOTSUPP },
		{ 1u << 2, AGATE_CACHING_WB, EINVAL },
		{ 1u << DRM_AGATE_REGION_SYSTEM, AGATE_CACHING_UC + 1, EINVAL },
	};
	int fd = guest_open();
	struct bo bo;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct drm_agate_create_bo arg = {
			.size = PAGE, .placement = cases[i].placement, .caching = cases[i].caching,
		};

		assert_int_equal(guest_create_with(fd, &arg, &bo), cases[i].err);
	}
	close(fd);
	guest_assert_nothing_left();
}

static void create_until_addresses_run_out(void **state)
{
	struct bo bo[8];
	int fd = guest_open(), n = 0, err;

	(void)state;
	while (n < 8 && !(err = guest_create(fd, AGATE_BO_MAX_SIZE, AGATE_BO_NOEXEC, &bo[n])))
		n++;
	assert_in_range(n, 1, 4);
	assert_int_equal(err, ENOSPC);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			assert_true(bo[i].va >= bo[j].va + bo[j].size ||
				    bo[j].va >= bo[i].va + bo[i].size);
	guest_destroy(&bo[0]);
	assert_int_equal(guest_create(fd, AGATE_BO_MAX_SIZE, AGATE_BO_NOEXEC, &bo[0]), 0);
	close(fd);
}

static void bad_argument_pointers(void **state)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_AGATE_SUBMIT, DRM_IOCTL_AGATE_WAIT_BO, DRM_IOCTL_AGATE_CREATE_BO,
		DRM_IOCTL_AGATE_MMAP_BO, DRM_IOCTL_AGATE_GET_PARAM,
		DRM_IOCTL_AGATE_GET_BO_OFFSET, DRM_IOCTL_AGATE_MADVISE,
		DRM_IOCTL_AGATE_SET_LABEL,
	};

	(void)state;
	guest_refuses_bad_pointers(requests, sizeof(requests) / sizeof(requests[0]));
}

/* The kernel cannot write the result back: EFAULT, and closing the file frees the BO. */
static void create_into_a_read_only_page(void **state)
{
	struct drm_agate_create_bo *arg = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = guest_open();

	(void)state;
	assert_ptr_not_equal(arg, MAP_FAILED);
	arg->size = PAGE;
	assert_int_equal(mprotect(arg, PAGE, PROT_READ), 0);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_CREATE_BO, arg), EFAULT);
	munmap(arg, PAGE);
	close(fd);
}

static void shorter_and_longer_structs(void **state)
{
	struct {
		struct drm_agate_create_bo arg;
		uint64_t more;
	} longer = { .arg = { .size = PAGE }, .more = UINT64_MAX };
	const unsigned long longer_nr = DRM_IOWR(DRM_COMMAND_BASE + DRM_AGATE_CREATE_BO,
						 __typeof__(longer));
	const unsigned long shorter_nr = DRM_IOWR(DRM_COMMAND_BASE + DRM_AGATE_CREATE_BO,
						  uint64_t);
	uint64_t size = PAGE;
	int fd = guest_open();

	(void)state;
	assert_int_equal(guest_ioctl(fd, longer_nr, &longer), 0);
	assert_int_not_equal(longer.arg.handle, 0);
	assert_int_equal(guest_close_handle(fd, longer.arg.handle), 0);
	assert_int_equal(guest_ioctl(fd, shorter_nr, &size), 0);
	size = 0;
	assert_int_equal(guest_ioctl(fd, shorter_nr, &size), EINVAL);
	close(fd);
}

static void reserved_numbers(void **state)
{
	uint8_t arg[256] = { 0 };
	int fd = guest_open();

	(void)state;
	for (unsigned int nr = DRM_AGATE_SET_LABEL + 1; nr < 0x60; nr++) {
		/* These need a card. */
		int err = nr <= DRM_AGATE_FLIP ? EOPNOTSUPP : EINVAL;

		assert_int_equal(guest_ioctl(fd, DRM_IOWR(DRM_COMMAND_BASE + nr, __typeof__(arg)),
					     arg), err);
	}
	close(fd);
}

static void handles(void **state)
{
	int fd = guest_open(), other = guest_open();
	struct bo bo;

	(void)state;
	assert_int_equal(guest_create(fd, PAGE, 0, &bo), 0);
	assert_int_equal(guest_wait(fd, 0, 0), ENOENT);
	assert_int_equal(guest_wait(fd, NO_HANDLE, 0), ENOENT);
	assert_int_equal(guest_wait(other, bo.handle, 0), ENOENT);
	assert_int_equal(guest_close_handle(other, bo.handle), EINVAL);
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	assert_int_equal(guest_close_handle(fd, bo.handle), EINVAL);
	assert_int_equal(guest_wait(fd, bo.handle, 0), ENOENT);
	close(fd);
	close(other);
}

static void mmap_bo(void **state)
{
	struct drm_agate_mmap_bo arg;
	int fd = guest_open();
	struct bo bo, heap;
	uint64_t offset;

	(void)state;
	assert_int_equal(guest_create(fd, PAGE, 0, &bo), 0);
	assert_int_equal(guest_create(fd, PAGE, AGATE_BO_HEAP | AGATE_BO_NOEXEC, &heap), 0);

	arg = (struct drm_agate_mmap_bo){ .handle = bo.handle, .flags = 1 };
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MMAP_BO, &arg), EINVAL);
	arg = (struct drm_agate_mmap_bo){ .handle = NO_HANDLE };
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MMAP_BO, &arg), ENOENT);
	arg = (struct drm_agate_mmap_bo){ .handle = heap.handle };
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MMAP_BO, &arg), EINVAL);
	arg = (struct drm_agate_mmap_bo){ .handle = bo.handle };
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MMAP_BO, &arg), 0);
	offset = arg.offset;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MMAP_BO, &arg), 0);
	assert_int_equal(arg.offset, offset);
	close(fd);
}

static void get_bo_offset(void **state)
{
	struct drm_agate_get_bo_offset arg;
	int fd = guest_open();
	struct bo bo;

	(void)state;
	assert_int_equal(guest_create(fd, PAGE, 0, &bo), 0);
	arg = (struct drm_agate_get_bo_offset){ .handle = bo.handle, .pad = 1 };
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_BO_OFFSET, &arg), EINVAL);
	arg = (struct drm_agate_get_bo_offset){ .handle = NO_HANDLE };
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_BO_OFFSET, &arg), ENOENT);
	arg = (struct drm_agate_get_bo_offset){ .handle = bo.handle };
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_BO_OFFSET, &arg), 0);
	assert_int_equal(arg.offset, bo.va);
	close(fd);
}

static void wait_bo(void **state)
{
	struct drm_agate_wait_bo arg;
	int fd = guest_open();
	struct bo bo;

	(void)state;
	assert_int_equal(guest_create(fd, PAGE, 0, &bo), 0);
	for (unsigned int bit = 1; bit < 32; bit++) {
		arg = (struct drm_agate_wait_bo){ .handle = bo.handle, .flags = 1u << bit };
		assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_WAIT_BO, &arg), EINVAL);
	}
	assert_int_equal(guest_wait_writers(fd, bo.handle, 0), 0);
	assert_int_equal(guest_wait_writers(fd, bo.handle + 1, 0), ENOENT);
	assert_int_equal(guest_wait(fd, bo.handle, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(guest_wait(fd, bo.handle, 1), 0);
	assert_int_equal(guest_wait(fd, bo.handle, -1), 0);
	assert_int_equal(guest_wait(fd, bo.handle, INT64_MIN), 0);
	close(fd);
}

static void madvise_bo(void **state)
{
	static const uint32_t bad[] = { 2, 3, 0x7fffffff, 0x80000000, 0xffffffff };
	struct drm_agate_madvise arg;
	int fd = guest_open();
	struct bo bo;

	(void)state;
	bo = guest_bo(fd, PAGE, 0);
	memset(bo.cpu, 0x5a, PAGE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		arg = (struct drm_agate_madvise){ .handle = bo.handle, .madv = bad[i] };
		assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MADVISE, &arg), EINVAL);
	}
	arg = (struct drm_agate_madvise){ .handle = bo.handle, .pad = 1 };
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MADVISE, &arg), EINVAL);
	arg = (struct drm_agate_madvise){ .handle = NO_HANDLE };
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MADVISE, &arg), ENOENT);
	for (uint32_t madv = 0; madv < 4; madv++) {
		arg = (struct drm_agate_madvise){ .handle = bo.handle, .madv = madv & 1 };
		assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MADVISE, &arg), 0);
		assert_int_equal(arg.retained, 1);
	}
	arg = (struct drm_agate_madvise){ .handle = bo.handle, .madv = AGATE_MADV_WILLNEED };
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MADVISE, &arg), 0);
	assert_int_equal(((uint8_t *)bo.cpu)[PAGE - 1], 0x5a);
	guest_destroy(&bo);
	close(fd);
}

static int advise(int fd, uint32_t handle, uint32_t madv, const char *label, uint32_t len)
{
	struct drm_agate_madvise arg = {
		.handle = handle, .madv = madv, .label = (uintptr_t)label, .len = len,
	};

	return guest_ioctl(fd, DRM_IOCTL_AGATE_MADVISE, &arg);
}

/* There is no other BO. */
static void assert_advised(const char *madv, const char *label)
{
	char text[128];

	snprintf(text, sizeof(text), " madv=%s", madv);
	assert_true(guest_debugfs_says("bos", text));
	snprintf(text, sizeof(text), " label=\"%s\"", label);
	assert_true(guest_debugfs_says("bos", text));
}

static void madvise_with_a_label(void **state)
{
	/* All that a client knew before version 1.7. */
	struct before {
		uint32_t handle, madv, retained, pad;
	} before;
	const unsigned long before_nr = DRM_IOWR(DRM_COMMAND_BASE + DRM_AGATE_MADVISE,
						 struct before);
	char text[AGATE_LABEL_MAX + 1] = "";
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	memset(text, 'x', AGATE_LABEL_MAX);
	assert_int_equal(advise(fd, bo.handle, AGATE_MADV_DONTNEED, "first", 5), 0);
	assert_advised("dontneed", "first");
	/* Without a label the BO keeps the one that it has. */
	assert_int_equal(advise(fd, bo.handle, AGATE_MADV_WILLNEED, NULL, 0), 0);
	assert_advised("willneed", "first");
	before = (struct before){ .handle = bo.handle, .madv = AGATE_MADV_DONTNEED };
	assert_int_equal(guest_ioctl(fd, before_nr, &before), 0);
	assert_int_equal(before.retained, 1);
	assert_advised("dontneed", "first");
	/* Length 0 removes it, whatever the pointer. */
	assert_int_equal(advise(fd, bo.handle, AGATE_MADV_WILLNEED, (char *)8, 0), 0);
	assert_advised("willneed", "");
	assert_int_equal(advise(fd, bo.handle, AGATE_MADV_DONTNEED, text, AGATE_LABEL_MAX), 0);
	assert_advised("dontneed", text);
	guest_destroy(&bo);
	close(fd);
}

/* A call that fails changes neither the advice nor the label. */
static void madvise_with_a_bad_label(void **state)
{
	char text[AGATE_LABEL_MAX + 2];
	struct drm_agate_madvise arg;
	int fd = guest_open(), dmabuf;
	struct bo bo = guest_bo(fd, PAGE, 0);
	const struct {
		const char *label;
		uint32_t len, madv;
		int err;
	} bad[] = {
		{ "label", 5, 2, EINVAL },
		{ text, AGATE_LABEL_MAX + 1, AGATE_MADV_DONTNEED, EINVAL },
		{ text, UINT32_MAX, AGATE_MADV_DONTNEED, EINVAL },
		{ "a\nb", 3, AGATE_MADV_DONTNEED, EINVAL },
		{ "a\0b", 3, AGATE_MADV_DONTNEED, EINVAL },
		{ "a\x7f", 2, AGATE_MADV_DONTNEED, EINVAL },
		{ NULL, 1, AGATE_MADV_DONTNEED, EINVAL },
		{ NULL, UINT32_MAX, AGATE_MADV_DONTNEED, EINVAL },
		{ (char *)8, 3, AGATE_MADV_DONTNEED, EFAULT },
		{ (char *)-4096, 3, AGATE_MADV_DONTNEED, EFAULT },
		/* Bytes of the BO itself, all zero: the fetch adds the BO's pages. */
		{ bo.cpu, 1, AGATE_MADV_DONTNEED, EINVAL },
	};

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(advise(fd, bo.handle, AGATE_MADV_WILLNEED, "first", 5), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(advise(fd, bo.handle, bad[i].madv, bad[i].label, bad[i].len),
				 bad[i].err);
		assert_advised("willneed", "first");
	}
	for (int bit = 0; bit < 32; bit++) {
		arg = (struct drm_agate_madvise){
			.handle = bo.handle, .madv = AGATE_MADV_DONTNEED, .pad2 = 1u << bit,
		};
		assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_MADVISE, &arg), EINVAL);
	}
	assert_int_equal(advise(fd, NO_HANDLE, AGATE_MADV_WILLNEED, "second", 6), ENOENT);
	assert_int_equal(dmabuf_try_export(fd, bo.handle, 0, &dmabuf), 0);
	assert_int_equal(advise(fd, bo.handle, AGATE_MADV_DONTNEED, "second", 6), EINVAL);
	assert_advised("willneed", "first");
	assert_int_equal(advise(fd, bo.handle, AGATE_MADV_WILLNEED, "second", 6), 0);
	assert_advised("willneed", "second");
	close(dmabuf);
	guest_destroy(&bo);
	close(fd);
}

static int set_label(int fd, uint32_t handle, const char *text, uint32_t len)
{
	struct drm_agate_set_label arg = {
		.handle = handle, .len = len, .label = (uintptr_t)text,
	};

	return guest_ioctl(fd, DRM_IOCTL_AGATE_SET_LABEL, &arg);
}

static void label(void **state)
{
	char text[AGATE_LABEL_MAX + 1];
	int fd = guest_open();
	struct bo bo;

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(guest_create(fd, PAGE, 0, &bo), 0);
	assert_int_equal(set_label(fd, bo.handle, text, AGATE_LABEL_MAX), 0);
	assert_int_equal(set_label(fd, bo.handle, text, AGATE_LABEL_MAX + 1), EINVAL);
	assert_int_equal(set_label(fd, bo.handle, text, UINT32_MAX), EINVAL);
	assert_int_equal(set_label(fd, bo.handle, "a\nb", 3), EINVAL);
	assert_int_equal(set_label(fd, bo.handle, "a\0b", 3), EINVAL);
	assert_int_equal(set_label(fd, bo.handle, (char *)8, 3), EFAULT);
	assert_int_equal(set_label(fd, NO_HANDLE, text, 3), ENOENT);
	assert_int_equal(set_label(fd, bo.handle, NULL, 0), 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(create_sizes, guest_teardown),
		cmocka_unit_test_teardown(create_flags, guest_teardown),
		cmocka_unit_test_teardown(create_placed, guest_teardown),
		cmocka_unit_test_teardown(create_until_addresses_run_out, guest_teardown),
		cmocka_unit_test_teardown(bad_argument_pointers, guest_teardown),
		cmocka_unit_test_teardown(create_into_a_read_only_page, guest_teardown),
		cmocka_unit_test_teardown(shorter_and_longer_structs, guest_teardown),
		cmocka_unit_test_teardown(reserved_numbers, guest_teardown),
		cmocka_unit_test_teardown(handles, guest_teardown),
		cmocka_unit_test_teardown(mmap_bo, guest_teardown),
		cmocka_unit_test_teardown(get_bo_offset, guest_teardown),
		cmocka_unit_test_teardown(wait_bo, guest_teardown),
		cmocka_unit_test_teardown(madvise_bo, guest_teardown),
		cmocka_unit_test_teardown(madvise_with_a_label, guest_teardown),
		cmocka_unit_test_teardown(madvise_with_a_bad_label, guest_teardown),
		cmocka_unit_test_teardown(label, guest_teardown),
	};

	return cmocka_run_group_tests_name("uapi-bo", tests, NULL, NULL);
}
