// SPDX-License-Identifier: MIT
/*
 * Page-table walks over tables worked out by hand.  The standard tables map
 * VA 0x8080600000 (indices 1, 2, 3, 0); each test adds the entry it is about.
 */
#include "walk_bench.h"

#include <string.h>

#include "job_exec.h"

/* ---- What translates ----------------------------------------------------- */

static void test_page_of_4k(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	/* 0x8080604000: indices 1, 2, 3, 4 */
	put64(b, 0x40003020, 0x400580c1);
	expect_written(b, 0x8080604ff8, 0x40058ff8);
	assert_int_equal(last_event(b, AGATE_EV_WALK)->b, 0x8080604ff8);
	assert_int_equal(last_event(b, AGATE_EV_WALK)->c, 0x400580c1);
	/* the last entry of each table: 511, 511, 511, 511 */
	put64(b, 0x40000ff8, 0x40004003);
	put64(b, 0x40004ff8, 0x40005003);
	put64(b, 0x40005ff8, 0x40006003);
	put64(b, 0x40006ff8, 0x400590c1);
	expect_written(b, 0xfffffffffff0, 0x40059ff0);
	/* and the first: 0, 0, 0, 0 */
	put64(b, 0x40000000, 0x40007003);
	put64(b, 0x40007000, 0x40008003);
	put64(b, 0x40008000, 0x40009003);
	put64(b, 0x40009000, 0x4005a0c1);
	expect_written(b, 0x8, 0x4005a008);
	bench_free(b);
}

static void test_block_of_2m(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	/* 0x8080800000: indices 1, 2, 4 */
	put64(b, 0x40002020, 0x402000c1);
	expect_written(b, 0x8080800000, 0x40200000);
	expect_written(b, 0x8080923458, 0x40323458);
	expect_written(b, 0x80809ffff8, 0x403ffff8);
	/* one entry served all three: a walk for the block, one for the job's page */
	assert_int_equal(counter(b, AGATE_CNT_WALKS), 2);
	bench_free(b);
}

static void test_block_of_1g(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	/* 0x80c0000000: indices 1, 3 */
	put64(b, 0x40001018, 0x400000c1);
	expect_written(b, 0x80c03abcd0, 0x403abcd0);
	expect_written(b, 0x80c0050000, 0x40050000);
	/* its end is not RAM: a bus fault, not an MMU fault */
	probe_write(b, 0x80fffffff8);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_JOB_BUS_FAULT);
	bench_free(b);
}

static void test_bits_below_a_blocks_size_are_ignored(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put64(b, 0x40002020, 0x403ff0c1);	/* still the block at 0x40200000 */
	expect_written(b, 0x8080801000, 0x40201000);
	bench_free(b);
}

static void test_attributes_do_not_disturb(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	/* index 7, outer shareable, AF, contiguous and both no-execute bits */
	put64(b, 0x40003020, 0x0060000000000000ull | 0x400580c1 | 0x1c | 0x200 | 0x400);
	expect_written(b, 0x8080604010, 0x40058010);
	bench_free(b);
}

static void test_vram(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put64(b, 0x40003020, 0x80000040c1);	/* VRAM byte 0x4000 */
	expect_written(b, 0x8080604018, 0x8000004018);
	put64(b, 0x40003028, 0x80000100c1);	/* one past its 64 KiB */
	probe_write(b, 0x8080605000);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_JOB_BUS_FAULT);
	bench_free(b);
}

static void test_tables_in_vram(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put64(b, 0x40002020, 0x8000000003);	/* level 3 is VRAM's first page */
	put64(b, 0x8000000008, 0x400580c1);
	expect_written(b, 0x8080801020, 0x40058020);
	bench_free(b);
}

static void test_identity(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	wr64(b, AS_TRANSTAB_LO(1), 2);
	as_command(b, 1, AS_COMMAND_UPDATE);
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, 0x40060000, MARKER);
	start_job(b, 0, PA, JS_CONFIG_AS(1));
	settle(b);
	assert_int_equal(get64(b, 0x40060000), MARKER);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	bench_free(b);
}

static void test_identity_beyond_40_bits(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	wr64(b, AS_TRANSTAB_LO(0), 2);
	as_command(b, 0, AS_COMMAND_UPDATE);
	start_job(b, 0, 0x10000000000, 0);
	settle(b);
	expect_fault(b, 0x10000000000, 0xe4 | AT_READ);
	bench_free(b);
}

