// SPDX-License-Identifier: MIT
/*
 * Measures how many empty jobs per second the model runs, without a guest; bench.sh runs
 * it.  In one long chain a job costs reading, checking and writing back its header; a
 * single job also costs a driver's register writes and the GPU's message.
 */
#include "bench.h"
#include "bench_model.h"

#define ROUNDS		9
#define JOBS		4096u
#define JOB		DATA
#define JOB_STRIDE	64u

static double chained(struct model *m)
{
	for (uint32_t i = 0; i < JOBS; i++) {
		const uint32_t at = JOB + i * JOB_STRIDE;

		model_put_header(m, at, AGATE_JOB_NULL, i + 1 < JOBS ? VA + at + JOB_STRIDE : 0);
	}
	return JOBS / model_run(m, 1, AS_LINEAR, JOB);
}

static double alone(struct model *m)
{
	double seconds = 0;

	for (uint32_t i = 0; i < JOBS; i++) {
		model_put_header(m, JOB, AGATE_JOB_NULL, 0);
		seconds += model_run(m, 1, AS_LINEAR, JOB);
	}
	return JOBS / seconds;
}

int main(void)
{
	double chain[ROUNDS], one[ROUNDS];
	struct model m;

	model_bring_up(&m, DATA + 0x100000u);
	for (int i = 0; i < ROUNDS; i++) {
		chain[i] = chained(&m);
		one[i] = alone(&m);
	}
	bench_report("null_jobs_chained", "jobs/s", chain, ROUNDS, NULL);
	bench_report("null_jobs_alone", "jobs/s", one, ROUNDS, NULL);
	model_free(&m);
	return 0;
}
