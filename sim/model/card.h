/* SPDX-License-Identifier: MIT */
/*
 * The card: what its parts share, which is its interrupt and its supply.
 *
 * vram.c has its memory, ggtt.c and ggtt_port.c its global table; other files have its
 * engines.  Each part is a block of its own whose lose() forgets everything when the
 * supply goes.  Without a supply, or without a card, card_block answers for all of them.
 */
#ifndef AGATE_MODEL_CARD_H
#define AGATE_MODEL_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_card.h"
#include "block.h"

/* GPU cycles that a job pays for 64 bytes of system memory when there is a card. */
#define CARD_RAM_LINE_CYCLES	3u

struct card {
	bool present;
	bool supplied;		/* CARD_POWER */
	bool cut;		/* the platform has taken the supply away */
	bool busy;		/* the mover has a command */
	uint32_t features;	/* CARD_FEATURES */
	uint32_t losses;
};

/* The registers that the parts share; the first of the card's blocks. */
extern const struct block card_block;

/* There is a card, and it has power. */
bool card_on(const struct agate_sim *sim);

/* Write CARD_POWER. */
void card_supply(struct agate_sim *sim, bool on);

/* Set bits of CARD_INT_RAWSTAT. */
void card_raise(struct agate_sim *sim, uint32_t bits);

#endif /* AGATE_MODEL_CARD_H */
