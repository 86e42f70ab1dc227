// SPDX-License-Identifier: MIT
/*
 * NULL completes; WRITE_VALUE writes one value (hardware.md, section 3).
 */
#include "jobs_simple.h"

#include "model.h"

#define WRITE_VALUE_CYCLES	8

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

/* What to write, and how many bytes of it; 0: no such type. */
static size_t write_value_of(struct agate_exec *x, const struct agate_write_value_payload *p,
			     uint64_t *value)
{
	*value = p->immediate;
	switch (p->type) {
	case AGATE_WRITE_CYCLE_COUNTER:
		*value = gpu_cycle_count(x->sim);
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
	/* The low bytes come first: the GPU and every host we run on agree. */
	if (agate_exec_write(x, payload.address, &value, size, &why))
		return why;
	agate_exec_cost(x, WRITE_VALUE_CYCLES);
	return AGATE_RUN_DONE;
}

const struct agate_job_ops write_value_ops = {
	.run = write_value_run,
};
