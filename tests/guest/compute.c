// SPDX-License-Identifier: MIT
/*
 * COMPUTE jobs through the driver: fill, copy and checksum memory that the driver
 * maps, grows and protects.
 */
#include "guest.h"

#include <stdlib.h>
#include <unistd.h>

#define JOBS_A_PAGE	(PAGE / 128)

static uint8_t *bytes(const struct bo *bo)
{
	return bo->cpu;
}

static uint32_t status(const struct bo *bo, uint32_t job)
{
	return *(volatile uint32_t *)(bytes(bo) + job);
}

/* Put n jobs into a page of their own, and run them over these BOs. */
static int run(const struct bo *chain, const struct agate_compute_payload *p, unsigned int n,
	       const uint32_t *handles, unsigned int count)
{
	struct bo jobs = *chain;
	int err;

	assert_in_range(n, 1, JOBS_A_PAGE);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t next = i + 1 < n ? jobs.va + (i + 1) * 128 : 0;

		guest_job(&jobs, i * 128, AGATE_JOB_COMPUTE, next, &p[i], sizeof(p[i]));
	}
	err = guest_submit(jobs.fd, jobs.va, 0, handles, count, 0);
	return err ? err : guest_wait(jobs.fd, jobs.handle, FOREVER);
}

/* The CRC-32 of Ethernet, a bit at a time. */
static uint32_t crc32(const uint8_t *from, size_t size)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < size; i++) {
		crc ^= from[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static void fill_copy_and_sum(void **state)
{
	enum { SIZE = 1 << 20, ODD = 123457 };
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0);
	struct bo a = guest_bo(fd, SIZE, 0), b = guest_bo(fd, SIZE, 0);
	const uint32_t handles[] = { jobs.handle, a.handle, b.handle };
	const struct agate_compute_payload chain[] = {
		{ .op = AGATE_COMPUTE_FILL, .dst = a.va, .size = SIZE,
		  .value = 0x8877665544332211 },
		{ .op = AGATE_COMPUTE_FILL, .dst = a.va + 7, .size = ODD, .value = 0xabcd },
		{ .op = AGATE_COMPUTE_COPY, .dst = b.va + 3, .src = a.va + 1, .size = SIZE - 3 },
		{ .op = AGATE_COMPUTE_CHECKSUM, .dst = jobs.va + PAGE - 4, .src = b.va,
		  .size = SIZE },
	};

	(void)state;
	assert_int_equal(run(&jobs, chain, 4, handles, 3), 0);
	for (uint32_t job = 0; job < 4; job++)
		assert_int_equal(status(&jobs, job * 128), AGATE_EXC_DONE);
	assert_int_equal(bytes(&a)[6], 0x77);
	assert_int_equal(bytes(&a)[7], 0xcd);
	assert_int_equal(bytes(&a)[8], 0xab);
	assert_int_equal(bytes(&a)[9], 0);
	assert_int_equal(bytes(&a)[SIZE - 1], 0x88);
	assert_int_equal(bytes(&b)[2], 0);
	assert_memory_equal(bytes(&b) + 3, bytes(&a) + 1, SIZE - 3);
	assert_int_equal(*(uint32_t *)(bytes(&jobs) + PAGE - 4), crc32(b.cpu, SIZE));
	guest_destroy(&jobs);
	guest_destroy(&a);
	guest_destroy(&b);
	close(fd);
}

/* A picture scrolls within itself: downward and to the right, then back. */
static void scroll(void **state)
{
	enum { STRIDE = 6400, ROWS = 150, SIZE = 1 << 20 };
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0), picture = guest_bo(fd, SIZE, 0);
	const uint32_t handles[] = { jobs.handle, picture.handle };
	struct agate_compute_payload p = {
		.op = AGATE_COMPUTE_COPY_2D, .rows = ROWS - 10, .size = STRIDE - 100,
		.dst_stride = STRIDE, .src_stride = STRIDE,
		.dst = picture.va + 10 * STRIDE + 100, .src = picture.va,
	};
	uint8_t *was = malloc(SIZE);

	(void)state;
	assert_non_null(was);
	for (uint32_t i = 0; i < SIZE; i++)
		was[i] = (uint8_t)(i * 31 + i / 251);
	memcpy(picture.cpu, was, SIZE);
	assert_int_equal(run(&jobs, &p, 1, handles, 2), 0);
	for (uint32_t y = 10; y < ROWS; y++)
		assert_memory_equal(bytes(&picture) + y * STRIDE + 100, was + (y - 10) * STRIDE,
				    STRIDE - 100);
	p.dst = picture.va;
	p.src = picture.va + 10 * STRIDE + 100;
	assert_int_equal(run(&jobs, &p, 1, handles, 2), 0);
	for (uint32_t y = 0; y < ROWS - 10; y++)
		assert_memory_equal(bytes(&picture) + y * STRIDE, was + y * STRIDE, STRIDE - 100);
	free(was);
	guest_destroy(&jobs);
	guest_destroy(&picture);
	close(fd);
}

