// SPDX-License-Identifier: MIT
/*
 * Into the BO cache and out of it, against the contract: what fits, in which order creation
 * tries what, and which calls of the kernel that costs.
 */
#include "cache_helpers.h"

#include <string.h>

/* ---- Buckets ------------------------------------------------------------- */

static void test_buckets(void **state)
{
	static const struct {
		uint64_t size;
		unsigned int bucket;
	} cases[] = {
		{ 0, 0 }, { 1, 0 }, { 4095, 0 }, { 4096, 0 }, { 8191, 0 }, { 8192, 1 },
		{ 12 * KiB, 1 }, { 16 * KiB - 1, 1 }, { 16 * KiB, 2 }, { 32 * KiB, 3 },
		{ 64 * KiB, 4 }, { 128 * KiB, 5 }, { 256 * KiB, 6 }, { 512 * KiB, 7 },
		{ MiB - 1, 7 }, { MiB, 8 }, { 2 * MiB, 9 }, { 4 * MiB - 1, 9 },
		{ 4 * MiB, 10 }, { 5 * MiB, 10 }, { 64 * MiB, 10 }, { 128 * MiB, 10 },
		{ AGATE_BO_MAX_SIZE, 10 }, { UINT64_MAX, 10 },
	};
	uint64_t size;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(agate_bo_cache_bucket(cases[i].size), cases[i].bucket);
	/* Every size up to 128 MiB, against the powers of two. */
	for (size = 4096; size <= 128 * MiB; size += 4096) {
		const unsigned int bucket = agate_bo_cache_bucket(size);

		assert_true(bucket < AGATE_BO_CACHE_BUCKETS);
		assert_true(size >= 4096ull << bucket);
		assert_true(bucket == 10 || size < 8192ull << bucket);
	}
}

/* A BO fits when it is in the same bucket, is large enough and has exactly these flags. */
static void test_what_fits(void **state)
{
	const uint32_t delay = AGATE_ALLOC_DELAY_MMAP;
	const struct {
		uint64_t cached, asked;
		uint32_t cached_flags, asked_flags;
		bool fits;
	} cases[] = {
		{ 4096, 4096, delay, delay, true },
		{ 4096, 1, delay, delay, true },
		{ 12 * KiB, 8 * KiB, delay, delay, true },
		{ 12 * KiB, 8 * KiB + 1, delay, delay, true },
		{ 8 * KiB, 12 * KiB, delay, delay, false },	/* the same bucket, too small */
		{ 8 * KiB, 5 * KiB, delay, delay, true },
		{ 16 * KiB, 12 * KiB, delay, delay, false },	/* large enough, the next bucket */
		{ 64 * MiB, 5 * MiB, AGATE_ALLOC_INVISIBLE, AGATE_ALLOC_INVISIBLE, true },
		{ 4096, 4096, delay, 0, false },
		{ 4096, 4096, 0, delay, false },
		{ 4096, 4096, AGATE_ALLOC_EXECUTE, 0, false },
		{ 4096, 4096, 0, AGATE_ALLOC_EXECUTE, false },
		{ 4096, 4096, AGATE_ALLOC_INVISIBLE, AGATE_ALLOC_INVISIBLE | AGATE_ALLOC_GROWABLE,
		  false },
		{ 4096, 4096, AGATE_ALLOC_INVISIBLE | AGATE_ALLOC_GROWABLE,
		  AGATE_ALLOC_INVISIBLE | AGATE_ALLOC_GROWABLE, true },
		{ 4096, 4096, AGATE_ALLOC_GPU_READONLY, 0, false },
		{ 4096, 4096, AGATE_ALLOC_CPU_READONLY, AGATE_ALLOC_CPU_READONLY, true },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint32_t handle = cache_new(*state, cases[i].cached, cases[i].cached_flags);
		const unsigned int created = fake_calls(DRM_IOCTL_AGATE_CREATE_BO);
		struct agate_bo *bo = bo_new(*state, cases[i].asked, cases[i].asked_flags);

		assert_int_equal(agate_bo_handle(bo) == handle, cases[i].fits);
		assert_int_equal(fake_calls(DRM_IOCTL_AGATE_CREATE_BO) - created, !cases[i].fits);
		assert_true(agate_bo_size(bo) >= cases[i].asked);
		assert_int_equal(agate_bo_flags(bo), cases[i].asked_flags);
		if (cases[i].fits)
			assert_int_equal(agate_bo_size(bo), cases[i].cached);
		agate_bo_unreference(bo);
		assert_int_equal(agate_bo_cache_trim(*state), 0);
		assert_int_equal(fake_live_handles(), 0);
	}
}

