/* SPDX-License-Identifier: MIT */
/*
 * Performance counters: counted all the time, and written on command, through an
 * address space, to where software wants to read them.
 */
#ifndef AGATE_MODEL_PERFCNT_H
#define AGATE_MODEL_PERFCNT_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_sim.h"
#include "power.h"
#include "slot.h"

struct agate_sim;

enum perf_block {
	PERF_JM,
	PERF_TILER,
	PERF_MMU_L2,
	PERF_SHADER,		/* and on: one a core */
};

/* A dump fits between two places where it may begin, so it lies in one page. */
#define PERF_ALIGN		2048u
#define PERF_BLOCK_WORDS	64
#define PERF_BLOCKS		(PERF_ALIGN / (PERF_BLOCK_WORDS * 4))
#define PERF_MAX_CORES		(PERF_BLOCKS - PERF_SHADER)

/* What is counted here and nowhere else. */
struct perf_work {
	uint64_t slot_jobs[AGATE_MAX_SLOTS];
	uint64_t slot_cycles[AGATE_MAX_SLOTS];
	uint64_t tiler_cycles;
	uint64_t fragment_cycles[PERF_MAX_CORES];
	uint64_t compute_cycles[PERF_MAX_CORES];
	uint64_t read[AGATE_MAX_SLOTS];		/* bytes, by jobs and their manager */
	uint64_t written[AGATE_MAX_SLOTS];
};

/* All that a dump is made of, at one moment. */
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
	struct perf_snapshot start;	/* when the counters last were 0 */

	/* The dump in progress: what it writes, where, and as whom. */
	bool active;
	bool watched;
	uint64_t due;
	uint64_t to;
	uint32_t dump[PERF_BLOCKS * PERF_BLOCK_WORDS];
	struct slot requester;		/* its address space and its stall */
};

void perf_init(struct agate_sim *sim);
void perf_reset(struct agate_sim *sim);

/* Registers 0x060 to 0x07c; false: no such register. */
bool perf_read(struct agate_sim *sim, uint32_t offset, uint32_t *value);
bool perf_write(struct agate_sim *sim, uint32_t offset, uint32_t value);

void perf_clear(struct agate_sim *sim);
void perf_sample(struct agate_sim *sim);

void perf_run_due(struct agate_sim *sim);
uint64_t perf_jump(const struct agate_sim *sim);

/* A dump waits for something of that address space. */
bool perf_waits(const struct agate_sim *sim, unsigned int as);

/* Tell what a slot moved, when it is much or its job is over. */
void perf_tell_traffic(struct agate_sim *sim, const struct slot *slot, bool over);

/* A slot has done cycles of work, or finished a job. */
void perf_count_work(struct agate_sim *sim, const struct slot *slot, unsigned int cycles);
void perf_count_job(struct agate_sim *sim, const struct slot *slot);

#endif /* AGATE_MODEL_PERFCNT_H */
