// SPDX-License-Identifier: MIT
/*
 * Chains in address spaces that are AGATE_VM_FAULT_MODE: what is bound comes when the GPU
 * touches it, and goes without stopping the chain.
 */
#include "graded.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "endless.h"
#include "system_sleep.h"
#include "user_memory.h"

/* A chain comes by thousands of times meanwhile. */
#define WOULD_BE_SEEN_US	200000
/* In a page in which the chain itself writes elsewhere. */
#define WORD			2048u

/* From its next turn on the chain copies from there. */
static void copy_from(struct space *space, uint64_t from)
{
	*(volatile uint64_t *)((char *)space->jobs.cpu + ENDLESS_COPY +
			       sizeof(struct agate_job_header) +
			       offsetof(struct agate_compute_payload, src)) = from;
}

static void wait_copied(const struct space *space, uint64_t value)
{
	const int64_t deadline = guest_deadline(20000);

	while (endless_copied(space) != value) {
		if (guest_deadline(0) > deadline)
			fail_msg("the chain does not copy %llu", (unsigned long long)value);
		sched_yield();
	}
}

/* ---- What it is -------------------------------------------------------------------- */

static void refusals(void **state)
{
	struct drm_agate_vm_create create = { .flags = AGATE_VM_FAULT_MODE };
	int fd = guest_open();

	(void)state;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_VM_CREATE, &create), EINVAL);
	create.flags = AGATE_VM_LONG_RUNNING | AGATE_VM_FAULT_MODE | AGATE_VM_FAULT_MODE << 1;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_VM_CREATE, &create), EINVAL);
	close(fd);
	guest_assert_nothing_left();
}

/* VM_BIND takes no memory: more is bound than there is, in VRAM alone. */
static void comes_by_fault(void **state)
{
	enum { COUNT = 3 };
	struct space space = endless_faulting_on(guest_open());
	struct bo bos[COUNT];

	(void)state;
	for (unsigned int i = 0; i < COUNT; i++) {
		assert_int_equal(space_create(space.fd, 0, 40 * MIB, AGATE_BO_NO_VA, VRAM,
					      &bos[i]), 0);
		space_map(&space, &bos[i], AREA + i * 40 * MIB);
	}
	endless_start(&space, AREA);
	/* Each one takes the place of the one before, which had its contents from the GPU. */
	for (unsigned int i = 0; i < 2 * COUNT; i++) {
		copy_from(&space, AREA + i % COUNT * 40 * MIB + 8);
		endless_copies(&space, 0);
	}
	for (unsigned int i = 0; i < COUNT; i++)
		guest_destroy(&bos[i]);
	space_close_last(&space);
}

/* ---- Memory ------------------------------------------------------------------------ */

/* Others need the VRAM, again and again. */
static void moves(void **state)
{
	struct space space = endless_faulting_on(guest_open()), other = space_on(guest_open());
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

/* Two that each want more than half of the VRAM take turns, and both come by. */
static void two_want_more_than_half(void **state)
{
	struct space spaces[2];
	struct bo bos[2];

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		spaces[i] = endless_faulting_on(guest_open());
		bos[i] = endless_memory(&spaces[i], 40 * MIB, i + 5);
		endless_start(&spaces[i], AREA + 16);
	}
	for (unsigned int i = 0; i < 6; i++)
		endless_copies(&spaces[i % 2], i % 2 + 5);
	for (unsigned int i = 0; i < 2; i++) {
		guest_destroy(&bos[i]);
		space_close(&spaces[i]);
	}
	guest_assert_nothing_left();
}

/* ---- Bindings ---------------------------------------------------------------------- */

/* A change of what the chain uses, and of what it does not use. */
static void bindings_change(void **state)
{
	struct space space = endless_faulting_on(guest_open());
	struct bo bo = endless_memory(&space, 4 * MIB, 1), other;

	(void)state;
	endless_start(&space, AREA);
	endless_copies(&space, 1);
	space_map(&space, &bo, AREA + 8 * MIB);
	space_unmap(&space, AREA + 8 * MIB, 4 * MIB);
	endless_copies(&space, 1);
	/* Of another value, and bound there in place of the first. */
	other = endless_memory(&space, 4 * MIB, 2);
	endless_copies(&space, 2);
	endless_map(&space, &bo, AREA);
	endless_copies(&space, 1);
	/* A part of it goes, and what is left is there. */
	space_map_part(&space, &other, AREA + MIB, MIB, 0);
	endless_copies(&space, 1);
	copy_from(&space, AREA + MIB);
	wait_copied(&space, 2);
	copy_from(&space, AREA + 2 * MIB);
	wait_copied(&space, 1);
	guest_destroy(&bo);
	guest_destroy(&other);
	space_close_last(&space);
}

