/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A frame: the part of a BO that the card's display reads.
 *
 * As long as it lives its BO is pinned, and it may have addresses in the global table.
 */
#ifndef AGATE_FRAME_H
#define AGATE_FRAME_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/types.h>

struct agate_bo;
struct agate_device;
struct agate_file;
struct agate_ggtt_node;
struct drm_agate_flip;
struct drm_file;

/**
 * struct agate_frame - a part of a BO that the display reads
 * @kref: FLIP's reference, and one of struct agate_scan
 * @adev: the device
 * @file: who showed it; NULL: it has been closed
 * @bo: with a reference
 * @pinned: it is placed, and stays where it is
 * @node: its addresses in the global table, or NULL
 * @offset: of the first pixel in the BO
 * @bytes: from there to the end of the last row
 * @base: the first pixel's address
 * @size: for the registers, as the next two
 * @stride: bytes
 * @format: with SCAN_FORMAT_PHYS
 * @result: of its flip; -EINPROGRESS before that has ended
 * @link: in scan.left
 */
struct agate_frame {
	struct kref kref;
	struct agate_device *adev;
	struct agate_file *file;
	struct agate_bo *bo;
	bool pinned;
	struct agate_ggtt_node *node;
	u64 offset;
	u64 bytes;
	u64 base;
	u32 size;
	u32 stride;
	u32 format;
	int result;
	struct list_head link;
};

/**
 * agate_frame_create - what FLIP is asked to show
 * @adev: the device
 * @file: whose BO it is
 * @args: FLIP's; they name a BO
 *
 * Return: a frame with one reference; -EINVAL; -ENOENT; -ENOMEM.
 */
struct agate_frame *agate_frame_create(struct agate_device *adev, struct drm_file *file,
				       const struct drm_agate_flip *args);

static inline void agate_frame_get(struct agate_frame *frame)
{
	kref_get(&frame->kref);
}

/**
 * agate_frame_put - the last one unpins the BO, and gives the addresses back
 * @frame: the frame
 *
 * Context: may sleep; takes the BO's reservation.
 */
void agate_frame_put(struct agate_frame *frame);

/**
 * agate_frame_pin - keep its BO where it is, or bring it to where the display reaches it
 * @frame: not pinned yet
 *
 * Return: 0; else as agate_placed_pin().
 */
int agate_frame_pin(struct agate_frame *frame);

/**
 * agate_frame_wait - wait for the jobs that write its BO
 * @frame: not pinned yet, because others may need the memory meanwhile
 *
 * Context: may sleep for ever, and so it is called outside of drm_dev_enter().
 * Return: 0; -ERESTARTSYS; -ENODEV when the device has gone meanwhile.
 */
int agate_frame_wait(struct agate_frame *frame);

/**
 * agate_frame_map - give it an address
 * @frame: pinned
 *
 * Context: may sleep; takes the BO's reservation; between drm_dev_enter() and drm_dev_exit().
 * Return: 0; -EIO or another error of the move for a BO whose contents are lost; -ENOSPC;
 * -ENOMEM; -EINTR.
 */
int agate_frame_map(struct agate_frame *frame);

/**
 * agate_frame_map_again - write the entries of its address again
 * @frame: nothing happens if it has no addresses in the global table
 *
 * For a card that has lost its table.
 *
 * Context: may sleep; takes the BO's reservation.
 * Return: 0; -EIO or another error of the move for a BO whose contents are lost.
 */
int agate_frame_map_again(struct agate_frame *frame);

#endif /* AGATE_FRAME_H */
