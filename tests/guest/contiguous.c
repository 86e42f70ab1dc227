// SPDX-License-Identifier: MIT
/*
 * BOs in one piece of memory: where they are, who may map them, what happens when there is no
 * piece left, and what a process sees when the GPU is taken from the driver.
 */
#include "graded.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients.h"

#define LARGE		(8u << 20)	/* more than the page allocator has in one piece */
#define PAGES		16u
#define SIZE		(PAGES * PAGE)
#define MOST_LARGE	64

static struct bo contiguous_bo(int fd, uint64_t size, uint32_t flags)
{
	return guest_bo(fd, size, flags | AGATE_BO_CONTIGUOUS);
}

/* Pages that are taken in all areas for contiguous memory. */
static long cma_used(void)
{
	DIR *dir = opendir("/sys/kernel/debug/cma");
	struct dirent *de;
	long sum = 0;

	assert_non_null(dir);
	while ((de = readdir(dir))) {
		char path[300];
		long used;
		FILE *file;

		snprintf(path, sizeof(path), "/sys/kernel/debug/cma/%s/used", de->d_name);
		file = de->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (!file)
			continue;
		assert_int_equal(fscanf(file, "%ld", &used), 1);
		fclose(file);
		sum += used;
	}
	closedir(dir);
	return sum;
}

static long minor_faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_minflt;
}

/* A BO has all of its memory at once, and a map of it all of its page table. */
static void complete(void **state)
{
	volatile uint64_t *words;
	int fd = guest_open();
	struct bo bo;
	long faults;

	(void)state;
	assert_int_equal(guest_create(fd, LARGE - 1, AGATE_BO_CONTIGUOUS, &bo), 0);
	assert_true(guest_debugfs_says("bos", "size=8388608 resident=8388608 "));
	assert_true(guest_debugfs_says("bos", " flags=contiguous "));
	guest_map(&bo);
	words = bo.cpu;
	faults = minor_faults();
	for (size_t i = 0; i < LARGE / PAGE; i++)
		words[i * PAGE / 8] = i;
	assert_in_range(minor_faults() - faults, 0, 8);
	guest_destroy(&bo);
	close(fd);
}

/* The GPU sees the bytes where the CPU put them, in every page, and the other way round. */
static void both_sides(void **state)
{
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0), bo = contiguous_bo(fd, LARGE, AGATE_BO_NOEXEC);
	const uint32_t handles[] = { jobs.handle, bo.handle };
	static const uint32_t pages[] = { 0, 1, 255, 256, 1023, 1024, LARGE / PAGE - 1 };
	volatile uint64_t *words = bo.cpu;

	(void)state;
	for (uint32_t i = 0; i < LARGE / PAGE; i++)
		words[i * PAGE / 8] = 0x1000 + i;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		const uint64_t at = (uint64_t)pages[i] * PAGE;
		const struct agate_compute_payload copy = {
			.op = AGATE_COMPUTE_COPY, .dst = bo.va + at + 64, .src = bo.va + at,
			.size = 8,
		};

		guest_job(&jobs, 0, AGATE_JOB_COMPUTE, 0, &copy, sizeof(copy));
		assert_int_equal(guest_submit(fd, jobs.va, 0, handles, 2, 0), 0);
		assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
		assert_int_equal(words[(at + 64) / 8], 0x1000 + pages[i]);
	}
	guest_destroy(&bo);
	guest_destroy(&jobs);
	close(fd);
}

/* Leaves a marker on every page. */
static void mark(void *arg)
{
	int fd = guest_open();
	struct bo bo = contiguous_bo(fd, LARGE, 0);

	(void)arg;
	memset(bo.cpu, 0x5a, bo.size);
}

/* Nobody finds what another process has left. */
static void zeroed(void **state)
{
	(void)state;
	for (int killed = 0; killed < 2; killed++) {
		int fd;
		struct bo bo;

		clients_end(mark, NULL, killed);
		guest_assert_nothing_left();
		fd = guest_open();
		bo = contiguous_bo(fd, LARGE, 0);
		for (size_t i = 0; i < LARGE / 8; i++)
			assert_int_equal(((const uint64_t *)bo.cpu)[i], 0);
		guest_destroy(&bo);
		close(fd);
	}
}

