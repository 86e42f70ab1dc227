/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "gem" (lab 02): the buffer object and its names.
 *
 * A BO embeds a drm_gem_object.  Two counters keep it: the reference count,
 * for every user in the kernel, and the handle count, for the names that files
 * have for it; all names together hold one reference.  Code that publishes a
 * handle must hold a reference of its own for as long as it uses the BO: another
 * thread may guess the number and close it at once.
 *
 * When the last reference goes the BO leaves the list of purgeable BOs
 * (agate_purge_forget()), then its memory goes (agate_backing_release()), then it leaves
 * gem.bos, and then all that is left of it is freed.
 */
#ifndef AGATE_GEM_H
#define AGATE_GEM_H

#include <drm/drm_gem.h>

#include "agate_backing.h"
#include "agate_cma.h"
#include "agate_drm.h"
#include "agate_heap.h"
#include "agate_prime.h"
#include "agate_shmem.h"
#include "agate_ttm.h"
#include "agate_userptr.h"

struct agate_device;

/* A flag that no client sets: the BO's memory is another driver's (agate_prime.h). */
#define AGATE_BO_IMPORTED	BIT(31)
/* The same: the BO has a placement (agate_placed.h). */
#define AGATE_BO_PLACED		BIT(30)
/* The same: the BO is memory of a process (agate_userptr.h). */
#define AGATE_BO_USERPTR	BIT(29)
/* The same: a private BO of an address space whose jobs may run for ever (agate_long.h). */
#define AGATE_BO_LONG		BIT(28)
#define AGATE_BO_NO_CLIENTS	(AGATE_BO_IMPORTED | AGATE_BO_PLACED | AGATE_BO_USERPTR | \
				 AGATE_BO_LONG)

/* The flags that agate_gem_create() takes. */
#define AGATE_BO_FLAGS	(AGATE_BO_NOEXEC | AGATE_BO_HEAP | AGATE_BO_CPU_READONLY | \
			 AGATE_BO_GPU_READONLY | AGATE_BO_CONTIGUOUS | AGATE_BO_IMPORTED | \
			 AGATE_BO_PLACED | AGATE_BO_CPU_VISIBLE | AGATE_BO_POPULATE | \
			 AGATE_BO_NO_VA | AGATE_BO_USERPTR | AGATE_BO_LONG)

/**
 * struct agate_gem - all buffer objects of a device
 * @lock: protects @bos; a BO on the list is not freed while it is held, but its
 *	reference count may be zero already.  Initialised by agate_gem_topic_init(),
 *	and never destroyed: BOs may outlive the topic
 * @bos: struct agate_bo, oldest first
 */
struct agate_gem {
	struct mutex lock;	/* @bos */
	struct list_head bos;
};

/**
 * struct agate_bo - a buffer object
 * @base: the GEM object
 * @link: in the device's gem.bos
 * @flags: AGATE_BO_* bits; never change
 * @backing: where its memory comes from
 * @shmem: what its backing keeps, if that is one of agate_shmem.h
 * @heap: what its backing keeps, if that is the one of agate_heap.h
 * @cma: what its backing keeps, if that is the one of agate_cma.h
 * @import: what its backing keeps, if that is the one of agate_prime.h
 * @ttm: what its backing keeps, if that is the one of agate_placed.h
 * @userptr: what its backing keeps, if that is the one of agate_userptr.h
 * @mappings_lock: protects @vm_bos, their mappings, and each mapping's active flag;
 *	taken after backing.lock, before vm->pt_lock.  The GPU's fault thread takes it, so
 *	nobody may wait for a job or for memory while holding it
 * @vm_bos: struct agate_vm_bo, one for each file that has a handle
 * @gpu_users: jobs between submit and completion that list this BO
 * @madv: AGATE_MADV_* or -1 once purged; under backing.lock
 * @purge_link: on the device's list of purgeable BOs, under its lock
 * @label_lock: protects @label
 * @label: what debugfs calls it; empty for none
 *
 * A new BO has no mappings, no gpu_users, no pages and no label; @madv is
 * AGATE_MADV_WILLNEED, and @purge_link an empty list.
 *
 * A BO has three mutexes.  agate_gem_create() initialises @mappings_lock and
 * @label_lock, and calls agate_backing_init(), which initialises backing.lock.  The
 * GEM object's free destroys all three, after the BO has left gem.bos.
 */
