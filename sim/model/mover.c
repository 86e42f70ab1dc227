// SPDX-License-Identifier: MIT
/*
 * The mover's ring, context and faults (hardware.md, section 6.6).
 *
 * HEAD moves after a command's last byte, and only once the context says so: a command that
 * failed or was stopped in the middle is done again from its start.
 */
#include "mover.h"

#include <string.h>

#include "model.h"

_Static_assert(sizeof(struct agate_mover_cmd) == 64, "command layout");
_Static_assert(sizeof(struct agate_mover_context) == 16, "context layout");

static bool mover_busy(const struct mover *m)
{
	return m->running && !m->fault && m->head != m->tail;
}

static void mover_update(struct agate_sim *sim)
{
	struct mover *m = &sim->mover;

	sim->card.busy = mover_busy(m);
	if (!sim->card.busy)
		m->awake = false;
}

static void mover_event(struct agate_sim *sim, enum agate_sim_event_kind kind, const char *text)
{
	const struct mover *m = &sim->mover;
	struct agate_sim_event event = {
		.kind = kind,
		.time = sim->time,
		.a = m->head,
		.b = m->task.cmd.op,
		.c = m->fault,
		.text = text,
		.mover = &m->task.cmd,
	};

	if (sim->ops.event)
		sim->ops.event(sim->ctx, &event);
}

/* The mover leaves the command that it is at, if any. */
static void mover_drop_task(struct agate_sim *sim, const char *why)
{
	struct mover *m = &sim->mover;

	if (m->fetched)
		mover_event(sim, AGATE_EV_MOVER_END, why);
	m->fetched = false;
}

static void mover_fail(struct agate_sim *sim, enum agate_mover_reason reason, uint64_t addr)
{
	struct mover *m = &sim->mover;

	m->fault = reason;
	m->fault_addr = addr;
	sim_count(sim, AGATE_CNT_MOVER_FAULTS, 1);
	sim_event(sim, AGATE_EV_MOVER_FAULT, m->head, addr, reason, NULL);
	mover_drop_task(sim, NULL);
	mover_update(sim);
	card_raise(sim, CARD_INT_MOVER_FAULT);
}

/* As ggtt_read() for the mover itself; remembers which page it read. */
static enum agate_mover_reason mover_fetch(struct agate_sim *sim, uint32_t addr, void *buf,
					   size_t len, uint64_t *page)
{
	enum agate_mover_reason reason;
	uint64_t pa;

	reason = ggtt_translate(sim, addr, 0, GGTT_READ, &pa);
	if (reason)
		return reason;
	*page = 0;
	if (pa == GGTT_OUTSIDE) {
		ggtt_noise(sim, buf, len);
		return AGATE_REASON_NONE;
	}
	*page = mover_page(pa);
	return phys_read(sim, pa, buf, len) ? AGATE_REASON_BUS : AGATE_REASON_NONE;
}

/* ---- The context ------------------------------------------------------------ */

static uint32_t context_check(const struct agate_mover_context *c)
{
	return ~(c->magic ^ c->head ^ c->seqno);
}

/* Returns false when the mover took a fault. */
static bool mover_read_context(struct agate_sim *sim)
{
	struct mover *m = &sim->mover;
	struct agate_mover_context c;
	enum agate_mover_reason reason;

	sim->time++;
	reason = mover_fetch(sim, m->context, &c, sizeof(c), &m->context_page);
	if (reason) {
		mover_fail(sim, reason, m->context);
		return false;
	}
	if (c.magic != AGATE_CONTEXT_MAGIC || c.check != context_check(&c)) {
		sim_hint(sim, 6, "the mover's context has a wrong magic or check");
		mover_fail(sim, AGATE_REASON_CONTEXT, m->context);
		return false;
	}
	if (m->known && (c.head != m->head || c.seqno != m->seqno)) {
		sim_hint(sim, 6, "the mover's context is not what it wrote");
		mover_fail(sim, AGATE_REASON_CONTEXT, m->context);
		return false;
	}
	m->head = c.head;
	m->seqno = c.seqno;
	m->known = true;
	return true;
}

static enum agate_mover_reason mover_write_context(struct agate_sim *sim, uint32_t head,
						   uint32_t seqno)
{
	struct agate_mover_context c = {
		.magic = AGATE_CONTEXT_MAGIC,
		.head = head,
		.seqno = seqno,
	};

	c.check = context_check(&c);
	return ggtt_write(sim, sim->mover.context, 0, &c, sizeof(c));
}

/* ---- Commands --------------------------------------------------------------- */

static void mover_complete(struct agate_sim *sim)
{
	struct mover *m = &sim->mover;
	const struct agate_mover_cmd *cmd = &m->task.cmd;
	const bool fence = cmd->op == AGATE_MOVER_FENCE;
	const uint32_t seqno = fence ? cmd->seqno : m->seqno;
	enum agate_mover_reason reason;

	reason = mover_write_context(sim, m->head + 1, seqno);
	if (reason) {
		mover_fail(sim, reason, m->context);
		return;
	}
	mover_drop_task(sim, NULL);
	m->head++;
	m->seqno = seqno;
	sim_count(sim, AGATE_CNT_MOVER_COMMANDS, 1);
	mover_update(sim);
	if (fence && (cmd->flags & AGATE_MOVER_IRQ))
		card_raise(sim, CARD_INT_MOVER_DONE);
}

/* NOP and FENCE move nothing. */
static bool mover_moves(const struct agate_mover_cmd *cmd)
{
	return cmd->op != AGATE_MOVER_NOP && cmd->op != AGATE_MOVER_FENCE;
}

