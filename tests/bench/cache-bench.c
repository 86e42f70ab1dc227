// SPDX-License-Identifier: MIT
/*
 * Measures the BO cache of libagate inside the guest; bench.sh runs it.
 *
 * Each sample is the time from the creation of a BO to its release, with the cache and
 * without it in turns, so that a noisy machine affects both equally.  BOs are used in three
 * ways: not mapped, mapped, and mapped with every page written.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "agate.h"
#include "bench.h"

#define ROUNDS		9
#define PAGE		4096u
#define BO_SIZE		(64u * 1024)
#define BOS		300
#define MANY		10000

enum use { UNMAPPED, MAPPED, WRITTEN, USES };

static const char *const use_names[USES] = { "unmapped", "mapped", "written" };

static void check(int err, const char *what)
{
	if (!err)
		return;
	errno = -err;
	bench_die(what);
}

static struct agate_bo *create(struct agate_device *dev, enum use use)
{
	struct agate_bo *bo;

	check(agate_bo_create(dev, BO_SIZE, use == UNMAPPED ? AGATE_ALLOC_DELAY_MMAP : 0, "bench",
			      &bo), "agate_bo_create");
	return bo;
}

static double create_and_release(struct agate_device *dev, enum use use)
{
	double start = bench_now();

	for (int i = 0; i < BOS; i++) {
		struct agate_bo *bo = create(dev, use);
		void *cpu;

		if (use == WRITTEN) {
			check(agate_bo_mmap(bo, &cpu), "agate_bo_mmap");
			for (uint32_t page = 0; page < BO_SIZE; page += PAGE)
				((volatile char *)cpu)[page] = 1;
		}
		agate_bo_unreference(bo);
	}
	return (bench_now() - start) / BOS;
}

static double with_cache(struct agate_device *dev, bool on, enum use use)
{
	double ns;

	check(agate_bo_cache_enable(dev, on), "agate_bo_cache_enable");
	/* The first one fills the cache. */
	agate_bo_unreference(create(dev, use));
	ns = create_and_release(dev, use);
	check(agate_bo_cache_trim(dev), "agate_bo_cache_trim");
	return ns;
}

/* A row for one use of the BOs, and the row to which it is compared, or NULL. */
static void report(const char *what, const char *name, const double *samples, const char *against)
{
	char row[64], other[64];

	snprintf(row, sizeof(row), "%s_%s", what, name);
	snprintf(other, sizeof(other), "%s_%s", against ? against : "", name);
	bench_report(row, "ns", samples, ROUNDS, against ? other : NULL);
}

/* The same beside many BOs in the cache: those of the same size, so all in one bucket. */
static double among(struct agate_device *dev, int count)
{
	static struct agate_bo *bo[MANY];
	double ns;

	for (int i = 0; i < count; i++)
		bo[i] = create(dev, UNMAPPED);
	for (int i = 0; i < count; i++)
		agate_bo_unreference(bo[i]);
	ns = create_and_release(dev, UNMAPPED);
	check(agate_bo_cache_trim(dev), "agate_bo_cache_trim");
	return ns;
}

int main(void)
{
	double samples[2][ROUNDS];
	struct agate_device *dev;
	char row[64];

	check(agate_device_open(&dev), "agate_device_open");
	for (enum use use = UNMAPPED; use < USES; use++) {
		for (int i = 0; i < ROUNDS; i++) {
			samples[0][i] = with_cache(dev, true, use);
			samples[1][i] = with_cache(dev, false, use);
		}
		report("bo_cached", use_names[use], samples[0], "bo_uncached");
		report("bo_uncached", use_names[use], samples[1], NULL);
	}
	check(agate_bo_cache_enable(dev, true), "agate_bo_cache_enable");
	for (int i = 0; i < ROUNDS; i++) {
		samples[0][i] = among(dev, 10);
		samples[1][i] = among(dev, MANY);
	}
	bench_report("bo_cached_among_10", "ns", samples[0], ROUNDS, NULL);
	snprintf(row, sizeof(row), "bo_cached_among_%d", MANY);
	bench_report(row, "ns", samples[1], ROUNDS, "bo_cached_among_10");
	agate_device_close(dev);
	return 0;
}
