// SPDX-License-Identifier: MIT
/*
 * Load and unload the driver, again and again: reload MODULE TIMES.
 *
 * While a file or a fence is alive the module cannot be unloaded; without one it
 * can.  A job runs each time, to show that the GPU came up.
 */
#include "guest.h"

#include <fcntl.h>
#include <glob.h>
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
	err = syscall(SYS_finit_module, fd, "timeout_ms=10000", 0) ? errno : 0;
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

/* Unbind the GPU from the driver, by its name on the bus. */
static void unbind(void)
{
	static const char pattern[] = "/sys/bus/pci/drivers/agate/*:*";
	const char *name;
	glob_t found;
	int fd;

	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	name = strrchr(found.gl_pathv[0], '/') + 1;
	fd = open("/sys/bus/pci/drivers/agate/unbind", O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, name, strlen(name)), strlen(name));
	close(fd);
	globfree(&found);
}

static int one_sync_file(int fd, uint64_t jc, uint32_t handle)
{
	uint32_t sync = guest_syncobj(fd);

	assert_int_equal(guest_submit(fd, jc, 0, &handle, 1, sync), 0);
	return guest_sync_file(fd, sync);
}

/*
 * sync_files hold the fences of a job that ran, of a job that the close stopped,
 * and of a job that never ran: the fences outlive the file and the device, and keep
 * the module loaded.
 */
static void fences_outlive_the_device(void **state)
{
	struct bo good, bad;
	int fd, ran, stopped, refused, status;

	(void)state;
	assert_int_equal(load(), 0);
	fd = guest_open();
	good = guest_bo(fd, PAGE, 0);
	bad = guest_bo(fd, PAGE, 0);
	guest_job_write64(&good, 0, 0, good.va + 2048, 1);
	guest_job_write64(&bad, 0, bad.va, bad.va + 2048, 1);
	ran = one_sync_file(fd, good.va, good.handle);
	assert_int_equal(guest_fence_status(ran), 1);
	stopped = one_sync_file(fd, bad.va, bad.handle);
	refused = one_sync_file(fd, bad.va, bad.handle);
	guest_destroy(&good);
	guest_destroy(&bad);
	close(fd);

	assert_int_equal(unload(), EWOULDBLOCK);
	unbind();
	assert_int_equal(unload(), EWOULDBLOCK);
	assert_int_equal(guest_fence_status(ran), 1);
	close(ran);
	status = guest_fence_status(stopped);
	assert_true(status == -ECANCELED || status == -ESRCH);
	close(stopped);
	assert_int_equal(unload(), EWOULDBLOCK);
	status = guest_fence_status(refused);
	assert_true(status == -ECANCELED || status == -ESRCH);
	close(refused);
	assert_int_equal(unload(), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fences_outlive_the_device),
		cmocka_unit_test(reload),
	};

	if (argc != 3)
		return 2;
	module = argv[1];
	times = atoi(argv[2]);
	return cmocka_run_group_tests_name("reload", tests, NULL, NULL);
}
