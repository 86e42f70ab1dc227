// SPDX-License-Identifier: MIT
/*
 * Setup and teardown of tests that use a device.
 */
#include "harness.h"

int device_setup(void **state)
{
	fake_reset();
	*state = fake_open();
	return 0;
}

int older_device_setup(void **state)
{
	fake_reset();
	fake_set_minor(0);
	*state = fake_open();
	return 0;
}

int device_teardown(void **state)
{
	const unsigned int handles = fake_live_handles();
	const unsigned int maps = fake_live_maps();

	agate_device_close(*state);
	fake_reset();
	if (handles || maps)
		print_error("left behind: %u handles, %u maps\n", handles, maps);
	return handles || maps ? -1 : 0;
}

struct agate_bo *bo_new(struct agate_device *dev, uint64_t size, uint32_t flags)
{
	struct agate_bo *bo = NULL;

	assert_int_equal(agate_bo_create(dev, size, flags, NULL, &bo), 0);
	assert_non_null(bo);
	return bo;
}
