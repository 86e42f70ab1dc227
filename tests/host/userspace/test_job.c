// SPDX-License-Identifier: MIT
/*
 * Job chains: the bytes that the GPU will read, refused payloads, and reading back
 * the result.
 */
#include "harness.h"

#include <math.h>
#include <string.h>

#include "agate_bo.h"
#include "agate_regs.h"

static void test_bytes_of_a_chain(void **state)
{
	/* Two jobs at offset 64 of a BO at 0x2000000, worked out from agate_job.h. */
	static const uint32_t expected[] = {
		0, 0, 0, 0,		/* status, first incomplete, fault pointer */
		0x00010005, 0,		/* 64-bit next, WRITE_VALUE, number 1 */
		0x02000080, 0,		/* next: the job behind this one */
		0x02000008, 0, 7, 0,	/* address; type: immediate 64 */
		0x89abcdef, 0x01234567, 0, 0,
		0, 0, 0, 0,
		0x00020005, 0x00000001,	/* number 2, after job 1 */
		0, 0,			/* the last */
		0x02000001, 0, 4, 0,	/* type: immediate 8 */
		0x000000ff, 0, 0, 0,
	};
	const struct agate_write_value_payload first = {
		.address = 0x2000008,
		.type = AGATE_WRITE_IMMEDIATE_64,
		.immediate = 0x0123456789abcdef,
	};
	const struct agate_write_value_payload second = {
		.address = 0x2000001,
		.type = AGATE_WRITE_IMMEDIATE_8,
		.immediate = 0xff,
	};
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	struct agate_chain chain;
	void *cpu;

	assert_int_equal(agate_bo_address(bo), 0x2000000);
	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	memset(cpu, 0xee, 4096);	/* old contents must not show */
	assert_int_equal(agate_chain_begin(&chain, bo, 64), 0);
	assert_int_equal(agate_chain_address(&chain), 0);
	assert_int_equal(agate_chain_write_value(&chain, 0, &first), 0);
	assert_int_equal(agate_chain_write_value(&chain, 1, &second), 0);
	assert_int_equal(agate_chain_address(&chain), 0x2000040);
	assert_memory_equal((char *)cpu + 64, expected, sizeof(expected));
	assert_int_equal(((unsigned char *)cpu)[63], 0xee);
	assert_int_equal(((unsigned char *)cpu)[192], 0xee);
	agate_bo_unreference(bo);
}

static void test_where_a_chain_may_begin(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, AGATE_ALLOC_DELAY_MMAP);
	struct agate_bo *heap = bo_new(*state, 4096, AGATE_ALLOC_INVISIBLE);
	struct agate_bo *readonly = bo_new(*state, 4096, AGATE_ALLOC_CPU_READONLY);
	struct agate_chain chain;

	assert_int_equal(agate_chain_begin(&chain, bo, 32), -EINVAL);
	assert_int_equal(agate_chain_begin(&chain, bo, 4096), -EINVAL);
	assert_int_equal(agate_chain_begin(&chain, bo, 1ull << 40), -EINVAL);
	assert_int_equal(agate_chain_begin(&chain, heap, 0), -EINVAL);
	assert_int_equal(agate_chain_begin(&chain, readonly, 0), -EINVAL);
	assert_int_equal(agate_chain_begin(&chain, bo, 4096 - 64), 0);
	assert_int_equal(agate_chain_null(&chain, 0), 0);
	assert_int_equal(agate_chain_null(&chain, 0), -ENOSPC);
	agate_bo_unreference(bo);
	agate_bo_unreference(heap);
	agate_bo_unreference(readonly);
}

static void test_numbers_of_jobs(void **state)
{
	struct agate_bo *bo = bo_new(*state, 8 << 20, 0);
	struct agate_chain chain;
	uint32_t i;

	assert_int_equal(agate_chain_begin(&chain, bo, 0), 0);
	assert_int_equal(agate_chain_null(&chain, 1), -EINVAL);
	for (i = 0; i < 65535; i++)
		assert_int_equal(agate_chain_null(&chain, (uint16_t)i), 0);
	assert_int_equal(agate_chain_null(&chain, 0), -ENOSPC);
	agate_bo_unreference(bo);
}

