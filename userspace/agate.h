/* SPDX-License-Identifier: MIT */
/*
 * libagate: buffer objects, job chains and submission for the Agate GPU.
 *
 * Conventions that hold for every function here:
 *
 * Errors.  A function that can fail returns 0 or a negative errno.  When it fails it has
 * changed nothing, and has written nothing through its out-parameters.  Besides the errors
 * listed, any call that reaches the kernel can return -ENODEV once the GPU is gone, and
 * -ENOMEM.  A function that returns void or a value cannot fail.
 *
 * Ownership.  The caller owns what a function returns through an out-parameter: it closes
 * devices and file descriptors, destroys address spaces, and releases BOs.  A BO or an
 * address space belongs to its device, and must be released before that is closed.  The
 * library copies labels, and reads the arrays of a submission or a binding only during the
 * call.  A BO may be released while a job uses it, or while it is bound: the kernel keeps
 * its memory until the job has ended, or the binding is gone.
 *
 * Threads.  Any number of threads may use a device and its BOs at the same time.  Two rules
 * are the caller's: nobody uses a BO after the last reference is dropped, or a device while
 * or after it is closed; and a struct agate_chain belongs to one thread.  After fork() only
 * one of the two processes may go on using a device.
 *
 * Units.  Sizes are bytes, times are nanoseconds, and GPU addresses are virtual addresses of
 * the device's own address space, or of one that the caller made: see "Address spaces".
 *
 * Sync objects are libdrm's: use drmSyncobjCreate() and its family on agate_device_fd().
 */
#ifndef AGATE_H
#define AGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agate_drm.h"
#include "agate_job.h"

