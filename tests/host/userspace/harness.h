/* SPDX-License-Identifier: MIT */
/*
 * What every test program here needs: cmocka, and a device on a fake kernel
 * that must be left as empty as it was.
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

/* For cmocka_unit_test_setup_teardown(): *state is a struct agate_device. */
int device_setup(void **state);

/* Fails when the test left a handle open or a map behind. */
int device_teardown(void **state);

/* A BO that has to be there. */
struct agate_bo *bo_new(struct agate_device *dev, uint64_t size, uint32_t flags);

#define with_device(test) \
	cmocka_unit_test_setup_teardown(test, device_setup, device_teardown)

#endif /* HARNESS_H */
