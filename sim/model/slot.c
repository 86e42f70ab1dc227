// SPDX-License-Identifier: MIT
/*
 * Job slots (hardware.md, section 3): registers, the queue of two, stops.
 *
 * A chain that ends well makes room at once for the one in NEXT.  After a
 * failure or a stop NEXT waits until software has cleared the failure's
 * interrupt, so that it can still take the queued chain back.
 */
#include "model.h"

void slot_init(struct agate_sim *sim)
{
	uint32_t slots = (1u << AGATE_MAX_SLOTS) - 1;
	unsigned int i;

	irq_init(&sim->irq[AGATE_VECTOR_JOB], AGATE_VECTOR_JOB, slots * 0x10001u, 0);
	for (i = 0; i < AGATE_MAX_SLOTS; i++) {
		sim->slot[i] = (struct slot){ .index = i, .client.source = i };
		mmu_attach(sim, &sim->slot[i].client);
	}
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

void slot_reset(struct agate_sim *sim)
{
	unsigned int i;

	sim->job_throttle = 0;
	for (i = 0; i < AGATE_MAX_SLOTS; i++) {
		struct slot *slot = &sim->slot[i];

		slot_lose(sim, slot);
		*slot = (struct slot){ .index = i, .client.source = i, .busy = slot->busy };
	}
}

bool slot_any_active(const struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++)
		if (sim->slot[i].active)
			return true;
	return false;
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

/* Takes the chain in NEXT if there is one and the slot is free for it. */
static void slot_promote(struct agate_sim *sim, struct slot *slot)
{
	const struct irq_block *irq = &sim->irq[AGATE_VECTOR_JOB];

	if (slot->active || !slot->queued || (irq->rawstat & JOB_INT_FAIL(slot->index)))
		return;
	slot->head = slot->next_head;
	slot->tail = slot->next_head;
	slot->affinity = slot->next_affinity;
	slot->config = slot->next_config;
	slot->client.as = JS_CONFIG_AS(slot->config);
	slot->queued = false;
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

	if (AGATE_EXC_IS_FAULT(exception))
		sim_count(sim, AGATE_CNT_JOBS_FAILED, 1);
	if (slot->chain.phase != CHAIN_FETCH)	/* in the middle of a job */
		chain_job_event(sim, slot, AGATE_EV_JOB_END, exception, NULL);
	mmu_forget(sim, &slot->client);
	slot->active = false;
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

void slot_run_due(struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++)
		slot_stop_due(sim, &sim->slot[i]);
}

uint64_t slot_jump(const struct agate_sim *sim)
{
	uint32_t mask = sim->irq[AGATE_VECTOR_JOB].mask;
	uint64_t due = TIME_NEVER;
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++) {
		const struct slot *slot = &sim->slot[i];

		if (!slot->stop_watched && !(mask & JOB_INT_FAIL(i)))
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

static void slot_command(struct agate_sim *sim, struct slot *slot, uint32_t command)
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

static void slot_command_next(struct agate_sim *sim, struct slot *slot, uint32_t command)
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

/* ---- Registers ---------------------------------------------------------- */

#define SLOT_REG(reg)	((reg) - JS_BASE)

static bool slot_read_one(struct slot *slot, uint32_t reg, uint32_t *value)
{
	bool high = reg & 4;

	switch (reg) {
	case SLOT_REG(JS_HEAD_LO(0)):
	case SLOT_REG(JS_HEAD_HI(0)):
		*value = reg_half(slot->head, high);
		return true;
	case SLOT_REG(JS_TAIL_LO(0)):
	case SLOT_REG(JS_TAIL_HI(0)):
		*value = reg_half(slot->tail, high);
		return true;
	case SLOT_REG(JS_AFFINITY_LO(0)):
	case SLOT_REG(JS_AFFINITY_HI(0)):
		*value = reg_half(slot->affinity, high);
		return true;
	case SLOT_REG(JS_CONFIG(0)):
		*value = slot->config;
		return true;
	case SLOT_REG(JS_XAFFINITY(0)):
		*value = slot->xaffinity;
		return true;
	case SLOT_REG(JS_COMMAND(0)):
		*value = 0;
		return true;
	case SLOT_REG(JS_STATUS(0)):
		slot->stop_watched = true;
		*value = slot->status;
		return true;
	case SLOT_REG(JS_HEAD_NEXT_LO(0)):
	case SLOT_REG(JS_HEAD_NEXT_HI(0)):
		*value = reg_half(slot->next_head, high);
		return true;
	case SLOT_REG(JS_AFFINITY_NEXT_LO(0)):
	case SLOT_REG(JS_AFFINITY_NEXT_HI(0)):
		*value = reg_half(slot->next_affinity, high);
		return true;
	case SLOT_REG(JS_CONFIG_NEXT(0)):
		*value = slot->next_config;
		return true;
	case SLOT_REG(JS_COMMAND_NEXT(0)):
		*value = slot->queued ? JS_COMMAND_START : JS_COMMAND_NOP;
		return true;
	case SLOT_REG(JS_FLUSH_ID_NEXT(0)):
		*value = slot->next_flush_id;
		return true;
	}
	return false;
}

/* The NEXT registers, all but COMMAND_NEXT. */
static bool slot_write_next(struct slot *slot, uint32_t reg, uint32_t value)
{
	switch (reg) {
	case SLOT_REG(JS_HEAD_NEXT_LO(0)):
	case SLOT_REG(JS_HEAD_NEXT_HI(0)):
		reg_set_half(&slot->next_head, reg & 4, value);
		return true;
	case SLOT_REG(JS_AFFINITY_NEXT_LO(0)):
	case SLOT_REG(JS_AFFINITY_NEXT_HI(0)):
		reg_set_half(&slot->next_affinity, reg & 4, value);
		return true;
	case SLOT_REG(JS_CONFIG_NEXT(0)):
		slot->next_config = value;
		return true;
	case SLOT_REG(JS_FLUSH_ID_NEXT(0)):
		slot->next_flush_id = value;
		return true;
	}
	return false;
}

static bool slot_write_one(struct agate_sim *sim, struct slot *slot, uint32_t reg,
			   uint32_t value)
{
	bool was_queued = slot->queued;
	uint32_t ignored;

	switch (reg) {
	case SLOT_REG(JS_COMMAND(0)):
		slot_command(sim, slot, value);
		return true;
	case SLOT_REG(JS_COMMAND_NEXT(0)):
		slot_command_next(sim, slot, value);
		return true;
	case SLOT_REG(JS_XAFFINITY(0)):
		slot->xaffinity = value;
		return true;
	}
	if (slot_write_next(slot, reg, value)) {
		if (was_queued)
			sim_hint(sim, 3, "a NEXT register was changed while its chain was queued");
		return true;
	}
	if (!slot_read_one(slot, reg, &ignored))
		return false;
	sim_hint(sim, 3, "a write to a read-only register is ignored");
	return true;
}

static uint32_t slot_js_state(const struct agate_sim *sim)
{
	uint32_t state = 0;
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++) {
		if (sim->slot[i].js_current)
			state |= JOB_JS_STATE_CURRENT(i);
		if (sim->slot[i].js_next)
			state |= JOB_JS_STATE_NEXT(i);
	}
	return state;
}

/* CLEAR samples JS_STATE for the slots that it names, then lets held chains start. */
static void slot_clear(struct agate_sim *sim, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++) {
		struct slot *slot = &sim->slot[i];

		if (!(value & (JOB_INT_DONE(i) | JOB_INT_FAIL(i))))
			continue;
		slot->js_current = slot->active;
		slot->js_next = slot->queued;
	}
	irq_write(sim, &sim->irq[AGATE_VECTOR_JOB], IRQ_CLEAR, value);
	for (i = 0; i < AGATE_MAX_SLOTS; i++)
		slot_promote(sim, &sim->slot[i]);
}

