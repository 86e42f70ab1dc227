// SPDX-License-Identifier: MIT
/*
 * One of two GPUs goes while the other one uses its BOs: the driver is taken from it, and at
 * last run.sh kills its process, when it reads BUSY.
 */
#include "graded.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpus.h"

#define DATA	2048u
#define AT	1024u

/* A client that works on one GPU all the time. */
struct worker {
	pthread_t thread;
	unsigned int gpu;
	atomic_bool stop;
	atomic_uint jobs;
};

static void *work(void *arg)
{
	struct worker *worker = arg;
	int fd = gpus_open(worker->gpu);
	struct bo bo = guest_bo(fd, PAGE, 0);

	for (uint64_t i = 1; !worker->stop; i++) {
		guest_job_write64(&bo, 0, 0, bo.va + DATA, i);
		if (guest_submit(fd, bo.va, 0, &bo.handle, 1, 0) ||
		    guest_wait(fd, bo.handle, FOREVER) || ((uint64_t *)bo.cpu)[DATA / 8] != i)
			break;
		worker->jobs++;
	}
	guest_destroy(&bo);
	close(fd);
	return NULL;
}

static void worker_start(struct worker *worker, unsigned int gpu)
{
	*worker = (struct worker){ .gpu = gpu };
	assert_int_equal(pthread_create(&worker->thread, NULL, work, worker), 0);
}

/* Wait for one more job from beginning to end. */
static void worker_goes_on(struct worker *worker)
{
	const unsigned int enough = worker->jobs + 2;

	for (int64_t end = guest_deadline(60000); worker->jobs < enough;)
		assert_true(guest_deadline(0) < end);
}

static void worker_end(struct worker *worker)
{
	worker->stop = true;
	assert_int_equal(pthread_join(worker->thread, NULL), 0);
}

/* One GPU works while the driver is taken from the other one, and given back to it. */
static void unbound(void **state)
{
	char name[GPUS_NAME];
	struct worker worker;

	(void)state;
	for (unsigned int goes = 0; goes < 2; goes++) {
		int stays = gpus_open(!goes), gone = gpus_open_named(goes, name), again;
		struct bo mine = guest_bo(stays, GPUS_SIZE, 0), exported = gpus_import(gone, &mine);
		struct bo theirs = guest_bo(gone, GPUS_SIZE, 0), imported = gpus_import(stays, &theirs);
		struct bo jobs = guest_bo(stays, PAGE, 0);
		int timeline = guest_timeline();
		uint32_t gate = guest_timeline_syncobj(stays, timeline);

		worker_start(&worker, !goes);
		worker_goes_on(&worker);
		/* One job that waits, and is there all the time. */
		gpus_fill_job(&jobs, 0, &mine, 9);
		assert_int_equal(gpus_submit(&jobs, 0, &mine, AGATE_SUBMIT_BO_WRITE, gate), 0);
		assert_int_equal(device_unbind_one(name), 0);
		worker_goes_on(&worker);
		assert_int_equal(guest_wait(gone, exported.handle, 0), ENODEV);
		guest_timeline_advance(timeline);
		assert_int_equal(guest_wait(stays, mine.handle, FOREVER), 0);
		gpus_check_words(mine.cpu, 9);

		/* The imported BO is still there, for the GPU and for the CPU. */
		gpus_fill_job(&jobs, 0, &imported, 11);
		assert_int_equal(gpus_submit(&jobs, 0, &imported, AGATE_SUBMIT_BO_WRITE, 0), 0);
		assert_int_equal(guest_wait(stays, imported.handle, FOREVER), 0);
		gpus_check_words(theirs.cpu, 11);

		assert_int_equal(device_bind_one(name), 0);
		worker_goes_on(&worker);
		worker_end(&worker);
		again = gpus_open(goes);
		exported = gpus_import(again, &mine);
		guest_map(&exported);
		gpus_check_words(exported.cpu, 9);
		guest_destroy(&exported);
		close(again);

		munmap(theirs.cpu, theirs.size);
		guest_destroy(&jobs);
		guest_destroy(&imported);
		guest_destroy(&mine);
		close(timeline);
		close(gone);
		close(stays);
	}
}

/* Another client of the GPU that stays, which has nothing to do with the other one. */
static void first_works(void)
{
	int fd = gpus_open(0);
	struct bo bo = guest_bo(fd, GPUS_SIZE, 0);

	guest_job_write64(&bo, 0, 0, bo.va + DATA, 17);
	assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(((uint64_t *)bo.cpu)[DATA / 8], 17);
	guest_destroy(&bo);
	close(fd);
}

