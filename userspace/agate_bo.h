/* SPDX-License-Identifier: MIT */
/*
 * Contract of lab 08, part two: the buffer object of libagate.
 *
 * agate_bo.c defines the agate_bo_* functions that agate.h declares, except for
 * the three getters, which are the frame's (agate_bo_info.c), as is the
 * bookkeeping of submitted work below.
 *
 * A BO is a slot of the device's bo_map, and its GEM handle is the index: the
 * same handle is the same slot is the same BO, for ever.  A slot whose bytes
 * are all zero is free.
 */
#ifndef AGATE_BO_H
#define AGATE_BO_H

#include <stdatomic.h>

#include "agate_device.h"

#define AGATE_PAGE_SIZE	4096

/**
 * struct agate_bo - a buffer object
 * @dev: the device it belongs to; NULL in a free slot
 * @size: bytes, whole pages
 * @va: its GPU address
 * @handle: its GEM handle
 * @flags: AGATE_ALLOC_*; only SHARED is ever added later
 * @refcnt: users; they and an import of the same handle meet here
 * @cpu: its map, or NULL while it has none
 * @pending: submitted and not yet waited for; see agate_bo_mark_submitted()
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
};

/*
 * Pending work: AGATE_ACCESS_* in the low bits, above them a count of
 * submissions, so that who waited can tell whether more was submitted since it
 * looked: the bits alone may read the same.
 */
#define AGATE_PENDING_ACCESS	((uint64_t)AGATE_ACCESS_RW)
#define AGATE_PENDING_SUBMIT	(AGATE_PENDING_ACCESS + 1)

/**
 * agate_bo_mark_submitted - a job that uses the BO is in the kernel's hands
 * @bo: the BO
 * @access: AGATE_ACCESS_*
 */
void agate_bo_mark_submitted(struct agate_bo *bo, uint32_t access);

/**
 * agate_bo_mark_idle - a wait has shown the BO idle
 * @bo: the BO
 * @seen: what @bo->pending was before that wait
 *
 * Clears the access bits unless something was submitted in between.
 */
void agate_bo_mark_idle(struct agate_bo *bo, uint64_t seen);

#endif /* AGATE_BO_H */
