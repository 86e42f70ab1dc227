// SPDX-License-Identifier: MIT
/*
 * Walks over AArch64 tables worked out by hand, and the effects of TRANSCFG.  The
 * standard tables map VA 0x8080600000 (indices 1, 2, 3, 0); each test adds the
 * entry it is about.
 */
#include "walk_bench.h"

#define MODE_4K		6u

/* ---- What translates ----------------------------------------------------- */

static void test_page_of_4k(void **state)
{
	struct bench *b = bench_ready_aarch64();

	(void)state;
	/* 0x8080604000: indices 1, 2, 3, 4; a page is type 3 */
	put64(b, 0x40003020, 0x40058443);
	expect_written(b, 0x8080604ff8, 0x40058ff8);
	assert_int_equal(last_event(b, AGATE_EV_WALK)->c, 0x40058443);
	/* the last entry of each table */
	put64(b, 0x40000ff8, 0x40004003);
	put64(b, 0x40004ff8, 0x40005003);
	put64(b, 0x40005ff8, 0x40006003);
	put64(b, 0x40006ff8, 0x40059443);
	expect_written(b, 0xfffffffffff0, 0x40059ff0);
	bench_free(b);
}

static void test_blocks(void **state)
{
	struct bench *b = bench_ready_aarch64();

	(void)state;
	/* 0x8080800000: indices 1, 2, 4; 2 MiB, type 1 */
	put64(b, 0x40002020, 0x40200441);
	expect_written(b, 0x8080923458, 0x40323458);
	/* 0x80c0000000: indices 1, 3; 1 GiB; bits below its size are ignored */
	put64(b, 0x40001018, 0x7ffff441);
	expect_written(b, 0x80c03abcd0, 0x403abcd0);
	bench_free(b);
}

static void test_bits_without_effect(void **state)
{
	struct bench *b = bench_ready_aarch64();

	(void)state;
	/* NS, inner shareable, nG; contiguous, PXN, XN, software bits, 63:59 */
	put64(b, 0x40003020, 0xfff0000040058f63);
	expect_written(b, 0x8080604000, 0x40058000);
	/* a table entry needs no access flag, and its attributes have no effect */
	put64(b, 0x40002028, 0xf800000040004fff);
	put64(b, 0x40004000, 0x40059443);
	expect_written(b, 0x8080a00000, 0x40059000);
	bench_free(b);
}

static void test_tables_in_vram(void **state)
{
	struct bench *b = bench_ready_aarch64();

	(void)state;
	put64(b, 0x40002020, 0x8000000003);
	put64(b, 0x8000000008, 0x8000001443);
	expect_written(b, 0x8080801020, 0x8000001020);
	bench_free(b);
}

/* ---- What does not -------------------------------------------------------- */

static void test_translation_faults_by_level(void **state)
{
	(void)state;
	write_faults(bench_ready_aarch64(), 0x40000018, 0, 0x18000000000, 0xc0);
	write_faults(bench_ready_aarch64(), 0x40001020, 0, 0x8100000000, 0xc1);
	write_faults(bench_ready_aarch64(), 0x40002028, 0, 0x8080a00000, 0xc2);
	write_faults(bench_ready_aarch64(), 0x40003080, 0, 0x8080610000, 0xc3);
	/* an entry with bit 0 clear is invalid, whatever else is set */
	write_faults(bench_ready_aarch64(), 0x40000018, 0x40001002, 0x18000000000, 0xc0);
	write_faults(bench_ready_aarch64(), 0x40003080, 0x40058442, 0x8080610000, 0xc3);
	/* no block of 512 GiB; type 1 at level 3 is LPAE's page, not this one */
	write_faults(bench_ready_aarch64(), 0x40000018, 0x40000441, 0x18000000000, 0xc0);
	write_faults(bench_ready_aarch64(), 0x40003080, 0x400584c1, 0x8080610000, 0xc3);
}

