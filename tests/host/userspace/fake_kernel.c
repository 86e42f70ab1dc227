// SPDX-License-Identifier: MIT
/*
 * The fake's ioctls.  One lock protects all of its state; it also shows
 * ThreadSanitizer the order that the real kernel's locks give.
 */
#include "fake_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xf86drm.h>

#include "fake_calls.h"
#include "fake_vm.h"

#define MAX_HANDLES	4096
#define FIRST_VA	0x2000000ull

struct object {
	struct fake_bo info;
	int memfd;
	void *memory;		/* for the GPU */
	ino_t inode;		/* identity of the memory, also behind a dma-buf */
	bool exported;		/* there is, or was, a dma-buf of it */
	bool purged;		/* its pages were taken, for ever */
	bool busy;		/* a job writes it */
	bool read;		/* a job only reads it */
};

static struct {
	pthread_mutex_t lock;
	struct object *handle[MAX_HANDLES];	/* 0 is never a handle */
	uint64_t next_va;
	int (*run)(const struct drm_agate_submit *args, const uint32_t *handles);
	int fence;
	int minor;	/* of the driver's version */
	struct drm_agate_flip shown;
	struct drm_agate_vm_bind bound;
} kernel = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct object *object_new(int memfd, uint64_t size)
{
	struct object *object = calloc(1, sizeof(*object));
	struct stat st;

	if (!object || fstat(memfd, &st))
		abort();
	object->memfd = memfd;
	object->inode = st.st_ino;
	object->memory = __real_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	if (object->memory == MAP_FAILED)
		abort();
	object->info.size = size;
	object->info.va = kernel.next_va;
	kernel.next_va += (size + 0x1fffff) & ~0x1fffffull;
	return object;
}

static void object_free(struct object *object)
{
	__real_munmap(object->memory, object->info.size);
	close(object->memfd);
	free(object);
}

static struct object *object_of(uint32_t handle)
{
	return handle < MAX_HANDLES ? kernel.handle[handle] : NULL;
}

static uint32_t handle_new(struct object *object)
{
	uint32_t handle = 1;

	while (handle < MAX_HANDLES && kernel.handle[handle])
		handle++;
	if (handle == MAX_HANDLES)
		abort();
	kernel.handle[handle] = object;
	return handle;
}

static int create_bo(struct drm_agate_create_bo *args)
{
	const uint32_t known = AGATE_BO_NOEXEC | AGATE_BO_HEAP | AGATE_BO_CPU_READONLY |
			       AGATE_BO_GPU_READONLY |
			       (kernel.minor < 2 ? 0u : AGATE_BO_CONTIGUOUS) |
			       (args->placement ? AGATE_BO_CPU_VISIBLE : 0u);
	struct object *object;
	uint64_t size = (args->size + 4095) & ~4095ull;
	int memfd;

	if (!args->size || args->size > AGATE_BO_MAX_SIZE || args->flags & ~known)
		return EINVAL;
	if (args->flags & AGATE_BO_HEAP && !(args->flags & AGATE_BO_NOEXEC))
		return EINVAL;
	/* A driver of an older version would not have seen these. */
	if ((kernel.minor < 4 && args->placement) || (kernel.minor < 6 && args->vm_id))
		abort();
	if (args->vm_id && !args->placement)
		return EINVAL;
	if (args->vm_id && !fake_vm_exists(args->vm_id))
		return ENOENT;
	memfd = memfd_create("bo", MFD_CLOEXEC);
	if (memfd < 0 || ftruncate(memfd, (off_t)size))
		abort();
	object = object_new(memfd, size);
	object->info.flags = args->flags;
	object->info.placement = args->placement;
	object->info.caching = args->caching;
	object->info.vm_id = args->vm_id;
	if (args->vm_id)
		object->info.va = 0;
	args->handle = handle_new(object);
	args->offset = object->info.va;
	return 0;
}

static int gem_close(const struct drm_gem_close *args)
{
	struct object *object = object_of(args->handle);

	if (!object)
		return EINVAL;
	kernel.handle[args->handle] = NULL;
	object_free(object);
	return 0;
}

static int mmap_bo(struct drm_agate_mmap_bo *args)
{
	const struct object *object = object_of(args->handle);

	if (args->flags)
		return EINVAL;
	if (!object)
		return ENOENT;
	if (object->info.flags & AGATE_BO_HEAP)
		return EINVAL;
	args->offset = (uint64_t)args->handle << 32;
	return 0;
}

static int get_bo_offset(struct drm_agate_get_bo_offset *args)
{
	const struct object *object = object_of(args->handle);

	if (!object)
		return ENOENT;
	args->offset = object->info.va;
	return 0;
}

