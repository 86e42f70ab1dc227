// SPDX-License-Identifier: MIT
/*
 * Chains that never end, in address spaces that are AGATE_VM_LONG_RUNNING: they go on although
 * their memory moves, they take turns, and everybody can get rid of them.
 */
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "endless.h"
#include "user_memory.h"

/* ---- What it is -------------------------------------------------------------------- */

static void refusals(void **state)
{
	struct space space = endless_on(guest_open());
	struct drm_agate_vm_create create = { .flags = ~AGATE_VM_LONG_RUNNING };
	struct drm_agate_sync sync = { .handle = guest_syncobj(space.fd) };
	struct drm_agate_submit arg = {
		.jc = space.jobs.va, .vm_id = space.vm, .out_sync_count = 1,
		.out_syncs = (uintptr_t)&sync,
	};

	(void)state;
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_VM_CREATE, &create), EINVAL);
	endless_write(&space, SEEN_VA, 0);
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_SUBMIT, &arg), EINVAL);
	arg.out_sync_count = 0;
	arg.requirements = AGATE_JD_REQ_FS;
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_SUBMIT, &arg), EINVAL);
	arg.requirements = AGATE_JD_REQ_ONLY_COMPUTE;
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_SUBMIT, &arg), 0);
	guest_wait_counter("jobs", 0);
	assert_int_not_equal(endless_stamp(&space), 0);
	space_close_last(&space);
}

/* The second job of an address space waits for the first. */
static void in_order(void **state)
{
	struct space space = endless_on(guest_open());
	volatile uint64_t *second = (volatile uint64_t *)space.seen.cpu + 16;

	(void)state;
	endless_start(&space, SEEN_VA);
	guest_job_write64(&space.jobs, ENDLESS_SECOND, 0, SEEN_VA + 128, 5);
	assert_int_equal(endless_submit(&space, space.jobs.va + ENDLESS_SECOND), 0);
	endless_goes_on(&space);
	assert_int_equal(*second, 0);
	/* Nobody waits for it: no fence would tell. */
	assert_int_equal(guest_wait(space.fd, space.seen.handle, 0), EINVAL);
	endless_break(&space);
	guest_wait_counter("jobs", 0);
	assert_int_equal(*second, 5);
	space_close_last(&space);
}

/* A job waits for its in-sync, and another address space does not. */
static void behind_a_fence(void **state)
{
	int fd = guest_open(), timeline = guest_timeline();
	struct space late = endless_on(fd), space = endless_on(guest_open());
	uint32_t in = guest_timeline_syncobj(fd, timeline);

	(void)state;
	endless_write(&late, SEEN_VA, late.jobs.va + ENDLESS_COPY);
	assert_int_equal(endless_submit_behind(&late, late.jobs.va + ENDLESS_COPY, in), 0);
	endless_start(&space, SEEN_VA);
	endless_goes_on(&space);
	assert_int_equal(endless_stamp(&late), 0);
	guest_timeline_advance(timeline);
	endless_goes_on(&late);
	close(timeline);
	space_end(&late);
	endless_goes_on(&space);
	close(fd);
	space_close_last(&space);
}

/* ---- Memory ------------------------------------------------------------------------ */

/* Others need the VRAM, again and again. */
static void moves(void **state)
{
	struct space space = endless_on(guest_open()), other = space_on(guest_open());
	struct bo bo = endless_memory(&space, 40 * MIB, 0x1234);
	struct bo instead = space_bo(&other, 40 * MIB, VRAM);

	(void)state;
	space_map(&other, &instead, AREA);
	endless_start(&space, AREA + 40 * MIB - 8);
	for (unsigned int turn = 0; turn < 4; turn++) {
		const long moved = guest_gpu_counter("mover_bytes");

		endless_copies(&space, 0x1234);
		assert_int_equal(space_fill(&other, AREA, 40 * MIB, turn), 1);
		endless_copies(&space, 0x1234);
		/* One has left VRAM for the other. */
		assert_true(guest_gpu_counter("mover_bytes") - moved >= (long)(40 * MIB));
	}
	space_holds(&other, AREA + 40 * MIB - 8, 3);
	endless_copies(&space, 0x1234);
	guest_destroy(&bo);
	guest_destroy(&instead);
	space_close(&other);
	space_close_last(&space);
}

/* A change of what the chain uses, and of what it does not use. */
static void bindings_change(void **state)
{
	struct space space = endless_on(guest_open());
	struct bo bo = endless_memory(&space, BLOCK, 1), other;

	(void)state;
	endless_start(&space, AREA);
	endless_copies(&space, 1);
	space_map(&space, &bo, AREA + MIB);
	space_unmap(&space, AREA + MIB, BLOCK);
	endless_copies(&space, 1);
	/* Of another value, and bound there in place of the first. */
	other = endless_memory(&space, BLOCK, 2);
	endless_copies(&space, 2);
	endless_map(&space, &bo, AREA);
	endless_copies(&space, 1);
	guest_destroy(&bo);
	guest_destroy(&other);
	space_close_last(&space);
}

