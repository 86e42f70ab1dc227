/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Holding the reservations of many BOs at once.
 *
 * Two threads that lock the same reservations in different orders would wait for each
 * other.  All reservations of one struct agate_exec are locked with one ww ticket, and
 * the older ticket wins: the thread with the younger one gets -EDEADLK.  It lets go of
 * everything, waits for the contended reservation, and starts again.  So whatever a
 * thread does under the locks stands inside a loop:
 *
 *	agate_exec_init(&exec, AGATE_EXEC_INTERRUPTIBLE);
 *	do {
 *		ret = lock_and_use_all(&exec);
 *	} while (agate_exec_retry(&exec, &ret));
 *	...
 *	agate_exec_fini(&exec);
 *
 * Any function in the loop may lock more reservations.  It hands -EDEADLK up as it is:
 * only agate_exec_retry() can resolve it.
 */
#ifndef AGATE_EXEC_H
#define AGATE_EXEC_H

#include <linux/bits.h>
#include <linux/dma-resv.h>
#include <linux/types.h>
#include <drm/drm_gem.h>

/* A signal ends a wait for a lock, with -EINTR. */
#define AGATE_EXEC_INTERRUPTIBLE	BIT(0)

/* Most jobs list fewer BOs, and need no memory for the list. */
#define AGATE_EXEC_FEW			8

/**
 * struct agate_exec_lock - one locked reservation
 * @obj: an object that has it, with a reference
 * @victim: nobody asked for the object: it was locked to make it leave its memory
 */
struct agate_exec_lock {
	struct drm_gem_object *obj;
	bool victim;
};

/**
 * struct agate_exec - a set of locked reservations
 * @ticket: the ticket of all its locks
 * @flags: AGATE_EXEC_*
 * @count: how many it holds
 * @room: how many fit into @locked
 * @locked: one for each; @few, or an array of its own
 * @contended: the one that gave -EDEADLK last; its object has a reference, or is NULL
 * @few: where @locked begins
 */
struct agate_exec {
	struct ww_acquire_ctx ticket;
	u32 flags;
	unsigned int count;
	unsigned int room;
	struct agate_exec_lock *locked;
	struct agate_exec_lock contended;
	struct agate_exec_lock few[AGATE_EXEC_FEW];
};

/**
 * agate_exec_init - begin with no lock
 * @exec: to be filled in
 * @flags: AGATE_EXEC_*
 */
void agate_exec_init(struct agate_exec *exec, u32 flags);

/**
 * agate_exec_fini - unlock all
 * @exec: the set
 *
 * Drops the references afterwards: a BO must not die under its reservation.
 */
void agate_exec_fini(struct agate_exec *exec);

/**
 * agate_exec_lock - lock an object's reservation, unless the set holds it already
 * @exec: the set
 * @obj: the object; other objects may share its reservation
 *
 * Context: may sleep; the caller is inside the loop.
 * Return: 0; -EDEADLK, for agate_exec_retry(); -EINTR; -ENOMEM.
 */
int agate_exec_lock(struct agate_exec *exec, struct drm_gem_object *obj);

/**
 * agate_exec_lock_victim - lock the reservation of an object that has to leave its memory
 * @exec: the set
 * @obj: the object; the set does not hold its reservation
 *
 * It stays locked until the pass ends, and after -EDEADLK until the next pass ends.
 *
 * Context: as agate_exec_lock(), whose calls of this pass have all been made.
 * Return: as agate_exec_lock().
 */
int agate_exec_lock_victim(struct agate_exec *exec, struct drm_gem_object *obj);

/** agate_exec_holds - does the set hold this reservation? */
bool agate_exec_holds(const struct agate_exec *exec, struct dma_resv *resv);

/** agate_exec_holds_victim - does it hold it as a victim's, and for nobody else? */
bool agate_exec_holds_victim(const struct agate_exec *exec, struct dma_resv *resv);

/**
 * agate_exec_reserve - make room for fences in every reservation of the set
 * @exec: the set
 * @fences: how many the caller may add to each
 *
 * Return: 0 or -ENOMEM.
 */
int agate_exec_reserve(struct agate_exec *exec, unsigned int fences);

/**
 * agate_exec_add_fence - add a fence to every reservation of the set
 * @exec: the set; agate_exec_reserve() has made room
 * @fence: the fence
 * @usage: what it stands for
 *
 * Victims' reservations do not get it.
 */
void agate_exec_add_fence(struct agate_exec *exec, struct dma_fence *fence,
			  enum dma_resv_usage usage);

/**
 * agate_exec_retry - must the loop run once more?
 * @exec: the set
 * @ret: how the last pass ended; changed if this call fails
 *
 * After -EDEADLK this unlocks all and waits for the contended reservation.  The next
 * pass then begins with that one locked, and it stays locked whether or not the pass
 * asks for it.
 *
 * Return: true if the pass ended with -EDEADLK, and the next one may begin.
 */
bool agate_exec_retry(struct agate_exec *exec, int *ret);

#endif /* AGATE_EXEC_H */
