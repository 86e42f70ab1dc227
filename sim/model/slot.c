// SPDX-License-Identifier: MIT
/*
 * Job slots (hardware.md, section 3): the queue of two, commands, stops.
 *
 * A chain that ends well makes room at once for the one in NEXT.  After a
 * failure or a stop NEXT waits until software has cleared the failure's
 * interrupt, so that it can still take the queued chain back.
 */
#include "model.h"

static int slot_init(struct agate_sim *sim, const struct agate_sim_config *config)
{
	uint32_t slots = (1u << AGATE_MAX_SLOTS) - 1;
	unsigned int i;

	(void)config;
	irq_init(&sim->irq[AGATE_VECTOR_JOB], AGATE_VECTOR_JOB, slots * 0x10001u, 0);
	for (i = 0; i < AGATE_MAX_SLOTS; i++) {
		sim->slot[i] = (struct slot){ .index = i, .client.source = i };
		mmu_attach(sim, &sim->slot[i].client);
	}
	return 0;
}

/* A reset ends a chain without a trace in memory or registers; only the host is told. */
static void slot_lose(struct agate_sim *sim, const struct slot *slot)
{
	if (!slot->active)
		return;
	if (slot->chain.phase != CHAIN_FETCH)	/* in the middle of a job */
		chain_job_event(sim, slot, AGATE_EV_JOB_END, AGATE_EXC_ACTIVE, "reset");
	sim_event(sim, AGATE_EV_CHAIN_END, slot->index, slot->chain.job, AGATE_EXC_ACTIVE,
		  "reset");
}

bool slot_any_active(const struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++)
		if (sim->slot[i].active)
			return true;
	return false;
}

uint64_t slot_busy_since(const struct agate_sim *sim)
{
	return slot_any_active(sim) ? sim->time - sim->busy_since : 0;
}

static void slot_reset(struct agate_sim *sim)
{
	unsigned int i;

	sim_count(sim, AGATE_CNT_BUSY, slot_busy_since(sim));
	irq_reset(&sim->irq[AGATE_VECTOR_JOB]);
	sim->job_throttle = 0;
	for (i = 0; i < AGATE_MAX_SLOTS; i++) {
		struct slot *slot = &sim->slot[i];

		slot_lose(sim, slot);
		*slot = (struct slot){ .index = i, .client.source = i, .busy = slot->busy };
	}
}

/* ---- Start and end ------------------------------------------------------ */

/* Bits 9:8 and 13:12 of CONFIG use the same code for what to do with the L2. */
static void slot_flush(struct agate_sim *sim, uint32_t what)
{
	if (what == JS_CONFIG_START_FLUSH_CLEAN)
		l2_clean(sim, false);
	else if (what == JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE)
		l2_clean(sim, true);
}

static void slot_start_flush(struct agate_sim *sim, const struct slot *slot)
{
	bool reduce = (slot->config & JS_CONFIG_ENABLE_FLUSH_REDUCTION) &&
		      slot->next_flush_id != sim->l2.flush_id;

	/* With flush reduction, a flush since the driver read the ID makes this one unnecessary. */
	if (!reduce)
		slot_flush(sim, slot->config & JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE);
}

static void slot_judge_start(struct agate_sim *sim, const struct slot *slot)
{
	uint64_t cores = slot->affinity & sim->power.domain[POWER_SHADER].present;

	if (!power_ready(sim, cores, false))
		sim_hint(sim, 2, "a job was started before power was ready");
	mmu_judge_start(sim, slot->client.as);
}

void slot_promote(struct agate_sim *sim, struct slot *slot)
{
	const struct irq *irq = &sim->irq[AGATE_VECTOR_JOB];

	if (slot->active || !slot->queued || (irq->rawstat & JOB_INT_FAIL(slot->index)))
		return;
	slot->head = slot->next_head;
	slot->tail = slot->next_head;
	slot->affinity = slot->next_affinity;
	slot->config = slot->next_config;
	slot->client.as = JS_CONFIG_AS(slot->config);
	slot->queued = false;
	if (!slot_any_active(sim))
		sim->busy_since = sim->time;
	slot->active = true;
	slot->status = AGATE_EXC_ACTIVE;
	chain_start(slot, slot->head);
	listed_start(&slot->listed);
	sim_event(sim, AGATE_EV_CHAIN_START, slot->index, slot->head, slot->config, NULL);
	if (slot->client.as >= MMU_NUM_AS) {
		sim_hint(sim, 3, "JS_CONFIG names an address space that does not exist");
		slot_end(sim, slot, slot->head, AGATE_EXC_JOB_CONFIG_FAULT);
		return;
	}
	slot_judge_start(sim, slot);
	slot_start_flush(sim, slot);
}

void slot_end(struct agate_sim *sim, struct slot *slot, uint64_t tail,
	      enum agate_exception exception)
{
	bool done = exception == AGATE_EXC_DONE;
	uint64_t busy;

	if (AGATE_EXC_IS_FAULT(exception))
		sim_count(sim, AGATE_CNT_JOBS_FAILED, 1);
	if (slot->chain.phase != CHAIN_FETCH)	/* in the middle of a job */
		chain_job_event(sim, slot, AGATE_EV_JOB_END, exception, NULL);
	mmu_forget(sim, &slot->client);
	busy = slot_busy_since(sim);
	slot->active = false;
	if (!slot_any_active(sim))
		sim_count(sim, AGATE_CNT_BUSY, busy);
	slot->soft_stop = false;
	slot->soft_stop_due = 0;	/* a stop on its way finds no chain */
	slot->hard_stop_due = 0;
	slot->tail = tail;
	slot->status = exception;
	slot_flush(sim, (slot->config & JS_CONFIG_END_FLUSH_CLEAN_INVALIDATE) >> 4);
	sim_event(sim, AGATE_EV_CHAIN_END, slot->index, tail, exception, NULL);
	irq_raise(sim, &sim->irq[AGATE_VECTOR_JOB],
		  done ? JOB_INT_DONE(slot->index) : JOB_INT_FAIL(slot->index));
	slot_promote(sim, slot);
}

