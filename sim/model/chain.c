// SPDX-License-Identifier: MIT
/*
 * Job chains (hardware.md, section 3): fetch a header, run its job in units,
 * write its status back, follow the pointer.  Jobs run in the chain's order, so a
 * dependency on an earlier job is always met, and a dependency on the job's own
 * index or a higher one never.  Nothing limits the number of jobs: a cyclic chain
 * runs until it is stopped.
 */
#include <string.h>

#include "model.h"

#define CHAIN_CYCLES_FETCH	8
#define CHAIN_CYCLES_WRITE_BACK	4

_Static_assert(sizeof(struct agate_job_header) == AGATE_JOB_HEADER_SIZE, "header layout");

void chain_start(struct slot *slot, uint64_t head)
{
	slot->chain.phase = CHAIN_FETCH;
	slot->chain.job = head;
	slot->chain.killed = false;
	slot->chain.cyclic = false;
	slot->chain.landmark = head;
	slot->chain.steps = 0;
	slot->chain.patience = 1;
}

void chain_job_event(struct agate_sim *sim, const struct slot *slot,
		     enum agate_sim_event_kind kind, uint64_t c, const char *text)
{
	if (!slot->chain.cyclic)
		sim_event(sim, kind, slot->index, slot->chain.job, c, text);
}

/*
 * Go on to another job.  To detect a cycle, remember one job as landmark, and
 * choose another landmark after 1, 2, 4, 8, ... steps: at some time the landmark
 * lies on the cycle, and the cycle is shorter than the number of steps.
 */
static void chain_next(struct agate_sim *sim, struct slot *slot, uint64_t next)
{
	struct chain *chain = &slot->chain;

	chain->job = next;
	chain->phase = CHAIN_FETCH;
	if (chain->cyclic)
		return;
	if (next == chain->landmark) {
		chain->cyclic = true;
		sim_event(sim, AGATE_EV_CHAIN_CYCLIC, slot->index, next, 0, NULL);
	} else if (++chain->steps == chain->patience) {
		chain->landmark = next;
		chain->patience *= 2;
		chain->steps = 0;
	}
}

/* The affinity names present cores, and they and the L2 (and tiler) are on. */
static enum agate_exception chain_power(struct agate_sim *sim, const struct slot *slot,
					bool tiler)
{
	uint64_t cores = slot->affinity & sim->power.domain[POWER_SHADER].present;

	if (!cores)
		return AGATE_EXC_JOB_AFFINITY_FAULT;
	if (!power_ready(sim, cores, tiler))
		return AGATE_EXC_JOB_POWER_FAULT;
	return AGATE_EXC_NOT_STARTED;
}

static bool chain_needs_tiler(const struct chain *chain)
{
	return chain->phase == CHAIN_RUN &&
	       AGATE_JOB_TYPE_OF(chain->header.control) == AGATE_JOB_TILER;
}

/* Find the error in the current header, if there is one. */
static enum agate_exception chain_judge(struct slot *slot)
{
	struct chain *chain = &slot->chain;
	unsigned int type = AGATE_JOB_TYPE_OF(chain->header.control);
	unsigned int index = AGATE_JOB_INDEX_OF(chain->header.control);
	unsigned int dep1 = chain->header.dependency1;
	unsigned int dep2 = chain->header.dependency2;

	chain->ops = jobtype_find(slot->index, type);
	if (!chain->ops)
		return AGATE_EXC_JOB_CONFIG_FAULT;
	if ((dep1 && dep1 >= index) || (dep2 && dep2 >= index))
		return AGATE_EXC_JOB_CONFIG_FAULT;
	return AGATE_EXC_NOT_STARTED;
}

static void chain_fetch(struct agate_sim *sim, struct slot *slot, struct agate_exec *x)
{
	struct chain *chain = &slot->chain;
	enum agate_run why;

	slot->tail = chain->job;
	if (chain->job % AGATE_JOB_ALIGN) {
		slot_end(sim, slot, chain->job, AGATE_EXC_JOB_CONFIG_FAULT);
		return;
	}
	if (agate_exec_read(x, chain->job, &chain->header, sizeof(chain->header), &why)) {
		if (why == AGATE_RUN_FAULT)
			slot_end(sim, slot, chain->job, chain->exception);
		return;
	}
	agate_exec_cost(x, CHAIN_CYCLES_FETCH);
	chain_job_event(sim, slot, AGATE_EV_JOB_START, AGATE_JOB_TYPE_OF(chain->header.control),
			NULL);
	chain->exception = chain_judge(slot);
	chain->fault_pointer = chain->job;
	if (chain->exception != AGATE_EXC_NOT_STARTED) {
		chain->phase = CHAIN_WRITE_BACK;
		return;
	}
	memset(chain->state, 0, chain->ops->state_size);
	chain->phase = CHAIN_RUN;
}

