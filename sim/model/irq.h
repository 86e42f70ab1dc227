/* SPDX-License-Identifier: MIT */
/*
 * The interrupt of a block: RAWSTAT, CLEAR, MASK, STAT and the line they drive.
 *
 * The line is a level, up while RAWSTAT & MASK is non-zero.  A message is an
 * edge, so one is sent when the line goes up, and again after every CLEAR or
 * MASK write that leaves it up; otherwise a line left up stays silent.
 */
#ifndef AGATE_MODEL_IRQ_H
#define AGATE_MODEL_IRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"

struct agate_sim;

struct irq {
	unsigned int vector;
	uint32_t bits;		/* bits that exist */
	uint32_t polled;	/* bits that may be dropped unread while masked */
	uint32_t rawstat;
	uint32_t mask;
	uint32_t unread;	/* bits set in RAWSTAT and not read since */
	uint32_t moot;		/* bits whose reason is gone: may be dropped unread */
	bool up;
	uint64_t delayed;	/* when a delayed message is sent; 0: none */
	unsigned int neglect;	/* accesses since the driver last handled the line */
};

enum irq_reg {
	IRQ_RAWSTAT,
	IRQ_CLEAR,
	IRQ_MASK,
	IRQ_STAT,
};

/* Sends delayed messages, of any block. */
extern const struct block irq_block;

void irq_init(struct irq *irq, unsigned int vector, uint32_t bits, uint32_t polled);
void irq_reset(struct irq *irq);

/* Set bits of RAWSTAT. */
void irq_raise(struct agate_sim *sim, struct irq *irq, uint32_t bits);

/* The reason for these bits is gone: the driver may drop them unread. */
void irq_settle(struct irq *irq, uint32_t bits);

uint32_t irq_read(const struct irq *irq, enum irq_reg reg);
void irq_was_read(struct irq *irq, enum irq_reg reg);
void irq_write(struct agate_sim *sim, struct irq *irq, enum irq_reg reg, uint32_t value);

/* Called once for each register access: detects lines that the driver has seen and left up. */
void irq_watch(struct agate_sim *sim, struct irq *irq);

#endif /* AGATE_MODEL_IRQ_H */
