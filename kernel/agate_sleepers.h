/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BOs that are in VRAM when the system goes to sleep (card.sleepers).
 */
#ifndef AGATE_SLEEPERS_H
#define AGATE_SLEEPERS_H

#include "agate_ttm.h"

struct agate_device;

/**
 * agate_sleepers_prepare - list the BOs in VRAM, and get pages to which they can be copied
 * @adev: the device; the list is empty
 *
 * The list has a reference to each, the one used longest ago first.  Clients are frozen, so no BO
 * comes to VRAM from here on.  Jobs still run: the kernel may have to wait for one to find a page.
 *
 * Context: may sleep; takes their reservations; under unplug_lock.
 * Return: 0; -ENOMEM; as agate_tt_bind().  agate_sleepers_release() comes after an error, too.
 */
int agate_sleepers_prepare(struct agate_device *adev);

/**
 * agate_sleepers_release - drop them, with the pages of those that are in VRAM
 * @adev: the device; the list may be empty
 *
 * Context: may sleep; takes their reservations; under unplug_lock.
 */
void agate_sleepers_release(struct agate_device *adev);

/**
 * agate_sleepers_wait - wait until the moves of a BO have ended, but not for ever
 * @bo: its reservation is held
 *
 * Return: 0; -EBUSY; -ENODEV when the GPU is gone.
 */
int agate_sleepers_wait(struct agate_ttm_bo *bo);

/**
 * agate_sleepers_save - copy a BO's VRAM to pages of its own, and wait for that
 * @bo: in VRAM, where it stays; its reservation is held
 *
 * Return: 0; -ENOMEM; -EIO or another error of the mover; -EBUSY; -ENODEV.  Afterwards or
 * after an error agate_sleepers_release() frees the pages.
 */
int agate_sleepers_save(struct agate_ttm_bo *bo);

/**
 * agate_sleepers_restore - copy them back, and wait for that
 * @bo: after agate_sleepers_save(); its reservation is held
 *
 * Return: as agate_sleepers_save().
 */
int agate_sleepers_restore(struct agate_ttm_bo *bo);

/** agate_sleepers_saved - was this BO saved where it is?  Its reservation is held. */
bool agate_sleepers_saved(const struct agate_ttm_bo *bo);

#endif /* AGATE_SLEEPERS_H */
