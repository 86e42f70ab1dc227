/* SPDX-License-Identifier: MIT */
/*
 * The starting point of the GGTT's tests, in which the test is the engine.
 */
#ifndef AGATE_TEST_GGTT_BENCH_H
#define AGATE_TEST_GGTT_BENCH_H

#include "gpu_bench.h"
#include "model.h"

#define FIRST		0x800u		/* entry of the first usable address, without firmware */
#define ADDR		0x800000u
#define VRAM_TOTAL	0x40000u
#define IN_RAM		(RAM_BASE | AGATE_GGTT_PRESENT)
#define IN_VRAM		(AGATE_GGTT_VRAM | AGATE_GGTT_PRESENT)

/* What an engine gets: the first 8 bytes of a page, or an assertion about why not. */
static inline uint64_t engine_reads(struct bench *b, uint64_t addr, unsigned int vf)
{
	uint64_t value = 0;

	assert_int_equal(ggtt_read(b->sim, addr, vf, &value, 8), AGATE_REASON_NONE);
	return value;
}

static inline void engine_fails(struct bench *b, uint64_t addr, unsigned int vf,
				enum agate_mover_reason reason)
{
	uint64_t value = 0x1234;

	assert_int_equal(ggtt_read(b->sim, addr, vf, &value, 8), reason);
	assert_int_equal(value, 0x1234);
	assert_int_equal(ggtt_write(b->sim, addr, vf, &value, 8), reason);
}

static inline void no_hint(struct bench *b)
{
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
}

#endif /* AGATE_TEST_GGTT_BENCH_H */
