// SPDX-License-Identifier: MIT
/*
 * BOs in a process's address space: which mappings are allowed, and which page is
 * at which address.
 */
#include "guest.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES	4
#define SIZE	(PAGES * PAGE)

static uint64_t offset_of(const struct bo *bo)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };

	assert_int_equal(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MMAP_BO, &arg), 0);
	return arg.offset;
}

/* mmap and report: 0 or the errno. */
static int try_map(int fd, uint64_t offset, size_t size, int prot, int flags, void **cpu)
{
	void *p = mmap(NULL, size, prot, flags, fd, (off_t)offset);

	if (p == MAP_FAILED)
		return errno;
	if (cpu)
		*cpu = p;
	else
		munmap(p, size);
	return 0;
}

/* Make a BO whose page n is filled with 0x10 + n, and unmap it. */
static struct bo numbered_bo(int fd)
{
	struct bo bo = guest_bo(fd, SIZE, 0);

	for (int n = 0; n < PAGES; n++)
		memset((char *)bo.cpu + n * PAGE, 0x10 + n, PAGE);
	munmap(bo.cpu, SIZE);
	bo.cpu = NULL;
	return bo;
}

static uint8_t page_byte(void *cpu, int page)
{
	return ((volatile uint8_t *)cpu)[page * PAGE + 123];
}

/* In a child: touch one byte; returns the signal that ended it, or 0. */
static int touch(volatile uint8_t *p, bool write)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		/* cmocka catches these signals; the child must die of them. */
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		if (write)
			*p = 1;
		else
			(void)*p;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void who_may_map(void **state)
{
	int fd = guest_open(), other = guest_open();
	struct bo bo = numbered_bo(fd);
	uint64_t offset = offset_of(&bo);
	const int rw = PROT_READ | PROT_WRITE;

	(void)state;
	assert_int_equal(try_map(other, offset, SIZE, rw, MAP_SHARED, NULL), EACCES);
	assert_int_equal(try_map(fd, offset, SIZE, rw, MAP_SHARED, NULL), 0);
	assert_int_equal(try_map(fd, offset, SIZE - PAGE, rw, MAP_SHARED, NULL), 0);
	assert_int_equal(try_map(fd, offset, SIZE + PAGE, rw, MAP_SHARED, NULL), EINVAL);
	assert_int_equal(try_map(fd, offset + 2 * PAGE, PAGE, rw, MAP_SHARED, NULL), EINVAL);
	assert_int_equal(try_map(fd, offset, SIZE, rw, MAP_PRIVATE, NULL), EINVAL);
	assert_int_equal(try_map(fd, offset, SIZE, PROT_READ, MAP_PRIVATE, NULL), EINVAL);
	assert_int_equal(try_map(fd, offset, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, NULL), EPERM);
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	assert_int_not_equal(try_map(fd, offset, SIZE, rw, MAP_SHARED, NULL), 0);
	close(fd);
	close(other);
}

static void fresh_pages_are_zero(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, 64 * PAGE, 0);
	const uint64_t *word = bo.cpu;

	(void)state;
	for (size_t i = 0; i < 64 * PAGE / sizeof(*word); i++)
		assert_int_equal(word[i], 0);
	guest_destroy(&bo);
	close(fd);
}

static void pages_come_one_by_one(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, SIZE, 0);
	unsigned char there[PAGES];

	(void)state;
	assert_int_equal(page_byte(bo.cpu, 2), 0);
	if (!mincore(bo.cpu, SIZE, there)) {
		assert_int_equal(there[0] & 1, 0);
		assert_int_equal(there[1] & 1, 0);
	}
	guest_destroy(&bo);
	close(fd);
}

/* Faults while the first byte of each page is read, or written. */
static long faults_of(volatile uint8_t *cpu, int pages, bool write)
{
	struct rusage before, after;

	assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
	for (int n = 0; n < pages; n++) {
		if (write)
			cpu[n * PAGE] = 1;
		else
			(void)cpu[n * PAGE];
	}
	assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
	return after.ru_minflt - before.ru_minflt;
}

