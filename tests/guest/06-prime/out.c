// SPDX-License-Identifier: MIT
/* BOs as dma-bufs: one for each BO, what it keeps, and what of it comes back. */
#include "prime.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define RW	(PROT_READ | PROT_WRITE)

void test_one_each(void **state)
{
	int fd = prime_open(), first, second;
	struct bo bo = numbered_bo(fd, 0);

	(void)state;
	first = export_bo(&bo);
	second = export_bo(&bo);
	rule("a BO has one dma-buf, of the BO's size");
	check_true(dmabuf_same(first, second), "the same dma-buf twice", "two dma-bufs");
	check_equal((int64_t)dmabuf_size(first), SIZE, "bytes of the dma-buf");
	guest_destroy(&bo);
	close(first);
	close(second);
	close(fd);
	check_gone();
}

void test_self(void **state)
{
	int fd = prime_open(), other = guest_open(), dmabuf;
	struct bo bo = numbered_bo(fd, 0), again;

	(void)state;
	dmabuf = export_bo(&bo);
	again = import_bo(fd, dmabuf);
	rule("a dma-buf of the same device becomes the exported BO, in its file by its handle");
	check_equal(again.handle, bo.handle, "the handle");
	again = import_bo(other, dmabuf);
	rule("in another file the dma-buf of the same device is the same BO too");
	check_more("bos", 1, "BOs");
	check_more("handles", 2, "handles");
	guest_destroy(&bo);
	close(dmabuf);
	close(fd);
	guest_map(&again);
	check_numbers(again.cpu, "in another file");
	guest_destroy(&again);
	close(other);
	check_gone();
}

int advise(const struct bo *bo, uint32_t madv)
{
	struct drm_agate_madvise arg = { .handle = bo->handle, .madv = madv };

	return guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg);
}

/* A BO of an address space uses that space's reservation. */
static void private_bo(const struct bo *bo)
{
	int dmabuf, err;

	make_private(true);
	err = dmabuf_try_export(bo->fd, bo->handle, DRM_RDWR, &dmabuf);
	make_private(false);
	rule("a BO whose ttm.root is set, as one with a vm_id, has no dma-buf: EPERM");
	check_errno(err, EPERM, "HANDLE_TO_FD");
}

static void purge(const struct bo *bo)
{
	check_errno(advise(bo, AGATE_MADV_DONTNEED), 0, "MADVISE with DONTNEED");
	shrink();
	check_true(guest_debugfs_says("bos", "madv=purged"), "a BO that the shrinker purges",
		   "its contents stay");
}

void test_refused(void **state)
{
	int fd = prime_open(), dmabuf;
	struct bo heap, bo = numbered_bo(fd, 0);

	(void)state;
	rule("a BO that is not EXPORTABLE has no dma-buf: EINVAL");
	check_errno(guest_create(fd, 2u << 20, AGATE_BO_HEAP | AGATE_BO_NOEXEC, &heap), 0,
		    "CREATE_BO of a heap");
	check_errno(dmabuf_try_export(fd, heap.handle, DRM_RDWR, &dmabuf), EINVAL,
		    "HANDLE_TO_FD of a heap");
	check_errno(guest_close_handle(fd, heap.handle), 0, "GEM_CLOSE");
	private_bo(&bo);
	rule("a BO whose contents are gone has no dma-buf: EFAULT");
	purge(&bo);
	check_errno(dmabuf_try_export(fd, bo.handle, DRM_RDWR, &dmabuf), EFAULT,
		    "HANDLE_TO_FD of a purged BO");
	guest_destroy(&bo);
	bo = numbered_bo(fd, 0);
	rule("an export hands on the error of agate_backing_hold(), whichever that is");
	inject_fail("agate_backing_hold", 1, ENFILE);
	check_errno(dmabuf_try_export(fd, bo.handle, DRM_RDWR, &dmabuf), ENFILE,
		    "HANDLE_TO_FD when agate_backing_hold() gives ENFILE");
	inject_clear();
	close(export_bo(&bo));
	guest_destroy(&bo);
	close(fd);
	check_gone();
}

