// SPDX-License-Identifier: MIT
/*
 * The functions of job_exec.h over flat memory.  Everything outside the window is
 * a translation fault that ends the job, as if a driver had killed it.
 */
#include "fake_exec.h"

#include <stdlib.h>
#include <string.h>

void *fake_at(struct agate_sim *sim, uint64_t va, size_t len)
{
	if (va < FAKE_BASE || va - FAKE_BASE > FAKE_SIZE || len > FAKE_SIZE - (va - FAKE_BASE))
		abort();
	return &sim->mem[va - FAKE_BASE];
}

/* Returns 0 when the access can go ahead. */
static int fake_access(struct agate_exec *x, uint64_t va, size_t len, enum agate_run *why)
{
	struct agate_sim *sim = x->sim;
	const long n = sim->accesses++;

	if (va < FAKE_BASE || va - FAKE_BASE > FAKE_SIZE || len > FAKE_SIZE - (va - FAKE_BASE)) {
		*why = agate_exec_fail(x, AGATE_EXC_TRANSLATION_FAULT_0 + 3, va);
		return -1;
	}

	*why = AGATE_RUN_STALL;
	if (sim->stall_at == n)
		return -1;

	for (uint64_t page = (va - FAKE_BASE) / 4096;
	     page <= (va - FAKE_BASE + len - 1) / 4096; page++) {
		if (sim->missing[page]) {
			sim->page_faults++;
			sim->last_fault = FAKE_BASE + page * 4096;
			sim->missing[page] = false;
			return -1;
		}
	}
	return 0;
}

int agate_exec_read(struct agate_exec *x, uint64_t va, void *buf, size_t len,
		    enum agate_run *why)
{
	if (fake_access(x, va, len, why))
		return -1;
	memcpy(buf, fake_at(x->sim, va, len), len);
	return 0;
}

int agate_exec_write(struct agate_exec *x, uint64_t va, const void *buf, size_t len,
		     enum agate_run *why)
{
	const size_t first = 4096 - va % 4096;

	if (fake_access(x, va, len, why)) {
		if (*why == AGATE_RUN_STALL && first < len)
			memcpy(fake_at(x->sim, va, first), buf, first);
		return -1;
	}
	memcpy(fake_at(x->sim, va, len), buf, len);
	return 0;
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
	x->sim->cycles += cycles;
}

void agate_exec_count(struct agate_exec *x, enum agate_counter counter, uint64_t n)
{
	x->sim->counter[counter] += n;
}

unsigned int fake_run(struct agate_sim *sim, const struct agate_job_ops *ops, uint64_t job,
		      unsigned int max_units)
{
	struct agate_exec x = { .sim = sim, .job = job };
	enum agate_run r = AGATE_RUN_AGAIN;
	void *state = calloc(1, ops->state_size);

	if (!state)
		abort();
	sim->exception = FAKE_STILL_RUNNING;
	sim->fault_pointer = 0;
	for (sim->units = 0; sim->units < max_units; sim->units++) {
		r = ops->run(&x, state);
		if (r == AGATE_RUN_DONE)
			sim->exception = AGATE_EXC_DONE;
		if (r == AGATE_RUN_DONE || r == AGATE_RUN_FAULT)
			break;
	}
	free(state);
	return sim->exception;
}
