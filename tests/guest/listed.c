// SPDX-License-Identifier: MIT
/*
 * Jobs that touch memory which they did not list: the driver is loaded with
 * tell_listed, so the GPU must report them.  It must not report other jobs, in
 * whatever way they come to run.
 *
 * The unlisted memory belongs to a BO that an earlier job mapped, so nothing else
 * shows that the job is wrong.
 */
#include "guest.h"

#include <unistd.h>

#define DATA	2048u		/* where jobs write in their page */
#define ROUNDS	20u
#define RANGES	AGATE_LISTED_RANGES

static long before;		/* jobs that the GPU has reported when it was last asked */
static unsigned int meant;	/* jobs so far that the GPU must report */

/* The GPU has reported this many jobs since the last call; each touches one page. */
static void expect(unsigned int jobs)
{
	assert_int_equal(guest_gpu_counter("unlisted"), before + jobs);
	before += jobs;
	meant += jobs;
}

static uint64_t word(const struct bo *bo, uint32_t offset)
{
	return *(volatile uint64_t *)((char *)bo->cpu + offset);
}

/* A BO that the GPU can reach, listed or not. */
static struct bo mapped_bo(int fd)
{
	struct bo bo = guest_bo(fd, PAGE, 0);

	guest_job_write64(&bo, 0, 0, bo.va + DATA, 0);
	assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	return bo;
}

/* Submit a job that stores value in another BO, which it lists or does not. */
static void store(const struct bo *job, const struct bo *to, uint64_t value, uint32_t slot,
		  bool listed)
{
	const uint32_t handles[] = { job->handle, to->handle };
	struct bo bo = *job;

	guest_job_write64(&bo, 0, 0, to->va + DATA, value);
	assert_int_equal(guest_submit(job->fd, job->va, slot, handles, listed ? 2 : 1, 0), 0);
}

static void one_by_one(void **state)
{
	int fd = guest_open();
	struct bo job = guest_bo(fd, PAGE, 0), to = mapped_bo(fd);

	(void)state;
	expect(0);
	for (unsigned int slot = 0; slot < 2; slot++) {
		store(&job, &to, 1, slot ? 0 : AGATE_JD_REQ_FS, true);
		assert_int_equal(guest_wait(fd, job.handle, FOREVER), 0);
		expect(0);
		store(&job, &to, 2, slot ? 0 : AGATE_JD_REQ_FS, false);
		assert_int_equal(guest_wait(fd, job.handle, FOREVER), 0);
		assert_int_equal(word(&to, DATA), 2);
		expect(1);
	}
	guest_destroy(&job);
	guest_destroy(&to);
	close(fd);
}

/* A job that lists nothing at all may not even touch its own header. */
static void nothing_listed(void **state)
{
	int fd = guest_open();
	struct bo bo = mapped_bo(fd);
	uint32_t sync = guest_syncobj(fd);

	(void)state;
	guest_job_write64(&bo, 0, 0, bo.va + DATA, 7);
	assert_int_equal(guest_submit(fd, bo.va, 0, NULL, 0, sync), 0);
	assert_int_equal(guest_fence_end(guest_sync_file(fd, sync)), 1);
	assert_int_equal(word(&bo, DATA), 7);
	expect(1);
	guest_destroy(&bo);
	close(fd);
}

/* While one job runs, the next one is already in its slot: each has a list of its own. */
static void one_behind_the_other(void **state)
{
	int fd = guest_open();
	struct bo right[ROUNDS], wrong[ROUNDS], to = mapped_bo(fd), other = mapped_bo(fd);

	(void)state;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		right[i] = guest_bo(fd, PAGE, 0);
		wrong[i] = guest_bo(fd, PAGE, 0);
	}
	/* the wrong ones wait for nothing */
	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint32_t slot = i % 4 < 2 ? 0 : AGATE_JD_REQ_FS;

		store(&right[i], &to, i, slot, true);
		store(&wrong[i], &other, i, slot, false);
	}
	for (unsigned int i = 0; i < ROUNDS; i++) {
		assert_int_equal(guest_wait(fd, right[i].handle, FOREVER), 0);
		assert_int_equal(guest_wait(fd, wrong[i].handle, FOREVER), 0);
		guest_destroy(&right[i]);
		guest_destroy(&wrong[i]);
	}
	expect(ROUNDS);
	guest_destroy(&to);
	guest_destroy(&other);
	close(fd);
}

