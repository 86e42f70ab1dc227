// SPDX-License-Identifier: MIT
/* Lab 08: export and import: one BO for each handle, one handle for each dma-buf. */
#include "bo.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "dmabuf.h"

#define DELAY		AGATE_ALLOC_DELAY_MMAP
#define SIZE		(3 * PAGE)

static struct agate_bo *import_fd(struct agate_device *dev, int fd)
{
	struct agate_bo *bo = NULL;

	check_lib(agate_bo_import(dev, fd, &bo), 0, "agate_bo_import()");
	check_true(bo, "agate_bo_import() returns the BO", "it succeeded, and returned none");
	return bo;
}

static int export_bo(struct agate_bo *bo)
{
	int fd = -1;

	check_lib(agate_bo_export(bo, &fd), 0, "agate_bo_export()");
	check_true(fd >= 0, "a file descriptor", "none");
	return fd;
}

/* A dma-buf that the device's file did not make: another file's BO, which is open for as long. */
static int foreign(int *file, uint64_t size)
{
	struct bo bo;

	*file = guest_open();
	bo = guest_bo(*file, size, 0);
	memset(bo.cpu, 0x77, size);
	munmap(bo.cpu, size);
	return dmabuf_export(&bo);
}

void test_export(void **state)
{
	struct agate_device *dev = lib_open();
	struct agate_bo *bo = lib_bo(dev, SIZE, 0), *readonly;
	int fd = -1, keep = -1;
	void *cpu;

	(void)state;
	rule("an export that fails makes nothing SHARED, and writes no file descriptor");
	calls_fail(DRM_IOCTL_PRIME_HANDLE_TO_FD, 1, EMFILE);
	check_lib(agate_bo_export(bo, &keep), -EMFILE, "agate_bo_export() without a descriptor");
	check_equal(keep, -1, "*fd");
	lib_check_flags(bo, 0);

	rule("an exported BO is SHARED from then on");
	fd = export_bo(bo);
	lib_check_flags(bo, AGATE_ALLOC_SHARED);
	rule("a later export that fails changes nothing: a BO that was SHARED before stays SHARED");
	calls_fail(DRM_IOCTL_PRIME_HANDLE_TO_FD, 1, EMFILE);
	check_lib(agate_bo_export(bo, &keep), -EMFILE, "agate_bo_export() without a descriptor");
	check_equal(keep, -1, "*fd");
	lib_check_flags(bo, AGATE_ALLOC_SHARED);
	rule("the descriptor of a dma-buf is close-on-exec");
	check_equal(fcntl(fd, F_GETFD), FD_CLOEXEC, "F_GETFD");
	rule("who gets the dma-buf may write to it, if this process may");
	check_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR, "access mode of the dma-buf");
	cpu = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check_true(cpu != MAP_FAILED, "a writable map of the dma-buf", "none");
	munmap(cpu, SIZE);
	close(fd);

	readonly = lib_bo(dev, SIZE, AGATE_ALLOC_CPU_READONLY);
	fd = export_bo(readonly);
	check_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY,
		    "access mode of the dma-buf of a CPU_READONLY BO");
	close(fd);
	rule("the dma-buf keeps the memory, and not the BO");
	fd = export_bo(bo);
	memset(((agate_bo_mmap(bo, &cpu), cpu)), 0x42, SIZE);
	agate_bo_unreference(bo);
	agate_bo_unreference(readonly);
	check_equal(lib_handles(), 0, "handles that are left");
	bo = import_fd(dev, fd);
	check_lib(agate_bo_mmap(bo, &cpu), 0, "agate_bo_mmap()");
	check_equal(((unsigned char *)cpu)[SIZE - 1], 0x42, "the last byte");
	agate_bo_unreference(bo);
	close(fd);
	lib_close(dev);
}

