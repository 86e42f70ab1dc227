// SPDX-License-Identifier: MIT
/*
 * Load and unload the driver, again and again: reload MODULE TIMES.
 *
 * With a file open the module stays; without one it goes, and a job runs each
 * time to show that the GPU came up.
 */
#include "guest.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *module;
static int times;

static int load(void)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);
	int err;

	assert_true(fd >= 0);
	err = syscall(SYS_finit_module, fd, "", 0) ? errno : 0;
	close(fd);
	return err;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "agate", O_NONBLOCK) ? errno : 0;
}

static void one_job(int fd)
{
	struct bo bo = guest_bo(fd, PAGE, 0);

	guest_job_write64(&bo, 0, 0, bo.va + 2048, 0x1234);
	assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(*(volatile uint64_t *)((char *)bo.cpu + 2048), 0x1234);
	guest_destroy(&bo);
}

static void reload(void **state)
{
	(void)state;
	for (int i = 0; i < times; i++) {
		int fd;

		assert_int_equal(load(), 0);
		fd = guest_open();
		one_job(fd);
		assert_int_equal(unload(), EWOULDBLOCK);
		close(fd);
		guest_assert_nothing_left();
		assert_int_equal(unload(), 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reload),
	};

	if (argc != 3)
		return 2;
	module = argv[1];
	times = atoi(argv[2]);
	return cmocka_run_group_tests_name("reload", tests, NULL, NULL);
}
