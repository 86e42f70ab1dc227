// SPDX-License-Identifier: MIT
/*
 * A chain that a reset cut off starts again from its head, and the driver has patched the
 * header there: it says that the job has not run.
 *
 * The chain tells its two runs apart by what it wrote in the first one.  So the GPU must not
 * lose that with its L2: it has to use ACE, and must not stop a chain.
 */
#include "guest.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where the jobs of the chain, and what they write, are in its page. */
#define HEAD	0x000u
#define LOOP	0x100u
#define ONCE	0x180u
#define MOVE	0x200u
#define LAST	0x300u
#define FIRST_RUN	0x800u
#define SECOND_RUN	0x880u
#define CELL	0xa00u

#define UNTOUCHED	0xee

static void make_copy(struct bo *bo, uint32_t offset, uint64_t next, uint64_t dst, uint64_t src,
		      uint64_t size)
{
	const struct agate_compute_payload copy = {
		.op = AGATE_COMPUTE_COPY, .dst = dst, .src = src, .size = size,
	};

	guest_job(bo, offset, AGATE_JOB_COMPUTE, next, &copy, sizeof(copy));
}

/*
 * The head copies its own header to FIRST_RUN; MOVE then lets it copy to SECOND_RUN the next
 * time, by a write to the cache line of that header.  LOOP makes LAST its own successor, as
 * CELL says, and ONCE clears CELL: so the first run does not end, and the second does.
 */
static void make_chain(struct bo *bo)
{
	const uint32_t dst = AGATE_JOB_HEADER_SIZE + offsetof(struct agate_compute_payload, dst);
	char *cpu = bo->cpu;

	make_copy(bo, HEAD, bo->va + LOOP, bo->va + FIRST_RUN, bo->va + HEAD,
		  AGATE_JOB_HEADER_SIZE);
	make_copy(bo, LOOP, bo->va + ONCE,
		  bo->va + LAST + offsetof(struct agate_job_header, next), bo->va + CELL, 8);
	guest_job_write64(bo, ONCE, bo->va + MOVE, bo->va + CELL, 0);
	guest_job_write64(bo, MOVE, bo->va + LAST, bo->va + HEAD + dst, bo->va + SECOND_RUN);
	guest_job_write64(bo, LAST, 0, bo->va + CELL + 8, 1);
	*(uint64_t *)(cpu + CELL) = bo->va + LAST;
	memset(cpu + FIRST_RUN, UNTOUCHED, AGATE_JOB_HEADER_SIZE);
	memset(cpu + SECOND_RUN, UNTOUCHED, AGATE_JOB_HEADER_SIZE);
}

/* A copy of the head's header, taken while the head ran, is that of a job that has not run. */
static void check_header(const struct bo *bo, uint32_t offset)
{
	const struct agate_job_header *header = (void *)((char *)bo->cpu + offset);

	assert_int_equal(AGATE_JOB_TYPE_OF(header->control), AGATE_JOB_COMPUTE);
	assert_int_equal(header->exception_status, 0);
	assert_int_equal(header->first_incomplete_task, 0);
	assert_int_equal(header->fault_pointer, 0);
}

/* The GPU goes down and comes up: it is reset if a chain does not stop. */
static void set_protected(const char *value)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%d/protected", guest_minor());
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, value, 1), 1);
	close(fd);
}

static void innocent_chain(void **state)
{
	int fd = guest_open(), fence;
	struct bo chain = guest_bo(fd, PAGE, 0);
	int64_t end = guest_deadline(10000);
	long jobs = guest_gpu_counter("jobs");

	(void)state;
	make_chain(&chain);
	fence = guest_submit_fence(&chain, 0);
	/* Then it is at LAST. */
	while (guest_gpu_counter("jobs") < jobs + 10)
		assert_true(guest_deadline(0) < end);
	set_protected("1");
	assert_int_equal(guest_fence_end(fence), 1);
	check_header(&chain, FIRST_RUN);
	check_header(&chain, SECOND_RUN);
	set_protected("0");
	guest_destroy(&chain);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(innocent_chain, guest_teardown),
	};

	return cmocka_run_group_tests_name("restart", tests, NULL, NULL);
}
