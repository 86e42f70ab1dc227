// SPDX-License-Identifier: MIT
/*
 * The ends and the two locks of an address space.  The outer lock is held while memory is
 * allocated, and its holder may wait for a job; so neither a job nor the thread that serves
 * its page faults may wait for the outer lock.  And what is unmapped is not reached any more,
 * by whomever.
 */
#include "graded.h"

#include <pthread.h>
#include <unistd.h>

#define HEAP_SIZE	(4u << 20)

/* Jobs that have done so. */
static unsigned int unlisted;

struct opening {
	int fd;
	int err;
	struct bo bo;
};

static void *open_one_more(void *arg)
{
	struct opening *opening = arg;

	opening->err = guest_create(opening->fd, PAGE, 0, &opening->bo);
	return NULL;
}

/* A heap grows while another thread has the outer lock of the address space that it is in. */
static void heap_grows_meanwhile(void **state)
{
	struct opening opening = { .fd = guest_open() };
	struct bo jobs = guest_bo(opening.fd, PAGE, 0), heap;
	uint32_t both[2] = { jobs.handle }, sync;
	pthread_t thread;

	(void)state;
	assert_int_equal(guest_create(opening.fd, HEAP_SIZE, AGATE_BO_HEAP | AGATE_BO_NOEXEC,
				      &heap), 0);
	both[1] = heap.handle;
	guest_job_write64(&jobs, 0, jobs.va + 128, heap.va, 1);
	guest_job_write64(&jobs, 128, 0, heap.va + HEAP_SIZE - 8, 2);

	inject_within("agate_vm_open_bo");
	inject_hold_entry("up_write", 1, INJECT_BOUND_MS);
	assert_int_equal(pthread_create(&thread, NULL, open_one_more, &opening), 0);
	assert_true(inject_await_held("up_write", INJECT_BOUND_MS));

	sync = guest_syncobj(opening.fd);
	assert_int_equal(guest_submit(opening.fd, jobs.va, 0, both, 2, sync), 0);
	/* Success, and not the end of a job that has waited for too long. */
	assert_int_equal(guest_fence_end(guest_sync_file(opening.fd, sync)), 1);
	/* It was held until now, so nobody has waited for it. */
	assert_true(inject_let_go("up_write"));
	pthread_join(thread, NULL);
	inject_clear();
	assert_int_equal(opening.err, 0);

	assert_int_equal(guest_close_handle(opening.fd, opening.bo.handle), 0);
	assert_int_equal(guest_close_handle(opening.fd, heap.handle), 0);
	guest_destroy(&jobs);
	close(opening.fd);
	guest_assert_nothing_left();
}

/* No range ever covers these addresses; whoever reads one ends, and nobody else. */
static void fault_behind_the_end(void **state)
{
	static const uint64_t addresses[] = { 1ull << 32, (1ull << 32) + PAGE, 1ull << 36 };
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		guest_job_write64(&jobs, 0, 0, addresses[i], 1);
		assert_int_equal(guest_fence_end(guest_submit_fence(&jobs, 0)), -EINVAL);
	}
	guest_destroy(&jobs);
	close(fd);
	guest_assert_nothing_left();
}

static void *close_target(void *arg)
{
	struct bo *target = arg;

	assert_int_equal(guest_close_handle(target->fd, target->handle), 0);
	return NULL;
}

/*
 * A chain without end writes to a BO that its job did not list, while the BO is closed.  The
 * BO's entries are gone, and are not flushed yet: the chain must not get through to it.
 */
static void nothing_stale(void **state)
{
	int fd = guest_open();
	struct bo jobs = guest_bo(fd, PAGE, 0), target;
	const long stale = guest_gpu_counter("stale_used");
	uint32_t both[2] = { jobs.handle };
	pthread_t thread;
	int fence;

	(void)state;
	assert_int_equal(guest_create(fd, PAGE, 0, &target), 0);
	both[1] = target.handle;
	guest_job_write64(&jobs, 0, 0, target.va, 1);
	assert_int_equal(guest_submit(fd, jobs.va, 0, both, 2, 0), 0);
	assert_int_equal(guest_wait(fd, jobs.handle, FOREVER), 0);

	guest_job_write64(&jobs, 0, jobs.va, target.va, 2);
	fence = guest_submit_fence(&jobs, 0);
	inject_hold_return("agate_pgtable_unmap", 1, INJECT_BOUND_MS);
	assert_int_equal(pthread_create(&thread, NULL, close_target, &target), 0);
	assert_true(inject_await_held("agate_pgtable_unmap", INJECT_BOUND_MS));
	/* The GPU's time goes on with each read of a register. */
	for (int i = 0; i < 200; i++)
		assert_int_equal(guest_gpu_counter("stale_used"), stale);
	assert_true(inject_let_go("agate_pgtable_unmap"));
	pthread_join(thread, NULL);
	inject_clear();
	assert_int_equal(guest_fence_end(fence), -EINVAL);
	assert_int_equal(guest_gpu_counter("stale_used"), stale);
	unlisted++;
	guest_destroy(&jobs);
	close(fd);
	guest_assert_nothing_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heap_grows_meanwhile),
		cmocka_unit_test(fault_behind_the_end),
		cmocka_unit_test(nothing_stale),
	};

	int failed = cmocka_run_group_tests_name("spaces", tests, NULL, NULL);

	print_message("# jobs that touch what they did not list: %u\n", unlisted);
	return failed;
}
