/* SPDX-License-Identifier: MIT */
/*
 * Contract of lab 08, part two: the buffer object of libagate.
 *
 * agate_bo.c defines the agate_bo_* functions that agate.h declares, except for the
 * getters and agate_bo_madvise(), and agate_bo_alloc() and agate_bo_free() below.  The
 * frame (agate_bo_info.c) defines those others, and the functions below that record
 * submitted work.
 *
 * A BO is a slot of the device's bo_map, and its GEM handle is the index, so a
 * handle always leads to the same slot and the same struct.  A slot without a device is
 * free; its number may still be a handle that somebody is closing (closing).  A BO without a
 * reference is being made, is being released, or is in the cache (agate_bo_cache.h).
 */
#ifndef AGATE_BO_H
#define AGATE_BO_H

#include <stdatomic.h>
#include <sys/queue.h>

#include "agate_device_priv.h"

#define AGATE_PAGE_SIZE	4096

/**
 * struct agate_bo - a buffer object
 * @dev: the device it belongs to; NULL in a free slot
 * @size: bytes, whole pages
 * @va: its GPU address, or 0: it was made for an address space of agate_space.h
 * @handle: its GEM handle
 * @flags: AGATE_ALLOC_*; only SHARED is ever added later
 * @refcnt: users; an import of the same handle adds one
 * @cpu: its map, or NULL while it has none
 * @pending: submitted work that nobody has waited for yet; see
 *	agate_bo_mark_submitted()
 * @bucket_link: its place in a bucket of the cache
 * @lru_link: its place in the cache's list by age
 * @last_used_s: the second in which it went into the cache
 * @bound: an address space of agate_space.h has had it; see agate_bo_mark_bound()
 * @closing: how many threads are closing this handle, or have just done so; under the
 *	device's bo_map_lock, and no part of the BO: it may belong to the BO that was in
 *	this slot before.  Last, for a slot is wiped up to here
 */
struct agate_bo {
	struct agate_device *dev;
	uint64_t size;
	uint64_t va;
	uint32_t handle;
	_Atomic uint32_t flags;
	_Atomic uint32_t refcnt;
	_Atomic(void *) cpu;
	_Atomic uint64_t pending;
	TAILQ_ENTRY(agate_bo) bucket_link;
	TAILQ_ENTRY(agate_bo) lru_link;
	uint64_t last_used_s;
	_Atomic bool bound;
	unsigned int closing;
};

/*
 * Pending work: in the low bits AGATE_ACCESS_WRITE for jobs that write the BO, and
 * AGATE_ACCESS_READ for jobs that only read it; a count of submissions above them.
 * The count tells a thread that waited whether anybody has submitted more in the
 * meantime: the bits alone may read the same.
 */
#define AGATE_PENDING_ACCESS	((uint64_t)AGATE_ACCESS_RW)
#define AGATE_PENDING_SUBMIT	(AGATE_PENDING_ACCESS + 1)

/* For the test programs of the labs; libagate.map hides them from everybody else. */
#pragma GCC visibility push(default)

/**
 * agate_bo_alloc - get a new BO from the kernel
 * @dev: the device
 * @size: bytes, whole pages
 * @flags: AGATE_ALLOC_*, valid ones
 * @label: its label, a valid one, or NULL
 * @bo: where to put the BO, which has no reference and no mapping yet
 *
 * Return: 0 or a negative errno, and then nothing is left of the BO.
 */
int agate_bo_alloc(struct agate_device *dev, uint64_t size, uint32_t flags, const char *label,
		   struct agate_bo **bo);

/**
 * agate_bo_free - unmap a BO and close its handle
 * @bo: a BO without a reference, which nobody else can find
 */
void agate_bo_free(struct agate_bo *bo);

/**
 * agate_bo_madvise_label - say whether a BO's contents matter, and change its label
 * @bo: the BO
 * @needed: as for agate_bo_madvise()
 * @label: its new label, a valid one, or NULL for none
 * @retained: as for agate_bo_madvise(), or NULL
 *
 * One call of the kernel; two when the driver's minor version is below 7.
 *
 * Return: 0 or a negative errno.  Then the BO has the label and the advice that it had before,
 * but with an older driver perhaps the new advice.
 */
int agate_bo_madvise_label(struct agate_bo *bo, bool needed, const char *label, bool *retained);

/**
 * agate_bo_mark_submitted - record that the kernel has accepted a job that uses the
 * BO
 * @bo: the BO
 * @access: AGATE_ACCESS_*
 */
void agate_bo_mark_submitted(struct agate_bo *bo, uint32_t access);

/**
 * agate_bo_mark_bound - record that jobs may use the BO of which this library does not know
 * @bo: the BO
 *
 * Every job of an address space uses all that is bound there.  From now on the BO always has
 * pending work, and every wait asks the kernel.
 */
void agate_bo_mark_bound(struct agate_bo *bo);

/**
 * agate_bo_mark_idle - record that a wait found the BO idle
 * @bo: the BO
 * @seen: the value of @bo->pending before that wait
 * @access: the jobs that it waited for, in the bits of pending work
 *
 * Clears their access bits unless another job was submitted in between, or the BO is bound.
 */
void agate_bo_mark_idle(struct agate_bo *bo, uint64_t seen, uint64_t access);

#pragma GCC visibility pop

#endif /* AGATE_BO_H */
