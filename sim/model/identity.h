/* SPDX-License-Identifier: MIT */
/*
 * A GPU's identity, and the properties that follow from it.
 */
#ifndef AGATE_MODEL_IDENTITY_H
#define AGATE_MODEL_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_sim.h"

struct agate_sim;

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

/* Read a register whose value never changes; false: this is not one of them. */
bool identity_read(const struct agate_sim *sim, uint32_t offset, uint32_t *value);

#endif /* AGATE_MODEL_IDENTITY_H */
