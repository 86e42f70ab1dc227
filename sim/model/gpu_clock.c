// SPDX-License-Identifier: MIT
/*
 * The GPU's clock (hardware.md, section 7) and its cycle counter (section 2).
 */
#include "gpu_clock.h"

#include "model.h"

const struct operating_point clock_points[AGATE_CLK_MAX_POINTS] = {
	{ 200, 650 }, { 400, 750 }, { 600, 850 }, { AGATE_BUS_MHZ, 1000 },
};

void clock_init(struct agate_sim *sim)
{
	sim->clock = (struct clock){ .point = AGATE_CLK_MAX_POINTS - 1 };
}

uint32_t clock_mhz(const struct agate_sim *sim)
{
	return clock_points[sim->clock.point].mhz;
}

static uint64_t clock_ticks(const struct agate_sim *sim)
{
	return sim->clock.ticks + (sim->time - sim->clock.since) * clock_mhz(sim);
}

void clock_select(struct agate_sim *sim, unsigned int point)
{
	sim->clock.ticks = clock_ticks(sim);
	sim->clock.since = sim->time;
	sim->clock.point = point;
}

uint64_t clock_cycles(const struct agate_sim *sim)
{
	return clock_ticks(sim) / AGATE_BUS_MHZ;
}

uint64_t clock_bus_cycles(struct agate_sim *sim, unsigned int cycles)
{
	struct clock *clock = &sim->clock;
	uint32_t mhz = clock_mhz(sim);

	clock->owed += (uint64_t)cycles * AGATE_BUS_MHZ;
	cycles = clock->owed / mhz;
	clock->owed %= mhz;
	return cycles;
}

void cycle_count_run(struct agate_sim *sim, bool run)
{
	uint64_t count = cycle_count_read(sim);

	sim->cycle_count = (struct cycle_count){
		.runs = run,
		.base = clock_cycles(sim) - count,
		.stopped = count,
	};
}

uint64_t cycle_count_read(const struct agate_sim *sim)
{
	const struct cycle_count *count = &sim->cycle_count;

	return count->runs ? clock_cycles(sim) - count->base : count->stopped;
}