/* ---- What does not -------------------------------------------------------- */

static void test_translation_faults_by_level(void **state)
{
	(void)state;
	/* an empty entry, at each level */
	write_faults(bench_ready(), 0x40000018, 0, 0x18000000000, 0xc0);
	write_faults(bench_ready(), 0x40001020, 0, 0x8100000000, 0xc1);
	write_faults(bench_ready(), 0x40002028, 0, 0x8080a00000, 0xc2);
	write_faults(bench_ready(), 0x40003080, 0, 0x8080610000, 0xc3);
	/* type 2 is invalid, too */
	write_faults(bench_ready(), 0x40000018, 0x40001002, 0x18000000000, 0xc0);
	write_faults(bench_ready(), 0x40003080, 0x400580c2, 0x8080610000, 0xc3);
	/* a leaf cannot be 512 GiB, a table cannot be at level 3 */
	write_faults(bench_ready(), 0x40000018, 0x400000c1, 0x18000000000, 0xc0);
	write_faults(bench_ready(), 0x40003080, 0x400580c3, 0x8080610000, 0xc3);
}

static void test_permission_faults_by_level(void **state)
{
	(void)state;
	/* RD is bit 6, WR bit 7; neither implies the other */
	write_faults(bench_ready(), 0x40003020, 0x40058041, 0x8080604000, 0xcb);
	write_faults(bench_ready(), 0x40002020, 0x40200041, 0x8080800000, 0xca);
	write_faults(bench_ready(), 0x40001018, 0x40000041, 0x80c0060000, 0xc9);
	write_faults(bench_ready(), 0x40003020, 0x40058001, 0x8080604000, 0xcb);
	read_faults(bench_ready(), 0x40003020, 0x40058081, 0x8080604000, 0xcb);
	read_faults(bench_ready(), 0x40002020, 0x40200081, 0x8080800000, 0xca);
	read_faults(bench_ready(), 0x40001018, 0x40000081, 0x80c0060000, 0xc9);
}

static void test_write_only_pages_can_be_written(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put64(b, 0x40003020, 0x40058081);
	expect_written(b, 0x8080604030, 0x40058030);
	bench_free(b);
}

static void test_bus_faults_of_the_walk(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	/* a table where no RAM is (0x10000000), at levels 1, 2 and 3 */
	write_faults(bench_ready(), 0x40000018, 0x10000003, 0x18000000000, 0xd1);
	write_faults(bench_ready(), 0x40001020, 0x10000003, 0x8100000000, 0xd2);
	write_faults(bench_ready(), 0x40002028, 0x10000003, 0x8080a00000, 0xd3);
	/* and the root */
	as_set_table(b, 0, 0x10000000);
	start_job(b, 0, VA, 0);
	settle(b);
	expect_fault(b, VA, 0xd0 | AT_READ);
	bench_free(b);
}

static void test_address_sizes(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	/* output beyond 40 bits: from a page, a block, a table at each level */
	write_faults(bench_ready(), 0x40003020, 0x100400580c1, 0x8080604000, 0xe7);
	write_faults(bench_ready(), 0x40002020, 0x100402000c1, 0x8080800000, 0xe6);
	write_faults(bench_ready(), 0x40001018, 0x100400000c1, 0x80c0060000, 0xe5);
	write_faults(bench_ready(), 0x40000018, 0x10040001003, 0x18000000000, 0xe4);
	write_faults(bench_ready(), 0x40001020, 0x10040001003, 0x8100000000, 0xe5);
	write_faults(bench_ready(), 0x40002028, 0x10040001003, 0x8080a00000, 0xe6);
	/* input beyond 48 bits */
	write_faults(bench_ready(), 0x40003020, 0, 0x1000000000000, 0xe0);
	write_faults(bench_ready(), 0x40003020, 0, 0xfffffffffffffff8, 0xe0);
	/* the root */
	as_set_table(b, 0, 0x10040000000);
	start_job(b, 0, VA, 0);
	settle(b);
	expect_fault(b, VA, 0xe4 | AT_READ);
	bench_free(b);
}

