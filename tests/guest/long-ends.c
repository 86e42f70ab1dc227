// SPDX-License-Identifier: MIT
/*
 * Chains that never end, in the system's trouble: the GPU is reset, the system sleeps, the driver
 * leaves, the GPU is gone.
 */
#include "graded.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "endless.h"
#include "system_sleep.h"

/* Another client's chain hangs, and takes the GPU with it: this one starts again. */
static void reset_for_another(void **state)
{
	struct space space = endless_on(guest_open()), other = space_on(guest_open());
	struct drm_agate_sync out = { .handle = guest_syncobj(other.fd) };
	struct drm_agate_submit arg = {
		.jc = JOBS_VA, .vm_id = other.vm, .out_syncs = (uintptr_t)&out, .out_sync_count = 1,
	};
	struct bo bo = endless_memory(&space, BLOCK, 3);

	(void)state;
	endless_start(&space, AREA);
	for (unsigned int i = 0; i < 3; i++) {
		endless_copies(&space, 3);
		guest_job_write64(&other.jobs, 0, JOBS_VA, SEEN_VA, 1);
		assert_int_equal(guest_ioctl(other.fd, DRM_IOCTL_AGATE_SUBMIT, &arg), 0);
		assert_int_equal(guest_fence_end(guest_sync_file(other.fd, out.handle)), -ETIME);
		endless_copies(&space, 3);
	}
	guest_destroy(&bo);
	space_close(&other);
	/* This needs a reset itself. */
	space_close_last(&space);
}

/* No stop helps those who need the memory, so a reset does, and it is their turn afterwards. */
static void reset_for_memory(void **state)
{
	struct space space = endless_on(guest_open()), other = endless_on(guest_open());
	struct bo bo = endless_memory(&space, BLOCK, 3);

	(void)state;
	endless_start(&space, AREA);
	endless_goes_on(&space);
	endless_start(&other, SEEN_VA);
	space_map(&space, &bo, AREA);
	endless_wait_banned(&space);
	endless_goes_on(&other);
	guest_destroy(&bo);
	space_close(&space);
	space_close_last(&other);
}

/* All devices, and then the whole machine, whose card loses its memory. */
static void sleeps(void **state)
{
	struct space space = endless_on(guest_open());
	struct bo bo = endless_memory(&space, 4 * MIB, 3);

	(void)state;
	endless_start(&space, AREA + 4 * MIB - 8);
	for (unsigned int i = 0; i < 3; i++) {
		endless_copies(&space, 3);
		assert_int_equal(i ? sleep_devices() : sleep_machine(), 0);
	}
	endless_copies(&space, 3);
	guest_destroy(&bo);
	space_close_last(&space);
}

/* One is on the slot, one waits for its turn, and one for a fence. */
static void three(struct space *spaces, int *timeline)
{
	uint32_t in;

	*timeline = guest_timeline();
	for (unsigned int i = 0; i < 3; i++)
		spaces[i] = endless_on(guest_open());
	endless_start(&spaces[0], SEEN_VA);
	endless_start(&spaces[1], SEEN_VA);
	endless_goes_on(&spaces[0]);
	in = guest_timeline_syncobj(spaces[2].fd, *timeline);
	endless_write(&spaces[2], SEEN_VA, JOBS_VA);
	assert_int_equal(endless_submit_behind(&spaces[2], JOBS_VA, in), 0);
}

static void all_gone(struct space *spaces, int timeline)
{
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(endless_submit(&spaces[i], JOBS_VA), ENODEV);
		assert_int_equal(space_destroy(&spaces[i]), ENODEV);
		close(spaces[i].fd);
	}
	close(timeline);
}

/* The driver leaves.  It need not wait for a fence of others, but may. */
static void unbound(void **state)
{
	struct space spaces[3];
	int timeline;

	(void)state;
	three(spaces, &timeline);
	guest_timeline_advance(timeline);
	assert_int_equal(device_unbind(), 0);
	all_gone(spaces, timeline);
	assert_int_equal(device_bind(), 0);
	spaces[0] = endless_on(guest_open());
	endless_start(&spaces[0], SEEN_VA);
	endless_goes_on(&spaces[0]);
	space_close_last(&spaces[0]);
}

/* run.sh waits for READY, and has the GPU killed then. */
static void gone(void **state)
{
	const int64_t deadline = guest_deadline(30000);
	struct space spaces[3];
	int timeline;

	(void)state;
	three(spaces, &timeline);
	puts("# READY");
	fflush(stdout);
	while (space_bind(&spaces[0], space_gap(AREA, PAGE), 0, 0) != ENODEV) {
		if (guest_deadline(0) > deadline)
			fail_msg("the GPU is still there");
		sched_yield();
	}
	guest_timeline_advance(timeline);
	all_gone(spaces, timeline);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(reset_for_another, guest_teardown),
		cmocka_unit_test_teardown(reset_for_memory, guest_teardown),
		cmocka_unit_test_teardown(sleeps, guest_teardown),
		cmocka_unit_test_teardown(unbound, guest_teardown),
		cmocka_unit_test(gone),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("long-ends", tests, NULL, NULL);
}
