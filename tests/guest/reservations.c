// SPDX-License-Identifier: MIT
/*
 * Locking many reservations, and what SUBMIT does under its locks.
 *
 * agate_inject.ko carries out the checks of the locking itself, because no client can make
 * two BOs share a reservation, or see that a thread lets go of its locks.
 */
#include "graded.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define CHECKS	"/sys/kernel/debug/agate_exec"

static void exec_keeps_its_promises(void **state)
{
	char name[32], result[80];
	int checks = 0, failed = 0;
	FILE *file;

	(void)state;
	inject_load();
	file = fopen(CHECKS, "re");
	assert_non_null(file);
	while (fscanf(file, "%31s %79[^\n]", name, result) == 2) {
		checks++;
		if (strcmp(result, "ok")) {
			print_message("# %s: %s\n", name, result);
			failed++;
		}
	}
	fclose(file);
	assert_int_equal(checks, 4);
	assert_int_equal(failed, 0);
}

static void *submit_thread(void *arg)
{
	const struct bo *bo = arg;

	return (void *)(long)guest_submit(bo->fd, bo->va, 0, &bo->handle, 1, 0);
}

/* Its result, or -1 if it has not returned after ms. */
static long submit_result(pthread_t thread, long ms)
{
	struct timespec until;
	void *result;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (until.tv_nsec + ms * 1000000) / 1000000000;
	until.tv_nsec = (until.tv_nsec + ms * 1000000) % 1000000000;
	return pthread_timedjoin_np(thread, &result, &until) ? -1 : (long)result;
}

/*
 * From the moment at which a submit makes a BO present until its fence is there, nobody
 * else gets in between: another submit of the same BO waits.
 */
static void present_under_the_lock(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);
	pthread_t first, second;

	(void)state;
	guest_job_write64(&bo, 0, 0, bo.va + 2048, 1);
	inject_hold_entry("agate_mapping_populate", 1, 20000);
	assert_int_equal(pthread_create(&first, NULL, submit_thread, &bo), 0);
	assert_true(inject_await_held("agate_mapping_populate", 10000));
	assert_int_equal(pthread_create(&second, NULL, submit_thread, &bo), 0);
	assert_int_equal(submit_result(second, 500), -1);
	assert_true(inject_let_go("agate_mapping_populate"));
	assert_int_equal(submit_result(first, 60000), 0);
	assert_int_equal(submit_result(second, 60000), 0);
	inject_clear();
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	guest_destroy(&bo);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(exec_keeps_its_promises, guest_teardown),
		cmocka_unit_test_teardown(present_under_the_lock, guest_teardown),
	};

	return cmocka_run_group_tests_name("reservations", tests, NULL, NULL);
}