/* The driver polls for an interrupt: the stops that it waits for may now happen. */
static void slot_watch(struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++)
		sim->slot[i].stop_watched = true;
}

bool slot_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	unsigned int i = (offset - JS_BASE) / JS_STRIDE;

	if (offset <= JOB_INT_STAT) {
		slot_watch(sim);
		*value = irq_read(&sim->irq[AGATE_VECTOR_JOB], (offset - JOB_INT_RAWSTAT) / 4);
		return true;
	}
	if (offset == JOB_INT_JS_STATE) {
		*value = slot_js_state(sim);
		return true;
	}
	if (offset == JOB_INT_THROTTLE) {
		*value = sim->job_throttle;
		return true;
	}
	if (offset < JS_BASE || i >= AGATE_MAX_SLOTS)
		return false;
	return slot_read_one(&sim->slot[i], (offset - JS_BASE) % JS_STRIDE, value);
}

bool slot_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	unsigned int i = (offset - JS_BASE) / JS_STRIDE;

	if (offset == JOB_INT_CLEAR) {
		slot_clear(sim, value);
		return true;
	}
	if (offset <= JOB_INT_STAT) {
		irq_write(sim, &sim->irq[AGATE_VECTOR_JOB], (offset - JOB_INT_RAWSTAT) / 4, value);
		return true;
	}
	if (offset == JOB_INT_JS_STATE) {
		sim_hint(sim, 3, "JS_STATE is sampled by JOB_INT_CLEAR, not written");
		return true;
	}
	if (offset == JOB_INT_THROTTLE) {
		sim->job_throttle = value;
		return true;
	}
	if (offset < JS_BASE || i >= AGATE_MAX_SLOTS)
		return false;
	return slot_write_one(sim, &sim->slot[i], (offset - JS_BASE) % JS_STRIDE, value);
}
