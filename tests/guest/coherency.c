// SPDX-License-Identifier: MIT
/*
 * What one side wrote, the other side sees, at the moments that the driver promises.
 *
 * With swiotlb=force the GPU and the CPUs have different memory, and a hand-over that
 * is missing, or one too many, shows at once.  On a GPU without ACE a missing flush of the L2
 * shows.  Otherwise they share the memory, and these tests only show that nothing else is wrong.
 */
#include "guest.h"

#include <stdio.h>
#include <unistd.h>

#define DATA	2048u		/* where jobs of a one-page BO write */

static volatile uint64_t *word(const struct bo *bo, uint32_t offset)
{
	return (volatile uint64_t *)((char *)bo->cpu + offset);
}

static int submit(const struct bo *bo, uint64_t jc, uint32_t requirements, const struct bo *other)
{
	const uint32_t handles[] = { bo->handle, other ? other->handle : 0 };

	return guest_submit(bo->fd, jc, requirements, handles, other ? 2 : 1, 0);
}

/* A COMPUTE job at the start of a BO that copies 64 bytes. */
static void make_copy(struct bo *jobs, uint64_t dst, uint64_t src)
{
	const struct agate_compute_payload copy = {
		.op = AGATE_COMPUTE_COPY, .dst = dst, .src = src, .size = 64,
	};

	guest_job(jobs, 0, AGATE_JOB_COMPUTE, 0, &copy, sizeof(copy));
}

/* Both sides take turns: each job reads what a CPU wrote after the last job. */
static void turns(void **state)
{
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0), bo = guest_bo(fd, 4 * PAGE, 0);

	(void)state;
	for (uint64_t turn = 1; turn <= 20; turn++) {
		*word(&bo, 0) = turn;
		make_copy(&jobs, bo.va + 3 * PAGE, bo.va);
		assert_int_equal(submit(&jobs, jobs.va, 0, &bo), 0);
		assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
		assert_int_equal(*word(&bo, 3 * PAGE), turn);
	}
	guest_destroy(&jobs);
	guest_destroy(&bo);
	close(fd);
}

/*
 * Two jobs on one slot share a BO.  The slot has the second one while the first still
 * writes: the second start must not undo these writes.
 */
static void second_job_in_next(void **state)
{
	enum { JOBS = 512, SIZE = JOBS * 128 };
	int fd = guest_open();
	struct bo first = guest_bo(fd, SIZE, 0), second = guest_bo(fd, PAGE, 0);
	struct bo shared = guest_bo(fd, PAGE + 8 * JOBS, 0);

	(void)state;
	for (int round = 0; round < 8; round++) {
		for (uint32_t i = 0; i < JOBS; i++) {
			*word(&shared, PAGE + 8 * i) = 0;
			guest_job_write64(&first, i * 128,
					  i + 1 < JOBS ? first.va + (i + 1) * 128 : 0,
					  shared.va + PAGE + 8 * i, i + 1);
		}
		guest_job_write64(&second, 0, 0, shared.va, 7);
		*word(&shared, 0) = 0;
		assert_int_equal(submit(&first, first.va, 0, &shared), 0);
		assert_int_equal(submit(&second, second.va, 0, &shared), 0);
		assert_int_equal(guest_wait(fd, shared.handle, FOREVER), 0);
		assert_int_equal(*word(&shared, 0), 7);
		for (uint32_t i = 0; i < JOBS; i++)
			assert_int_equal(*word(&shared, PAGE + 8 * i), i + 1);
	}
	guest_destroy(&first);
	guest_destroy(&second);
	guest_destroy(&shared);
	close(fd);
}

/*
 * Two readers on different slots own a BO at the same time.  Handing it over takes a
 * while, and its end comes last: the reader that comes second must wait for it.  Each
 * reads its own job there.
 */