/* Some process gave this one the dma-buf for reading alone. */
static void import_readonly(struct agate_device *dev)
{
	int file = guest_open(), fd;
	struct bo far = guest_bo(file, SIZE, 0);
	struct agate_bo *bo;
	unsigned char *cpu;

	memset(far.cpu, 0x66, SIZE);
	munmap(far.cpu, SIZE);
	if (dmabuf_try_export(far.fd, far.handle, 0, &fd))
		could_not_look("a BO cannot be exported for reading");
	bo = import_fd(dev, fd);
	rule("a BO of a dma-buf that is for reading is CPU_READONLY, GPU_READONLY and SHARED");
	lib_check_flags(bo, AGATE_ALLOC_SHARED | AGATE_ALLOC_CPU_READONLY |
			AGATE_ALLOC_GPU_READONLY);
	rule("such a BO can be mapped, and read");
	check_lib(agate_bo_mmap(bo, (void **)&cpu), 0, "agate_bo_mmap()");
	check_equal(cpu[SIZE - 1], 0x66, "the last byte");
	agate_bo_unreference(bo);
	guest_close_handle(far.fd, far.handle);
	close(fd);
	close(file);
}

void test_import(void **state)
{
	struct agate_device *dev = lib_open();
	struct agate_bo *bo, *same;
	unsigned char *cpu;
	int file, fd, copy;
	struct bo big;

	(void)state;
	fd = foreign(&file, SIZE);
	copy = dup(fd);
	rule("an imported BO has the size of its dma-buf, its address, and is SHARED");
	bo = import_fd(dev, fd);
	lib_check_bo(bo, SIZE);
	lib_check_flags(bo, AGATE_ALLOC_SHARED);
	check_equal(bo->refcnt, 1, "refcnt");
	rule("an imported BO is not mapped until somebody asks for that");
	check_equal(calls_made(CALL_MMAP), 0, "maps that were made");
	check_lib(agate_bo_mmap(bo, (void **)&cpu), 0, "agate_bo_mmap()");
	check_equal(cpu[SIZE - 1], 0x77, "the last byte");
	rule("the caller still owns the descriptor");
	check_equal(fcntl(fd, F_GETFD), FD_CLOEXEC, "F_GETFD");

	rule("the same dma-buf gives the same BO, with one reference more");
	same = import_fd(dev, copy);
	check_true(same == bo, "the same BO", "another one");
	check_equal(bo->refcnt, 2, "refcnt");
	rule("the kernel counted one handle, so the last reference closes it, and no other");
	agate_bo_unreference(same);
	check_equal(calls_made(DRM_IOCTL_GEM_CLOSE), 0, "handles closed");
	check_equal(cpu[0], 0x77, "the first byte");
	agate_bo_unreference(bo);
	check_equal(calls_made(DRM_IOCTL_GEM_CLOSE), 1, "handles closed");
	close(copy);

	rule("two dma-bufs are two BOs");
	big = guest_bo(file, 2 * SIZE, 0);
	copy = dmabuf_export(&big);
	bo = import_fd(dev, fd);
	same = import_fd(dev, copy);
	check_true(same != bo, "two BOs", "one");
	lib_check_bo(bo, SIZE);
	lib_check_bo(same, 2 * SIZE);
	agate_bo_unreference(bo);
	agate_bo_unreference(same);
	munmap(big.cpu, big.size);
	close(copy);
	close(fd);
	close(file);

	rule("a dma-buf of this device gives the BO that it was made of");
	bo = lib_bo(dev, SIZE, DELAY);
	fd = export_bo(bo);
	same = import_fd(dev, fd);
	check_true(same == bo, "the original BO", "another one");
	lib_check_flags(same, DELAY | AGATE_ALLOC_SHARED);
	rule("the BO outlives the reference from which it was exported");
	agate_bo_unreference(bo);
	lib_check_bo(same, SIZE);
	agate_bo_unreference(same);
	close(fd);

	/* The kernel knows the BO by a dma-buf that the library did not make. */
	rule("an import makes the BO SHARED, also one that was exported by other means");
	bo = lib_bo(dev, SIZE, DELAY);
	calls_ignore(true);
	check_errno(dmabuf_try_export(agate_device_fd(dev), agate_bo_handle(bo), DRM_RDWR, &fd), 0,
		    "PRIME_HANDLE_TO_FD");
	calls_ignore(false);
	same = import_fd(dev, fd);
	check_true(same == bo, "the original BO", "another one");
	lib_check_flags(same, DELAY | AGATE_ALLOC_SHARED);
	agate_bo_unreference(bo);
	agate_bo_unreference(same);
	close(fd);
	import_readonly(dev);
	lib_close(dev);
}

