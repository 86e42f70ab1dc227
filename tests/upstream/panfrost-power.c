// SPDX-License-Identifier: MIT
/*
 * Upstream's Panfrost puts the GPU to sleep when it is idle, and reads its performance
 * counters.
 */
#include "panfrost.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define RUNTIME_STATUS	"/sys/bus/platform/devices/agate-panfrost/power/runtime_status"

/* Words of a dump: 64 for the job manager first, eight of these for each slot. */
#define SLOT_JOBS(slot)	(8 + 8 * (slot))

static bool status_is(const char *want)
{
	FILE *file = fopen(RUNTIME_STATUS, "re");
	char status[32] = "";

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%31s", status), 1);
	fclose(file);
	return !strcmp(status, want);
}

static void wait_for_status(const char *want)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int64_t end = guest_deadline(20000);

	while (!status_is(want)) {
		assert_true(guest_deadline(0) < end);
		nanosleep(&pause, NULL);
	}
}

/* Each job finds the GPU asleep, and its memory as it was. */
static void sleep_and_wake(void **state)
{
	int fd = panfrost_open();
	struct bo bo = panfrost_bo(fd, PAGE, 0);

	(void)state;
	for (uint64_t i = 0; i < 10; i++) {
		wait_for_status("suspended");
		panfrost_job_store(&bo, i);
		assert_int_equal(panfrost_run(&bo, i & 1 ? PANFROST_JD_REQ_FS : 0), 0);
		assert_int_equal(panfrost_word(&bo, DATA), i);
	}
	guest_destroy(&bo);
	close(fd);
}

/* BOs come and go while the GPU sleeps, and the next job sees the page tables as they are. */
static void mapped_while_asleep(void **state)
{
	int fd = panfrost_open();
	struct bo bo = panfrost_bo(fd, PAGE, 0);

	(void)state;
	for (uint64_t i = 0; i < 5; i++) {
		struct bo target;
		uint32_t both[2] = { bo.handle };

		wait_for_status("suspended");
		target = panfrost_bo(fd, (1 + (uint32_t)i) * PAGE, 0);
		both[1] = target.handle;
		guest_job_write64(&bo, 0, 0, target.va + i * PAGE, i);
		assert_int_equal(panfrost_submit(fd, bo.va, 0, both, 2, 0), 0);
		assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
		assert_int_equal(panfrost_word(&target, (uint32_t)i * PAGE), i);
		wait_for_status("suspended");
		guest_destroy(&target);
	}
	guest_destroy(&bo);
	close(fd);
}

/* ---- Performance counters ----------------------------------------------- */

static int counters(int fd, bool enable)
{
	struct drm_panfrost_perfcnt_enable arg = { .enable = enable };

	return guest_ioctl(fd, DRM_IOCTL_PANFROST_PERFCNT_ENABLE, &arg);
}

static int dump(int fd, uint32_t *words)
{
	struct drm_panfrost_perfcnt_dump arg = { .buf_ptr = (uintptr_t)words };

	return guest_ioctl(fd, DRM_IOCTL_PANFROST_PERFCNT_DUMP, &arg);
}

static void performance_counters(void **state)
{
	int fd = panfrost_open(), other = panfrost_open();
	struct bo bo = panfrost_bo(fd, PAGE, 0);
	uint32_t words[1024] = { 0 };

	(void)state;
	assert_int_equal(dump(fd, words), EINVAL);
	assert_int_equal(counters(fd, true), 0);
	assert_int_equal(counters(fd, true), 0);
	assert_int_equal(counters(other, true), EBUSY);
	assert_int_equal(dump(other, words), EINVAL);
	for (int i = 0; i < 7; i++) {
		panfrost_job_store(&bo, 1);
		assert_int_equal(panfrost_run(&bo, i < 3 ? PANFROST_JD_REQ_FS : 0), 0);
	}
	assert_int_equal(dump(fd, words), 0);
	assert_int_equal(words[SLOT_JOBS(0)], 3);
	assert_int_equal(words[SLOT_JOBS(1)], 4);
	/* A dump begins anew. */
	assert_int_equal(panfrost_run(&bo, 0), 0);
	assert_int_equal(dump(fd, words), 0);
	assert_int_equal(words[SLOT_JOBS(0)], 0);
	assert_int_equal(words[SLOT_JOBS(1)], 1);
	/* While somebody counts, the GPU stays awake. */
	assert_true(status_is("active"));
	assert_int_equal(counters(fd, false), 0);
	assert_int_equal(counters(fd, false), EINVAL);
	/* Closing the file ends the counting, too. */
	assert_int_equal(counters(other, true), 0);
	close(other);
	assert_int_equal(counters(fd, true), 0);
	guest_destroy(&bo);
	close(fd);
	wait_for_status("suspended");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleep_and_wake),
		cmocka_unit_test(mapped_while_asleep),
		cmocka_unit_test(performance_counters),
	};

	return cmocka_run_group_tests_name("panfrost-power", tests, NULL, NULL);
}
