// SPDX-License-Identifier: MIT
/*
 * Buffer objects: create, count, map, share, wait, free.
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

#if LAB08 >= 4
/*
 * Three threads can meet at one slot of the BO map: one creates a BO (the kernel
 * just gave it the handle), one drops the last reference (and is about to close the
 * handle), and one imports a dma-buf that the kernel knows under that handle.  Three
 * rules keep them apart:
 *  - wipe a slot before closing its handle, because the kernel may give the number
 *    to another thread's create as soon as the handle is closed;
 *  - hold the map lock while the count goes from 1 to 0, and while a dma-buf
 *    becomes a handle and a reference, so that an import finds a BO either alive or
 *    gone, never dying;
 *  - close a handle without the lock, because that may take as long as a reset of the
 *    GPU.  Until the handle is closed the kernel still answers an import with it, so
 *    the slot counts who is closing it, and the import waits and asks again.
 */
#endif

#define ALLOC_FLAGS	(AGATE_ALLOC_EXECUTE | AGATE_ALLOC_GROWABLE |		\
			 AGATE_ALLOC_INVISIBLE | AGATE_ALLOC_DELAY_MMAP |	\
			 AGATE_ALLOC_SHARED | AGATE_ALLOC_CPU_READONLY |	\
			 AGATE_ALLOC_GPU_READONLY | AGATE_ALLOC_CONTIGUOUS |	\
			 AGATE_ALLOC_VRAM | AGATE_ALLOC_SPILL)

/* Nobody but this process and the kernel's shrinker has a say in the other BOs' memory. */
#define NEVER_CACHED	(AGATE_ALLOC_SHARED | AGATE_ALLOC_CONTIGUOUS | AGATE_ALLOC_VRAM)

#if LAB08 >= 3
/* A BO that has left its slot. */
struct bo_rest {
	struct agate_device *dev;
	uint32_t handle;
	void *cpu;
	uint64_t size;
};
#endif

#if LAB08 >= 2
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
#endif

#if LAB08 >= 3
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
#endif

void agate_bo_free(struct agate_bo *bo)
{
#if LAB08 >= 3
	pthread_mutex_t *lock = &bo->dev->bo_map_lock;
	struct bo_rest rest;

	pthread_mutex_lock(lock);
	rest = bo_wipe_locked(bo);
	pthread_mutex_unlock(lock);
	bo_give_back(bo, &rest);
#else
	/* STEP 3: leave the slot as a free one, unmap the BO and close its handle. */
#endif
}

#if LAB08 >= 2
/*
 * The slot of a new BO needs no lock: no other thread can know the handle before this one
 * publishes it.
 */
#endif
int agate_bo_alloc(struct agate_device *dev, uint64_t size, uint32_t flags, const char *label,
		   struct agate_bo **out)
{
#if LAB08 >= 2
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
#else
	/*
	 * STEP 2: ask the kernel for a BO, and fill in its slot.  When a step fails nothing
	 * stays: no handle, and no BO in the slot.
	 */
	return -EOPNOTSUPP;
#endif
}

int agate_bo_create(struct agate_device *dev, uint64_t size, uint32_t flags,
		    const char *label, struct agate_bo **out)
{
#if LAB08 >= 2
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
#else
	/*
	 * STEP 2: check what the caller asks for, get a BO from the cache or from the kernel,
	 * map it if it has to be, and give it its first reference.
	 */
	return -EOPNOTSUPP;
#endif
}

struct agate_bo *agate_bo_reference(struct agate_bo *bo)
{
#if LAB08 >= 3
	uint32_t old = atomic_fetch_add_explicit(&bo->refcnt, 1, memory_order_relaxed);

	assert(old);
	(void)old;
	return bo;
#else
	/* STEP 3: count one more user. */
	return bo;
#endif
}

#if LAB08 >= 3
/* Drop a reference that is not the last one; return false if it is the last one. */
static bool unreference_shared(struct agate_bo *bo)
{
	uint32_t old = atomic_load_explicit(&bo->refcnt, memory_order_relaxed);

	assert(old);
	while (old > 1) {
		/*
		 * Release: everything this thread did with the BO happens before
		 * the BO is freed.
		 */
		if (atomic_compare_exchange_weak_explicit(&bo->refcnt, &old, old - 1,
							  memory_order_release,
							  memory_order_relaxed))
			return true;
	}
	return false;
}

/*
 * A BO that only this process knows, and that lost its last reference.  Without a mapping
 * the kernel can take all its pages while it is in the cache.
 */
static void bo_recycle(struct agate_bo *bo)
{
	void *cpu = atomic_exchange(&bo->cpu, NULL);

	if (cpu)
		munmap(cpu, bo->size);
	if (!agate_bo_cache_put(bo))
		agate_bo_free(bo);
}
#endif

