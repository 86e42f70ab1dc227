/* SPDX-License-Identifier: MIT */
/*
 * The system around the GPU provides a power input, a supply voltage and a clock.
 * They do not belong to the GPU, so no reset of the GPU changes them.
 */
#ifndef AGATE_MODEL_SOC_H
#define AGATE_MODEL_SOC_H

#include <stdbool.h>
#include <stdint.h>

struct agate_sim;

struct soc {
	bool power_in;
	uint32_t volt;		/* mV */
};

void soc_init(struct agate_sim *sim, bool power_in);

/* Registers from AGATE_SOC_BASE; false: no such register. */
bool soc_read(struct agate_sim *sim, uint32_t offset, uint32_t *value);
bool soc_write(struct agate_sim *sim, uint32_t offset, uint32_t value);

#endif /* AGATE_MODEL_SOC_H */