static void test_data_outside_ram_is_a_bus_fault_of_the_job(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put64(b, 0x40003020, 0x100000c1);
	probe_write(b, 0x8080604008);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 0);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0x10000);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_JOB_BUS_FAULT);
	/* the header says so, with the address */
	assert_int_equal(job_status(b, 0), AGATE_EXC_JOB_BUS_FAULT);
	assert_int_equal(get64(b, PA + 8), 0x8080604008);
	bench_free(b);
}

static void test_a_header_outside_ram(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put64(b, 0x40003020, 0x100000c1);
	start_job(b, 0, 0x8080604000, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_JOB_BUS_FAULT);
	assert_int_equal(rd64(b, JS_TAIL_LO(0)), 0x8080604000);
	assert_int_equal(counter(b, AGATE_CNT_JOBS_FAILED), 1);
	bench_free(b);
}

static void test_transtab_waits_for_update(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	wr64(b, AS_TRANSTAB_LO(0), 0x10000003);	/* nothing there, and no UPDATE */
	expect_written(b, VA + 0x800, PA + 0x800);
	bench_free(b);
}

static void test_formats_it_does_not_have(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	wr64(b, AS_TRANSCFG_LO(0), AS_TRANSCFG_MODE_AARCH64_4K);
	as_command(b, 0, AS_COMMAND_UPDATE);
	assert_true(hinted(b, "TRANSCFG"));
	start_job(b, 0, VA, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_TRANSLATION_FAULT_0);
	bench_free(b);
}

/* ---- Long accesses, through job_exec.h -------------------------------------- */

static void test_accesses_cross_pages(void **state)
{
	struct bench *b = bench_ready();
	struct agate_exec x = { .sim = b->sim };
	uint8_t out[9000], in[9000];
	enum agate_run why;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(out); i++)
		out[i] = i * 7;
	/* pages 1, 2 and 3 lie backwards in RAM */
	put64(b, 0x40003008, 0x400630c1);
	put64(b, 0x40003010, 0x400620c1);
	put64(b, 0x40003018, 0x400610c1);
	assert_int_equal(agate_exec_write(&x, VA + 0x1ffe, out, sizeof(out), &why), 0);
	assert_int_equal(b->ram[0x63ffe], out[0]);
	assert_int_equal(b->ram[0x63fff], out[1]);
	assert_int_equal(b->ram[0x62000], out[2]);
	assert_int_equal(b->ram[0x61000], out[4098]);
	assert_int_equal(b->ram[0x14000], out[8194]);
	assert_int_equal(agate_exec_read(&x, VA + 0x1ffe, in, sizeof(in), &why), 0);
	assert_memory_equal(in, out, sizeof(out));
	bench_free(b);
}

static void test_a_crossing_access_faults_where_the_page_begins(void **state)
{
	struct bench *b = bench_ready();
	struct agate_exec x = { .sim = b->sim };
	enum agate_run why;
	uint8_t buf[64];

	(void)state;
	memset(buf, 0, sizeof(buf));
	assert_int_equal(agate_exec_read(&x, VA + 0xfff0, buf, 64, &why), -1);
	assert_int_equal(why, AGATE_RUN_STALL);
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), VA + 0x10000);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), 0xc3 | AT_READ);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page_of_4k),
		cmocka_unit_test(test_block_of_2m),
		cmocka_unit_test(test_block_of_1g),
		cmocka_unit_test(test_bits_below_a_blocks_size_are_ignored),
		cmocka_unit_test(test_attributes_do_not_disturb),
		cmocka_unit_test(test_vram),
		cmocka_unit_test(test_tables_in_vram),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_identity_beyond_40_bits),
		cmocka_unit_test(test_translation_faults_by_level),
		cmocka_unit_test(test_permission_faults_by_level),
		cmocka_unit_test(test_write_only_pages_can_be_written),
		cmocka_unit_test(test_bus_faults_of_the_walk),
		cmocka_unit_test(test_address_sizes),
		cmocka_unit_test(test_data_outside_ram_is_a_bus_fault_of_the_job),
		cmocka_unit_test(test_a_header_outside_ram),
		cmocka_unit_test(test_transtab_waits_for_update),
		cmocka_unit_test(test_formats_it_does_not_have),
		cmocka_unit_test(test_accesses_cross_pages),
		cmocka_unit_test(test_a_crossing_access_faults_where_the_page_begins),
	};

	return cmocka_run_group_tests_name("sim-walk", tests, NULL, NULL);
}
