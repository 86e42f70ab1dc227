// SPDX-License-Identifier: MIT
/*
 * Jobs through upstream's Panfrost: chains on both slots, in the order that BOs and sync
 * objects ask for, from more files than there are address spaces.
 */
#include "panfrost.h"

#include <pthread.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_value),
		cmocka_unit_test(chain_in_order),
		cmocka_unit_test(both_slots),
	};

	return cmocka_run_group_tests_name("panfrost-jobs", tests, NULL, NULL);
}