/* The chain waits for a change that waits, and others do not. */
static void change_waits(void **state)
{
	struct space space = endless_on(guest_open()), other = endless_on(guest_open());
	struct bo bo = endless_memory(&space, BLOCK, 1), instead;
	int timeline = guest_timeline();
	uint32_t in = guest_timeline_syncobj(space.fd, timeline);
	uint64_t before;

	(void)state;
	assert_int_equal(space_create(space.fd, space.vm, BLOCK, 0, VRAM, &instead), 0);
	endless_start(&space, AREA);
	endless_copies(&space, 1);
	assert_int_equal(space_bind(&space, space_part(&instead, AREA, BLOCK, 0, 0), in, 0), 0);
	/* Two turns of the other: then it is no longer this one's. */
	endless_start(&other, SEEN_VA);
	endless_goes_on(&other);
	before = endless_stamp(&space);
	endless_goes_on(&other);
	if (endless_stamp(&space) != before)
		endless_copies(&space, 1);
	guest_timeline_advance(timeline);
	while (endless_copied(&space) != 0)
		endless_goes_on(&space);
	endless_goes_on(&other);
	close(timeline);
	guest_destroy(&bo);
	guest_destroy(&instead);
	space_close(&other);
	space_close_last(&space);
}

/* ---- Memory of the process --------------------------------------------------------- */

static void pages_move(void **state)
{
	struct space space = endless_on(guest_open());
	volatile uint64_t *at = memory(4 * MIB);
	pid_t child;

	(void)state;
	at[5] = 77;
	user_map(&space, (void *)at, AREA, 4 * MIB);
	endless_start(&space, AREA + 40);
	endless_copies(&space, 77);
	/* From here on a write gets the process another page. */
	child = fork();
	if (!child)
		_exit(0);
	at[5] = 78;
	endless_copies(&space, 78);
	assert_int_equal(waitpid(child, NULL, 0), child);
	/* The kernel drops them, and the process makes others. */
	assert_int_equal(madvise((void *)at, 4 * MIB, MADV_DONTNEED), 0);
	at[5] = 79;
	endless_copies(&space, 79);
	munmap((void *)at, 4 * MIB);
	endless_wait_banned(&space);
	space_close_last(&space);
}

/* ---- Turns and ends ---------------------------------------------------------------- */

static void turns(void **state)
{
	enum { COUNT = 3 };
	struct space spaces[COUNT];

	(void)state;
	for (unsigned int i = 0; i < COUNT; i++) {
		spaces[i] = endless_on(guest_open());
		endless_start(&spaces[i], SEEN_VA);
	}
	for (unsigned int i = 0; i < 4 * COUNT; i++)
		endless_goes_on(&spaces[i % COUNT]);
	/* A file that is closed ends its own chain, and a name that goes, too. */
	space_let_go(&spaces[0]);
	close(spaces[0].fd);
	endless_goes_on(&spaces[1]);
	space_end(&spaces[1]);
	endless_goes_on(&spaces[2]);
	close(spaces[1].fd);
	space_close_last(&spaces[2]);
}

/* An address space whose chain fails is banned, and no other one is. */
static void fails(void **state)
{
	struct space space = endless_on(guest_open()), other = endless_on(guest_open());

	(void)state;
	endless_start(&other, SEEN_VA);
	endless_start(&space, AREA);
	endless_wait_banned(&space);
	endless_goes_on(&other);
	assert_int_equal(space_destroy(&space), 0);
	space_let_go(&space);
	space = endless_on(space.fd);
	endless_start(&space, SEEN_VA);
	endless_goes_on(&space);
	space_close(&space);
	space_close_last(&other);
}

/* One job that copies byte by byte, for long: whoever needs its memory has it killed. */
static void killed(void **state)
{
	enum { TIMES = 64 };
	struct space space = endless_on(guest_open());
	struct bo bo = endless_memory(&space, 4 * MIB, 3);
	const long failed = guest_gpu_counter("jobs_failed");

	(void)state;
	for (unsigned int i = 1; i < TIMES; i++)
		space_map(&space, &bo, AREA + i * bo.size);
	endless_write(&space, SEEN_VA, space.jobs.va + ENDLESS_SECOND);
	guest_job(&space.jobs, ENDLESS_SECOND, AGATE_JOB_COMPUTE, space.jobs.va + ENDLESS_COPY,
		  &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_COPY_2D, .dst = AREA, .src = AREA, .size = 1,
			.rows = TIMES * 4 * MIB, .dst_stride = 1, .src_stride = 1,
		  }, sizeof(struct agate_compute_payload));
	assert_int_equal(endless_submit(&space, space.jobs.va + ENDLESS_COPY), 0);
	while (!endless_stamp(&space))
		sched_yield();
	/* The same memory again: nothing is missing when the chain goes on. */
	space_map(&space, &bo, AREA);
	endless_wait_banned(&space);
	/* And not because the job failed. */
	assert_int_equal(guest_gpu_counter("jobs_failed"), failed);
	guest_destroy(&bo);
	space_close_last(&space);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(refusals, guest_teardown),
		cmocka_unit_test_teardown(in_order, guest_teardown),
		cmocka_unit_test_teardown(behind_a_fence, guest_teardown),
		cmocka_unit_test_teardown(moves, guest_teardown),
		cmocka_unit_test_teardown(bindings_change, guest_teardown),
		cmocka_unit_test_teardown(change_waits, guest_teardown),
		cmocka_unit_test_teardown(pages_move, guest_teardown),
		cmocka_unit_test_teardown(turns, guest_teardown),
		cmocka_unit_test_teardown(fails, guest_teardown),
		cmocka_unit_test_teardown(killed, guest_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("long-running", tests, NULL, NULL);
}
