// SPDX-License-Identifier: MIT
/*
 * Power input, supplies and clock (hardware.md, section 7): their registers.  A wrong order gives a
 * hint and does no other harm: the model does not know the margins of real silicon,
 * and a driver that relies on a margin is wrong all the same.
 */
#include "model.h"

#define VOLT_MIN	500u	/* lowest supply voltage, mV */
#define VOLT_MAX	1200u

static int soc_init(struct agate_sim *sim, const struct agate_sim_config *config)
{
	clock_init(sim);
	sim->soc = (struct soc){
		.power_in = !config->power_in_off,
		.volt = clock_points[sim->clock.point].volt,
	};
	return 0;
}

static void soc_event(struct agate_sim *sim)
{
	const struct soc *soc = &sim->soc;

	sim_event(sim, AGATE_EV_CLOCK, clock_mhz(sim), soc->volt, soc->power_in, NULL);
}

/* A clock or a supply that keeps its setting, as a PLL does that finds no lock. */
static bool soc_refuses(struct agate_sim *sim)
{
	uint32_t unused;

	return inject_strikes(sim, AGATE_SIM_INJECT_REFUSE_CLOCK, 0, &unused);
}

static void soc_select(struct agate_sim *sim, uint32_t value)
{
	if (value >= AGATE_CLK_MAX_POINTS) {
		sim_hint(sim, 7, "CLK_SELECT names no operating point");
		return;
	}
	if (soc_refuses(sim))
		return;
	if (value > sim->clock.point && clock_points[value].volt > sim->soc.volt)
		sim_hint(sim, 7, "the frequency is raised before the voltage");
	clock_select(sim, value);
	soc_event(sim);
}

static void soc_supply(struct agate_sim *sim, uint32_t value)
{
	struct soc *soc = &sim->soc;

	if (value < VOLT_MIN || value > VOLT_MAX) {
		sim_hint(sim, 7, "VOLT_SELECT asks for a voltage that the supply cannot give");
		return;
	}
	if (soc_refuses(sim))
		return;
	if (value < clock_points[sim->clock.point].volt && value < soc->volt)
		sim_hint(sim, 7, "the voltage is lowered before the frequency");
	soc->volt = value;
	soc_event(sim);
}

static void soc_power_in(struct agate_sim *sim, uint32_t value)
{
	bool on = value & 1;

	if (on == sim->soc.power_in)
		return;
	if (!on && power_any(sim))
		sim_hint(sim, 7, "POWER_IN is switched off with power domains on");
	sim->soc.power_in = on;
	if (!on)
		power_lose(sim);
	soc_event(sim);
}

static bool soc_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	unsigned int n = (offset - AGATE_CLK_TABLE_FREQ(0)) / 8;

	switch (offset) {
	case AGATE_POWER_IN:
		*value = sim->soc.power_in;
		return true;
	case AGATE_CLK_SELECT:
		*value = sim->clock.point;
		return true;
	case AGATE_VOLT_SELECT:
		*value = sim->soc.volt;
		return true;
	case AGATE_CLK_POINTS:
		*value = AGATE_CLK_MAX_POINTS;
		return true;
	case AGATE_CARD_POWER:
		*value = sim->card.supplied;
		return true;
	}
	if (offset < AGATE_CLK_TABLE_FREQ(0) || n >= AGATE_CLK_MAX_POINTS)
		return false;
	*value = offset == AGATE_CLK_TABLE_FREQ(n) ? clock_points[n].mhz : clock_points[n].volt;
	return true;
}

static bool soc_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case AGATE_POWER_IN:
		soc_power_in(sim, value);
		return true;
	case AGATE_CLK_SELECT:
		soc_select(sim, value);
		return true;
	case AGATE_VOLT_SELECT:
		soc_supply(sim, value);
		return true;
	case AGATE_CARD_POWER:
		card_supply(sim, value & 1);
		return true;
	}
	return false;
}

const struct block soc_block = {
	.init = soc_init,
	.first = AGATE_SOC_BASE,
	.last = UINT32_MAX,	/* no other block is above it */
	.read = soc_read,
	.write = soc_write,
	.section = 7,
	.beside_gpu = true,
};