/* Those that do not fit are skipped, and stay; of those that fit, the oldest is taken. */
static void test_oldest_that_fits(void **state)
{
	struct agate_device *dev = *state;
	struct agate_bo *small = bo_new(dev, 8 * KiB, 0), *first = bo_new(dev, 12 * KiB, 0);
	struct agate_bo *second = bo_new(dev, 12 * KiB, 0), *got;
	const uint32_t expected = agate_bo_handle(first);

	agate_bo_unreference(small);
	agate_bo_unreference(first);
	agate_bo_unreference(second);
	got = bo_new(dev, 9 * KiB, 0);
	assert_int_equal(agate_bo_handle(got), expected);
	assert_cached(dev, 2);
	agate_bo_unreference(got);
}

/* ---- What creation and release do ---------------------------------------- */

static unsigned long seen_calls[16];
static unsigned int seen_count;

static void record(unsigned long request, enum fake_when when, void *arg)
{
	(void)arg;
	if (when == FAKE_BEFORE && seen_count < 16)
		seen_calls[seen_count++] = request;
}

static void assert_calls(const unsigned long *expected, unsigned int count)
{
	unsigned int i;

	fake_hook(NULL);
	assert_int_equal(seen_count, count);
	for (i = 0; i < count; i++)
		assert_int_equal(seen_calls[i], expected[i]);
	seen_count = 0;
}

static void test_calls_of_a_round(void **state)
{
	static const unsigned long put[] = { FAKE_MUNMAP, DRM_IOCTL_AGATE_MADVISE };
	static const unsigned long fetch[] = {
		DRM_IOCTL_AGATE_MADVISE, DRM_IOCTL_AGATE_MMAP_BO, FAKE_MMAP,
	};
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	const uint32_t handle = agate_bo_handle(bo);
	const uint64_t address = agate_bo_address(bo);
	struct fake_bo seen;
	void *cpu;

	seen_count = 0;
	fake_hook(record);
	agate_bo_unreference(bo);
	assert_calls(put, 2);
	assert_int_equal(fake_live_maps(), 0);
	assert_true(fake_bo(handle, &seen));
	assert_int_equal(seen.madv, AGATE_MADV_DONTNEED);

	fake_hook(record);
	bo = bo_new(*state, 4096, 0);
	assert_calls(fetch, 3);
	assert_int_equal(agate_bo_handle(bo), handle);
	assert_int_equal(agate_bo_address(bo), address);
	assert_true(fake_bo(handle, &seen));
	assert_int_equal(seen.madv, AGATE_MADV_WILLNEED);
	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	memset(cpu, 0x11, 4096);
	agate_bo_unreference(agate_bo_reference(bo));
	assert_cached(*state, 0);
	agate_bo_unreference(bo);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_CREATE_BO), 1);
	assert_int_equal(fake_calls(DRM_IOCTL_GEM_CLOSE), 0);
}

