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

#endif /* AGATE_GGTT_FRAME_H */
