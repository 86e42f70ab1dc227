// SPDX-License-Identifier: MIT
/*
 * A hostile guest: random accesses, random memory, random steps.  Whatever the
 * guest does, the model stays inside its memory (ASan, UBSan and the bench check
 * this), keeps answering, and recovers after a reset.
 */
#include "gpu_bench.h"

#include <stdlib.h>
#include <string.h>

#define ITERATIONS	200000
#define REVIVE_EVERY	250

static uint32_t random_state;

static uint32_t random32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

/* Mostly registers that have an effect, sometimes any offset. */
static uint32_t random_register(void)
{
	switch (random32() % 9) {
	case 0:
		return random32();
	case 1:
		return random32() % 0x1000 & ~3u;
	case 6:
		return AGATE_LISTED_BASE + (random32() % 0x30 & ~3u);
	case 2:
	case 3:
		return MMU_AS_BASE + (random32() % 0x240 & ~3u);
	case 4:
		return 0x1000 + (random32() % 0x18 & ~3u);
	case 5:
		return 0x2000 + (random32() % 0x10 & ~3u);
	default:
		return JS_BASE + (random32() % 0x180 & ~3u);
	}
}

static uint32_t random_value(void)
{
	switch (random32() % 6) {
	case 0:
		return random32();
	case 1:
		return random32() % 9;		/* commands */
	case 2:
		return 1u << random32() % 32;
	case 3:
		return 0xffffffff;
	case 4:
		return (uint32_t)VA + (random32() % 0x1000 & ~63u);
	default:
		return 0;
	}
}

/* One of 32 places for jobs, so that chains meet. */
static uint32_t random_job(void)
{
	return random32() % 0x800 & ~63u;
}

/* Write something like a table entry, a job header or a payload somewhere. */
static void scribble(struct bench *b)
{
	switch (random32() % 8) {
	case 0:		/* where the standard tables lie: one of their entries in use */
		put64(b, TABLE_L3 + 8 * (random32() % 32),
		      (RAM_BASE + (random32() % RAM_SIZE & ~0xfffu)) |
		      (random32() % 2 ? 0xc0 : 0x440) | (random32() & 0x1f));
		break;
	case 1:		/* anything, anywhere, the tables included */
		put64(b, RAM_BASE + (random32() % 0x20000 & ~7u),
		      (uint64_t)random32() << 32 | random32());
		break;
	case 2:
	case 3:
		put_job(b, random_job(), random32() % 11, VA + random_job());
		break;
	case 4:
		put_tables(b);
		break;
	default:
		put_write_value(b, random_job(), random32() % 2 ? VA + random_job() : 0,
				random32() % 8, VA + (random32() % 0x20000 & ~7u), random32());
		break;
	}
}

/* Start a chain on some slot, like a driver. */
static void submit(struct bench *b)
{
	start_job(b, random32() % 3, VA + random_job(), random32() % 4 ? 0 : random32());
}

static void random_action(struct bench *b)
{
	switch (random32() % 16) {
	case 0:
	case 1:
	case 2:
		rd(b, random_register());
		break;
	case 3:
	case 4:
	case 5:
	case 6:
	case 7:
		wr(b, random_register(), random_value());
		break;
	case 8:
	case 9:
		scribble(b);
		break;
	case 10:
		submit(b);
		break;
	case 11:
		wr(b, AS_COMMAND(random32() % 8), random32() % 6);
		break;
	case 12:
		wr(b, JS_COMMAND(random32() % 3), random32() % 8);
		break;
	case 13:
		wr(b, JOB_INT_CLEAR, rd(b, JOB_INT_RAWSTAT));
		wr(b, MMU_INT_CLEAR, rd(b, MMU_INT_RAWSTAT));
		break;
	default:
		agate_sim_step(b->sim, random32() % 20);
		break;
	}
}

/* Restore power and tables now and then; otherwise nothing would run for long. */
static void revive(struct bench *b)
{
	unsigned int as;

	bench_reset(b);
	bench_power_on(b);
	put_tables(b);
	for (as = 0; as < 8; as++)
		as_set_table(b, as, TABLE_L0);
	if (rd(b, GPU_ID) >> 16 == AGATE_PRODUCT_BIFROST)
		for (as = 1; as < 8; as += 2)
			as_set_aarch64(b, as, TABLE_L0, AS_TRANSCFG_MODE_AARCH64_4K);
}

/* Use a small TLB and a small L2, so that entries are replaced often. */
static void hostile_run(uint32_t seed, unsigned int iterations, enum agate_sim_gpu gpu,
			enum agate_sim_coherency coherency)
{
	struct agate_sim_config config = {
		.gpu = gpu, .seed = seed, .tlb_entries = 16,
		.coherency = coherency, .l2_size = 4096,
	};
	struct bench *b = bench_new_with(&config);
	unsigned int i;
	uint64_t time = 0;

	random_state = seed;
	for (i = 0; i < iterations; i++) {
		if (i % REVIVE_EVERY == 0)
			revive(b);
		random_action(b);
		assert_true(agate_sim_time(b->sim) >= time);
		time = agate_sim_time(b->sim);
	}
	/* some jobs must have succeeded, or this tests nothing */
	assert_true(counter(b, AGATE_CNT_JOBS) > iterations / 100);
	assert_true(counter(b, AGATE_CNT_JOBS_FAILED) > iterations / 1000);
	assert_true(counter(b, AGATE_CNT_FAULTS) > iterations / 1000);
	assert_true(counter(b, AGATE_CNT_STALE_USED) > 0);
	assert_true(counter(b, AGATE_CNT_UNLISTED) > 0);
	/* and a reset still restores a working GPU */
	memset(b->ram, 0, RAM_SIZE);
	revive(b);
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, VA + 0x800, 0x600d);
	start_job(b, 0, VA, JS_CONFIG_END_FLUSH_CLEAN);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(get64(b, PA + 0x800), 0x600d);
	bench_free(b);
}

static void test_hostile_guests(void **state)
{
	(void)state;
	hostile_run(1, ITERATIONS, AGATE_SIM_MIDGARD, AGATE_SIM_COHERENCY_ACE);
	hostile_run(0xdecafbad, ITERATIONS / 4, AGATE_SIM_BIFROST, AGATE_SIM_COHERENCY_ACE);
	hostile_run(0x12345678, ITERATIONS / 4, AGATE_SIM_MIDGARD, AGATE_SIM_COHERENCY_ACE_LITE);
	hostile_run(0x87654321, ITERATIONS / 4, AGATE_SIM_BIFROST, AGATE_SIM_COHERENCY_NONE);
}

static void test_every_register_with_extreme_values(void **state)
{
	static const uint32_t values[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff };
	struct bench *b = bench_new();
	uint32_t reg;
	unsigned int i;

	(void)state;
	for (reg = 0; reg < 0x9000; reg += 4) {
		for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			wr(b, reg, values[i]);
			agate_sim_step(b->sim, 3);
			rd(b, reg);
		}
	}
	bench_reset(b);
	assert_int_equal(rd(b, GPU_AS_PRESENT), 0xff);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile_guests),
		cmocka_unit_test(test_every_register_with_extreme_values),
	};

	return cmocka_run_group_tests_name("sim-fuzz", tests, NULL, NULL);
}
