// SPDX-License-Identifier: MIT
/*
 * COMPUTE jobs that fault in the middle, payloads that are refused, jobs that
 * are far too large.
 */
#include "compute_bench.h"

/* ---- Faults ---------------------------------------------------------------- */

static void set_page(struct bench *b, unsigned int page, uint64_t pte)
{
	put64(b, TABLE_L3 + 8 * page, pte);
}

/* Serve the latched fault, which must be this one; then the job continues. */
static void serve(struct bench *b, uint32_t status, uint64_t va)
{
	unsigned int page = (va - VA) / 4096;

	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 1);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), status);
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), va);
	wr(b, MMU_INT_CLEAR, 1);
	set_page(b, page, 0x400100c1 + 0x1000 * page);
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_PT);
	settle(b);
}

#define READ_FAULT	0x102c3		/* slot 1, read, TRANSLATION_FAULT_3 */
#define WRITE_FAULT	0x103c3
#define WRITE_DENIED	0x103cb		/* PERMISSION_FAULT_3 */

static void test_a_fill_resumes_at_the_byte_where_it_faulted(void **state)
{
	struct bench *b = bench_ready();
	uint8_t *want;
	uint32_t i;

	(void)state;
	put_pattern(b);
	want = snapshot(b);
	for (i = 0; i < 10000; i++)
		want[DATA + 100 + i] = (uint8_t)(0x0807060504030201ull >> i % 8 * 8);
	set_page(b, 2, 0);
	set_page(b, 3, 0);
	run(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = VA + DATA + 100, .size = 10000,
		.value = 0x0807060504030201,
	});
	/* Memory that was filled before the fault must not be filled again. */
	*at(b, DATA + 100) = 0x77;
	want[DATA + 100] = 0x77;
	serve(b, WRITE_FAULT, VA + 0x2000);
	serve(b, WRITE_FAULT, VA + 0x3000);
	assert_int_equal(rd(b, JS_STATUS(SLOT)), AGATE_EXC_DONE);
	expect_data(b, want);
	assert_int_equal(counter(b, AGATE_CNT_FAULTS), 2);
	bench_free(b);
}

/* Pages of source and destination missing, overlapping, in both directions. */
static void faulting_copy(uint32_t to, uint32_t from, const uint64_t *faults, unsigned int n)
{
	struct bench *b = bench_ready();
	uint8_t *want;
	unsigned int i;

	put_pattern(b);
	want = snapshot(b);
	memmove(want + to, want + from, 12000);
	for (i = 1; i < MAPPED_PAGES; i++)
		set_page(b, i, 0);
	run(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = VA + to, .src = VA + from, .size = 12000,
	});
	for (i = 0; i < n; i++)
		serve(b, faults[i] & 1 ? WRITE_FAULT : READ_FAULT, faults[i] & ~1ull);
	assert_int_equal(rd(b, JS_STATUS(SLOT)), AGATE_EXC_DONE);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 0);
	expect_data(b, want);
	assert_int_equal(counter(b, AGATE_CNT_BYTES_COPIED), 12000);
	bench_free(b);
}

static void test_a_copy_resumes_in_the_middle(void **state)
{
	/* Bit 0 marks a write.  Apart: 0x1100 to 0x3fdf from 0x8800 to 0xb6df. */
	static const uint64_t apart[] = {
		VA + 0x8800, VA + 0x1101, VA + 0x9000, VA + 0x2001, VA + 0xa000, VA + 0x3001,
		VA + 0xb000,
	};
	/* Downward: 0x1100 to 0x3fdf from 0x1800 to 0x46df, forward. */
	static const uint64_t down[] = { VA + 0x1800, VA + 0x2000, VA + 0x3000, VA + 0x4000 };
	/* Upward: 0x1800 to 0x46df from 0x1100 to 0x3fdf, the last page first. */
	static const uint64_t up[] = { VA + 0x3900, VA + 0x4001, VA + 0x2900, VA + 0x1900 };

	(void)state;
	faulting_copy(DATA + 0x100, DATA + 0x7800, apart, 7);
	faulting_copy(DATA + 0x100, DATA + 0x800, down, 4);
	faulting_copy(DATA + 0x800, DATA + 0x100, up, 4);
}

static void test_a_checksum_resumes_and_its_sum_can_fault(void **state)
{
	struct bench *b = bench_ready();
	uint32_t want;

	(void)state;
	put_pattern(b);
	want = crc_slowly(at(b, 0x1ff0), 0x20);
	set_page(b, 2, 0);
	set_page(b, 5, 0);
	run(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_CHECKSUM, .dst = VA + 0x5004, .src = VA + 0x1ff0, .size = 0x20,
	});
	serve(b, READ_FAULT, VA + 0x2000);
	serve(b, WRITE_FAULT, VA + 0x5004);
	assert_int_equal(rd(b, JS_STATUS(SLOT)), AGATE_EXC_DONE);
	assert_int_equal(get32(b, PA + 0x5004), want);
	bench_free(b);
}

