// SPDX-License-Identifier: MIT
/*
 * How fast the model moves memory, without a guest; run by bench.sh.
 *
 * One COMPUTE job a round over pages of 4 KiB, through the MMU, and the host's own
 * memcpy() or memset() over the same bytes beside it, in turns, so that a noisy
 * machine spoils both alike.  The ranges are larger than the host's caches.
 */
#include "model.h"

#include <string.h>

#define ROUNDS		9
#define JOB		0x080000u
#define SRC		0x0100000u
#define LENGTH		0x3000000u	/* 48 MiB */
#define DST		(SRC + LENGTH)
#define MEMORY_SIZE	(DST + LENGTH)

_Static_assert(JOB >= TABLES_SIZE, "the tables come first");

/* Bytes a second that one job works through. */
static double job_rate(struct model *m, const struct agate_compute_payload *p)
{
	model_put_header(m, JOB, AGATE_JOB_COMPUTE);
	model_put(m, JOB + AGATE_JOB_HEADER_SIZE, p, sizeof(*p));
	return (double)p->size / model_run(m, 1, JOB);
}

static double copy(struct model *m)
{
	return job_rate(m, &(struct agate_compute_payload) {
		.op = AGATE_COMPUTE_COPY, .dst = VA + DST, .src = VA + SRC, .size = LENGTH,
	});
}

static double fill(struct model *m)
{
	return job_rate(m, &(struct agate_compute_payload) {
		.op = AGATE_COMPUTE_FILL, .dst = VA + DST, .size = LENGTH, .value = 0x5a5a5a5a,
	});
}

static double checksum(struct model *m)
{
	return job_rate(m, &(struct agate_compute_payload) {
		.op = AGATE_COMPUTE_CHECKSUM, .dst = VA + SRC, .src = VA + DST, .size = LENGTH,
	});
}

static double host_copy(struct model *m)
{
	const double start = model_now();

	memcpy(m->memory + DST, m->memory + SRC, LENGTH);
	__asm__ volatile("" : : "r"(m->memory) : "memory");
	return LENGTH / (model_now() - start);
}

static double host_fill(struct model *m, int value)
{
	const double start = model_now();

	memset(m->memory + DST, value, LENGTH);
	__asm__ volatile("" : : "r"(m->memory) : "memory");
	return LENGTH / (model_now() - start);
}

int main(void)
{
	double copied[ROUNDS], filled[ROUNDS], summed[ROUNDS], memcpys[ROUNDS], memsets[ROUNDS];
	struct model m;

	model_bring_up(&m, MEMORY_SIZE);
	for (int i = 0; i < ROUNDS; i++) {
		copied[i] = copy(&m) / 1e6;
		memcpys[i] = host_copy(&m) / 1e6;
		filled[i] = fill(&m) / 1e6;
		memsets[i] = host_fill(&m, i) / 1e6;
		summed[i] = checksum(&m) / 1e6;
	}
	model_report("gpu_copy", "MB/s", copied, ROUNDS, "memcpy");
	model_report("gpu_fill", "MB/s", filled, ROUNDS, "memset");
	model_report("gpu_checksum", "MB/s", summed, ROUNDS, NULL);
	model_report("memcpy", "MB/s", memcpys, ROUNDS, NULL);
	model_report("memset", "MB/s", memsets, ROUNDS, NULL);
	model_free(&m);
	return 0;
}