void test_outlives(void **state)
{
	int fd = prime_open(), dmabuf;
	struct bo bo = numbered_bo(fd, 0);
	void *cpu = NULL;

	(void)state;
	dmabuf = export_bo(&bo);
	guest_destroy(&bo);
	close(fd);
	rule("a dma-buf keeps the BO when its handles and its file are gone");
	check_more("bos", 1, "BOs");
	check_errno(try_map(dmabuf, RW, MAP_SHARED, &cpu), 0, "mmap() of the dma-buf");
	check_numbers(cpu, "by its dma-buf");
	close(dmabuf);
	rule("a mapping keeps the BO when its dma-buf is closed");
	check_numbers(cpu, "after close()");
	munmap(cpu, SIZE);
	check_gone();
}

void test_maps(void **state)
{
	int fd = prime_open(), dmabuf, err;
	void *early = NULL, *part;
	struct bo bo;

	(void)state;
	/* Nobody has asked for the BO's fake offset yet. */
	check_errno(guest_create(fd, SIZE, 0, &bo), 0, "CREATE_BO");
	inject_fail("drm_vma_offset_add", 1, ENOSPC);
	err = dmabuf_try_export(fd, bo.handle, DRM_RDWR, &dmabuf);
	if (!err) {
		err = try_map(dmabuf, RW, MAP_SHARED, NULL);
		close(dmabuf);
	}
	inject_clear();
	rule("when the BO can get no fake offset, that error says that nobody can map it");
	check_errno(err, ENOSPC, "HANDLE_TO_FD, or mmap() of the dma-buf");
	dmabuf = export_bo(&bo);
	rule("a dma-buf is mapped although its BO never was");
	check_errno(try_map(dmabuf, RW, MAP_SHARED, &early), 0, "mmap() of the dma-buf");
	guest_map(&bo);
	number_pages(bo.cpu);
	check_numbers(early, "mapped before the BO was");
	rule("a mapping may begin inside the dma-buf, and not end beyond it");
	part = mmap(NULL, 2 * PAGE, RW, MAP_SHARED, dmabuf, 2 * PAGE);
	check_errno(part == MAP_FAILED ? errno : 0, 0, "mmap() from page 2 on");
	check_equal(*(volatile uint8_t *)part, 0x12, "the first byte of it");
	munmap(part, 2 * PAGE);
	part = mmap(NULL, 2 * PAGE, RW, MAP_SHARED, dmabuf, 3 * PAGE);
	check_errno(part == MAP_FAILED ? errno : 0, EINVAL, "mmap() of a page too much");
	munmap(early, SIZE);
	guest_destroy(&bo);
	close(dmabuf);
	close(fd);
	check_gone();
}

/* CPU_READONLY is about CPUs, and takes no right from other drivers. */
static void all_rights(int fd)
{
	int dmabuf, mode;
	struct bo bo;

	check_errno(guest_create(fd, SIZE, AGATE_BO_CPU_READONLY, &bo), 0,
		    "CREATE_BO with CPU_READONLY");
	dmabuf = export_bo(&bo);
	mode = fcntl(dmabuf, F_GETFL) & O_ACCMODE;
	rule("the flags of a dma-buf are those of the caller, also for a BO that is CPU_READONLY: "
	     "an importer's device may write to it");
	check_true(mode == O_RDWR, "HANDLE_TO_FD with DRM_RDWR: a file to read and write",
		   "a file that is only read");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
}