/* A fault brings pages that are present, but not too many, and no absent ones. */
static void present_pages_come_together(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, 64 * PAGE, 0);
	void *cpu = NULL;

	(void)state;
	for (int n = 0; n < 64; n++)
		if (n != 50)
			((volatile uint8_t *)bo.cpu)[n * PAGE] = (uint8_t)n;
	assert_int_equal(try_map(fd, offset_of(&bo), 64 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
				 &cpu), 0);
	/* They begin at pages 0, 16, 32, 48, 50 and, behind the absent page, 51. */
	assert_in_range(faults_of(cpu, 64, true), 5, 6);
	for (int n = 0; n < 64; n++)
		assert_int_equal(((volatile uint8_t *)cpu)[n * PAGE + 1], 0);
	munmap(cpu, 64 * PAGE);
	guest_destroy(&bo);
	close(fd);
}

/* A fault in one part of a mapping brings no page into the next part, whose rights are other. */
static void parts_stay_apart(void **state)
{
	int fd = guest_open();
	struct bo bo = numbered_bo(fd);
	void *holder = NULL, *cpu = NULL;

	(void)state;
	assert_int_equal(try_map(fd, offset_of(&bo), SIZE, PROT_READ, MAP_SHARED, &holder), 0);
	faults_of(holder, PAGES, false);
	assert_int_equal(try_map(fd, offset_of(&bo), SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
				 &cpu), 0);
	assert_int_equal(mprotect((char *)cpu + 2 * PAGE, PAGE, PROT_READ), 0);
	assert_int_equal(munmap((char *)cpu + 3 * PAGE, PAGE), 0);
	assert_int_equal(faults_of(cpu, 2, true), 1);
	assert_int_equal(faults_of((uint8_t *)cpu + 2 * PAGE, 1, false), 1);
	assert_int_equal(touch((uint8_t *)cpu + 2 * PAGE, true), SIGSEGV);
	assert_int_equal(touch((uint8_t *)cpu + 3 * PAGE, false), SIGSEGV);
	munmap(cpu, 3 * PAGE);
	munmap(holder, SIZE);
	guest_destroy(&bo);
	close(fd);
}

/* Split a mapping before it is touched: the remaining parts still show their own pages. */
static void split_by_munmap(void **state)
{
	int fd = guest_open();
	struct bo bo = numbered_bo(fd);
	void *cpu = NULL;

	(void)state;
	assert_int_equal(try_map(fd, offset_of(&bo), SIZE, PROT_READ, MAP_SHARED, &cpu), 0);
	assert_int_equal(munmap(cpu, PAGE), 0);
	for (int n = 1; n < PAGES; n++)
		assert_int_equal(page_byte(cpu, n), 0x10 + n);
	munmap((char *)cpu + PAGE, SIZE - PAGE);
	guest_destroy(&bo);
	close(fd);
}

static void split_by_mprotect(void **state)
{
	int fd = guest_open();
	struct bo bo = numbered_bo(fd);
	void *cpu = NULL;

	(void)state;
	assert_int_equal(try_map(fd, offset_of(&bo), SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
				 &cpu), 0);
	assert_int_equal(mprotect(cpu, 2 * PAGE, PROT_READ), 0);
	for (int n = PAGES - 1; n >= 0; n--)
		assert_int_equal(page_byte(cpu, n), 0x10 + n);
	munmap(cpu, SIZE);
	guest_destroy(&bo);
	close(fd);
}

static void read_only_stays_so(void **state)
{
	int fd = guest_open();
	struct bo bo, plain;
	void *cpu = NULL;

	(void)state;
	assert_int_equal(guest_create(fd, SIZE, AGATE_BO_CPU_READONLY, &bo), 0);
	assert_int_equal(try_map(fd, offset_of(&bo), SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
				 NULL), EACCES);
	assert_int_equal(try_map(fd, offset_of(&bo), SIZE, PROT_READ, MAP_SHARED, &cpu), 0);
	assert_int_equal(mprotect(cpu, SIZE, PROT_READ | PROT_WRITE) ? errno : 0, EACCES);
	assert_int_equal(touch(cpu, true), SIGSEGV);
	munmap(cpu, SIZE);
	guest_destroy(&bo);

	plain = numbered_bo(fd);
	assert_int_equal(try_map(fd, offset_of(&plain), SIZE, PROT_READ, MAP_SHARED, &cpu), 0);
	assert_int_equal(mprotect(cpu, SIZE, PROT_READ | PROT_WRITE), 0);
	munmap(cpu, SIZE);
	guest_destroy(&plain);
	close(fd);
}

