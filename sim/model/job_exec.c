// SPDX-License-Identifier: MIT
/*
 * Services for a running job (job_exec.h): access memory through its address space,
 * fail, and account for its work.
 */
#include "job_exec.h"

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

static bool stall_is_translation(const struct mmu_stall *stall)
{
	return stall->exception >= AGATE_EXC_TRANSLATION_FAULT_0 &&
	       stall->exception < AGATE_EXC_PERMISSION_FAULT_0;
}

/* Translate one access that stays in its page; AGATE_RUN_DONE: *place is valid. */
static enum agate_run exec_translate(struct agate_exec *x, uint64_t va,
				     enum mmu_access access, struct mmu_place *place)
{
	struct slot *slot = exec_slot(x);
	enum agate_exception exception;

	switch (mmu_translate(x->sim, &slot->client, va, access, place, &exception)) {
	case MMU_OK:
		if (slot->listed.current.told)
			listed_judge(x->sim, slot, va, access == MMU_WRITE);
		return AGATE_RUN_DONE;
	case MMU_STALL:
		return AGATE_RUN_STALL;
	case MMU_KILL:
		break;
	}
	if (slot->client.stall.faulted && stall_is_translation(&slot->client.stall))
		sim_hint(x->sim, 4, "a job touched an address that nobody mapped");
	slot->chain.killed = true;
	return agate_exec_fail(x, exception, va);
}

static size_t exec_in_page(uint64_t va, size_t len)
{
	size_t left = GPU_PAGE_SIZE - va % GPU_PAGE_SIZE;

	return len < left ? len : left;
}

static int place_read(struct agate_sim *sim, struct mmu_place place, void *buf, size_t len)
{
	if (place.uncached)
		return phys_read(sim, place.pa, buf, len);
	return l2_read(sim, place.pa, buf, len, L2_DATA);
}

static int place_write(struct agate_sim *sim, struct mmu_place place, const void *buf,
		       size_t len)
{
	if (place.uncached)
		return phys_write(sim, place.pa, buf, len);
	return l2_write(sim, place.pa, buf, len);
}

static enum phys_copied place_copy(struct agate_sim *sim, struct mmu_place to,
				   struct mmu_place from, size_t len)
{
	uint8_t page[GPU_PAGE_SIZE];

	if (sim->l2.protocol == GPU_COHERENCY_ACE || (to.uncached && from.uncached))
		return phys_copy(sim, to.pa, from.pa, len);
	if (place_read(sim, from, page, len))
		return PHYS_NO_SRC;
	return place_write(sim, to, page, len) ? PHYS_NO_DST : PHYS_COPIED;
}

/* Most memory costs nothing but what the job accounts for itself. */
static void exec_memory_cost(struct agate_exec *x, unsigned int cycles)
{
	if (cycles)
		agate_exec_cost(x, cycles);
}

int agate_exec_read(struct agate_exec *x, uint64_t va, void *buf, size_t len,
		    enum agate_run *why)
{
	unsigned int cycles = 0;
	uint8_t *to = buf;

	while (len) {
		size_t part = exec_in_page(va, len);
		struct mmu_place place;

		*why = exec_translate(x, va, MMU_READ, &place);
		if (*why != AGATE_RUN_DONE)
			return -1;
		if (place_read(x->sim, place, to, part)) {
			*why = agate_exec_fail(x, AGATE_EXC_JOB_BUS_FAULT, va);
			return -1;
		}
		x->sim->perf.work.read[x->slot] += part;
		cycles += phys_cycles(x->sim, place.pa, part);
		va += part;
		to += part;
		len -= part;
	}
	exec_memory_cost(x, cycles);
	return 0;
}

int agate_exec_write(struct agate_exec *x, uint64_t va, const void *buf, size_t len,
		     enum agate_run *why)
{
	const uint8_t *from = buf;
	unsigned int cycles = 0;

	while (len) {
		size_t part = exec_in_page(va, len);
		struct mmu_place place;

		*why = exec_translate(x, va, MMU_WRITE, &place);
		if (*why != AGATE_RUN_DONE)
			return -1;
		if (place_write(x->sim, place, from, part)) {
			*why = agate_exec_fail(x, AGATE_EXC_JOB_BUS_FAULT, va);
			return -1;
		}
		x->sim->perf.work.written[x->slot] += part;
		cycles += phys_cycles(x->sim, place.pa, part);
		va += part;
		from += part;
		len -= part;
	}
	exec_memory_cost(x, cycles);
	return 0;
}

int agate_exec_move(struct agate_exec *x, uint64_t dst, uint64_t src, size_t len,
		    enum agate_run *why)
{
	struct mmu_place to, from;

	*why = exec_translate(x, src, MMU_READ, &from);
	if (*why == AGATE_RUN_DONE)
		*why = exec_translate(x, dst, MMU_WRITE, &to);
	if (*why != AGATE_RUN_DONE)
		return -1;
	switch (place_copy(x->sim, to, from, len)) {
	case PHYS_COPIED:
		x->sim->perf.work.read[x->slot] += len;
		x->sim->perf.work.written[x->slot] += len;
		exec_memory_cost(x, phys_cycles(x->sim, from.pa, len) +
				    phys_cycles(x->sim, to.pa, len));
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
	uint64_t bus_cycles = clock_bus_cycles(x->sim, cycles);

	x->sim->time += bus_cycles;
	exec_slot(x)->busy += bus_cycles;
	perf_count_work(x->sim, exec_slot(x), cycles);
}

void agate_exec_count(struct agate_exec *x, enum agate_counter counter, uint64_t n)
{
	sim_count(x->sim, counter, n);
}
