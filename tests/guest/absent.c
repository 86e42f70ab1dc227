// SPDX-License-Identifier: MIT
/*
 * Each topic absent in turn, and a client that does all it can without it.
 *
 * A topic of the driver whose lab is not written yet costs its own calls and those
 * of the topics that need it.  All other calls work, and the driver can be unloaded.
 */
#include "graded.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* In the order in which they start; the test is about what others do without one. */
static const struct {
	const char *init;
	uint64_t feature;
} topics[] = {
	{ "agate_gem_topic_init", AGATE_FEATURE_GEM },
	{ "agate_cma_topic_init", AGATE_FEATURE_CMA },
	{ "agate_shmem_topic_init", AGATE_FEATURE_SHMEM },
	{ "agate_mmap_topic_init", AGATE_FEATURE_MMAP },
	{ "agate_purge_topic_init", AGATE_FEATURE_PURGE },
	{ "agate_prime_topic_init", AGATE_FEATURE_PRIME },
	{ "agate_coherency_topic_init", AGATE_FEATURE_COHERENCY },
	{ "agate_devfreq_topic_init", AGATE_FEATURE_DVFS },
	{ "agate_pgtable_topic_init", AGATE_FEATURE_PGTABLE },
	{ "agate_mmu_topic_init", AGATE_FEATURE_MMU },
	{ "agate_fault_topic_init", AGATE_FEATURE_FAULT },
	{ "agate_slot_topic_init", AGATE_FEATURE_SLOT },
	{ "agate_submit_topic_init", AGATE_FEATURE_SUBMIT },
	{ "agate_reset_topic_init", AGATE_FEATURE_RESET },
	{ "agate_pm_topic_init", AGATE_FEATURE_PM },
};

static uint64_t features(int fd)
{
	struct drm_agate_get_param arg = { .param = DRM_AGATE_PARAM_FEATURES };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg), 0);
	return arg.value;
}

static int advise(const struct bo *bo, uint32_t madv)
{
	struct drm_agate_madvise arg = { .handle = bo->handle, .madv = madv };

	return guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg);
}

/* The call works when its topic is there, and says so when it is not. */
static void check_call(int err, uint64_t there, uint64_t feature)
{
	assert_int_equal(err, there & feature ? 0 : EOPNOTSUPP);
}

/* A good job, and one without end that is still on its slot when the file closes. */
static void use_jobs(struct bo *bo)
{
	guest_job_write64(bo, 0, 0, bo->va + 2048, 7);
	assert_int_equal(guest_submit(bo->fd, bo->va, 0, &bo->handle, 1, 0), 0);
	assert_int_equal(guest_wait(bo->fd, bo->handle, FOREVER), 0);
	assert_int_equal(*(volatile uint64_t *)((char *)bo->cpu + 2048), 7);
	guest_job_write64(bo, 0, bo->va, bo->va + 2048, 8);
	assert_int_equal(guest_submit(bo->fd, bo->va, 0, &bo->handle, 1, 0), 0);
	/* Its time limit ends it, also without topic "reset". */
	assert_int_equal(guest_wait(bo->fd, bo->handle, FOREVER), 0);
	guest_job_write64(bo, 0, bo->va, bo->va + 2048, 9);
	assert_int_equal(guest_submit(bo->fd, bo->va, AGATE_JD_REQ_FS, &bo->handle, 1, 0), 0);
}

static void use_all(uint64_t there)
{
	int fd = guest_open();
	struct bo bo, other;

	assert_int_equal(features(fd), there);
	check_call(guest_create(fd, PAGE, 0, &bo), there, AGATE_FEATURE_GEM);
	check_call(guest_create(fd, PAGE, AGATE_BO_CONTIGUOUS, &other), there, AGATE_FEATURE_CMA);
	if (there & AGATE_FEATURE_CMA)
		guest_destroy(&other);
	if (there & AGATE_FEATURE_GEM) {
		assert_int_equal(guest_create(fd, PAGE, 0, &other), 0);
		check_call(advise(&other, AGATE_MADV_DONTNEED), there, AGATE_FEATURE_PURGE);
		if (there & AGATE_FEATURE_MMAP)
			guest_map(&bo);
		if ((there & AGATE_FEATURE_SUBMIT) && (there & AGATE_FEATURE_MMAP))
			use_jobs(&bo);
		assert_int_equal(guest_close_handle(fd, other.handle), 0);
		if (there & AGATE_FEATURE_MMAP)
			munmap(bo.cpu, bo.size);
	}
	close(fd);
	guest_assert_nothing_left();
}

static void each_topic(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
		uint64_t there;
		int fd, idle;

		printf("# without %s\n", topics[i].init);
		inject_fail(topics[i].init, 1, EOPNOTSUPP);
		assert_int_equal(module_load("timeout_ms=1500 runtime_pm=1"), 0);
		assert_int_equal(inject_hits(topics[i].init), 1);
		inject_clear();
		fd = guest_open();
		there = features(fd);
		close(fd);
		assert_false(there & topics[i].feature);
		use_all(there);
		/* At last the GPU goes while a file is open. */
		idle = guest_open();
		assert_int_equal(device_unbind(), 0);
		close(idle);
		assert_int_equal(module_unload(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_topic),
	};

	return cmocka_run_group_tests_name("absent", tests, NULL, NULL);
}