/*
 * The second GPU goes in mid-job.  Its fence ends with an error, the first GPU's job that waits
 * for it runs, and the memory that the two shared stays.
 */
static void killed(void **state)
{
	int first = gpus_open(0), second = gpus_open(1), sync_file, other;
	struct bo theirs = guest_bo(second, GPUS_SIZE, 0), bo = gpus_import(first, &theirs);
	struct bo mine = guest_bo(first, GPUS_SIZE, 0), exported = gpus_import(second, &mine);
	struct bo endless = guest_bo(second, PAGE, 0), jobs = guest_bo(first, PAGE, 0);
	struct bo copy = guest_bo(first, GPUS_SIZE, 0), more;
	const uint32_t busy[] = { endless.handle, theirs.handle, exported.handle };
	const uint32_t handles[] = { jobs.handle, bo.handle, copy.handle };
	const uint32_t sync = guest_syncobj(second);
	volatile uint64_t *words = theirs.cpu;

	(void)state;
	memset(theirs.cpu, 0x11, GPUS_SIZE);
	guest_job_write64(&endless, 0, endless.va, theirs.va + DATA, 0x99);
	assert_int_equal(guest_submit(second, endless.va, 0, busy, 3, sync), 0);
	sync_file = guest_sync_file(second, sync);
	gpus_copy_job(&jobs, 0, 0, &copy, 0, &bo);
	assert_int_equal(guest_submit(first, jobs.va, 0, handles, 3, 0), 0);
	for (int64_t end = guest_deadline(10000); words[DATA / 8] != 0x99;)
		assert_true(guest_deadline(0) < end);
	/* The first GPU has a job that waits, and works for others. */
	first_works();
	assert_int_equal(guest_wait(first, copy.handle, guest_deadline(50)), ETIMEDOUT);
	puts("# BUSY");
	fflush(stdout);

	assert_int_equal(guest_fence_end(sync_file), -ENODEV);
	assert_int_equal(guest_wait(first, copy.handle, FOREVER), 0);
	assert_int_equal(((uint64_t *)copy.cpu)[DATA / 8], 0x99);
	assert_int_equal(((uint64_t *)copy.cpu)[0], 0x1111111111111111u);

	/* The fence may come a moment before the unplug. */
	for (int64_t end = guest_deadline(10000); guest_wait(second, theirs.handle, 0) != ENODEV;)
		assert_true(guest_deadline(0) < end);
	assert_int_equal(guest_create(second, PAGE, 0, &more), ENODEV);
	assert_int_equal(guest_submit(second, endless.va, 0, busy, 3, 0), ENODEV);
	assert_int_equal(dmabuf_try_export(second, theirs.handle, DRM_RDWR, &other), ENODEV);
	other = dmabuf_export(&mine);
	assert_int_equal(dmabuf_try_import(second, other, &more.handle), ENODEV);
	close(other);

	/* Everybody else goes on, also with what the two share. */
	first_works();
	gpus_fill_job(&jobs, 0, &bo, 0x22);
	assert_int_equal(gpus_submit(&jobs, 0, &bo, AGATE_SUBMIT_BO_WRITE, 0), 0);
	gpus_fill_job(&jobs, AT, &mine, 0x33);
	assert_int_equal(gpus_submit(&jobs, AT, &mine, AGATE_SUBMIT_BO_WRITE, 0), 0);
	assert_int_equal(guest_wait(first, bo.handle, FOREVER), 0);
	assert_int_equal(guest_wait(first, mine.handle, FOREVER), 0);
	gpus_check_words(theirs.cpu, 0x22);
	gpus_check_words(mine.cpu, 0x33);

	munmap(theirs.cpu, theirs.size);
	munmap(endless.cpu, endless.size);
	close(second);
	guest_map(&bo);
	gpus_check_words(bo.cpu, 0x22);
	guest_destroy(&bo);
	guest_destroy(&copy);
	guest_destroy(&jobs);
	guest_destroy(&mine);
	guest_look_at(first);
	guest_wait_counter("bos", 0);
	close(first);
}

static int first_left_nothing(void **state)
{
	int fd = gpus_open(0);

	(void)state;
	close(fd);
	guest_assert_nothing_left();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(unbound, gpus_nothing_left),
		cmocka_unit_test_teardown(killed, first_left_nothing),
	};

	return cmocka_run_group_tests_name("one-goes", tests, NULL, NULL);
}
