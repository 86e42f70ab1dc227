// SPDX-License-Identifier: MIT
/*
 * Setup and teardown of tests that use a device.
 */
#include "harness.h"

int cached_device_setup(void **state)
{
	fake_reset();
	*state = fake_open();
	return 0;
}

int device_setup(void **state)
{
	cached_device_setup(state);
	return agate_bo_cache_enable(*state, false);
}

int older_device_setup(void **state)
{
	fake_reset();
	fake_set_minor(0);
	*state = fake_open();
	return agate_bo_cache_enable(*state, false);
}

static int left_behind(unsigned int handles, unsigned int maps, unsigned int vms)
{
	if (handles || maps || vms)
		print_error("left behind: %u handles, %u maps, %u address spaces\n", handles, maps, vms);
	return handles || maps || vms ? -1 : 0;
}

int device_teardown(void **state)
{
	const int ret = left_behind(fake_live_handles(), fake_live_maps(), fake_live_vms());

	agate_device_close(*state);
	fake_reset();
	return ret;
}

int cached_device_teardown(void **state)
{
	int ret;

	agate_device_close(*state);
	ret = left_behind(fake_live_handles(), fake_live_maps(), fake_live_vms());
	fake_reset();
	return ret;
}

struct agate_bo *bo_new(struct agate_device *dev, uint64_t size, uint32_t flags)
{
	struct agate_bo *bo = NULL;

	assert_int_equal(agate_bo_create(dev, size, flags, NULL, &bo), 0);
	assert_non_null(bo);
	return bo;
}