static void two_readers(void **state)
{
	enum { SIZE = 8 << 20, LAST = SIZE - 256 };
	static const uint32_t slots[] = { 0, AGATE_JD_REQ_FS };
	const uint32_t flags[] = { AGATE_SUBMIT_BO_READ, AGATE_SUBMIT_BO_WRITE };
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, SIZE, 0);
	struct bo results[] = { guest_bo(fd, PAGE, 0), guest_bo(fd, PAGE, 0) };

	(void)state;
	for (uint64_t turn = 1; turn <= 20; turn++) {
		for (uint32_t i = 0; i < 2; i++)
			guest_job_write64(&jobs, LAST + 128 * i, 0, results[i].va, turn);
		for (uint32_t i = 0; i < 2; i++) {
			const uint32_t handles[] = { jobs.handle, results[i].handle };

			assert_int_equal(guest_submit_bos(fd, jobs.va + LAST + 128 * i, slots[i],
							  handles, flags, 2, 0), 0);
		}
		assert_int_equal(guest_wait(fd, jobs.handle, FOREVER), 0);
		for (int i = 0; i < 2; i++)
			assert_int_equal(*word(&results[i], 0), turn);
	}
	for (int i = 0; i < 2; i++)
		guest_destroy(&results[i]);
	guest_destroy(&jobs);
	close(fd);
}

/* Run one job, which copies a word to its own BO and lists another BO or none: the word. */
static uint64_t fetch(struct bo *jobs, uint64_t src, const struct bo *other)
{
	make_copy(jobs, jobs->va + DATA, src);
	assert_int_equal(submit(jobs, jobs->va, 0, other), 0);
	assert_int_equal(guest_wait(jobs->fd, jobs->handle, FOREVER), 0);
	return *word(jobs, DATA);
}

/*
 * A chain on the other slot keeps a cache line of a BO in the L2, because one of its headers is
 * there.  A CPU then writes another word of that line, and starts a job that reads it: the GPU must
 * not give the job its old copy.  The chain does not list the BO, so the BO belongs to the CPU
 * between the jobs that do.
 */
static void old_copy(void **state)
{
	enum { ROUNDS = 20, WORD = 40, NEXT = offsetof(struct agate_job_header, next) };
	int fd = guest_open();
	struct bo reader = guest_bo(fd, PAGE, 0), jobs = guest_bo(fd, PAGE, 0);
	struct bo bo = guest_bo(fd, PAGE, 0);
	long unlisted = guest_gpu_counter("unlisted");
	int64_t end = guest_deadline(10000);

	(void)state;
	guest_job(&bo, 0, AGATE_JOB_NULL, reader.va, NULL, 0);
	*word(&bo, WORD) = 1;
	/* From here on it is mapped for the GPU. */
	assert_int_equal(fetch(&jobs, bo.va + WORD, &bo), 1);
	guest_job_write64(&reader, 0, bo.va, reader.va + DATA, 1);
	assert_int_equal(submit(&reader, reader.va, AGATE_JD_REQ_FS, NULL), 0);
	/* Only the GPU sees for certain that its chain runs, and only it can tell it to end. */
	while (fetch(&jobs, reader.va + DATA, NULL) != 1)
		assert_true(guest_deadline(0) < end);
	for (uint64_t round = 2; round < 2 + ROUNDS; round++) {
		usleep(2000);
		*word(&bo, WORD) = round;
		assert_int_equal(fetch(&jobs, bo.va + WORD, &bo), round);
	}
	guest_job_write64(&jobs, 0, 0, reader.va + NEXT, 0);
	assert_int_equal(submit(&jobs, jobs.va, 0, NULL), 0);
	assert_int_equal(guest_wait(fd, jobs.handle, FOREVER), 0);
	assert_int_equal(guest_wait(fd, reader.handle, FOREVER), 0);
	printf("# jobs that touch what they did not list: %ld\n",
	       guest_gpu_counter("unlisted") - unlisted);
	guest_destroy(&reader);
	guest_destroy(&jobs);
	guest_destroy(&bo);
	close(fd);
}