/* A driver below 1.7 ignores a label in MADVISE: SET_LABEL follows. */
static void test_calls_of_an_older_driver(void **state)
{
	static const unsigned long put[] = {
		FAKE_MUNMAP, DRM_IOCTL_AGATE_MADVISE, DRM_IOCTL_AGATE_SET_LABEL,
	};
	static const unsigned long fetch[] = {
		DRM_IOCTL_AGATE_MADVISE, DRM_IOCTL_AGATE_SET_LABEL, DRM_IOCTL_AGATE_MMAP_BO,
		FAKE_MMAP,
	};
	struct agate_device *dev;
	struct agate_bo *bo;
	uint32_t handle;

	(void)state;
	fake_set_minor(6);
	dev = fake_open();
	assert_int_equal(agate_bo_cache_enable(dev, true), 0);
	bo = bo_new(dev, 4096, 0);
	handle = agate_bo_handle(bo);
	seen_count = 0;
	fake_hook(record);
	agate_bo_unreference(bo);
	assert_calls(put, 3);
	assert_fake_label(handle, AGATE_BO_CACHE_LABEL);

	fake_hook(record);
	bo = bo_new(dev, 4096, 0);
	assert_calls(fetch, 4);
	assert_int_equal(agate_bo_handle(bo), handle);
	assert_fake_label(handle, "");

	/* Nobody gets a BO with the label of somebody else. */
	agate_bo_unreference(bo);
	fake_fail(DRM_IOCTL_AGATE_SET_LABEL, 1, ENOMEM);
	bo = bo_new(dev, 4096, 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_CREATE_BO), 2);
	agate_bo_unreference(bo);
	agate_device_close(dev);
}

static void test_labels(void **state)
{
	struct agate_bo *bo = NULL;
	uint32_t handle;

	assert_int_equal(agate_bo_create(*state, 4096, 0, "colour", &bo), 0);
	handle = agate_bo_handle(bo);
	agate_bo_unreference(bo);
	assert_fake_label(handle, "Unused (BO cache)");
	assert_int_equal(agate_bo_create(*state, 4096, 0, "depth", &bo), 0);
	assert_int_equal(agate_bo_handle(bo), handle);
	assert_fake_label(handle, "depth");
	agate_bo_unreference(bo);
	bo = bo_new(*state, 4096, 0);
	assert_int_equal(agate_bo_handle(bo), handle);
	assert_fake_label(handle, "");
	agate_bo_unreference(bo);
	/* A bad label is refused before anything leaves the cache. */
	assert_int_equal(agate_bo_create(*state, 4096, 0, "new\nline", &bo), -EINVAL);
	assert_cached(*state, 1);
}

/* A busy BO ends the search: one poll, and the BOs behind it stay. */
static void test_busy_oldest(void **state)
{
	struct agate_bo *busy = bo_new(*state, 4096, AGATE_ALLOC_DELAY_MMAP), *bo;
	const uint32_t handle = agate_bo_handle(busy);
	uint32_t others[3];

	release_busy(busy);
	cache_many(*state, 4096, 3, others);
	assert_cached(*state, 1 + 3);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 3);
	bo = bo_new(*state, 4096, AGATE_ALLOC_DELAY_MMAP);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 4);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_CREATE_BO), 1 + 3 + 1);
	assert_cached(*state, 4);
	assert_int_equal(stats_of(*state).busy, 4);
	agate_bo_unreference(bo);

	/* Idle again, it is the oldest. */
	fake_set_busy(handle, false);
	bo = bo_new(*state, 4096, AGATE_ALLOC_DELAY_MMAP);
	assert_int_equal(agate_bo_handle(bo), handle);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 5);
	agate_bo_unreference(bo);
}

/* A job that only reads the BO is a reason to wait, too: its next user will write. */
static void test_busy_with_a_reader(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	const uint32_t handle = agate_bo_handle(bo);

	agate_bo_mark_submitted(bo, AGATE_ACCESS_READ);
	fake_set_read(handle, true);
	agate_bo_unreference(bo);
	bo = bo_new(*state, 4096, 0);
	assert_int_not_equal(agate_bo_handle(bo), handle);
	agate_bo_unreference(bo);
}