static void mover_begin(struct agate_sim *sim)
{
	struct mover *m = &sim->mover;
	uint32_t at = (m->head & ((1u << m->order) - 1)) * sizeof(m->task.cmd);
	enum agate_mover_reason reason;
	uint32_t injected;

	sim->time++;
	m->task = (struct mover_task){ 0 };
	reason = mover_fetch(sim, m->ring + at, &m->task.cmd, sizeof(m->task.cmd),
			     &m->ring_page[at / GPU_PAGE_SIZE]);
	if (reason) {
		mover_fail(sim, reason, m->ring + at);
		return;
	}
	m->fetched = true;
	mover_event(sim, AGATE_EV_MOVER_BEGIN, NULL);
	if (inject_strikes(sim, AGATE_SIM_INJECT_FAIL_MOVER, 0, &injected))
		mover_fail(sim, injected ? injected : AGATE_REASON_INJECTED, m->task.cmd.dst);
	else if (!mover_cmd_ok(&m->task.cmd))
		mover_fail(sim, AGATE_REASON_COMMAND, m->ring + at);
	else if (!mover_moves(&m->task.cmd))
		mover_complete(sim);
}

static void mover_go_on(struct agate_sim *sim)
{
	struct mover *m = &sim->mover;
	struct mover_result result = mover_move(sim, &m->task);

	sim->time += result.bytes / MOVER_BEAT;
	sim_count(sim, AGATE_CNT_MOVER_BYTES, result.bytes);
	if (result.reason)
		mover_fail(sim, result.reason, result.addr);
	else if (m->task.done == m->task.cmd.length)
		mover_complete(sim);
}

static bool mover_runnable(const struct agate_sim *sim, unsigned int n)
{
	(void)n;
	return mover_busy(&sim->mover);
}

/* A unit: the context, or a command's fetch, or a part of what the command does. */
static void mover_run(struct agate_sim *sim, unsigned int n)
{
	struct mover *m = &sim->mover;

	(void)n;
	if (m->fetched)
		mover_go_on(sim);
	else if (m->awake)
		mover_begin(sim);
	else
		m->awake = mover_read_context(sim);
}

/* ---- Start, reset, stop ------------------------------------------------------- */

/* The driver may have rung for more than the ring has. */
static void mover_check_tail(struct agate_sim *sim)
{
	struct mover *m = &sim->mover;

	if (m->tail - m->head > 1u << m->order)
		mover_fail(sim, AGATE_REASON_RING, 0);
	else
		mover_update(sim);
}

void mover_start(struct agate_sim *sim, const struct agate_ads *ads)
{
	struct mover *m = &sim->mover;

	*m = (struct mover){
		.running = true,
		.ring = ads->ring,
		.order = ads->ring_order,
		.context = ads->context,
	};
	if (mover_read_context(sim))
		m->tail = m->head;
}

void mover_stop(struct agate_sim *sim, const char *why)
{
	mover_drop_task(sim, why);
	sim->mover = (struct mover){ 0 };
	mover_update(sim);
}

static void mover_reset(struct agate_sim *sim)
{
	struct mover *m = &sim->mover;

	if (!m->running) {
		sim_hint(sim, 6, "MOVER_CMD without running firmware is ignored");
		return;
	}
	m->fault = AGATE_REASON_NONE;
	m->fault_addr = 0;
	mover_drop_task(sim, "reset");
	if (!mover_read_context(sim))
		return;
	if (!m->rung)	/* as after START */
		m->tail = m->head;
	m->awake = true;
	mover_check_tail(sim);
}

static void mover_lose(struct agate_sim *sim)
{
	mover_stop(sim, "lost");
}

/* ---- Registers -------------------------------------------------------------- */

static bool mover_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	const struct mover *m = &sim->mover;

	switch (offset) {
	case MOVER_CMD:
		*value = 0;
		return true;
	case MOVER_STATUS:
		*value = (sim->card.busy ? MOVER_STATUS_BUSY : 0) |
			 (m->fault ? MOVER_STATUS_FAULT : 0) | (uint32_t)m->fault << 8;
		return true;
	case RING_TAIL:
		*value = m->tail;
		return true;
	case RING_HEAD:
		*value = m->head;
		return true;
	case MOVER_SEQNO:
		*value = m->seqno;
		return true;
	case MOVER_FAULT_ADDR_LO:
	case MOVER_FAULT_ADDR_HI:
		*value = reg_half(m->fault_addr, offset == MOVER_FAULT_ADDR_HI);
		return true;
	}
	return false;
}

static void mover_ring(struct agate_sim *sim, uint32_t tail)
{
	struct mover *m = &sim->mover;

	if (!m->running) {
		sim_hint(sim, 6, "RING_TAIL without running firmware");
		return;
	}
	m->tail = tail;
	m->rung = true;
	if (m->fault)	/* RESET looks at it */
		return;
	mover_check_tail(sim);
	/* The driver took its command back, and may put another there. */
	if (m->head == m->tail)
		mover_drop_task(sim, "withdrawn");
}

static bool mover_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case MOVER_CMD:
		if (value == MOVER_CMD_RESET)
			mover_reset(sim);
		else
			sim_hint(sim, 6, "unknown MOVER_CMD");
		return true;
	case RING_TAIL:
		mover_ring(sim, value);
		return true;
	}
	return false;
}

const struct block mover_block = {
	.first = MOVER_CMD,
	.last = MOVER_FAULT_ADDR_HI,
	.read = mover_read,
	.write = mover_write,
	.section = 6,
	.beside_gpu = true,
	.engines = 1,
	.runnable = mover_runnable,
	.run = mover_run,
	.lose = mover_lose,
};
