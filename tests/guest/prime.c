// SPDX-License-Identifier: MIT
/*
 * BOs as dma-bufs: one for each BO, who may map it, what it keeps alive, and what of it
 * comes back to this driver, in the same file, another one and another process.
 */
#include "graded.h"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients.h"
#include "dmabuf.h"

#define PAGES		4u
#define SIZE		(PAGES * PAGE)
#define DATA		2048u
#define UNKNOWN_FLAG	(1u << 30)

static void number(volatile uint64_t *words)
{
	for (uint64_t i = 0; i < PAGES; i++)
		words[i * PAGE / 8] = i + 1;
}

/* A BO whose page n begins with the number n + 1, mapped. */
static struct bo numbered_bo(int fd, uint32_t flags)
{
	struct bo bo = guest_bo(fd, SIZE, flags);

	number(bo.cpu);
	return bo;
}

/* Does each page begin with its number? */
static void check_numbers(const volatile uint64_t *words)
{
	for (uint64_t i = 0; i < PAGES; i++)
		assert_int_equal(words[i * PAGE / 8], i + 1);
}

static void unmap(struct bo *bo)
{
	munmap(bo->cpu, bo->size);
	bo->cpu = NULL;
}

static int advise(const struct bo *bo, uint32_t madv, bool *retained)
{
	struct drm_agate_madvise arg = { .handle = bo->handle, .madv = madv };
	int err = guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg);

	if (!err && retained)
		*retained = arg.retained;
	return err;
}

/* A BO has one dma-buf, and this driver finds the BO by it. */
static void one_each(void **state)
{
	int fd = guest_open(), other = guest_open(), first, second;
	struct bo bo = numbered_bo(fd, 0), again;
	volatile uint64_t *words = bo.cpu;
	uint32_t handle;

	(void)state;
	first = dmabuf_export(&bo);
	second = dmabuf_export(&bo);
	assert_int_not_equal(first, second);
	assert_true(dmabuf_same(first, second));
	assert_int_equal(dmabuf_size(first), SIZE);
	assert_true(fcntl(first, F_GETFD) & FD_CLOEXEC);

	/* The same file: the same handle, which one close closes. */
	assert_int_equal(dmabuf_try_import(fd, first, &handle), 0);
	assert_int_equal(handle, bo.handle);
	assert_int_equal(dmabuf_try_import(fd, second, &handle), 0);
	assert_int_equal(handle, bo.handle);

	/* Another file: the same BO, by a name and at an address of its own. */
	again = dmabuf_import(other, first);
	guest_map(&again);
	check_numbers(again.cpu);
	words[1] = 7;
	assert_int_equal(((volatile uint64_t *)again.cpu)[1], 7);
	assert_int_equal(dmabuf_try_import(other, second, &handle), 0);
	assert_int_equal(handle, again.handle);
	assert_int_equal(guest_counter("bos"), 1);
	assert_int_equal(guest_counter("handles"), 2);
	close(second);
	second = dmabuf_export(&again);
	assert_true(dmabuf_same(first, second));

	unmap(&bo);
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	assert_int_equal(guest_close_handle(fd, bo.handle), EINVAL);
	check_numbers(again.cpu);
	guest_destroy(&again);
	close(first);
	close(second);
	close(fd);
	close(other);
}

/* A dma-buf keeps the BO when the handles, the maps and the file are gone. */
static void outlives(void **state)
{
	int fd = guest_open(), dmabuf;
	struct bo bo = numbered_bo(fd, 0);
	void *cpu;

	(void)state;
	dmabuf = dmabuf_export(&bo);
	guest_destroy(&bo);
	close(fd);
	assert_int_equal(guest_counter("handles"), 0);
	assert_int_equal(guest_counter("bos"), 1);
	cpu = dmabuf_map(dmabuf);
	check_numbers(cpu);

	fd = guest_open();
	bo = dmabuf_import(fd, dmabuf);
	close(dmabuf);
	guest_map(&bo);
	check_numbers(bo.cpu);
	guest_job_write64(&bo, PAGE + DATA, 0, bo.va + DATA, 0x600d);
	assert_int_equal(guest_submit(fd, bo.va + PAGE + DATA, 0, &bo.handle, 1, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(((volatile uint64_t *)cpu)[DATA / 8], 0x600d);
	guest_destroy(&bo);
	check_numbers(cpu);
	munmap(cpu, SIZE);
	close(fd);
}

/* Another process: makes a BO, has the GPU write to it, and sends it. */
static _Noreturn void sender(int sock, uint32_t flags)
{
	int fd = guest_open();
	struct bo bo = numbered_bo(fd, flags);
	int dmabuf = dmabuf_export(&bo);

	guest_job_write64(&bo, DATA, 0, bo.va + PAGE + 8, 0xfeed);
	assert_int_equal(guest_submit(fd, bo.va + DATA, 0, &bo.handle, 1, 0), 0);
	/* The job may still run: the receiver waits for it. */
	dmabuf_send(sock, dmabuf);
	kill(getpid(), SIGKILL);
	abort();
}

static void another_process(void **state)
{
	static const uint32_t flags[] = { 0, AGATE_BO_CONTIGUOUS };

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		int socks[2], dmabuf, fd = guest_open();
		struct bo bo;
		pid_t pid;

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid)
			sender(socks[1], flags[i]);
		close(socks[1]);
		dmabuf = dmabuf_receive(socks[0]);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		bo = dmabuf_import(fd, dmabuf);
		close(dmabuf);
		assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
		guest_map(&bo);
		check_numbers(bo.cpu);
		guest_destroy(&bo);
		close(socks[0]);
		close(fd);
		guest_assert_nothing_left();
	}
}

