// SPDX-License-Identifier: MIT
/* Jobs that probe walks, and the visible effects of walks that fault. */
#include "walk_bench.h"

void probe_write(struct bench *b, uint64_t va)
{
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, va, MARKER);
	start_job(b, 0, VA, 0);
	settle(b);
}

void expect_written(struct bench *b, uint64_t va, uint64_t pa)
{
	put64(b, pa, 0);
	probe_write(b, va);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(get64(b, pa), MARKER);
	rd(b, JOB_INT_RAWSTAT);
	wr(b, JOB_INT_CLEAR, 1);
}

void expect_fault(struct bench *b, uint64_t va, uint32_t status)
{
	unsigned int code = status & 0xff;
	uint32_t bit = code >= 0xd0 && code <= 0xd3 ? 0x10000 : 0x1;

	assert_int_equal(rd(b, AS_FAULTSTATUS(0)), status);
	assert_int_equal(rd64(b, AS_FAULTADDRESS_LO(0)), va);
	assert_int_equal(rd(b, MMU_INT_RAWSTAT), bit);
	assert_int_equal(b->messages[AGATE_VECTOR_MMU], 1);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_ACTIVE);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 0);
	assert_int_equal(counter(b, AGATE_CNT_FAULTS), 1);
	assert_int_equal(last_event(b, AGATE_EV_FAULT)->b, va);
	assert_int_equal(last_event(b, AGATE_EV_FAULT)->c, status);
}

void write_faults(struct bench *b, uint64_t table, uint64_t entry, uint64_t va,
		  uint32_t exception)
{
	put64(b, table, entry);
	probe_write(b, va);
	expect_fault(b, va, exception | AT_WRITE);
	bench_free(b);
}

void read_faults(struct bench *b, uint64_t table, uint64_t entry, uint64_t va,
		 uint32_t exception)
{
	put64(b, table, entry);
	start_job(b, 0, va, 0);
	settle(b);
	expect_fault(b, va, exception | AT_READ);
	bench_free(b);
}
