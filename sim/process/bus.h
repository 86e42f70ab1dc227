/* SPDX-License-Identifier: MIT */
/*
 * The GPU's end of the access queue in BAR2 (agate_bar2.h).
 */
#ifndef AGATE_PROCESS_BUS_H
#define AGATE_PROCESS_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agate_bar2.h"
#include "agate_sim.h"

struct bus {
	struct agate_bar2_ctrl *ctrl;
	struct agate_bar2_entry *queue;
	uint32_t len;			/* entries, a power of two */
	uint32_t head;			/* ours: the copy in ctrl only informs the guest */
	void *gsm;
	size_t gsm_size;
	void *vram;
	size_t vram_size;
	struct agate_bar2_header *header;
};

/*
 * Read the layout from the header that the launcher wrote.  Returns NULL, or
 * what is wrong with it.
 */
const char *bus_open(struct bus *bus, void *bar2, size_t size);

/*
 * Show the guest less than the launcher made room for: no GSM, or less VRAM.  Call these
 * before the guest reads the header.
 */
void bus_hide_gsm(struct bus *bus);
void bus_hide_vram(struct bus *bus, uint64_t size);

/*
 * Carry out at most max accesses; returns how many entries were consumed.  An access that
 * makes no sense gives a hint.
 */
unsigned int bus_run(struct bus *bus, struct agate_sim *sim, unsigned int max);

bool bus_pending(const struct bus *bus);

/*
 * Ask for a doorbell.  Returns false when an entry arrived meanwhile: the caller must not
 * sleep. bus_wake() takes the request back.
 */
bool bus_sleep(struct bus *bus);
void bus_wake(struct bus *bus);

#endif /* AGATE_PROCESS_BUS_H */
