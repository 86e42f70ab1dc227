// SPDX-License-Identifier: MIT
/*
 * Address spaces whose owner chooses the ranges, under strain: others wait, memory is short, or
 * the GPU does not answer.
 */
#include "domains.h"
#include "graded.h"
#include "user_memory.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* ---- Who waits for whom ------------------------------------------------------------ */

/* VM_BIND in a thread of its own. */
struct binder {
	const struct space *space;
	struct drm_agate_vm_bind arg;
	pthread_t thread;
	int err;
};

static void *bind_it(void *arg)
{
	struct binder *b = arg;

	b->err = space_bind(b->space, b->arg, 0, 0);
	return NULL;
}

static void binder_start(struct binder *binder)
{
	assert_int_equal(pthread_create(&binder->thread, NULL, bind_it, binder), 0);
}

static void binder_end(struct binder *binder)
{
	pthread_join(binder->thread, NULL);
	assert_int_equal(binder->err, 0);
}

/* The driver frees everybody's jobs while a client's VM_BIND takes its time. */
static void releases_go_on(void **state)
{
	struct space slow = space_on(guest_open()), other = space_on(guest_open());
	struct bo gone = space_bo(&slow, BLOCK, SYSTEM), next = space_bo(&slow, BLOCK, SYSTEM);
	struct binder binder = { .space = &slow, .arg = space_part(&next, AREA, BLOCK, 0, 0) };
	int timeline = guest_timeline();

	(void)state;
	space_map(&slow, &gone, AREA + MIB);
	assert_int_equal(space_bind(&slow, space_gap(AREA + MIB, BLOCK),
				    guest_timeline_syncobj(slow.fd, timeline), 0), 0);
	/* The change, and the mover's job that will write it. */
	guest_wait_counter("jobs", 2);
	inject_hold_entry("agate_bind_arm", 1, INJECT_BOUND_MS);
	binder_start(&binder);
	assert_true(inject_await_held("agate_bind_arm", 10000));
	/* The change that removes a binding ends while the thread has its address space. */
	guest_timeline_advance(timeline);
	space_holds(&other, SEEN_VA, 0);
	/* That of the thread is left. */
	guest_wait_counter("jobs", 1);
	assert_true(inject_let_go("agate_bind_arm"));
	binder_end(&binder);
	inject_clear();
	close(timeline);
	guest_destroy(&gone);
	guest_destroy(&next);
	space_end(&slow);
	space_end(&other);
	close(slow.fd);
	close(other.fd);
	guest_assert_nothing_left();
}

/* A binding is cut while its BO leaves, which may stay where it goes: the rest is bound there. */
static void split_while_leaving(void **state)
{
	int fd = guest_open();
	struct space space = space_on(fd), other = space_on(fd);
	struct bo bo = space_bo(&space, 40 * MIB, SYSTEM | VRAM);
	struct bo instead = space_bo(&other, 40 * MIB, VRAM);
	struct binder evicts = { .space = &other, .arg = space_part(&instead, AREA, instead.size, 0, 0) };
	struct binder cuts = { .space = &space, .arg = space_gap(AREA + 8 * MIB, BLOCK) };
	const int64_t deadline = guest_deadline(10000);

	(void)state;
	space_map(&space, &bo, AREA);
	assert_int_equal(space_fill(&space, AREA, bo.size, 11), 1);
	inject_hold_entry("agate_vm_teardown_bo", 1, INJECT_BOUND_MS);
	binder_start(&evicts);
	assert_true(inject_await_held("agate_vm_teardown_bo", 10000));
	inject_count("agate_exec_lock");
	binder_start(&cuts);
	while (!inject_hits("agate_exec_lock"))
		assert_true(guest_deadline(0) < deadline);
	assert_true(inject_let_go("agate_vm_teardown_bo"));
	binder_end(&evicts);
	binder_end(&cuts);
	inject_clear();
	space_holds(&space, AREA, 11);
	space_is_hole(&space, AREA + 8 * MIB);
	space_holds(&space, AREA + 8 * MIB + BLOCK, 11);
	guest_destroy(&bo);
	guest_destroy(&instead);
	space_end(&space);
	space_end(&other);
	close(fd);
	guest_assert_nothing_left();
}

/* A BO that is bound no more does not come back, even while the change waits. */
static void unbound_stays_away(void **state)
{
	int fd = guest_open(), timeline = guest_timeline();
	struct space space = space_on(fd), other = space_on(fd);
	struct bo away = space_bo(&space, 40 * MIB, VRAM), instead = space_bo(&space, 40 * MIB, VRAM);
	struct bo there = space_bo(&other, 40 * MIB, VRAM);

	(void)state;
	space_map(&space, &away, AREA);
	space_holds(&space, AREA, 0);
	space_map(&other, &there, AREA);
	space_holds(&other, AREA, 0);
	assert_int_equal(space_bind(&space, space_gap(AREA, away.size),
				    guest_timeline_syncobj(fd, timeline), 0), 0);
	space_map(&space, &instead, AREA + 64 * MIB);
	guest_timeline_advance(timeline);
	space_holds(&space, AREA + 64 * MIB, 0);
	space_is_hole(&space, AREA);
	close(timeline);
	guest_destroy(&away);
	guest_destroy(&instead);
	guest_destroy(&there);
	space_end(&space);
	space_end(&other);
	close(fd);
	guest_assert_nothing_left();
}

