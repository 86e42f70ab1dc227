/* SPDX-License-Identifier: MIT */
/*
 * The mover: an engine of the card that copies, fills and stores memory, one command of its
 * ring after the other.
 *
 * mover.c has the ring, the context and the faults, mover_exec.c what the commands do.
 */
#ifndef AGATE_MODEL_MOVER_H
#define AGATE_MODEL_MOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "agate_card.h"
#include "block.h"

#define MOVER_UNIT_BYTES	0x10000u	/* a unit of work moves no more */
#define MOVER_BEAT		64u		/* bytes moved in a bus cycle */
#define MOVER_RING_PAGES	((64u << AGATE_RING_MAX_ORDER) / 4096u)

/* A command that the mover is at. */
struct mover_task {
	struct agate_mover_cmd cmd;
	uint64_t done;		/* bytes */
	bool warned;		/* a hint said that it writes the ring or the context */
};

struct mover {
	bool running;		/* there is firmware */
	uint32_t ring;		/* as the ADS says: GGTT address ... */
	unsigned int order;	/* ... and log2 of its commands */
	uint32_t context;	/* GGTT address */
	uint32_t head, tail, seqno;
	bool known;		/* the context has been read: head and seqno are its own */
	bool rung;		/* the driver has written TAIL since the firmware started */
	bool awake;		/* ... and was right when the mover became busy */
	bool fetched;		/* the command at head is in task */
	struct mover_task task;
	enum agate_mover_reason fault;	/* AGATE_REASON_NONE: no fault */
	uint64_t fault_addr;
	/* Where it found ring and context: mover_page() of each, or 0 */
	uint64_t ring_page[MOVER_RING_PAGES];
	uint64_t context_page;
};

extern const struct block mover_block;

/* The firmware runs: take ring and context from the ADS. */
void mover_start(struct agate_sim *sim, const struct agate_ads *ads);

/* The firmware does not run any more; the text says why, for a command that this ends. */
void mover_stop(struct agate_sim *sim, const char *why);

/* ---- Between mover.c and mover_exec.c ----------------------------------------- */

/* A name, never 0, of the physical page that has this byte. */
static inline uint64_t mover_page(uint64_t pa)
{
	return (pa & ~0xfffull) | 1;
}

/* Does this command make sense? */
bool mover_cmd_ok(const struct agate_mover_cmd *cmd);

/* What a unit of a COPY, FILL or STORE came to. */
struct mover_result {
	enum agate_mover_reason reason;	/* not NONE: it failed */
	uint64_t addr;			/* ... at this address */
	uint32_t bytes;			/* that it moved before */
};

/* Does the next unit; task->done tells how far the command is. */
struct mover_result mover_move(struct agate_sim *sim, struct mover_task *task);

#endif /* AGATE_MODEL_MOVER_H */