/* ---- Commands ----------------------------------------------------------- */

/* Carries out the stops that are due; the end of the chain drops the others. */
static void slot_stop_due(struct agate_sim *sim, struct slot *slot)
{
	if (slot->hard_stop_due && slot->hard_stop_due <= sim->time) {
		slot_end(sim, slot, slot->chain.job, AGATE_EXC_TERMINATED);
	} else if (slot->soft_stop_due && slot->soft_stop_due <= sim->time) {
		slot->soft_stop_due = 0;
		if (slot->chain.phase == CHAIN_FETCH)	/* between jobs already */
			slot_end(sim, slot, slot->chain.job, AGATE_EXC_STOPPED);
		else
			slot->soft_stop = true;
	}
}

static void slot_stop(struct agate_sim *sim, struct slot *slot, bool hard)
{
	uint64_t *when = hard ? &slot->hard_stop_due : &slot->soft_stop_due;
	uint64_t due;

	if (!slot->active)
		return;	/* the chain ended while the command was on its way */
	due = sim_due(sim, AGATE_SIM_LATENCY_STOP);
	slot->stop_watched = false;
	if (!*when || due < *when)	/* repeating a stop does not delay it */
		*when = due;
	slot_stop_due(sim, slot);
}

static void slot_run_due(struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++)
		slot_stop_due(sim, &sim->slot[i]);
}

static uint64_t slot_next_due(const struct agate_sim *sim, bool all)
{
	uint32_t mask = sim->irq[AGATE_VECTOR_JOB].mask;
	uint64_t due = TIME_NEVER;
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++) {
		const struct slot *slot = &sim->slot[i];

		if (!all && !slot->stop_watched && !(mask & JOB_INT_FAIL(i)))
			continue;
		if (slot->soft_stop_due && slot->soft_stop_due < due)
			due = slot->soft_stop_due;
		if (slot->hard_stop_due && slot->hard_stop_due < due)
			due = slot->hard_stop_due;
	}
	return due;
}

/* A stop for one of the two values of the chain flag. */
static void slot_stop_flagged(struct agate_sim *sim, struct slot *slot, bool wanted, bool hard)
{
	bool flag = slot->config & JS_CONFIG_JOB_CHAIN_FLAG;
	bool next_flag = slot->next_config & JS_CONFIG_JOB_CHAIN_FLAG;

	if (slot->active && slot->queued && flag == next_flag)
		sim_hint(sim, 3, "a stop by chain flag, and both chains of the slot carry the same");
	if (flag == wanted)
		slot_stop(sim, slot, hard);
}

void slot_command(struct agate_sim *sim, struct slot *slot, uint32_t command)
{
	switch (command) {
	case JS_COMMAND_NOP:
		break;
	case JS_COMMAND_SOFT_STOP:
	case JS_COMMAND_HARD_STOP:
		slot_stop(sim, slot, command == JS_COMMAND_HARD_STOP);
		break;
	case JS_COMMAND_SOFT_STOP_0:
	case JS_COMMAND_HARD_STOP_0:
		slot_stop_flagged(sim, slot, false, command == JS_COMMAND_HARD_STOP_0);
		break;
	case JS_COMMAND_SOFT_STOP_1:
	case JS_COMMAND_HARD_STOP_1:
		slot_stop_flagged(sim, slot, true, command == JS_COMMAND_HARD_STOP_1);
		break;
	default:
		sim_hint(sim, 3, "JS_COMMAND takes stops; a chain is started by JS_COMMAND_NEXT");
		break;
	}
}

void slot_command_next(struct agate_sim *sim, struct slot *slot, uint32_t command)
{
	switch (command) {
	case JS_COMMAND_NOP:
		if (slot->queued)
			listed_take_back(&slot->listed);
		slot->queued = false;
		break;
	case JS_COMMAND_START:
		if (slot->queued)
			sim_hint(sim, 3, "START was written while a chain was already queued");
		slot->queued = true;
		listed_queue(&slot->listed);
		slot_promote(sim, slot);
		break;
	default:
		sim_hint(sim, 3, "JS_COMMAND_NEXT takes only NOP and START");
		break;
	}
}

/* ---- Work ------------------------------------------------------------------ */

static bool slot_runnable(const struct agate_sim *sim, unsigned int n)
{
	return sim->slot[n].active && !sim->slot[n].client.stall.waiting;
}

static void slot_run(struct agate_sim *sim, unsigned int n)
{
	chain_run(sim, &sim->slot[n]);
}

const struct block slot_block = {
	.init = slot_init,
	.reset = slot_reset,
	.first = JOB_INT_RAWSTAT,
	.last = JOB_INT_RAWSTAT + 0xfff,
	.read = slot_read,
	.was_read = slot_was_read,
	.write = slot_write,
	.section = 3,
	.run_due = slot_run_due,
	.next_due = slot_next_due,
	.engines = AGATE_MAX_SLOTS,
	.runnable = slot_runnable,
	.run = slot_run,
};
