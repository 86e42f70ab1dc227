// SPDX-License-Identifier: MIT
/*
 * The firmware's registers and checks (hardware.md, section 6.5).
 */
#include "firmware.h"

#include <string.h>

#include "model.h"

/* What the firmware leaves in the page that the ADS gives it. */
#define FW_SCRIBBLE	0xf5

_Static_assert(sizeof(struct agate_fw_header) == 32, "header layout");
_Static_assert(sizeof(struct agate_ads) == 32, "ADS layout");

static uint32_t fw_status(const struct firmware *fw)
{
	return fw->state | (uint32_t)fw->reason << 8 | fw->version << 16;
}

/* ---- The blob --------------------------------------------------------------- */

/* Before any firmware runs, all that one might take is out of bounds. */
static bool fw_may_lie_at(uint32_t addr)
{
	return addr % GGTT_PAGE == 0 && addr >= GGTT_RESERVED_BYTES && addr < GGTT_END;
}

static bool fw_length_ok(const struct firmware *fw, const struct agate_fw_header *header)
{
	return header->size == fw->size && fw->size >= sizeof(*header) &&
	       fw->size <= AGATE_FW_MAX_SIZE && fw->size <= GGTT_END - fw->base &&
	       header->reserved_bytes % GGTT_PAGE == 0 &&
	       header->reserved_bytes <= GGTT_RESERVED_BYTES;
}

static enum agate_fw_reason fw_check_crc(struct agate_sim *sim, uint32_t expected)
{
	const struct firmware *fw = &sim->firmware;
	uint32_t at = sizeof(struct agate_fw_header), crc = UINT32_MAX;
	uint8_t piece[GGTT_PAGE];

	while (at < fw->size) {
		uint32_t room = GGTT_PAGE - at % GGTT_PAGE, left = fw->size - at;
		uint32_t len = left < room ? left : room;

		if (ggtt_read(sim, fw->base + at, 0, piece, len))
			return AGATE_FW_ADDRESS;
		crc = crc32_update(&sim->crc32, crc, piece, len);
		at += len;
	}
	return ~crc == expected ? 0 : AGATE_FW_CRC;
}

static enum agate_fw_reason fw_check_blob(struct agate_sim *sim, struct agate_fw_header *header)
{
	const struct firmware *fw = &sim->firmware;
	uint32_t unused;

	if (inject_strikes(sim, AGATE_SIM_INJECT_FAIL_FW, 0, &unused))
		return AGATE_FW_CRC;
	if (!fw_may_lie_at(fw->base) ||
	    ggtt_read(sim, fw->base, 0, header, sizeof(*header)))
		return AGATE_FW_ADDRESS;
	if (header->magic != AGATE_FW_HEADER_MAGIC)
		return AGATE_FW_MAGIC;
	if (header->version >> 16 != AGATE_FW_MAJOR)
		return AGATE_FW_VERSION;
	if (!fw_length_ok(fw, header))
		return AGATE_FW_LENGTH;
	return fw_check_crc(sim, header->crc32);
}

/* ---- The ADS page ----------------------------------------------------------- */

static bool fw_ads_ok(const struct agate_ads *ads)
{
	return ads->magic == AGATE_ADS_MAGIC && ads->version == AGATE_ADS_VERSION &&
	       ads->ring_order >= AGATE_RING_MIN_ORDER &&
	       ads->ring_order <= AGATE_RING_MAX_ORDER &&
	       ads->ring % GGTT_PAGE == 0 && ads->context % GGTT_PAGE == 0 &&
	       ads->scratch % GGTT_PAGE == 0;
}

static enum agate_fw_reason fw_check_ads(struct agate_sim *sim, struct agate_ads *ads)
{
	const struct firmware *fw = &sim->firmware;

	if (!fw_may_lie_at(fw->ads) ||
	    ggtt_read(sim, fw->ads, 0, ads, sizeof(*ads)) || !fw_ads_ok(ads))
		return AGATE_FW_ADS;
	return 0;
}

static enum agate_fw_reason fw_use_scratch(struct agate_sim *sim, const struct agate_ads *ads)
{
	uint8_t page[GGTT_PAGE];

	memset(page, FW_SCRIBBLE, sizeof(page));
	return ggtt_write(sim, ads->scratch, 0, page, sizeof(page)) ? AGATE_FW_ADS : 0;
}

/* ---- START and STOP --------------------------------------------------------- */

static void fw_become(struct agate_sim *sim, unsigned int state, enum agate_fw_reason reason,
		      uint32_t version)
{
	struct firmware *fw = &sim->firmware;

	fw->state = state;
	fw->reason = reason;
	fw->version = version;
	fw->due = 0;
	sim_event(sim, AGATE_EV_FW, fw_status(fw), 0, 0, NULL);
}

