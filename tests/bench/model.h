/* SPDX-License-Identifier: MIT */
/*
 * The model alone on flat memory, for benchmarks: brought up through its
 * registers, with address space 0 over all of the memory.
 */
#ifndef AGATE_BENCH_MODEL_H
#define AGATE_BENCH_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "agate_job.h"
#include "agate_regs.h"
#include "agate_sim.h"

#define UNITS_A_STEP	16u		/* as the GPU's process does it */
#define PAGE		4096u

/* The memory, as the GPU's jobs see it: linearly from VA on, in pages of 4 KiB. */
#define VA		0x40000000ull

/* The page tables stand at offset 0: levels 0 to 2, then those of level 3. */
#define TABLES_SIZE	0x80000u

struct model {
	struct agate_sim *sim;
	uint8_t *memory;
	size_t size;
	unsigned int messages;		/* from the job block */
};

/* Ends the program when it cannot. */
void model_bring_up(struct model *m, size_t size);
void model_free(struct model *m);

void model_put(struct model *m, uint32_t offset, const void *from, size_t len);

/* A job's header at offset; its payload is the caller's. */
void model_put_header(struct model *m, uint32_t offset, enum agate_job_type type);

/* Run one job to its good end; returns how many seconds it took. */
double model_run(struct model *m, unsigned int slot, uint32_t job);

double model_now(void);

/* One JSON object a line, for the report; against may be NULL. */
void model_report(const char *name, const char *unit, const double *samples, int count,
		  const char *against);

#endif /* AGATE_BENCH_MODEL_H */
