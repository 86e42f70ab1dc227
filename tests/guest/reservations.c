// SPDX-License-Identifier: MIT
/*
 * Locking many reservations: agate_inject.ko carries out the checks, because no client can
 * make two BOs share a reservation, or see that a thread lets go of its locks.
 */
#include "graded.h"

#include <stdio.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(exec_keeps_its_promises, guest_teardown),
	};

	return cmocka_run_group_tests_name("reservations", tests, NULL, NULL);
}
