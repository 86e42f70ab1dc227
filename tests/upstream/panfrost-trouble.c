// SPDX-License-Identifier: MIT
/*
 * Jobs that fault, hang, or whose owner is killed, through upstream's Panfrost.
 *
 * Jobs and files that did nothing wrong have to go on.  Where a bug of upstream's own spoils
 * that, the test names the bug, and checks what still works.
 */
#include "clients.h"
#include "panfrost.h"

#include <stdio.h>
#include <unistd.h>

static void assert_goes_on(struct bo *bo, uint64_t value)
{
	const uint32_t slots[] = { 0, PANFROST_JD_REQ_FS };

	for (int i = 0; i < 2; i++) {
		panfrost_job_store(bo, value + (uint64_t)i);
		assert_int_equal(panfrost_run(bo, slots[i]), 0);
		assert_int_equal(panfrost_word(bo, DATA), value + (uint64_t)i);
		assert_int_equal(panfrost_status(bo, 0), AGATE_EXC_DONE);
	}
}

/* ---- Faults ------------------------------------------------------------- */

/*
 * Run a job that faults; returns its fence's status.  When an earlier fault left the
 * address space's interrupts masked, the job ends by a reset, which opens the mask: then
 * another job faults.
 */
static int run_faulty(struct bo *bo, uint32_t slot)
{
	int status;

	panfrost_job_faulty(bo);
	status = guest_fence_end(panfrost_start_fence(bo, slot));
	if (status == -ECANCELED) {
		panfrost_bug("panfrost_mmu.c:183", "panfrost_mmu_as_get() writes MMU_INT_MASK before "
			     "the bit leaves as_faulty_mask: the next fault is never seen, and "
			     "its job ends by the time-out");
		panfrost_job_faulty(bo);
		status = guest_fence_end(panfrost_start_fence(bo, slot));
	}
	assert_int_not_equal(panfrost_status(bo, 0), AGATE_EXC_DONE);
	return status;
}

/* A fault ends its own job, and its sync object says so; the file goes on. */
static void fault(void **state)
{
	const uint32_t slots[] = { 0, PANFROST_JD_REQ_FS };
	int fd = panfrost_open();
	struct bo bo = panfrost_bo(fd, PAGE, 0);

	(void)state;
	for (int i = 0; i < 4; i++) {
		int status = run_faulty(&bo, slots[i & 1]);

		assert_true(status == -EINVAL || status == 1);
		if (status == 1)
			panfrost_bug("scheduler/sched_main.c:183", "drm_sched_job_done() does not "
				     "hand on the error of the job's fence");
		assert_goes_on(&bo, 10);
	}
	guest_destroy(&bo);
	close(fd);
}

/* Other files do not notice. */
static void fault_of_another_file(void **state)
{
	int fd = panfrost_open(), other = panfrost_open();
	struct bo bo = panfrost_bo(fd, PAGE, 0), peer = panfrost_bo(other, PAGE, 0);

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		int fence;

		panfrost_job_faulty(&bo);
		fence = panfrost_start_fence(&bo, 0);
		panfrost_job_store(&peer, i);
		assert_int_equal(panfrost_run(&peer, PANFROST_JD_REQ_FS), 0);
		assert_int_equal(panfrost_word(&peer, DATA), i);
		guest_fence_end(fence);
		assert_goes_on(&peer, 20);
	}
	guest_destroy(&bo);
	guest_destroy(&peer);
	close(fd);
	close(other);
}

/*
 * A fault does not end the job that the same file queued behind it.  The first job fills
 * memory for a while, so that the second waits in the NEXT registers when the fault comes.
 */