static int wait_bo(const struct drm_agate_wait_bo *args)
{
	struct object *object = object_of(args->handle);
	bool readers = !(args->flags & AGATE_WAIT_BO_WRITERS);

	if (args->flags & ~(kernel.minor ? AGATE_WAIT_BO_WRITERS : 0u))
		return EINVAL;
	if (!object)
		return ENOENT;
	if ((object->busy || (readers && object->read)) && args->timeout_ns != INT64_MAX)
		return args->timeout_ns ? ETIMEDOUT : EBUSY;
	object->busy = false;
	if (readers)
		object->read = false;
	return 0;
}

static int set_label(const struct drm_agate_set_label *args)
{
	struct object *object = object_of(args->handle);

	if (!object)
		return ENOENT;
	if (args->len > AGATE_LABEL_MAX)
		return EINVAL;
	memset(object->info.label, 0, sizeof(object->info.label));
	if (args->len)
		memcpy(object->info.label, (const void *)(uintptr_t)args->label, args->len);
	return 0;
}

/* The importers of a dma-buf rely on the pages of its BO. */
static int madvise_bo(struct drm_agate_madvise *args)
{
	const struct drm_agate_set_label label = {
		.handle = args->handle, .len = args->len, .label = args->label,
	};
	struct object *object = object_of(args->handle);

	if (args->pad || args->pad2 || (args->len && !args->label) ||
	    args->madv > AGATE_MADV_DONTNEED || args->len > AGATE_LABEL_MAX)
		return EINVAL;
	if (!object)
		return ENOENT;
	if (args->madv == AGATE_MADV_DONTNEED &&
	    (object->exported || object->info.imported || object->info.placement))
		return EINVAL;
	/* A driver of an older version would not have seen it. */
	if (kernel.minor < 7 && args->label)
		abort();
	if (args->label)
		set_label(&label);
	args->retained = !object->purged;
	object->info.madv = args->madv;
	return 0;
}

static int syncobj_to_fd(struct drm_syncobj_handle *args)
{
	if (args->handle != 1)
		return ENOENT;
	if (args->flags != DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE)
		return EINVAL;
	args->fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return args->fd < 0 ? errno : 0;
}

static int sync_file_info(struct sync_file_info *args)
{
	args->status = kernel.fence;
	args->num_fences = 1;
	return 0;
}