static void test_write_value_rules(void **state)
{
	static const struct {
		uint64_t address;
		uint32_t type, reserved;
		int err;
	} cases[] = {
		{ 0x1000, AGATE_WRITE_CYCLE_COUNTER, 0, 0 },
		{ 0x1004, AGATE_WRITE_CYCLE_COUNTER, 0, -EINVAL },
		{ 0x1004, AGATE_WRITE_SYSTEM_TIMESTAMP, 0, -EINVAL },
		{ 0x1004, AGATE_WRITE_ZERO, 0, -EINVAL },
		{ 0x1004, AGATE_WRITE_IMMEDIATE_64, 0, -EINVAL },
		{ 0x1004, AGATE_WRITE_IMMEDIATE_32, 0, 0 },
		{ 0x1002, AGATE_WRITE_IMMEDIATE_32, 0, -EINVAL },
		{ 0x1002, AGATE_WRITE_IMMEDIATE_16, 0, 0 },
		{ 0x1001, AGATE_WRITE_IMMEDIATE_16, 0, -EINVAL },
		{ 0x1001, AGATE_WRITE_IMMEDIATE_8, 0, 0 },
		{ 0x1000, 0, 0, -EINVAL },
		{ 0x1000, 8, 0, -EINVAL },
		{ 0x1000, AGATE_WRITE_ZERO, 1, -EINVAL },
		{ 0, AGATE_WRITE_ZERO, 0, -EINVAL },
	};
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	struct agate_chain chain;
	uint32_t jobs = 0;
	size_t i;

	assert_int_equal(agate_chain_begin(&chain, bo, 0), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct agate_write_value_payload payload = {
			.address = cases[i].address,
			.type = cases[i].type,
			.reserved = cases[i].reserved,
		};

		assert_int_equal(agate_chain_write_value(&chain, 0, &payload), cases[i].err);
		jobs += !cases[i].err;
		assert_int_equal(chain.jobs, jobs);
	}
	agate_bo_unreference(bo);
}

static void test_compute_rules(void **state)
{
	static const struct {
		struct agate_compute_payload p;
		int err;
	} cases[] = {
		{ { .op = AGATE_COMPUTE_FILL, .dst = 0x1001, .size = 3, .value = ~0ull }, 0 },
		{ { .op = AGATE_COMPUTE_FILL, .dst = 0xfffffffffffd, .size = 3 }, 0 },
		{ { .op = AGATE_COMPUTE_FILL, .dst = 0xfffffffffffd, .size = 4 }, -EINVAL },
		{ { .op = AGATE_COMPUTE_FILL, .dst = 0, .size = 3 }, -EINVAL },
		{ { .op = AGATE_COMPUTE_FILL, .dst = 0x1000, .size = 3, .src = 1 }, -EINVAL },
		{ { .op = AGATE_COMPUTE_FILL, .dst = 0x1000, .size = ~0ull }, -EINVAL },
		{ { .op = AGATE_COMPUTE_COPY, .dst = 0x1000, .src = 0x1001, .size = 100 }, 0 },
		{ { .op = AGATE_COMPUTE_COPY, .dst = 0x1000, .src = 0, .size = 100 }, -EINVAL },
		{ { .op = AGATE_COMPUTE_COPY, .dst = 0x1000, .src = 1, .size = 1, .rows = 1 },
		  -EINVAL },
		{ { .op = AGATE_COMPUTE_COPY, .dst = 0x1000, .src = 1, .size = 1, .value = 1 },
		  -EINVAL },
		{ { .op = AGATE_COMPUTE_CHECKSUM, .dst = 0x1004, .src = 1, .size = 100 }, 0 },
		{ { .op = AGATE_COMPUTE_CHECKSUM, .dst = 0x1002, .src = 1, .size = 100 }, -EINVAL },
		{ { .op = AGATE_COMPUTE_CHECKSUM, .dst = 0x1004, .src = 1, .size = 100,
		    .reserved = 1 }, -EINVAL },
		{ { .op = AGATE_COMPUTE_COPY_2D, .dst = 0x1000, .src = 0x1010, .size = 100,
		    .rows = 9, .dst_stride = 100, .src_stride = 100 }, 0 },
		{ { .op = AGATE_COMPUTE_COPY_2D, .dst = 0x1000, .src = 0x1010, .size = 100,
		    .rows = 9, .dst_stride = 100, .src_stride = 104 }, -EINVAL },
		/* nine rows span 900 bytes: 0x1384 is the first free address */
		{ { .op = AGATE_COMPUTE_COPY_2D, .dst = 0x1000, .src = 0x1384, .size = 100,
		    .rows = 9, .dst_stride = 100, .src_stride = 104 }, 0 },
		{ { .op = AGATE_COMPUTE_COPY_2D, .dst = 0x1000, .src = 0x1383, .size = 100,
		    .rows = 9, .dst_stride = 100, .src_stride = 104 }, -EINVAL },
		{ { .op = AGATE_COMPUTE_COPY_2D, .dst = 0x1000, .src = 0x9000, .size = 100,
		    .rows = 9, .dst_stride = 99, .src_stride = 100 }, -EINVAL },
		{ { .op = AGATE_COMPUTE_COPY_2D, .dst = 0x1000, .src = 0x9000, .size = 100,
		    .rows = 2, .dst_stride = 1ull << 63, .src_stride = 100 }, -EINVAL },
		{ { .op = AGATE_COMPUTE_COPY_2D, .dst = 0x1000, .src = 0x9000, .size = 100,
		    .rows = 3, .dst_stride = 1ull << 63, .src_stride = 100 }, -EINVAL },
		{ { .op = 0, .dst = 0x1000 }, -EINVAL },
		{ { .op = 5, .dst = 0x1000 }, -EINVAL },
	};
	struct agate_bo *bo = bo_new(*state, 8192, 0);
	struct agate_chain chain;
	uint32_t jobs = 0;
	size_t i;

	assert_int_equal(agate_chain_begin(&chain, bo, 0), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(agate_compute_check(&cases[i].p), cases[i].err);
		assert_int_equal(agate_chain_compute(&chain, 0, &cases[i].p), cases[i].err);
		jobs += !cases[i].err;
		assert_int_equal(chain.jobs, jobs);
	}
	/* Header and payload are 96 bytes, so a job takes 128. */
	assert_int_equal(chain.end, 128 * jobs);
	agate_bo_unreference(bo);
}

