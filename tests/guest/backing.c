// SPDX-License-Identifier: MIT
/*
 * The driver asks a BO's backing for everything, and never takes it for shmem: clients do
 * all they can with BOs whose memory a kind of the tests' own provides, which
 * tests/guest/kmod/own_backing.c describes.
 */
#include "graded.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES		4u
#define OTHER_KIND	"/sys/kernel/debug/agate_backing"

/* The counts in OTHER_KIND. */
struct kind {
	unsigned int memories, mapped, cpu_maps, kernel_maps;
};

/* From now on this process makes BOs of the other kind, until the file is closed. */
static int begin_other_kind(void)
{
	int control;

	inject_load();
	control = open(OTHER_KIND, O_RDONLY | O_CLOEXEC);
	assert_true(control >= 0);
	return control;
}

static void check_kind(int control, struct kind want)
{
	char text[64];
	struct kind kind;
	ssize_t n = pread(control, text, sizeof(text) - 1, 0);

	assert_true(n > 0);
	text[n] = '\0';
	assert_int_equal(sscanf(text, "%u %u %u %u", &kind.memories, &kind.mapped, &kind.cpu_maps,
				&kind.kernel_maps), 4);
	assert_int_equal(kind.memories, want.memories);
	assert_int_equal(kind.mapped, want.mapped);
	assert_int_equal(kind.cpu_maps, want.cpu_maps);
	assert_int_equal(kind.kernel_maps, want.kernel_maps);
}

/* A BO of the other kind, which has no memory yet. */
static struct bo other_bo(int fd, uint64_t size, int control)
{
	struct bo bo;

	assert_int_equal(guest_create(fd, size, AGATE_BO_NOEXEC, &bo), 0);
	check_kind(control, (struct kind){ 0 });
	return bo;
}

static int advise(const struct bo *bo, uint32_t madv)
{
	struct drm_agate_madvise arg = { .handle = bo->handle, .madv = madv };

	return guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg);
}

/* Does the file say this text? */
static bool says(const char *path, const char *text)
{
	static char all[65536];
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	all[fread(all, 1, sizeof(all) - 1, file)] = '\0';
	fclose(file);
	return strstr(all, text);
}

static bool debugfs_says(const char *name, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%d/%s", guest_minor(), name);
	return says(path, text);
}

/* A client's life with one: the CPU, the GPU, advice, statistics, the kernel. */
static void all_users(void **state)
{
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0);
	int control = begin_other_kind();
	struct bo bo = other_bo(fd, PAGES * PAGE, control);
	uint32_t handles[] = { jobs.handle, bo.handle };
	volatile uint64_t *words;
	char path[64];

	(void)state;
	assert_true(debugfs_says("bos", "size=16384 resident=0 "));
	guest_map(&bo);
	words = bo.cpu;
	check_kind(control, (struct kind){ .cpu_maps = 1 });
	/* Every page is zero, and is its own. */
	for (unsigned int i = 0; i < PAGES; i++) {
		assert_int_equal(words[i * PAGE / 8], 0);
		words[i * PAGE / 8] = i + 1;
	}
	check_kind(control, (struct kind){ .memories = 1, .cpu_maps = 1 });
	assert_true(debugfs_says("bos", "size=16384 resident=16384 "));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	assert_true(says(path, "drm-resident-memory:\t16 KiB\n"));

	/* The GPU finds each page where the CPU put it, and writes behind it. */
	for (unsigned int i = 0; i < PAGES; i++) {
		const struct agate_compute_payload copy = {
			.op = AGATE_COMPUTE_COPY, .dst = bo.va + i * PAGE + 64,
			.src = bo.va + (PAGES - 1 - i) * PAGE, .size = 8,
		};

		guest_job(&jobs, 0, AGATE_JOB_COMPUTE, 0, &copy, sizeof(copy));
		assert_int_equal(guest_submit(fd, jobs.va, 0, handles, 2, 0), 0);
		assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
		assert_int_equal(words[(i * PAGE + 64) / 8], PAGES - i);
	}
	check_kind(control, (struct kind){ .memories = 1, .mapped = 1, .cpu_maps = 1 });

	/* It cannot be purged, and the driver says so. */
	assert_int_equal(advise(&bo, AGATE_MADV_DONTNEED), EINVAL);
	assert_int_equal(advise(&bo, AGATE_MADV_WILLNEED), 0);
	/* Maps the newest BO, and unmaps it. */
	assert_true(says("/sys/kernel/debug/agate_vmap", "0 1 0\n"));

	/* A VMA keeps the memory when the handle is gone. */
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	assert_int_equal(words[0], 1);
	check_kind(control, (struct kind){ .memories = 1, .mapped = 1, .cpu_maps = 1 });
	munmap(bo.cpu, bo.size);
	check_kind(control, (struct kind){ 0 });
	guest_destroy(&jobs);
	close(control);
	close(fd);
	guest_assert_nothing_left();
}

/* The backing says no: the submit fails, and everything else goes on. */
static void refused(void **state)
{
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0);
	int control = begin_other_kind();
	struct bo bo = other_bo(fd, (PAGES + 1) * PAGE, control);
	uint32_t handles[] = { jobs.handle, bo.handle };

	(void)state;
	guest_job_write64(&jobs, 0, 0, jobs.va + 2048, 7);
	assert_int_equal(guest_submit(fd, jobs.va, 0, handles, 2, 0), ENOMEM);
	assert_int_equal(guest_submit(fd, jobs.va, 0, handles, 1, 0), 0);
	assert_int_equal(guest_wait(fd, jobs.handle, FOREVER), 0);
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	guest_destroy(&jobs);
	close(control);
	close(fd);
	guest_assert_nothing_left();
}

/* The device goes: the backing undoes its DMA mapping, and a process keeps the memory. */
static void unbound(void **state)
{
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0);
	int control = begin_other_kind();
	struct bo bo = other_bo(fd, PAGES * PAGE, control);
	uint32_t handles[] = { jobs.handle, bo.handle };

	(void)state;
	guest_map(&bo);
	guest_job_write64(&jobs, 0, 0, bo.va + 8, 7);
	assert_int_equal(guest_submit(fd, jobs.va, 0, handles, 2, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	check_kind(control, (struct kind){ .memories = 1, .mapped = 1, .cpu_maps = 1 });
	assert_int_equal(device_unbind(), 0);
	check_kind(control, (struct kind){ .memories = 1, .cpu_maps = 1 });
	assert_int_equal(((volatile uint64_t *)bo.cpu)[1], 7);
	munmap(bo.cpu, bo.size);
	munmap(jobs.cpu, jobs.size);
	close(fd);
	check_kind(control, (struct kind){ 0 });
	close(control);
	assert_int_equal(device_bind(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_users),
		cmocka_unit_test(refused),
		cmocka_unit_test(unbound),
	};

	return cmocka_run_group_tests_name("backing", tests, NULL, NULL);
}
