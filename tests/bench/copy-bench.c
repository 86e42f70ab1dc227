// SPDX-License-Identifier: MIT
/*
 * How fast the model moves memory, without a guest; run by bench.sh.
 *
 * COMPUTE jobs over pages of 4 KiB through the MMU, contiguous and scattered, and the
 * host's own memcpy() or memset() of the same size, in turns, so that a noisy machine
 * affects all equally.  One size fits a core's cache, the other does not.  From some tens
 * of MiB on memcpy() bypasses the caches, which is of no advantage to a copy in pieces of
 * a page.
 */
#include "bench.h"
#include "bench_model.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS		15
#define JOB		TABLES_SIZE
#define SRC		DATA
#define LARGE		0x1000000u	/* 16 MiB */
#define SMALL		0x0100000u
#define DST		(SRC + LARGE)
#define MEMORY_SIZE	(DST + LARGE)

/* A sample moves the same amount for every size: it repeats the small ones. */
#define SAMPLE		LARGE

/* MB per second for a job of that size. */
static double job_rate(struct model *m, enum model_as as, const struct agate_compute_payload *p)
{
	double seconds = 0;

	model_put_header(m, JOB, AGATE_JOB_COMPUTE, 0);
	model_put(m, JOB + AGATE_JOB_HEADER_SIZE, p, sizeof(*p));
	for (uint32_t done = 0; done < SAMPLE; done += p->size)
		seconds += model_run(m, 1, as, JOB);
	return SAMPLE / seconds / 1e6;
}

static double copy(struct model *m, enum model_as as, uint32_t size)
{
	return job_rate(m, as, &(struct agate_compute_payload) {
		.op = AGATE_COMPUTE_COPY, .dst = VA + DST, .src = VA + SRC, .size = size,
	});
}

static double fill(struct model *m, enum model_as as, uint32_t size)
{
	return job_rate(m, as, &(struct agate_compute_payload) {
		.op = AGATE_COMPUTE_FILL, .dst = VA + DST, .size = size, .value = 0x5a5a5a5a,
	});
}

static double host_copy(struct model *m, uint32_t size)
{
	const double start = model_now();

	for (uint32_t done = 0; done < SAMPLE; done += size) {
		memcpy(m->memory + DST, m->memory + SRC, size);
		/* Without this the compiler would see that only the last one counts. */
		__asm__ volatile("" : : "r"(m->memory) : "memory");
	}
	return SAMPLE / (model_now() - start) / 1e6;
}

static double host_fill(struct model *m, uint32_t size, int value)
{
	const double start = model_now();

	for (uint32_t done = 0; done < SAMPLE; done += size) {
		memset(m->memory + DST, value, size);
		__asm__ volatile("" : : "r"(m->memory) : "memory");
	}
	return SAMPLE / (model_now() - start) / 1e6;
}

static double checksum(struct model *m)
{
	const struct agate_compute_payload p = {
		.op = AGATE_COMPUTE_CHECKSUM, .dst = VA + SRC, .src = VA + DST, .size = SAMPLE,
	};

	return job_rate(m, AS_LINEAR, &p);
}

enum { HOST, CONTIGUOUS, SCATTERED, LAYOUTS };

static void report(const char *op, const char *size, const char *host,
		   double rates[LAYOUTS][ROUNDS])
{
	static const char *const layout[] = { [CONTIGUOUS] = "", [SCATTERED] = "_scattered" };
	char name[64], against[64];

	snprintf(against, sizeof(against), "%s_%s", host, size);
	for (int i = CONTIGUOUS; i < LAYOUTS; i++) {
		snprintf(name, sizeof(name), "gpu_%s_%s%s", op, size, layout[i]);
		bench_report(name, "MB/s", rates[i], ROUNDS, against);
	}
	bench_report(against, "MB/s", rates[HOST], ROUNDS, NULL);
}

static void bench(struct model *m, const char *name, uint32_t size)
{
	double copies[LAYOUTS][ROUNDS], fills[LAYOUTS][ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		copies[CONTIGUOUS][i] = copy(m, AS_LINEAR, size);
		copies[HOST][i] = host_copy(m, size);
		copies[SCATTERED][i] = copy(m, AS_SCATTERED, size);
		fills[CONTIGUOUS][i] = fill(m, AS_LINEAR, size);
		fills[HOST][i] = host_fill(m, size, i);
		fills[SCATTERED][i] = fill(m, AS_SCATTERED, size);
	}
	report("copy", name, "memcpy", copies);
	report("fill", name, "memset", fills);
}

int main(void)
{
	double sums[ROUNDS];
	struct model m;

	model_bring_up(&m, MEMORY_SIZE);
	bench(&m, "1M", SMALL);
	bench(&m, "16M", LARGE);
	for (int i = 0; i < ROUNDS; i++)
		sums[i] = checksum(&m);
	bench_report("gpu_checksum", "MB/s", sums, ROUNDS, NULL);
	model_free(&m);
	return 0;
}
