/* SPDX-License-Identifier: MIT */
/* Helpers for the tests of COMPUTE; one file of each program includes this. */
#ifndef COMPUTE_BENCH_H
#define COMPUTE_BENCH_H

#include <stdlib.h>
#include <string.h>

#include "crc_slowly.h"
#include "gpu_bench.h"

#define SLOT	1
#define DATA	0x1000u		/* pages 1 to 15 of the mapping are the tests' own */
#define END	(MAPPED_PAGES * 4096u)

static uint8_t *at(struct bench *b, uint32_t offset)
{
	return b->ram + (PA - RAM_BASE) + offset;
}

static void put_compute(struct bench *b, const struct agate_compute_payload *p)
{
	put_job(b, 0, AGATE_JOB_COMPUTE, 0);
	memcpy(at(b, 32), p, sizeof(*p));
}

static void run(struct bench *b, const struct agate_compute_payload *p)
{
	put_compute(b, p);
	start_job(b, SLOT, VA, 0);
	settle(b);
}

/* Every byte of the data pages differs from its neighbours, and the pages differ. */
static void put_pattern(struct bench *b)
{
	uint32_t i;

	for (i = DATA; i < END; i++)
		*at(b, i) = (uint8_t)(i * 7 + i / 256);
}

static uint8_t *snapshot(struct bench *b)
{
	uint8_t *copy = malloc(END);

	assert_non_null(copy);
	memcpy(copy, at(b, 0), END);
	return copy;
}

static void expect_data(struct bench *b, uint8_t *want)
{
	uint32_t i;

	for (i = DATA; i < END; i++)
		if (*at(b, i) != want[i])
			fail_msg("byte 0x%x is 0x%x, not 0x%x", i, *at(b, i), want[i]);
	free(want);
}

#endif /* COMPUTE_BENCH_H */
