/* SPDX-License-Identifier: MIT */
/*
 * The model alone on flat memory, for benchmarks: brought up through its
 * registers, with three address spaces over all of the memory.
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

/* The memory's address, for the GPU and for its jobs: a linear mapping changes nothing. */
#define VA		0x40000000ull

/* The memory begins with page tables; the data that all address spaces see follows. */
#define TABLES_SIZE	0x100000u
#define DATA		0x180000u

enum model_as {
	AS_LINEAR,		/* pages of 4 KiB, one after the other */
	AS_SCATTERED,		/* pages of 4 KiB, scattered from DATA on */
	AS_IDENTITY,		/* no translation: the same job without page tables */
	MODEL_SPACES,
};

struct model {
	struct agate_sim *sim;
	uint8_t *memory;
	size_t size;
	unsigned int messages;		/* from the job block */
	uint8_t *vram;			/* of a card, as large as the caller wants it ... */
	uint64_t *gsm;			/* ... and its global table, which maps nothing */
};

/*
 * Bring the model up; the memory's size less DATA is a power of two.  Ends the
 * program when it cannot.
 */
void model_bring_up(struct model *m, size_t size);
/* The same for a GPU with a card, none of whose parts has power: no job runs. */
void model_bring_up_card(struct model *m, size_t size, size_t vram_size);
void model_free(struct model *m);

/* Let the model work until a register has this value. */
void model_poll(struct model *m, uint32_t reg, uint32_t want);

void model_put(struct model *m, uint32_t offset, const void *from, size_t len);

/* A job's header at offset; its payload is the caller's.  next is a VA, or 0. */
void model_put_header(struct model *m, uint32_t offset, enum agate_job_type type,
		      uint64_t next);

/* Run a chain of jobs until it ends well; returns the time that it took, in seconds. */
double model_run(struct model *m, unsigned int slot, enum model_as as, uint32_t job);

/* End the program. */
_Noreturn void model_die(const char *what);

/* This thread's own processor time in seconds, without the time of other threads. */
double model_now(void);

#endif /* AGATE_BENCH_MODEL_H */
