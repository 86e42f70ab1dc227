// SPDX-License-Identifier: MIT
/*
 * Buffer objects: each step down has the map lock, a step up needs none, and a map is made
 * and compared afterwards.  An import leaves the file position of the dma-buf as it was.
 */
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

/* A BO that has left its slot. */
struct bo_rest {
	struct agate_device *dev;
	uint32_t handle;
	void *cpu;
	uint64_t size;
};

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

/* Ignore a failed close: the handle goes when the file is closed. */
static void close_handle(struct agate_device *dev, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	agate_ioctl(dev, DRM_IOCTL_GEM_CLOSE, &arg);
}

/* Leave the slot as a free one; return what is left to give back to the kernel. */
static struct bo_rest bo_wipe_locked(struct agate_bo *bo)
{
	struct bo_rest rest = { bo->dev, bo->handle, bo->cpu, bo->size };

	bo->closing++;
	memset(bo, 0, offsetof(struct agate_bo, closing));
	return rest;
}

static void bo_give_back(struct agate_bo *slot, const struct bo_rest *rest)
{
	struct agate_device *dev = rest->dev;

	if (rest->cpu)
		munmap(rest->cpu, rest->size);
	close_handle(dev, rest->handle);
	pthread_mutex_lock(&dev->bo_map_lock);
	slot->closing--;
	pthread_cond_broadcast(&dev->bo_closed);
	pthread_mutex_unlock(&dev->bo_map_lock);
}

void agate_bo_free(struct agate_bo *bo)
{
	pthread_mutex_t *lock = &bo->dev->bo_map_lock;
	struct bo_rest rest;

	pthread_mutex_lock(lock);
	rest = bo_wipe_locked(bo);
	pthread_mutex_unlock(lock);
	bo_give_back(bo, &rest);
}

/*
 * The slot of a new BO needs no lock: no other thread can know the handle before this one
 * publishes it.
 */
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
	assert(!bo->dev);
	bo->dev = dev;
	bo->size = size;
	bo->va = arg.offset;
	bo->handle = arg.handle;
	bo->flags = flags;
	if (label) {
		err = agate_bo_set_label(bo, label);
		if (err) {
			agate_bo_free(bo);
			return err;
		}
	}
	*out = bo;
	return 0;
}

int agate_bo_create(struct agate_device *dev, uint64_t size, uint32_t flags,
		    const char *label, struct agate_bo **out)
{
	struct agate_bo *bo;
	void *cpu;
	int err;

	if (!size || size > AGATE_BO_MAX_SIZE || !flags_valid(flags) || !label_valid(label))
		return -EINVAL;
	if (flags & AGATE_ALLOC_CONTIGUOUS && !agate_device_knows_contiguous(dev))
		return -EOPNOTSUPP;
	if (flags & AGATE_ALLOC_VRAM && !agate_device_knows_placement(dev))
		return -EOPNOTSUPP;
	size = (size + AGATE_PAGE_SIZE - 1) & ~(uint64_t)(AGATE_PAGE_SIZE - 1);

	if (dev->has_cache)
		err = agate_bo_cache_obtain(dev, size, flags, label, &bo);
	else
		err = agate_bo_alloc(dev, size, flags, label, &bo);
	if (err)
		return err;
	/* From here on all BOs are treated alike, whatever their origin. */
	if (!(flags & (AGATE_ALLOC_INVISIBLE | AGATE_ALLOC_DELAY_MMAP))) {
		err = agate_bo_mmap(bo, &cpu);
		if (err) {
			agate_bo_free(bo);
			return err;
		}
	}
	/* Set the count last: a BO with a reference is complete. */
	bo->refcnt = 1;
	*out = bo;
	return 0;
}

struct agate_bo *agate_bo_reference(struct agate_bo *bo)
{
	uint32_t old = atomic_fetch_add_explicit(&bo->refcnt, 1, memory_order_relaxed);

	assert(old);
	(void)old;
	return bo;
}

void agate_bo_unreference(struct agate_bo *bo)
{
	struct agate_device *dev;
	struct bo_rest rest;
	bool recycle;
	void *cpu;

	if (!bo)
		return;
	dev = bo->dev;
	pthread_mutex_lock(&dev->bo_map_lock);
	if (atomic_fetch_sub(&bo->refcnt, 1) > 1) {
		pthread_mutex_unlock(&dev->bo_map_lock);
		return;
	}
	recycle = dev->has_cache && !(bo->flags & NEVER_CACHED);
	if (!recycle)
		rest = bo_wipe_locked(bo);
	pthread_mutex_unlock(&dev->bo_map_lock);
	if (!recycle) {
		bo_give_back(bo, &rest);
		return;
	}
	cpu = atomic_exchange(&bo->cpu, NULL);
	if (cpu)
		munmap(cpu, bo->size);
	if (!agate_bo_cache_put(bo))
		agate_bo_free(bo);
}

