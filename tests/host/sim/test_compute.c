// SPDX-License-Identifier: MIT
/*
 * COMPUTE jobs: the exact bytes that each operation leaves in memory, for every
 * kind of overlap, and its cost.
 */
#include "compute_bench.h"

static void run_well(struct bench *b, const struct agate_compute_payload *p)
{
	run(b, p);
	assert_int_equal(rd(b, JS_STATUS(SLOT)), AGATE_EXC_DONE);
	assert_int_equal(job_status(b, 0), AGATE_EXC_DONE);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
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

static void copy_in(bool direct, uint32_t to, uint32_t from, uint32_t size)
{
	struct bench *b = bench_ready();
	uint8_t *want;

	b->direct = direct;
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

/* Both with and without mem_at() in the host. */
static void copy(uint32_t to, uint32_t from, uint32_t size)
{
	copy_in(false, to, from, size);
	copy_in(true, to, from, size);
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

/* RAM to VRAM and back: one of the two always belongs to the model. */
static void test_copy_by_way_of_vram(void **state)
{
	struct bench *b;
	unsigned int direct;

	(void)state;
	for (direct = 0; direct < 2; direct++) {
		b = bench_ready();
		b->direct = direct;
		put_pattern(b);
		put64(b, TABLE_L3 + 8 * 9, 0x80000030c1);	/* page 9 is VRAM's page 3 */
		run_well(b, &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_COPY, .dst = VA + 0x9000, .src = VA + 0x2000,
			.size = 4096,
		});
		assert_memory_equal(b->vram + 0x3000, at(b, 0x2000), 4096);
		run_well(b, &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_COPY, .dst = VA + 0x4000, .src = VA + 0x9000,
			.size = 4096,
		});
		assert_memory_equal(at(b, 0x4000), at(b, 0x2000), 4096);
		bench_free(b);
	}
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
		memcpy(want + r->dst + i * r->dst_stride, was + r->src + i * r->src_stride,
		       r->size);
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

static void test_rectangles_that_just_do_not_touch(void **state)
{
	static const struct rect beside = { DATA, 100, DATA + 108, 16, 8, 2 };

	(void)state;
	copy_2d(&beside);
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

static void test_checksum_over_pages_and_itself(void **state)
{
	struct bench *b = bench_ready();
	uint32_t want;

	(void)state;
	put_pattern(b);
	want = crc_slowly(at(b, DATA + 3), 30001);
	/*
	 * The checksum lies inside its own range: the GPU writes it when it has
	 * read everything.
	 */
	run_well(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_CHECKSUM, .dst = VA + DATA + 0x1000, .src = VA + DATA + 3,
		.size = 30001,
	});
	assert_int_equal(get32(b, PA + DATA + 0x1000), want);
	bench_free(b);
}

/* ---- Cost ------------------------------------------------------------------ */

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
		cmocka_unit_test(test_copy_by_way_of_vram),
		cmocka_unit_test(test_copy_2d),
		cmocka_unit_test(test_rectangles_that_just_do_not_touch),
		cmocka_unit_test(test_checksum_is_the_known_crc32),
		cmocka_unit_test(test_checksum_over_pages_and_itself),
		cmocka_unit_test(test_cost),
	};

	return cmocka_run_group_tests_name("sim-compute", tests, NULL, NULL);
}
