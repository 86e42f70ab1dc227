/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * FLIP: what the card's display shows.
 *
 * The display reads a frame once, at the end of a flip.  A frame has its BO pinned, and its
 * addresses in the global table, from before the flip until another frame is shown: a real
 * display would go on reading it.
 *
 * One flip is under way at a time.  The interrupt thread ends it, and a worker frees the
 * frame that has left, because that takes reservations.
 */
#ifndef AGATE_SCAN_H
#define AGATE_SCAN_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "agate_card.h"

struct agate_device;
struct agate_file;
struct agate_frame;
struct drm_device;
struct drm_file;

/**
 * struct agate_scan - the display of a card
 * @lock: protects all of this, and the registers of the display
 * @pending: the frame of the flip that is under way, or NULL
 * @shown: the frame that was shown last, or NULL
 * @left: struct agate_frame: those that the worker frees
 * @dead: no flip begins any more
 * @asleep: none begins now
 * @work: the worker
 * @wait: woken when a flip ends
 */
struct agate_scan {
	spinlock_t lock;	/* frames, registers */
	struct agate_frame *pending;
	struct agate_frame *shown;
	struct list_head left;
	bool dead;
	bool asleep;
	struct work_struct work;
	wait_queue_head_t wait;
};

/**
 * agate_flip_ioctl - FLIP
 * @dev: the device
 * @data: struct drm_agate_flip
 * @file: whose handle it is
 */
int agate_flip_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

/** agate_scan_init - nothing is shown */
void agate_scan_init(struct agate_device *adev);

/* The events of the display: one of them ends a flip. */
#define AGATE_SCAN_INTS		(CARD_INT_FLIP_DONE | CARD_INT_SCAN_FAULT)

/**
 * agate_scan_serve - look whether the flip has ended, and clear its event
 * @adev: the device
 *
 * Context: any thread.
 */
void agate_scan_serve(struct agate_device *adev);

/**
 * agate_scan_close - a file is closed: the display keeps none of its BOs
 * @adev: the device; its engines have been started
 * @afile: the file
 *
 * If a flip of it is under way, its frame is freed when that ends.
 */
void agate_scan_close(struct agate_device *adev, struct agate_file *afile);

/**
 * agate_scan_suspend - no flip begins until agate_scan_resume()
 * @adev: the device
 *
 * Context: may sleep.
 * Return: 0; -EBUSY for a flip that does not end, and then nothing has changed.
 */
int agate_scan_suspend(struct agate_device *adev);

/**
 * agate_scan_resume - flips begin again
 * @adev: the device, whose card works
 * @again: the card has forgotten what it showed, so show that first
 *
 * Context: may sleep; takes the reservation of the BO that is shown.
 */
void agate_scan_resume(struct agate_device *adev, bool again);

/**
 * agate_scan_shutdown - no flip begins any more; whoever waits for one gets -ENODEV
 * @adev: the device, which reads no memory any more
 *
 * Context: may sleep; may be called again.
 */
void agate_scan_shutdown(struct agate_device *adev);

/**
 * agate_scan_fini - the same for a card that works; all frames are freed
 * @adev: the device, which is unplugged
 */
void agate_scan_fini(struct agate_device *adev);

#endif /* AGATE_SCAN_H */
