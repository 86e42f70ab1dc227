// SPDX-License-Identifier: MIT
/*
 * How the SoC is wired: the module's parameter says it, and the GPU has to be able to do it.
 * Protected mode: the GPU enters and leaves it while jobs run, and never uses ACE there.  The
 * simulator reports a protocol that the GPU does not have, one that changes while the L2 is on,
 * and ACE in protected mode.
 */
#include "graded.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define DATA		2048u
#define THREADS		2
#define SWITCHES	10

static const struct {
	const char *name;
	uint64_t feature;
	const char *protected;		/* the protocol of protected mode */
} protocols[] = {
	{ "none", 0, "none" },
	{ "ace-lite", GPU_COHERENCY_FEATURE_ACE_LITE, "ace-lite" },
	{ "ace", GPU_COHERENCY_FEATURE_ACE, "ace-lite" },
};

static void check_job(struct bo *bo, uint64_t value)
{
	guest_job_write64(bo, 0, 0, bo->va + DATA, value);
	assert_int_equal(guest_submit(bo->fd, bo->va, 0, &bo->handle, 1, 0), 0);
	assert_int_equal(guest_wait(bo->fd, bo->handle, FOREVER), 0);
	assert_int_equal(*(volatile uint64_t *)((char *)bo->cpu + DATA), value);
}

static void check_protocol(const char *name)
{
	char line[32];

	snprintf(line, sizeof(line), "%s\n", name);
	assert_true(guest_debugfs_says("coherency", line));
	/* Each name is a part of the next one. */
	if (!strcmp(name, "ace"))
		assert_false(guest_debugfs_says("coherency", "ace-lite"));
}

static uint64_t features(int fd)
{
	struct drm_agate_get_param arg = { .param = DRM_AGATE_PARAM_COHERENCY_FEATURES };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg), 0);
	return arg.value;
}

/* 0, or the error with which the driver refused. */
static int set_protected(const char *value)
{
	char path[64];
	int fd, err;

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%d/protected", guest_minor());
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	err = write(fd, value, 1) == 1 ? 0 : errno;
	close(fd);
	return err;
}

static bool done;

static void *work(void *unused)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);
	uint64_t value = 0;

	(void)unused;
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
		check_job(&bo, ++value);
	guest_destroy(&bo);
	close(fd);
	return NULL;
}

static void switch_modes(const char *outside, const char *inside)
{
	for (int i = 0; i < SWITCHES; i++) {
		assert_int_equal(set_protected("1"), 0);
		assert_true(guest_debugfs_says("protected", "1"));
		check_protocol(inside);
		assert_int_equal(set_protected("0"), 0);
		assert_true(guest_debugfs_says("protected", "0"));
		check_protocol(outside);
	}
	assert_int_equal(set_protected("2"), EINVAL);
}

static void switch_under_jobs(const char *outside, const char *inside)
{
	pthread_t threads[THREADS];

	done = false;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
	switch_modes(outside, inside);
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void each_protocol(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
		char args[64];
		struct bo bo;
		bool has;
		int fd;

		snprintf(args, sizeof(args), "timeout_ms=10000 coherency=%s", protocols[i].name);
		assert_int_equal(module_load(args), 0);
		fd = guest_open();
		has = (features(fd) & protocols[i].feature) == protocols[i].feature;
		check_protocol(has ? protocols[i].name : "none");
		bo = guest_bo(fd, PAGE, 0);
		check_job(&bo, 1);
		switch_under_jobs(has ? protocols[i].name : "none",
				  has ? protocols[i].protected : "none");
		check_job(&bo, 2);
		guest_destroy(&bo);
		close(fd);
		guest_assert_nothing_left();
		assert_int_equal(module_unload(), 0);
	}
}

/* Nobody has said how it is wired, or has said it wrong. */
static void unknown(void **state)
{
	(void)state;
	assert_int_equal(module_load("coherency=ace_lite"), EINVAL);
	assert_int_equal(module_load(""), 0);
	close(guest_open());
	check_protocol("none");
	assert_int_equal(module_unload(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown),
		cmocka_unit_test(each_protocol),
	};

	return cmocka_run_group_tests_name("wired", tests, NULL, NULL);
}
