/* SPDX-License-Identifier: MIT */
/*
 * The card's firmware: without it the mover takes no commands.
 *
 * START takes model time, after which the card has read the blob and the ADS page, and
 * either runs the firmware or says why not.  It reads neither of them again.
 */
#ifndef AGATE_MODEL_FIRMWARE_H
#define AGATE_MODEL_FIRMWARE_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_card.h"
#include "block.h"

struct firmware {
	uint32_t base, size, ads;	/* the registers */
	unsigned int state;		/* FW_STATUS_OFF ... */
	enum agate_fw_reason reason;	/* while it has failed */
	uint32_t version;		/* while it runs */
	uint64_t due;			/* while it is checked: when that ends */
	bool watched;			/* somebody has read FW_STATUS meanwhile */
};

extern const struct block firmware_block;

/* End a stuck check, as if it had begun now. */
void firmware_unstick(struct agate_sim *sim);

#endif /* AGATE_MODEL_FIRMWARE_H */
