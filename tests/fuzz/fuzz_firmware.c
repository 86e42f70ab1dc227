// SPDX-License-Identifier: MIT
/*
 * Firmware of any bytes, with any ADS and any registers: the card runs it, or refuses it for
 * the reason that the specification demands.
 */
#include "actions.h"
#include "card_memory.h"
#include "model.h"

#define MAX_STARTS	4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * The byte of RAM or of VRAM behind an entry; NULL: engines refuse it.  Where VRAM is shown by
 * groups of 16 entries they do: an input cannot write so many.
 */
static const uint8_t *behind(const struct guest *g, uint64_t entry, uint32_t at)
{
	const struct vram *vram = &g->sim->vram;
	uint64_t where = (entry & AGATE_GGTT_ADDR) + at;

	if (!(entry & AGATE_GGTT_VRAM))
		return guest_ram(where, 1);
	if (g->sim->card.features & CARD_FEATURE_GGTT_64K)
		return NULL;
	if (where < vram->visible)
		return vram->shown + where;
	return where < vram->size ? vram->hidden + (where - vram->visible) : NULL;
}

/* The bytes that engines read at addr; false: not all of them are shown. */
static bool look(const struct guest *g, uint32_t addr, uint8_t *to, uint32_t len)
{
	while (len--) {
		uint64_t entry = g->sim->ggtt.table[addr / GUEST_PAGE];
		uint64_t flags = entry & ~AGATE_GGTT_ADDR;
		const uint8_t *at;

		if ((flags & ~AGATE_GGTT_VRAM) != AGATE_GGTT_PRESENT)
			return false;
		at = behind(g, entry, addr % GUEST_PAGE);
		if (!at)
			return false;
		*to++ = *at;
		addr++;
	}
	return true;
}

static bool place_ok(uint32_t addr)
{
	return addr % GUEST_PAGE == 0 && addr >= 0x800000 && addr < 0xfe00000;
}

static enum agate_fw_reason want_blob(const struct guest *g)
{
	static uint8_t blob[sizeof(struct agate_fw_header) + AGATE_FW_MAX_SIZE];
	const struct firmware *fw = &g->sim->firmware;
	struct agate_fw_header header;

	if (!place_ok(fw->base) ||
	    !look(g, fw->base, (uint8_t *)&header, sizeof(header)))
		return AGATE_FW_ADDRESS;
	if (header.magic != AGATE_FW_HEADER_MAGIC)
		return AGATE_FW_MAGIC;
	if (header.version >> 16 != AGATE_FW_MAJOR)
		return AGATE_FW_VERSION;
	if (header.size != fw->size || fw->size < sizeof(header) ||
	    fw->size > AGATE_FW_MAX_SIZE || fw->size > 0xfe00000 - fw->base || header.reserved_bytes % GUEST_PAGE ||
	    header.reserved_bytes > 0x800000)
		return AGATE_FW_LENGTH;
	if (!look(g, fw->base, blob, fw->size))
		return AGATE_FW_ADDRESS;
	return crc_of(blob + sizeof(header), fw->size - sizeof(header)) == header.crc32 ?
	       0 : AGATE_FW_CRC;
}

/* The scratch page is another matter: it may lie where the firmware left room. */
static enum agate_fw_reason want(const struct guest *g)
{
	enum agate_fw_reason reason = want_blob(g);
	struct agate_ads ads;

	if (reason)
		return reason;
	if (!place_ok(g->sim->firmware.ads) ||
	    !look(g, g->sim->firmware.ads, (uint8_t *)&ads, sizeof(ads)) ||
	    ads.magic != AGATE_ADS_MAGIC || ads.version != 1 || ads.ring_order < 6 ||
	    ads.ring_order > 12 || (ads.ring | ads.context | ads.scratch) % GUEST_PAGE)
		return AGATE_FW_ADS;
	return 0;
}

/* ---- What the input breaks ---- */