static void test_permission_faults_by_level(void **state)
{
	(void)state;
	/* AP 3: read-only */
	write_faults(bench_ready_aarch64(), 0x40003020, 0x400584c3, 0x8080604000, 0xcb);
	write_faults(bench_ready_aarch64(), 0x40002020, 0x402004c1, 0x8080800000, 0xca);
	write_faults(bench_ready_aarch64(), 0x40001018, 0x400004c1, 0x80c0060000, 0xc9);
	/* AP 0 and 2 allow only privileged accesses: the GPU may not even read */
	read_faults(bench_ready_aarch64(), 0x40003020, 0x40058403, 0x8080604000, 0xcb);
	read_faults(bench_ready_aarch64(), 0x40003020, 0x40058483, 0x8080604000, 0xcb);
	read_faults(bench_ready_aarch64(), 0x40002020, 0x40200401, 0x8080800000, 0xca);
	write_faults(bench_ready_aarch64(), 0x40003020, 0x40058403, 0x8080604000, 0xcb);
}

static void test_read_only_can_be_read(void **state)
{
	struct bench *b = bench_ready_aarch64();

	(void)state;
	put64(b, 0x40003020, 0x400584c3);
	put64(b, 0x40058010, AGATE_JOB_64BIT | AGATE_JOB_TYPE(AGATE_JOB_NULL));
	start_job(b, 0, 0x8080604000, JS_CONFIG_DISABLE_DESCRIPTOR_WR_BK);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	bench_free(b);
}

static void test_access_flag_faults_by_level(void **state)
{
	(void)state;
	write_faults(bench_ready_aarch64(), 0x40003020, 0x40058043, 0x8080604000, 0xdb);
	write_faults(bench_ready_aarch64(), 0x40002020, 0x40200041, 0x8080800000, 0xda);
	write_faults(bench_ready_aarch64(), 0x40001018, 0x40000041, 0x80c0060000, 0xd9);
	/* it comes before the permission, and after the address's size */
	write_faults(bench_ready_aarch64(), 0x40003020, 0x400580c3, 0x8080604000, 0xdb);
	write_faults(bench_ready_aarch64(), 0x40003020, 0x10040058043, 0x8080604000, 0xe7);
}

static void test_an_access_flag_that_is_set_needs_no_flush(void **state)
{
	struct bench *b = bench_ready_aarch64();

	(void)state;
	put64(b, 0x40003020, 0x40058043);
	probe_write(b, 0x8080604000);
	expect_fault(b, 0x8080604000, 0xdb | AT_WRITE);
	/* the TLB does not cache a failed walk: after UNLOCK the access tries again */
	put64(b, 0x40003020, 0x40058443);
	wr(b, MMU_INT_CLEAR, 1);
	as_command(b, 0, AS_COMMAND_UNLOCK);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(get64(b, 0x40058000), MARKER);
	bench_free(b);
}

static void test_attributes_by_level(void **state)
{
	struct bench *b = bench_ready_aarch64();

	(void)state;
	/* MEMATTR is 0x00c04c8d888d8f88: index 6 has type 3, which faults */
	write_faults(bench_ready_aarch64(), 0x40003020, 0x4005845b, 0x8080604000, 0xeb);
	write_faults(bench_ready_aarch64(), 0x40002020, 0x40200459, 0x8080800000, 0xea);
	write_faults(bench_ready_aarch64(), 0x40001018, 0x40000459, 0x80c0060000, 0xe9);
	/* the access flag comes before it, the permission after it */
	write_faults(bench_ready_aarch64(), 0x40003020, 0x4005805b, 0x8080604000, 0xdb);
	write_faults(bench_ready_aarch64(), 0x40003020, 0x400584db, 0x8080604000, 0xeb);
	/* index 7 is 0, shared memory; 5 is not cached */
	put64(b, 0x40003020, 0x4005845f);
	expect_written(b, 0x8080604000, 0x40058000);
	put64(b, 0x40003028, 0x40059457);
	expect_written(b, 0x8080605000, 0x40059000);
	/* a write to MEMATTR takes effect at UPDATE */
	wr64(b, AS_MEMATTR_LO(0), UINT64_MAX);
	put64(b, 0x40003030, 0x4005a443);
	expect_written(b, 0x8080606000, 0x4005a000);
	bench_free(b);
}