/*
 * The chain goes on until its memory has gone.  The GPU's log reports an access by an entry that
 * had gone before, if the driver takes it away without locking the range.
 */
static void unbound_later(void **state)
{
	struct space space = endless_faulting_on(guest_open());
	int timeline = guest_timeline();
	uint32_t in = guest_timeline_syncobj(space.fd, timeline);
	struct bo bo = endless_memory(&space, BLOCK, 1);

	(void)state;
	endless_start(&space, AREA);
	endless_copies(&space, 1);
	assert_int_equal(space_bind(&space, space_gap(AREA, BLOCK), in, 0), 0);
	guest_timeline_advance(timeline);
	endless_wait_banned(&space);
	close(timeline);
	guest_destroy(&bo);
	space_close_last(&space);
}

/* A chain whose fault waits for a change: only its end helps others, and that needs no change. */
static void ends_with_a_fault(void **state)
{
	struct space space = endless_faulting_on(guest_open()), other = endless_on(guest_open());
	int timeline = guest_timeline();
	uint32_t in = guest_timeline_syncobj(space.fd, timeline);
	struct bo bo = endless_memory(&space, BLOCK, 1);

	(void)state;
	endless_start(&space, AREA);
	endless_copies(&space, 1);
	assert_int_equal(space_bind(&space, space_part(&bo, AREA + MIB, BLOCK, 0, 0), in, 0), 0);
	endless_copies(&space, 1);
	copy_from(&space, AREA + MIB);
	for (uint64_t seen = 0, now; (now = endless_stamp(&space)) != seen; seen = now)
		usleep(200000);
	assert_int_equal(space_destroy(&space), 0);
	endless_start(&other, SEEN_VA);
	endless_goes_on(&other);
	guest_timeline_advance(timeline);
	close(timeline);
	guest_destroy(&bo);
	space_let_go(&space);
	close(space.fd);
	endless_goes_on(&other);
	space_close_last(&other);
}

/* ---- Memory of the process --------------------------------------------------------- */

static void pages_move(void **state)
{
	struct space space = endless_faulting_on(guest_open());
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
	for (unsigned int i = 0; i < 20; i++) {
		assert_int_equal(madvise((void *)at, 4 * MIB, MADV_DONTNEED), 0);
		endless_copies(&space, 0);
		at[5] = 79 + i;
		endless_copies(&space, 79 + i);
	}
	/* A part of the binding goes, and then its pages do. */
	space_unmap(&space, AREA + 2 * MIB, BLOCK);
	endless_copies(&space, 98);
	assert_int_equal(madvise((void *)at, 4 * MIB, MADV_DONTNEED), 0);
	at[5] = 1;
	endless_copies(&space, 1);
	munmap((void *)at, 4 * MIB);
	endless_wait_banned(&space);
	space_close_last(&space);
}

/* ---- Errors ------------------------------------------------------------------------ */

/* A chain that touches what is not bound, at once or later. */
static void nothing_bound(void **state)
{
	struct space space = endless_faulting_on(guest_open()), other = endless_faulting_on(guest_open());
	struct bo bo = endless_memory(&other, BLOCK, 1);

	(void)state;
	endless_start(&other, AREA);
	endless_start(&space, AREA);
	endless_wait_banned(&space);
	endless_copies(&other, 1);
	space_unmap(&other, AREA, BLOCK);
	endless_wait_banned(&other);
	guest_destroy(&bo);
	space_close(&space);
	space_close_last(&other);
}

/* The GPU knows more addresses than an address space has: behind its end, and in front. */
static void outside(void **state)
{
	const uint64_t addresses[] = { 0, 4096, 1ull << 32, (1ull << 32) + 4096, 1ull << 37,
				       (1ull << 48) - 4096 };
	struct space other = endless_faulting_on(guest_open());
	struct bo bo = endless_memory(&other, BLOCK, 1);

	(void)state;
	endless_start(&other, AREA);
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		struct space space = endless_faulting_on(guest_open());

		endless_start(&space, addresses[i]);
		endless_wait_banned(&space);
		space_close(&space);
	}
	endless_copies(&other, 1);
	guest_destroy(&bo);
	space_close_last(&other);
}

/* The GPU reads there, and does not write. */
static void readonly(void **state)
{
	struct space space = endless_faulting_on(guest_open());
	struct bo bo = endless_memory(&space, BLOCK, 1);

	(void)state;
	assert_int_equal(space_bind(&space, space_part(&bo, AREA, BLOCK, 0,
						       AGATE_VM_BIND_READONLY), 0, 0), 0);
	endless_start(&space, AREA);
	endless_copies(&space, 1);
	guest_job_write64(&space.jobs, ENDLESS_SECOND, 0, AREA, 5);
	assert_int_equal(endless_submit(&space, space.jobs.va + ENDLESS_SECOND), 0);
	endless_break(&space);
	endless_wait_banned(&space);
	guest_destroy(&bo);
	space_close_last(&space);
}

