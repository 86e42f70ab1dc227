/* SPDX-License-Identifier: MIT */
/*
 * The system around the GPU provides a power input, a supply voltage and a clock.
 * They do not belong to the GPU, so no reset of the GPU changes them.
 */
#ifndef AGATE_MODEL_SOC_H
#define AGATE_MODEL_SOC_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"

struct soc {
	bool power_in;
	uint32_t volt;		/* mV */
};

extern const struct block soc_block;

#endif /* AGATE_MODEL_SOC_H */