struct agate_bo {
	struct drm_gem_object base;
	struct list_head link;
	u32 flags;
	struct agate_backing backing;
	struct agate_shmem shmem;
	struct agate_heap heap;
	struct agate_cma cma;
	struct agate_import import;
	struct agate_ttm_bo ttm;
	struct agate_userptr userptr;
	struct mutex mappings_lock;	/* @vm_bos */
	struct list_head vm_bos;
	atomic_t gpu_users;
	int madv;
	struct list_head purge_link;
	struct mutex label_lock;	/* @label */
	char label[AGATE_LABEL_MAX + 1];
};

static inline struct agate_bo *to_agate_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct agate_bo, base);
}

/** agate_bo_size - bytes, a multiple of the page size */
static inline size_t agate_bo_size(const struct agate_bo *bo)
{
	return bo->base.size;
}

int agate_gem_topic_init(struct agate_device *adev);
void agate_gem_topic_fini(struct agate_device *adev);

/**
 * agate_gem_create - make a BO without a name
 * @adev: the device
 * @size: bytes, rounded up to pages
 * @flags: AGATE_BO_* bits; agate_backing_check_flags() has allowed those of a client
 *
 * The BO is complete when gem.lock is given back with the BO on gem.bos: every field of
 * struct agate_bo and of its base is set.  Whatever its flags, the gfp mask of its file, or of
 * one that it may get, is GFP_HIGHUSER | __GFP_RETRY_MAYFAIL | __GFP_NOWARN, and has no other bit.
 *
 * Context: may sleep.
 * Return: a BO with one reference; -EINVAL for a size of 0 or above
 * AGATE_BO_MAX_SIZE, for flags that are not in AGATE_BO_FLAGS and for HEAP without NOEXEC;
 * -ENOMEM; for another error of agate_backing_object_init() that error or -ENOMEM; -EINTR
 * or -ERESTARTSYS if a signal may end its wait for gem.lock.
 */
struct agate_bo *agate_gem_create(struct agate_device *adev, u64 size, u32 flags);

/**
 * agate_gem_create_ioctl - CREATE_BO
 * @dev: the device
 * @data: struct drm_agate_create_bo
 * @file: whose handle it becomes
 *
 * Reads @size and @flags of @data and leaves them as they are, also if it fails; writes
 * @handle and @offset, whatever was in them.  Makes one handle.
 *
 * Another thread may close the handle before this returns.  Then the call gives -EINVAL
 * or -ENOENT, or succeeds with the address that the BO had; the number may be another
 * BO's by then, so it is neither deleted nor looked up here.
 *
 * Return: 0, or the error of the uAPI, or that of agate_gem_create().  On failure no handle
 * is left.
 */
int agate_gem_create_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

/**
 * agate_gem_set_label_ioctl - SET_LABEL
 * @dev: the device
 * @data: struct drm_agate_set_label
 * @file: whose handle it is
 *
 * Reads each byte of the label once, none behind it, and holds no lock meanwhile; if the
 * length is 0 it does not look at the pointer.  Under label_lock it calls nothing that may
 * sleep.  If more than one thing is wrong with a call,
 * any of the errors is right.  The label changes as a whole while label_lock is held once.
 *
 * Return: 0, or the error of the uAPI, or -EINTR or -ERESTARTSYS if a signal may end its wait
 * for label_lock.  On failure the label stays as it was.
 */
int agate_gem_set_label_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

/**
 * agate_gem_get_label - copy a BO's label
 * @bo: the BO
 * @label: AGATE_LABEL_MAX + 1 bytes: one label, never parts of two, and a zero behind it
 *
 * Context: may sleep; called under gem.lock.  Neither a signal nor a time limit ends its
 * wait for label_lock.
 */
void agate_gem_get_label(struct agate_bo *bo, char *label);

/**
 * agate_gem_lookup - a file's handle becomes a BO
 * @file: the file
 * @handle: its name there
 *
 * All 32 bits of the number count.  The object is found and its reference is taken under the
 * table's lock.
 *
 * Return: the BO with a reference the caller puts, whatever became of the BO; NULL if the
 * number is no handle of the file.
 */
struct agate_bo *agate_gem_lookup(struct drm_file *file, u32 handle);

static inline void agate_bo_put(struct agate_bo *bo)
{
	drm_gem_object_put(&bo->base);
}

#endif /* AGATE_GEM_H */
