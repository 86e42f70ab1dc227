// SPDX-License-Identifier: MIT
/*
 * Jobs and memory that are in the middle of something when the GPU goes: its chain does
 * not stop and its reset fails, or it is lost while a reset is pending.
 *
 * run.sh runs this on a GPU that stops no chain, and kills the simulator when it reads
 * BUSY.
 */
#include "graded.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bus_master.h"

/* How long something may take that comes to its end, and how long a gate holds at most. */
#define PATIENCE_MS		25000

static int submit_endless(struct bo *bo)
{
	guest_job_write64(bo, 0, bo->va, bo->va + 2048, 1);
	return guest_submit_fence(bo, 0);
}

static void *unbind_thread(void *arg)
{
	*(int *)arg = device_unbind();
	return NULL;
}

/*
 * Removal ends a chain that neither stops nor goes with a reset.  Its fence lets the
 * owner of the memory free it, so the GPU must not reach memory any more by then.
 */
static void chain_that_outlives_its_reset(void **state)
{
	pthread_t thread;
	int fd, config, fence, err;
	struct bo bo;

	(void)state;
	assert_int_equal(module_load("timeout_ms=600000 coherency=ace"), 0);
	fd = guest_open();
	bo = guest_bo(fd, PAGE, 0);
	fence = submit_endless(&bo);
	inject_anybody(true);
	inject_fail("agate_gpu_soft_reset", 0, ETIMEDOUT);
	inject_hold_entry("agate_pci_fini", 1, PATIENCE_MS);
	config = bus_master_open();
	assert_true(bus_master_is_on(config));
	assert_int_equal(pthread_create(&thread, NULL, unbind_thread, &err), 0);
	assert_int_equal(guest_fence_end(fence), -ENODEV);
	assert_true(inject_await_held("agate_pci_fini", PATIENCE_MS));
	assert_false(bus_master_is_on(config));
	close(config);
	assert_true(inject_let_go("agate_pci_fini"));
	/* The reset in agate_pci_fini() is real, or the chain would go on in freed memory. */
	inject_clear();
	pthread_join(thread, NULL);
	assert_int_equal(err, 0);
	munmap(bo.cpu, bo.size);
	close(fd);
	assert_int_equal(module_unload(), 0);
}

/*
 * A job that comes while a reset is pending waits for it.  The GPU is lost before the reset
 * begins, because the time-out of a chain on the other slot is served first: then the loss
 * has to end the job.
 */
static void loss_before_a_pending_reset(void **state)
{
	int fd, other, fence;
	struct bo endless, bo;

	(void)state;
	assert_int_equal(module_load("timeout_ms=1500 coherency=ace"), 0);
	fd = guest_open();
	other = guest_open();
	endless = guest_bo(fd, PAGE, 0);
	bo = guest_bo(other, PAGE, 0);
	inject_anybody(true);
	inject_hold_entry("agate_reset_timedout", 1, PATIENCE_MS);
	close(submit_endless(&endless));
	assert_true(inject_await_held("agate_reset_timedout", PATIENCE_MS));

	inject_within("agate_mmu_as_get");
	inject_fail("gpu_poll", 1, ETIMEDOUT);
	guest_job_write64(&bo, 0, 0, bo.va + 2048, 1);
	fence = guest_submit_fence(&bo, AGATE_JD_REQ_FS);
	for (int64_t end = guest_deadline(PATIENCE_MS); !inject_hits("gpu_poll");) {
		assert_true(guest_deadline(0) < end);
		usleep(1000);
	}
	puts("# BUSY");
	fflush(stdout);
	assert_int_equal(guest_fence_end(fence), -ENODEV);
	/* Nobody served a time-out meanwhile. */
	assert_true(inject_let_go("agate_reset_timedout"));
	inject_clear();
	munmap(endless.cpu, endless.size);
	munmap(bo.cpu, bo.size);
	close(fd);
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain_that_outlives_its_reset),
		cmocka_unit_test(loss_before_a_pending_reset),
	};

	return cmocka_run_group_tests_name("caught", tests, NULL, NULL);
}
