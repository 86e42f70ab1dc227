/* SPDX-License-Identifier: MIT */
/*
 * Contract of lab 08, part two: the buffer object of libagate.
 *
 * agate_bo.c defines the agate_bo_* functions that agate.h declares, except for the
 * getters and agate_bo_madvise().  The frame (agate_bo_info.c) defines those, and the
 * functions below that record submitted work.
 *
 * A BO is a slot of the device's bo_map, and its GEM handle is the index, so a
 * handle always leads to the same slot and the same struct.  A slot without a device is
 * free, unless somebody is closing its handle.
 */
#ifndef AGATE_BO_H
#define AGATE_BO_H

#include <stdatomic.h>

#include "agate_device_priv.h"

#define AGATE_PAGE_SIZE	4096

/**
 * struct agate_bo - a buffer object
 * @dev: the device it belongs to; NULL in a free slot
 * @size: bytes, whole pages
 * @va: its GPU address
 * @handle: its GEM handle
 * @flags: AGATE_ALLOC_*; only SHARED is ever added later
 * @refcnt: users; an import of the same handle adds one
 * @cpu: its map, or NULL while it has none
 * @pending: submitted work that nobody has waited for yet; see
 *	agate_bo_mark_submitted()
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

/**
 * agate_bo_mark_submitted - record that the kernel has accepted a job that uses the
 * BO
 * @bo: the BO
 * @access: AGATE_ACCESS_*
 */
void agate_bo_mark_submitted(struct agate_bo *bo, uint32_t access);

/**
 * agate_bo_mark_idle - record that a wait found the BO idle
 * @bo: the BO
 * @seen: the value of @bo->pending before that wait
 * @access: the jobs that it waited for, in the bits of pending work
 *
 * Clears their access bits unless another job was submitted in between.
 */
void agate_bo_mark_idle(struct agate_bo *bo, uint64_t seen, uint64_t access);

#endif /* AGATE_BO_H */