static void test_bus_faults_of_the_walk(void **state)
{
	struct bench *b = bench_ready_aarch64();

	(void)state;
	write_faults(bench_ready_aarch64(), 0x40000018, 0x10000003, 0x18000000000, 0xd1);
	write_faults(bench_ready_aarch64(), 0x40001020, 0x10000003, 0x8100000000, 0xd2);
	write_faults(bench_ready_aarch64(), 0x40002028, 0x10000003, 0x8080a00000, 0xd3);
	as_set_aarch64(b, 0, 0x10000000, MODE_4K);
	start_job(b, 0, VA, 0);
	settle(b);
	expect_fault(b, VA, 0xd0 | AT_READ);
	bench_free(b);
}

static void test_address_sizes(void **state)
{
	(void)state;
	write_faults(bench_ready_aarch64(), 0x40003020, 0x10040058443, 0x8080604000, 0xe7);
	write_faults(bench_ready_aarch64(), 0x40002020, 0x10040200441, 0x8080800000, 0xe6);
	write_faults(bench_ready_aarch64(), 0x40001018, 0x10040000441, 0x80c0060000, 0xe5);
	write_faults(bench_ready_aarch64(), 0x40000018, 0x10040001003, 0x18000000000, 0xe4);
	write_faults(bench_ready_aarch64(), 0x40002028, 0x10040001003, 0x8080a00000, 0xe6);
	write_faults(bench_ready_aarch64(), 0x40003020, 0, 0x1000000000000, 0xe0);
}

static void test_ina_bits_narrow_the_space(void **state)
{
	struct bench *b = bench_ready_aarch64();

	(void)state;
	/* 55 - 15 = 40 bits: 0x8080600000 is one of them, 0x10000000000 not */
	as_set_aarch64(b, 0, TABLE_L0, MODE_4K | 15u << 6);
	expect_written(b, VA + 0x800, PA + 0x800);
	start_job(b, 0, 0x10000000000, 0);
	settle(b);
	expect_fault(b, 0x10000000000, 0xe0 | AT_READ);
	bench_free(b);

	b = bench_ready_aarch64();
	/* 55 - 16 = 39: bit 39 is one too many */
	as_set_aarch64(b, 0, TABLE_L0, MODE_4K | 16u << 6);
	start_job(b, 0, VA, 0);
	settle(b);
	expect_fault(b, VA, 0xe0 | AT_READ);
	bench_free(b);

	b = bench_ready_aarch64();
	/* 55 - 7 = 48, and a smaller field gives no more than 48 */
	as_set_aarch64(b, 0, TABLE_L0, MODE_4K | 7u << 6);
	expect_written(b, VA + 0x800, PA + 0x800);
	as_set_aarch64(b, 0, TABLE_L0, MODE_4K | 1u << 6);
	start_job(b, 0, 0x1000000000000, 0);
	settle(b);
	expect_fault(b, 0x1000000000000, 0xe0 | AT_READ);
	bench_free(b);
}

/* ---- TRANSCFG ------------------------------------------------------------- */

static void test_mode_0_is_lpae_on_both(void **state)
{
	struct agate_sim_config config = { .gpu = AGATE_SIM_BIFROST, .seed = 1 };
	struct bench *b = bench_ready_with(&config);

	(void)state;
	expect_written(b, VA + 0x800, PA + 0x800);
	/* LPAE has no access flag, and knows a page by type 1 */
	put64(b, 0x40003020, 0x40058443);
	probe_write(b, 0x8080604000);
	expect_fault(b, 0x8080604000, 0xc3 | AT_WRITE);
	bench_free(b);
}

static void test_transcfg_waits_for_update(void **state)
{
	struct bench *b = bench_ready_aarch64();

	(void)state;
	wr64(b, AS_TRANSCFG_LO(0), 1);
	expect_written(b, VA + 0x800, PA + 0x800);
	as_command(b, 0, AS_COMMAND_UPDATE);
	assert_false(hinted(b, "TRANSCFG asks"));
	start_job(b, 0, VA, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TRANSLATION_FAULT_0);
	bench_free(b);
}

static void test_identity_by_transcfg(void **state)
{
	struct bench *b = bench_ready_aarch64();

	(void)state;
	as_set_aarch64(b, 1, 0, 2);
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, 0x40060000, MARKER);
	start_job(b, 0, PA, JS_CONFIG_AS(1));
	settle(b);
	assert_int_equal(get64(b, 0x40060000), MARKER);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	bench_free(b);
}

