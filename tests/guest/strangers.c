// SPDX-License-Identifier: MIT
/*
 * BOs shared with drivers that nobody here wrote: vgem makes and takes them, udmabuf makes
 * them of a process's memory, and the dma-buf heaps of the system's.
 */
#include "graded.h"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dmabuf.h"

#define PAGES		16u
#define SIZE		(PAGES * PAGE)
#define WIDTH		64u
#define HEIGHT		(SIZE / WIDTH / 4)
#define DATA		2048u

static void number_pages(volatile uint64_t *words, uint64_t first)
{
	for (uint64_t i = 0; i < PAGES; i++)
		words[i * PAGE / 8] = first + i;
}

static void check_pages(const volatile uint64_t *words, uint64_t first)
{
	for (uint64_t i = 0; i < PAGES; i++)
		assert_int_equal(words[i * PAGE / 8], first + i);
}

/* Another driver's BO becomes this one's; only the dma-buf's owner keeps the file. */
static struct bo import_from(int fd, const struct bo *theirs, uint32_t flags)
{
	struct bo bo;
	int dmabuf;

	assert_int_equal(dmabuf_try_export(theirs->fd, theirs->handle, flags, &dmabuf), 0);
	bo = dmabuf_import(fd, dmabuf);
	close(dmabuf);
	return bo;
}

/* One job turns the number on each page into the page's, behind it. */
static void copy_numbers(struct bo *jobs, const struct bo *bo)
{
	const uint32_t handles[] = { jobs->handle, bo->handle };

	for (uint32_t i = 0; i < PAGES; i++) {
		const struct agate_compute_payload copy = {
			.op = AGATE_COMPUTE_COPY, .dst = bo->va + i * PAGE + 64,
			.src = bo->va + i * PAGE, .size = 8,
		};

		guest_job(jobs, i * 128, AGATE_JOB_COMPUTE, i + 1 < PAGES ?
			  jobs->va + (i + 1) * 128 : 0, &copy, sizeof(copy));
	}
	assert_int_equal(guest_submit(jobs->fd, jobs->va, 0, handles, 2, 0), 0);
	assert_int_equal(guest_wait(jobs->fd, bo->handle, FOREVER), 0);
}

/* The GPU works in memory of another driver, and every side sees the same bytes. */
static void imported(void **state)
{
	int fd = guest_open(), vgem = stranger_open("vgem"), dmabuf;
	struct bo jobs = guest_bo(fd, PAGE, 0), theirs = stranger_bo(vgem, WIDTH, HEIGHT), bo;
	volatile uint64_t *words;
	uint32_t handle;

	(void)state;
	assert_int_equal(theirs.size, SIZE);
	number_pages(theirs.cpu, 0x100);
	bo = import_from(fd, &theirs, DRM_RDWR);
	assert_true(guest_debugfs_says("bos", "imported"));
	assert_true(guest_debugfs_says("bos", " resident=0 "));
	copy_numbers(&jobs, &bo);
	check_pages((volatile uint64_t *)theirs.cpu + 8, 0x100);
	guest_map(&bo);
	words = bo.cpu;
	check_pages(words, 0x100);
	number_pages(words, 0x200);
	check_pages(theirs.cpu, 0x200);

	/* The same dma-buf comes out again, and finds the same handle. */
	dmabuf = dmabuf_export(&bo);
	assert_int_equal(dmabuf_try_import(fd, dmabuf, &handle), 0);
	assert_int_equal(handle, bo.handle);
	assert_int_equal(dmabuf_try_import(vgem, dmabuf, &handle), 0);
	assert_int_equal(handle, theirs.handle);
	close(dmabuf);

	/* It outlives its owner's handles and file. */
	munmap(theirs.cpu, theirs.size);
	assert_int_equal(guest_close_handle(vgem, theirs.handle), 0);
	close(vgem);
	copy_numbers(&jobs, &bo);
	check_pages(words + 8, 0x200);

	/* A map outlives the BO. */
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	guest_destroy(&jobs);
	close(fd);
	check_pages(words, 0x200);
	munmap(bo.cpu, SIZE);
	stranger_unload("vgem");
}

