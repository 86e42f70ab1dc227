// SPDX-License-Identifier: MIT
/*
 * Performance counters as Panfrost reads them: enable, several dumps, each cleaned
 * out of the caches by the interrupt handler, disable.
 */
#include "replay.h"

#define DUMP	0x8000u			/* from VA and PA; 2 KiB, more than any dump has */
#define DONE	(GPU_IRQ_CLEAN_CACHES_COMPLETED | GPU_IRQ_PERFCNT_SAMPLE_COMPLETED)

static const enum agate_sim_gpu gpus[] = { AGATE_SIM_MIDGARD, AGATE_SIM_BIFROST };
#define EACH_GPU(i)	for ((i) = 0; (i) < 2; (i)++)

/* Handle the GPU's interrupt; returns true when caches were cleaned, which ends a wait. */
static bool interrupt(struct bench *b)
{
	uint32_t seen = rd(b, GPU_INT_STAT);

	rd(b, GPU_FAULT_STATUS);
	if (seen & GPU_IRQ_PERFCNT_SAMPLE_COMPLETED)
		wr(b, GPU_CMD, GPU_CMD_CLEAN_CACHES);
	wr(b, GPU_INT_CLEAR, seen);
	return seen & GPU_IRQ_CLEAN_CACHES_COMPLETED;
}

/* Sleep until the awaited interrupt has come. */
static bool wait_for_clean(struct bench *b)
{
	unsigned int heard = b->messages[AGATE_VECTOR_GPU], turns;

	for (turns = 0; turns < 100; turns++) {
		settle(b);
		if (!rd(b, GPU_INT_STAT))
			return false;
		assert_true(b->messages[AGATE_VECTOR_GPU] >= heard);
		if (interrupt(b))
			return true;
	}
	return false;
}

static void enable(struct bench *b, unsigned int as, unsigned int set)
{
	wr(b, GPU_INT_CLEAR, DONE);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_CLEAR);
	wr(b, GPU_CMD, GPU_CMD_CLEAN_INV_CACHES);
	assert_true(wait_for_clean(b));
	replay_as_enable(b, as);
	wr(b, GPU_PRFCNT_JM_EN, 0xffffffff);
	wr(b, GPU_PRFCNT_SHADER_EN, 0xffffffff);
	wr(b, GPU_PRFCNT_MMU_L2_EN, 0xffffffff);
	wr(b, GPU_PRFCNT_TILER_EN, 0xffffffff);
	wr(b, GPU_PERFCNT_CFG, as << 4 | set << 8 | GPU_PERFCNT_CFG_MODE_MANUAL);
}

static void dump(struct bench *b)
{
	unsigned int before = b->messages[AGATE_VECTOR_GPU];

	wr64(b, GPU_PERFCNT_BASE_LO, VA + DUMP);
	wr(b, GPU_INT_CLEAR, DONE);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	assert_true(wait_for_clean(b));
	assert_int_equal(b->messages[AGATE_VECTOR_GPU] - before, 2);	/* dumped; cleaned */
	assert_int_equal(rd(b, GPU_STATUS) & GPU_STATUS_PRFCNT_ACTIVE, 0);
	assert_int_equal(rd(b, GPU_INT_RAWSTAT) & DONE, 0);
}

static void disable(struct bench *b)
{
	wr(b, GPU_PRFCNT_JM_EN, 0);
	wr(b, GPU_PRFCNT_SHADER_EN, 0);
	wr(b, GPU_PRFCNT_MMU_L2_EN, 0);
	wr(b, GPU_PRFCNT_TILER_EN, 0);
	wr(b, GPU_PERFCNT_CFG, GPU_PERFCNT_CFG_MODE_OFF);
}

static uint32_t word(const struct bench *b, unsigned int n)
{
	return get32(b, PA + DUMP + 4 * n);
}

static void run_null(struct bench *b, unsigned int as)
{
	put_job(b, 0, AGATE_JOB_NULL, 0);
	replay_submit(b, 1, VA, JS_CONFIG_AS(as));
	settle(b);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), JOB_INT_DONE(1));
	wr(b, JOB_INT_CLEAR, JOB_INT_DONE(1));
}