/* Make large BOs until there is no piece left; their number. */
static int take_all(int fd)
{
	struct bo bo;
	int count = 0, err;

	while (!(err = guest_create(fd, LARGE, AGATE_BO_CONTIGUOUS, &bo)))
		assert_in_range(++count, 1, MOST_LARGE);
	assert_int_equal(err, ENOMEM);
	return count;
}

/* Without a piece the call fails and costs nothing, and the area is whole afterwards. */
static void exhausted(void **state)
{
	const long used = cma_used();
	struct bo bo;
	int count;

	(void)state;
	for (int turn = 0; turn < 3; turn++) {
		int fd = guest_open();
		long full;

		count = take_all(fd);
		assert_in_range(count, 2, MOST_LARGE);
		full = cma_used();
		assert_int_equal(full - used, (long)count * (LARGE / PAGE));
		for (int i = 0; i < 100; i++)
			assert_int_equal(guest_create(fd, LARGE, AGATE_BO_CONTIGUOUS, &bo), ENOMEM);
		assert_int_equal(cma_used(), full);
		/* Others still get memory, and so does a small BO in one piece. */
		bo = guest_bo(fd, LARGE, 0);
		guest_destroy(&bo);
		bo = contiguous_bo(fd, SIZE, 0);
		guest_destroy(&bo);
		close(fd);
		guest_assert_nothing_left();
		assert_int_equal(cma_used(), used);
	}
	printf("# %d BOs of 8 MiB fit\n", count);
}

static int advise(const struct bo *bo, uint32_t madv)
{
	struct drm_agate_madvise arg = { .handle = bo->handle, .madv = madv };

	return guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg);
}

static void refused(void **state)
{
	static const uint64_t bad_sizes[] = {
		0, AGATE_BO_MAX_SIZE + 1, 1ull << 32, (1ull << 32) + PAGE, UINT64_MAX,
	};
	int fd = guest_open();
	struct bo bo;

	(void)state;
	for (size_t i = 0; i < sizeof(bad_sizes) / sizeof(bad_sizes[0]); i++)
		assert_int_equal(guest_create(fd, bad_sizes[i], AGATE_BO_CONTIGUOUS, &bo), EINVAL);
	assert_int_equal(guest_create(fd, AGATE_BO_MAX_SIZE, AGATE_BO_CONTIGUOUS, &bo), ENOMEM);
	assert_int_equal(guest_create(fd, SIZE, AGATE_BO_CONTIGUOUS | AGATE_BO_HEAP |
				      AGATE_BO_NOEXEC, &bo), EINVAL);
	assert_int_equal(guest_create(fd, SIZE, AGATE_BO_CONTIGUOUS << 1, &bo), EINVAL);
	assert_int_equal(guest_create(fd, SIZE, AGATE_BO_CONTIGUOUS, &bo), 0);
	assert_int_equal(advise(&bo, AGATE_MADV_DONTNEED), EINVAL);
	assert_int_equal(advise(&bo, AGATE_MADV_WILLNEED), 0);
	guest_destroy(&bo);
	close(fd);
}

/* mmap() of a BO; 0 or the errno. */
static int try_map(struct bo *bo, uint64_t skip, size_t size, int prot, int flags)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };

	assert_int_equal(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MMAP_BO, &arg), 0);
	bo->cpu = mmap(NULL, size, prot, flags, bo->fd, (off_t)(arg.offset + skip));
	if (bo->cpu != MAP_FAILED)
		return 0;
	bo->cpu = NULL;
	return errno;
}

static void who_may_map(void **state)
{
	const int rw = PROT_READ | PROT_WRITE;
	int fd = guest_open();
	struct bo bo, ro;

	(void)state;
	assert_int_equal(guest_create(fd, SIZE, AGATE_BO_CONTIGUOUS, &bo), 0);
	assert_int_equal(try_map(&bo, 0, SIZE + PAGE, rw, MAP_SHARED), EINVAL);
	assert_int_equal(try_map(&bo, PAGE, PAGE, rw, MAP_SHARED), EINVAL);
	assert_int_equal(try_map(&bo, 0, SIZE, PROT_READ, MAP_PRIVATE), EINVAL);
	assert_int_equal(try_map(&bo, 0, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED), EPERM);
	guest_destroy(&bo);

	assert_int_equal(guest_create(fd, SIZE, AGATE_BO_CONTIGUOUS | AGATE_BO_CPU_READONLY, &ro),
			 0);
	assert_int_equal(try_map(&ro, 0, SIZE, rw, MAP_SHARED), EACCES);
	assert_int_equal(try_map(&ro, 0, SIZE, PROT_READ, MAP_SHARED), 0);
	assert_int_equal(mprotect(ro.cpu, SIZE, rw), -1);
	assert_int_equal(errno, EACCES);
	assert_int_equal(*(volatile uint64_t *)ro.cpu, 0);
	guest_destroy(&ro);
	close(fd);
}