/* mmap() of a part of a BO: 0 or the errno. */
static int try_map(const struct bo *bo, uint64_t skip, size_t size, int prot, int flags, void **cpu)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };
	void *map;

	assert_int_equal(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MMAP_BO, &arg), 0);
	map = mmap(NULL, size, prot, flags, bo->fd, (off_t)(arg.offset + skip));
	if (map == MAP_FAILED)
		return errno;
	*cpu = map;
	return 0;
}

/* A dma-buf that gives no right to write gives none to the GPU, either. */
static void read_only(void **state)
{
	const int rw = PROT_READ | PROT_WRITE;
	int fd = guest_open(), vgem = stranger_open("vgem");
	struct bo jobs = guest_bo(fd, PAGE, 0), theirs = stranger_bo(vgem, WIDTH, HEIGHT), bo;
	const uint32_t sync = guest_syncobj(fd);
	uint32_t handles[2];
	void *cpu = NULL;

	(void)state;
	number_pages(theirs.cpu, 1);
	bo = import_from(fd, &theirs, 0);
	assert_int_equal(try_map(&bo, 0, SIZE, rw, MAP_SHARED, &cpu), EACCES);
	assert_int_equal(try_map(&bo, 0, SIZE, PROT_READ, MAP_PRIVATE, &cpu), EINVAL);
	assert_int_equal(try_map(&bo, 0, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, &cpu), EPERM);
	assert_int_equal(try_map(&bo, 0, SIZE + PAGE, PROT_READ, MAP_SHARED, &cpu), EINVAL);
	assert_int_equal(try_map(&bo, PAGE, PAGE, PROT_READ, MAP_SHARED, &cpu), EINVAL);
	assert_int_equal(try_map(&bo, 0, SIZE, PROT_READ, MAP_SHARED, &cpu), 0);
	check_pages(cpu, 1);
	assert_int_equal(mprotect(cpu, SIZE, rw), -1);
	assert_int_equal(errno, EACCES);
	munmap(cpu, SIZE);

	handles[0] = jobs.handle;
	handles[1] = bo.handle;
	guest_job_write64(&jobs, 0, 0, bo.va, 7);
	assert_int_equal(guest_submit(fd, jobs.va, 0, handles, 2, sync), 0);
	assert_int_equal(guest_fence_end(guest_sync_file(fd, sync)), -EINVAL);
	check_pages(theirs.cpu, 1);
	guest_destroy(&bo);
	guest_destroy(&jobs);
	guest_destroy(&theirs);
	close(vgem);
	close(fd);
}

/*
 * A job that writes the BO waits for whatever the other driver does with it; one that reads
 * it, for its writers.  @handle is vgem's name for it.
 */
static void check_waits(int vgem, uint32_t handle, const struct bo *bo)
{
	struct bo jobs = guest_bo(bo->fd, PAGE, 0);
	const uint32_t handles[] = { jobs.handle, bo->handle };

	for (uint32_t fence_writes = 0; fence_writes < 2; fence_writes++)
		for (uint32_t job_writes = 0; job_writes < 2; job_writes++) {
			const uint32_t flags[] = {
				AGATE_SUBMIT_BO_READ | AGATE_SUBMIT_BO_WRITE,
				job_writes ? AGATE_SUBMIT_BO_WRITE : AGATE_SUBMIT_BO_READ,
			};
			uint32_t fence = stranger_attach_fence(vgem, handle, fence_writes);
			volatile uint64_t *word = (volatile uint64_t *)((char *)jobs.cpu + DATA);

			*word = 0;
			guest_job_write64(&jobs, 0, 0, jobs.va + DATA, 5);
			assert_int_equal(guest_submit_bos(bo->fd, jobs.va, 0, handles, flags, 2, 0),
					 0);
			if (fence_writes || job_writes) {
				assert_int_equal(guest_wait(bo->fd, jobs.handle,
							    guest_deadline(100)), ETIMEDOUT);
				assert_int_equal(*word, 0);
			} else {
				assert_int_equal(guest_wait(bo->fd, jobs.handle, FOREVER), 0);
			}
			assert_int_equal(stranger_signal_fence(vgem, fence), 0);
			assert_int_equal(guest_wait(bo->fd, bo->handle, FOREVER), 0);
			assert_int_equal(*word, 5);
		}
	guest_destroy(&jobs);
}

