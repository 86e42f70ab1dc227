// SPDX-License-Identifier: MIT
/*
 * Listed memory (hardware.md, section 8.6): which accesses outside a list the GPU
 * reports, which it does not, and to which chain a list belongs.
 */
#include <string.h>

#include "gpu_bench.h"

#define SLOT		1	/* of COMPUTE jobs, whose headers are in page 0 */
#define PAGES(n)	(VA + (n) * 0x1000ull)

static void begin(struct bench *b, unsigned int slot)
{
	wr(b, AGATE_LISTED_COMMAND(slot), AGATE_LISTED_COMMAND_BEGIN);
}

static void list(struct bench *b, unsigned int slot, uint64_t start, uint32_t pages)
{
	wr64(b, AGATE_LISTED_START_LO(slot), start);
	wr(b, AGATE_LISTED_PAGES(slot), pages);
}

static void run(struct bench *b, const struct agate_compute_payload *p)
{
	put_job(b, 0, AGATE_JOB_COMPUTE, 0);
	memcpy(b->ram + (PA - RAM_BASE) + 32, p, sizeof(*p));
	start_job(b, SLOT, VA, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(SLOT)), AGATE_EXC_DONE);
	wr(b, JOB_INT_CLEAR, rd(b, JOB_INT_RAWSTAT));
}

static void fill(struct bench *b, uint64_t dst, uint64_t size)
{
	run(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = dst, .size = size, .value = 0x5a });
}

static void copy(struct bench *b, uint64_t dst, uint64_t src, uint64_t size)
{
	run(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = dst, .src = src, .size = size });
}

/* Expect this many hints since the last call, and this many counted pages. */
static void expect(struct bench *b, unsigned int hints, uint64_t pages)
{
	assert_int_equal(count_events(b, AGATE_EV_HINT), hints);
	assert_int_equal(count_events(b, AGATE_EV_UNLISTED), hints);
	assert_int_equal(hinted(b, "a job touched memory that it did not list"), hints > 0);
	assert_int_equal(counter(b, AGATE_CNT_UNLISTED), pages);
	forget_events(b);
}

static void test_what_is_listed_is_silent(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	begin(b, SLOT);
	list(b, SLOT, PAGES(0), 1);
	list(b, SLOT, PAGES(9) + 5, 1);		/* bits below a page are ignored */
	list(b, SLOT, PAGES(3), 2);
	copy(b, PAGES(3) + 8, PAGES(9), 4096);
	expect(b, 0, 0);
	bench_free(b);
}

static void test_without_a_list_nothing_is_checked(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	fill(b, PAGES(3), 4096);
	list(b, SLOT, PAGES(3), 1);		/* a range without a list */
	assert_int_equal(rd(b, AGATE_LISTED_COMMAND(SLOT)), AGATE_LISTED_COMMAND_NONE);
	fill(b, PAGES(5), 4096);
	begin(b, SLOT);
	assert_int_equal(rd(b, AGATE_LISTED_COMMAND(SLOT)), AGATE_LISTED_COMMAND_BEGIN);
	wr(b, AGATE_LISTED_COMMAND(SLOT), AGATE_LISTED_COMMAND_NONE);
	fill(b, PAGES(5), 4096);
	/* and another slot's list does not belong to this one */
	begin(b, 0);
	fill(b, PAGES(5), 4096);
	expect(b, 0, 0);
	bench_free(b);
}

/* The job does the same as without a list, and the GPU reports the access. */
static void test_what_is_not_listed_is_told(void **state)
{
	struct bench *b = bench_ready();
	const struct agate_sim_event *e;

	(void)state;
	put64(b, PA + 0x4128, 0x123456789abcdef0);
	begin(b, SLOT);
	list(b, SLOT, PAGES(0), 4);
	copy(b, PAGES(3), PAGES(4) + 0x128, 0x100);
	assert_int_equal(get64(b, PA + 0x3000), 0x123456789abcdef0);
	e = last_event(b, AGATE_EV_UNLISTED);
	assert_int_equal(e->a, SLOT);
	assert_int_equal(e->b, PAGES(4) + 0x128);
	assert_int_equal(e->c, VA);
	assert_string_equal(e->text, "READ");
	expect(b, 1, 1);

	begin(b, SLOT);
	list(b, SLOT, PAGES(0), 1);
	list(b, SLOT, PAGES(4), 1);
	copy(b, PAGES(3), PAGES(4), 0x100);
	e = last_event(b, AGATE_EV_UNLISTED);
	assert_int_equal(e->b, PAGES(3));
	assert_string_equal(e->text, "WRITE");
	expect(b, 1, 2);
	bench_free(b);
}

