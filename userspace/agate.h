/* SPDX-License-Identifier: MIT */
/*
 * libagate: buffer objects, job chains and submission for the Agate GPU.
 *
 * Conventions that hold for every function here:
 *  - one that can fail returns 0 or a negative errno, and on failure has
 *    changed nothing and written nothing through its out-parameters;
 *  - sizes are bytes, GPU addresses are virtual addresses of the device's own
 *    address space, times are nanoseconds;
 *  - all of it may be called from any thread, as long as nobody uses an object
 *    whose last reference, or a device whose close, has begun;
 *  - besides what is listed, any call that reaches the kernel can give
 *    -ENODEV once the GPU is gone, and -ENOMEM.
 *
 * Sync objects are libdrm's: use drmSyncobjCreate() and its family on
 * agate_device_fd().
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

/* ---- Device ------------------------------------------------------------ */

/*
 * Open the first render node whose driver is "agate".
 * -ENODEV: there is none.  -EACCES: there may be, but the nodes are closed to
 * this user.
 */
int agate_device_open(struct agate_device **dev);

/*
 * Make a device of an open file, and own the file from then on.  GEM handles
 * belong to a file, so no two devices may share one, not by dup() either.
 * -ENODEV: the file is not an agate device.
 */
int agate_device_open_fd(int fd, struct agate_device **dev);

/* Close the file; every BO must have been released.  NULL is allowed. */
void agate_device_close(struct agate_device *dev);

int agate_device_fd(const struct agate_device *dev);

/* -EINVAL: the kernel does not know this parameter. */
int agate_device_get_param(struct agate_device *dev, enum drm_agate_param param,
			   uint64_t *value);

/* ---- Buffer objects ---------------------------------------------------- */

/* The GPU may execute from it; without this the kernel maps it no-execute. */
#define AGATE_ALLOC_EXECUTE		(1u << 0)
/* Pages come when the GPU first touches them.  Needs INVISIBLE, not EXECUTE. */
#define AGATE_ALLOC_GROWABLE		(1u << 1)
/* Never mapped by the CPU: agate_bo_mmap() gives -EINVAL. */
#define AGATE_ALLOC_INVISIBLE		(1u << 2)
/* Mapped by the first agate_bo_mmap() rather than at creation. */
#define AGATE_ALLOC_DELAY_MMAP		(1u << 3)
/*
 * Other processes or devices may use it too, so what this process knows about
 * its use is not the whole truth.  Export and import set it by themselves.
 */
#define AGATE_ALLOC_SHARED		(1u << 4)
/* The CPU, or the GPU, may only read it. */
#define AGATE_ALLOC_CPU_READONLY	(1u << 5)
#define AGATE_ALLOC_GPU_READONLY	(1u << 6)

/*
 * Make a BO of at least size bytes with one reference.  The size is rounded up
 * to whole pages: see agate_bo_size().  label names it in the kernel's debug
 * views: at most AGATE_LABEL_MAX bytes, no control characters, or NULL for none.
 * The BO is mapped at once unless it is INVISIBLE or DELAY_MMAP.
 * -EINVAL: size is 0 or above AGATE_BO_MAX_SIZE, a flag is unknown or does not
 * go with another, or the label is bad.  -ENOSPC: no GPU address left.
 */
int agate_bo_create(struct agate_device *dev, uint64_t size, uint32_t flags,
		    const char *label, struct agate_bo **bo);

/* Take one more reference; only a holder of one may.  Returns bo. */
struct agate_bo *agate_bo_reference(struct agate_bo *bo);

/* Drop one; the last unmaps the BO and closes its handle.  NULL is allowed. */
void agate_bo_unreference(struct agate_bo *bo);

/*
 * Map it for the CPU, or find the map it already has; the map lives as long as
 * the BO.  -EINVAL: the BO is INVISIBLE.  Otherwise what mmap() says.
 */
int agate_bo_mmap(struct agate_bo *bo, void **cpu);

