// SPDX-License-Identifier: MIT
/*
 * Load and unload the driver, again and again, and take the GPU from it while it is
 * in use: reload MODULE TIMES.
 *
 * While a file or a fence is alive the module cannot be unloaded; without one it
 * can.  A job runs each time, to show that the GPU came up.
 */
#include "clients.h"
#include "guest.h"

#include <fcntl.h>
#include <glob.h>
#include <linux/membarrier.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long something may take that must come to its end, on a busy host as well. */
#define PATIENCE_S	60

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

/* Memory that was given to kfree_rcu() is freed when this returns. */
static void free_what_rcu_keeps(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(write(fd, "2", 1), 1);
		assert_int_equal(syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0), 0);
	}
	close(fd);
}

/*
 * A file that is open when the GPU goes still has its queues when it is closed.  The
 * fence of a queue's last job keeps the schedulers, so one file runs no job at all.
 */
static void a_file_outlives_the_device(void **state)
{
	int idle, used;

	(void)state;
	assert_int_equal(load(), 0);
	idle = guest_open();
	used = guest_open();
	one_job(used);
	unbind();
	close(used);
	free_what_rcu_keeps();
	close(idle);
	assert_int_equal(unload(), 0);
}

/* A mapped BO keeps what a CPU wrote to it last, and not what the last job saw there. */
static void memory_outlives_the_device(void **state)
{
	volatile uint64_t *word;
	struct bo bo;
	int fd;

	(void)state;
	assert_int_equal(load(), 0);
	fd = guest_open();
	bo = guest_bo(fd, PAGE, 0);
	word = (volatile uint64_t *)((char *)bo.cpu + 2048);
	guest_job_write64(&bo, 0, 0, bo.va + 2048, 1);
	assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(*word, 1);
	*word = 2;
	unbind();
	assert_int_equal(*word, 2);
	munmap(bo.cpu, bo.size);
	close(fd);
	assert_int_equal(unload(), 0);
}

/* ---- A client that takes its time -------------------------------------- */

/* Memory whose page faults wait until somebody serves them. */
static int stall_page(void **page)
{
	*page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(*page, MAP_FAILED);
	return clients_stall(*page, PAGE);
}

static void serve_page(int uffd, void *page)
{
	struct uffdio_zeropage zero = { .range = { .start = (uintptr_t)page, .len = PAGE } };

	assert_int_equal(ioctl(uffd, UFFDIO_ZEROPAGE, &zero), 0);
}

struct slow_submit {
	int fd;
	struct drm_agate_submit args;
	int err;
};

static void *submit_thread(void *arg)
{
	struct slow_submit *slow = arg;

	slow->err = guest_ioctl(slow->fd, DRM_IOCTL_AGATE_SUBMIT, &slow->args);
	return NULL;
}

static void *unbind_thread(void *arg)
{
	(void)arg;
	unbind();
	return NULL;
}

static int join_in_time(pthread_t thread)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	return pthread_timedjoin_np(thread, NULL, &until);
}

/* SUBMIT with one of its arrays on a page that is missing, and the GPU goes. */
static void a_slow_client(int fd, const struct bo *bo, unsigned int which)
{
	struct slow_submit slow = { .fd = fd, .args.jc = bo->va };
	struct pollfd missed = { .events = POLLIN };
	pthread_t submitting, unbinding;
	void *page;
	int gone;

	missed.fd = stall_page(&page);
	*(which == 0 ? &slow.args.bo_handles : which == 1 ? &slow.args.in_syncs :
	  &slow.args.out_syncs) = (uintptr_t)page;
	*(which == 0 ? &slow.args.bo_handle_count : which == 1 ? &slow.args.in_sync_count :
	  &slow.args.out_sync_count) = 1;
	assert_int_equal(pthread_create(&submitting, NULL, submit_thread, &slow), 0);
	assert_int_equal(poll(&missed, 1, PATIENCE_S * 1000), 1);
	assert_int_equal(pthread_create(&unbinding, NULL, unbind_thread, NULL), 0);
	gone = join_in_time(unbinding);
	serve_page(missed.fd, page);
	pthread_join(submitting, NULL);
	if (gone)
		pthread_join(unbinding, NULL);
	assert_int_equal(gone, 0);
	assert_int_equal(slow.err, ENODEV);
	close(missed.fd);
	munmap(page, PAGE);
}

/* Removal waits for every call that is inside the driver, but not for userspace. */
static void a_slow_client_holds_up_nobody(void **state)
{
	(void)state;
	for (unsigned int which = 0; which < 3; which++) {
		struct bo bo;
		int fd;

		assert_int_equal(load(), 0);
		fd = guest_open();
		bo = guest_bo(fd, PAGE, 0);
		a_slow_client(fd, &bo, which);
		munmap(bo.cpu, bo.size);
		close(fd);
		assert_int_equal(unload(), 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fences_outlive_the_device),
		cmocka_unit_test(a_file_outlives_the_device),
		cmocka_unit_test(memory_outlives_the_device),
		cmocka_unit_test(a_slow_client_holds_up_nobody),
		cmocka_unit_test(reload),
	};

	if (argc != 3)
		return 2;
	module = argv[1];
	times = atoi(argv[2]);
	return cmocka_run_group_tests_name("reload", tests, NULL, NULL);
}
