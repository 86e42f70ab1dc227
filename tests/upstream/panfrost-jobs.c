// SPDX-License-Identifier: MIT
/*
 * Jobs through upstream's Panfrost: chains on both slots, in the order that BOs and sync
 * objects ask for, from more files than there are address spaces.
 */
#include "clients.h"
#include "panfrost.h"

#include <sys/mman.h>
#include <unistd.h>

static void write_value(void **state)
{
	int fd = panfrost_open();
	struct bo bo = panfrost_bo(fd, PAGE, 0);

	(void)state;
	panfrost_job_store(&bo, 0x0123456789abcdefull);
	assert_int_equal(panfrost_run(&bo, 0), 0);
	assert_int_equal(panfrost_word(&bo, DATA), 0x0123456789abcdefull);
	assert_int_equal(panfrost_status(&bo, 0), AGATE_EXC_DONE);
	guest_destroy(&bo);
	close(fd);
}

static void chain_in_order(void **state)
{
	enum { JOBS = 100, SIZE = 8 * PAGE };
	int fd = panfrost_open();
	struct bo bo = panfrost_bo(fd, SIZE, 0);

	(void)state;
	for (uint32_t i = 0; i < JOBS; i++)
		guest_job_write64(&bo, i * 128, i + 1 < JOBS ? bo.va + (i + 1) * 128 : 0,
				  bo.va + SIZE - 8, i + 1);
	assert_int_equal(panfrost_run(&bo, 0), 0);
	assert_int_equal(panfrost_word(&bo, SIZE - 8), JOBS);
	for (uint32_t i = 0; i < JOBS; i++)
		assert_int_equal(panfrost_status(&bo, i * 128), AGATE_EXC_DONE);
	guest_destroy(&bo);
	close(fd);
}

static void both_slots(void **state)
{
	int fd = panfrost_open();
	struct bo a = panfrost_bo(fd, PAGE, 0), b = panfrost_bo(fd, PAGE, 0);

	(void)state;
	panfrost_job_store(&a, 1);
	panfrost_job_store(&b, 2);
	assert_int_equal(panfrost_start(&a, 0), 0);
	assert_int_equal(panfrost_start(&b, PANFROST_JD_REQ_FS), 0);
	assert_int_equal(guest_wait(fd, b.handle, FOREVER), 0);
	assert_int_equal(guest_wait(fd, a.handle, FOREVER), 0);
	assert_int_equal(panfrost_word(&a, DATA), 1);
	assert_int_equal(panfrost_word(&b, DATA), 2);
	guest_destroy(&a);
	guest_destroy(&b);
	close(fd);
}

/* Two jobs on different slots that use one BO run in the order of their SUBMITs. */
static void bo_orders_jobs(void **state)
{
	int fd = panfrost_open();
	struct bo shared = panfrost_bo(fd, PAGE, 0);
	struct bo a = panfrost_bo(fd, PAGE, 0), b = panfrost_bo(fd, PAGE, 0);
	uint32_t first[] = { a.handle, shared.handle }, second[] = { b.handle, shared.handle };

	(void)state;
	for (uint64_t i = 0; i < 50; i++) {
		guest_job_write64(&a, 0, 0, shared.va, 2 * i);
		guest_job_write64(&b, 0, 0, shared.va, 2 * i + 1);
		assert_int_equal(panfrost_submit(fd, a.va, 0, first, 2, 0), 0);
		assert_int_equal(panfrost_submit(fd, b.va, PANFROST_JD_REQ_FS, second, 2, 0), 0);
		assert_int_equal(guest_wait(fd, shared.handle, FOREVER), 0);
		assert_int_equal(panfrost_word(&shared, 0), 2 * i + 1);
	}
	guest_destroy(&a);
	guest_destroy(&b);
	guest_destroy(&shared);
	close(fd);
}

/* A sync object orders two jobs that share no BO. */
static void sync_orders_jobs(void **state)
{
	int fd = panfrost_open();
	struct bo a = panfrost_bo(fd, PAGE, 0), b = panfrost_bo(fd, PAGE, 0);
	uint32_t between = guest_syncobj(fd), after = guest_syncobj(fd), unknown = 12345;
	struct drm_panfrost_submit submit = {
		.jc = b.va, .requirements = PANFROST_JD_REQ_FS,
		.in_syncs = (uintptr_t)&between, .in_sync_count = 1, .out_sync = after,
		.bo_handles = (uintptr_t)&b.handle, .bo_handle_count = 1,
	};
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&after, .count_handles = 1, .timeout_nsec = FOREVER,
	};

	(void)state;
	panfrost_job_store(&a, 1);
	panfrost_job_store(&b, 2);
	assert_int_equal(panfrost_submit(fd, a.va, 0, &a.handle, 1, between), 0);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_PANFROST_SUBMIT, &submit), 0);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait), 0);
	assert_int_equal(guest_wait(fd, a.handle, 0), 0);
	assert_int_equal(panfrost_word(&a, DATA), 1);
	assert_int_equal(panfrost_word(&b, DATA), 2);
	assert_int_equal(guest_fence_end(guest_sync_file(fd, after)), 1);
	submit.in_syncs = (uintptr_t)&unknown;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_PANFROST_SUBMIT, &submit), ENOENT);
	guest_destroy(&a);
	guest_destroy(&b);
	close(fd);
}