static void test_tiler_rules(void **state)
{
	const struct agate_tiler_payload good = {
		.vertices = 0x1010, .indices = 0x2004, .tiler = 0x3040,
		.vertex_count = 3, .index_count = 3,
		.viewport = { .width = 16.0f, .height = 16.0f, .far_depth = 1.0f },
	};
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	struct agate_tiler_payload bad[8];
	struct agate_chain chain;
	size_t i;

	for (i = 0; i < 8; i++)
		bad[i] = good;
	bad[0].vertices = 0x1018;
	bad[1].vertices = 0;
	bad[2].indices = 0x2002;
	bad[3].tiler = 0x3020;
	bad[4].tiler = 0;
	bad[5].index_count = 4;
	bad[6].flags = 2;
	bad[7].reserved = 1;
	assert_int_equal(agate_chain_begin(&chain, bo, 0), 0);
	for (i = 0; i < 8; i++)
		assert_int_equal(agate_chain_tiler(&chain, 0, &bad[i]), -EINVAL);
	assert_int_equal(chain.jobs, 0);
	assert_int_equal(agate_chain_tiler(&chain, 0, &good), 0);
	/* Header and payload are 96 bytes, so the next job is 128 further. */
	assert_int_equal(chain.end, 128);
	agate_bo_unreference(bo);
}

static void test_fragment_rules(void **state)
{
	const struct agate_fragment_payload good = {
		.max_x = 511, .max_y = 511, .framebuffer = 0x4000,
	};
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	struct agate_fragment_payload bad[6];
	struct agate_chain chain;
	size_t i;

	for (i = 0; i < 6; i++)
		bad[i] = good;
	bad[0].min_x = 512;
	bad[1].min_y = 512;
	bad[2].max_x = 512;
	bad[3].max_y = 512;
	bad[4].framebuffer = 0x4020;
	bad[5].framebuffer = 0;
	assert_int_equal(agate_chain_begin(&chain, bo, 0), 0);
	for (i = 0; i < 6; i++)
		assert_int_equal(agate_chain_fragment(&chain, 0, &bad[i]), -EINVAL);
	assert_int_equal(agate_chain_fragment(&chain, 0, &good), 0);
	assert_int_equal(chain.end, 64);
	agate_bo_unreference(bo);
}

