// SPDX-License-Identifier: MIT
/*
 * The registers of the job block (hardware.md, section 3).
 */
#include "slot.h"

#include "model.h"

#define SLOT_REG(reg)	((reg) - JS_BASE)

static bool slot_read_one(const struct slot *slot, uint32_t reg, uint32_t *value)
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
	return false;
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

bool slot_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	unsigned int i = (offset - JS_BASE) / JS_STRIDE;

	if (offset <= JOB_INT_STAT) {
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

/* The driver polls for an interrupt: the stops that it waits for may now happen. */
static void slot_watch(struct agate_sim *sim)
{
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++)
		sim->slot[i].stop_watched = true;
}

void slot_was_read(struct agate_sim *sim, uint32_t offset)
{
	uint32_t at = offset - JS_BASE;

	if (offset <= JOB_INT_STAT) {
		slot_watch(sim);
		irq_was_read(&sim->irq[AGATE_VECTOR_JOB], (offset - JOB_INT_RAWSTAT) / 4);
	} else if (offset >= JS_BASE && at % JS_STRIDE == SLOT_REG(JS_STATUS(0))) {
		sim->slot[at / JS_STRIDE].stop_watched = true;
	}
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
