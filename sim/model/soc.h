/* SPDX-License-Identifier: MIT */
/*
 * The system around the GPU provides a power input, a supply voltage and a clock.
 * They do not belong to the GPU, so no reset of the GPU changes them.
 *
 * Model time is counted in cycles of the bus, whose clock never changes; work is
 * counted in cycles of the GPU's, and a slow clock makes it take longer.
 */
#ifndef AGATE_MODEL_SOC_H
#define AGATE_MODEL_SOC_H

#include <stdbool.h>
#include <stdint.h>

struct agate_sim;

struct soc {
	bool power_in;
	unsigned int point;	/* the operating point that CLK_SELECT names */
	uint32_t volt;		/* mV */
	uint64_t since;		/* model time of the last change of clock ... */
	uint64_t ticks;		/* ... and cycles until then, in units of 1 / AGATE_BUS_MHZ */
	uint64_t owed;		/* work of less than a bus cycle, in the same units */
};

void soc_init(struct agate_sim *sim, bool power_in);

/* Registers from AGATE_SOC_BASE; false: no such register. */
bool soc_read(struct agate_sim *sim, uint32_t offset, uint32_t *value);
bool soc_write(struct agate_sim *sim, uint32_t offset, uint32_t value);

/* Cycles of the GPU's clock since creation. */
uint64_t soc_cycles(const struct agate_sim *sim);

/* How many bus cycles so many cycles of work take at the present clock. */
uint64_t soc_bus_cycles(struct agate_sim *sim, unsigned int cycles);

#endif /* AGATE_MODEL_SOC_H */
