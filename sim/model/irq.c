// SPDX-License-Identifier: MIT
/*
 * Level interrupts over message-signalled vectors (hardware.md, section 1).
 * The GPU, job and MMU blocks each own one vector and its struct irq.
 */
#include "model.h"

/*
 * Register accesses that a driver may make after it has read the status, before it
 * masks or clears.  The host may stop the CPU that runs the handler at any
 * instruction; meanwhile the guest's other CPU makes thousands of accesses.
 */
#define IRQ_NEGLECT_LIMIT	65536

void irq_init(struct irq *irq, unsigned int vector, uint32_t bits, uint32_t polled)
{
	*irq = (struct irq){ .vector = vector, .bits = bits, .polled = polled };
}

void irq_reset(struct irq *irq)
{
	irq_init(irq, irq->vector, irq->bits, irq->polled);
}

static void irq_message(struct agate_sim *sim, struct irq *irq)
{
	sim_count(sim, AGATE_CNT_IRQS, 1);
	sim_event(sim, AGATE_EV_IRQ, irq->vector, irq->rawstat & irq->mask, 0, NULL);
	sim->ops.raise(sim->ctx, irq->vector);
}

static void irq_send(struct agate_sim *sim, struct irq *irq)
{
	uint32_t cycles;

	irq->neglect = 0;
	if (inject_strikes(sim, AGATE_SIM_INJECT_DROP_IRQ, irq->vector, &cycles))
		return;
	if (inject_strikes(sim, AGATE_SIM_INJECT_DELAY_IRQ, irq->vector, &cycles))
		irq->delayed = sim->time + cycles;
	else
		irq_message(sim, irq);
}

static void irq_run_due(struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		struct irq *irq = &sim->irq[i];

		if (!irq->delayed || irq->delayed > sim->time)
			continue;
		irq->delayed = 0;
		irq_message(sim, irq);
	}
}

static uint64_t irq_next_due(const struct agate_sim *sim, bool all)
{
	uint64_t due = TIME_NEVER;
	unsigned int i;

	(void)all;	/* a message is always waited for */
	for (i = 0; i < AGATE_NUM_VECTORS; i++)
		if (sim->irq[i].delayed && sim->irq[i].delayed < due)
			due = sim->irq[i].delayed;
	return due;
}

const struct block irq_block = {
	.run_due = irq_run_due,
	.next_due = irq_next_due,
};

static void irq_update(struct agate_sim *sim, struct irq *irq, bool rewritten)
{
	bool up = irq->rawstat & irq->mask;
	bool send = up && (!irq->up || rewritten);

	irq->up = up;
	if (send)
		irq_send(sim, irq);
}

void irq_raise(struct agate_sim *sim, struct irq *irq, uint32_t bits)
{
	/*
	 * A bit that is already set and read may merge with a new event.  JS_STATE
	 * exists for that case, and the driver has done nothing wrong.
	 */
	irq->unread |= bits & ~irq->rawstat;
	irq->moot &= ~bits;
	irq->rawstat |= bits;
	irq_update(sim, irq, false);
}

void irq_settle(struct irq *irq, uint32_t bits)
{
	irq->moot |= irq->rawstat & bits;
}

uint32_t irq_read(const struct irq *irq, enum irq_reg reg)
{
	switch (reg) {
	case IRQ_RAWSTAT:
		return irq->rawstat;
	case IRQ_STAT:
		return irq->rawstat & irq->mask;
	case IRQ_MASK:
		return irq->mask;
	default:
		return 0;
	}
}

void irq_was_read(struct irq *irq, enum irq_reg reg)
{
	if (reg == IRQ_RAWSTAT || reg == IRQ_STAT)
		irq->unread &= ~irq_read(irq, reg);
}

static void irq_clear(struct agate_sim *sim, struct irq *irq, uint32_t value)
{
	uint32_t blind = value & irq->unread & ~irq->moot;

	/*
	 * A driver may drop bits unread that it keeps masked, because it polls for
	 * the state itself.
	 */
	if (blind & ~(irq->polled & ~irq->mask))
		sim_hint(sim, 1, "an interrupt was cleared before it was read");
	irq->rawstat &= ~value;
	irq->unread &= ~value;
	irq->neglect = 0;
	irq_update(sim, irq, true);
}

void irq_write(struct agate_sim *sim, struct irq *irq, enum irq_reg reg, uint32_t value)
{
	switch (reg) {
	case IRQ_CLEAR:
		irq_clear(sim, irq, value);
		break;
	case IRQ_MASK:
		irq->mask = value & irq->bits;
		irq->neglect = 0;
		irq_update(sim, irq, true);
		break;
	default:
		sim_hint(sim, 1, "RAWSTAT and STAT are read-only: use CLEAR");
		break;
	}
}

void irq_watch(struct agate_sim *sim, struct irq *irq)
{
	if (!irq->up || (irq->unread & irq->mask & irq->rawstat)) {
		irq->neglect = 0;
		return;
	}
	if (irq->neglect > IRQ_NEGLECT_LIMIT)
		return;
	if (++irq->neglect > IRQ_NEGLECT_LIMIT)
		sim_hint(sim, 1, "an interrupt line was left up: it is silent until CLEAR or MASK");
}
