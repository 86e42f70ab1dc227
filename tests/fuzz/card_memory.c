// SPDX-License-Identifier: MIT
/*
 * The memory of a hostile guest's card; see card_memory.h.
 */
#include "card_memory.h"

#include "model.h"

static uint64_t gsm[AGATE_GGTT_NUM_ENTRIES];

struct guest *card_guest_new(const uint8_t *data, size_t size)
{
	const struct agate_sim_config card = {
		.vram_total = CARD_VRAM_TOTAL, .gsm = gsm, .gsm_size = sizeof(gsm),
	};
	const struct guest_options options = { .card = &card };
	struct guest *g;
	uint32_t n;

	memset(gsm, 0, sizeof(gsm));
	g = guest_new(data, size, &options);
	for (n = 0; n < CARD_SHOWN_PAGES; n++)
		card_show(g, n);
	wr(g, CARD_INT_MASK, ~0u);
	return g;
}

void card_put_entry(struct guest *g, uint32_t n, uint64_t entry)
{
	g->sim->ggtt.table[n % AGATE_GGTT_NUM_ENTRIES] = entry;
}

uint32_t crc_of(const uint8_t *bytes, size_t size)
{
	uint32_t crc = ~0u;
	unsigned int bit;

	while (size--) {
		crc ^= *bytes++;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

void card_put_context(uint32_t head, uint32_t seqno)
{
	struct agate_mover_context *c = card_page(CARD_PAGE_CONTEXT);

	*c = (struct agate_mover_context){
		.magic = AGATE_CONTEXT_MAGIC, .head = head, .seqno = seqno,
		.check = ~(AGATE_CONTEXT_MAGIC ^ head ^ seqno),
	};
}

void card_put_firmware(struct guest *g, uint32_t payload)
{
	struct agate_fw_header *header = card_page(CARD_PAGE_BLOB);
	struct agate_ads *ads = card_page(CARD_PAGE_ADS);

	*header = (struct agate_fw_header){
		.magic = AGATE_FW_HEADER_MAGIC, .version = AGATE_FW_MAJOR << 16 | 7,
		.size = sizeof(*header) + payload, .reserved_bytes = 0x400000,
	};
	header->crc32 = crc_of((const uint8_t *)(header + 1), payload);
	*ads = (struct agate_ads){
		.magic = AGATE_ADS_MAGIC, .version = AGATE_ADS_VERSION,
		.ring = card_shown(CARD_PAGE_RING), .ring_order = AGATE_RING_MIN_ORDER,
		.context = card_shown(CARD_PAGE_CONTEXT),
		.scratch = card_shown(CARD_PAGE_SCRATCH),
	};
	card_put_context(0, 0);
	wr(g, FW_BASE, card_shown(CARD_PAGE_BLOB));
	wr(g, FW_SIZE, header->size);
	wr(g, FW_ADS, card_shown(CARD_PAGE_ADS));
}