/* In a child, which shares the map: the number on each page, and one more there. */
static void count_up(void *arg)
{
	volatile uint64_t *words = arg;

	for (uint64_t i = 0; i < PAGES; i++)
		words[i * PAGE / 8] += words[i * PAGE / 8] == i + 1;
}

/* Parts of a map show the right pages, whatever happened to the others. */
static void parts(void **state)
{
	int fd = guest_open();
	struct bo bo;
	volatile uint64_t *words;
	char *moved;

	(void)state;
	bo = contiguous_bo(fd, SIZE, 0);
	words = bo.cpu;
	for (uint64_t i = 0; i < PAGES; i++)
		words[i * PAGE / 8] = i + 1;
	clients_end(count_up, bo.cpu, false);
	for (uint64_t i = 0; i < PAGES; i++)
		assert_int_equal(words[i * PAGE / 8], i + 2);
	munmap(bo.cpu, SIZE);

	/* A shorter map, cut at the front, in the middle, protected, and moved. */
	assert_int_equal(try_map(&bo, 0, SIZE - PAGE, PROT_READ | PROT_WRITE, MAP_SHARED), 0);
	words = bo.cpu;
	assert_int_equal(munmap(bo.cpu, PAGE), 0);
	assert_int_equal(munmap((char *)bo.cpu + 4 * PAGE, PAGE), 0);
	assert_int_equal(mprotect((char *)bo.cpu + 6 * PAGE, PAGE, PROT_READ), 0);
	for (uint64_t i = 1; i < PAGES - 1; i++)
		if (i != 4)
			assert_int_equal(words[i * PAGE / 8], i + 2);
	moved = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(moved != MAP_FAILED);
	assert_ptr_equal(mremap((char *)bo.cpu + 8 * PAGE, 2 * PAGE, 2 * PAGE,
				MREMAP_MAYMOVE | MREMAP_FIXED, moved), moved);
	for (uint64_t i = 0; i < 2; i++)
		assert_int_equal(((volatile uint64_t *)moved)[i * PAGE / 8], 8 + i + 2);
	assert_ptr_equal(mremap(moved, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE), MAP_FAILED);
	assert_int_equal(errno, EFAULT);
	munmap(moved, 2 * PAGE);
	munmap(bo.cpu, SIZE - PAGE);
	bo.cpu = NULL;
	guest_destroy(&bo);
	close(fd);
}

/* A map keeps the memory when the handle, the file and the GPU are gone. */
static void outlives(void **state)
{
	int fd = guest_open();
	struct bo bo = contiguous_bo(fd, LARGE, 0);
	const long used = cma_used();
	volatile uint64_t *words = bo.cpu;

	(void)state;
	words[LARGE / 8 - 1] = 7;
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	assert_int_equal(device_unbind(), 0);
	close(fd);
	assert_int_equal(words[LARGE / 8 - 1], 7);
	words[0] = 8;
	assert_int_equal(words[0], 8);
	munmap(bo.cpu, bo.size);
	assert_int_equal(used - cma_used(), LARGE / PAGE);
	assert_int_equal(device_bind(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(complete, guest_teardown),
		cmocka_unit_test_teardown(both_sides, guest_teardown),
		cmocka_unit_test_teardown(zeroed, guest_teardown),
		cmocka_unit_test_teardown(exhausted, guest_teardown),
		cmocka_unit_test_teardown(refused, guest_teardown),
		cmocka_unit_test_teardown(who_may_map, guest_teardown),
		cmocka_unit_test_teardown(parts, guest_teardown),
		cmocka_unit_test(outlives),
	};

	return cmocka_run_group_tests_name("contiguous", tests, NULL, NULL);
}