/* A header is memory like any other, and so is the place of its status. */
static void test_an_empty_list_is_a_list(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_job(b, 0, AGATE_JOB_NULL, 0);
	begin(b, 0);
	start_job(b, 0, VA, 0);
	settle(b);
	assert_int_equal(job_status(b, 0), AGATE_EXC_DONE);
	assert_int_equal(last_event(b, AGATE_EV_UNLISTED)->b, VA);
	assert_string_equal(last_event(b, AGATE_EV_UNLISTED)->text, "READ");
	expect(b, 1, 1);
	bench_free(b);
}

/* A run of pages is reported once, upward or downward. */
static void test_a_stretch_is_told_of_once(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	begin(b, SLOT);
	list(b, SLOT, PAGES(0), 1);
	fill(b, PAGES(2), 5 * 4096);
	expect(b, 1, 5);
	begin(b, SLOT);
	list(b, SLOT, PAGES(0), 1);
	copy(b, PAGES(3) + 1, PAGES(3), 4 * 4096);	/* downward, over itself */
	expect(b, 1, 10);
	bench_free(b);
}

/* WRITE_VALUE into page after page, a job each; jobs are in pages 0 and 1. */
static void write_pages(struct bench *b, const unsigned int *page, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		put_write_value(b, i * 128, i + 1 < n ? VA + (i + 1) * 128 : 0,
				AGATE_WRITE_IMMEDIATE_64, PAGES(page[i]), i);
	start_job(b, 0, VA, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	wr(b, JOB_INT_CLEAR, rd(b, JOB_INT_RAWSTAT));
}

static void test_only_so_much_is_told_of_one_chain(void **state)
{
	/* 10 replaces 2, then 2 replaces 4, and 4 replaces 6 */
	static const unsigned int page[] = { 2, 4, 6, 8, 10, 4, 2, 4 };
	struct bench *b = bench_ready();

	(void)state;
	begin(b, 0);
	list(b, 0, PAGES(0), 1);
	write_pages(b, page, 8);
	expect(b, 4, 7);
	/* another chain is reported again */
	begin(b, 0);
	list(b, 0, PAGES(0), 1);
	write_pages(b, page, 1);
	expect(b, 1, 8);
	bench_free(b);
}

/* A cyclic chain is reported once. */
static void test_a_circle_is_told_of_once(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_write_value(b, 0, VA, AGATE_WRITE_IMMEDIATE_64, PAGES(5), 1);
	begin(b, 0);
	list(b, 0, PAGES(0), 1);
	start_job(b, 0, VA, 0);
	agate_sim_step(b->sim, 1000);
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP);
	expect(b, 1, 1);
	bench_free(b);
}

/* An access that waits for its page is reported when it is carried out. */
static void test_a_fault_is_not_an_access(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, PAGES(20), 1);
	begin(b, 0);
	list(b, 0, PAGES(0), 1);
	start_job(b, 0, VA, 0);
	settle(b);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), 1);
	expect(b, 0, 0);
	wr(b, MMU_INT_CLEAR, 1);
	put64(b, TABLE_L3 + 8 * 20, 0x400580c1);
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_PT);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	expect(b, 1, 1);
	bench_free(b);
}

/* ---- Lists ----------------------------------------------------------------- */

/* The pages in the ranges are listed, whatever the order and the overlap of the ranges. */
static void test_ranges_in_any_order(void **state)
{
	static const struct { unsigned int page, pages; } ranges[] = {
		{ 12, 2 }, { 2, 1 }, { 7, 1 }, { 3, 1 }, { 9, 2 }, { 8, 1 }, { 12, 1 }, { 2, 3 },
	};
	/* 2 to 4, 7 to 10, 12 and 13 */
	static const bool listed[MAPPED_PAGES] = {
		[0] = true, [2] = true, [3] = true, [4] = true, [7] = true, [8] = true,
		[9] = true, [10] = true, [12] = true, [13] = true,
	};
	unsigned int page, i;

	(void)state;
	for (page = 1; page < MAPPED_PAGES; page++) {
		struct bench *b = bench_ready();

		begin(b, SLOT);
		for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
			list(b, SLOT, PAGES(ranges[i].page), ranges[i].pages);
		list(b, SLOT, PAGES(15), 0);	/* nothing */
		list(b, SLOT, PAGES(0), 1);
		fill(b, PAGES(page), 4096);
		expect(b, !listed[page], !listed[page]);
		bench_free(b);
	}
}