/* The L2 has no coherency here, so data in memory proves a clean. */
static void test_enable_dump_disable(void **state)
{
	unsigned int i, as, n;

	(void)state;
	EACH_GPU(i) {
		for (as = 0; as < 8; as += 7) {
			struct bench *b = replay_up(gpus[i]);

			enable(b, as, i);	/* the second set of counters: bifrost's */
			run_null(b, as);
			run_null(b, as);
			dump(b);
			assert_int_equal(word(b, 2), 0xffffffff);	/* the enabled counters */
			assert_int_equal(word(b, 8 + 8 * 1), 2);	/* slot 1: two jobs */
			run_null(b, as);
			dump(b);
			assert_int_equal(word(b, 8 + 8 * 1), 1);	/* since the last */
			assert_true(word(b, 0) | word(b, 1));		/* when */
			dump(b);
			assert_int_equal(word(b, 8 + 8 * 1), 0);
			/* one block for each core behind the three, and no more */
			n = rd(b, GPU_SHADER_PRESENT_LO) == 0xf ? 7 : 5;
			assert_int_equal(word(b, 64 * (n - 1) + 2), 0xffffffff);
			assert_int_equal(word(b, 64 * n + 2), 0);
			disable(b);
			assert_int_equal(rd(b, GPU_PERFCNT_CFG), 0);
			replay_end(b);
		}
	}
}

/* The driver does not wait for the address space's UPDATE; the dump comes after it. */
static void test_a_dump_at_once(void **state)
{
	struct bench *b = replay_up(AGATE_SIM_MIDGARD);

	(void)state;
	enable(b, 3, 0);
	assert_int_equal(rd(b, AS_STATUS(3)) & AS_STATUS_AS_ACTIVE, AS_STATUS_AS_ACTIVE);
	dump(b);
	assert_int_equal(word(b, 2), 0xffffffff);
	disable(b);
	replay_end(b);
}

static void test_enabled_again(void **state)
{
	struct bench *b = replay_up(AGATE_SIM_MIDGARD);

	(void)state;
	enable(b, 0, 0);
	run_null(b, 0);
	disable(b);
	run_null(b, 0);
	enable(b, 0, 0);	/* CLEAR: the earlier counts do not appear */
	dump(b);
	assert_int_equal(word(b, 8 + 8 * 1), 0);
	replay_end(b);
}

/* A recovery loses the counters' setup; a later dump finds the counters switched off. */
static void test_after_a_reset(void **state)
{
	struct bench *b = replay_up(AGATE_SIM_MIDGARD);

	(void)state;
	enable(b, 0, 0);
	replay_bring_up(b);
	assert_int_equal(rd(b, GPU_PERFCNT_CFG), 0);
	assert_int_equal(rd(b, GPU_PRFCNT_JM_EN), 0);
	assert_int_equal(counter(b, AGATE_CNT_HINTS), 0);
	wr64(b, GPU_PERFCNT_BASE_LO, VA + DUMP);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	settle(b);
	assert_int_equal(rd(b, GPU_INT_RAWSTAT) & DONE, 0);	/* it times out */
	assert_true(hinted(b, "unless PERFCNT_CFG says MANUAL"));
	bench_free(b);
}

/* A driver may also clean caches alone, with polling, for example before a suspend. */
static void test_clean_caches(void **state)
{
	static const uint32_t command[] = { GPU_CMD_CLEAN_CACHES, GPU_CMD_CLEAN_INV_CACHES };
	unsigned int i, c;

	(void)state;
	EACH_GPU(i) {
		for (c = 0; c < 2; c++) {
			struct bench *b = replay_up(gpus[i]);

			wr(b, GPU_INT_CLEAR, DONE);
			wr(b, GPU_CMD, command[c]);
			assert_true(wait_for_clean(b));
			wr(b, GPU_INT_MASK, 0);
			wr(b, GPU_CMD, command[c]);
			assert_true(polled(b, GPU_INT_RAWSTAT, GPU_IRQ_CLEAN_CACHES_COMPLETED,
					   GPU_IRQ_CLEAN_CACHES_COMPLETED, 100));
			wr(b, GPU_INT_CLEAR, GPU_IRQ_CLEAN_CACHES_COMPLETED);
			replay_end(b);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enable_dump_disable),
		cmocka_unit_test(test_a_dump_at_once),
		cmocka_unit_test(test_enabled_again),
		cmocka_unit_test(test_after_a_reset),
		cmocka_unit_test(test_clean_caches),
	};

	return cmocka_run_group_tests_name("sim-replay_perfcnt", tests, NULL, NULL);
}
