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
#define IMPORT		"/sys/kernel/debug/agate_import"
#define RUNS		"/sys/kernel/debug/agate_runs"
#define OTHER_KIND	"/sys/kernel/debug/agate_backing"

/* The counts in OTHER_KIND. */
struct kind {
	unsigned int memories, mapped, cpu_maps, kernel_maps;
};

/* From now on this process makes BOs of the other kind, until the file is closed. */
static int begin_other_kind(void)
{
	int control;

	control = inject_open(OTHER_KIND, O_RDONLY);
	assert_true(control >= 0);
	return control;
}

static struct kind kind_now(int control)
{
	char text[64];
	struct kind kind;
	ssize_t n = pread(control, text, sizeof(text) - 1, 0);

	assert_true(n > 0);
	text[n] = '\0';
	assert_int_equal(sscanf(text, "%u %u %u %u", &kind.memories, &kind.mapped, &kind.cpu_maps,
				&kind.kernel_maps), 4);
	return kind;
}

/* A job that has ended may keep its BOs for a moment. */
static void check_kind(int control, struct kind want)
{
	int64_t deadline = guest_deadline(10000);
	struct kind kind = kind_now(control);

	while (kind.memories > want.memories && guest_deadline(0) < deadline) {
		usleep(1000);
		kind = kind_now(control);
	}
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
	assert_true(guest_debugfs_says("bos", "size=16384 resident=0 "));
	guest_map(&bo);
	words = bo.cpu;
	check_kind(control, (struct kind){ .cpu_maps = 1 });
	/* Every page is zero, and is its own. */
	for (unsigned int i = 0; i < PAGES; i++) {
		assert_int_equal(words[i * PAGE / 8], 0);
		words[i * PAGE / 8] = i + 1;
	}
	check_kind(control, (struct kind){ .memories = 1, .cpu_maps = 1 });
	assert_true(guest_debugfs_says("bos", "size=16384 resident=16384 "));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	assert_true(guest_file_says(path, "drm-resident-memory:\t16 KiB\n"));

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
	assert_true(guest_file_says("/sys/kernel/debug/agate_vmap", "0 1 0\n"));

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

/*
 * The shrinker takes only a part of the unneeded pages each time: press until it has purged
 * the only BO, or for long enough to have done so.
 */
static bool purged_under_pressure(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	bool purged = false;

	assert_true(fd >= 0);
	for (int i = 0; i < 100 && !purged; i++) {
		assert_int_equal(write(fd, "2", 1), 1);
		purged = guest_debugfs_says("bos", "madv=purged");
	}
	close(fd);
	return purged;
}

/* A BO of which nobody needs the contents, and one word in it. */
static struct bo unneeded_bo(int fd, uint64_t word)
{
	struct bo bo = guest_bo(fd, PAGES * PAGE, 0);

	*(volatile uint64_t *)bo.cpu = word;
	assert_int_equal(advise(&bo, AGATE_MADV_DONTNEED), 0);
	return bo;
}

/*
 * Another driver imports a BO that is not needed any more, and the last handle goes: the
 * dma-buf lives on, and its pages are not the shrinker's.
 */
static void imported(void **state)
{
	int fd = guest_open(), importer;
	struct bo bo;
	char want[32];

	(void)state;
	inject_load();
	/* Without an importer it is purged; otherwise the rest would show nothing. */
	bo = unneeded_bo(fd, 6);
	assert_true(purged_under_pressure());
	guest_destroy(&bo);

	bo = unneeded_bo(fd, 7);
	importer = open(IMPORT, O_RDONLY | O_CLOEXEC);
	assert_true(importer >= 0);
	assert_int_equal(advise(&bo, AGATE_MADV_DONTNEED), EINVAL);
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	assert_false(purged_under_pressure());
	assert_int_equal(*(volatile uint64_t *)bo.cpu, 7);
	munmap(bo.cpu, bo.size);
	assert_true(pread(importer, want, sizeof(want), 0) > 0);
	assert_memory_equal(want, "7 0\n", 4);
	close(importer);
	close(fd);
	guest_assert_nothing_left();
}

/* A backing that cannot be shared refuses an importer, and so does a purged BO. */
static void not_imported(void **state)
{
	int fd = guest_open(), control;
	struct bo bo;

	(void)state;
	inject_load();
	bo = unneeded_bo(fd, 6);
	assert_true(purged_under_pressure());
	assert_int_equal(open(IMPORT, O_RDONLY | O_CLOEXEC), -1);
	assert_int_equal(errno, EFAULT);
	guest_destroy(&bo);

	control = begin_other_kind();
	bo = other_bo(fd, PAGE, control);
	assert_int_equal(open(IMPORT, O_RDONLY | O_CLOEXEC), -1);
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	close(control);
	close(fd);
	guest_assert_nothing_left();
}

/* Each part of the newest BO has the runs that the whole has there; the number of these. */
static unsigned int runs_of_newest(unsigned int pages)
{
	FILE *file = fopen(RUNS, "re");
	unsigned int seen;
	int runs, wrong;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%u %d %d", &seen, &runs, &wrong), 3);
	fclose(file);
	assert_int_equal(seen, pages);
	assert_int_equal(wrong, 0);
	assert_in_range(runs, 1, pages);
	return runs;
}

/* Every part of a BO, one page or more, from every page on. */
static void parts(void **state)
{
	int fd = guest_open(), control;
	unsigned int runs = 0;
	struct bo bo;

	(void)state;
	inject_load();
	/* Pages of shmem are rarely consecutive all of them, but they may be. */
	for (unsigned int i = 0; i < 100 && runs < 2; i++) {
		bo = guest_bo(fd, 32 * PAGE, 0);
		/* From the last page to the first. */
		for (unsigned int page = 32; page-- > 0;)
			((volatile uint8_t *)bo.cpu)[page * PAGE] = 1;
		runs = runs_of_newest(32);
		guest_destroy(&bo);
	}
	assert_in_range(runs, 2, 32);

	for (unsigned int i = 0; i < 10; i++) {
		bo = guest_bo(fd, 32 * PAGE, AGATE_BO_CONTIGUOUS);
		assert_int_equal(runs_of_newest(32), 1);
		assert_true(guest_file_says("/sys/kernel/debug/agate_vmap", "0 1 0\n"));
		guest_destroy(&bo);
	}

	control = begin_other_kind();
	bo = other_bo(fd, PAGES * PAGE, control);
	assert_int_equal(runs_of_newest(PAGES), 1);
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
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
		cmocka_unit_test(parts),
		cmocka_unit_test(imported),
		cmocka_unit_test(not_imported),
		cmocka_unit_test(unbound),
	};

	return cmocka_run_group_tests_name("backing", tests, NULL, NULL);
}