static void test_what_may_not_be_written_is_not(void **state)
{
	struct bench *b = bench_ready();
	uint8_t *want;

	(void)state;
	put_pattern(b);
	want = snapshot(b);
	memcpy(want + 0x1800, want + 0x5800, 0x800);
	set_page(b, 2, 0x40012041);		/* read-only */
	run(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = VA + 0x1800, .src = VA + 0x5800, .size = 0x1000,
	});
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), WRITE_DENIED);
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), VA + 0x2000);
	/* If the driver does not serve the fault, it disables the address space. */
	rd(b, MMU_INT_RAWSTAT);
	wr(b, MMU_INT_CLEAR, 1);
	wr64(b, AS_TRANSTAB_LO(0), 0);
	as_command(b, 0, AS_COMMAND_UPDATE);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(SLOT)), AGATE_EXC_PERMISSION_FAULT_0 + 3);
	expect_data(b, want);
	bench_free(b);
}

static void test_what_may_only_be_written_is_not_read(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	set_page(b, 5, 0x40015081);		/* write-only */
	run(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = VA + 0x5000, .size = 8, .value = 1,
	});
	assert_int_equal(rd(b, JS_STATUS(SLOT)), AGATE_EXC_DONE);
	run(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = VA + 0x1000, .src = VA + 0x5000, .size = 8,
	});
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), 0x102cb);
	bench_free(b);
}

static void test_no_memory_behind_a_page(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	set_page(b, 5, 0x10000000c1);
	run(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = VA + 0x4ff8, .size = 16, .value = 1,
	});
	assert_int_equal(rd(b, JS_STATUS(SLOT)), AGATE_EXC_JOB_BUS_FAULT);
	assert_int_equal(get64(b, PA + 8), VA + 0x5000);	/* fault_pointer */
	assert_int_equal(get64(b, PA + 0x4ff8), 1);
	bench_free(b);
}

/* ---- Refused ---------------------------------------------------------------- */

static void refused(const struct agate_compute_payload *p)
{
	struct bench *b = bench_ready();

	run(b, p);
	assert_int_equal(rd(b, JS_STATUS(SLOT)), AGATE_EXC_DATA_INVALID_FAULT);
	assert_int_equal(job_status(b, 0), AGATE_EXC_DATA_INVALID_FAULT);
	assert_int_equal(get64(b, PA + 8), VA + 32);
	assert_int_equal(counter(b, AGATE_CNT_BYTES_COPIED), 0);
	bench_free(b);
}

static void test_payloads_that_make_no_sense(void **state)
{
	static const struct agate_compute_payload bad[] = {
		{ .op = 0, .dst = VA + DATA, .size = 8 },
		{ .op = 5, .dst = VA + DATA, .size = 8 },
		{ .op = 0xffffffff },
		/* fields that the operation does not use */
		{ .op = AGATE_COMPUTE_FILL, .dst = VA + DATA, .size = 8, .src = VA },
		{ .op = AGATE_COMPUTE_FILL, .dst = VA + DATA, .size = 8, .rows = 1 },
		{ .op = AGATE_COMPUTE_FILL, .dst = VA + DATA, .size = 8, .dst_stride = 8 },
		{ .op = AGATE_COMPUTE_FILL, .dst = VA + DATA, .size = 8, .src_stride = 8 },
		{ .op = AGATE_COMPUTE_FILL, .dst = VA + DATA, .size = 8, .reserved = 1 },
		{ .op = AGATE_COMPUTE_COPY, .dst = VA + DATA, .src = VA, .size = 8, .value = 1 },
		{ .op = AGATE_COMPUTE_COPY, .dst = VA + DATA, .src = VA, .size = 8, .rows = 1 },
		{ .op = AGATE_COMPUTE_COPY_2D, .size = 8, .dst_stride = 8, .src_stride = 8,
		  .rows = 1, .value = 1 },
		{ .op = AGATE_COMPUTE_CHECKSUM, .dst = VA + DATA, .src = VA, .size = 8,
		  .value = 1 },
		/* alignment, strides */
		{ .op = AGATE_COMPUTE_CHECKSUM, .dst = VA + DATA + 2, .src = VA, .size = 8 },
		{ .op = AGATE_COMPUTE_COPY_2D, .dst = VA + DATA, .src = VA, .rows = 1, .size = 8,
		  .dst_stride = 7, .src_stride = 8 },
		{ .op = AGATE_COMPUTE_COPY_2D, .dst = VA + DATA, .src = VA, .rows = 1, .size = 8,
		  .dst_stride = 8, .src_stride = 0 },
		/* overlapping rectangles with different strides: by one byte, and by all */
		{ .op = AGATE_COMPUTE_COPY_2D, .dst = VA + DATA, .src = VA + DATA + 107,
		  .rows = 2, .size = 8, .dst_stride = 100, .src_stride = 16 },
		{ .op = AGATE_COMPUTE_COPY_2D, .dst = VA + DATA, .src = VA + DATA, .rows = 9,
		  .size = 8, .dst_stride = 8, .src_stride = 16 },
		/* beyond the end of the address space, or of numbers */
		{ .op = AGATE_COMPUTE_FILL, .dst = (1ull << 48) - 7, .size = 8 },
		{ .op = AGATE_COMPUTE_FILL, .dst = VA, .size = UINT64_MAX },
		{ .op = AGATE_COMPUTE_FILL, .dst = UINT64_MAX, .size = 2 },
		{ .op = AGATE_COMPUTE_FILL, .dst = UINT64_MAX, .size = 0 },
		{ .op = AGATE_COMPUTE_COPY, .dst = VA, .src = UINT64_MAX - 7, .size = 16 },
		{ .op = AGATE_COMPUTE_COPY, .dst = VA, .src = 1ull << 48, .size = 1 },
		{ .op = AGATE_COMPUTE_COPY, .dst = VA, .src = 1, .size = 1ull << 48 },
		{ .op = AGATE_COMPUTE_CHECKSUM, .dst = 1ull << 48, .src = VA, .size = 1 },
		{ .op = AGATE_COMPUTE_CHECKSUM, .dst = VA, .src = 1, .size = 1ull << 48 },
		{ .op = AGATE_COMPUTE_COPY_2D, .dst = VA, .src = 0, .rows = 3, .size = 8,
		  .dst_stride = 1ull << 63, .src_stride = 8 },
		{ .op = AGATE_COMPUTE_COPY_2D, .dst = VA, .src = 0, .rows = UINT32_MAX, .size = 8,
		  .dst_stride = 8, .src_stride = UINT64_MAX },
		{ .op = AGATE_COMPUTE_COPY_2D, .dst = VA, .src = 0, .rows = 2, .size = 8,
		  .dst_stride = UINT64_MAX - 7, .src_stride = 8 },
		{ .op = AGATE_COMPUTE_COPY_2D, .dst = 0, .src = 0, .rows = 2,
		  .size = 1ull << 63, .dst_stride = 1ull << 63, .src_stride = 1ull << 63 },
		{ .op = AGATE_COMPUTE_COPY_2D, .dst = (1ull << 48) - 107, .src = 0, .rows = 2,
		  .size = 8, .dst_stride = 100, .src_stride = 8 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused(&bad[i]);
}

static void test_the_end_of_the_address_space_can_be_reached(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	run(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = (1ull << 48) - 8, .size = 8,
	});
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), (1ull << 48) - 8);
	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), 0x103c0);
	bench_free(b);
}

