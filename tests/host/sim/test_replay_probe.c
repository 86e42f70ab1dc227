// SPDX-License-Identifier: MIT
/*
 * Panfrost's probe: soft reset, features, quirks, power up and down, and the
 * registers of the GPU block that it dumps and handles later.
 */
#include "replay.h"

static const enum agate_sim_gpu gpus[] = { AGATE_SIM_MIDGARD, AGATE_SIM_BIFROST };
#define EACH_GPU(i)	for ((i) = 0; (i) < 2; (i)++)

/* A driver knows the GPU only by its registers: every one that it reads must exist. */
static void read_features(struct bench *b, bool bifrost)
{
	uint32_t l2, mmu, threads, slots, i;

	l2 = rd(b, GPU_L2_FEATURES);
	assert_int_equal(l2 & 0xff, 6);			/* lines of 64 bytes */
	assert_in_range((l2 >> 16) & 0xff, 12, 22);	/* a plausible size of a cache */
	rd(b, GPU_CORE_FEATURES);
	assert_true(rd(b, GPU_TILER_FEATURES) & 0xf00);	/* levels */
	assert_int_equal(rd(b, GPU_MEM_FEATURES) & 1, 1);	/* core groups coherent */
	mmu = rd(b, GPU_MMU_FEATURES);
	assert_int_equal(mmu & 0xff, 48);	/* io-pgtable's limit: at most 48 */
	assert_int_equal(mmu >> 8 & 0xff, 40);	/* ... and 40; the DMA mask, too */
	assert_true(rd(b, GPU_THREAD_FEATURES));
	threads = rd(b, GPU_THREAD_MAX_THREADS);
	assert_true(threads > 0);
	assert_in_range(rd(b, GPU_THREAD_MAX_WORKGROUP_SIZE), 1, threads);
	assert_in_range(rd(b, GPU_THREAD_MAX_BARRIER_SIZE), 1, threads);
	assert_int_equal(rd(b, GPU_COHERENCY_FEATURES), 3);
	rd(b, GPU_AFBC_FEATURES);
	for (i = 0; i < 4; i++)
		rd(b, GPU_TEXTURE_FEATURES(i));
	assert_int_equal(rd(b, GPU_AS_PRESENT), 0xff);
	slots = rd(b, GPU_JS_PRESENT);
	assert_int_equal(slots, 0x7);
	assert_int_equal(rd(b, GPU_JS_FEATURES(0)) & 1 << 9, 1 << 9);	/* fragments: slot 0 */
	assert_int_equal(rd(b, GPU_JS_FEATURES(1)) & 0x90, 0x90);	/* tiler, compute: 1 */
	assert_int_equal(rd(b, GPU_JS_FEATURES(2)) & 0x10, 0x10);
	assert_int_equal(rd64(b, GPU_SHADER_PRESENT_LO), bifrost ? 0x3 : 0xf);
	assert_int_equal(rd64(b, GPU_TILER_PRESENT_LO), 1);
	assert_int_equal(rd64(b, GPU_L2_PRESENT_LO), 1);	/* one group: every core */
	assert_int_equal(rd64(b, GPU_STACK_PRESENT_LO), 0);
	rd(b, GPU_THREAD_TLS_ALLOC);
	/* a driver takes a GPU for Bifrost if its top digit is 6 or more */
	assert_int_equal(rd(b, GPU_ID) >> 28 >= 6, bifrost);
	assert_int_equal(rd(b, GPU_ID) & 0xffff, 0x0010);	/* r0p1 */
}

static void test_features(void **state)
{
	unsigned int i;

	(void)state;
	EACH_GPU(i) {
		struct bench *b = replay_new(gpus[i]);

		assert_true(replay_soft_reset(b));
		read_features(b, i == 1);
		assert_true(replay_power_on(b));
		read_features(b, i == 1);
		replay_end(b);
	}
}

static void test_soft_reset(void **state)
{
	unsigned int i;

	(void)state;
	EACH_GPU(i) {
		struct bench *b = replay_new(gpus[i]);

		replay_bring_up(b);
		assert_true(replay_soft_reset(b));
		assert_int_equal(rd(b, GPU_INT_RAWSTAT), 0);
		assert_int_equal(rd(b, GPU_INT_MASK), GPU_IRQ_WANTED);
		/* the reset has cleared the state, so the driver has to restore it */
		assert_int_equal(rd(b, JOB_INT_MASK), 0);
		assert_int_equal(rd(b, MMU_INT_MASK), 0);
		assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
		assert_int_equal(rd(b, GPU_SHADER_READY_LO), 0);
		assert_int_equal(rd(b, GPU_TILER_READY_LO), 0);
		assert_int_equal(b->messages[AGATE_VECTOR_GPU], 0);	/* polled only */
		replay_end(b);
	}
}

/* Both interrupts of the bring-up's transitions are masked: they send no message. */
static void test_bring_up_is_silent(void **state)
{
	unsigned int i, v;

	(void)state;
	EACH_GPU(i) {
		struct bench *b = replay_new(gpus[i]);

		replay_bring_up(b);
		settle(b);
		for (v = 0; v < AGATE_NUM_VECTORS; v++)
			assert_int_equal(b->messages[v], 0);
		assert_int_equal(rd(b, GPU_INT_STAT), 0);
		/* all ones were written: a bit for each address space that exists */
		assert_int_equal(rd(b, MMU_INT_MASK), 0xff00ff);
		assert_int_equal(rd(b, JOB_INT_MASK), ALL_SLOTS);
		replay_end(b);
	}
}

static void test_a_reset_that_sticks(void **state)
{
	struct agate_sim_config config = { .reset_latency = AGATE_SIM_LATENCY_STUCK };
	struct bench *b = bench_new_with(&config);

	(void)state;
	assert_false(replay_soft_reset(b));
	replay_end(b);
}

