// SPDX-License-Identifier: MIT
/*
 * NULL completes; WRITE_VALUE writes one value; CACHE_FLUSH cleans and
 * invalidates caches (hardware.md, section 3).
 */
#include "jobs_simple.h"

#include "model.h"

#define WRITE_VALUE_CYCLES	8
#define CACHE_FLUSH_CYCLES	16

#define CACHES_THERE_ARE \
	(AGATE_FLUSH_LS_CLEAN | AGATE_FLUSH_LS_INVALIDATE | AGATE_FLUSH_OTHER_INVALIDATE | \
	 AGATE_FLUSH_JM_CLEAN | AGATE_FLUSH_JM_INVALIDATE | \
	 AGATE_FLUSH_TILER_CLEAN | AGATE_FLUSH_TILER_INVALIDATE)

_Static_assert(sizeof(struct agate_write_value_payload) == 24, "payload layout");

static enum agate_run null_run(struct agate_exec *x, void *state)
{
	(void)state;
	agate_exec_cost(x, 1);
	return AGATE_RUN_DONE;
}

const struct agate_job_ops null_ops = {
	.run = null_run,
};

/* Get the value to write; return its size in bytes, 0 for an unknown type. */
static size_t write_value_of(struct agate_exec *x, const struct agate_write_value_payload *p,
			     uint64_t *value)
{
	*value = p->immediate;
	switch (p->type) {
	case AGATE_WRITE_CYCLE_COUNTER:
		*value = cycle_count_read(x->sim);
		return 8;
	case AGATE_WRITE_SYSTEM_TIMESTAMP:
		*value = x->sim->time;
		return 8;
	case AGATE_WRITE_ZERO:
		*value = 0;
		return 8;
	case AGATE_WRITE_IMMEDIATE_8:
		return 1;
	case AGATE_WRITE_IMMEDIATE_16:
		return 2;
	case AGATE_WRITE_IMMEDIATE_32:
		return 4;
	case AGATE_WRITE_IMMEDIATE_64:
		return 8;
	}
	return 0;
}

static enum agate_run write_value_run(struct agate_exec *x, void *state)
{
	uint64_t payload_va = x->job + AGATE_JOB_HEADER_SIZE;
	struct agate_write_value_payload payload;
	enum agate_run why;
	uint64_t value;
	size_t size;

	(void)state;
	if (agate_exec_read(x, payload_va, &payload, sizeof(payload), &why))
		return why;
	size = write_value_of(x, &payload, &value);
	if (!size || payload.reserved || payload.address % size)
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, payload_va);
	/* The low bytes come first, on the GPU and on every supported host. */
	if (agate_exec_write(x, payload.address, &value, size, &why))
		return why;
	agate_exec_cost(x, WRITE_VALUE_CYCLES);
	return AGATE_RUN_DONE;
}

const struct agate_job_ops write_value_ops = {
	.run = write_value_run,
};

static void cache_flush_l2(struct agate_sim *sim, uint32_t what)
{
	if (what & AGATE_FLUSH_L2_CLEAN)
		l2_clean(sim, what & AGATE_FLUSH_L2_INVALIDATE);
	else if (what & AGATE_FLUSH_L2_INVALIDATE && l2_drop(sim))
		sim_hint(sim, 5, "dirty lines of the L2 were invalidated without a clean");
}

static enum agate_run cache_flush_run(struct agate_exec *x, void *state)
{
	uint64_t payload_va = x->job + AGATE_JOB_HEADER_SIZE;
	struct agate_cache_flush_payload payload;
	enum agate_run why;

	(void)state;
	if (agate_exec_read(x, payload_va, &payload, sizeof(payload), &why))
		return why;
	if ((payload.caches & ~CACHES_THERE_ARE) ||
	    (payload.l2 & ~(AGATE_FLUSH_L2_CLEAN | AGATE_FLUSH_L2_INVALIDATE)))
		return agate_exec_fail(x, AGATE_EXC_DATA_INVALID_FAULT, payload_va);
	cache_flush_l2(x->sim, payload.l2);
	agate_exec_cost(x, CACHE_FLUSH_CYCLES);
	return AGATE_RUN_DONE;
}

const struct agate_job_ops cache_flush_ops = {
	.run = cache_flush_run,
};
