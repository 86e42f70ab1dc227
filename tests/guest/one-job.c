// SPDX-License-Identifier: MIT
/* One job and its verdict, for the benchmark's restore-to-verdict run. */
#include "guest.h"

#include <unistd.h>

static void one_job(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	guest_job_write64(&bo, 0, 0, bo.va + 2048, 0xa6a7e);
	assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(*(volatile uint64_t *)((char *)bo.cpu + 2048), 0xa6a7e);
	guest_destroy(&bo);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(one_job, guest_teardown),
	};

	return cmocka_run_group_tests_name("one-job", tests, NULL, NULL);
}