static void break_bytes(struct input *in, enum card_page page, uint32_t most)
{
	uint8_t *at = card_page(page);

	at[take16(in) % most] = take8(in);
}

/* Mostly a sensible number, whose register or field is another one. */
static uint32_t take_number(struct input *in)
{
	unsigned int kind = take8(in);

	if (kind < 0x40)
		return card_shown(kind % GUEST_PAGES);
	return kind < 0x80 ? kind * 64u : take32(in);
}

static void break_one(struct guest *g)
{
	static const uint32_t registers[] = { FW_BASE, FW_SIZE, FW_ADS };
	struct agate_fw_header *header = card_page(CARD_PAGE_BLOB);
	unsigned int kind = take8(&g->in);
	uint32_t number = take_number(&g->in);

	switch (kind % 8) {
	case 0:
		break_bytes(&g->in, CARD_PAGE_BLOB, sizeof(*header));
		break;
	case 1:
		break_bytes(&g->in, CARD_PAGE_BLOB, GUEST_PAGE);
		break;
	case 2:
		break_bytes(&g->in, CARD_PAGE_ADS, sizeof(struct agate_ads));
		break;
	case 3:
		memcpy((uint8_t *)card_page(CARD_PAGE_ADS) + kind / 8 % 6 * 4, &number, 4);
		break;
	case 4:
		wr(g, registers[kind / 8 % 3], number);
		break;
	case 5:
		header->reserved_bytes = number;
		break;
	case 6:
		header->size = number;
		wr(g, FW_SIZE, number);
		break;
	default:
		card_put_entry(g, CARD_SHOWN / GUEST_PAGE + CARD_PAGE_BLOB + kind / 8 % 6,
			       kind & 0x80 ? take64(&g->in) : 0);
	}
}

static void check_status(struct guest *g, enum agate_fw_reason reason)
{
	uint32_t status = rd(g, FW_STATUS);

	if (FW_STATUS_STATE(status) == FW_STATUS_RUNNING) {
		const struct agate_fw_header *header = card_page(CARD_PAGE_BLOB);

		REQUIRE(!reason);
		/* Unless the scratch page was the blob's own. */
		if (header->magic == AGATE_FW_HEADER_MAGIC)
			REQUIRE(rd(g, GGTT_USABLE_START) == header->reserved_bytes ||
				g->sim->firmware.base != card_shown(CARD_PAGE_BLOB));
		return;
	}
	REQUIRE(FW_STATUS_STATE(status) == FW_STATUS_FAILED);
	REQUIRE(FW_STATUS_VERSION(status) == 0 && rd(g, GGTT_USABLE_START) == 0);
	REQUIRE(FW_STATUS_REASON(status) == reason ||
		(!reason && FW_STATUS_REASON(status) == AGATE_FW_ADS));
}

static void start(struct guest *g)
{
	unsigned int breaks = take8(&g->in) % 4;
	uint8_t *payload = (uint8_t *)card_page(CARD_PAGE_BLOB) + sizeof(struct agate_fw_header);

	payload[0] = take8(&g->in);
	card_put_firmware(g, take16(&g->in) % (GUEST_PAGE - sizeof(struct agate_fw_header)));
	while (breaks--)
		break_one(g);
	wr(g, GGTT_INVALIDATE, 1);
	wr(g, FW_CMD, FW_CMD_START);
	if (g->sim->firmware.state == FW_STATUS_CHECKING) {
		enum agate_fw_reason reason = want(g);

		while (step(g, 16))
			;
		check_status(g, reason);
	}
	guest_check_lines(g);
	wr(g, CARD_INT_CLEAR, ~0u);
	wr(g, FW_CMD, FW_CMD_STOP);
	REQUIRE(rd(g, FW_STATUS) == FW_STATUS_OFF);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guest *g = card_guest_new(data, size);
	unsigned int n;

	for (n = 0; n < MAX_STARTS && input_left(&g->in); n++)
		start(g);
	guest_end(g);
	return 0;
}
