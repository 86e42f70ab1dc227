/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The card's firmware: a file that the driver loads into kernel memory, and starts.
 *
 * Until it runs the mover does nothing.  It reads its parameters once, when it starts, from
 * the ADS page: where the ring and the mover's context are.
 */
#ifndef AGATE_FW_H
#define AGATE_FW_H

#include <linux/types.h>

struct agate_device;
struct agate_kmem;

/* Under /lib/firmware. */
#define AGATE_FW_FILE	"agate/card.fw"

/**
 * struct agate_fw - the firmware and what it needs
 * @blob: the file's contents
 * @ads: struct agate_ads
 * @ring: the mover's commands
 * @context: struct agate_mover_context
 * @scratch: a page for the firmware itself
 * @size: bytes of the file
 */
struct agate_fw {
	struct agate_kmem *blob;
	struct agate_kmem *ads;
	struct agate_kmem *ring;
	struct agate_kmem *context;
	struct agate_kmem *scratch;
	u32 size;
};

/**
 * agate_fw_init - load the firmware, and start it
 * @adev: its GGTT works
 *
 * Return: 0; -ENOENT without the file; -EINVAL for a file that is none; -EIO, and a message
 * with the reason, if the card refuses it; -ENOMEM; -ENOSPC; -ETIMEDOUT; -ENODEV.
 */
int agate_fw_init(struct agate_device *adev);

/** agate_fw_fini - stop the firmware, and give its memory back; works if the GPU is gone */
void agate_fw_fini(struct agate_device *adev);

/**
 * agate_fw_start - start the firmware that is loaded
 * @adev: the device; also after the card has lost its power and its memory came back
 *
 * Return: as agate_fw_init().
 */
int agate_fw_start(struct agate_device *adev);

/**
 * agate_fw_stop - stop the mover, in the middle of a command if need be
 * @adev: the device
 *
 * Context: any.
 * Return: 0, also when the GPU is gone; -ETIMEDOUT: it may go on.
 */
int agate_fw_stop(struct agate_device *adev);

#endif /* AGATE_FW_H */
