// SPDX-License-Identifier: MIT
/*
 * Threads that race with each other, on the debug kernel.
 *
 * The result of each call does not matter here, only that the uAPI allows every
 * errno, that nothing is left, and that KASAN and lockdep report nothing.
 */
#include "guest.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS	400
#define HANDLES	8u

struct race {
	int fd;
	atomic_bool stop;
	atomic_int surprises;
};

static void check(struct race *race, int err, int allowed)
{
	if (err && err != allowed)
		atomic_fetch_add(&race->surprises, 1);
}

/* Guess the handles that the creator is about to get, and use or close them. */
static void *guesser(void *arg)
{
	struct race *race = arg;

	for (uint32_t i = 0; !atomic_load(&race->stop); i++) {
		struct drm_agate_get_bo_offset offset = { .handle = 1 + i % HANDLES };
		struct drm_agate_mmap_bo map = { .handle = 1 + i % HANDLES };
		struct drm_agate_set_label label = {
			.handle = 1 + i % HANDLES, .len = 4, .label = (uintptr_t)"race",
		};

		check(race, guest_ioctl(race->fd, DRM_IOCTL_AGATE_GET_BO_OFFSET, &offset), ENOENT);
		check(race, guest_ioctl(race->fd, DRM_IOCTL_AGATE_MMAP_BO, &map), ENOENT);
		check(race, guest_ioctl(race->fd, DRM_IOCTL_AGATE_SET_LABEL, &label), ENOENT);
		check(race, guest_close_handle(race->fd, 1 + i % HANDLES), EINVAL);
	}
	return NULL;
}

/* Read debugfs's lists of BOs and address spaces while these come and go. */
static void *reader(void *arg)
{
	static const char *const files[] = { "bos", "vms", "counters" };
	struct race *race = arg;
	char path[64], text[512];

	for (int i = 0; !atomic_load(&race->stop); i++) {
		int fd;

		snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%d/%s", guest_minor(),
			 files[i % 3]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0) {
			atomic_fetch_add(&race->surprises, 1);
			continue;
		}
		while (read(fd, text, sizeof(text)) > 0)
			;
		close(fd);
	}
	return NULL;
}

static void *opener(void *arg)
{
	struct race *race = arg;

	while (!atomic_load(&race->stop)) {
		int fd = guest_try_open();
		struct bo bo;

		if (fd < 0 || guest_create(fd, PAGE, 0, &bo))
			atomic_fetch_add(&race->surprises, 1);
		close(fd);
	}
	return NULL;
}

static void create_against(void *(*other)(void *))
{
	struct race race = { .fd = guest_open() };
	pthread_t thread;
	struct bo bo;

	assert_int_equal(pthread_create(&thread, NULL, other, &race), 0);
	for (int i = 0; i < ROUNDS; i++) {
		int err = guest_create(race.fd, 2 * PAGE, 0, &bo);

		/* EINVAL: the guesser closed the BO before this thread looked up its address. */
		check(&race, err, EINVAL);
		if (!err)
			check(&race, guest_close_handle(race.fd, bo.handle), EINVAL);
	}
	atomic_store(&race.stop, true);
	pthread_join(thread, NULL);
	close(race.fd);
	assert_int_equal(atomic_load(&race.surprises), 0);
}

static void create_against_guesses(void **state)
{
	(void)state;
	create_against(guesser);
}

static void create_against_debugfs(void **state)
{
	(void)state;
	create_against(reader);
}

static void create_against_opens(void **state)
{
	(void)state;
	create_against(opener);
}

/* Submit a job while another thread closes the BOs that it lists. */
static void submit_against_close(void **state)
{
	struct race race = { .fd = guest_open() };
	struct bo job = guest_bo(race.fd, PAGE, 0);
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, guesser, &race), 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct bo bo;
		uint32_t list[1];

		if (guest_create(race.fd, PAGE, 0, &bo))
			continue;
		list[0] = bo.handle;
		/* The chain is in a BO that may be gone: it may fault, but nothing worse. */
		check(&race, guest_submit(race.fd, bo.va, 0, list, 1, 0), ENOENT);
		guest_close_handle(race.fd, bo.handle);
	}
	atomic_store(&race.stop, true);
	pthread_join(thread, NULL);
	munmap(job.cpu, job.size);
	close(race.fd);
	assert_int_equal(atomic_load(&race.surprises), 0);
}

/* Touch a map while the kernel takes pages that madvise declared unneeded. */
static void *presser(void *arg)
{
	struct race *race = arg;

	while (!atomic_load(&race->stop)) {
		int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

		if (fd < 0 || write(fd, "2", 1) != 1)
			atomic_fetch_add(&race->surprises, 1);
		close(fd);
	}
	return NULL;
}

static void purge_against_use(void **state)
{
	struct race race = { .fd = guest_open() };
	pthread_t thread;
	int purged = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, presser, &race), 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct bo bo = guest_bo(race.fd, 4 * PAGE, 0);
		struct drm_agate_madvise arg = { .handle = bo.handle, .madv = AGATE_MADV_DONTNEED };
		int err;

		guest_job_write64(&bo, 0, 0, bo.va + 2048, 1);
		assert_int_equal(guest_ioctl(race.fd, DRM_IOCTL_AGATE_MADVISE, &arg), 0);
		err = guest_submit(race.fd, bo.va, 0, &bo.handle, 1, 0);
		check(&race, err, EFAULT);
		purged += err == EFAULT;
		assert_int_equal(guest_wait(race.fd, bo.handle, FOREVER), 0);
		arg.madv = AGATE_MADV_WILLNEED;
		assert_int_equal(guest_ioctl(race.fd, DRM_IOCTL_AGATE_MADVISE, &arg), 0);
		/* Once the pages are retained, the job's result stays. */
		if (arg.retained && !err)
			assert_int_equal(*(volatile uint64_t *)((char *)bo.cpu + 2048), 1);
		if (err)
			assert_int_equal(arg.retained, 0);
		guest_destroy(&bo);
	}
	atomic_store(&race.stop, true);
	pthread_join(thread, NULL);
	close(race.fd);
	print_message("# %d of %d were purged\n", purged, ROUNDS);
	assert_int_equal(atomic_load(&race.surprises), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(create_against_guesses, guest_teardown),
		cmocka_unit_test_teardown(create_against_debugfs, guest_teardown),
		cmocka_unit_test_teardown(create_against_opens, guest_teardown),
		cmocka_unit_test_teardown(submit_against_close, guest_teardown),
		cmocka_unit_test_teardown(purge_against_use, guest_teardown),
	};

	return cmocka_run_group_tests_name("races", tests, NULL, NULL);
}
