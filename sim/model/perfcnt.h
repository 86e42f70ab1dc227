/* SPDX-License-Identifier: MIT */
/*
 * Performance counters: the GPU counts all the time, and on command writes the
 * counters through an address space to memory that software reads.
 */
#ifndef AGATE_MODEL_PERFCNT_H
#define AGATE_MODEL_PERFCNT_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_sim.h"
#include "block.h"
#include "mmu.h"
#include "power.h"

struct slot;

enum perf_block {
	PERF_JM,
	PERF_TILER,
	PERF_MMU_L2,
	PERF_SHADER,		/* and above: one for each core */
};

/* A dump is no larger than its alignment, so it lies in one page. */
#define PERF_ALIGN		2048u
#define PERF_BLOCK_WORDS	64
#define PERF_BLOCKS		(PERF_ALIGN / (PERF_BLOCK_WORDS * 4))
#define PERF_MAX_CORES		(PERF_BLOCKS - PERF_SHADER)

/* Counts that only this block keeps. */
struct perf_work {
	uint64_t slot_jobs[AGATE_MAX_SLOTS];
	uint64_t slot_cycles[AGATE_MAX_SLOTS];
	uint64_t tiler_cycles;
	uint64_t fragment_cycles[PERF_MAX_CORES];
	uint64_t compute_cycles[PERF_MAX_CORES];
	uint64_t read[AGATE_MAX_SLOTS];		/* bytes, read by jobs and the job manager */
	uint64_t written[AGATE_MAX_SLOTS];
};

/* All inputs of a dump, at one moment. */
struct perf_snapshot {
	struct perf_work work;
	uint64_t counter[AGATE_CNT_COUNT];
	uint64_t cycles;
};

struct perfcnt {
	uint64_t base;			/* registers */
	uint32_t config;
	uint32_t enable[PERF_SHADER + 1];	/* one for all shader cores */

	struct perf_work work;		/* since creation */
	uint64_t told[AGATE_MAX_SLOTS];	/* bytes, in the last AGATE_EV_TRAFFIC */
	struct perf_snapshot start;	/* at the last time the counters were 0 */

	/* The dump in progress: its contents, its address, and its accesses. */
	bool active;
	bool watched;
	uint64_t due;
	uint64_t to;
	uint32_t dump[PERF_BLOCKS * PERF_BLOCK_WORDS];
	struct mmu_client client;
};

extern const struct block perfcnt_block;

void perf_clear(struct agate_sim *sim);
void perf_sample(struct agate_sim *sim);

/* Report a slot's traffic, when there is much of it or its job is over. */
void perf_tell_traffic(struct agate_sim *sim, const struct slot *slot, bool over);

/* Count cycles of work that a slot has done, or a job that it has finished. */
void perf_count_work(struct agate_sim *sim, const struct slot *slot, unsigned int cycles);
void perf_count_job(struct agate_sim *sim, const struct slot *slot);

#endif /* AGATE_MODEL_PERFCNT_H */
