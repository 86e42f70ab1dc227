// SPDX-License-Identifier: MIT
/*
 * Buffer objects: everything that changes a slot or a count has the map lock.
 *
 * A thread that frees a BO takes a copy of it, wipes the slot, and gives the lock back before
 * it calls the kernel.  An import that gets a handle which is being closed gives the lock
 * back as well, and asks again.
 */
#include <sched.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agate_bo.h"

#define ALLOC_FLAGS	(AGATE_ALLOC_EXECUTE | AGATE_ALLOC_GROWABLE |		\
			 AGATE_ALLOC_INVISIBLE | AGATE_ALLOC_DELAY_MMAP |	\
			 AGATE_ALLOC_SHARED | AGATE_ALLOC_CPU_READONLY |	\
			 AGATE_ALLOC_GPU_READONLY | AGATE_ALLOC_CONTIGUOUS |	\
			 AGATE_ALLOC_VRAM | AGATE_ALLOC_SPILL)

/* Nobody but this process and the kernel's shrinker has a say in the other BOs' memory. */
#define NEVER_CACHED	(AGATE_ALLOC_SHARED | AGATE_ALLOC_CONTIGUOUS | AGATE_ALLOC_VRAM)

static bool flags_valid(uint32_t flags)
{
	const uint32_t not_in_vram = AGATE_ALLOC_GROWABLE | AGATE_ALLOC_CONTIGUOUS |
				     AGATE_ALLOC_SHARED;

	if (flags & ~ALLOC_FLAGS)
		return false;
	if (flags & AGATE_ALLOC_VRAM ? flags & not_in_vram : flags & AGATE_ALLOC_SPILL)
		return false;
	if (!(flags & AGATE_ALLOC_GROWABLE))
		return true;
	/* A heap has no pages that the kernel could map, and grows where there is memory. */
	return flags & AGATE_ALLOC_INVISIBLE &&
	       !(flags & (AGATE_ALLOC_EXECUTE | AGATE_ALLOC_CONTIGUOUS));
}

static bool label_valid(const char *label)
{
	size_t len = label ? strnlen(label, AGATE_LABEL_MAX + 1) : 0;
	size_t i;

	if (len > AGATE_LABEL_MAX)
		return false;
	for (i = 0; i < len; i++) {
		if ((unsigned char)label[i] < 0x20 || label[i] == 0x7f)
			return false;
	}
	return true;
}

static uint32_t kernel_flags(uint32_t flags)
{
	uint32_t kflags = 0;

	if (!(flags & AGATE_ALLOC_EXECUTE))
		kflags |= AGATE_BO_NOEXEC;
	if (flags & AGATE_ALLOC_GROWABLE)
		kflags |= AGATE_BO_HEAP;
	if (flags & AGATE_ALLOC_CPU_READONLY)
		kflags |= AGATE_BO_CPU_READONLY;
	if (flags & AGATE_ALLOC_GPU_READONLY)
		kflags |= AGATE_BO_GPU_READONLY;
	if (flags & AGATE_ALLOC_CONTIGUOUS)
		kflags |= AGATE_BO_CONTIGUOUS;
	if (flags & AGATE_ALLOC_VRAM && !(flags & AGATE_ALLOC_INVISIBLE))
		kflags |= AGATE_BO_CPU_VISIBLE;
	return kflags;
}

/* A driver that knows no placement ignores the end of the struct: ask for its version first. */
static struct drm_agate_create_bo create_args(uint64_t size, uint32_t flags)
{
	struct drm_agate_create_bo arg = { .size = size, .flags = kernel_flags(flags) };

	if (flags & AGATE_ALLOC_VRAM) {
		arg.placement = 1u << DRM_AGATE_REGION_VRAM;
		arg.caching = AGATE_CACHING_WC;
	}
	if (flags & AGATE_ALLOC_SPILL)
		arg.placement |= 1u << DRM_AGATE_REGION_SYSTEM;
	return arg;
}

static pthread_mutex_t map_once = PTHREAD_MUTEX_INITIALIZER;

static void close_handle(struct agate_device *dev, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	agate_ioctl(dev, DRM_IOCTL_GEM_CLOSE, &arg);
}