/* A driver sets quirks by the model's number; every model keeps the values. */
static void test_quirks(void **state)
{
	static const uint32_t quirks[] = {
		GPU_SHADER_CONFIG, 1u << 16,		/* attribute types in load/store */
		GPU_SHADER_CONFIG, 1u << 17 | 1u << 29,	/* TLS hash; varyings */
		GPU_TILER_CONFIG, 1u << 0,		/* clock gate */
		GPU_JM_CONFIG, 0x3fu << 3,		/* most jobs at once */
		GPU_JM_CONFIG, 0xfu << 16,		/* groups of vertices */
		GPU_L2_MMU_CONFIG, 1u << 23 | 5u << 24,	/* snoops; reads and writes */
	};
	unsigned int i, q;

	(void)state;
	EACH_GPU(i) {
		struct bench *b = replay_new(gpus[i]);

		assert_true(replay_soft_reset(b));
		for (q = 0; q < sizeof(quirks) / sizeof(quirks[0]); q += 2) {
			wr(b, quirks[q], quirks[q + 1]);
			assert_int_equal(rd(b, quirks[q]), quirks[q + 1]);
		}
		/* an SoC's own: the key, then one override */
		wr(b, GPU_PWR_KEY, GPU_PWR_KEY_UNLOCK);
		wr(b, GPU_PWR_OVERRIDE1, 0x200fff);
		assert_int_equal(rd(b, GPU_PWR_OVERRIDE1), 0x200fff);
		assert_true(replay_power_on(b));
		assert_int_equal(rd(b, GPU_TILER_CONFIG), 1);	/* read, then written back */
		assert_int_equal(rd(b, GPU_JM_CONFIG), 0xf0000);
		assert_true(replay_soft_reset(b));
		assert_int_equal(rd(b, GPU_SHADER_CONFIG), 0);
		assert_int_equal(rd(b, GPU_TILER_CONFIG), 0);
		assert_int_equal(rd(b, GPU_PWR_OVERRIDE1), 0);
		replay_end(b);
	}
}

/* The registers that a core dump reads, and their neighbours, some of which are write-only. */
static void test_registers_of_a_dump(void **state)
{
	static const uint32_t blocks[] = {
		0x20, 0x28, 0x2c, 0x34, 0x3c, 0x40, 0x44, 0x54, 0x58, 0x0a0, 0x0a4, 0x0a8, 0x0ac,
		0x1000, 0x1008, 0x100c, 0x1010, 0x1014, 0x2000, 0x2008, 0x200c,
		0x100, 0x104, 0x110, 0x114, 0x120, 0x124, 0x140, 0x144, 0x150, 0x154, 0x160,
		0x164, 0x180, 0x184, 0x190, 0x194, 0x1a0, 0x1a4, 0x1c0, 0x1c4, 0x1d0, 0x1d4,
		0x1e0, 0x1e4, 0x200, 0x204, 0x210, 0x214, 0x220, 0x224, 0x240, 0x244, 0x250,
		0x254, 0x260, 0x264, 0xe00, 0xe04, 0xe10, 0xe14, 0xf00, 0xf04, 0xf08, 0xf0c,
		0x300, 0x304, 0x30, 0x24, 0x1004, 0x2004, 0x50,
	};
	static const uint32_t js[] = {
		0x00, 0x04, 0x08, 0x0c, 0x10, 0x14, 0x18, 0x1c, 0x20, 0x24, 0x40, 0x44, 0x50,
		0x54, 0x58, 0x60, 0x70,
	};
	struct bench *b = replay_up(AGATE_SIM_MIDGARD);
	unsigned int i, n;

	(void)state;
	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		rd(b, blocks[i]);
	for (n = 0; n < 3; n++)
		for (i = 0; i < sizeof(js) / sizeof(js[0]); i++)
			rd(b, 0x1800 + n * 0x80 + js[i]);
	for (n = 0; n < 8; n++)
		for (i = 0; i < 0x40; i += 4)
			if (i != 0x2c)		/* a hole of the interface */
				rd(b, 0x2400 + n * 0x40 + i);
	replay_end(b);
}

static void test_gpu_fault(void **state)
{
	struct bench *b = replay_new(AGATE_SIM_MIDGARD);
	uint32_t seen;

	(void)state;
	agate_sim_set_fault(b->sim, AGATE_EXC_GPU_SHAREABILITY_FAULT, 0x1234567890);
	replay_bring_up(b);
	settle(b);
	assert_int_equal(b->messages[AGATE_VECTOR_GPU], 1);
	seen = rd(b, GPU_INT_STAT);
	assert_int_equal(seen, GPU_IRQ_FAULT);
	assert_int_equal(rd(b, GPU_FAULT_STATUS) & 0xff, 0x88);
	assert_int_equal(rd(b, GPU_FAULT_ADDRESS_HI), 0x12);	/* high half first */
	assert_int_equal(rd(b, GPU_FAULT_ADDRESS_LO), 0x34567890);
	wr(b, GPU_INT_MASK, 0);
	wr(b, GPU_INT_CLEAR, seen);
	assert_int_equal(rd(b, GPU_INT_RAWSTAT) & GPU_IRQ_FAULT, 0);
	settle(b);
	assert_int_equal(b->messages[AGATE_VECTOR_GPU], 1);
	replay_end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_soft_reset),
		cmocka_unit_test(test_bring_up_is_silent),
		cmocka_unit_test(test_a_reset_that_sticks),
		cmocka_unit_test(test_quirks),
		cmocka_unit_test(test_registers_of_a_dump),
		cmocka_unit_test(test_gpu_fault),
	};

	return cmocka_run_group_tests_name("sim-replay_probe", tests, NULL, NULL);
}