/*
 * When a job's predecessor in the slot fails, the driver withdraws the job and
 * starts it again: the job keeps its list.
 */
static void behind_one_that_fails(void **state)
{
	int fd = guest_open();
	struct bo bad[ROUNDS], next[ROUNDS], to[ROUNDS];

	(void)state;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		bad[i] = guest_bo(fd, PAGE, 0);
		next[i] = guest_bo(fd, PAGE, 0);
		to[i] = mapped_bo(fd);
		/* an unknown type */
		guest_job(&bad[i], 0, (enum agate_job_type)99, 0, NULL, 0);
	}
	for (unsigned int i = 0; i < ROUNDS; i++) {
		assert_int_equal(guest_submit(fd, bad[i].va, 0, &bad[i].handle, 1, 0), 0);
		store(&next[i], &to[i], i + 1, 0, i % 2);
	}
	for (unsigned int i = 0; i < ROUNDS; i++) {
		assert_int_equal(guest_wait(fd, bad[i].handle, FOREVER), 0);
		assert_int_equal(guest_wait(fd, next[i].handle, FOREVER), 0);
		assert_int_equal(word(&to[i], DATA), i + 1);
		guest_destroy(&bad[i]);
		guest_destroy(&next[i]);
		guest_destroy(&to[i]);
	}
	expect(ROUNDS / 2);
	close(fd);
}

/* More BOs than a list holds: the GPU does not check such a job, but checks the next one. */
static void too_many_to_list(void **state)
{
	int fd = guest_open();
	struct bo job = guest_bo(fd, PAGE, 0), to = mapped_bo(fd), many[RANGES];
	uint32_t handles[RANGES + 1] = { job.handle };

	(void)state;
	for (unsigned int i = 0; i < RANGES; i++) {
		many[i] = guest_bo(fd, PAGE, 0);
		handles[i + 1] = many[i].handle;
	}
	guest_job_write64(&job, 0, 0, to.va + DATA, 1);
	assert_int_equal(guest_submit(fd, job.va, 0, handles, RANGES + 1, 0), 0);
	assert_int_equal(guest_wait(fd, job.handle, FOREVER), 0);
	expect(0);
	assert_int_equal(guest_submit(fd, job.va, 0, handles, RANGES, 0), 0);
	assert_int_equal(guest_wait(fd, job.handle, FOREVER), 0);
	expect(1);
	assert_int_equal(guest_gpu_counter("lists_dropped"), 0);
	for (unsigned int i = 0; i < RANGES; i++)
		guest_destroy(&many[i]);
	guest_destroy(&job);
	guest_destroy(&to);
	close(fd);
}

/* It counts those of other programs, too. */
static int begin(void **state)
{
	int fd = guest_open();	/* sets the folder in debugfs */

	(void)state;
	before = guest_gpu_counter("unlisted");
	close(fd);
	return before < 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(one_by_one, guest_teardown),
		cmocka_unit_test_teardown(nothing_listed, guest_teardown),
		cmocka_unit_test_teardown(one_behind_the_other, guest_teardown),
		cmocka_unit_test_teardown(behind_one_that_fails, guest_teardown),
		cmocka_unit_test_teardown(too_many_to_list, guest_teardown),
	};
	int failed = cmocka_run_group_tests_name("listed", tests, begin, NULL);

	print_message("# jobs that touch what they did not list: %u\n", meant);
	return failed;
}