/* Replace the label; NULL or "" removes it.  -EINVAL: see agate_bo_create(). */
int agate_bo_set_label(struct agate_bo *bo, const char *label);

/*
 * Give out a dma-buf file descriptor, close-on-exec and the caller's to close.
 * The BO counts as SHARED from then on.
 */
int agate_bo_export(struct agate_bo *bo, int *fd);

/*
 * Get the BO behind a dma-buf, with one reference more than before: the same
 * dma-buf gives the same BO, and one that this device exported gives the BO it
 * came from.  A new BO is not mapped yet.  fd stays the caller's.
 * -EBADF, -EINVAL: fd is not a dma-buf, or one of size 0.
 */
int agate_bo_import(struct agate_device *dev, int fd, struct agate_bo **bo);

/*
 * Wait until no job uses the BO (wait_readers), or until no job writes it.
 * timeout_ns is absolute, CLOCK_MONOTONIC: 0 polls, INT64_MAX waits for ever.
 * No system call is made for a BO that this process alone uses and that no
 * submitted job can be using.
 * -EBUSY: polled and busy.  -ETIMEDOUT: the time passed first.
 */
int agate_bo_wait(struct agate_bo *bo, int64_t timeout_ns, bool wait_readers);

uint64_t agate_bo_size(const struct agate_bo *bo);
uint64_t agate_bo_address(const struct agate_bo *bo);
uint32_t agate_bo_handle(const struct agate_bo *bo);

/* ---- Submission -------------------------------------------------------- */

/* What a job chain does with a BO. */
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
 * Hand one chain to the GPU; returns without waiting for it.
 * -EINVAL: jc is 0 or not 64-aligned, a requirement or access is unknown, a BO
 * is listed twice.  -ENOENT: a sync object does not exist.
 */
int agate_submit(struct agate_device *dev, const struct agate_submit *submit);

/* ---- Job chains in a BO ------------------------------------------------ */

/*
 * Writes job headers and payloads, one after another, into a mapped BO.  All
 * fields are the library's; a chain is begun, filled and then forgotten.
 */
struct agate_chain {
	struct agate_bo *bo;
	void *cpu;		/* the BO's map */
	uint64_t start;		/* offset of the first job */
	uint64_t end;		/* one past the last job */
	uint64_t last;		/* offset of the last job, valid when jobs > 0 */
	uint32_t jobs;
};

/*
 * Begin an empty chain at byte offset in bo.
 * -EINVAL: offset is not a multiple of AGATE_JOB_ALIGN, or outside the BO, or
 * the CPU may not write to the BO.
 */
int agate_chain_begin(struct agate_chain *chain, struct agate_bo *bo, uint64_t offset);

/*
 * Append one job.  The jobs of a chain are numbered from 1; after is the number
 * of an earlier job that must be complete first, or 0.
 * -EINVAL: the payload breaks a rule of agate_job.h (alignment, reserved
 * fields, unknown type or flag, ...), or after is not an earlier job.
 * -ENOSPC: the BO is full, or the chain has 65,535 jobs.
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

/* GPU address of the first job, what agate_submit.jc wants; 0 when empty. */
uint64_t agate_chain_address(const struct agate_chain *chain);

/* How a chain ended, read from its headers. */
struct agate_chain_result {
	uint32_t job;		/* number of the first job that is not done */
	uint32_t type;		/* its enum agate_job_type */
	uint32_t exception;	/* its exception status; 0: it never started */
	uint64_t fault_pointer;	/* GPU address, when the exception has one */
};

/*
 * Look at a chain that is no longer running: wait for it first.  Returns 0 when
 * every job is done, and -EIO with *result filled when one is not.
 */
int agate_chain_check(const struct agate_chain *chain, struct agate_chain_result *result);

/*
 * Check COMPUTE's payload, a framebuffer, or a tiler context against the rules
 * of agate_job.h before the GPU does: -EINVAL when one is broken.
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