/* ---- Ends -------------------------------------------------------------------------- */

/* Another client's chain hangs, and takes the GPU with it: this one starts again. */
static void reset(void **state)
{
	struct space space = endless_faulting_on(guest_open()), other = space_on(guest_open());
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
	space_close_last(&space);
}

/* All devices, and then the whole machine, whose card loses its memory. */
static void sleeps(void **state)
{
	struct space space = endless_faulting_on(guest_open());
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

/* The driver leaves while a chain stands still. */
static void unbound(void **state)
{
	struct space space = endless_faulting_on(guest_open());
	int timeline = guest_timeline();
	uint32_t in = guest_timeline_syncobj(space.fd, timeline);

	(void)state;
	endless_start(&space, SEEN_VA);
	endless_goes_on(&space);
	assert_int_equal(space_bind(&space, space_part(&space.seen, AREA, PAGE, 0, 0), in, 0), 0);
	copy_from(&space, AREA);
	guest_timeline_advance(timeline);
	assert_int_equal(device_unbind(), 0);
	assert_int_equal(endless_submit(&space, JOBS_VA), ENODEV);
	close(space.fd);
	close(timeline);
	assert_int_equal(device_bind(), 0);
	space = endless_faulting_on(guest_open());
	endless_start(&space, SEEN_VA);
	endless_goes_on(&space);
	space_close_last(&space);
}

static void *unbind(void *ret)
{
	*(int *)ret = device_unbind();
	return NULL;
}

/* A chain loses what is unbound before the fence of that signals, also while the device goes. */
static void taken_meanwhile(void **state)
{
	struct space space = endless_faulting_on(guest_open());
	volatile uint64_t *word = (uint64_t *)((char *)space.seen.cpu + WORD);
	int timeline = guest_timeline(), file, ret = -1;
	uint32_t in = guest_timeline_syncobj(space.fd, timeline), out = guest_syncobj(space.fd);
	pthread_t thread;

	(void)state;
	space_map_part(&space, &space.seen, AREA, PAGE, 0);
	*word = 5;
	endless_start(&space, AREA + WORD);
	endless_copies(&space, 5);
	assert_int_equal(space_bind(&space, space_gap(AREA, PAGE), in, out), 0);
	file = guest_sync_file(space.fd, out);
	/* Nobody enters the device any more, and its parts have not begun to stop. */
	inject_anybody(true);
	inject_hold_entry("agate_topics_fini", 1, INJECT_BOUND_MS);
	assert_int_equal(pthread_create(&thread, NULL, unbind, &ret), 0);
	assert_true(inject_await_held("agate_topics_fini", 10000));
	guest_timeline_advance(timeline);
	assert_int_equal(guest_fence_end(file), -ENODEV);
	*word = 6;
	usleep(WOULD_BE_SEEN_US);
	assert_int_not_equal(endless_copied(&space), 6);
	assert_true(inject_let_go("agate_topics_fini"));
	pthread_join(thread, NULL);
	assert_int_equal(ret, 0);
	inject_clear();
	close(space.fd);
	close(timeline);
	assert_int_equal(device_bind(), 0);
	/* For what comes behind, the one that there is now. */
	close(guest_open());
	guest_assert_nothing_left();
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(refusals, guest_teardown),
		cmocka_unit_test_teardown(comes_by_fault, guest_teardown),
		cmocka_unit_test_teardown(moves, guest_teardown),
		cmocka_unit_test_teardown(two_want_more_than_half, guest_teardown),
		cmocka_unit_test_teardown(bindings_change, guest_teardown),
		cmocka_unit_test_teardown(unbound_later, guest_teardown),
		cmocka_unit_test_teardown(ends_with_a_fault, guest_teardown),
		cmocka_unit_test_teardown(pages_move, guest_teardown),
		cmocka_unit_test_teardown(nothing_bound, guest_teardown),
		cmocka_unit_test_teardown(outside, guest_teardown),
		cmocka_unit_test_teardown(readonly, guest_teardown),
	};
	const struct CMUnitTest ends[] = {
		cmocka_unit_test_teardown(reset, guest_teardown),
		cmocka_unit_test_teardown(unbound, guest_teardown),
		cmocka_unit_test_teardown(sleeps, guest_teardown),
		cmocka_unit_test_teardown(taken_meanwhile, guest_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	/* These have guests of their own. */
	for (size_t i = 0; argc > 1 && i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!strcmp(argv[1], ends[i].name))
			return cmocka_run_group_tests_name("fault-mode ends", ends, NULL, NULL);
	}
	return cmocka_run_group_tests_name("fault-mode", tests, NULL, NULL);
}
