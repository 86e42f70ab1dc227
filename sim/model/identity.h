/* SPDX-License-Identifier: MIT */
/*
 * A GPU's identity, and the properties that follow from it.
 */
#ifndef AGATE_MODEL_IDENTITY_H
#define AGATE_MODEL_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_sim.h"
#include "block.h"

struct identity {
	uint32_t id;			/* GPU_ID, unless the configuration names one */
	uint32_t l2_size;		/* bytes, unless the configuration says otherwise */
	uint32_t core_features;
	uint32_t tiler_features;
	uint32_t threads;		/* at once, in a core */
	uint32_t thread_features;
	uint32_t shaders;		/* cores that are present */
	bool table_formats;		/* TRANSCFG selects one of several */
};

/* NULL: there is no such GPU. */
const struct identity *identity_of(enum agate_sim_gpu gpu);

/* COHERENCY_FEATURES. */
uint32_t identity_coherency(const struct agate_sim *sim);

/* The registers whose values never change. */
extern const struct block identity_block;

#endif /* AGATE_MODEL_IDENTITY_H */
