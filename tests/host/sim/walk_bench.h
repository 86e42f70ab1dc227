/* SPDX-License-Identifier: MIT */
/*
 * Helpers for the tests of page-table walks in any format: a job's header at an
 * address probes reading, a WRITE_VALUE to the address probes writing.
 */
#ifndef AGATE_TEST_WALK_BENCH_H
#define AGATE_TEST_WALK_BENCH_H

#include "gpu_bench.h"

#define MARKER		0x1122334455667788ull

/* The access in FAULTSTATUS. */
#define AT_READ		(2u << 8)
#define AT_WRITE	(3u << 8)

/* Write MARKER to va from a job; the GPU then stays as it is. */
void probe_write(struct bench *b, uint64_t va);

/* Check that MARKER arrives at pa, and clear the job's interrupt. */
void expect_written(struct bench *b, uint64_t va, uint64_t pa);

/*
 * Check that the access at va is the first that faulted and is stalled, with
 * exactly this status.
 */
void expect_fault(struct bench *b, uint64_t va, uint32_t status);

/* With entry at table, the access to va must end in exception.  b is ready; this frees it. */
void write_faults(struct bench *b, uint64_t table, uint64_t entry, uint64_t va,
		  uint32_t exception);
void read_faults(struct bench *b, uint64_t table, uint64_t entry, uint64_t va,
		 uint32_t exception);

#endif /* AGATE_TEST_WALK_BENCH_H */