/* The whole address space, and what lies at its ends. */
static void test_ranges_at_the_ends(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	begin(b, SLOT);
	list(b, SLOT, 0, 1);
	list(b, SLOT, 0xffffffffffffffff, 0xffffffff);
	list(b, SLOT, PAGES(0), 0xffffffff);
	fill(b, PAGES(1), (MAPPED_PAGES - 1) * 4096);
	expect(b, 0, 0);
	/* an address has 48 bits */
	begin(b, SLOT);
	list(b, SLOT, PAGES(0), 1);
	list(b, SLOT, PAGES(3) | 0xffff000000000000, 1);
	fill(b, PAGES(3), 4096);
	expect(b, 0, 0);
	bench_free(b);
}

static void list_apart(struct bench *b, unsigned int n)
{
	unsigned int i;

	begin(b, SLOT);
	list(b, SLOT, PAGES(0), 2);
	for (i = 1; i < n; i++)
		list(b, SLOT, 0x1000000000 - i * 0x2000, 1);
}

/* A list that is too long counts as none: there is no hint, but the counter increases. */
static void test_a_list_that_is_too_long(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	list_apart(b, AGATE_LISTED_RANGES);
	assert_int_equal(counter(b, AGATE_CNT_LISTS_DROPPED), 0);
	list(b, SLOT, PAGES(1), 1);		/* is listed already, and so fits */
	list(b, SLOT, PAGES(2), 1);		/* extends another range, at either end */
	list(b, SLOT, PAGES(0) - 0x1000, 1);
	list(b, SLOT, PAGES(9), 0);		/* is nothing */
	fill(b, PAGES(3), 4096);
	expect(b, 1, 1);

	list_apart(b, AGATE_LISTED_RANGES);
	list(b, SLOT, PAGES(9), 1);
	assert_int_equal(counter(b, AGATE_CNT_LISTS_DROPPED), 1);
	assert_int_equal(rd(b, AGATE_LISTED_COMMAND(SLOT)), AGATE_LISTED_COMMAND_NONE);
	list(b, SLOT, PAGES(10), 1);
	fill(b, PAGES(3), 4096);
	expect(b, 0, 1);
	assert_int_equal(counter(b, AGATE_CNT_LISTS_DROPPED), 1);

	begin(b, SLOT);
	list(b, SLOT, PAGES(0), 1);
	fill(b, PAGES(3), 4096);
	expect(b, 1, 2);
	bench_free(b);
}

/* ---- Which chain it is of ---------------------------------------------------- */

/* Slot 0 runs a cyclic chain in page 0; one NULL job is at VA + 0x80. */
static struct bench *bench_busy(void)
{
	struct bench *b = bench_ready();

	put_job(b, 0, AGATE_JOB_NULL, VA);
	put_job(b, 0x80, AGATE_JOB_NULL, 0);
	begin(b, 0);
	list(b, 0, PAGES(0), 1);
	start_job(b, 0, VA, 0);
	agate_sim_step(b->sim, 100);
	return b;
}

static void next_chain(struct bench *b, bool right)
{
	begin(b, 0);
	list(b, 0, PAGES(right ? 0 : 1), 1);
	start_job(b, 0, VA + 0x80, JS_CONFIG_JOB_CHAIN_FLAG);
}

static void stop_first(struct bench *b)
{
	wr(b, JS_COMMAND(0), JS_COMMAND_HARD_STOP_0);
	settle(b);
	wr(b, JOB_INT_CLEAR, rd(b, JOB_INT_RAWSTAT));
	settle(b);
}

