/* SPDX-License-Identifier: MIT */
/*
 * Helpers for every test program here: cmocka, and a device on a fake kernel that
 * each test must leave as empty as it was.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "fake_kernel.h"

/*
 * For cmocka_unit_test_setup_teardown(): *state is a struct agate_device, with its cache
 * switched off: what is released is gone.
 */
int device_setup(void **state);
/* The same, with the cache. */
int cached_device_setup(void **state);
/* The same, of a driver of minor version 0. */
int older_device_setup(void **state);

/* Fails when the test left a handle open or a map behind. */
int device_teardown(void **state);
/* Closes the device first: that empties the cache. */
int cached_device_teardown(void **state);

/* Make a BO; fails the test when that does not work. */
struct agate_bo *bo_new(struct agate_device *dev, uint64_t size, uint32_t flags);

#define with_device(test) \
	cmocka_unit_test_setup_teardown(test, device_setup, device_teardown)
#define with_cached_device(test) \
	cmocka_unit_test_setup_teardown(test, cached_device_setup, cached_device_teardown)
#define with_older_device(test) \
	cmocka_unit_test_setup_teardown(test, older_device_setup, device_teardown)

#endif /* HARNESS_H */
