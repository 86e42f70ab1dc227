/* SPDX-License-Identifier: MIT */
/*
 * What the page-table walks' tests share, whatever the format: a job's header at
 * an address probes reading, a WRITE_VALUE to it writing.
 */
#ifndef AGATE_TEST_WALK_BENCH_H
#define AGATE_TEST_WALK_BENCH_H

#include "harness.h"

#define MARKER		0x1122334455667788ull

/* The access, as FAULTSTATUS has it. */
#define AT_READ		(2u << 8)
#define AT_WRITE	(3u << 8)

/* Write MARKER to va from a job; the GPU is left as that leaves it. */
void probe_write(struct bench *b, uint64_t va);

/* The same arrives at pa, and the job's interrupt is cleared. */
void expect_written(struct bench *b, uint64_t va, uint64_t pa);

/* The access at va is the first that faulted, is stalled, and the MMU says exactly this. */
void expect_fault(struct bench *b, uint64_t va, uint32_t status);

/* With entry at table, the access to va ends in exception.  Frees b, which is ready. */
void write_faults(struct bench *b, uint64_t table, uint64_t entry, uint64_t va,
		  uint32_t exception);
void read_faults(struct bench *b, uint64_t table, uint64_t entry, uint64_t va,
		 uint32_t exception);

#endif /* AGATE_TEST_WALK_BENCH_H */
