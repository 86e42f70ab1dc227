// SPDX-License-Identifier: MIT
/*
 * The core of a GPU, as far as a submission needs it: it walks the chain, and gives
 * the job types flat memory.
 */
#include "fake_gpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "job_exec.h"

struct agate_sim {
	const uint32_t *handles;
	uint32_t count;
	uint32_t vm;
	uint32_t exception;
	uint64_t fault_pointer;
};

static void *memory_at(const struct agate_sim *sim, uint64_t va, size_t len, bool write)
{
	return sim->vm ? fake_vm_memory(sim->vm, va, len, write) :
			 fake_gpu_memory(sim->handles, sim->count, va, len, write);
}

static int transfer(struct agate_exec *x, uint64_t va, void *buf, size_t len, bool write,
		    enum agate_run *why)
{
	void *memory = memory_at(x->sim, va, len, write);

	if (!memory) {
		*why = agate_exec_fail(x, AGATE_EXC_TRANSLATION_FAULT_0 + 3, va);
		return -1;
	}
	if (write)
		memcpy(memory, buf, len);
	else
		memcpy(buf, memory, len);
	return 0;
}

int agate_exec_read(struct agate_exec *x, uint64_t va, void *buf, size_t len,
		    enum agate_run *why)
{
	return transfer(x, va, buf, len, false, why);
}

int agate_exec_write(struct agate_exec *x, uint64_t va, const void *buf, size_t len,
		     enum agate_run *why)
{
	return transfer(x, va, (void *)(uintptr_t)buf, len, true, why);
}

enum agate_run agate_exec_fail(struct agate_exec *x, enum agate_exception exception,
			       uint64_t fault_pointer)
{
	x->sim->exception = exception;
	x->sim->fault_pointer = fault_pointer;
	return AGATE_RUN_FAULT;
}

void agate_exec_cost(struct agate_exec *x, unsigned int cycles)
{
	(void)x;
	(void)cycles;
}

void agate_exec_count(struct agate_exec *x, enum agate_counter counter, uint64_t n)
{
	(void)x;
	(void)counter;
	(void)n;
}

static uint32_t run_job(struct agate_exec *x, uint32_t type)
{
	const struct agate_job_ops *ops = type == AGATE_JOB_TILER ? &agate_tiler_ops :
					  type == AGATE_JOB_FRAGMENT ? &agate_fragment_ops :
					  NULL;
	enum agate_run r;
	void *state;

	if (type == AGATE_JOB_NULL)
		return AGATE_EXC_DONE;
	if (!ops)
		return AGATE_EXC_JOB_CONFIG_FAULT;
	state = calloc(1, ops->state_size);
	if (!state)
		abort();
	do {
		r = ops->run(x, state);
	} while (r == AGATE_RUN_AGAIN);
	free(state);
	return r == AGATE_RUN_DONE ? AGATE_EXC_DONE : x->sim->exception;
}

int fake_gpu_run(const struct drm_agate_submit *args, const uint32_t *handles)
{
	struct agate_sim sim = { .handles = handles, .count = args->bo_handle_count,
				 .vm = args->vm_id };
	struct agate_exec x = { .sim = &sim, .job = args->jc };
	struct agate_job_header *header;

	while (x.job) {
		header = memory_at(&sim, x.job, sizeof(*header), true);
		if (!header)
			return 0;	/* the chain faults, the submission does not */
		header->exception_status = run_job(&x, AGATE_JOB_TYPE_OF(header->control));
		header->fault_pointer = sim.fault_pointer;
		if (header->exception_status != AGATE_EXC_DONE)
			return 0;
		x.job = header->next;
	}
	return 0;
}