/* End the current job, after its header was written back if possible. */
static void chain_job_end(struct agate_sim *sim, struct slot *slot)
{
	struct chain *chain = &slot->chain;
	const struct agate_job_header *header = &chain->header;
	uint64_t next = header->next;

	if (AGATE_EXC_IS_FAULT(chain->exception)) {
		slot_end(sim, slot, chain->job, chain->exception);
		return;
	}
	sim_count(sim, AGATE_CNT_JOBS, 1);
	perf_count_job(sim, slot);
	perf_tell_traffic(sim, slot, true);
	chain_job_event(sim, slot, AGATE_EV_JOB_END, chain->exception, NULL);
	chain->phase = CHAIN_FETCH;
	if (!(header->control & AGATE_JOB_64BIT))
		next = (uint32_t)next;
	if (!next) {
		slot_end(sim, slot, chain->job, AGATE_EXC_DONE);
		return;
	}
	chain_next(sim, slot, next);
	if (slot->soft_stop)
		slot_end(sim, slot, next, AGATE_EXC_STOPPED);
}

static void chain_job_run(struct agate_sim *sim, struct slot *slot, struct agate_exec *x)
{
	struct chain *chain = &slot->chain;

	switch (chain->ops->run(x, chain->state)) {
	case AGATE_RUN_AGAIN:
	case AGATE_RUN_STALL:
		perf_tell_traffic(sim, slot, false);
		return;
	case AGATE_RUN_DONE:
		chain->exception = AGATE_EXC_DONE;
		chain->fault_pointer = 0;
		break;
	case AGATE_RUN_FAULT:
		break;
	}
	if (chain->killed)	/* no mapping to write back through */
		chain_job_end(sim, slot);
	else
		chain->phase = CHAIN_WRITE_BACK;
}

/* Injection: write the correct header again with a wrong status. */
static void chain_corrupt(struct agate_exec *x, struct chain *chain, uint32_t mask)
{
	enum agate_run why;

	chain->header.exception_status ^= mask;
	chain->header.fault_pointer = UINT64_MAX;
	/* This cannot fail: the page has just been written. */
	agate_exec_write(x, chain->job, &chain->header,
			 offsetof(struct agate_job_header, control), &why);
}

static void chain_write_back(struct agate_sim *sim, struct slot *slot, struct agate_exec *x)
{
	struct chain *chain = &slot->chain;
	enum agate_run why;
	uint32_t mask;

	if (!(slot->config & JS_CONFIG_DISABLE_DESCRIPTOR_WR_BK)) {
		chain->header.exception_status = chain->exception;
		chain->header.first_incomplete_task = 0;
		chain->header.fault_pointer = chain->fault_pointer;
		/* Write the fields before control: status, task and fault pointer. */
		if (agate_exec_write(x, chain->job, &chain->header,
				     offsetof(struct agate_job_header, control), &why) &&
		    why == AGATE_RUN_STALL)
			return;
		if (inject_strikes(sim, AGATE_SIM_INJECT_CORRUPT_HEADER, 0, &mask))
			chain_corrupt(x, chain, mask);
		agate_exec_cost(x, CHAIN_CYCLES_WRITE_BACK);
	}
	chain_job_end(sim, slot);
}

void chain_run(struct agate_sim *sim, struct slot *slot)
{
	struct agate_exec x = {
		.sim = sim,
		.as = slot->client.as,
		.slot = slot->index,
		.job = slot->chain.job,
	};
	enum agate_exception power = chain_power(sim, slot, chain_needs_tiler(&slot->chain));

	if (power != AGATE_EXC_NOT_STARTED) {
		slot_end(sim, slot, slot->chain.job, power);
		return;
	}
	switch (slot->chain.phase) {
	case CHAIN_FETCH:
		chain_fetch(sim, slot, &x);
		break;
	case CHAIN_RUN:
		chain_job_run(sim, slot, &x);
		break;
	case CHAIN_WRITE_BACK:
		chain_write_back(sim, slot, &x);
		break;
	}
}
