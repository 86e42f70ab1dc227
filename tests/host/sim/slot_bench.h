/* SPDX-License-Identifier: MIT */
/* The chains that the tests of job slots start with; one file of each program includes this. */
#ifndef SLOT_BENCH_H
#define SLOT_BENCH_H

#include "gpu_bench.h"

#define A	(VA + 0x000)	/* a cyclic chain of two: A, B */
#define B	(VA + 0x040)
#define N	(VA + 0x080)	/* one NULL job */
#define M	(VA + 0x0c0)	/* another */

static struct bench *bench_slots(void)
{
	struct bench *b = bench_ready();

	put_job(b, 0x000, AGATE_JOB_NULL, B);
	put_job(b, 0x040, AGATE_JOB_NULL, A);
	put_job(b, 0x080, AGATE_JOB_NULL, 0);
	put_job(b, 0x0c0, AGATE_JOB_NULL, 0);
	return b;
}

/* Slot 0 runs the cyclic chain. */
static struct bench *bench_cyclic(uint32_t config)
{
	struct bench *b = bench_slots();

	start_job(b, 0, A, config);
	assert_true(agate_sim_step(b->sim, 100));
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	return b;
}

#endif /* SLOT_BENCH_H */
