// SPDX-License-Identifier: MIT
/*
 * Power domains (hardware.md, section 2): PRESENT, READY, PWRON, PWROFF,
 * PWRTRANS and PWRACTIVE for each, with the order that the hardware requires.  If a
 * driver does not wait for READY, the GPU refuses its next request.
 */
#include "model.h"

enum power_reg {
	POWER_PRESENT	= 0x100,
	POWER_READY	= 0x140,
	POWER_PWRON	= 0x180,
	POWER_PWROFF	= 0x1c0,
	POWER_PWRTRANS	= 0x200,
	POWER_PWRACTIVE	= 0x240,
};

static void power_reset(struct agate_sim *sim)
{
	unsigned int id;

	for (id = 0; id < POWER_DOMAINS; id++) {
		struct power_domain *d = &sim->power.domain[id];

		d->ready = 0;
		d->trans = 0;
		d->failing = 0;
	}
	sim->power.watched = false;
}

static int power_init(struct agate_sim *sim, const struct agate_sim_config *config)
{
	(void)config;
	sim->power.domain[POWER_SHADER].present = sim->identity->shaders;
	sim->power.domain[POWER_TILER].present = 0x1;
	sim->power.domain[POWER_L2].present = 0x1;
	return 0;
}

static bool power_pending(const struct power *power)
{
	return power->domain[POWER_L2].trans | power->domain[POWER_SHADER].trans |
	       power->domain[POWER_TILER].trans;
}

/* Starts to switch cores on or off; their READY bit tells which. */
static void power_start(struct agate_sim *sim, struct power_domain *d, uint32_t cores)
{
	uint64_t due;
	unsigned int i;

	if (!cores)
		return;
	due = sim_due(sim, AGATE_SIM_LATENCY_POWER);
	for (i = 0; i < POWER_MAX_CORES; i++)
		if (cores & (1u << i))
			d->due[i] = due;
	d->trans |= cores;
	sim->power.watched = false;
}

static void power_on(struct agate_sim *sim, enum power_domain_id id, uint32_t value)
{
	struct power_domain *d = &sim->power.domain[id];
	uint32_t cores = value & d->present;
	uint32_t unused;

	if (cores && !sim->soc.power_in) {
		sim_hint(sim, 7, "PWRON without POWER_IN is ignored");
		return;
	}
	if (cores & d->trans)
		sim_hint(sim, 2, "PWRON for cores that are in transition is ignored");
	cores &= ~(d->trans | d->ready);
	if (cores && id != POWER_L2 && !power_l2_ready(&sim->power)) {
		sim_hint(sim, 2, "PWRON of shader or tiler before the L2 is ready is ignored");
		return;
	}
	power_start(sim, d, cores);
	if (cores && inject_strikes(sim, AGATE_SIM_INJECT_FAIL_POWER, 0, &unused))
		d->failing |= cores;
}

static void power_off(struct agate_sim *sim, enum power_domain_id id, uint32_t value)
{
	struct power_domain *d = &sim->power.domain[id];
	const struct power_domain *shader = &sim->power.domain[POWER_SHADER];
	const struct power_domain *tiler = &sim->power.domain[POWER_TILER];
	uint32_t cores = value & d->present;

	if (cores & d->trans)
		sim_hint(sim, 2, "PWROFF for cores that are in transition is ignored");
	cores &= d->ready & ~d->trans;
	if (!cores)
		return;
	if (id == POWER_L2 && (shader->ready | shader->trans | tiler->ready | tiler->trans))
		sim_hint(sim, 2, "the L2 is powered off with shader cores or the tiler on");
	if (slot_any_active(sim))
		sim_hint(sim, 2, "power is taken away while a job runs");
	power_start(sim, d, cores);
}

static void power_drop(struct agate_sim *sim, enum power_domain_id id)
{
	struct power_domain *d = &sim->power.domain[id];

	if (!(d->ready | d->trans))
		return;
	d->ready = 0;
	d->trans = 0;
	d->failing = 0;
	sim_event(sim, AGATE_EV_POWER, id, 0, 0, "lost");
}

/* Without an L2 no other block can keep its state. */
static void power_drop_dependants(struct agate_sim *sim)
{
	power_drop(sim, POWER_SHADER);
	power_drop(sim, POWER_TILER);
}

bool power_any(const struct agate_sim *sim)
{
	unsigned int id;

	for (id = 0; id < POWER_DOMAINS; id++)
		if (sim->power.domain[id].ready | sim->power.domain[id].trans)
			return true;
	return false;
}

/* The L2 went off; it lost its lines, and every block that needs it went off as well. */
static void power_l2_gone(struct agate_sim *sim)
{
	power_drop_dependants(sim);
	if (l2_drop(sim))
		sim_hint(sim, 5, "the L2 was powered off with dirty lines: they are lost");
}

void power_lose(struct agate_sim *sim)
{
	power_l2_gone(sim);
	power_drop(sim, POWER_L2);
}

void power_judge_protected(struct agate_sim *sim)
{
	if (sim->gpu.protected_mode && power_l2_in_use(sim) &&
	    sim->l2.protocol == GPU_COHERENCY_ACE)
		sim_hint(sim, 2, "protected mode with ACE: CPUs can snoop the protected memory");
}

/* The L2 is on, without any lines, and perhaps with a new protocol. */
static void power_l2_here(struct agate_sim *sim)
{
	sim->l2.protocol = sim->gpu.coherency;
	power_judge_protected(sim);
}