static int handle_to_fd(struct drm_prime_handle *args)
{
	struct object *object = object_of(args->handle);

	if (!object)
		return ENOENT;
	if (object->info.vm_id)
		return EPERM;
	object->exported = true;
	args->fd = fcntl(object->memfd, args->flags & DRM_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
	return args->fd < 0 ? errno : 0;
}

static int fd_to_handle(struct drm_prime_handle *args)
{
	struct object *object;
	struct stat st;
	uint32_t handle;

	if (fstat(args->fd, &st))
		return EBADF;
	if (!S_ISREG(st.st_mode))
		return EINVAL;
	for (handle = 1; handle < MAX_HANDLES; handle++) {
		if (kernel.handle[handle] && kernel.handle[handle]->inode == st.st_ino) {
			args->handle = handle;
			return 0;
		}
	}
	/* Allocate at least a page, so that a dma-buf of size 0 reaches the library. */
	object = object_new(fcntl(args->fd, F_DUPFD_CLOEXEC, 0), st.st_size ? st.st_size : 4096);
	object->info.imported = true;
	args->handle = handle_new(object);
	return 0;
}

/* An older driver sees only the beginning of the struct. */
static int submit(const struct drm_agate_submit *args)
{
	struct drm_agate_submit seen = *args;
	const uint32_t *handles = (const void *)(uintptr_t)args->bo_handles;
	uint32_t i, k;

	if (!args->jc || args->jc % AGATE_JOB_ALIGN ||
	    args->requirements & ~(AGATE_JD_REQ_FS | AGATE_JD_REQ_ONLY_COMPUTE))
		return EINVAL;
	for (i = 0; i < args->bo_handle_count; i++) {
		if (!object_of(handles[i]))
			return ENOENT;
		for (k = 0; k < i; k++) {
			if (handles[k] == handles[i])
				return EINVAL;
		}
	}
	if (kernel.minor < 6 && args->vm_id)
		abort();
	if (args->vm_id && args->bo_handle_count)
		return EINVAL;
	if (args->vm_id && !fake_vm_exists(args->vm_id))
		return ENOENT;
	if (!kernel.minor)
		seen.bo_flags = 0;
	return kernel.run ? kernel.run(&seen, handles) : 0;
}

static int query_regions(struct drm_agate_query_regions *args)
{
	static const struct drm_agate_region regions[] = {
		{ .type = DRM_AGATE_REGION_SYSTEM, .id = DRM_AGATE_REGION_SYSTEM, .size = 1 << 30 },
		{ .type = DRM_AGATE_REGION_VRAM, .id = DRM_AGATE_REGION_VRAM, .size = 1 << 26 },
	};
	const uint32_t count = sizeof(regions) / sizeof(regions[0]);

	if (kernel.minor < 5 || (args->regions && args->region_size != sizeof(regions[0])))
		return EINVAL;
	if (args->regions)
		memcpy((void *)(uintptr_t)args->regions, regions,
		       (args->count < count ? args->count : count) * sizeof(regions[0]));
	args->count = count;
	args->region_size = sizeof(regions[0]);
	return 0;
}

static int flip(const struct drm_agate_flip *args)
{
	const struct object *object = object_of(args->handle);

	if (kernel.minor < 5)
		return EINVAL;
	if (args->handle && !object)
		return ENOENT;
	if (object && !object->info.placement &&
	    !(args->flags & AGATE_FLIP_PHYS && object->info.flags & AGATE_BO_CONTIGUOUS))
		return EINVAL;
	kernel.shown = *args;
	return 0;
}

static int vm_bind(const struct drm_agate_vm_bind *args)
{
	const bool map = args->op == AGATE_VM_BIND_MAP;
	const bool memory = args->flags & AGATE_VM_BIND_USERPTR;
	const struct object *object = object_of(args->handle);
	int err;

	/* A driver of an older version would not have seen it. */
	if (kernel.minor < 8 && memory)
		abort();
	if ((!map && (args->flags || args->handle || args->offset)) || (memory && args->handle))
		return EINVAL;
	if (map && !memory) {
		if (!object)
			return ENOENT;
		if (!object->info.placement || args->offset >= object->info.size ||
		    args->range > object->info.size - args->offset)
			return EINVAL;
		if (object->info.vm_id && object->info.vm_id != args->vm_id)
			return EPERM;
	}
	err = fake_vm_bind(args, map && !memory ? object->memfd : -1);
	if (!err)
		kernel.bound = *args;
	return err;
}

/* All fences have signalled. */
static int syncobj_wait(const struct drm_syncobj_wait *args)
{
	return *(const uint32_t *)(uintptr_t)args->handles == 1 ? 0 : ENOENT;
}

int fake_ioctl(unsigned long request, void *arg)
{
	int err;

	pthread_mutex_lock(&kernel.lock);
	switch (request) {
	case DRM_IOCTL_AGATE_CREATE_BO:
		err = create_bo(arg);
		break;
	case DRM_IOCTL_GEM_CLOSE:
		err = gem_close(arg);
		break;
	case DRM_IOCTL_AGATE_MMAP_BO:
		err = mmap_bo(arg);
		break;
	case DRM_IOCTL_AGATE_GET_BO_OFFSET:
		err = get_bo_offset(arg);
		break;
	case DRM_IOCTL_AGATE_WAIT_BO:
		err = wait_bo(arg);
		break;
	case DRM_IOCTL_AGATE_SET_LABEL:
		err = set_label(arg);
		break;
	case DRM_IOCTL_PRIME_HANDLE_TO_FD:
		err = handle_to_fd(arg);
		break;
	case DRM_IOCTL_PRIME_FD_TO_HANDLE:
		err = fd_to_handle(arg);
		break;
	case DRM_IOCTL_AGATE_SUBMIT:
		err = submit(arg);
		break;
	case DRM_IOCTL_SYNCOBJ_CREATE:
		((struct drm_syncobj_create *)arg)->handle = 1;
		err = 0;
		break;
	case DRM_IOCTL_AGATE_MADVISE:
		err = madvise_bo(arg);
		break;
	case DRM_IOCTL_AGATE_QUERY_REGIONS:
		err = query_regions(arg);
		break;
	case DRM_IOCTL_AGATE_FLIP:
		err = flip(arg);
		break;
	case DRM_IOCTL_AGATE_VM_CREATE:
		err = fake_vm_create(arg);
		break;
	case DRM_IOCTL_AGATE_VM_DESTROY:
		err = fake_vm_destroy(arg);
		break;
	case DRM_IOCTL_AGATE_VM_BIND:
		err = vm_bind(arg);
		break;
	case DRM_IOCTL_SYNCOBJ_WAIT:
		err = syncobj_wait(arg);
		break;
	case DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD:
		err = syncobj_to_fd(arg);
		break;
	case SYNC_IOC_FILE_INFO:
		err = sync_file_info(arg);
		break;
	case DRM_IOCTL_SYNCOBJ_DESTROY:
		err = 0;
		break;
	default:
		err = EINVAL;
		break;
	}
	pthread_mutex_unlock(&kernel.lock);
	return err;
}

void *fake_map(size_t length, int prot, int flags, off_t offset)
{
	const uint32_t handle = (uint32_t)((uint64_t)offset >> 32);
	void *map = MAP_FAILED;
	struct object *object;

	pthread_mutex_lock(&kernel.lock);
	object = object_of(handle);
	if (!object || length > object->info.size || !(flags & MAP_SHARED))
		errno = EINVAL;
	else if (object->info.flags & AGATE_BO_CPU_READONLY && prot & PROT_WRITE)
		errno = EACCES;
	else
		map = __real_mmap(NULL, length, prot, flags, object->memfd, 0);
	pthread_mutex_unlock(&kernel.lock);
	return map;
}

void fake_state_reset(void)
{
	uint32_t handle;

	for (handle = 1; handle < MAX_HANDLES; handle++) {
		if (kernel.handle[handle])
			object_free(kernel.handle[handle]);
		kernel.handle[handle] = NULL;
	}
	kernel.next_va = FIRST_VA;
	kernel.run = NULL;
	kernel.fence = 0;
	kernel.minor = AGATE_DRM_MINOR;
	kernel.shown = (struct drm_agate_flip){ 0 };
	kernel.bound = (struct drm_agate_vm_bind){ 0 };
	fake_vms_reset();
}

struct drm_agate_vm_bind fake_bound(void)
{
	return kernel.bound;
}

struct drm_agate_flip fake_shown(void)
{
	return kernel.shown;
}

unsigned int fake_live_handles(void)
{
	unsigned int live = 0;
	uint32_t handle;

	pthread_mutex_lock(&kernel.lock);
	for (handle = 1; handle < MAX_HANDLES; handle++)
		live += kernel.handle[handle] != NULL;
	pthread_mutex_unlock(&kernel.lock);
	return live;
}

bool fake_bo(uint32_t handle, struct fake_bo *bo)
{
	struct object *object;

	pthread_mutex_lock(&kernel.lock);
	object = object_of(handle);
	if (object)
		*bo = object->info;
	pthread_mutex_unlock(&kernel.lock);
	return object != NULL;
}

static bool purgeable(const struct object *object)
{
	return object->info.madv == AGATE_MADV_DONTNEED && !object->purged && !object->busy &&
	       !object->read;
}

unsigned int fake_purge(unsigned int most)
{
	unsigned int purged = 0;
	uint32_t handle;

	pthread_mutex_lock(&kernel.lock);
	for (handle = 1; handle < MAX_HANDLES && purged < most; handle++) {
		struct object *object = kernel.handle[handle];

		if (!object || !purgeable(object))
			continue;
		object->purged = true;
		purged++;
	}
	pthread_mutex_unlock(&kernel.lock);
	return purged;
}

void fake_set_busy(uint32_t handle, bool busy)
{
	pthread_mutex_lock(&kernel.lock);
	object_of(handle)->busy = busy;
	pthread_mutex_unlock(&kernel.lock);
}

void fake_set_read(uint32_t handle, bool read)
{
	pthread_mutex_lock(&kernel.lock);
	object_of(handle)->read = read;
	pthread_mutex_unlock(&kernel.lock);
}

void fake_set_minor(int minor)
{
	kernel.minor = minor;
}

int fake_minor(void)
{
	return kernel.minor;
}

void fake_fence(int status)
{
	kernel.fence = status;
}

int fake_dma_buf(size_t size)
{
	int fd = memfd_create("dma-buf", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)size))
		abort();
	return fd;
}

void fake_submit(int (*run)(const struct drm_agate_submit *args, const uint32_t *handles))
{
	kernel.run = run;
}

/* Called by run(), so with the lock held. */
void *fake_gpu_memory(const uint32_t *handles, uint32_t count, uint64_t va, size_t len,
		      bool write)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		const struct object *object = object_of(handles[i]);
		const struct fake_bo *bo = &object->info;

		if (va < bo->va || va - bo->va > bo->size || len > bo->size - (va - bo->va))
			continue;
		if (write && bo->flags & AGATE_BO_GPU_READONLY)
			return NULL;
		return (char *)object->memory + (va - bo->va);
	}
	return NULL;
}
