// SPDX-License-Identifier: MIT
/*
 * The module goes and comes back, with a job each time.
 *
 * usage: panfrost-reload MODULE TIMES
 */
#include "panfrost.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *module_file;
static int times;

static void reload(void **state)
{
	(void)state;
	for (int i = 0; i < times; i++) {
		int file = open(module_file, O_RDONLY | O_CLOEXEC), fd;
		struct bo bo;

		assert_true(file >= 0);
		assert_int_equal(syscall(SYS_delete_module, "agate_panfrost", O_NONBLOCK), 0);
		assert_int_equal(syscall(SYS_finit_module, file, "timeout_ms=10000", 0), 0);
		close(file);
		fd = panfrost_open();
		bo = panfrost_bo(fd, PAGE, 0);
		panfrost_job_store(&bo, (uint64_t)i);
		assert_int_equal(panfrost_run(&bo, 0), 0);
		assert_int_equal(panfrost_word(&bo, DATA), i);
		guest_destroy(&bo);
		/* Nothing may keep the module when its last file is closed. */
		close(fd);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reload),
	};

	if (argc != 3)
		return 2;
	module_file = argv[1];
	times = atoi(argv[2]);
	return cmocka_run_group_tests_name("panfrost-reload", tests, NULL, NULL);
}
