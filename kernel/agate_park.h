/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is freed later.
 *
 * An object whose last reference is gone may still be in use by the GPU until a fence
 * signals, or its last user may be a thread that must not wait: one on a fence's way to its
 * signal.  Such an object is parked: soon a worker releases it, together with all others that
 * are parked by then.  Its memory holds the entry, so parking needs no memory and cannot
 * fail, and nobody waits.
 *
 * A pending reset is a fence as well (agate_reset_fence()): memory that the GPU could not be
 * told to forget is parked behind it.
 */
#ifndef AGATE_PARK_H
#define AGATE_PARK_H

#include <linux/dma-fence.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/workqueue.h>

struct agate_device;

/**
 * struct agate_park - a device's parked objects
 * @due: struct agate_parked (node): those that wait for nothing any more, newest first
 * @work: releases them; queued while @due is not empty
 * @wq: its queue
 */
struct agate_park {
	struct llist_head due;
	struct delayed_work work;
	struct workqueue_struct *wq;
};

/**
 * struct agate_parked - an object that is released later, embedded in it
 * @park: where it is parked
 * @release: frees the object, and the entry with it
 * @fence: what it waits for, with a reference, or NULL
 * @cb: on @fence
 * @node: in the device's park.due
 */
struct agate_parked {
	struct agate_park *park;
	void (*release)(struct agate_parked *parked);
	struct dma_fence *fence;
	struct dma_fence_cb cb;
	struct llist_node node;
};

/**
 * agate_park_init - make the worker's queue
 * @adev: the device
 * @park: its own one, or another one of it
 * @key: static: lockdep tells the locks under which the workers of two parks may be waited for
 *	apart by it
 *
 * It lives as long as the device, whose last steps release what is parked by then.
 *
 * Return: 0 or -ENOMEM.
 */
int agate_park_init(struct agate_device *adev, struct agate_park *park,
		    struct lock_class_key *key);

/**
 * agate_park - release an object later
 * @park: where it waits
 * @parked: its entry, not parked yet
 * @fence: release it only after this has signalled; the reference to it is taken over.
 *	NULL: release it when the worker comes to it
 * @release: may sleep, and may park the object once more
 *
 * Context: any.
 */
void agate_park(struct agate_park *park, struct agate_parked *parked, struct dma_fence *fence,
		void (*release)(struct agate_parked *parked));

/**
 * agate_park_now - do not wait for the fence any more
 * @parked: an object that is parked, and not yet released
 *
 * For the end of the device.  Any client may have put a fence of another driver, or of a program,
 * into a reservation, and nobody knows when that one signals.
 *
 * Context: any; the caller sees to it that nobody uses the object.
 */
void agate_park_now(struct agate_parked *parked);

/**
 * agate_park_release - release now what only waits for the worker
 * @park: where it waits
 *
 * For those who wait for an object to be released.  The worker may be at work, too: when
 * this returns, it may still be releasing what it has found before.
 *
 * Context: may sleep; the caller holds nothing that a release needs.
 */
void agate_park_release(struct agate_park *park);

/**
 * agate_park_flush - the same, and wait until the worker has released what it has found
 * @park: where it waits
 *
 * Context: may sleep; the caller holds nothing that any release of this @park needs.
 */
void agate_park_flush(struct agate_park *park);

/**
 * agate_park_drain - wait until nothing is due any more
 * @park: the park; what a release parks is released, too
 *
 * Context: sleeps; nobody else parks anything.
 */
void agate_park_drain(struct agate_park *park);

#endif /* AGATE_PARK_H */
