/* SPDX-License-Identifier: MIT */
/*
 * The GPU control block: GPU_CMD, reset, fault.
 */
#ifndef AGATE_MODEL_GPU_H
#define AGATE_MODEL_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_sim.h"
#include "block.h"

/* Values that the launcher has made up for the GPU: no reset changes them. */
struct gpu_made_up {
	uint32_t said;			/* bit enum agate_sim_identity: a made-up value */
	uint32_t identity[AGATE_SIM_IDENTITIES];
	uint32_t fault_status;		/* 0: no fault */
	uint64_t fault_address;
};

struct gpu {
	uint64_t reset_due;		/* 0: no reset in progress */
	bool reset_hard;		/* the reset is a hard one */
	bool reset_watched;
	uint64_t clean_due;		/* 0: no cache operation in progress */
	bool clean_watched;
	bool clean_invalidate;		/* it invalidates the lines, too */
	uint32_t coherency;		/* COHERENCY_ENABLE: the L2's next protocol */
	bool protected_mode;
	bool override_unlocked;
	uint32_t override[2];		/* PWR_OVERRIDE0, 1 */
	uint32_t config[4];		/* JM, SHADER, TILER, L2_MMU */
	uint32_t fault_status;		/* of the fault since the reset, or 0 */
	uint64_t fault_address;
};

extern const struct block gpu_block;

/* End a stuck reset, as if it had begun now. */
void gpu_unstick(struct agate_sim *sim);

/* True while a reset is in progress that makes the GPU lose this write. */
bool gpu_is_deaf(const struct gpu *gpu, uint32_t offset, uint32_t value);

#endif /* AGATE_MODEL_GPU_H */
