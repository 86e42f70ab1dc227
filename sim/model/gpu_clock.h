/* SPDX-License-Identifier: MIT */
/*
 * The GPU's clock, and the counter of its cycles.
 *
 * Model time is counted in cycles of the bus, whose clock never changes; work is
 * counted in cycles of the GPU's, and a slow clock makes it take longer.
 */
#ifndef AGATE_MODEL_GPU_CLOCK_H
#define AGATE_MODEL_GPU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_regs.h"

struct agate_sim;

struct operating_point {
	uint32_t mhz;
	uint32_t volt;		/* minimum supply voltage, mV */
};

/* The slowest first; the firmware selects the last one. */
extern const struct operating_point clock_points[AGATE_CLK_MAX_POINTS];

struct clock {
	unsigned int point;	/* the operating point that CLK_SELECT names */
	uint64_t since;		/* model time of the last change of clock ... */
	uint64_t ticks;		/* ... and cycles until then, in units of 1 / AGATE_BUS_MHZ */
	uint64_t owed;		/* work of less than a bus cycle, in the same units */
};

/* GPU_CYCLE_COUNT, which a reset of the GPU clears and stops. */
struct cycle_count {
	bool runs;
	uint64_t base;		/* while it runs: clock_cycles() when it read 0 */
	uint64_t stopped;	/* while it does not: its value */
};

void clock_init(struct agate_sim *sim);
void clock_select(struct agate_sim *sim, unsigned int point);
uint32_t clock_mhz(const struct agate_sim *sim);

/* Cycles since creation. */
uint64_t clock_cycles(const struct agate_sim *sim);

/* How many bus cycles so many cycles of work take at the present clock. */
uint64_t clock_bus_cycles(struct agate_sim *sim, unsigned int cycles);

void cycle_count_run(struct agate_sim *sim, bool run);
uint64_t cycle_count_read(const struct agate_sim *sim);

#endif /* AGATE_MODEL_GPU_CLOCK_H */