static void grow_is_refused(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, SIZE, 0);

	(void)state;
	assert_ptr_equal(mremap(bo.cpu, SIZE, 2 * SIZE, MREMAP_MAYMOVE), MAP_FAILED);
	assert_int_equal(errno, EFAULT);
	guest_destroy(&bo);
	close(fd);
}

static void outlives_the_handle(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, SIZE, 0);

	(void)state;
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	memset(bo.cpu, 0x77, SIZE);
	close(fd);
	assert_int_equal(page_byte(bo.cpu, PAGES - 1), 0x77);
	munmap(bo.cpu, SIZE);
}

static void child_sees_the_same(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, SIZE, 0);

	(void)state;
	assert_int_equal(touch(bo.cpu, true), 0);
	assert_int_equal(*(uint8_t *)bo.cpu, 1);
	guest_destroy(&bo);
	close(fd);
}

static void drop_caches(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "2", 1), 1);
	close(fd);
}

static uint32_t madvise_bo(const struct bo *bo, uint32_t madv)
{
	struct drm_agate_madvise arg = { .handle = bo->handle, .madv = madv };

	assert_int_equal(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg), 0);
	return arg.retained;
}

/* Under memory pressure an unneeded BO loses its pages, and reports it; another BO does not. */
static void purge(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, SIZE, 0), kept = guest_bo(fd, SIZE, 0);
	void *around = NULL;

	(void)state;
	memset(bo.cpu, 0x55, SIZE);
	/* One fault maps the pages behind, too. */
	assert_int_equal(try_map(fd, offset_of(&bo), SIZE, PROT_READ, MAP_SHARED, &around), 0);
	assert_int_equal(faults_of(around, PAGES, false), 1);
	memset(kept.cpu, 0x66, SIZE);
	assert_int_equal(madvise_bo(&bo, AGATE_MADV_DONTNEED), 1);
	/*
	 * The shrinker takes only a part of the unneeded pages: press until it has
	 * taken this BO's.
	 */
	for (int i = 0; i < 100 && madvise_bo(&bo, AGATE_MADV_DONTNEED); i++)
		drop_caches();
	assert_int_equal(madvise_bo(&bo, AGATE_MADV_WILLNEED), 0);
	assert_int_equal(touch(bo.cpu, false), SIGBUS);
	for (int n = 0; n < PAGES; n++)
		assert_int_equal(touch((uint8_t *)around + n * PAGE, false), SIGBUS);
	assert_int_equal(madvise_bo(&kept, AGATE_MADV_WILLNEED), 1);
	assert_int_equal(page_byte(kept.cpu, 3), 0x66);
	assert_int_equal(madvise_bo(&bo, AGATE_MADV_DONTNEED), 0);
	munmap(around, SIZE);
	munmap(bo.cpu, SIZE);
	bo.cpu = NULL;
	guest_destroy(&bo);
	guest_destroy(&kept);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(who_may_map, guest_teardown),
		cmocka_unit_test_teardown(fresh_pages_are_zero, guest_teardown),
		cmocka_unit_test_teardown(pages_come_one_by_one, guest_teardown),
		cmocka_unit_test_teardown(present_pages_come_together, guest_teardown),
		cmocka_unit_test_teardown(parts_stay_apart, guest_teardown),
		cmocka_unit_test_teardown(split_by_munmap, guest_teardown),
		cmocka_unit_test_teardown(split_by_mprotect, guest_teardown),
		cmocka_unit_test_teardown(read_only_stays_so, guest_teardown),
		cmocka_unit_test_teardown(grow_is_refused, guest_teardown),
		cmocka_unit_test_teardown(outlives_the_handle, guest_teardown),
		cmocka_unit_test_teardown(child_sees_the_same, guest_teardown),
		cmocka_unit_test_teardown(purge, guest_teardown),
	};

	return cmocka_run_group_tests_name("mmap", tests, NULL, NULL);
}