#if defined(__cplusplus)
extern "C" {
#endif

#pragma GCC visibility push(default)

struct agate_device;
struct agate_bo;
struct agate_vm;

/* ---- Device ------------------------------------------------------------ */

/*
 * Open the render node with the lowest number whose driver is "agate".  -ENODEV: there is none.
 * -EACCES: there may be one, but this user may not open the nodes.  -EPROTONOSUPPORT: the
 * only ones have a driver with another major version.
 */
int agate_device_open(struct agate_device **dev);

/*
 * Make a device from an open file, and own the file from then on.  GEM handles
 * belong to a file, so two devices must not share one, not even by dup().  -ENODEV:
 * the file is not an agate device.  -EPROTONOSUPPORT: its driver's major version is not
 * AGATE_DRM_MAJOR.
 */
int agate_device_open_fd(int fd, struct agate_device **dev);

/* Close the file; every BO must have been released.  NULL is allowed. */
void agate_device_close(struct agate_device *dev);

/*
 * The device's file, for libdrm's functions.  It stays the library's: do not close it.  Do
 * not close or export GEM handles of BOs yourself, for the library could not know of it.
 */
int agate_device_fd(const struct agate_device *dev);

/*
 * The minor version of the driver: agate_drm.h says what each one added.  The library works
 * with all of them.
 */
uint32_t agate_device_minor(const struct agate_device *dev);

/* Ask the driver for one number.  -EINVAL: the kernel does not know this parameter. */
int agate_device_get_param(struct agate_device *dev, enum drm_agate_param param,
			   uint64_t *value);

/* ---- Buffer objects ---------------------------------------------------- */

/* The GPU may execute from the BO; without this the kernel maps it no-execute. */
#define AGATE_ALLOC_EXECUTE		(1u << 0)
/* The BO gets pages when the GPU first touches them.  Needs INVISIBLE, excludes EXECUTE. */
#define AGATE_ALLOC_GROWABLE		(1u << 1)
/* The CPU cannot map the BO: agate_bo_mmap() returns -EINVAL. */
#define AGATE_ALLOC_INVISIBLE		(1u << 2)
/* The first agate_bo_mmap() maps the BO, rather than its creation. */
#define AGATE_ALLOC_DELAY_MMAP		(1u << 3)
/*
 * Other processes or devices may use the BO, too, so this process does not know
 * everything about its use.  Export and import set this flag.
 */
#define AGATE_ALLOC_SHARED		(1u << 4)
/* The CPU (or the GPU) may only read the BO. */
#define AGATE_ALLOC_CPU_READONLY	(1u << 5)
#define AGATE_ALLOC_GPU_READONLY	(1u << 6)
/*
 * The BO's memory is one piece, for another device that takes no other.  There is little
 * such memory: it may run out while there is plenty of the usual kind.  Excludes GROWABLE.
 */
#define AGATE_ALLOC_CONTIGUOUS		(1u << 7)
/*
 * While a job uses the BO it is in the memory of the GPU's card; between two jobs it may be
 * anywhere.  BOs that do not fit at the same time take turns.  Excludes GROWABLE, CONTIGUOUS
 * and SHARED.
 */
#define AGATE_ALLOC_VRAM		(1u << 8)
/* Needs VRAM: the BO may be in system memory, too, where the card's memory has no room. */
#define AGATE_ALLOC_SPILL		(1u << 9)

/*
 * Make a BO of at least size bytes with one reference, or take one from the cache (see
 * below).  The size is rounded up to whole pages, and a BO from the cache may be larger
 * still: see agate_bo_size().  Do not rely on its contents: they are zeroes, or what this
 * process had in an older BO.  label names it in the kernel's debug
 * views: at most AGATE_LABEL_MAX bytes, no control characters, or NULL for none.
 * The BO is mapped at once unless it is INVISIBLE or DELAY_MMAP.
 * -EINVAL: size is 0 or above AGATE_BO_MAX_SIZE, a flag is unknown, excludes another one
 * or lacks the one that it needs, or the label is bad.  -ENOSPC: the GPU address space is full.
 * -EOPNOTSUPP: CONTIGUOUS or VRAM, and the driver has no such memory.
 */
int agate_bo_create(struct agate_device *dev, uint64_t size, uint32_t flags,
		    const char *label, struct agate_bo **bo);

/* Take one more reference; the caller must already hold one.  Returns bo. */
struct agate_bo *agate_bo_reference(struct agate_bo *bo);

/*
 * Drop a reference.  The last one unmaps the BO, and puts it into the cache or closes its
 * handle.  NULL is allowed.
 */
void agate_bo_unreference(struct agate_bo *bo);

/*
 * Map the BO for the CPU, or find its existing mapping, which lives as long as the
 * BO.  -EINVAL: the BO is INVISIBLE.  Other errors are those of mmap().
 */
int agate_bo_mmap(struct agate_bo *bo, void **cpu);

/* Replace the label; NULL or "" removes it.  -EINVAL: see agate_bo_create(). */
int agate_bo_set_label(struct agate_bo *bo, const char *label);

/*
 * Say whether the BO's contents matter.  While they do not, the kernel may take its
 * memory; *retained tells whether it still has them.  A BO whose contents are lost is
 * of no use: release it.  retained may be NULL.  -EINVAL: not needed, and SHARED,
 * CONTIGUOUS or VRAM.
 */
int agate_bo_madvise(struct agate_bo *bo, bool needed, bool *retained);

/*
 * Export the BO as a dma-buf file descriptor, which is close-on-exec and which the
 * caller closes.  The BO counts as SHARED from then on.  -EINVAL: it is GROWABLE, or in VRAM and
 * the driver's minor version is below 5.  -EPERM: it belongs to an address space.  -EFAULT: the
 * kernel has taken its memory.  -EIO: it has lost its contents.  -ENOSPC: it does not fit into
 * system memory.  -EMFILE: too many files are open.  -EOPNOTSUPP, -ENOSYS: the driver cannot
 * share BOs.
 */
int agate_bo_export(struct agate_bo *bo, int *fd);

/*
 * Import a dma-buf, and take one reference to its BO: the same dma-buf gives the
 * same BO, and a dma-buf that this device exported gives the original BO.  A new BO
 * is not mapped yet, and is CPU_READONLY and GPU_READONLY if fd is for reading.  The caller
 * still owns fd.  -EBADF, -EINVAL: fd is not a dma-buf, or one of size 0 or of more than 1 GiB.
 * -ENOSPC: there are no addresses left; BOs in the cache have some (agate_bo_cache_trim()).
 * -EOPNOTSUPP, -ENOSYS: the driver cannot share BOs.
 */
int agate_bo_import(struct agate_device *dev, int fd, struct agate_bo **bo);

/*
 * Wait until no job uses the BO (wait_readers), or until no job writes it.
 * timeout_ns is absolute, CLOCK_MONOTONIC: 0 polls, INT64_MAX waits for ever.
 * Makes no system call if only this process uses the BO and no submitted job can be
 * using it.  -EINVAL: it belongs to an address space that is long-running, whose jobs have no
 * end.  -EBUSY: polled and busy.  -ETIMEDOUT: the time ran out first.  A driver of
 * minor version 0 takes all jobs for writers, and so waits for readers, too.
 */
int agate_bo_wait(struct agate_bo *bo, int64_t timeout_ns, bool wait_readers);

/* Bytes of the BO: whole pages, and perhaps more than its creator wanted. */
uint64_t agate_bo_size(const struct agate_bo *bo);

/*
 * The BO's first byte in the address space of its device; the same as long as it lives.  0: it
 * has no address there, for agate_vm_create_bo() made it.
 */
uint64_t agate_bo_address(const struct agate_bo *bo);

/* The GEM handle, which the library closes. */
uint32_t agate_bo_handle(const struct agate_bo *bo);

/* AGATE_ALLOC_*, with SHARED once the BO is. */
uint32_t agate_bo_flags(const struct agate_bo *bo);

/* The device that the BO belongs to. */
struct agate_device *agate_bo_device(const struct agate_bo *bo);

/* ---- The cache of unused BOs -------------------------------------------- */

/*
 * A BO that lost its last reference stays in the cache of its device, and a later
 * agate_bo_create() may return it: without the cost of a new one, and with its old
 * contents.  SHARED, CONTIGUOUS and VRAM BOs never go in.  The kernel takes the pages of cached
 * BOs when it runs short of memory.  A BO that was not wanted for more than two whole seconds is
 * freed when the next one goes in; no timer does it, so a program that becomes idle for
 * good may call agate_bo_cache_trim().  Closing the device empties the cache.
 */

/*
 * Switch the cache on, as it is after opening the device, or empty it and switch it off.
 * -EOPNOTSUPP: this build of the library has no cache, so it cannot be switched on.
 */
int agate_bo_cache_enable(struct agate_device *dev, bool enable);

/* Free all BOs in the cache.  -EOPNOTSUPP: there is none. */
int agate_bo_cache_trim(struct agate_device *dev);

/*
 * Counts since the device was opened; the last two tell what is in the cache now.  As long
 * as no call is under way, puts = hits + waits + purged + stale + evicted + cached.
 */
struct agate_bo_cache_stats {
	uint64_t hits;		/* idle BOs that left the cache for a user */
	uint64_t waits;		/* busy ones, or idle by then, when the kernel had no memory */
	uint64_t misses;	/* creations that found no idle BO in the cache */
	uint64_t busy;		/* searches that gave up at a BO which the GPU still used */
	uint64_t puts;		/* BOs that went in */
	uint64_t purged;	/* freed, because the kernel had taken their pages, or a call failed */
	uint64_t stale;		/* freed, because nobody wanted them for too long */
	uint64_t evicted;	/* freed, because memory ran out, or to empty the cache */
	uint64_t cached;	/* BOs in the cache, and their bytes */
	uint64_t cached_bytes;
};

/* Read the counts.  -EOPNOTSUPP: there is no cache. */
int agate_bo_cache_get_stats(struct agate_device *dev, struct agate_bo_cache_stats *stats);

/* ---- The card ------------------------------------------------------------ */

/*
 * Ask how much memory there is for VRAM and SPILL BOs, and how much of it is taken.  *count is
 * how many regions there is room for, and then how many there are; those that find no room are
 * left out.  regions may be NULL, to ask for the number alone.  -EOPNOTSUPP: there is no card,
 * or the driver's minor version is below 5.
 */
int agate_device_get_regions(struct agate_device *dev, struct drm_agate_region *regions,
			     uint32_t *count);

/* A part of a BO that the card's display shows. */
struct agate_flip {
	struct agate_bo *bo;	/* VRAM; with AGATE_FLIP_PHYS also CONTIGUOUS */
	uint64_t offset;	/* bytes, a multiple of 64 */
	uint32_t width;		/* pixels */
	uint32_t height;
	uint32_t stride;	/* bytes from row to row, a multiple of 64 */
	uint32_t format;	/* enum agate_format */
	uint32_t flags;		/* AGATE_FLIP_* */
};

/*
 * Wait until no job writes the BO, and until the display has shown it.  It stays where it is
 * until the next frame is shown, or the device is closed; its owner may release it.  NULL: show
 * nothing that this device has shown.  -EINVAL: the frame makes no sense, or is not inside of the
 * BO, or the BO is of another device, or its memory of another kind.  -ENOSPC: the BO does not
 * fit into its memory.  -EIO: the BO has lost its contents, or the display cannot read it.
 * -ETIMEDOUT: the display does not answer.  -EOPNOTSUPP: as agate_device_get_regions().
 */
int agate_flip(struct agate_device *dev, const struct agate_flip *flip);

/* ---- Submission -------------------------------------------------------- */

/*
 * How a job chain uses a BO.  Chains that only read it run at the same time, unless the
 * driver's minor version is 0.
 */
#define AGATE_ACCESS_READ	(1u << 0)
#define AGATE_ACCESS_WRITE	(1u << 1)
#define AGATE_ACCESS_RW		(AGATE_ACCESS_READ | AGATE_ACCESS_WRITE)

struct agate_submit_bo {
	struct agate_bo *bo;
	uint32_t access;	/* AGATE_ACCESS_* */
};

struct agate_submit {
	uint64_t jc;		/* address of the first job header */
	uint32_t requirements;	/* AGATE_JD_REQ_* */
	/* Every BO that the chain touches, each once. */
	const struct agate_submit_bo *bos;
	uint32_t bo_count;
	uint32_t in_sync_count;
	uint32_t out_sync_count;
	const struct drm_agate_sync *in_syncs;
	const struct drm_agate_sync *out_syncs;
};

/*
 * Submit one chain to the GPU, without waiting for it.  -EINVAL: jc is 0 or not
 * 64-aligned, a requirement or access is unknown, a BO is listed twice or belongs to
 * another device, or a sync object to wait for has no fence.  -ENOENT: a sync object does not
 * exist.  -EFAULT: the kernel has taken a BO's memory (agate_bo_madvise()).  -EIO: a BO has lost
 * its contents.  -ENOSPC: the BOs do not fit into their memory at the same time.
 */
int agate_submit(struct agate_device *dev, const struct agate_submit *submit);

/*
 * Read how the job ended whose fence is in a binary sync object (of a timeline the
 * kernel does not keep it).  *result is 0, or the negative errno that struct
 * drm_agate_submit lists.  Does not wait.  -EBUSY: the job has not ended.  -ENOENT:
 * there is no such sync object.  -EINVAL: it has no fence.
 */
int agate_sync_result(struct agate_device *dev, uint32_t syncobj, int *result);

/* ---- Address spaces ------------------------------------------------------ */

/*
 * An address space besides the device's own.  In the device's own one the kernel gives each BO
 * an address, and each submission lists its BOs.  Here the caller says what is where, and a
 * job may use all that is bound: so one call makes thousands of BOs available to all later jobs,
 * one BO may be at several addresses, and an address means one BO here and another one there.
 * It is what Vulkan's sparse resources and buffer addresses need.
 *
 * The library chooses no addresses: drivers like Mesa's bring an allocator of their own, which
 * knows what they need, such as ranges that a capture must find again.
 *
 * Only BOs whose memory can move have a place here: those of agate_vm_create_bo(), and VRAM BOs
 * of agate_bo_create(); and, from the driver's minor version 9 on, imported BOs of other drivers.
 */

/*
 * Make an empty one.  flags: 0, AGATE_VM_LONG_RUNNING, or this and AGATE_VM_FAULT_MODE.  With the
 * first jobs may run for ever, and no fence tells when one has ended: agate_vm_submit() takes no
 * out-syncs, and agate_bo_wait() does not wait for them; with the second what is bound may be
 * absent until the GPU touches it.  agate_drm.h says what else is different.  -EOPNOTSUPP: the
 * driver has none, or none with these flags.  -EINVAL: a flag is unknown, or lacks the other.
 */
int agate_vm_create(struct agate_device *dev, uint32_t flags, struct agate_vm **vm);

/*
 * Give it back, with its bindings: a BO that only they kept is freed.  Jobs that were submitted
 * run to their end first, but nobody waits for them here; those of a long-running one end now.
 * NULL is allowed.
 */
void agate_vm_destroy(struct agate_vm *vm);

/* The device that it belongs to. */
struct agate_device *agate_vm_device(const struct agate_vm *vm);

/* Its name in the kernel, for ioctl(); the library gives it back. */
uint32_t agate_vm_id(const struct agate_vm *vm);

/* The lowest address that can be bound, and one past the highest. */
void agate_vm_range(const struct agate_vm *vm, uint64_t *start, uint64_t *end);

/*
 * Make a BO for this address space alone, with one reference, and without an address: see
 * agate_vm_bind().  Jobs of this address space do not wait for each other because of it, and a
 * submission costs the same however many of them are bound.  It is in system memory, or as VRAM
 * and SPILL say; never in the cache, and never exported.  Else as agate_bo_create(); -EINVAL:
 * also for GROWABLE, CONTIGUOUS and SHARED.
 *
 * Once it has been bound, agate_bo_wait() waits for all jobs of the address space.
 */
int agate_vm_create_bo(struct agate_vm *vm, uint64_t size, uint32_t flags, const char *label,
		       struct agate_bo **bo);

/* A change of an address space. */
struct agate_vm_bind {
	struct agate_bo *bo;	/* bind a part of this BO; or */
	void *memory;		/* memory of this process, from here on; or neither of the two */
	uint64_t offset;	/* of the part in bo; else 0 */
	uint64_t address;	/* where it is to be */
	uint64_t size;		/* bytes; all of these are multiples of 4 KiB */
	uint32_t flags;		/* AGATE_VM_BIND_READONLY, AGATE_VM_BIND_NOEXEC */
	bool wait;		/* return when the change has taken effect */
	uint32_t in_sync_count;
	uint32_t out_sync_count;
	const struct drm_agate_sync *in_syncs;
	const struct drm_agate_sync *out_syncs;
};

/*
 * Bind a part of a BO or memory of this process, instead of what the range held.  Changes take
 * effect in the order of the calls, each behind its in-syncs, and before all jobs that are
 * submitted later: to wait is only needed before somebody else does something, and for that
 * there are the out-syncs, too.
 *
 * A binding keeps a BO's memory, and counts as a use of it by every job.  Memory of the process
 * is not pinned: struct drm_agate_vm_bind says what happens when it goes.
 *
 * -EINVAL: there is neither a BO nor memory, or there are both; a flag is unknown; the BO is of
 * another device, or not one that can move; the range or the part makes no sense.  -EPERM: the BO
 * was made for another address space.  -ENOENT: a sync object does not exist.  -ENOSPC: the BO
 * does not fit into its memory, or too many are bound.  -EIO: the BO has lost its contents.
 * -EFAULT, -EOPNOTSUPP: the memory cannot be bound.  With wait, an error of the wait itself comes
 * after the change.
 */
int agate_vm_bind(struct agate_vm *vm, const struct agate_vm_bind *bind);

/*
 * Remove all that is bound in the range, also parts of bindings: their rest stays.  Waits for
 * the jobs that use it, in the background or, with wait, here.  bo, memory, offset and flags are
 * 0.  Errors as agate_vm_bind().
 */
int agate_vm_unbind(struct agate_vm *vm, const struct agate_vm_bind *bind);

/*
 * As agate_submit(), with the addresses of this address space.  A job may use all that is bound, so
 * the submission lists no BO: -EINVAL if it does.  -EFAULT: memory of the process that is bound is
 * there no more.  -ENOSPC: what is bound does not fit into its memory at the same time.  -EIO: a
 * bound BO has lost its contents.  -EPERM: memory of another process is bound.  -ECANCELED: it is
 * long-running, and one of its jobs failed; agate_vm_bind() says so, too.
 */
int agate_vm_submit(struct agate_vm *vm, const struct agate_submit *submit);

/* ---- Job chains in a BO ------------------------------------------------ */

/*
 * Writes job headers and payloads, one after another, into a mapped BO.  All fields
 * belong to the library.  A caller begins a chain, fills it, and needs no call to
 * end it.
 */
struct agate_chain {
	struct agate_bo *bo;
	uint64_t address;	/* GPU address of the first job */
	uint64_t start;		/* offset of the first job */
	uint64_t end;		/* one past the last job */
	uint64_t last;		/* offset of the last job, valid when jobs > 0 */
	uint32_t jobs;
};

/*
 * Begin an empty chain at byte offset in bo.
 * -EINVAL: offset is not a multiple of AGATE_JOB_ALIGN, or outside the BO, or
 * the CPU may not write to the BO, or the BO has no address.
 */
int agate_chain_begin(struct agate_chain *chain, struct agate_bo *bo, uint64_t offset);

/*
 * The same for agate_vm_submit(): the byte at offset is bound at address there.  -EINVAL: also
 * when address is 0, or not a multiple of AGATE_JOB_ALIGN.
 */
int agate_chain_begin_at(struct agate_chain *chain, struct agate_bo *bo, uint64_t offset,
			 uint64_t address);

/*
 * Append one job.  The jobs of a chain are numbered from 1.  after is the number of
 * an earlier job that must complete before this one, or 0.  -EINVAL: the payload
 * breaks a rule of agate_job.h (alignment, reserved fields, unknown type or flag,
 * ...), or after is not an earlier job.  -ENOSPC: the BO is full, or the chain has
 * 65,535 jobs.
 */
int agate_chain_null(struct agate_chain *chain, uint16_t after);
int agate_chain_write_value(struct agate_chain *chain, uint16_t after,
			    const struct agate_write_value_payload *payload);
int agate_chain_compute(struct agate_chain *chain, uint16_t after,
			const struct agate_compute_payload *payload);
int agate_chain_tiler(struct agate_chain *chain, uint16_t after,
		      const struct agate_tiler_payload *payload);
int agate_chain_fragment(struct agate_chain *chain, uint16_t after,
			 const struct agate_fragment_payload *payload);

/* GPU address of the first job, for agate_submit.jc; 0 when the chain is empty. */
uint64_t agate_chain_address(const struct agate_chain *chain);

/* How a chain ended, read from its headers. */
struct agate_chain_result {
	uint32_t job;		/* number of the first job that is not done */
	uint32_t type;		/* its enum agate_job_type */
	uint32_t exception;	/* its exception status; 0: it never started */
	uint64_t fault_pointer;	/* GPU address, when the exception has one */
};

/*
 * Check the result of a chain that is no longer running: wait for it first.
 * Returns 0 when every job is done, and -EIO with *result filled in when one is
 * not.
 */
int agate_chain_check(const struct agate_chain *chain, struct agate_chain_result *result);

/*
 * Check COMPUTE's payload, a framebuffer, or a tiler context against the rules
 * of agate_job.h before the GPU does: -EINVAL when a rule is broken.
 */
int agate_compute_check(const struct agate_compute_payload *payload);
int agate_framebuffer_check(const struct agate_framebuffer *fb);
int agate_tiler_context_check(const struct agate_tiler_context *context);

/* Name of an exception status, for messages; never NULL. */
const char *agate_exception_name(uint32_t exception);

#pragma GCC visibility pop

#if defined(__cplusplus)
}
#endif

#endif /* AGATE_H */
