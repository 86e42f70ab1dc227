/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frame's services for the card's global table (agate_ggtt.h): the way to its entries, its
 * nodes and its scratch page.
 */
#ifndef AGATE_GGTT_FRAME_H
#define AGATE_GGTT_FRAME_H

struct agate_device;

/**
 * agate_ggtt_frame_init - make the table usable for the firmware
 * @adev: the device, which has a card; its memory has managers
 *
 * Return: 0; -ENOMEM; -ENODEV; -EOPNOTSUPP when the topic is absent.
 */
int agate_ggtt_frame_init(struct agate_device *adev);

/** agate_ggtt_frame_fini - undo agate_ggtt_frame_init() */
void agate_ggtt_frame_fini(struct agate_device *adev);

/**
 * agate_ggtt_frame_sleep - the table is going to be lost
 * @adev: the device
 *
 * Addresses that are given back from here on are free after agate_ggtt_frame_wake().
 *
 * Context: may sleep.
 */
void agate_ggtt_frame_sleep(struct agate_device *adev);

/**
 * agate_ggtt_frame_wake - the table is as it was; take away what was given back meanwhile
 * @adev: the device, whose card has its power
 *
 * Context: may sleep.
 */
void agate_ggtt_frame_wake(struct agate_device *adev);

#endif /* AGATE_GGTT_FRAME_H */
