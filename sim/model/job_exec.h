/* SPDX-License-Identifier: MIT */
/*
 * How job types run: small restartable units over GPU virtual memory.
 *
 * A job never blocks.  Each call of its run function does one unit of work, and any
 * access can interrupt that unit: a page fault stalls it (AGATE_RUN_STALL) until
 * the driver has mapped the page; then the model makes the same call again.  So a
 * unit must either be harmless to repeat, or change the job's state only after its
 * last access has succeeded.
 */
#ifndef AGATE_MODEL_JOB_EXEC_H
#define AGATE_MODEL_JOB_EXEC_H

#include <stddef.h>
#include <stdint.h>

#include "agate_job.h"
#include "agate_regs.h"

struct agate_sim;

/* Where a job runs: its simulator, address space and slot. */
struct agate_exec {
	struct agate_sim *sim;
	unsigned int as;
	unsigned int slot;
	uint64_t job;		/* VA of the job's header */
};

enum agate_run {
	AGATE_RUN_AGAIN,	/* a unit done, more to do */
	AGATE_RUN_DONE,		/* the job is complete */
	AGATE_RUN_STALL,	/* an access waits for the MMU: call again later */
	AGATE_RUN_FAULT,	/* the job ends; agate_exec_fail() has set the reason */
};

/*
 * Read or write len bytes at va through the address space's TLB and tables.
 * May cross pages; a stall in the middle repeats the whole access later.
 * Returns 0, or -1 with *why set to AGATE_RUN_STALL or AGATE_RUN_FAULT, which
 * the caller returns as it is.
 */
int agate_exec_read(struct agate_exec *x, uint64_t va, void *buf, size_t len,
		    enum agate_run *why);
int agate_exec_write(struct agate_exec *x, uint64_t va, const void *buf, size_t len,
		     enum agate_run *why);

/*
 * Move len bytes from src to dst, each within one page, as memmove() does.  The
 * call moves all bytes or none: while it waits it has moved nothing.
 */
int agate_exec_move(struct agate_exec *x, uint64_t dst, uint64_t src, size_t len,
		    enum agate_run *why);

/* End the job with exception and fault_pointer; returns AGATE_RUN_FAULT. */
enum agate_run agate_exec_fail(struct agate_exec *x, enum agate_exception exception,
			       uint64_t fault_pointer);

/* Account work: model time and the slot's busy time advance by cycles of its clock. */
void agate_exec_cost(struct agate_exec *x, unsigned int cycles);
void agate_exec_count(struct agate_exec *x, enum agate_counter counter, uint64_t n);

/*
 * A job type.  state is size bytes, zeroed before the first call of run() and
 * kept until the job ends; it owns no resources, so a reset or a hard stop just
 * drops it.
 */
struct agate_job_ops {
	size_t state_size;
	enum agate_run (*run)(struct agate_exec *x, void *state);
};

extern const struct agate_job_ops agate_tiler_ops;
extern const struct agate_job_ops agate_fragment_ops;

/* State of any job fits; checked where each ops is defined. */
#define AGATE_JOB_STATE_MAX	(16 * 1024)

#endif /* AGATE_MODEL_JOB_EXEC_H */
