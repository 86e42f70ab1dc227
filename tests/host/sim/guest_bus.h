/* SPDX-License-Identifier: MIT */
/*
 * The guest's end of BAR2's access queue, for tests that have no guest.
 */
#ifndef AGATE_TEST_GUEST_BUS_H
#define AGATE_TEST_GUEST_BUS_H

#include <stddef.h>
#include <stdint.h>

#include "agate_bar2.h"

#define BAR2_TEST_SIZE	0x200000u	/* header to 1 MiB of VRAM */

/* A memfd laid out as the launcher does it, with 1 MiB of VRAM; its mapping. */
int guest_bus_create(uint8_t **bar2);

struct agate_bar2_header *guest_bus_header(uint8_t *bar2);
struct agate_bar2_ctrl *guest_bus_ctrl(uint8_t *bar2);

/* Append one entry, unchanged, and publish it. */
void guest_bus_push(uint8_t *bar2, struct agate_bar2_entry entry);

#endif /* AGATE_TEST_GUEST_BUS_H */