/* mmap() of a part of a dma-buf: 0 or the errno. */
static int try_map(int dmabuf, uint32_t page, uint32_t pages, int prot, int flags, void **cpu)
{
	void *map = mmap(NULL, pages * PAGE, prot, flags, dmabuf, (off_t)page * PAGE);

	if (map == MAP_FAILED)
		return errno;
	if (cpu)
		*cpu = map;
	else
		munmap(map, pages * PAGE);
	return 0;
}

static void maps_of(int fd, uint32_t flags)
{
	const int rw = PROT_READ | PROT_WRITE;
	struct bo bo;
	void *early = NULL, *part = NULL, *late = NULL;
	int dmabuf;

	/* This map is there, and not touched yet, before the BO has a fake offset. */
	assert_int_equal(guest_create(fd, SIZE, flags, &bo), 0);
	dmabuf = dmabuf_export(&bo);
	assert_int_equal(try_map(dmabuf, 0, PAGES, rw, MAP_SHARED, &early), 0);
	assert_int_equal(try_map(dmabuf, 2, 2, rw, MAP_SHARED, &part), 0);
	guest_map(&bo);
	number(bo.cpu);
	check_numbers(early);
	assert_int_equal(((volatile uint64_t *)part)[0], 3);
	assert_int_equal(((volatile uint64_t *)part)[PAGE / 8], 4);
	assert_int_equal(try_map(dmabuf, 0, PAGES, rw, MAP_SHARED, &late), 0);
	check_numbers(late);

	assert_int_equal(try_map(dmabuf, 0, PAGES + 1, rw, MAP_SHARED, NULL), EINVAL);
	assert_int_equal(try_map(dmabuf, PAGES, 1, rw, MAP_SHARED, NULL), EINVAL);
	assert_int_equal(try_map(dmabuf, 3, 2, rw, MAP_SHARED, NULL), EINVAL);
	assert_int_equal(try_map(dmabuf, 0, PAGES, rw, MAP_PRIVATE, NULL), EINVAL);
	assert_int_equal(try_map(dmabuf, 0, PAGES, PROT_READ | PROT_EXEC, MAP_SHARED, NULL), EPERM);

	/* A part of a map, of which the rest was cut off before it was touched. */
	munmap(late, SIZE);
	assert_int_equal(try_map(dmabuf, 1, 3, rw, MAP_SHARED, &late), 0);
	munmap(late, PAGE);
	assert_int_equal(*(volatile uint64_t *)((char *)late + 2 * PAGE), 4);
	munmap((char *)late + PAGE, 2 * PAGE);

	guest_destroy(&bo);
	close(dmabuf);
	check_numbers(early);
	munmap(early, SIZE);
	assert_int_equal(*(volatile uint64_t *)part, 3);
	munmap(part, 2 * PAGE);
}

static void maps(void **state)
{
	int fd = guest_open();

	(void)state;
	maps_of(fd, 0);
	maps_of(fd, AGATE_BO_CONTIGUOUS);
	close(fd);
}

/* What may only be read stays so, in every way round. */
static void read_only(void **state)
{
	const int rw = PROT_READ | PROT_WRITE;
	int fd = guest_open(), dmabuf;
	struct bo bo = numbered_bo(fd, 0), ro;
	void *cpu = NULL;

	(void)state;
	/* An export that gives no right to write. */
	assert_int_equal(dmabuf_try_export(fd, bo.handle, 0, &dmabuf), 0);
	assert_int_equal(try_map(dmabuf, 0, PAGES, rw, MAP_SHARED, NULL), EACCES);
	assert_int_equal(try_map(dmabuf, 0, PAGES, PROT_READ, MAP_SHARED, &cpu), 0);
	check_numbers(cpu);
	assert_int_equal(mprotect(cpu, SIZE, rw), -1);
	assert_int_equal(errno, EACCES);
	munmap(cpu, SIZE);
	close(dmabuf);
	guest_destroy(&bo);

	/* A BO that gives none, whatever its export says. */
	assert_int_equal(guest_create(fd, SIZE, AGATE_BO_CPU_READONLY, &ro), 0);
	dmabuf = dmabuf_export(&ro);
	assert_int_equal(try_map(dmabuf, 0, PAGES, rw, MAP_SHARED, NULL), EACCES);
	assert_int_equal(try_map(dmabuf, 0, PAGES, PROT_READ, MAP_SHARED, &cpu), 0);
	assert_int_equal(mprotect(cpu, SIZE, rw), -1);
	assert_int_equal(*(volatile uint64_t *)cpu, 0);
	munmap(cpu, SIZE);
	close(dmabuf);
	guest_destroy(&ro);
	close(fd);
}

