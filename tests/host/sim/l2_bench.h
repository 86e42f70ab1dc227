/* SPDX-License-Identifier: MIT */
/*
 * The starting point of the L2's tests.  A WRITE_VALUE is a store by the GPU;
 * put64() and get64() are accesses by a CPU.  The job's header and payload share a
 * line with nothing else.
 */
#ifndef AGATE_TEST_L2_BENCH_H
#define AGATE_TEST_L2_BENCH_H

#include "job_exec.h"
#include "gpu_bench.h"

#define OUT		0x800u		/* where jobs write, from VA and PA */
#define MARKER		0x1122334455667788ull
#define OTHER		0x99aabbccddeeff00ull

#define CLEAN		JS_CONFIG_END_FLUSH_CLEAN
#define EDGES		(JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE | \
			 JS_CONFIG_END_FLUSH_CLEAN_INVALIDATE)

static inline struct bench *ready(enum agate_sim_coherency coherency)
{
	struct agate_sim_config config = { .seed = 1, .coherency = coherency };

	return bench_ready_with(&config);
}

/* Let slot 0 run the chain at VA to its end. */
static inline void run(struct bench *b, uint32_t config)
{
	start_job(b, 0, VA, config);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	rd(b, JOB_INT_RAWSTAT);
	wr(b, JOB_INT_CLEAR, 1);
}

static inline void store(struct bench *b, uint64_t offset, uint64_t value, uint32_t config)
{
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, VA + offset, value);
	run(b, config);
}

static inline void gpu_command(struct bench *b, uint32_t command)
{
	wr(b, GPU_CMD, command);
	poll_reg(b, GPU_INT_RAWSTAT, GPU_IRQ_CLEAN_CACHES_COMPLETED,
		 GPU_IRQ_CLEAN_CACHES_COMPLETED);
	wr(b, GPU_INT_CLEAR, GPU_IRQ_CLEAN_CACHES_COMPLETED);
}

/* Read a value as the GPU sees it now, through its tables and its L2. */
static inline uint64_t load(struct bench *b, uint64_t va)
{
	struct agate_exec x = { .sim = b->sim };
	enum agate_run why;
	uint64_t value = 0;

	assert_int_equal(agate_exec_read(&x, va, &value, sizeof(value), &why), 0);
	return value;
}

#endif /* AGATE_TEST_L2_BENCH_H */