static void power_finish(struct agate_sim *sim, enum power_domain_id id, uint32_t cores)
{
	struct power_domain *d = &sim->power.domain[id];
	bool off = d->ready & cores;
	uint32_t failed = d->failing & cores;

	d->trans &= ~cores;
	d->failing &= ~cores;
	d->ready ^= cores & ~failed;
	sim_event(sim, AGATE_EV_POWER, id, d->ready, 0, failed ? "failed" : off ? "off" : "on");
	if (id == POWER_L2 && off)
		power_l2_gone(sim);
	else if (id == POWER_L2 && !failed)
		power_l2_here(sim);
	irq_raise(sim, &sim->irq[AGATE_VECTOR_GPU], GPU_IRQ_POWER_CHANGED_SINGLE);
}

static void power_run_due(struct agate_sim *sim)
{
	unsigned int id, i;
	bool changed = false;

	if (!power_pending(&sim->power))
		return;
	for (id = 0; id < POWER_DOMAINS; id++) {
		struct power_domain *d = &sim->power.domain[id];
		uint32_t on = 0, off = 0;

		for (i = 0; i < POWER_MAX_CORES; i++)
			if ((d->trans & (1u << i)) && d->due[i] <= sim->time)
				*(d->ready & (1u << i) ? &off : &on) |= 1u << i;
		if (off)
			power_finish(sim, id, off);
		if (on)
			power_finish(sim, id, on);
		changed |= on | off;
	}
	if (changed && !power_pending(&sim->power))
		irq_raise(sim, &sim->irq[AGATE_VECTOR_GPU], GPU_IRQ_POWER_CHANGED_ALL);
}

static uint64_t power_next_due(const struct agate_sim *sim, bool all)
{
	uint32_t awaited = GPU_IRQ_POWER_CHANGED_SINGLE | GPU_IRQ_POWER_CHANGED_ALL;
	uint64_t due = TIME_NEVER;
	unsigned int id, i;

	if (!all && !sim->power.watched && !(sim->irq[AGATE_VECTOR_GPU].mask & awaited))
		return TIME_NEVER;
	for (id = 0; id < POWER_DOMAINS; id++) {
		const struct power_domain *d = &sim->power.domain[id];

		for (i = 0; i < POWER_MAX_CORES; i++)
			if ((d->trans & (1u << i)) && d->due[i] < due)
				due = d->due[i];
	}
	return due;
}

bool power_l2_in_use(const struct agate_sim *sim)
{
	const struct power_domain *d = &sim->power.domain[POWER_L2];

	return d->ready | d->trans;
}

bool power_ready(const struct agate_sim *sim, uint64_t shaders, bool tiler)
{
	const struct power_domain *d = sim->power.domain;

	if (!power_l2_ready(&sim->power))
		return false;
	if (shaders & ~(uint64_t)(d[POWER_SHADER].ready & ~d[POWER_SHADER].trans))
		return false;
	return !tiler || (d[POWER_TILER].ready & ~d[POWER_TILER].trans);
}

/* Splits an offset into bank, domain and half; false for a hole between registers. */
static bool power_decode(uint32_t offset, enum power_reg *bank, enum power_domain_id *id,
			 bool *high)
{
	uint32_t within = (offset - POWER_PRESENT) & 0x3f;

	if (within >= 0x30 || (within & 0xf) > 4)
		return false;
	*bank = offset - within;
	*id = within >> 4;
	*high = within & 4;
	return true;
}

static bool power_read(struct agate_sim *sim, uint32_t offset, uint32_t *value)
{
	const struct power_domain *d;
	enum power_domain_id id;
	enum power_reg bank;
	bool high;

	if (!power_decode(offset, &bank, &id, &high))
		return false;
	d = &sim->power.domain[id];
	*value = 0;
	if (high)
		return true;
	if (bank == POWER_PRESENT)
		*value = d->present;
	else if (bank == POWER_READY)
		*value = d->ready & ~d->trans;
	else if (bank == POWER_PWRTRANS)
		*value = d->trans;
	else if (bank == POWER_PWRACTIVE && slot_any_active(sim))
		*value = d->ready & ~d->trans;
	return true;
}

static void power_was_read(struct agate_sim *sim, uint32_t offset)
{
	enum power_domain_id id;
	enum power_reg bank;
	bool high;

	if (power_decode(offset, &bank, &id, &high) &&
	    (bank == POWER_READY || bank == POWER_PWRTRANS))
		sim->power.watched = true;
}

static bool power_write(struct agate_sim *sim, uint32_t offset, uint32_t value)
{
	enum power_domain_id id;
	enum power_reg bank;
	bool high;

	if (!power_decode(offset, &bank, &id, &high))
		return false;
	if (bank != POWER_PWRON && bank != POWER_PWROFF)
		sim_hint(sim, 2, "this power register is read-only");
	else if (!high && bank == POWER_PWRON)
		power_on(sim, id, value);
	else if (!high)
		power_off(sim, id, value);
	return true;
}

const struct block power_block = {
	.init = power_init,
	.reset = power_reset,
	.first = POWER_PRESENT,
	.last = POWER_PWRACTIVE + 0x3f,
	.read = power_read,
	.was_read = power_was_read,
	.write = power_write,
	.section = 2,
	.run_due = power_run_due,
	.next_due = power_next_due,
};
