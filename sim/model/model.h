/* SPDX-License-Identifier: MIT */
/*
 * The simulator's state, and the few services that every block uses: events,
 * hints, counters, model time and physical memory.
 *
 * A transition ends at a due time.  A GPU with nothing to run skips idle time up to
 * it, but only when somebody waits: the driver polls for it or has unmasked its
 * interrupt, or a job needs it.  A driver that does none of these finds the
 * transition still pending at its next access, however slow the host is, so the
 * missing wait always shows.
 */
#ifndef AGATE_MODEL_H
#define AGATE_MODEL_H

#include "agate_sim.h"
#include "block.h"
#include "card.h"
#include "gpu_clock.h"
#include "counters.h"
#include "crc32.h"
#include "event.h"
#include "firmware.h"
#include "ggtt.h"
#include "gpu.h"
#include "identity.h"
#include "injection.h"
#include "irq.h"
#include "l2.h"
#include "latency.h"
#include "listed_memory.h"
#include "mmu.h"
#include "mover.h"
#include "perfcnt.h"
#include "phys.h"
#include "power.h"
#include "powered.h"
#include "scan.h"
#include "soc.h"
#include "slot.h"
#include "vram.h"

struct agate_sim {
	struct agate_sim_host_ops ops;
	void *ctx;

	uint64_t time;			/* bus cycles */
	uint32_t accessed;		/* register + 1, while its block serves an access */
	uint64_t unit;			/* units of work begun, as a date for cached data */
	struct latency latency;
	struct gpu_made_up made_up;
	uint64_t counter[AGATE_CNT_COUNT];

	const struct identity *identity;
	enum agate_sim_coherency coherency;	/* protocols that it offers */
	uint32_t id;			/* GPU_ID */

	struct gpu gpu;
	struct power power;
	struct powered powered;
	struct clock clock;
	struct cycle_count cycle_count;
	struct soc soc;
	struct phys phys;
	struct card card;
	struct vram vram;
	struct ggtt ggtt;
	struct firmware firmware;
	struct mover mover;
	struct scanout scanout;
	struct inject inject;
	struct perfcnt perf;
	struct irq irq[AGATE_NUM_VECTORS];
	struct l2 l2;
	struct mmu mmu;
	struct slot slot[AGATE_MAX_SLOTS];
	uint64_t busy_since;		/* while any slot is active: model time of the first start */
	uint32_t job_throttle;		/* kept, without effect */
	const struct block *block[MAX_BLOCKS];
	unsigned int blocks;
	const struct block *timed[MAX_BLOCKS];	/* those of them that have transitions */
	unsigned int timed_blocks;
	struct engine engine[MAX_ENGINES];
	unsigned int engines;
	unsigned int turn;		/* engine that does the next unit of work */
	struct crc32 crc32;
};

static inline void sim_count(struct agate_sim *sim, enum agate_counter counter, uint64_t n)
{
	sim->counter[counter] += n;
}

/* The halves of a 64-bit register. */
static inline uint32_t reg_half(uint64_t reg, bool high)
{
	return high ? reg >> 32 : (uint32_t)reg;
}

static inline void reg_set_half(uint64_t *reg, bool high, uint32_t value)
{
	if (high)
		*reg = (*reg & 0xffffffffull) | (uint64_t)value << 32;
	else
		*reg = (*reg & ~0xffffffffull) | value;
}

#endif /* AGATE_MODEL_H */