/* The caller holds the map lock, which this gives back. */
static void free_and_unlock(struct agate_bo *bo)
{
	struct agate_device *dev = bo->dev;
	const uint32_t handle = bo->handle;
	const uint64_t size = bo->size;
	void *cpu = bo->cpu;

	memset(bo, 0, offsetof(struct agate_bo, closing));
	bo->closing++;
	pthread_mutex_unlock(&dev->bo_map_lock);
	if (cpu)
		munmap(cpu, size);
	close_handle(dev, handle);
	pthread_mutex_lock(&dev->bo_map_lock);
	bo->closing--;
	pthread_mutex_unlock(&dev->bo_map_lock);
}

void agate_bo_free(struct agate_bo *bo)
{
	pthread_mutex_lock(&bo->dev->bo_map_lock);
	free_and_unlock(bo);
}

int agate_bo_alloc(struct agate_device *dev, uint64_t size, uint32_t flags, const char *label,
		   struct agate_bo **out)
{
	struct drm_agate_create_bo arg = create_args(size, flags);
	struct agate_bo *bo;
	int err;

	err = agate_ioctl(dev, DRM_IOCTL_AGATE_CREATE_BO, &arg);
	if (err)
		return err;
	bo = agate_sparse_array_get(&dev->bo_map, arg.handle);
	if (!bo) {
		close_handle(dev, arg.handle);
		return -ENOMEM;
	}
	pthread_mutex_lock(&dev->bo_map_lock);
	bo->dev = dev;
	bo->size = size;
	bo->va = arg.offset;
	bo->handle = arg.handle;
	bo->flags = flags;
	pthread_mutex_unlock(&dev->bo_map_lock);
	err = label ? agate_bo_set_label(bo, label) : 0;
	if (err)
		agate_bo_free(bo);
	else
		*out = bo;
	return err;
}

int agate_bo_create(struct agate_device *dev, uint64_t size, uint32_t flags,
		    const char *label, struct agate_bo **out)
{
	struct agate_bo *bo;
	void *cpu;
	int err;

	if (!label_valid(label) || !flags_valid(flags) || size - 1 >= AGATE_BO_MAX_SIZE)
		return -EINVAL;
	if ((flags & AGATE_ALLOC_VRAM && !agate_device_knows_placement(dev)) ||
	    (flags & AGATE_ALLOC_CONTIGUOUS && !agate_device_knows_contiguous(dev)))
		return -EOPNOTSUPP;
	size = (size + AGATE_PAGE_SIZE - 1) / AGATE_PAGE_SIZE * AGATE_PAGE_SIZE;
	err = dev->has_cache ? agate_bo_cache_obtain(dev, size, flags, label, &bo) :
	      agate_bo_alloc(dev, size, flags, label, &bo);
	if (err)
		return err;
	err = flags & (AGATE_ALLOC_INVISIBLE | AGATE_ALLOC_DELAY_MMAP) ? 0 :
	      agate_bo_mmap(bo, &cpu);
	if (err) {
		agate_bo_free(bo);
		return err;
	}
	pthread_mutex_lock(&dev->bo_map_lock);
	bo->refcnt = 1;
	pthread_mutex_unlock(&dev->bo_map_lock);
	*out = bo;
	return 0;
}

struct agate_bo *agate_bo_reference(struct agate_bo *bo)
{
	pthread_mutex_lock(&bo->dev->bo_map_lock);
	bo->refcnt++;
	pthread_mutex_unlock(&bo->dev->bo_map_lock);
	return bo;
}

void agate_bo_unreference(struct agate_bo *bo)
{
	pthread_mutex_t *lock;
	void *cpu;

	if (!bo)
		return;
	lock = &bo->dev->bo_map_lock;
	pthread_mutex_lock(lock);
	if (--bo->refcnt) {
		pthread_mutex_unlock(lock);
		return;
	}
	if (!bo->dev->has_cache || bo->flags & NEVER_CACHED) {
		free_and_unlock(bo);
		return;
	}
	pthread_mutex_unlock(lock);
	cpu = bo->cpu;
	bo->cpu = NULL;
	if (cpu)
		munmap(cpu, bo->size);
	if (!agate_bo_cache_put(bo))
		agate_bo_free(bo);
}

static int map_locked(struct agate_bo *bo)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };
	int err = agate_ioctl(bo->dev, DRM_IOCTL_AGATE_MMAP_BO, &arg);
	void *map;

	if (err)
		return err;
	map = mmap(NULL, bo->size, bo->flags & AGATE_ALLOC_CPU_READONLY ? PROT_READ :
		   PROT_READ | PROT_WRITE, MAP_SHARED, bo->dev->fd, (off_t)arg.offset);
	if (map == MAP_FAILED)
		return -errno;
	bo->cpu = map;
	return 0;
}