static bool is_idle(int dmabuf, short events)
{
	struct pollfd pollfd = { .fd = dmabuf, .events = events };
	int n = poll(&pollfd, 1, 0);

	assert_true(n >= 0);
	return n;
}

/* The dma-buf tells about jobs, and a CPU that begins an access waits for them. */
static void jobs(void **state)
{
	int fd = guest_open(), timeline = guest_timeline(), dmabuf;
	uint32_t gate = guest_timeline_syncobj(fd, timeline);
	struct bo bo = guest_bo(fd, SIZE, 0);
	const uint32_t write = AGATE_SUBMIT_BO_READ | AGATE_SUBMIT_BO_WRITE;
	volatile uint64_t *words;
	pid_t pid;

	(void)state;
	dmabuf = dmabuf_export(&bo);
	words = dmabuf_map(dmabuf);
	dmabuf_sync(dmabuf, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);
	guest_job_write64(&bo, 0, 0, bo.va + DATA, 9);
	dmabuf_sync(dmabuf, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
	assert_true(is_idle(dmabuf, POLLIN) && is_idle(dmabuf, POLLOUT));
	assert_int_equal(guest_submit_bos(fd, bo.va, 0, &bo.handle, &write, 1, gate), 0);
	assert_false(is_idle(dmabuf, POLLIN) || is_idle(dmabuf, POLLOUT));
	/* Another process lets the job go, while this one waits. */
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		usleep(50000);
		guest_timeline_advance(timeline);
		_exit(0);
	}
	dmabuf_sync(dmabuf, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ);
	assert_int_equal(words[DATA / 8], 9);
	dmabuf_sync(dmabuf, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(is_idle(dmabuf, POLLIN) && is_idle(dmabuf, POLLOUT));
	munmap((void *)words, SIZE);
	guest_destroy(&bo);
	close(dmabuf);
	close(timeline);
	close(fd);
}

/* The shrinker takes only a part of the unneeded pages each time. */
static bool purged_under_pressure(const struct bo *bo)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	bool retained = true;

	assert_true(fd >= 0);
	for (int i = 0; i < 100 && retained; i++) {
		assert_int_equal(write(fd, "2", 1), 1);
		if (bo)
			assert_int_equal(advise(bo, AGATE_MADV_WILLNEED, &retained), 0);
		if (bo && retained)
			advise(bo, AGATE_MADV_DONTNEED, NULL);
	}
	close(fd);
	return !retained;
}

/* A dma-buf keeps the contents, also of a BO that was not needed when it was exported. */
static void not_purged(void **state)
{
	int fd = guest_open(), dmabuf;
	struct bo bo = numbered_bo(fd, 0);
	void *cpu;

	(void)state;
	assert_int_equal(advise(&bo, AGATE_MADV_DONTNEED, NULL), 0);
	dmabuf = dmabuf_export(&bo);
	assert_int_equal(advise(&bo, AGATE_MADV_DONTNEED, NULL), EINVAL);
	guest_destroy(&bo);
	purged_under_pressure(NULL);
	cpu = dmabuf_map(dmabuf);
	check_numbers(cpu);
	munmap(cpu, SIZE);

	/* Without it, the BO is as any other again; and a purged one has none. */
	bo = dmabuf_import(fd, dmabuf);
	assert_int_equal(advise(&bo, AGATE_MADV_DONTNEED, NULL), EINVAL);
	guest_destroy(&bo);
	close(dmabuf);
	bo = numbered_bo(fd, 0);
	assert_int_equal(advise(&bo, AGATE_MADV_DONTNEED, NULL), 0);
	assert_true(purged_under_pressure(&bo));
	assert_int_equal(dmabuf_try_export(fd, bo.handle, DRM_RDWR, &dmabuf), EFAULT);
	guest_destroy(&bo);
	close(fd);
}