static void test_reading_the_end(void **state)
{
	struct agate_bo *bo = bo_new(*state, 4096, 0);
	struct agate_chain_result result = { 0 };
	struct agate_job_header *header;
	struct agate_chain chain;
	unsigned int i;
	void *cpu;

	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	header = cpu;
	assert_int_equal(agate_chain_begin(&chain, bo, 0), 0);
	assert_int_equal(agate_chain_check(&chain, &result), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(agate_chain_null(&chain, 0), 0);

	/* Jobs are 64 bytes here: two headers apart. */
	for (i = 0; i < 3; i++)
		header[2 * i].exception_status = AGATE_EXC_DONE;
	assert_int_equal(agate_chain_check(&chain, &result), 0);

	header[4].exception_status = 0x300 | (AGATE_EXC_TRANSLATION_FAULT_0 + 3);
	header[4].fault_pointer = 0xdeadb000;
	assert_int_equal(agate_chain_check(&chain, &result), -EIO);
	assert_int_equal(result.job, 3);
	assert_int_equal(result.type, AGATE_JOB_NULL);
	assert_int_equal(result.exception, 0xc3);
	assert_int_equal(result.fault_pointer, 0xdeadb000);

	header[2].exception_status = AGATE_EXC_NOT_STARTED;
	assert_int_equal(agate_chain_check(&chain, &result), -EIO);
	assert_int_equal(result.job, 2);
	assert_int_equal(result.exception, 0);

	/* The library does not follow a link that leads out of the chain. */
	header[2].exception_status = AGATE_EXC_DONE;
	header[2].next = 0x123456789000;
	assert_int_equal(agate_chain_check(&chain, &result), -EIO);
	assert_int_equal(result.job, 3);
	agate_bo_unreference(bo);
}

static void test_framebuffer_rules(void **state)
{
	const struct agate_framebuffer good = {
		.color = 0x40, .depth = 0x80, .tiler = 0xc0, .width = 17, .height = 1,
		.stride = 68, .depth_stride = 72, .format = AGATE_FORMAT_B8G8R8A8,
		.flags = AGATE_FB_CLEAR_COLOR | AGATE_FB_DEPTH_TEST,
		.clear_color = { 0.0f, 0.5f, 1.0f, 1.0f }, .clear_depth = 1.0f,
	};
	struct agate_framebuffer bad[16], none;
	size_t i;

	(void)state;
	for (i = 0; i < 16; i++)
		bad[i] = good;
	bad[0].color = 0x60;
	bad[1].color = 0;
	bad[2].depth = 0x90;
	bad[3].tiler = 0x90;
	bad[4].width = 0;
	bad[5].height = AGATE_MAX_FB_SIZE + 1;
	bad[6].stride = 64;
	bad[7].stride = 70;
	bad[8].depth_stride = 64;
	bad[9].format = 3;
	bad[10].flags = 8;
	bad[11].clear_color[2] = NAN;
	bad[12].clear_color[3] = -0.1f;
	bad[13].clear_depth = 1.1f;
	bad[14].reserved[6] = 1;
	bad[15].depth = 0;		/* tested, but neither loaded nor cleared */
	assert_int_equal(agate_framebuffer_check(&good), 0);
	for (i = 0; i < 16; i++)
		assert_int_equal(agate_framebuffer_check(&bad[i]), -EINVAL);
	none = bad[15];
	none.flags |= AGATE_FB_CLEAR_DEPTH;
	none.depth_stride = 0;
	assert_int_equal(agate_framebuffer_check(&none), 0);
}

static void test_tiler_context_rules(void **state)
{
	const struct agate_tiler_context good = {
		.heap_start = 0x10000, .heap_end = 0x20000, .heap_top = 0x10000,
		.bins = 0x3008, .width = 1, .height = AGATE_MAX_FB_SIZE,
	};
	struct agate_tiler_context bad[9], full = good;
	size_t i;

	(void)state;
	for (i = 0; i < 9; i++)
		bad[i] = good;
	bad[0].heap_start = 0x10800;
	bad[1].heap_end = 0x1f800;
	bad[2].heap_top = 0x10800;
	bad[3].heap_top = 0xf000;
	bad[4].heap_top = 0x21000;
	bad[5].bins = 0x3004;
	bad[6].bins = 0;
	bad[7].width = 0;
	bad[8].reserved[1] = 1;
	assert_int_equal(agate_tiler_context_check(&good), 0);
	for (i = 0; i < 9; i++)
		assert_int_equal(agate_tiler_context_check(&bad[i]), -EINVAL);
	full.heap_top = full.heap_end;
	assert_int_equal(agate_tiler_context_check(&full), 0);
}

static void test_exception_names(void **state)
{
	(void)state;
	assert_string_equal(agate_exception_name(0), "NOT_STARTED");
	assert_string_equal(agate_exception_name(1), "DONE");
	assert_string_equal(agate_exception_name(0x58), "DATA_INVALID_FAULT");
	assert_string_equal(agate_exception_name(0x60), "OUT_OF_MEMORY");
	assert_string_equal(agate_exception_name(0xc3), "TRANSLATION_FAULT_3");
	assert_string_equal(agate_exception_name(0xcb), "PERMISSION_FAULT_3");
	assert_string_equal(agate_exception_name(0xe7), "ADDR_SIZE_FAULT_OUT_3");
	assert_string_equal(agate_exception_name(0x77), "UNKNOWN");
	assert_string_equal(agate_exception_name(0x101), "UNKNOWN");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_device(test_bytes_of_a_chain),
		with_device(test_where_a_chain_may_begin),
		with_device(test_numbers_of_jobs),
		with_device(test_write_value_rules),
		with_device(test_compute_rules),
		with_device(test_tiler_rules),
		with_device(test_fragment_rules),
		with_device(test_reading_the_end),
		cmocka_unit_test(test_framebuffer_rules),
		cmocka_unit_test(test_tiler_context_rules),
		cmocka_unit_test(test_exception_names),
	};

	return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
