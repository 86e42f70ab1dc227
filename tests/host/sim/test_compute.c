// SPDX-License-Identifier: MIT
/*
 * COMPUTE jobs: what each operation leaves in memory, to the byte, in whatever
 * way ranges overlap; faults in the middle of one; payloads that are refused.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"

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

static void run_well(struct bench *b, const struct agate_compute_payload *p)
{
	run(b, p);
	assert_int_equal(rd(b, JS_STATUS(SLOT)), AGATE_EXC_DONE);
	assert_int_equal(job_status(b, 0), AGATE_EXC_DONE);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
}

/* Every byte of the data pages is told from its neighbours, and pages differ. */
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

/* ---- FILL ---------------------------------------------------------------- */

static void test_fill_by_hand(void **state)
{
	struct bench *b = bench_ready();
	static const uint8_t want[16] = {
		0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x88, 0x77, 0, 0, 0,
	};

	(void)state;
	run_well(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = VA + DATA + 3, .size = 10,
		.value = 0x1122334455667788,
	});
	assert_memory_equal(at(b, DATA), want, 16);
	assert_int_equal(counter(b, AGATE_CNT_BYTES_COPIED), 0);
	bench_free(b);
}

static void fill(uint32_t from, uint32_t size)
{
	struct bench *b = bench_ready();
	const uint64_t value = 0xf0e1d2c3b4a59687;
	uint8_t *want;
	uint32_t i;

	put_pattern(b);
	want = snapshot(b);
	for (i = 0; i < size; i++)
		want[from + i] = (uint8_t)(value >> i % 8 * 8);
	run_well(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = VA + from, .size = size, .value = value,
	});
	expect_data(b, want);
	bench_free(b);
}

static void test_fill_over_pages(void **state)
{
	(void)state;
	fill(DATA, 0);
	fill(DATA, 4096);
	fill(DATA + 4095, 2);
	fill(DATA + 1, 3 * 4096);
	fill(DATA + 4093, 4096 * 2 + 7);
	fill(DATA, END - DATA);
}

/* ---- COPY ---------------------------------------------------------------- */

static void copy(uint32_t to, uint32_t from, uint32_t size)
{
	struct bench *b = bench_ready();
	uint8_t *want;

	put_pattern(b);
	want = snapshot(b);
	memmove(want + to, want + from, size);
	run_well(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = VA + to, .src = VA + from, .size = size,
	});
	expect_data(b, want);
	assert_int_equal(counter(b, AGATE_CNT_BYTES_COPIED), size);
	bench_free(b);
}

static void test_copy(void **state)
{
	(void)state;
	copy(DATA, DATA + 0x4000, 0);
	copy(DATA, DATA + 0x4000, 1);
	copy(DATA, DATA + 0x4000, 0x4000);
	copy(DATA + 0x4000, DATA, 0x4000);
	copy(DATA + 5, DATA + 0x4000 + 4090, 9000);	/* pages end at different places */
	copy(DATA + 4090, DATA + 0x5000 + 5, 9000);
}

static void test_copy_that_overlaps_is_memmove(void **state)
{
	static const uint32_t shift[] = { 1, 7, 8, 64, 100, 4095, 4096, 4097, 9000 };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(shift) / sizeof(shift[0]); i++) {
		copy(DATA + 50, DATA + 50 + shift[i], 20000);	/* downward */
		copy(DATA + 50 + shift[i], DATA + 50, 20000);	/* upward */
	}
	copy(DATA + 123, DATA + 123, 20000);			/* onto itself */
}

/* ---- COPY_2D -------------------------------------------------------------- */

struct rect {
	uint32_t dst, dst_stride, src, src_stride, size, rows;
};

static void copy_2d(const struct rect *r)
{
	struct bench *b = bench_ready();
	uint8_t *want, *was;
	uint32_t i;

	put_pattern(b);
	want = snapshot(b);
	was = snapshot(b);
	for (i = 0; i < r->rows; i++)
		memcpy(want + r->dst + i * r->dst_stride, was + r->src + i * r->src_stride, r->size);
	free(was);
	run_well(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY_2D, .rows = r->rows, .size = r->size,
		.dst = VA + r->dst, .src = VA + r->src,
		.dst_stride = r->dst_stride, .src_stride = r->src_stride,
	});
	expect_data(b, want);
	assert_int_equal(counter(b, AGATE_CNT_BYTES_COPIED), (uint64_t)r->size * r->rows);
	bench_free(b);
}

static void test_copy_2d(void **state)
{
	static const struct rect rects[] = {
		{ DATA, 64, DATA + 0x4000, 100, 40, 0 },	/* no rows */
		{ DATA, 64, DATA + 0x4000, 100, 0, 9 },		/* nothing in them */
		{ DATA, 64, DATA + 0x4000, 100, 40, 1 },
		{ DATA, 64, DATA + 0x4000, 100, 40, 200 },	/* rows across pages */
		{ DATA + 1, 40, DATA + 0x4000, 40, 40, 300 },	/* no gaps */
		{ DATA, 6000, DATA + 0x7000, 5000, 5000, 4 },	/* rows longer than a page */
		/* one above the other, and side by side, in one picture of 256 bytes a row */
		{ DATA, 256, DATA + 256, 256, 256, 80 },
		{ DATA + 256, 256, DATA, 256, 256, 80 },
		{ DATA + 40, 256, DATA, 256, 100, 80 },
		{ DATA, 256, DATA + 40, 256, 100, 80 },
		{ DATA + 100, 256, DATA, 256, 100, 80 },
		{ DATA + 256 * 3 + 10, 256, DATA, 256, 200, 40 },
		{ DATA, 256, DATA + 256 * 3 + 10, 256, 200, 40 },
		{ DATA + 256 * 3, 256, DATA + 50, 256, 206, 40 },
		/* rows longer than a page, moved within themselves */
		{ DATA + 900, 8000, DATA, 8000, 7000, 5 },
		{ DATA, 8000, DATA + 900, 8000, 7000, 5 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(rects) / sizeof(rects[0]); i++)
		copy_2d(&rects[i]);
}

/* ---- CHECKSUM -------------------------------------------------------------- */

static uint32_t checksum(const void *bytes, uint32_t offset, uint32_t size)
{
	struct bench *b = bench_ready();
	uint32_t crc;

	memcpy(at(b, offset), bytes, size);
	memset(at(b, 0x800), 0xee, 8);
	run_well(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_CHECKSUM, .dst = VA + 0x800, .src = VA + offset, .size = size,
	});
	crc = get32(b, PA + 0x800);
	assert_int_equal(get32(b, PA + 0x804), 0xeeeeeeee);
	bench_free(b);
	return crc;
}

