// SPDX-License-Identifier: MIT
/*
 * Memory that the GPU may still reach, because it did not answer, and nobody who waits for it.
 *
 * agate_inject.ko makes the GPU fail to answer when a range is unmapped, and holds the reset
 * that follows.
 */
#include "domains.h"
#include "graded.h"

#include <sys/mman.h>
#include <unistd.h>

/* From its end on, a thread that takes memory out of the GPU waits for the reset. */
#define RESET	"agate_mmu_reset_begin"

/*
 * A BO that a job has used, so that the GPU knows its range.  The job is freed by a worker, and
 * until then it keeps the BO in the GPU: this test has to be the one who takes it out.
 */
static struct bo used_bo(int fd)
{
	struct bo bo = guest_bo(fd, PAGE, 0);

	guest_job_write64(&bo, 0, 0, bo.va + 2048, 1);
	assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	guest_wait_counter("jobs", 0);
	munmap(bo.cpu, bo.size);
	return bo;
}

static void hold_reset(void)
{
	inject_anybody(true);
	inject_hold_entry(RESET, 1, 20000);
	inject_anybody(false);
	inject_within("agate_mmu_unmap");
	inject_fail("gpu_poll", 0, ETIMEDOUT);
}

/*
 * The handle is closed at once, and so is the file.  The BO's pages and its range stay until
 * the reset is over, and no longer.
 */
static void nobody_waits_for_a_reset(void **state)
{
	int fd = guest_open(), other = guest_open();
	struct bo bo;

	(void)state;
	/* A GPU that has lost its power has forgotten the range, and need not answer. */
	power_tell_device("control", "on");
	bo = used_bo(fd);
	hold_reset();
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	close(fd);
	if (!inject_await_held(RESET, 10000))
		fail_msg("no reset is held: %u polls failed, %u resets began, and %ld BOs are left",
			 inject_hits("gpu_poll"), inject_hits(RESET), guest_counter("bos"));
	assert_int_equal(guest_counter("bos"), 1);
	assert_int_equal(guest_counter("va_nodes"), 1);
	assert_true(guest_counter("pages") >= 1);
	assert_true(inject_let_go(RESET));
	inject_clear();
	power_tell_device("control", "auto");
	/* the GPU works again */
	bo = used_bo(other);
	assert_int_equal(guest_close_handle(other, bo.handle), 0);
	close(other);
	guest_assert_nothing_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(nobody_waits_for_a_reset, guest_teardown),
	};

	return cmocka_run_group_tests_name("parked", tests, NULL, NULL);
}
