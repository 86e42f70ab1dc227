// SPDX-License-Identifier: MIT
/*
 * Missing memory: for creating a GPU, behind a page that a job or a dump writes to,
 * and, for a while, at the address of a payload.
 *
 * Linked with --wrap=calloc, so that a test can make the model's allocations fail.
 */
#include "gpu_bench.h"

#include <stdlib.h>
#include <string.h>

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static long allocations;	/* so far */
static long fails_at = -1;	/* the allocation that fails, counted from 0 */

void *__wrap_calloc(size_t count, size_t size)
{
	return allocations++ == fails_at ? NULL : __real_calloc(count, size);
}

/*
 * When any of its allocations fails, creation returns NULL and leaves nothing: ASan
 * checks this.
 */
static void test_a_gpu_is_whole_or_not_at_all(void **state)
{
	static const struct agate_sim_config configs[] = {
		{ .gpu = AGATE_SIM_MIDGARD },
		{ .gpu = AGATE_SIM_BIFROST, .coherency = AGATE_SIM_COHERENCY_NONE },
		{ .gpu = AGATE_SIM_BIFROST, .card = true, .vram_total = 8192 },
	};
	unsigned int i;
	long n, count;

	(void)state;
	for (i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
		fails_at = -1;
		allocations = 0;
		assert_true(bench_can_be(&configs[i]));
		count = allocations;
		assert_true(count >= 4);
		for (n = 0; n < count; n++) {
			allocations = 0;
			fails_at = n;
			assert_false(bench_can_be(&configs[i]));
		}
	}
	fails_at = -1;
}

static void test_no_gpu_of_that_kind(void **state)
{
	struct agate_sim_config config = { .gpu = AGATE_SIM_BIFROST + 1 };

	(void)state;
	assert_false(bench_can_be(&config));
	config.gpu = AGATE_SIM_BIFROST;
	assert_true(bench_can_be(&config));
}

/* ---- Behind a page ----------------------------------------------------------------- */

#define NOWHERE		0x1000000000ull

static void run_compute(struct bench *b, const struct agate_compute_payload *p)
{
	put_job(b, 0, AGATE_JOB_COMPUTE, 0);
	memcpy(b->ram + (PA - RAM_BASE) + 32, p, sizeof(*p));
	start_job(b, 1, VA, 0);
	settle(b);
}

/* The fault of a copy tells which of its two ends has no memory. */
static void copy_to_nowhere(enum agate_sim_coherency coherency, bool direct)
{
	const struct agate_sim_config config = { .seed = 1, .coherency = coherency };
	const struct agate_compute_payload copy = {
		.op = AGATE_COMPUTE_COPY, .src = VA + 0x5000, .dst = VA + 0x6000, .size = 4096,
	};
	unsigned int page;

	for (page = 5; page <= 6; page++) {
		struct bench *b = bench_ready_with(&config);

		b->direct = direct;
		put64(b, TABLE_L3 + 8 * page, NOWHERE | 0xc1);
		put64(b, PA + 0x5000, 0x1234);
		put64(b, PA + 0x6000, 0x5678);
		run_compute(b, &copy);
		assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_JOB_BUS_FAULT);
		wr(b, GPU_CMD, GPU_CMD_CLEAN_CACHES);
		poll_reg(b, GPU_INT_RAWSTAT, GPU_IRQ_CLEAN_CACHES_COMPLETED,
			 GPU_IRQ_CLEAN_CACHES_COMPLETED);
		assert_int_equal(get64(b, PA + 8), VA + page * 0x1000ull);
		assert_int_equal(get64(b, PA + 0x6000), 0x5678);
		assert_int_equal(counter(b, AGATE_CNT_BYTES_COPIED), 0);
		bench_free(b);
	}
}

static void test_a_copy_from_or_to_nowhere(void **state)
{
	(void)state;
	copy_to_nowhere(AGATE_SIM_COHERENCY_ACE, false);
	copy_to_nowhere(AGATE_SIM_COHERENCY_ACE, true);
	copy_to_nowhere(AGATE_SIM_COHERENCY_ACE_LITE, false);
	copy_to_nowhere(AGATE_SIM_COHERENCY_NONE, true);
}

/* ---- Not yet ------------------------------------------------------------------------ */

/* Like as_flush(), but without a step of the GPU's jobs in between. */
static void flush_at_once(struct bench *b)
{
	static const uint32_t commands[] = { AS_COMMAND_LOCK, AS_COMMAND_FLUSH_PT };
	unsigned int i;

	wr64(b, AS_LOCKADDR_LO(0), LOCK_ALL);
	for (i = 0; i < 2; i++) {
		wr(b, AS_COMMAND(0), commands[i]);
		while (rd(b, AS_STATUS(0)) & AS_STATUS_AS_ACTIVE)
			;
	}
}