static void fault_before_a_queued_job(void **state)
{
	const uint32_t size = 8u << 20;
	int fd = panfrost_open();
	struct bo bad = panfrost_bo(fd, PAGE, 0), good = panfrost_bo(fd, PAGE, 0);
	struct bo large = panfrost_bo(fd, size, PANFROST_BO_NOEXEC);
	const uint32_t both[] = { bad.handle, large.handle };
	const struct agate_compute_payload fill = {
		.op = AGATE_COMPUTE_FILL, .dst = large.va, .size = size, .value = 1,
	};

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		guest_job(&bad, i * 128, AGATE_JOB_COMPUTE, bad.va + (i + 1) * 128, &fill,
			  sizeof(fill));
	guest_job_write64(&bad, 8 * 128, 0, UNMAPPED, 1);
	panfrost_job_store(&good, 40);
	assert_int_equal(panfrost_submit(fd, bad.va, 0, both, 2, 0), 0);
	assert_int_equal(panfrost_start(&good, 0), 0);
	assert_int_equal(guest_wait(fd, bad.handle, FOREVER), 0);
	assert_int_equal(guest_wait(fd, good.handle, FOREVER), 0);
	assert_int_equal(panfrost_status(&bad, 7 * 128), AGATE_EXC_DONE);
	if (panfrost_word(&good, DATA) != 40)
		panfrost_bug("panfrost_job.c:563", "panfrost_job_handle_irq() starts the queued job "
			     "again in an address space that the fault has disabled");
	assert_goes_on(&good, 50);
	guest_destroy(&bad);
	guest_destroy(&good);
	guest_destroy(&large);
	close(fd);
}

/* ---- Hangs -------------------------------------------------------------- */

/* A job that hangs is cancelled by a reset, and the jobs of others wait for that. */
static void hang(void **state)
{
	int fd = panfrost_open(), other = panfrost_open();
	struct bo bad = panfrost_bo(fd, PAGE, 0), good = panfrost_bo(other, PAGE, 0);
	const uint32_t slots[] = { 0, PANFROST_JD_REQ_FS };

	(void)state;
	for (int i = 0; i < 2; i++) {
		int fence;

		panfrost_job_endless(&bad);
		fence = panfrost_start_fence(&bad, slots[i]);
		assert_int_equal(guest_wait(fd, bad.handle, 0), EBUSY);
		assert_int_equal(panfrost_wait(&bad, guest_deadline(20)), ETIMEDOUT);
		/* The innocent jobs: one on the other slot, one on the slot that hangs. */
		assert_goes_on(&good, 60);
		assert_int_equal(guest_fence_end(fence), -ECANCELED);
		assert_goes_on(&bad, 70);
	}
	guest_destroy(&bad);
	guest_destroy(&good);
	close(fd);
	close(other);
}

static void both_slots_hang(void **state)
{
	int fd = panfrost_open(), fence[2];
	struct bo a = panfrost_bo(fd, PAGE, 0), b = panfrost_bo(fd, PAGE, 0);

	(void)state;
	panfrost_job_endless(&a);
	panfrost_job_endless(&b);
	fence[0] = panfrost_start_fence(&a, 0);
	fence[1] = panfrost_start_fence(&b, PANFROST_JD_REQ_FS);
	assert_int_equal(guest_fence_end(fence[0]), -ECANCELED);
	assert_int_equal(guest_fence_end(fence[1]), -ECANCELED);
	assert_goes_on(&a, 80);
	guest_destroy(&a);
	guest_destroy(&b);
	close(fd);
}

/* ---- Owners that are killed --------------------------------------------- */

/* The child's job runs for ever, and another one is queued behind it. */
static void child_hangs(int ready)
{
	int fd = panfrost_open();
	struct bo bo = panfrost_bo(fd, PAGE, 0), next = panfrost_bo(fd, PAGE, 0);

	panfrost_job_endless(&bo);
	panfrost_job_store(&next, 1);
	if (panfrost_start(&bo, 0) || panfrost_start(&next, 0) || write(ready, "", 1) != 1)
		_exit(1);
	guest_wait(fd, next.handle, FOREVER);
	_exit(2);
}

static void killed_in_mid_job(void **state)
{
	int fd = panfrost_open();
	struct bo bo = panfrost_bo(fd, PAGE, 0);

	(void)state;
	for (int i = 0; i < 3; i++) {
		clients_kill(child_hangs);
		assert_goes_on(&bo, 90);
	}
	guest_destroy(&bo);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault),
		cmocka_unit_test(fault_of_another_file),
		cmocka_unit_test(fault_before_a_queued_job),
		cmocka_unit_test(hang),
		cmocka_unit_test(both_slots_hang),
		cmocka_unit_test(killed_in_mid_job),
	};

	return cmocka_run_group_tests_name("panfrost-trouble", tests, NULL, NULL);
}