/* Waiting for a busy BO is only for the case that the kernel has no memory for a new one. */
static void test_no_memory_waits(void **state)
{
	static const int errors[] = { ENOMEM, ENOSPC };
	size_t i;

	for (i = 0; i < 2; i++) {
		struct agate_bo *bo = bo_new(*state, 4096, 0);
		const uint32_t handle = agate_bo_handle(bo);
		unsigned int created;

		release_busy(bo);
		created = fake_calls(DRM_IOCTL_AGATE_CREATE_BO);
		fake_fail(DRM_IOCTL_AGATE_CREATE_BO, 1, errors[i]);
		bo = bo_new(*state, 4096, 0);
		assert_int_equal(agate_bo_handle(bo), handle);
		assert_int_equal(fake_calls(DRM_IOCTL_AGATE_CREATE_BO) - created, 1);
		assert_int_equal(agate_bo_wait(bo, 0, true), 0);
		agate_bo_unreference(bo);
	}
	assert_int_equal(stats_of(*state).waits, 2);
}

/* At last everything goes that the cache has, in all buckets, and the kernel is asked again. */
static void test_no_memory_evicts(void **state)
{
	struct agate_bo *bo;
	uint32_t handles[4];

	cache_many(*state, 4096, 4, handles);
	cache_new(*state, 5 * MiB, AGATE_ALLOC_DELAY_MMAP);
	fake_fail(DRM_IOCTL_AGATE_CREATE_BO, 1, ENOMEM);
	bo = bo_new(*state, MiB, AGATE_ALLOC_DELAY_MMAP);
	assert_int_equal(fake_live_handles(), 1);
	assert_int_equal(stats_of(*state).evicted, 5);
	assert_int_equal(stats_of(*state).cached_bytes, 0);
	agate_bo_unreference(bo);
}

static unsigned int creations;

static void no_memory_at_all(unsigned long request, enum fake_when when, void *arg)
{
	(void)arg;
	if (request == DRM_IOCTL_AGATE_CREATE_BO && when == FAKE_BEFORE) {
		creations++;
		fake_fail(DRM_IOCTL_AGATE_CREATE_BO, 1, ENOMEM);
	}
}

/* The error is that of the last attempt, and nothing is left of the others. */
static void test_no_memory_at_all(void **state)
{
	struct agate_bo *bo = NULL;

	cache_new(*state, 4096, AGATE_ALLOC_EXECUTE);
	creations = 0;
	fake_hook(no_memory_at_all);
	assert_int_equal(agate_bo_create(*state, 4096, 0, "none", &bo), -ENOMEM);
	fake_hook(NULL);
	assert_null(bo);
	assert_int_equal(creations, 2);
	assert_int_equal(fake_live_handles(), 0);
	bo = bo_new(*state, 4096, 0);
	agate_bo_unreference(bo);
}

/* Bytes of a recycled BO are those of its last user: nobody pays for zeroes. */
static void test_old_contents(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	void *cpu;

	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	memset(cpu, 0x6c, 4096);
	agate_bo_unreference(bo);
	bo = bo_new(*state, 4096, 0);
	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	assert_int_equal(((unsigned char *)cpu)[4095], 0x6c);
	agate_bo_unreference(bo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		with_clock(test_what_fits),
		with_clock(test_oldest_that_fits),
		with_clock(test_calls_of_a_round),
		with_device(test_calls_of_an_older_driver),
		with_clock(test_labels),
		with_clock(test_busy_oldest),
		with_clock(test_busy_with_a_reader),
		with_clock(test_no_memory_waits),
		with_clock(test_no_memory_evicts),
		with_clock(test_no_memory_at_all),
		with_clock(test_old_contents),
	};

	return cmocka_run_group_tests_name("bo-cache", tests, NULL, NULL);
}