static off_t no_size;

/* The fd that lseek() is asked about has no size: what a dma-buf of a broken exporter says. */
off_t lseek(int fd, off_t offset, int whence)
{
	if (no_size && whence == SEEK_END) {
		errno = no_size < 0 ? (int)-no_size : 0;
		return no_size < 0 ? -1 : 0;
	}
	return syscall(SYS_lseek, fd, offset, whence);
}

/* The slot's node is not there yet, and there is no memory for it. */
static void import_without_slot(int good)
{
	struct agate_device *dev = lib_open();
	struct agate_bo *bo = NULL;
	int err;

	calls_fail(CALL_ALLOC, 1, ENOMEM);
	calls_watch_memory(true);
	err = agate_bo_import(dev, good, &bo);
	calls_watch_memory(false);
	rule("an import without memory for the slot gives ENOMEM, and closes the handle");
	check_lib(err, -ENOMEM, "agate_bo_import() without memory for the first node");
	check_true(!bo, "*bo as it was", "it changed");
	check_equal(lib_handles(), 1, "handles, one of which is the exporter's");
	rule("an import without memory for the slot gives the lock back");
	if (pthread_mutex_trylock(&dev->bo_map_lock))
		broken("bo_map_lock is free", "it is still taken after the import has returned");
	pthread_mutex_unlock(&dev->bo_map_lock);
	bo = import_fd(dev, good);
	lib_check_bo(bo, SIZE);
	agate_bo_unreference(bo);
	calls_begin(-1);
	agate_device_close(dev);
}

void test_bad_imports(void **state)
{
	struct agate_device *dev = lib_open();
	struct agate_bo *const untouched = (void *)&no_size, *bo = untouched;
	int other = eventfd(0, EFD_CLOEXEC), file, good = foreign(&file, SIZE);

	(void)state;
	rule("what is no dma-buf is refused, with the kernel's error");
	check_lib(agate_bo_import(dev, -1, &bo), -EBADF, "agate_bo_import(-1)");
	check_lib(agate_bo_import(dev, other, &bo), -EINVAL, "agate_bo_import() of an eventfd");
	check_equal(calls_made(DRM_IOCTL_GEM_CLOSE), 0, "handles closed");

	rule("an import that fails behind the kernel closes the handle that the kernel gave");
	no_size = -ESPIPE;
	check_lib(agate_bo_import(dev, good, &bo), -ESPIPE, "agate_bo_import() when lseek() fails");
	check_equal(lib_handles(), 1, "handles, one of which is the exporter's");
	no_size = 1;
	check_lib(agate_bo_import(dev, good, &bo), -EINVAL, "agate_bo_import() of size 0");
	no_size = 0;
	check_equal(lib_handles(), 1, "handles, one of which is the exporter's");
	calls_fail(DRM_IOCTL_AGATE_GET_BO_OFFSET, 1, ENODEV);
	check_lib(agate_bo_import(dev, good, &bo), -ENODEV,
		  "agate_bo_import() when GET_BO_OFFSET fails");
	check_equal(lib_handles(), 1, "handles, one of which is the exporter's");
	check_equal(calls_refused(DRM_IOCTL_GEM_CLOSE), 0, "handles closed that were none");
	rule("a call that fails writes nothing through its out-parameters");
	check_true(bo == untouched, "*bo as it was", "it changed");

	rule("after an import that failed the next one works");
	bo = import_fd(dev, good);
	lib_check_bo(bo, SIZE);
	agate_bo_unreference(bo);
	import_without_slot(good);
	close(good);
	close(file);
	close(other);
	lib_close(dev);
}