/* The page goes after the job has begun; the GPU reads the payload when the page is back. */
static void payload_faults_in(unsigned int type, const void *payload, size_t size)
{
	struct bench *b = bench_ready();

	put_job(b, 0x1000, type, 0);
	memcpy(b->ram + (PA - RAM_BASE) + 0x1020, payload, size);
	start_job(b, 1, VA + 0x1000, 0);
	agate_sim_step(b->sim, 1);
	assert_int_equal(count_events(b, AGATE_EV_JOB_START), 1);
	put64(b, TABLE_L3 + 8, 0);
	flush_at_once(b);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_ACTIVE);
	assert_int_equal(rd(b, MMU_INT_STAT), 1);
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), VA + 0x1020);
	assert_int_equal(get64(b, PA + 0x2000), 0);
	wr(b, MMU_INT_CLEAR, 1);
	put64(b, TABLE_L3 + 8, 0x400110c1);
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_PT);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(1)), AGATE_EXC_DONE);
	assert_int_equal(counter(b, AGATE_CNT_FAULTS), 1);
	assert_int_equal(get64(b, PA + 0x2000), type == AGATE_JOB_CACHE_FLUSH ? 0 : 0x600d);
	bench_free(b);
}

static void test_payloads_that_fault_in(void **state)
{
	const struct agate_compute_payload fill = {
		.op = AGATE_COMPUTE_FILL, .dst = VA + 0x2000, .size = 8, .value = 0x600d,
	};
	const struct agate_write_value_payload value = {
		.address = VA + 0x2000, .type = AGATE_WRITE_IMMEDIATE_64, .immediate = 0x600d,
	};
	const struct agate_cache_flush_payload flush = { .l2 = AGATE_FLUSH_L2_CLEAN };

	(void)state;
	payload_faults_in(AGATE_JOB_COMPUTE, &fill, sizeof(fill));
	payload_faults_in(AGATE_JOB_WRITE_VALUE, &value, sizeof(value));
	payload_faults_in(AGATE_JOB_CACHE_FLUSH, &flush, sizeof(flush));
}

/* ---- Past the L2 --------------------------------------------------------------------- */

#define DUMP		0x8000u
#define ATTR_NC		(5u << 2)	/* the index of a byte that means not cached */

/* How many words of a dump of performance counters are in memory when the dump is complete. */
static unsigned int dumped(uint64_t attributes)
{
	const struct agate_sim_config config = {
		.gpu = AGATE_SIM_BIFROST, .seed = 1, .coherency = AGATE_SIM_COHERENCY_NONE,
	};
	struct bench *b = bench_ready_with(&config);
	unsigned int n, words = 0;

	for (n = 0; n < MAPPED_PAGES; n++)
		put64(b, TABLE_L3 + 8 * n, (PA + 0x443 + 0x1000 * n) | attributes);
	as_set_aarch64(b, 0, TABLE_L0, AS_TRANSCFG_MODE_AARCH64_4K);
	wr(b, GPU_PRFCNT_JM_EN, 0xffffffff);
	wr(b, GPU_PERFCNT_CFG, GPU_PERFCNT_CFG_AS(0) |
	   GPU_PERFCNT_CFG_MODE(GPU_PERFCNT_CFG_MODE_MANUAL));
	wr64(b, GPU_PERFCNT_BASE_LO, VA + DUMP);
	wr(b, GPU_CMD, GPU_CMD_PERFCNT_SAMPLE);
	poll_reg(b, GPU_INT_RAWSTAT, GPU_IRQ_PERFCNT_SAMPLE_COMPLETED,
		 GPU_IRQ_PERFCNT_SAMPLE_COMPLETED);
	for (n = 0; n < 1024; n += 4)
		words += get32(b, PA + DUMP + n) != 0;
	bench_free(b);
	return words;
}

static void test_a_dump_past_the_l2(void **state)
{
	(void)state;
	assert_int_equal(dumped(0), 0);		/* nobody cleaned the L2 */
	assert_true(dumped(ATTR_NC) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_gpu_is_whole_or_not_at_all),
		cmocka_unit_test(test_no_gpu_of_that_kind),
		cmocka_unit_test(test_a_copy_from_or_to_nowhere),
		cmocka_unit_test(test_payloads_that_fault_in),
		cmocka_unit_test(test_a_dump_past_the_l2),
	};

	return cmocka_run_group_tests_name("sim-no_memory", tests, NULL, NULL);
}
