/* SPDX-License-Identifier: MIT */
/*
 * A hostile guest's card: what its engines are given to read, and where.
 */
#ifndef AGATE_FUZZ_CARD_MEMORY_H
#define AGATE_FUZZ_CARD_MEMORY_H

#include "hostile_guest.h"

#include "agate_card.h"

/* Pages of RAM; GGTT address CARD_SHOWN + n pages is page n of RAM. */
enum card_page {
	CARD_PAGE_BLOB = 48,	/* and the next one */
	CARD_PAGE_ADS = 50,
	CARD_PAGE_CONTEXT,
	CARD_PAGE_SCRATCH,
	CARD_PAGE_RING,		/* of 64 commands */
	CARD_PAGE_LIST,		/* and the next one: lists of pages */
};

#define CARD_SHOWN		0x800000u
#define CARD_SHOWN_PAGES	GUEST_PAGES
#define CARD_RING_COMMANDS	64u
#define CARD_VRAM_TOTAL		(16 * GUEST_VRAM)

static inline uint32_t card_shown(enum card_page page)
{
	return CARD_SHOWN + (uint32_t)page * GUEST_PAGE;
}

static inline void *card_page(enum card_page page)
{
	return guest_ram(GUEST_RAM + (uint64_t)page * GUEST_PAGE, GUEST_PAGE);
}

/* A guest with a card, whose GGTT shows RAM. */
struct guest *card_guest_new(const uint8_t *data, size_t size);

/* An entry in the table itself. */
void card_put_entry(struct guest *g, uint32_t n, uint64_t entry);

/* The entry of a page, as it is at first. */
static inline void card_show(struct guest *g, unsigned int page)
{
	card_put_entry(g, CARD_SHOWN / GUEST_PAGE + page,
		       AGATE_GGTT_PRESENT | (GUEST_RAM + page * GUEST_PAGE));
}

/* Good firmware with so much payload, its ADS, and a context; and the FW registers. */
void card_put_firmware(struct guest *g, uint32_t payload);
void card_put_context(uint32_t head, uint32_t seqno);

uint32_t crc_of(const uint8_t *bytes, size_t size);

#endif /* AGATE_FUZZ_CARD_MEMORY_H */