static void refused(void **state)
{
	int fd = guest_open(), dmabuf, event = eventfd(0, EFD_CLOEXEC);
	struct rlimit limit, none;
	struct bo bo = guest_bo(fd, SIZE, 0), heap;
	uint32_t handle;

	(void)state;
	assert_int_equal(guest_create(fd, SIZE, AGATE_BO_HEAP | AGATE_BO_NOEXEC, &heap), 0);
	assert_int_equal(dmabuf_try_export(fd, heap.handle, DRM_RDWR, &dmabuf), EINVAL);
	assert_int_equal(dmabuf_try_export(fd, 0, DRM_RDWR, &dmabuf), ENOENT);
	assert_int_equal(dmabuf_try_export(fd, 12345, DRM_RDWR, &dmabuf), ENOENT);
	assert_int_equal(dmabuf_try_export(fd, UINT32_MAX, DRM_RDWR, &dmabuf), ENOENT);
	assert_int_equal(dmabuf_try_export(fd, bo.handle, UNKNOWN_FLAG, &dmabuf), EINVAL);
	assert_int_equal(dmabuf_try_import(fd, -1, &handle), EBADF);
	assert_int_equal(dmabuf_try_import(fd, 1000, &handle), EBADF);
	assert_int_equal(dmabuf_try_import(fd, event, &handle), EINVAL);
	assert_int_equal(dmabuf_try_import(fd, fd, &handle), EINVAL);
	/* The uAPI lets no client say that a BO was imported. */
	assert_int_equal(guest_create(fd, SIZE, 1u << 31, &heap), EINVAL);

	/* No number left for the file: the next export works. */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = (rlim_t)event + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(dmabuf_try_export(fd, bo.handle, DRM_RDWR, &dmabuf), EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	dmabuf = dmabuf_export(&bo);
	close(dmabuf);
	guest_destroy(&bo);
	close(event);
	close(fd);
}

/* ---- Races ------------------------------------------------------------- */

#define TURNS	300

static int racing_fd, racing_dmabuf;

/* Threads of one file import the same dma-buf, and close each other's handle. */
static void *import_and_close(void *arg)
{
	long good = 0;

	(void)arg;
	for (int i = 0; i < TURNS; i++) {
		uint32_t handle;
		int dmabuf = -1, err = dmabuf_try_import(racing_fd, racing_dmabuf, &handle);

		if (!err) {
			err = dmabuf_try_export(racing_fd, handle, DRM_RDWR, &dmabuf);
			if (!err && !dmabuf_same(dmabuf, racing_dmabuf))
				return (void *)-1l;
			if (!err)
				close(dmabuf);
			guest_close_handle(racing_fd, handle);
		}
		/* Somebody closed the handle in between. */
		good += !err || err == ENOENT;
	}
	return (void *)good;
}

static void races(void **state)
{
	int fd = guest_open();
	struct bo bo = numbered_bo(fd, 0);

	(void)state;
	racing_dmabuf = dmabuf_export(&bo);
	racing_fd = guest_open();
	clients_run(4, import_and_close, TURNS);
	check_numbers(bo.cpu);
	close(racing_fd);
	close(racing_dmabuf);
	guest_destroy(&bo);
	close(fd);
}

/* ---- The end ----------------------------------------------------------- */

/* The GPU goes, the dma-buf stays, and with it the module's code. */
static void device_goes(void **state)
{
	static const uint32_t flags[] = { 0, AGATE_BO_CONTIGUOUS };
	int fd = guest_open(), dmabuf[2];
	void *cpu[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bo bo = numbered_bo(fd, flags[i]);

		dmabuf[i] = dmabuf_export(&bo);
		cpu[i] = dmabuf_map(dmabuf[i]);
		guest_destroy(&bo);
	}
	close(fd);
	assert_int_equal(device_unbind(), 0);
	assert_int_not_equal(module_unload(), 0);
	for (int i = 0; i < 2; i++) {
		void *late = dmabuf_map(dmabuf[i]);

		check_numbers(cpu[i]);
		check_numbers(late);
		munmap(late, SIZE);
		close(dmabuf[i]);
		check_numbers(cpu[i]);
		munmap(cpu[i], SIZE);
	}
	assert_int_equal(device_bind(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(one_each, guest_teardown),
		cmocka_unit_test_teardown(outlives, guest_teardown),
		cmocka_unit_test_teardown(another_process, guest_teardown),
		cmocka_unit_test_teardown(maps, guest_teardown),
		cmocka_unit_test_teardown(read_only, guest_teardown),
		cmocka_unit_test_teardown(jobs, guest_teardown),
		cmocka_unit_test_teardown(not_purged, guest_teardown),
		cmocka_unit_test_teardown(refused, guest_teardown),
		cmocka_unit_test_teardown(races, guest_teardown),
		cmocka_unit_test_teardown(device_goes, guest_teardown),
	};

	return cmocka_run_group_tests_name("prime", tests, NULL, NULL);
}