/* The exporter's reservation is the importer's, in both directions. */
static void fences(void **state)
{
	int fd = guest_open(), vgem = stranger_open("vgem"), dmabuf;
	struct bo theirs = stranger_bo(vgem, WIDTH, HEIGHT), bo;
	uint32_t handle;

	(void)state;
	bo = import_from(fd, &theirs, DRM_RDWR);
	check_waits(vgem, theirs.handle, &bo);
	guest_destroy(&bo);
	guest_destroy(&theirs);

	bo = guest_bo(fd, SIZE, 0);
	dmabuf = dmabuf_export(&bo);
	assert_int_equal(dmabuf_try_import(vgem, dmabuf, &handle), 0);
	close(dmabuf);
	check_waits(vgem, handle, &bo);
	/* vgem keeps the BO until it closes its handle. */
	guest_destroy(&bo);
	assert_int_equal(guest_counter("handles"), 0);
	assert_true(guest_debugfs_says("bos", "handles=0"));
	assert_int_equal(guest_close_handle(vgem, handle), 0);
	close(vgem);
	close(fd);
}

/* The kernel maps the newest BO for itself; an exporter that cannot do so says EINVAL. */
static bool kernel_maps(bool cannot)
{
	static const char file[] = "/sys/kernel/debug/agate_vmap";

	return guest_file_says(file, "0 1 0\n") || (cannot && guest_file_says(file, "-22 0 0\n"));
}

/*
 * The GPU and the CPU work on memory that is mapped at @cpu.  @no_vmap: its driver need not
 * be able to map it for the kernel.
 */
static struct bo imported_memory(int fd, int dmabuf, void *cpu, bool no_vmap)
{
	struct bo jobs = guest_bo(fd, PAGE, 0), bo;
	void *map = NULL;

	inject_load();
	number_pages(cpu, 0x300);
	bo = dmabuf_import(fd, dmabuf);
	copy_numbers(&jobs, &bo);
	check_pages((volatile uint64_t *)cpu + 8, 0x300);
	assert_true(kernel_maps(no_vmap));
	/* Through its own file, and through the GPU's. */
	map = dmabuf_map(dmabuf);
	check_pages(map, 0x300);
	munmap(map, SIZE);
	assert_int_equal(try_map(&bo, 0, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, &map), 0);
	check_pages(map, 0x300);
	munmap(map, SIZE);
	guest_destroy(&jobs);
	return bo;
}