/* A BO closed while a job uses it stays until the job is done. */
static void close_while_busy(void **state)
{
	enum { SIZE = 64 * PAGE, JOBS = SIZE / 128 };
	int fd = panfrost_open();
	struct bo bo = panfrost_bo(fd, SIZE, 0), target = panfrost_bo(fd, PAGE, 0);
	uint32_t both[] = { bo.handle, target.handle };

	(void)state;
	for (uint32_t i = 0; i < JOBS; i++)
		guest_job_write64(&bo, i * 128, i + 1 < JOBS ? bo.va + (i + 1) * 128 : 0,
				  target.va, i + 1);
	assert_int_equal(panfrost_submit(fd, bo.va, 0, both, 2, 0), 0);
	assert_int_equal(guest_close_handle(fd, target.handle), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(panfrost_word(&target, 0), JOBS);
	munmap(target.cpu, PAGE);
	guest_destroy(&bo);
	close(fd);
}

/* More files than the GPU has address spaces, all with work at the same time. */
static void more_files_than_address_spaces(void **state)
{
	enum { FILES = 20, ROUNDS = 3 };
	struct bo bo[FILES];
	int fd[FILES];

	(void)state;
	for (uint64_t round = 0; round < ROUNDS; round++) {
		for (uint64_t i = 0; i < FILES; i++) {
			if (!round) {
				fd[i] = panfrost_open();
				bo[i] = panfrost_bo(fd[i], PAGE, 0);
			}
			panfrost_job_store(&bo[i], i + 100 * round);
			assert_int_equal(panfrost_start(&bo[i], i & 1 ? PANFROST_JD_REQ_FS : 0), 0);
		}
		for (uint64_t i = 0; i < FILES; i++) {
			assert_int_equal(guest_wait(fd[i], bo[i].handle, FOREVER), 0);
			assert_int_equal(panfrost_word(&bo[i], DATA), i + 100 * round);
		}
	}
	for (int i = 0; i < FILES; i++) {
		guest_destroy(&bo[i]);
		close(fd[i]);
	}
}

/* ---- Jobs from several threads ------------------------------------------ */

enum { THREADS = 4, JOBS_EACH = 100 };

static void *many_jobs(void *arg)
{
	int fd = panfrost_open();
	struct bo bo;
	long good = 0;

	(void)arg;
	if (panfrost_create(fd, PAGE, 0, &bo))
		return (void *)-1l;
	guest_map(&bo);
	for (uint64_t i = 0; i < JOBS_EACH; i++) {
		panfrost_job_store(&bo, i);
		if (panfrost_run(&bo, i & 1 ? PANFROST_JD_REQ_FS : 0))
			break;
		good += panfrost_word(&bo, DATA) == i && panfrost_status(&bo, 0) == AGATE_EXC_DONE;
	}
	munmap(bo.cpu, bo.size);
	close(fd);
	return (void *)good;
}

static void threads(void **state)
{
	(void)state;
	clients_run(THREADS, many_jobs, JOBS_EACH);
}

/* Jobs of one file that wait for nothing, so that each slot always has a next one. */
static void queued(void **state)
{
	enum { JOBS = 100 };
	int fd = panfrost_open();
	struct bo bo[JOBS];

	(void)state;
	for (uint32_t i = 0; i < JOBS; i++) {
		bo[i] = panfrost_bo(fd, PAGE, 0);
		panfrost_job_store(&bo[i], i + 1);
	}
	for (uint32_t i = 0; i < JOBS; i++)
		assert_int_equal(panfrost_start(&bo[i], i & 1 ? PANFROST_JD_REQ_FS : 0), 0);
	for (uint32_t i = 0; i < JOBS; i++) {
		assert_int_equal(guest_wait(fd, bo[i].handle, FOREVER), 0);
		assert_int_equal(panfrost_word(&bo[i], DATA), i + 1);
		guest_destroy(&bo[i]);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_value),
		cmocka_unit_test(chain_in_order),
		cmocka_unit_test(both_slots),
		cmocka_unit_test(bo_orders_jobs),
		cmocka_unit_test(sync_orders_jobs),
		cmocka_unit_test(close_while_busy),
		cmocka_unit_test(more_files_than_address_spaces),
		cmocka_unit_test(threads),
		cmocka_unit_test(queued),
	};

	return cmocka_run_group_tests_name("panfrost-jobs", tests, NULL, NULL);
}
