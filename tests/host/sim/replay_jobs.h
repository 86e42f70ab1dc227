/* SPDX-License-Identifier: MIT */
/*
 * Panfrost's record of the two chains of a slot, and its handling of a job
 * interrupt.  One file of each program includes this.
 */
#ifndef AGATE_TEST_REPLAY_JOBS_H
#define AGATE_TEST_REPLAY_JOBS_H

#include "replay.h"

enum chain_end { CHAIN_OPEN, CHAIN_DONE, CHAIN_FAILED, CHAIN_STOPPED };

struct chain {
	uint64_t head;		/* where to resume after a stop; 0: not at all */
	enum chain_end end;
	uint32_t status;	/* JS_STATUS, unless it is done */
};

struct books {
	struct bench *b;
	struct chain *of[AGATE_MAX_SLOTS][2];	/* current, next */
	unsigned int pace;	/* units of work between two accesses of the handler */
};

static inline uint32_t paced_rd(struct books *k, uint32_t reg)
{
	if (k->pace)
		agate_sim_step(k->b->sim, k->pace);
	return rd(k->b, reg);
}

static inline void paced_wr(struct books *k, uint32_t reg, uint32_t value)
{
	if (k->pace)
		agate_sim_step(k->b->sim, k->pace);
	wr(k->b, reg, value);
}

static inline void books_submit(struct books *k, unsigned int slot, struct chain *chain,
				uint32_t config)
{
	unsigned int at = k->of[slot][0] ? 1 : 0;

	assert_null(k->of[slot][at]);
	k->of[slot][at] = chain;
	replay_submit(k->b, slot, chain->head, config);
}

static inline struct chain *books_take(struct books *k, unsigned int slot)
{
	struct chain *first = k->of[slot][0];

	assert_non_null(first);		/* an interrupt without a chain */
	k->of[slot][0] = k->of[slot][1];
	k->of[slot][1] = NULL;
	return first;
}

static inline void books_done(struct books *k, unsigned int slot)
{
	struct chain *chain = books_take(k, slot);

	chain->end = CHAIN_DONE;
	chain->head = 0;
}

static inline void books_failed(struct books *k, unsigned int slot, struct chain *chain)
{
	chain->status = paced_rd(k, JS_STATUS(slot));
	if (chain->status == AGATE_EXC_STOPPED) {
		chain->end = CHAIN_STOPPED;
		chain->head = rd64(k->b, JS_TAIL_LO(slot));
	} else {
		chain->end = CHAIN_FAILED;
		chain->head = 0;
	}
}

/*
 * RAWSTAT, then CLEAR, which samples JS_STATE, until RAWSTAT is 0; only then does
 * the handler know how many chains a slot has finished.  A failure keeps the queued
 * chain from starting until it is cleared, so the handler withdraws that chain
 * before and queues it again afterwards.
 */
static inline void books_interrupt(struct books *k)
{
	struct chain *failed[AGATE_MAX_SLOTS] = { NULL };
	uint32_t events = 0, live = 0, seen, mask, n;

	while ((seen = paced_rd(k, JOB_INT_RAWSTAT))) {
		mask = 0;
		for (n = 0; n < AGATE_MAX_SLOTS; n++) {
			if (seen & SLOT_BITS(n))
				mask |= SLOT_BITS(n);
			if (seen & JOB_INT_DONE(n))
				books_done(k, n);
			if (seen & JOB_INT_FAIL(n)) {
				paced_wr(k, JS_COMMAND_NEXT(n), JS_COMMAND_NOP);
				failed[n] = books_take(k, n);
			}
		}
		paced_wr(k, JOB_INT_CLEAR, seen);
		live = (live & ~mask) | (paced_rd(k, JOB_INT_JS_STATE) & mask);
		events |= mask;
	}
	for (n = 0; n < AGATE_MAX_SLOTS; n++) {
		if (!(events & SLOT_BITS(n)))
			continue;
		if (failed[n])
			books_failed(k, n, failed[n]);
		else if (k->of[n][0] && !(live & SLOT_BITS(n)))
			books_done(k, n);
		if (!failed[n] || !k->of[n][0])
			continue;
		if (k->of[n][0]->head)		/* described still: START is enough */
			paced_wr(k, JS_COMMAND_NEXT(n), JS_COMMAND_START);
		else
			books_done(k, n);	/* it was withdrawn while it waited */
	}
}

/* Serve the interrupt as often as it comes, and mask it meanwhile. */
static inline void books_serve(struct books *k)
{
	while (rd(k->b, JOB_INT_STAT)) {
		wr(k->b, JOB_INT_MASK, 0);
		books_interrupt(k);
		wr(k->b, JOB_INT_MASK, ALL_SLOTS);
	}
}

/* Run until no chain is left. */
static inline void books_finish(struct books *k)
{
	k->pace = 0;
	settle(k->b);
	while (rd(k->b, JOB_INT_STAT)) {
		books_serve(k);
		settle(k->b);
	}
}

#endif /* AGATE_TEST_REPLAY_JOBS_H */