/* A process's own memory; Linux 6.1's driver for it cannot map it for the kernel. */
static void memory(void **state)
{
	int fd = guest_open(), dmabuf;
	void *cpu = NULL;
	struct bo bo;

	(void)state;
	dmabuf = dmabuf_of_memory(SIZE, &cpu);
	bo = imported_memory(fd, dmabuf, cpu, true);
	dmabuf_sync(dmabuf, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);
	dmabuf_sync(dmabuf, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
	close(dmabuf);
	guest_destroy(&bo);
	munmap(cpu, SIZE);
	close(fd);
}

/* A buffer of a dma-buf heap. */
static int heap_buffer(const char *heap)
{
	struct dma_heap_allocation_data arg = { .len = SIZE, .fd_flags = O_RDWR | O_CLOEXEC };
	int fd = open(heap, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(guest_ioctl(fd, DMA_HEAP_IOCTL_ALLOC, &arg), 0);
	close(fd);
	return (int)arg.fd;
}

/*
 * The system's memory, in single pages and in one piece.  With CONFIG_DMABUF_DEBUG Linux 6.1's
 * heaps cannot sync what somebody has imported, so the CPU's access ends before that.
 */
static void dma_heaps(void **state)
{
	static const char *const heaps[] = { "/dev/dma_heap/system", "/dev/dma_heap/reserved" };

	(void)state;
	for (size_t i = 0; i < sizeof(heaps) / sizeof(heaps[0]); i++) {
		int fd = guest_open(), dmabuf = heap_buffer(heaps[i]);
		volatile uint64_t *words = dmabuf_map(dmabuf);
		struct bo bo;

		dmabuf_sync(dmabuf, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);
		for (uint32_t word = 0; word < SIZE / 8; word++)
			assert_int_equal(words[word], 0);
		dmabuf_sync(dmabuf, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
		bo = imported_memory(fd, dmabuf, (void *)words, false);
		assert_true(guest_debugfs_says("bos", "imported"));
		if (i)
			assert_true(guest_debugfs_says("bos", "contiguous"));
		/* The import keeps the memory. */
		munmap((void *)words, SIZE);
		close(dmabuf);
		guest_map(&bo);
		check_pages((volatile uint64_t *)bo.cpu + 8, 0x300);
		guest_destroy(&bo);
		close(fd);
	}
}

/* The GPU goes while it uses memory of others: they keep it. */
static void device_goes(void **state)
{
	int fd = guest_open(), vgem = stranger_open("vgem");
	struct bo jobs = guest_bo(fd, PAGE, 0), theirs = stranger_bo(vgem, WIDTH, HEIGHT), bo;

	(void)state;
	number_pages(theirs.cpu, 0x400);
	bo = import_from(fd, &theirs, DRM_RDWR);
	guest_map(&bo);
	copy_numbers(&jobs, &bo);
	assert_int_equal(device_unbind(), 0);
	check_pages(theirs.cpu, 0x400);
	check_pages(bo.cpu, 0x400);
	munmap(jobs.cpu, jobs.size);
	munmap(bo.cpu, bo.size);
	close(fd);
	check_pages(theirs.cpu, 0x400);
	guest_destroy(&theirs);
	close(vgem);
	stranger_unload("vgem");
	assert_int_equal(device_bind(), 0);
}

/* Make BOs of vgem's until one is scattered, or not; the newest one that is left. */
static struct bo vgem_bo(int vgem, int fd, uint32_t pages, bool scattered)
{
	for (int i = 0; i < 100; i++) {
		struct bo theirs = stranger_bo(vgem, PAGE / 4, pages), bo;
		bool one_piece;

		bo = import_from(fd, &theirs, DRM_RDWR);
		one_piece = guest_debugfs_says("bos", "contiguous");
		guest_destroy(&bo);
		if (one_piece != scattered)
			return theirs;
		guest_destroy(&theirs);
	}
	fail_msg("no such BO");
	return (struct bo){ 0 };
}

/* Where memory in one piece is asked for, the driver takes no other. */
static void contiguous(void **state)
{
	int vgem, fd, dmabuf;
	struct bo pieces, one, bo;
	uint32_t handle;

	(void)state;
	vgem = stranger_open("vgem");
	fd = guest_open();
	pieces = vgem_bo(vgem, fd, 256, true);
	one = vgem_bo(vgem, fd, 1, false);
	close(fd);
	guest_assert_nothing_left();
	assert_int_equal(module_unload(), 0);
	assert_int_equal(module_load("contiguous_imports=1"), 0);
	fd = guest_open();
	assert_int_equal(dmabuf_try_export(vgem, pieces.handle, DRM_RDWR, &dmabuf), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(dmabuf_try_import(fd, dmabuf, &handle), EINVAL);
	close(dmabuf);
	bo = import_from(fd, &one, DRM_RDWR);
	guest_destroy(&bo);
	guest_destroy(&one);
	guest_destroy(&pieces);
	close(fd);
	guest_assert_nothing_left();
	close(vgem);
	stranger_unload("vgem");
	assert_int_equal(module_unload(), 0);
	assert_int_equal(module_load("timeout_ms=10000"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(imported, guest_teardown),
		cmocka_unit_test_teardown(read_only, guest_teardown),
		cmocka_unit_test_teardown(fences, guest_teardown),
		cmocka_unit_test_teardown(memory, guest_teardown),
		cmocka_unit_test_teardown(dma_heaps, guest_teardown),
		cmocka_unit_test_teardown(device_goes, guest_teardown),
		cmocka_unit_test(contiguous),
	};
	size_t count = sizeof(tests) / sizeof(tests[0]);

	if (dma_is_bounced()) {
		printf("# without the test `contiguous`: bouncing tears memory apart\n");
		count--;
	}
	return _cmocka_run_group_tests("strangers", tests, count, NULL, NULL);
}