/* A VMA of the file of another driver, which maps the dma-buf in it by dma_buf_mmap(). */
static void mapped_by_another(int fd)
{
	struct bo bo = numbered_bo(fd, 0);
	int dmabuf = export_bo(&bo), mapper = foreign_mapper(dmabuf), err;
	void *cpu = NULL;

	rule("another driver maps a dma-buf with DRM_RDWR in a VMA of its own file");
	check_errno(try_map(mapper, RW, MAP_SHARED, &cpu), 0, "mmap() to read and write");
	check_numbers(cpu, "mapped by another driver");
	((volatile uint8_t *)cpu)[PAGE] = 0x55;
	check_equal(((volatile uint8_t *)bo.cpu)[PAGE], 0x55, "the byte that was written");
	munmap(cpu, SIZE);
	close(mapper);
	close(dmabuf);
	guest_destroy(&bo);
	bo = numbered_bo(fd, 0);
	check_errno(dmabuf_try_export(fd, bo.handle, 0, &dmabuf), 0,
		    "HANDLE_TO_FD without DRM_RDWR");
	mapper = foreign_mapper(dmabuf);
	err = try_map(mapper, RW, MAP_SHARED, NULL);
	rule("a dma-buf without DRM_RDWR is not mapped to write in a VMA of another driver's file, "
	     "either");
	check_true(err, "mmap() to read and write, by dma_buf_mmap(): an error", "success");
	check_errno(try_map(mapper, PROT_READ, MAP_SHARED, &cpu), 0, "mmap() to read");
	check_numbers(cpu, "mapped by another driver to read");
	rule("a dma-buf without DRM_RDWR, mapped to read in a VMA of another driver's file: "
	     "mprotect() does not make it a map to write");
	check_errno(mprotect(cpu, SIZE, RW) ? errno : 0, EACCES, "mprotect() to read and write");
	munmap(cpu, SIZE);
	guest_destroy(&bo);
	close(mapper);
	close(dmabuf);
}

void test_read_only(void **state)
{
	int fd = prime_open(), dmabuf;
	struct bo bo = numbered_bo(fd, 0);
	void *cpu = NULL;

	(void)state;
	rule("an export without DRM_RDWR gives no right to write");
	check_errno(dmabuf_try_export(fd, bo.handle, 0, &dmabuf), 0,
		    "HANDLE_TO_FD without DRM_RDWR");
	check_errno(try_map(dmabuf, RW, MAP_SHARED, NULL), EACCES, "mmap() to read and write");
	check_errno(try_map(dmabuf, PROT_READ, MAP_SHARED, &cpu), 0, "mmap() to read");
	check_numbers(cpu, "mapped to read");
	munmap(cpu, SIZE);
	guest_destroy(&bo);
	close(dmabuf);
	all_rights(fd);
	mapped_by_another(fd);
	close(fd);
	check_gone();
}

/* Exported while nobody needed them, the contents stay; without the dma-buf they may go. */
static void contents(int fd)
{
	struct bo bo = numbered_bo(fd, 0);
	void *cpu = NULL;
	int dmabuf;

	rule("an unneeded BO can be exported, and keeps its contents while the dma-buf lives");
	check_errno(advise(&bo, AGATE_MADV_DONTNEED), 0, "MADVISE with DONTNEED");
	dmabuf = export_bo(&bo);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	shrink();
	check_errno(try_map(dmabuf, PROT_READ, MAP_SHARED, &cpu), 0, "mmap() of the dma-buf");
	check_numbers(cpu, "after the shrinker's work");
	munmap(cpu, SIZE);
	close(dmabuf);
	rule("when the dma-buf goes, it lets the contents go: then the shrinker may take them");
	shrink();
	check_true(guest_debugfs_says("bos", "madv=purged"), "a BO that is purged",
		   "its contents stay");
	munmap(bo.cpu, SIZE);
}

void test_advice(void **state)
{
	int fd = prime_open(), dmabuf;
	struct bo bo = numbered_bo(fd, 0), other;

	(void)state;
	dmabuf = export_bo(&bo);
	rule("while its dma-buf lives, a BO cannot be declared unneeded");
	check_errno(advise(&bo, AGATE_MADV_DONTNEED), EINVAL, "MADVISE of an exported BO");
	guest_destroy(&bo);
	close(dmabuf);
	contents(fd);
	rule("an export that fails holds nothing: the BO can still be declared unneeded");
	check_errno(guest_create(fd, SIZE, 0, &other), 0, "CREATE_BO");
	inject_fail("drm_gem_dmabuf_export", 1, ENFILE);
	check_errno(dmabuf_try_export(fd, other.handle, DRM_RDWR, &dmabuf), ENFILE,
		    "HANDLE_TO_FD when drm_gem_dmabuf_export() gives ENFILE");
	inject_clear();
	check_errno(advise(&other, AGATE_MADV_DONTNEED), 0, "MADVISE of a BO without a dma-buf");
	check_errno(guest_close_handle(fd, other.handle), 0, "GEM_CLOSE");
	close(fd);
	check_gone();
}