/* ---- Memory ------------------------------------------------------------------------ */

/* The kernel has no page for a table when a change comes to the page table. */
static void no_tables(void)
{
	inject_anybody(true);
	inject_within("bind_run");
	inject_fail_null("__alloc_pages", 0);
}

/*
 * A change cuts a leaf of 2 MiB twice, and has had all memory for that: in the second round it
 * puts another BO into the gap, which needs more.
 */
static void cut_without_memory(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = space_bo(&space, 8 * MIB, VRAM), other = space_bo(&space, BLOCK, SYSTEM);
	const uint64_t gap = AREA + 2 * MIB + 5 * BLOCK;

	(void)state;
	for (unsigned int round = 0; round < 2; round++) {
		space_map(&space, &bo, AREA);
		assert_int_equal(space_fill(&space, AREA, bo.size, 42), 1);
		no_tables();
		if (round)
			space_map(&space, &other, gap);
		else
			space_unmap(&space, gap, BLOCK);
		space_holds(&space, gap - 8, 42);
		space_holds(&space, gap + BLOCK, 42);
		assert_int_equal(inject_hits("__alloc_pages"), 0);
		inject_clear();
		if (round)
			space_holds(&space, gap, 0);
		else
			space_is_hole(&space, gap);
	}
	guest_destroy(&bo);
	guest_destroy(&other);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* To remove bindings takes next to no memory, however large the range is. */
static void large_gap(void **state)
{
	struct space space = space_on(guest_open());
	int timeline = guest_timeline();
	uint32_t in = guest_timeline_syncobj(space.fd, timeline);
	struct bo bo = space_bo(&space, BLOCK, SYSTEM);
	long tables;

	(void)state;
	space_map(&space, &bo, AREA);
	space_holds(&space, AREA, 0);
	/* A change gives back the tables that it did not need when it is freed. */
	guest_wait_counter("jobs", 0);
	tables = guest_counter("pt_pages");
	assert_int_equal(space_bind(&space, space_gap(AREA, 3ull << 30), in, 0), 0);
	assert_in_range(guest_counter("pt_pages") - tables, 0, 8);
	guest_timeline_advance(timeline);
	space_is_hole(&space, AREA);
	close(timeline);
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* BOs of one address space take turns in VRAM if they are not bound at the same time. */
static void take_turns(void **state)
{
	enum { COUNT = 10 };
	struct space space = space_on(guest_open());
	struct bo bos[COUNT];

	(void)state;
	for (unsigned int i = 0; i < 3 * COUNT; i++) {
		struct bo *bo = &bos[i % COUNT];

		if (i < COUNT)
			*bo = space_bo(&space, 8 * MIB, VRAM);
		space_map(&space, bo, AREA);
		if (i >= COUNT)
			space_holds(&space, AREA + 8 * MIB - 8, i - COUNT);
		assert_int_equal(space_fill(&space, AREA, bo->size, i), 1);
		space_unmap(&space, AREA, bo->size);
	}
	for (unsigned int i = 0; i < COUNT; i++)
		guest_destroy(&bos[i]);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* Each BO of no address space has a reservation, of which a thread can hold a number only. */
static void many_external(void **state)
{
	struct space space = space_on(guest_open());
	uint64_t addr = AREA;
	struct bo bo;
	int err = 0;

	(void)state;
	for (; !err && addr < AREA + 3000ull * PAGE; addr += PAGE) {
		assert_int_equal(space_create(space.fd, 0, PAGE, AGATE_BO_NO_VA, SYSTEM, &bo), 0);
		err = space_bind(&space, space_part(&bo, addr, PAGE, 0, 0), 0, 0);
	}
	assert_int_equal(err, ENOSPC);
	assert_int_equal((addr - AREA) / PAGE, AGATE_SUBMIT_MAX_BOS + 1);
	space_holds(&space, AREA, 0);
	space_unmap(&space, AREA, PAGE);
	space_map(&space, &bo, AREA);
	space_holds(&space, AREA, 0);
	space_unmap(&space, AREA, addr - AREA);
	space_is_hole(&space, AREA);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/*
 * Memory of the process goes again whenever the driver has looked for it.  One time is no reason to
 * give up; but some day SUBMIT says EAGAIN, and has changed nothing.
 */
static void changes_too_fast(void **state)
{
	static const char look[] = "get_user_pages_fast";
	struct space space = space_on(guest_open());
	uint64_t *at = memory(BLOCK);

	(void)state;
	user_map(&space, at, AREA, BLOCK);
	for (unsigned int nth = 0; nth < 3; nth++) {
		assert_int_equal(madvise(at, BLOCK, MADV_DONTNEED), 0);
		at[0] = 1 + nth;
		inject_within("agate_userptr_collect");
		inject_fail(look, nth, EFAULT);
		assert_int_equal(refused_submit(&space), nth ? 0 : EAGAIN);
		assert_true(inject_hits(look) > 1);
		inject_clear();
		space_holds(&space, AREA, 1 + nth);
	}
	space_end(&space);
	close(space.fd);
	munmap(at, BLOCK);
	guest_assert_nothing_left();
}

/* ---- A GPU that does not answer ---------------------------------------------------- */

/* A change of what the GPU did not forget ends with the GPU's reset. */
static void change_ends_with_reset(void **state)
{
	static const char reset[] = "agate_gpu_soft_reset";
	struct space space = space_on(guest_open());
	uint32_t out = guest_syncobj(space.fd);
	struct bo bo = space_bo(&space, 2 * MIB, VRAM);

	(void)state;
	/* A GPU that has lost its power has forgotten the range, and need not answer. */
	power_tell_device("control", "on");
	space_map(&space, &bo, AREA);
	assert_int_equal(space_fill(&space, AREA, bo.size, 3), 1);
	inject_anybody(true);
	inject_hold_entry(reset, 1, INJECT_BOUND_MS);
	inject_within("bind_run");
	inject_fail("gpu_poll", 0, ETIMEDOUT);
	assert_int_equal(space_bind(&space, space_gap(AREA, MIB), 0, out), 0);
	assert_true(inject_await_held(reset, 10000));
	assert_false(space_signalled(space.fd, out));
	assert_true(inject_let_go(reset));
	space_is_hole(&space, AREA);
	assert_true(space_signalled(space.fd, out));
	space_holds(&space, AREA + MIB, 3);
	inject_clear();
	power_tell_device("control", "auto");
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* ---- What has moved ------------------------------------------------------------------ */

#define COUNT		7u	/* so many BOs fill VRAM */
#define LARGE		(8 * MIB)
/* Where the job is that shows in the log where a time begins, and where it ends. */
#define MARK		0x300u

static void mark_log(struct space *space)
{
	struct drm_agate_sync out = { .handle = guest_syncobj(space->fd) };
	struct drm_agate_submit arg = {
		.jc = JOBS_VA + MARK, .vm_id = space->vm, .out_syncs = (uintptr_t)&out,
		.out_sync_count = 1,
	};

	guest_job_write64(&space->jobs, MARK, 0, SEEN_VA, 0);
	assert_int_equal(guest_ioctl(space->fd, DRM_IOCTL_AGATE_SUBMIT, &arg), 0);
	assert_int_equal(guest_fence_end(guest_sync_file(space->fd, out.handle)), 1);
}

static struct bo populated(int fd)
{
	struct bo bo;

	assert_int_equal(space_create(fd, 0, LARGE, AGATE_BO_POPULATE, VRAM, &bo), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	return bo;
}

/*
 * One of two BOs leaves, and the next job brings it back, to another place.  Between the two marks
 * in the log the GPU flushes its range, and not the other one's, which has not moved; and no walk
 * reaches it where it was (victims.awk).
 */
static void one_comes_back(void **state)
{
	struct space space = space_on(guest_open());
	struct bo moves = space_bo(&space, LARGE, VRAM), stays = space_bo(&space, LARGE, VRAM);
	struct bo others[COUNT - 2], instead;
	int fd = guest_open();

	(void)state;
	space_map(&space, &moves, AREA);
	space_map(&space, &stays, AREA + LARGE);
	assert_int_equal(space_fill(&space, AREA, 2 * LARGE, 21), 1);
	for (unsigned int i = 0; i < COUNT - 2; i++)
		others[i] = populated(fd);
	printf("# range bound %#llx %#llx %#llx\n", AREA, AREA + LARGE, JOBS_VA + MARK);
	fflush(stdout);
	mark_log(&space);
	instead = populated(fd);
	guest_destroy(&others[2]);
	guest_wait_counter("bos", COUNT + 2);
	space_holds(&space, AREA, 21);
	space_holds(&space, AREA + LARGE, 21);
	space_holds(&space, AREA + LARGE - 8, 21);
	mark_log(&space);
	for (unsigned int i = 0; i < COUNT - 2; i++)
		if (i != 2)
			guest_destroy(&others[i]);
	guest_destroy(&instead);
	close(fd);
	guest_destroy(&moves);
	guest_destroy(&stays);
	space_close_last(&space);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(releases_go_on, guest_teardown),
		cmocka_unit_test_teardown(split_while_leaving, guest_teardown),
		cmocka_unit_test_teardown(unbound_stays_away, guest_teardown),
		cmocka_unit_test_teardown(cut_without_memory, guest_teardown),
		cmocka_unit_test_teardown(large_gap, guest_teardown),
		cmocka_unit_test_teardown(take_turns, guest_teardown),
		cmocka_unit_test_teardown(many_external, guest_teardown),
		cmocka_unit_test_teardown(changes_too_fast, guest_teardown),
		cmocka_unit_test_teardown(change_ends_with_reset, guest_teardown),
		cmocka_unit_test_teardown(one_comes_back, guest_teardown),
	};

	guest_choose(argc > 1 ? argv[1] : "*");
	return cmocka_run_group_tests_name("vm-strain", tests, NULL, NULL);
}