static void test_no_other_mode(void **state)
{
	static const unsigned int modes[] = { 3, 4, 5, 7, 8, 15 };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct bench *b = bench_ready_aarch64();

		as_set_aarch64(b, 0, TABLE_L0, modes[i]);
		assert_true(hinted(b, "TRANSCFG asks for a table format"));
		start_job(b, 0, VA, 0);
		settle(b);
		assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TRANSLATION_FAULT_0);
		bench_free(b);
	}
}

/* ---- TLB and identity ------------------------------------------------------ */

static void test_stale_until_flushed(void **state)
{
	struct bench *b = bench_ready_aarch64();

	(void)state;
	put64(b, 0x40003020, 0x40058443);
	expect_written(b, 0x8080604000, 0x40058000);
	put64(b, 0x40003020, 0x40059443);
	put64(b, 0x40059000, 0);
	probe_write(b, 0x8080604000);
	assert_int_equal(get64(b, 0x40059000), 0);
	assert_true(hinted(b, "a stale translation was used"));
	wr(b, JOB_INT_CLEAR, 1);
	as_flush(b, 0, 0x808060000e, AS_COMMAND_FLUSH_PT);
	expect_written(b, 0x8080604000, 0x40059000);
	bench_free(b);
}

static void test_identity_of_bifrost(void **state)
{
	struct agate_sim_config config = { .gpu = AGATE_SIM_BIFROST };
	struct bench *b = bench_new_with(&config);

	(void)state;
	assert_int_equal(rd(b, GPU_ID), 0x7a630010);
	assert_int_equal(rd(b, GPU_L2_FEATURES), 0x07110206);
	assert_int_equal(rd(b, GPU_CORE_FEATURES), 0x2);
	assert_int_equal(rd(b, GPU_TILER_FEATURES), 0x209);
	assert_int_equal(rd(b, GPU_MMU_FEATURES), 0x2830);
	assert_int_equal(rd(b, GPU_AS_PRESENT), 0xff);
	assert_int_equal(rd(b, GPU_JS_PRESENT), 0x7);
	assert_int_equal(rd(b, GPU_THREAD_MAX_THREADS), 384);
	assert_int_equal(rd(b, GPU_THREAD_FEATURES), 0x0a042000);
	assert_int_equal(rd(b, GPU_SHADER_PRESENT_LO), 0x3);
	assert_int_equal(rd(b, GPU_TILER_PRESENT_LO), 0x1);
	assert_int_equal(rd(b, GPU_L2_PRESENT_LO), 0x1);
	bench_free(b);
}

static void test_another_gpu_id(void **state)
{
	struct agate_sim_config config = { .gpu = AGATE_SIM_BIFROST, .gpu_id = 0x70930000 };
	struct bench *b = bench_new_with(&config);

	(void)state;
	assert_int_equal(rd(b, GPU_ID), 0x70930000);
	bench_reset(b);
	assert_int_equal(rd(b, GPU_ID), 0x70930000);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page_of_4k),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_bits_without_effect),
		cmocka_unit_test(test_tables_in_vram),
		cmocka_unit_test(test_translation_faults_by_level),
		cmocka_unit_test(test_permission_faults_by_level),
		cmocka_unit_test(test_read_only_can_be_read),
		cmocka_unit_test(test_access_flag_faults_by_level),
		cmocka_unit_test(test_an_access_flag_that_is_set_needs_no_flush),
		cmocka_unit_test(test_attributes_by_level),
		cmocka_unit_test(test_bus_faults_of_the_walk),
		cmocka_unit_test(test_address_sizes),
		cmocka_unit_test(test_ina_bits_narrow_the_space),
		cmocka_unit_test(test_mode_0_is_lpae_on_both),
		cmocka_unit_test(test_transcfg_waits_for_update),
		cmocka_unit_test(test_identity_by_transcfg),
		cmocka_unit_test(test_no_other_mode),
		cmocka_unit_test(test_stale_until_flushed),
		cmocka_unit_test(test_identity_of_bifrost),
		cmocka_unit_test(test_another_gpu_id),
	};

	return cmocka_run_group_tests_name("sim-aarch64", tests, NULL, NULL);
}