/* ---- As any other job --------------------------------------------------------- */

static void test_the_largest_job_can_be_stopped(void **state)
{
	struct bench *b = bench_ready();
	unsigned int n;

	(void)state;
	/* 256 TiB, all of it the same block of 1 GiB: level 0 entry 0, level 1 all alike */
	for (n = 0; n < 512; n++) {
		put64(b, TABLE_L0 + 8 * n, TABLE_L1 | 3);
		put64(b, TABLE_L1 + 8 * n, 0x400000c1);
	}
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_PT);
	put_compute(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_CHECKSUM, .dst = 0x100000, .size = 1ull << 48,
	});
	start_job(b, SLOT, 0x10000, 0);
	for (n = 0; n < 100; n++)
		assert_true(agate_sim_step(b->sim, 1));
	assert_int_equal(rd(b, JS_STATUS(SLOT)), AGATE_EXC_ACTIVE);
	wr(b, JS_COMMAND(SLOT), JS_COMMAND_HARD_STOP);
	assert_int_equal(rd(b, JS_STATUS(SLOT)), AGATE_EXC_TERMINATED);
	bench_free(b);
}

static void test_slots_one_and_two_run_it(void **state)
{
	struct bench *b = bench_ready();
	unsigned int slot;

	(void)state;
	for (slot = 0; slot < 3; slot++) {
		put_compute(b, &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_FILL, .dst = VA + DATA + 8 * slot, .size = 8,
			.value = slot + 10,
		});
		start_job(b, slot, VA, 0);
		settle(b);
	}
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_JOB_CONFIG_FAULT);
	assert_int_equal(get64(b, PA + DATA), 0);
	assert_int_equal(get64(b, PA + DATA + 8), 11);
	assert_int_equal(get64(b, PA + DATA + 16), 12);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fill_resumes_at_the_byte_where_it_faulted),
		cmocka_unit_test(test_a_copy_resumes_in_the_middle),
		cmocka_unit_test(test_a_checksum_resumes_and_its_sum_can_fault),
		cmocka_unit_test(test_what_may_not_be_written_is_not),
		cmocka_unit_test(test_what_may_only_be_written_is_not_read),
		cmocka_unit_test(test_no_memory_behind_a_page),
		cmocka_unit_test(test_payloads_that_make_no_sense),
		cmocka_unit_test(test_the_end_of_the_address_space_can_be_reached),
		cmocka_unit_test(test_the_largest_job_can_be_stopped),
		cmocka_unit_test(test_slots_one_and_two_run_it),
	};

	return cmocka_run_group_tests_name("sim-compute_faults", tests, NULL, NULL);
}
