/* SPDX-License-Identifier: MIT */
/*
 * One interrupt block: RAWSTAT, CLEAR, MASK, STAT and the line they drive.
 *
 * The line is a level, up while RAWSTAT & MASK is non-zero.  A message is an
 * edge, so one is sent when the line goes up, and again after every CLEAR or
 * MASK write that leaves it up; otherwise a line left up stays silent.
 */
#ifndef AGATE_MODEL_IRQ_H
#define AGATE_MODEL_IRQ_H

#include <stdbool.h>
#include <stdint.h>

struct agate_sim;

struct irq_block {
	unsigned int vector;
	uint32_t bits;		/* that exist */
	uint32_t polled;	/* that may be dropped unread while masked */
	uint32_t rawstat;
	uint32_t mask;
	uint32_t unread;	/* set in RAWSTAT and never read since */
	uint32_t moot;		/* whose reason is gone: may be dropped unread */
	bool up;
	uint64_t delayed;	/* when a message that is held back is sent; 0: none */
	unsigned int neglect;	/* accesses since the line was last looked after */
};

enum irq_reg {
	IRQ_RAWSTAT,
	IRQ_CLEAR,
	IRQ_MASK,
	IRQ_STAT,
};

void irq_init(struct irq_block *irq, unsigned int vector, uint32_t bits, uint32_t polled);
void irq_reset(struct irq_block *irq);

void irq_run_due(struct agate_sim *sim);
/* When the next message that is held back is due, or TIME_NEVER. */
uint64_t irq_jump(const struct agate_sim *sim);

/* Set bits of RAWSTAT. */
void irq_raise(struct agate_sim *sim, struct irq_block *irq, uint32_t bits);

/* What these bits told of is over: the driver may drop them without a look. */
void irq_settle(struct irq_block *irq, uint32_t bits);

uint32_t irq_read(struct irq_block *irq, enum irq_reg reg);
void irq_write(struct agate_sim *sim, struct irq_block *irq, enum irq_reg reg, uint32_t value);

/* Called once a register access: notices lines that were seen and left up. */
void irq_watch(struct agate_sim *sim, struct irq_block *irq);

#endif /* AGATE_MODEL_IRQ_H */