void agate_bo_unreference(struct agate_bo *bo)
{
#if LAB08 >= 3
	struct agate_device *dev;
	struct bo_rest rest;
	bool last, recycle;

	if (!bo || unreference_shared(bo))
		return;
	/*
	 * This looks like the last reference.  The count must not reach 0 without
	 * the lock: an import could raise it to 1 again, its owner could drop it to
	 * 0 again, and then two threads would free the BO.
	 */
	dev = bo->dev;
	pthread_mutex_lock(&dev->bo_map_lock);
	last = atomic_fetch_sub_explicit(&bo->refcnt, 1, memory_order_acq_rel) == 1;
	/* The kernel takes no pages of what is bound, and the next user would always ask it. */
	recycle = dev->has_cache && !bo->bound && !(bo->flags & NEVER_CACHED);
	if (last && !recycle)
		rest = bo_wipe_locked(bo);
	pthread_mutex_unlock(&dev->bo_map_lock);
	if (!last)
		return;
	if (recycle)
		bo_recycle(bo);
	else
		bo_give_back(bo, &rest);
#else
	/*
	 * STEP 3: count one user less.  When it was the last one, unmap the BO and give it to
	 * the cache, or free it.
	 */
#endif
}

int agate_bo_mmap(struct agate_bo *bo, void **cpu)
{
#if LAB08 >= 3
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
#else
	/* STEP 3: return the map of the BO, and make it if there is none. */
	return -EOPNOTSUPP;
#endif
}

int agate_bo_set_label(struct agate_bo *bo, const char *label)
{
#if LAB08 >= 2
	struct drm_agate_set_label arg = { .handle = bo->handle };

	if (!label_valid(label))
		return -EINVAL;
	if (label) {
		arg.len = strlen(label);
		arg.label = (uintptr_t)label;
	}
	return agate_ioctl(bo->dev, DRM_IOCTL_AGATE_SET_LABEL, &arg);
#else
	/* STEP 2: check the text, and give it to the kernel. */
	return -EOPNOTSUPP;
#endif
}

int agate_bo_export(struct agate_bo *bo, int *fd)
{
#if LAB08 >= 4
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
#else
	/* STEP 4: make a dma-buf of the BO, which others may use from then on. */
	return -EOPNOTSUPP;
#endif
}

#if LAB08 >= 4
/* A process that got the dma-buf for reading can read it, and so can its jobs: no more. */
static uint32_t import_flags(int fd)
{
	const int mode = fcntl(fd, F_GETFL);

	if (mode < 0 || (mode & O_ACCMODE) != O_RDONLY)
		return AGATE_ALLOC_SHARED;
	return AGATE_ALLOC_SHARED | AGATE_ALLOC_CPU_READONLY | AGATE_ALLOC_GPU_READONLY;
}

/* Fill a free slot with the BO that the kernel imported under this handle. */
static int bo_import_new(struct agate_device *dev, struct agate_bo *bo, uint32_t handle, int fd)
{
	struct drm_agate_get_bo_offset arg = { .handle = handle };
	off_t size = lseek(fd, 0, SEEK_END);
	int err;

	if (size < 0)
		return -errno;
	if (size == 0)
		return -EINVAL;
	err = agate_ioctl(dev, DRM_IOCTL_AGATE_GET_BO_OFFSET, &arg);
	if (err)
		return err;
	bo->dev = dev;
	bo->size = (uint64_t)size;
	bo->va = arg.offset;
	bo->handle = handle;
	bo->flags = import_flags(fd);
	bo->refcnt = 1;
	return 0;
}

/*
 * Let the kernel make the dma-buf a handle, and find its slot.  If the handle is about to
 * be closed it is of no use: wait for that, and ask again.  The caller holds the map lock.
 *
 * It may be closed by the time that the slot is looked at, and a BO that is just being made may
 * have the handle.  But whoever closed it needs the map lock to count closing down.  So only a slot
 * with closing at 0 is that of the answer, and until then nobody looks at what else it holds.
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
#endif

int agate_bo_import(struct agate_device *dev, int fd, struct agate_bo **out)
{
#if LAB08 >= 4
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
#else
	/*
	 * STEP 4: let the kernel make a handle of the dma-buf.  One handle is one BO, and
	 * another thread may be about to close that handle.
	 */
	return -EOPNOTSUPP;
#endif
}

int agate_bo_wait(struct agate_bo *bo, int64_t timeout_ns, bool wait_readers)
{
#if LAB08 >= 4
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
#else
	/* STEP 4: wait for the jobs that use the BO; ask the kernel only if there may be one. */
	return -EOPNOTSUPP;
#endif
}