int agate_bo_mmap(struct agate_bo *bo, void **cpu)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };
	void *map = atomic_load_explicit(&bo->cpu, memory_order_acquire);
	void *other = NULL;
	int prot = PROT_READ;
	int err;

	if (bo->flags & AGATE_ALLOC_INVISIBLE)
		return -EINVAL;
	if (map) {
		*cpu = map;
		return 0;
	}
	err = agate_ioctl(bo->dev, DRM_IOCTL_AGATE_MMAP_BO, &arg);
	if (err)
		return err;
	if (!(bo->flags & AGATE_ALLOC_CPU_READONLY))
		prot |= PROT_WRITE;
	map = mmap(NULL, bo->size, prot, MAP_SHARED, bo->dev->fd, (off_t)arg.offset);
	if (map == MAP_FAILED)
		return -errno;
	/* Two threads may get here; both must use the same mapping. */
	if (!atomic_compare_exchange_strong_explicit(&bo->cpu, &other, map,
						     memory_order_acq_rel,
						     memory_order_acquire)) {
		munmap(map, bo->size);
		map = other;
	}
	*cpu = map;
	return 0;
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

/* Fill a free slot with the BO that the kernel imported under this handle. */
static int bo_import_new(struct agate_device *dev, struct agate_bo *bo, uint32_t handle, int fd)
{
	struct drm_agate_get_bo_offset arg = { .handle = handle };
	off_t at = lseek(fd, 0, SEEK_CUR), size = lseek(fd, 0, SEEK_END);
	int err;

	if (size < 0)
		return -errno;
	lseek(fd, at, SEEK_SET);
	if (size == 0)
		return -EINVAL;
	err = agate_ioctl(dev, DRM_IOCTL_AGATE_GET_BO_OFFSET, &arg);
	if (err)
		return err;
	bo->dev = dev;
	bo->size = (uint64_t)size;
	bo->va = arg.offset;
	bo->handle = handle;
	bo->flags = AGATE_ALLOC_SHARED;
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		bo->flags |= AGATE_ALLOC_CPU_READONLY | AGATE_ALLOC_GPU_READONLY;
	bo->refcnt = 1;
	return 0;
}

/*
 * Let the kernel make the dma-buf a handle, and find its slot.  If the handle is about to
 * be closed it is of no use: wait for that, and ask again.  The caller holds the map lock.
 *
 * Only if a caller exported the handle without this library can the slot have a BO without
 * a reference.  The cache refuses such a BO, because the kernel refuses to forget the
 * contents of what it has exported, so that handle, too, is about to be closed.
 */
static int import_handle(struct agate_device *dev, int fd, uint32_t *handle,
			 struct agate_bo **out)
{
	struct drm_prime_handle arg = { .fd = fd };
	struct agate_bo *bo;
	int err;

	for (;;) {
		err = agate_ioctl(dev, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg);
		if (err)
			return err;
		bo = agate_sparse_array_get(&dev->bo_map, arg.handle);
		if (!bo || (!bo->closing && (!bo->dev || bo->refcnt > 0)))
			break;
		pthread_cond_wait(&dev->bo_closed, &dev->bo_map_lock);
	}
	*handle = arg.handle;
	*out = bo;
	return 0;
}

int agate_bo_import(struct agate_device *dev, int fd, struct agate_bo **out)
{
	struct agate_bo *bo;
	uint32_t handle;
	int err;

	pthread_mutex_lock(&dev->bo_map_lock);
	err = import_handle(dev, fd, &handle, &bo);
	if (err)
		goto out_unlock;
	if (bo && bo->dev) {
		/*
		 * The kernel returned the handle of a known BO, and did not count
		 * it a second time.
		 */
		agate_bo_reference(bo);
		atomic_fetch_or(&bo->flags, AGATE_ALLOC_SHARED);
	} else {
		err = bo ? bo_import_new(dev, bo, handle, fd) : -ENOMEM;
		/* The GPU has not seen this BO yet, so closing it waits for nobody. */
		if (err)
			close_handle(dev, handle);
	}
	if (!err)
		*out = bo;
out_unlock:
	pthread_mutex_unlock(&dev->bo_map_lock);
	return err;
}

int agate_bo_wait(struct agate_bo *bo, int64_t timeout_ns, bool wait_readers)
{
	struct drm_agate_wait_bo arg = {
		.handle = bo->handle,
		.timeout_ns = timeout_ns,
	};
	uint64_t pending = atomic_load(&bo->pending);
	uint64_t waited = AGATE_ACCESS_RW;
	int err;

	/* An older driver takes all jobs for writers. */
	if (!wait_readers && agate_device_knows_access(bo->dev)) {
		arg.flags = AGATE_WAIT_BO_WRITERS;
		waited = AGATE_ACCESS_WRITE;
	}
	/* Only the kernel knows whether a shared BO is in use. */
	if (!(bo->flags & AGATE_ALLOC_SHARED) &&
	    !(pending & (wait_readers ? AGATE_ACCESS_RW : AGATE_ACCESS_WRITE)))
		return 0;
	err = agate_ioctl(bo->dev, DRM_IOCTL_AGATE_WAIT_BO, &arg);
	if (!err)
		agate_bo_mark_idle(bo, pending, waited);
	return err;
}
