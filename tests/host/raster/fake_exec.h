/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for the core under the job types: a window of flat memory at a GPU
 * virtual address, pages that can be missing, and accesses that can be made to
 * stall.  A stalled write has written the part before a page boundary, as can
 * happen in the real core.
 */
#ifndef FAKE_EXEC_H
#define FAKE_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "job_exec.h"

#define FAKE_BASE	0x100000000ull
#define FAKE_SIZE	(512u * 1024)
#define FAKE_PAGES	(FAKE_SIZE / 4096)

/* The fake's report for a job that does not end: not an exception code. */
#define FAKE_STILL_RUNNING	0xff

#define FAKE_NO_STALL		(-1l)

struct agate_sim {
	uint8_t mem[FAKE_SIZE];
	bool missing[FAKE_PAGES];
	long stall_at;			/* the access to stall, counted from 0 */

	long accesses;			/* accesses tried so far */
	unsigned int page_faults;
	uint64_t last_fault;
	uint64_t counter[AGATE_CNT_COUNT];
	uint64_t cycles;
	unsigned int units;
	unsigned int exception;
	uint64_t fault_pointer;
};

/* Abort the test on a wild address; never returns NULL. */
void *fake_at(struct agate_sim *sim, uint64_t va, size_t len);

/*
 * Run a job to its end, mapping missing pages as they fault.  Returns its
 * exception code, or FAKE_STILL_RUNNING after max_units units.
 */
unsigned int fake_run(struct agate_sim *sim, const struct agate_job_ops *ops, uint64_t job,
		      unsigned int max_units);

#endif /* FAKE_EXEC_H */
