/* SPDX-License-Identifier: MIT */
/* Memory of several runs, as a BO's backing gives it. */
#ifndef AGATE_TEST_VM_PT_RUNS_H
#define AGATE_TEST_VM_PT_RUNS_H

#include "agate_runs.h"

/* The tests' own: what the driver knows as a table that is mapped for DMA. */
struct scatterlist {
	struct agate_run run;
};

/**
 * runs_of - a walk over runs
 * @entry: the runs, which outlive the walk
 * @count: how many
 */
struct agate_runs runs_of(struct scatterlist *entry, unsigned int count);

/** runs_of_one - a walk over one run */
struct agate_runs runs_of_one(u64 addr, u64 size);

#endif /* AGATE_TEST_VM_PT_RUNS_H */