static void test_each_chain_has_its_own(void **state)
{
	struct bench *b = bench_busy();

	(void)state;
	next_chain(b, false);
	begin(b, 0);				/* for a third one */
	agate_sim_step(b->sim, 100);
	expect(b, 0, 0);
	stop_first(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(last_event(b, AGATE_EV_UNLISTED)->c, VA + 0x80);
	expect(b, 1, 1);
	/* a list is of one chain only: the third one's is used up after this */
	start_job(b, 0, VA + 0x80, 0);
	settle(b);
	expect(b, 1, 2);
	wr(b, JOB_INT_CLEAR, rd(b, JOB_INT_RAWSTAT));
	start_job(b, 0, VA + 0x80, 0);
	settle(b);
	expect(b, 0, 2);
	bench_free(b);
}

static void test_a_chain_that_is_taken_back_keeps_its_list(void **state)
{
	struct bench *b = bench_busy();

	(void)state;
	next_chain(b, false);
	wr(b, JS_COMMAND_NEXT(0), JS_COMMAND_NOP);
	assert_int_equal(rd(b, AGATE_LISTED_COMMAND(0)), AGATE_LISTED_COMMAND_BEGIN);
	wr(b, JS_COMMAND_NEXT(0), JS_COMMAND_NOP);	/* there is nothing to withdraw */
	assert_int_equal(rd(b, AGATE_LISTED_COMMAND(0)), AGATE_LISTED_COMMAND_BEGIN);
	stop_first(b);
	expect(b, 0, 0);
	start_job(b, 0, VA + 0x80, 0);
	settle(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	expect(b, 1, 1);
	bench_free(b);
}

/* START over a queued chain: the queued chain is lost, with its list. */
static void test_a_chain_that_is_lost(void **state)
{
	unsigned int with_list;

	(void)state;
	for (with_list = 0; with_list < 2; with_list++) {
		struct bench *b = bench_busy();

		next_chain(b, false);
		if (with_list)
			next_chain(b, true);
		else
			start_job(b, 0, VA + 0x80, JS_CONFIG_JOB_CHAIN_FLAG);
		forget_events(b);
		stop_first(b);
		assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
		expect(b, 0, 0);
		bench_free(b);
	}
}

static void test_a_reset_forgets(void **state)
{
	struct bench *b = bench_busy();

	(void)state;
	next_chain(b, false);
	begin(b, 0);
	begin(b, SLOT);
	wr64(b, AGATE_LISTED_START_LO(SLOT), PAGES(1));
	bench_reset(b);
	assert_int_equal(rd(b, AGATE_LISTED_COMMAND(0)), AGATE_LISTED_COMMAND_NONE);
	assert_int_equal(rd(b, AGATE_LISTED_COMMAND(SLOT)), AGATE_LISTED_COMMAND_NONE);
	assert_int_equal(rd64(b, AGATE_LISTED_START_LO(SLOT)), 0);
	bench_power_on(b);
	as_set_table(b, 0, TABLE_L0);
	forget_events(b);
	start_job(b, 0, VA + 0x80, 0);
	settle(b);
	fill(b, PAGES(3), 4096);
	expect(b, 0, 0);
	bench_free(b);
}

/* ---- Registers ---------------------------------------------------------------- */

static void test_registers(void **state)
{
	struct bench *b = bench_ready();
	unsigned int slot;

	(void)state;
	for (slot = 0; slot < AGATE_MAX_SLOTS; slot++) {
		wr64(b, 0x8800 + 0x10 * slot, 0x0123456789abcdef);
		assert_int_equal(rd64(b, 0x8800 + 0x10 * slot), 0x0123456789abcdef);
		assert_int_equal(rd(b, 0x8808 + 0x10 * slot), 0);
		wr(b, 0x880c + 0x10 * slot, 1);
		assert_int_equal(rd(b, 0x880c + 0x10 * slot), 1);
	}
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
	wr(b, AGATE_LISTED_COMMAND(0), 2);
	assert_true(hinted(b, "unknown LISTED_COMMAND"));
	assert_int_equal(rd(b, AGATE_LISTED_COMMAND(0)), 1);
	forget_events(b);
	wr(b, 0x8830, 1);
	assert_int_equal(rd(b, 0x8ffc), 0);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 2);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_listed_is_silent),
		cmocka_unit_test(test_without_a_list_nothing_is_checked),
		cmocka_unit_test(test_what_is_not_listed_is_told),
		cmocka_unit_test(test_an_empty_list_is_a_list),
		cmocka_unit_test(test_a_stretch_is_told_of_once),
		cmocka_unit_test(test_only_so_much_is_told_of_one_chain),
		cmocka_unit_test(test_a_circle_is_told_of_once),
		cmocka_unit_test(test_a_fault_is_not_an_access),
		cmocka_unit_test(test_ranges_in_any_order),
		cmocka_unit_test(test_ranges_at_the_ends),
		cmocka_unit_test(test_a_list_that_is_too_long),
		cmocka_unit_test(test_each_chain_has_its_own),
		cmocka_unit_test(test_a_chain_that_is_taken_back_keeps_its_list),
		cmocka_unit_test(test_a_chain_that_is_lost),
		cmocka_unit_test(test_a_reset_forgets),
		cmocka_unit_test(test_registers),
	};

	return cmocka_run_group_tests_name("sim-listed", tests, NULL, NULL);
}
