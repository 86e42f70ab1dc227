// SPDX-License-Identifier: MIT
/*
 * The card's interrupt, identity and supply (hardware.md, section 6.1).
 */
#include "card.h"

#include "model.h"

#define CARD_REVISION	0x00010000u	/* 1.0 */

/* Every register of the card, by first and last of each run. */
static const struct {
	uint32_t first, last;
} card_registers[] = {
	{ CARD_INT_RAWSTAT, CARD_LOSSES },
	{ GGTT_ENTRIES, GGTT_COMMITS },
	{ FW_BASE, FW_STATUS },
	{ MOVER_CMD, MOVER_SEQNO },
	{ MOVER_FAULT_ADDR_LO, MOVER_FAULT_ADDR_HI },
	{ SCAN_BASE_LO, SCAN_FRAMES },
};

static bool card_has_register(uint32_t offset)
{
	unsigned int i;

	for (i = 0; i < sizeof(card_registers) / sizeof(card_registers[0]); i++)
		if (offset >= card_registers[i].first && offset <= card_registers[i].last)
			return true;
	return false;
}

static uint32_t card_features(const struct agate_sim *sim, const struct agate_sim_config *config)
{
	uint32_t features = (config->dma_bits ? config->dma_bits : AGATE_PHYS_BITS) << 8;

	if (sim->identity->table_formats)
		features |= CARD_FEATURE_GGTT_PORT | CARD_FEATURE_GGTT_PAT;
	if (config->ggtt_64k)
		features |= CARD_FEATURE_GGTT_64K;
	return features;
}

static void card_irq_init(struct agate_sim *sim)
{
	uint32_t polled = CARD_INT_MOVER_DONE | CARD_INT_FLIP_DONE | CARD_INT_FW;

	irq_init(&sim->irq[AGATE_VECTOR_CARD], AGATE_VECTOR_CARD,
		 polled | CARD_INT_MOVER_FAULT | CARD_INT_SCAN_FAULT, polled);
}

static int card_init(struct agate_sim *sim, const struct agate_sim_config *config)
{
	card_irq_init(sim);
	if (!config->card)
		return 0;
	sim->card = (struct card){
		.present = true,
		.supplied = true,
		.features = card_features(sim, config),
	};
	return 0;
}

bool card_on(const struct agate_sim *sim)
{
	return sim->card.present && sim->card.supplied && !sim->card.cut;
}

void card_raise(struct agate_sim *sim, uint32_t bits)
{
	irq_raise(sim, &sim->irq[AGATE_VECTOR_CARD], bits);
}

/* ---- Supply ----------------------------------------------------------------- */

/* Called after a change of supplied or cut, with what card_on() was before. */
static void card_changed(struct agate_sim *sim, bool was_on, const char *text)
{
	struct card *card = &sim->card;

	if (card_on(sim) == was_on)
		return;
	if (was_on) {
		card->losses++;
		card->busy = false;
		card_irq_init(sim);
		blocks_lose(sim);
	}
	sim_event(sim, AGATE_EV_CARD_POWER, !was_on, card->losses, 0, text);
}

void card_supply(struct agate_sim *sim, bool on)
{
	bool was_on = card_on(sim);

	if (!sim->card.present) {
		sim_hint(sim, 6, "CARD_POWER is ignored: there is no card");
		return;
	}
	if (was_on && !on && (sim->card.busy || slot_any_active(sim)))
		sim_hint(sim, 6, "POWER off: VRAM holds what nobody saved");
	sim->card.supplied = on;
	card_changed(sim, was_on, on ? "on" : "off");
}

void agate_sim_power_cut(struct agate_sim *sim, bool cut)
{
	bool was_on = card_on(sim);

	sim->card.cut = cut;
	card_changed(sim, was_on, cut ? "cut" : "back");
	powered_account(sim);
}

/* ---- Registers -------------------------------------------------------------- */

static bool card_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	const struct card *card = &sim->card;

	if (!card_on(sim)) {
		*value = 0;
		return card_has_register(offset);
	}
	switch (offset) {
	case CARD_INT_RAWSTAT:
	case CARD_INT_CLEAR:
	case CARD_INT_MASK:
	case CARD_INT_STAT:
		*value = irq_read(&sim->irq[AGATE_VECTOR_CARD], (offset - CARD_INT_RAWSTAT) / 4);
		return true;
	case CARD_ID:
		*value = CARD_REVISION;
		return true;
	case CARD_FEATURES:
		*value = card->features;
		return true;
	case CARD_VRAM_SIZE_LO:
	case CARD_VRAM_SIZE_HI:
		*value = reg_half(sim->vram.size, offset == CARD_VRAM_SIZE_HI);
		return true;
	case CARD_LOSSES:
		*value = card->losses;
		return true;
	}
	return false;
}

/* The driver polls: model time may jump to the transition that it waits for. */
static void card_was_read(struct agate_sim *sim, uint32_t offset)
{
	if (offset > CARD_INT_STAT)
		return;
	sim->firmware.watched = true;
	sim->scanout.watched = true;
	irq_was_read(&sim->irq[AGATE_VECTOR_CARD], (offset - CARD_INT_RAWSTAT) / 4);
}

/* A write that finds no card, or one without power. */
static bool card_drops(struct agate_sim *sim, uint32_t offset)
{
	if (!card_has_register(offset))
		return false;
	if (sim->card.present)
		sim_hint(sim, 6, "a write to a register of the card is lost: it has no power");
	else
		sim_hint(sim, 6, "a write to a register of the card is ignored: there is no card");
	return true;
}

static bool card_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	if (!card_on(sim))
		return card_drops(sim, offset);
	if (offset < CARD_INT_RAWSTAT || offset > CARD_INT_STAT)
		return false;
	irq_write(sim, &sim->irq[AGATE_VECTOR_CARD], (offset - CARD_INT_RAWSTAT) / 4, value);
	return true;
}

const struct block card_block = {
	.init = card_init,
	.first = CARD_BASE,
	.last = CARD_END - 1,
	.read = card_read,
	.was_read = card_was_read,
	.write = card_write,
	.section = 6,
	.beside_gpu = true,
};
