/* SPDX-License-Identifier: MIT */
/*
 * The scanout: the part of the card that shows a frame.  The owner of the model gets its
 * rows (agate_sim.h).
 */
#ifndef AGATE_MODEL_SCAN_H
#define AGATE_MODEL_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_card.h"
#include "block.h"

struct scan_frame {
	uint64_t base;
	uint32_t size;
	uint32_t stride;
	uint32_t format;
};

struct scanout {
	struct scan_frame next;		/* the registers */
	struct scan_frame flip;		/* as they were at SCAN_FLIP */
	uint64_t due;			/* of the flip; 0: none is pending */
	bool failing;			/* an injection struck it */
	bool watched;			/* somebody polls for its end */
	uint32_t frames;		/* shown since the card was made */
};

extern const struct block scanout_block;

/* End a stuck flip, as if it had begun now. */
void scanout_unstick(struct agate_sim *sim);

#endif /* AGATE_MODEL_SCAN_H */
