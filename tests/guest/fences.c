// SPDX-License-Identifier: MIT
/*
 * The status of a job's fence for every end of the chain (struct drm_agate_submit).
 *
 * A wait succeeds however the chain ended, so the test reads the status from a
 * sync_file.  gone.c tests a lost GPU, because it may kill the GPU, and closed.c
 * tests a closed file, because it needs a long job timeout.
 */
#include "guest.h"

#include <unistd.h>

#define DATA		2048u		/* where jobs of a one-page BO write */
#define UNMAPPED	0xf0000000ull	/* inside the address space, in no BO */

static void make_good(struct bo *bo)
{
	guest_job_write64(bo, 0, 0, bo->va + DATA, 1);
}

/* A job whose next is itself: it runs until somebody stops it. */
static void make_cyclic(struct bo *bo)
{
	guest_job_write64(bo, 0, bo->va, bo->va + DATA, 1);
}

static void success(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	make_good(&bo);
	assert_int_equal(guest_fence_end(guest_submit_fence(&bo, 0)), 1);
	assert_int_equal(guest_fence_end(guest_submit_fence(&bo, AGATE_JD_REQ_FS)), 1);
	guest_destroy(&bo);
	close(fd);
}

static void fault(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0), ro = guest_bo(fd, PAGE, AGATE_BO_GPU_READONLY);

	(void)state;
	/* An address in no BO, */
	guest_job_write64(&bo, 0, 0, UNMAPPED, 1);
	assert_int_equal(guest_fence_end(guest_submit_fence(&bo, 0)), -EINVAL);
	/* one that may not be written, */
	guest_job_write64(&bo, 0, 0, ro.va, 1);
	assert_int_equal(guest_fence_end(guest_submit_fence(&bo, 0)), -EINVAL);
	/* an invalid header, */
	memset(bo.cpu, 0xff, sizeof(struct agate_job_header));
	assert_int_equal(guest_fence_end(guest_submit_fence(&bo, 0)), -EINVAL);
	/* and after all that the file goes on. */
	make_good(&bo);
	assert_int_equal(guest_fence_end(guest_submit_fence(&bo, 0)), 1);
	guest_destroy(&bo);
	guest_destroy(&ro);
	close(fd);
}

/* A hang ends with -ETIME, and the job that waited behind it succeeds. */
static void hang(void **state)
{
	int fd = guest_open(), hung, behind;
	struct bo bo = guest_bo(fd, PAGE, 0), next = guest_bo(fd, PAGE, 0);

	(void)state;
	make_cyclic(&bo);
	make_good(&next);
	hung = guest_submit_fence(&bo, 0);
	behind = guest_submit_fence(&next, 0);
	assert_int_equal(guest_fence_end(hung), -ETIME);
	assert_int_equal(guest_fence_end(behind), 1);
	guest_destroy(&bo);
	guest_destroy(&next);
	close(fd);
}

/* A fault ends only its own chain: a job that depends on it runs, and succeeds. */
static void dependent_of_a_fault(void **state)
{
	int fd = guest_open(), faulting, dependent;
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	guest_job_write64(&bo, 0, 0, UNMAPPED, 1);
	guest_job_write64(&bo, 128, 0, bo.va + DATA, 7);
	faulting = guest_submit_fence(&bo, 0);
	bo.va += 128;
	dependent = guest_submit_fence(&bo, AGATE_JD_REQ_FS);
	bo.va -= 128;
	assert_int_equal(guest_fence_end(faulting), -EINVAL);
	assert_int_equal(guest_fence_end(dependent), 1);
	assert_int_equal(*(volatile uint64_t *)((char *)bo.cpu + DATA), 7);
	guest_destroy(&bo);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(success, guest_teardown),
		cmocka_unit_test_teardown(fault, guest_teardown),
		cmocka_unit_test_teardown(hang, guest_teardown),
		cmocka_unit_test_teardown(dependent_of_a_fault, guest_teardown),
	};

	return cmocka_run_group_tests_name("fences", tests, NULL, NULL);
}