/* A heap's pages come while it is filled, and are read back through a copy. */
static void fill_grows_a_heap(void **state)
{
	const uint64_t size = 9u << 20, from = (2u << 20) - 5000;
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0), back = guest_bo(fd, size, 0), heap;
	uint32_t handles[] = { jobs.handle, back.handle, 0 };
	struct agate_compute_payload chain[2];

	(void)state;
	assert_int_equal(guest_create(fd, size, AGATE_BO_HEAP | AGATE_BO_NOEXEC, &heap), 0);
	handles[2] = heap.handle;
	chain[0] = (struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = heap.va + from, .size = size - from,
		.value = 0x1716151413121110,
	};
	chain[1] = (struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = back.va, .src = heap.va + from,
		.size = size - from,
	};
	assert_int_equal(run(&jobs, chain, 2, handles, 3), 0);
	assert_int_equal(status(&jobs, 128), AGATE_EXC_DONE);
	for (uint64_t i = 0; i < size - from; i++)
		if (bytes(&back)[i] != 0x10 + i % 8)
			fail_msg("byte %llu of the heap is 0x%x", (unsigned long long)i,
				 bytes(&back)[i]);
	guest_destroy(&jobs);
	guest_destroy(&back);
	guest_destroy(&heap);
	close(fd);
}

/*
 * A copy writes up to the first page that the GPU may not write, and leaves that
 * page unchanged.
 */
static void copy_into_what_is_read_only(void **state)
{
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0), src = guest_bo(fd, PAGE, 0);
	struct bo ro = guest_bo(fd, PAGE, AGATE_BO_GPU_READONLY);
	const uint32_t handles[] = { jobs.handle, src.handle, ro.handle };
	struct agate_compute_payload p = {
		.op = AGATE_COMPUTE_COPY, .dst = ro.va, .src = src.va, .size = PAGE,
	};

	(void)state;
	memset(src.cpu, 0x5a, PAGE);
	assert_int_equal(run(&jobs, &p, 1, handles, 3), 0);
	assert_int_not_equal(status(&jobs, 0), AGATE_EXC_DONE);
	assert_int_equal(bytes(&ro)[0], 0);
	/* The GPU can read it, and the file goes on. */
	memset(ro.cpu, 0x33, PAGE);
	p.dst = src.va;
	p.src = ro.va;
	assert_int_equal(run(&jobs, &p, 1, handles, 3), 0);
	assert_int_equal(status(&jobs, 0), AGATE_EXC_DONE);
	assert_int_equal(bytes(&src)[PAGE - 1], 0x33);
	guest_destroy(&jobs);
	guest_destroy(&src);
	guest_destroy(&ro);
	close(fd);
}

static void payloads_without_sense(void **state)
{
	static const struct agate_compute_payload bad[] = {
		{ .op = 0 },
		{ .op = AGATE_COMPUTE_FILL, .dst = 0x1000000, .size = UINT64_MAX },
		{ .op = AGATE_COMPUTE_COPY_2D, .rows = UINT32_MAX, .size = UINT64_MAX,
		  .dst_stride = UINT64_MAX, .src_stride = UINT64_MAX },
	};
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0);

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(run(&jobs, &bad[i], 1, &jobs.handle, 1), 0);
		assert_int_equal(status(&jobs, 0), AGATE_EXC_DATA_INVALID_FAULT);
	}
	guest_destroy(&jobs);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(fill_copy_and_sum, guest_teardown),
		cmocka_unit_test_teardown(scroll, guest_teardown),
		cmocka_unit_test_teardown(fill_grows_a_heap, guest_teardown),
		cmocka_unit_test_teardown(copy_into_what_is_read_only, guest_teardown),
		cmocka_unit_test_teardown(payloads_without_sense, guest_teardown),
	};

	return cmocka_run_group_tests_name("compute", tests, NULL, NULL);
}
