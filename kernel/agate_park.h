/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is freed later.
 *
 * An object whose last reference is gone may still be in use by the GPU until a fence
 * signals, or its last user may be a thread that must not wait: one on a fence's way to its
 * signal.  Such an object is parked: a worker releases it.  Its memory holds the entry, so
 * parking needs no memory and cannot fail, and nobody waits.
 *
 * A pending reset is a fence as well (agate_reset_fence()): memory that the GPU could not be
 * told to forget is parked behind it.
 */
#ifndef AGATE_PARK_H
#define AGATE_PARK_H

#include <linux/dma-fence.h>
#include <linux/workqueue.h>

struct agate_device;

/**
 * struct agate_parked - an object that is released later, embedded in it
 * @release: frees the object, and the entry with it
 * @fence: what it waits for, with a reference, or NULL
 * @cb: on @fence
 * @wq: the worker's queue
 * @work: calls @release
 */
struct agate_parked {
	void (*release)(struct agate_parked *parked);
	struct dma_fence *fence;
	struct dma_fence_cb cb;
	struct workqueue_struct *wq;
	struct work_struct work;
};

/**
 * agate_park_init - make the worker's queue
 * @adev: the device
 *
 * It lives as long as the device, whose last steps release what is parked by then.
 *
 * Return: 0 or -ENOMEM.
 */
int agate_park_init(struct agate_device *adev);

/**
 * agate_park - release an object later
 * @adev: the device
 * @parked: its entry, not parked yet
 * @fence: release it only after this has signalled; the reference to it is taken over.
 *	NULL: release it as soon as the worker comes to it
 * @release: may sleep, and may park the object once more
 *
 * Context: any.
 */
void agate_park(struct agate_device *adev, struct agate_parked *parked, struct dma_fence *fence,
		void (*release)(struct agate_parked *parked));

#endif /* AGATE_PARK_H */
