/* SPDX-License-Identifier: MIT */
/*
 * Helpers for the tests of the BO cache: a device whose cache has the test's clock, and BOs
 * that go into it.
 */
#ifndef CACHE_HELPERS_H
#define CACHE_HELPERS_H

#include "harness.h"

#include "agate_bo.h"

#define KiB	1024ull
#define MiB	(1024 * KiB)
#define NS_PER_S	1000000000ull

/* The clock of the cache; a thousand seconds when a test begins. */
extern uint64_t clock_ns;

int clock_setup(void **state);

#define with_clock(test) \
	cmocka_unit_test_setup_teardown(test, clock_setup, cached_device_teardown)

/* The statistics, which have to add up. */
struct agate_bo_cache_stats stats_of(struct agate_device *dev);

void assert_cached(struct agate_device *dev, uint64_t count);

/* Make a BO and release it; returns its handle, which the cache has now. */
uint32_t cache_new(struct agate_device *dev, uint64_t size, uint32_t flags);

/* The same of up to 16 BOs of a size, all different ones; the oldest first. */
void cache_many(struct agate_device *dev, uint64_t size, unsigned int n, uint32_t *handles);

/* Release a BO that a job uses. */
void release_busy(struct agate_bo *bo);

void assert_fake_label(uint32_t handle, const char *label);

#endif /* CACHE_HELPERS_H */
