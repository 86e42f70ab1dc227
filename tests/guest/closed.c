// SPDX-License-Identifier: MIT
/*
 * Closing a file ends its jobs.
 *
 * They run for ever, so this test needs a very long job timeout: only the close of
 * their file may end them.
 */
#include "guest.h"

#include <sys/mman.h>
#include <unistd.h>

#define DATA		2048u		/* where jobs of a one-page BO write */

/* A job whose next is itself: it runs until somebody stops it. */
static void make_cyclic(struct bo *bo)
{
	guest_job_write64(bo, 0, bo->va, bo->va + DATA, 1);
}

/* One job on the slot, one in its NEXT, more in the queue, when the file is closed. */
static void closed_file(void **state)
{
	enum { JOBS = 5 };
	int fd = guest_open(), sync_file[JOBS];
	struct bo bo[JOBS];

	(void)state;
	for (int i = 0; i < JOBS; i++) {
		bo[i] = guest_bo(fd, PAGE, 0);
		make_cyclic(&bo[i]);
		sync_file[i] = guest_submit_fence(&bo[i], 0);
	}
	/* Wait until the first one runs: its cyclic write becomes visible. */
	while (*(volatile uint64_t *)((char *)bo[0].cpu + DATA) != 1)
		usleep(100);
	/* Mappings keep the file open, too. */
	for (int i = 0; i < JOBS; i++)
		munmap(bo[i].cpu, bo[i].size);
	close(fd);
	assert_int_equal(guest_fence_end(sync_file[0]), -ECANCELED);
	for (int i = 1; i < JOBS; i++) {
		int status = guest_fence_end(sync_file[i]);

		assert_true(status == -ECANCELED || status == -ESRCH);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(closed_file, guest_teardown),
	};

	return cmocka_run_group_tests_name("closed", tests, NULL, NULL);
}