/* A chain that is stopped hands back what it wrote until then. */
static void stopped_chain(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);
	int fence;

	(void)state;
	guest_job_write64(&bo, 0, bo.va + 128, bo.va + DATA, 5);
	guest_job_write64(&bo, 128, bo.va, bo.va + DATA + 8, 6);
	fence = guest_submit_fence(&bo, 0);
	assert_int_equal(guest_fence_end(fence), -ETIME);
	assert_int_equal(*word(&bo, DATA), 5);
	assert_int_equal(*word(&bo, DATA + 8), 6);
	guest_destroy(&bo);
	close(fd);
}

/* The GPU cannot write to the BO, so the end of a job must not change it. */
static void gpu_readonly(void **state)
{
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0), ro = guest_bo(fd, PAGE, AGATE_BO_GPU_READONLY);

	(void)state;
	*word(&ro, 0) = 1;
	guest_job_write64(&jobs, 0, jobs.va, jobs.va + DATA, 1);
	assert_int_equal(submit(&jobs, jobs.va, 0, &ro), 0);
	usleep(100000);
	*word(&ro, 0) = 2;
	assert_int_equal(guest_wait(fd, ro.handle, FOREVER), 0);
	assert_int_equal(*word(&ro, 0), 2);

	make_copy(&jobs, jobs.va + DATA, ro.va);
	assert_int_equal(submit(&jobs, jobs.va, 0, &ro), 0);
	assert_int_equal(guest_wait(fd, ro.handle, FOREVER), 0);
	assert_int_equal(*word(&jobs, DATA), 2);
	guest_destroy(&jobs);
	guest_destroy(&ro);
	close(fd);
}

/* CPUs only read the BO: job after job adds to what the GPU has there. */
static void cpu_readonly(void **state)
{
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0), bo;

	(void)state;
	assert_int_equal(guest_create(fd, PAGE, AGATE_BO_CPU_READONLY, &bo), 0);
	for (uint64_t i = 0; i < 4; i++) {
		guest_job_write64(&jobs, 0, 0, bo.va + 8 * i, i + 1);
		assert_int_equal(submit(&jobs, jobs.va, 0, &bo), 0);
		assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	}
	for (uint64_t i = 0; i < 4; i++) {
		make_copy(&jobs, jobs.va + DATA, bo.va);
		assert_int_equal(submit(&jobs, jobs.va, 0, &bo), 0);
		assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
		assert_int_equal(*word(&jobs, DATA + 8 * (uint32_t)i), i + 1);
	}
	guest_destroy(&jobs);
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	close(fd);
}

/*
 * A BO that is larger than what can be bounced: SUBMIT says so, and what was mapped
 * before goes back.  Where nothing is bounced there is room.
 */
static void too_large_to_bounce(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0), large = guest_bo(fd, 80u << 20, 0);
	int err;

	(void)state;
	guest_job_write64(&bo, 0, 0, bo.va + DATA, 3);
	err = submit(&bo, bo.va, 0, &large);
	assert_true(err == 0 || err == ENOMEM);
	assert_int_equal(guest_wait(fd, large.handle, FOREVER), 0);
	assert_int_equal(submit(&bo, bo.va, 0, NULL), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(*word(&bo, DATA), 3);
	guest_destroy(&bo);
	guest_destroy(&large);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(turns, guest_teardown),
		cmocka_unit_test_teardown(second_job_in_next, guest_teardown),
		cmocka_unit_test_teardown(two_readers, guest_teardown),
		cmocka_unit_test_teardown(old_copy, guest_teardown),
		cmocka_unit_test_teardown(stopped_chain, guest_teardown),
		cmocka_unit_test_teardown(gpu_readonly, guest_teardown),
		cmocka_unit_test_teardown(cpu_readonly, guest_teardown),
		cmocka_unit_test_teardown(too_large_to_bounce, guest_teardown),
	};

	return cmocka_run_group_tests_name("coherency", tests, NULL, NULL);
}