int agate_bo_mmap(struct agate_bo *bo, void **cpu)
{
	int err = 0;

	if (bo->flags & AGATE_ALLOC_INVISIBLE)
		return -EINVAL;
	pthread_mutex_lock(&map_once);
	if (!bo->cpu)
		err = map_locked(bo);
	if (!err)
		*cpu = bo->cpu;
	pthread_mutex_unlock(&map_once);
	return err;
}

int agate_bo_set_label(struct agate_bo *bo, const char *label)
{
	struct drm_agate_set_label arg = { .handle = bo->handle };

	if (!label_valid(label))
		return -EINVAL;
	if (label) {
		arg.len = strlen(label);
		arg.label = (uintptr_t)label;
	}
	return agate_ioctl(bo->dev, DRM_IOCTL_AGATE_SET_LABEL, &arg);
}

int agate_bo_export(struct agate_bo *bo, int *fd)
{
	struct drm_prime_handle arg = {
		.handle = bo->handle,
		.flags = DRM_CLOEXEC,
	};
	int err;

	/* The receiver of the file may map it writable if this process may. */
	if (!(bo->flags & AGATE_ALLOC_CPU_READONLY))
		arg.flags |= DRM_RDWR;
	err = agate_ioctl(bo->dev, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg);
	if (err)
		return err;
	atomic_fetch_or(&bo->flags, AGATE_ALLOC_SHARED);
	*fd = arg.fd;
	return 0;
}

static int fill_locked(struct agate_device *dev, struct agate_bo *bo, uint32_t handle, int fd)
{
	struct drm_agate_get_bo_offset arg = { .handle = handle };
	int err = agate_ioctl(dev, DRM_IOCTL_AGATE_GET_BO_OFFSET, &arg);
	off_t size;

	if (err)
		return err;
	size = lseek(fd, 0, SEEK_END);
	if (size <= 0)
		return size ? -errno : -EINVAL;
	bo->va = arg.offset;
	bo->size = (uint64_t)size;
	bo->handle = handle;
	bo->flags = AGATE_ALLOC_SHARED;
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		bo->flags |= AGATE_ALLOC_CPU_READONLY | AGATE_ALLOC_GPU_READONLY;
	bo->dev = dev;
	return 0;
}

int agate_bo_import(struct agate_device *dev, int fd, struct agate_bo **out)
{
	struct drm_prime_handle arg = { .fd = fd };
	struct agate_bo *bo;
	int err;

	pthread_mutex_lock(&dev->bo_map_lock);
	for (;;) {
		err = agate_ioctl(dev, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg);
		if (err)
			goto out;
		bo = agate_sparse_array_get(&dev->bo_map, arg.handle);
		if (!bo || (!bo->closing && (!bo->dev || bo->refcnt)))
			break;
		pthread_mutex_unlock(&dev->bo_map_lock);
		sched_yield();
		pthread_mutex_lock(&dev->bo_map_lock);
	}
	if (!bo)
		err = -ENOMEM;
	else if (!bo->dev)
		err = fill_locked(dev, bo, arg.handle, fd);
	if (err) {
		close_handle(dev, arg.handle);
		goto out;
	}
	bo->refcnt++;
	bo->flags |= AGATE_ALLOC_SHARED;
	*out = bo;
out:
	pthread_mutex_unlock(&dev->bo_map_lock);
	return err;
}

int agate_bo_wait(struct agate_bo *bo, int64_t timeout_ns, bool wait_readers)
{
	const bool writers = !wait_readers && agate_device_knows_access(bo->dev);
	const uint64_t seen = bo->pending;
	struct drm_agate_wait_bo arg = { .handle = bo->handle, .timeout_ns = timeout_ns };
	bool needed = seen & AGATE_ACCESS_WRITE || (wait_readers && seen & AGATE_ACCESS_READ);
	int err;

	if (!needed && !(bo->flags & AGATE_ALLOC_SHARED))
		return 0;
	arg.flags = writers ? AGATE_WAIT_BO_WRITERS : 0;
	err = agate_ioctl(bo->dev, DRM_IOCTL_AGATE_WAIT_BO, &arg);
	if (!err)
		agate_bo_mark_idle(bo, seen, writers ? AGATE_ACCESS_WRITE : AGATE_ACCESS_RW);
	return err;
}