static void test_checksum_is_the_known_crc32(void **state)
{
	static const uint8_t zeroes[32];
	uint8_t ones[32];

	(void)state;
	memset(ones, 0xff, sizeof(ones));
	/* The published check value, and others of the same polynomial. */
	assert_int_equal(checksum("123456789", DATA, 9), 0xcbf43926);
	assert_int_equal(checksum("123456789", DATA + 4091, 9), 0xcbf43926);
	assert_int_equal(checksum("", DATA, 0), 0);
	assert_int_equal(checksum("a", DATA + 1, 1), 0xe8b7be43);
	assert_int_equal(checksum(zeroes, DATA, 32), 0x190a55ad);
	assert_int_equal(checksum(ones, DATA, 32), 0xff6cab0b);
}

/* Bit by bit, without a table. */
static uint32_t crc_slowly(const uint8_t *bytes, size_t size)
{
	uint32_t crc = UINT32_MAX;
	size_t i, bit;

	for (i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

static void test_checksum_over_pages_and_itself(void **state)
{
	struct bench *b = bench_ready();
	uint32_t want;

	(void)state;
	put_pattern(b);
	want = crc_slowly(at(b, DATA + 3), 30001);
	/* The sum lies inside what it sums: it is written when all is read. */
	run_well(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_CHECKSUM, .dst = VA + DATA + 0x1000, .src = VA + DATA + 3,
		.size = 30001,
	});
	assert_int_equal(get32(b, PA + DATA + 0x1000), want);
	bench_free(b);
}

/* ---- Faults ---------------------------------------------------------------- */

static void set_page(struct bench *b, unsigned int page, uint64_t pte)
{
	put64(b, TABLE_L3 + 8 * page, pte);
}

/* Serve the fault that shows: it must be this one; then the job goes on. */
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
	/* What was filled before the fault must not be filled again. */
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
		VA + 0x8800, VA + 0x9000, VA + 0x1101, VA + 0xa000, VA + 0x2001, VA + 0xb000,
		VA + 0x3001,
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
	/* A driver that does not serve it takes the address space away. */
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
		/* fields that the operation does not have */
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

static void test_rectangles_that_just_do_not_touch(void **state)
{
	static const struct rect beside = { DATA, 100, DATA + 108, 16, 8, 2 };

	(void)state;
	copy_2d(&beside);
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

static uint64_t busy(const struct agate_compute_payload *p)
{
	struct bench *b = bench_ready();
	uint64_t cycles;

	run_well(b, p);
	cycles = agate_sim_slot_busy(b->sim, SLOT);
	bench_free(b);
	return cycles;
}

static void test_cost(void **state)
{
	(void)state;
	/* Header 8 and 4; start 16; a piece 2, and a cycle for each 16 bytes moved. */
	assert_int_equal(busy(&(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = VA + DATA, .size = 0 }), 28);
	assert_int_equal(busy(&(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = VA + DATA, .size = 17 }), 28 + 2 + 2);
	assert_int_equal(busy(&(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = VA + DATA, .src = VA + 0x8000, .size = 8192 }),
		28 + 2 * (2 + 512));
	assert_int_equal(busy(&(struct agate_compute_payload){
		.op = AGATE_COMPUTE_CHECKSUM, .dst = VA + DATA, .src = VA + 0x8000, .size = 4096 }),
		28 + 2 + 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fill_by_hand),
		cmocka_unit_test(test_fill_over_pages),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_copy_that_overlaps_is_memmove),
		cmocka_unit_test(test_copy_2d),
		cmocka_unit_test(test_checksum_is_the_known_crc32),
		cmocka_unit_test(test_checksum_over_pages_and_itself),
		cmocka_unit_test(test_a_fill_resumes_at_the_byte_where_it_faulted),
		cmocka_unit_test(test_a_copy_resumes_in_the_middle),
		cmocka_unit_test(test_a_checksum_resumes_and_its_sum_can_fault),
		cmocka_unit_test(test_what_may_not_be_written_is_not),
		cmocka_unit_test(test_what_may_only_be_written_is_not_read),
		cmocka_unit_test(test_no_memory_behind_a_page),
		cmocka_unit_test(test_payloads_that_make_no_sense),
		cmocka_unit_test(test_rectangles_that_just_do_not_touch),
		cmocka_unit_test(test_the_end_of_the_address_space_can_be_reached),
		cmocka_unit_test(test_the_largest_job_can_be_stopped),
		cmocka_unit_test(test_slots_one_and_two_run_it),
		cmocka_unit_test(test_cost),
	};

	return cmocka_run_group_tests_name("sim-compute", tests, NULL, NULL);
}
