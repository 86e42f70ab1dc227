// SPDX-License-Identifier: MIT
/*
 * The card's memory, and its display, as the library asks for them.
 */
#include "harness.h"

#include <errno.h>
#include <string.h>

#include "agate_bo.h"

static void test_regions(void **state)
{
	struct drm_agate_region regions[3];
	uint32_t count = 3;

	memset(regions, 0xff, sizeof(regions));
	assert_int_equal(agate_device_get_regions(*state, regions, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(regions[0].type, DRM_AGATE_REGION_SYSTEM);
	assert_int_equal(regions[1].type, DRM_AGATE_REGION_VRAM);
	assert_int_equal(regions[2].type, UINT32_MAX);
	/* One of them, and how many there are. */
	memset(regions, 0xff, sizeof(regions));
	count = 1;
	assert_int_equal(agate_device_get_regions(*state, regions, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(regions[0].type, DRM_AGATE_REGION_SYSTEM);
	assert_int_equal(regions[1].type, UINT32_MAX);
	count = 0;
	assert_int_equal(agate_device_get_regions(*state, NULL, &count), 0);
	assert_int_equal(count, 2);
}

/* Nothing is written when the call fails. */
static void test_regions_fail(void **state)
{
	struct drm_agate_region region = { .type = 77 };
	uint32_t count = 1;

	fake_fail(DRM_IOCTL_AGATE_QUERY_REGIONS, 1, EOPNOTSUPP);
	assert_int_equal(agate_device_get_regions(*state, &region, &count), -EOPNOTSUPP);
	assert_int_equal(count, 1);
	assert_int_equal(region.type, 77);
}

static void test_flip(void **state)
{
	struct agate_bo *bo = bo_new(*state, 1 << 20, AGATE_ALLOC_VRAM);
	const struct agate_flip flip = {
		.bo = bo, .offset = 4096, .width = 100, .height = 50, .stride = 448,
		.format = AGATE_FORMAT_B8G8R8A8, .flags = AGATE_FLIP_PHYS,
	};
	struct drm_agate_flip shown;

	assert_int_equal(agate_flip(*state, &flip), 0);
	shown = fake_shown();
	assert_int_equal(shown.handle, agate_bo_handle(bo));
	assert_int_equal(shown.flags, AGATE_FLIP_PHYS);
	assert_int_equal(shown.offset, 4096);
	assert_int_equal(shown.width, 100);
	assert_int_equal(shown.height, 50);
	assert_int_equal(shown.stride, 448);
	assert_int_equal(shown.format, AGATE_FORMAT_B8G8R8A8);
	/* Nothing: every field is zero. */
	assert_int_equal(agate_flip(*state, NULL), 0);
	shown = fake_shown();
	assert_memory_equal(&shown, &(struct drm_agate_flip){ 0 }, sizeof(shown));
	agate_bo_unreference(bo);
}

static void test_flip_fails(void **state)
{
	struct agate_bo *bo = bo_new(*state, 1 << 20, 0);
	struct agate_flip flip = { .bo = bo, .width = 64, .height = 64, .stride = 256,
				   .format = AGATE_FORMAT_R8G8B8A8 };

	assert_int_equal(agate_flip(*state, &flip), -EINVAL);
	fake_fail(DRM_IOCTL_AGATE_FLIP, 1, EIO);
	assert_int_equal(agate_flip(*state, NULL), -EIO);
	agate_bo_unreference(bo);
}

/* A driver of that time has no such calls, and is not asked. */
static void test_older_driver(void **state)
{
	struct agate_device *dev;
	uint32_t count = 0;

	(void)state;
	fake_set_minor(4);
	dev = fake_open();
	assert_int_equal(agate_device_get_regions(dev, NULL, &count), -EOPNOTSUPP);
	assert_int_equal(agate_flip(dev, NULL), -EOPNOTSUPP);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_QUERY_REGIONS), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_FLIP), 0);
	agate_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_device(test_regions),
		with_device(test_regions_fail),
		with_device(test_flip),
		with_device(test_flip_fails),
		with_device(test_older_driver),
	};

	return cmocka_run_group_tests_name("userspace-display", tests, NULL, NULL);
}
