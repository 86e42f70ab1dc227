// SPDX-License-Identifier: MIT
/*
 * What a running job may do (exec.h): reach memory through its address space,
 * fail, and account for its work.
 */
#include "exec.h"

#include "model.h"

static struct slot *exec_slot(struct agate_exec *x)
{
	return &x->sim->slot[x->slot];
}

enum agate_run agate_exec_fail(struct agate_exec *x, enum agate_exception exception,
			       uint64_t fault_pointer)
{
	struct slot *slot = exec_slot(x);

	slot->chain.exception = exception;
	slot->chain.fault_pointer = fault_pointer;
	return AGATE_RUN_FAULT;
}

/* Translate one access that stays in its page; AGATE_RUN_DONE: *pa is valid. */
static enum agate_run exec_translate(struct agate_exec *x, uint64_t va,
				     enum mmu_access access, uint64_t *pa)
{
	struct slot *slot = exec_slot(x);
	enum agate_exception exception;

	switch (mmu_translate(x->sim, slot, va, access, pa, &exception)) {
	case MMU_OK:
		return AGATE_RUN_DONE;
	case MMU_STALL:
		return AGATE_RUN_STALL;
	case MMU_KILL:
		break;
	}
	slot->chain.killed = true;
	return agate_exec_fail(x, exception, va);
}

static size_t exec_in_page(uint64_t va, size_t len)
{
	size_t left = GPU_PAGE_SIZE - va % GPU_PAGE_SIZE;

	return len < left ? len : left;
}

int agate_exec_read(struct agate_exec *x, uint64_t va, void *buf, size_t len,
		    enum agate_run *why)
{
	uint8_t *to = buf;

	while (len) {
		size_t part = exec_in_page(va, len);
		uint64_t pa;

		*why = exec_translate(x, va, MMU_READ, &pa);
		if (*why != AGATE_RUN_DONE)
			return -1;
		if (phys_read(x->sim, pa, to, part)) {
			*why = agate_exec_fail(x, AGATE_EXC_JOB_BUS_FAULT, va);
			return -1;
		}
		va += part;
		to += part;
		len -= part;
	}
	return 0;
}

int agate_exec_write(struct agate_exec *x, uint64_t va, const void *buf, size_t len,
		     enum agate_run *why)
{
	const uint8_t *from = buf;

	while (len) {
		size_t part = exec_in_page(va, len);
		uint64_t pa;

		*why = exec_translate(x, va, MMU_WRITE, &pa);
		if (*why != AGATE_RUN_DONE)
			return -1;
		if (phys_write(x->sim, pa, from, part)) {
			*why = agate_exec_fail(x, AGATE_EXC_JOB_BUS_FAULT, va);
			return -1;
		}
		va += part;
		from += part;
		len -= part;
	}
	return 0;
}

int agate_exec_move(struct agate_exec *x, uint64_t dst, uint64_t src, size_t len,
		    enum agate_run *why)
{
	uint64_t dst_pa, src_pa;

	*why = exec_translate(x, src, MMU_READ, &src_pa);
	if (*why == AGATE_RUN_DONE)
		*why = exec_translate(x, dst, MMU_WRITE, &dst_pa);
	if (*why != AGATE_RUN_DONE)
		return -1;
	switch (phys_copy(x->sim, dst_pa, src_pa, len)) {
	case PHYS_COPIED:
		return 0;
	case PHYS_NO_SRC:
		*why = agate_exec_fail(x, AGATE_EXC_JOB_BUS_FAULT, src);
		break;
	case PHYS_NO_DST:
		*why = agate_exec_fail(x, AGATE_EXC_JOB_BUS_FAULT, dst);
		break;
	}
	return -1;
}

void agate_exec_cost(struct agate_exec *x, unsigned int cycles)
{
	uint64_t bus_cycles = soc_bus_cycles(x->sim, cycles);

	x->sim->time += bus_cycles;
	exec_slot(x)->busy += bus_cycles;
}

void agate_exec_count(struct agate_exec *x, enum agate_counter counter, uint64_t n)
{
	sim_count(x->sim, counter, n);
}