static void fw_fail(struct agate_sim *sim, enum agate_fw_reason reason)
{
	ggtt_set_usable(sim, 0);
	fw_become(sim, FW_STATUS_FAILED, reason, 0);
	card_raise(sim, CARD_INT_FW);
}

static void fw_end_check(struct agate_sim *sim)
{
	struct agate_fw_header header;
	struct agate_ads ads;
	enum agate_fw_reason reason = fw_check_blob(sim, &header);

	if (!reason)
		reason = fw_check_ads(sim, &ads);
	if (reason) {
		fw_fail(sim, reason);
		return;
	}
	/* From here on what the firmware did not take is usable, the scratch page among it. */
	ggtt_set_usable(sim, header.reserved_bytes);
	reason = fw_use_scratch(sim, &ads);
	if (reason) {
		fw_fail(sim, reason);
		return;
	}
	fw_become(sim, FW_STATUS_RUNNING, 0, header.version & 0xffff);
	mover_start(sim, &ads);
	card_raise(sim, CARD_INT_FW);
}

static void fw_start(struct agate_sim *sim)
{
	struct firmware *fw = &sim->firmware;

	if (fw->state == FW_STATUS_CHECKING || fw->state == FW_STATUS_RUNNING) {
		sim_hint(sim, 6, "FW_CMD START is ignored: the firmware was started already");
		return;
	}
	fw_become(sim, FW_STATUS_CHECKING, 0, 0);
	fw->due = sim_due(sim, AGATE_SIM_LATENCY_FW);
	fw->watched = false;
}

static void fw_stop(struct agate_sim *sim)
{
	if (sim->firmware.state == FW_STATUS_OFF)
		return;
	if (sim->card.busy)
		sim_hint(sim, 6, "FW_CMD STOP while the mover has commands: it stops at once");
	mover_stop(sim, "stopped");
	ggtt_set_usable(sim, 0);
	fw_become(sim, FW_STATUS_OFF, 0, 0);
}

static void fw_run_due(struct agate_sim *sim)
{
	const struct firmware *fw = &sim->firmware;

	if (fw->state == FW_STATUS_CHECKING && fw->due <= sim->time)
		fw_end_check(sim);
}

static uint64_t fw_next_due(const struct agate_sim *sim, bool all)
{
	const struct firmware *fw = &sim->firmware;

	if (fw->state == FW_STATUS_CHECKING &&
	    (all || fw->watched || (sim->irq[AGATE_VECTOR_CARD].mask & CARD_INT_FW)))
		return fw->due;
	return TIME_NEVER;
}

void firmware_unstick(struct agate_sim *sim)
{
	struct firmware *fw = &sim->firmware;

	if (fw->state == FW_STATUS_CHECKING && fw->due == TIME_NEVER)
		fw->due = sim_due(sim, AGATE_SIM_LATENCY_FW);
}

static void fw_lose(struct agate_sim *sim)
{
	bool off = sim->firmware.state == FW_STATUS_OFF;

	sim->firmware = (struct firmware){ 0 };
	if (!off)
		fw_become(sim, FW_STATUS_OFF, 0, 0);
}

/* ---- Registers -------------------------------------------------------------- */

static bool fw_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	const struct firmware *fw = &sim->firmware;

	switch (offset) {
	case FW_BASE:
		*value = fw->base;
		return true;
	case FW_SIZE:
		*value = fw->size;
		return true;
	case FW_ADS:
		*value = fw->ads;
		return true;
	case FW_CMD:
		*value = 0;
		return true;
	case FW_STATUS:
		*value = fw_status(fw);
		return true;
	}
	return false;
}

static void fw_was_read(struct agate_sim *sim, uint32_t offset)
{
	if (offset == FW_STATUS)
		sim->firmware.watched = true;
}

static bool fw_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	struct firmware *fw = &sim->firmware;

	switch (offset) {
	case FW_BASE:
		fw->base = value;
		return true;
	case FW_SIZE:
		fw->size = value;
		return true;
	case FW_ADS:
		fw->ads = value;
		return true;
	case FW_CMD:
		if (value == FW_CMD_START)
			fw_start(sim);
		else if (value == FW_CMD_STOP)
			fw_stop(sim);
		else
			sim_hint(sim, 6, "unknown FW_CMD");
		return true;
	}
	return false;
}

const struct block firmware_block = {
	.first = FW_BASE,
	.last = FW_STATUS,
	.read = fw_read,
	.was_read = fw_was_read,
	.write = fw_write,
	.section = 6,
	.beside_gpu = true,
	.run_due = fw_run_due,
	.next_due = fw_next_due,
	.lose = fw_lose,
};
