/* SPDX-License-Identifier: MIT */
/*
 * Job slots: slot_regs.c has the registers, slot.c carries out commands, chain.c runs
 * the chains.
 *
 * A slot has one current chain and one queued behind it in the NEXT registers.
 */
#ifndef AGATE_MODEL_SLOT_H
#define AGATE_MODEL_SLOT_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "agate_sim.h"
#include "block.h"
#include "job_exec.h"
#include "listed_memory.h"
#include "mmu.h"

/* ---- chain.c: one chain, job by job ------------------------------------ */

enum chain_phase {
	CHAIN_FETCH,		/* read the next header */
	CHAIN_RUN,		/* the job's own units */
	CHAIN_WRITE_BACK,	/* its header's status */
};

struct chain {
	enum chain_phase phase;
	uint64_t job;			/* VA of the current header */
	struct agate_job_header header;	/* copied once: memory may change */
	const struct agate_job_ops *ops;
	enum agate_exception exception;	/* of the current job */
	uint64_t fault_pointer;
	bool killed;			/* its address space was taken away */
	bool cyclic;			/* the chain has come back to a job that it ran before */
	uint64_t landmark;		/* a remembered job, see chain_next() */
	unsigned int steps;		/* jobs since it was chosen ... */
	unsigned int patience;		/* ... and how many until the next one is chosen */
	alignas(16) uint8_t state[AGATE_JOB_STATE_MAX];
};

struct slot;

void chain_start(struct slot *slot, uint64_t head);

/* Report an event of the current job, unless the chain is known to be cyclic. */
void chain_job_event(struct agate_sim *sim, const struct slot *slot,
		     enum agate_sim_event_kind kind, uint64_t c, const char *text);

/* Do one unit of work; may end the chain through slot_end(). */
void chain_run(struct agate_sim *sim, struct slot *slot);

/* ---- jobtypes.c: what each slot can run --------------------------------- */

/* The type's implementation, or NULL when that slot does not run it. */
const struct agate_job_ops *jobtype_find(unsigned int slot, unsigned int type);

/* GPU_JS_FEATURES: bit n: the slot runs type n. */
uint32_t slot_features(unsigned int slot);

/* ---- slot.c: commands, stops, the queue of two --------------------------- */

struct slot {
	unsigned int index;

	/* The current chain's registers. */
	uint64_t head;
	uint64_t tail;
	uint64_t affinity;
	uint32_t config;
	uint32_t xaffinity;
	uint32_t status;

	/* The NEXT registers; queued is COMMAND_NEXT == START. */
	uint64_t next_head;
	uint64_t next_affinity;
	uint32_t next_config;
	uint32_t next_flush_id;
	bool queued;

	bool js_current;	/* JS_STATE, as the last CLEAR sampled it */
	bool js_next;

	bool active;		/* a chain is running or waiting */
	bool soft_stop;		/* end it at the next job boundary */
	uint64_t soft_stop_due;	/* when a pending stop takes effect; 0: none */
	uint64_t hard_stop_due;
	bool stop_watched;	/* the driver polls for it */
	struct mmu_client client;	/* of the current chain */
	struct chain chain;
	struct listed listed;	/* lists of memory that its chains may touch */
	uint64_t busy;		/* bus cycles it has worked; no reset clears it */
};

extern const struct block slot_block;

/* Take the chain in NEXT if there is one and the slot is free for it. */
void slot_promote(struct agate_sim *sim, struct slot *slot);

void slot_command(struct agate_sim *sim, struct slot *slot, uint32_t command);
void slot_command_next(struct agate_sim *sim, struct slot *slot, uint32_t command);

/* End the current chain; tail is the job at which software resumes or looks. */
void slot_end(struct agate_sim *sim, struct slot *slot, uint64_t tail,
	      enum agate_exception exception);

bool slot_any_active(const struct agate_sim *sim);

/* Bus cycles since the slots became busy, which AGATE_CNT_BUSY will count when they are idle. */
uint64_t slot_busy_since(const struct agate_sim *sim);

/* ---- slot_regs.c ----------------------------------------------------------- */

bool slot_read(struct agate_sim *sim, uint32_t offset, uint32_t *value);
void slot_was_read(struct agate_sim *sim, uint32_t offset);
bool slot_write(struct agate_sim *sim, uint32_t offset, uint32_t value);

#endif /* AGATE_MODEL_SLOT_H */
