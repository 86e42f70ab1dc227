// SPDX-License-Identifier: MIT
/*
 * Every allocation fails once, where a client chooses the ranges of its address spaces: a call
 * that fails has changed nothing.
 */
#include <stdlib.h>
#include <unistd.h>

#include "dmabuf.h"
#include "fail_nth.h"
#include "graded.h"
#include "kernel_memory.h"
#include "user_memory.h"

#define WORD	0x51ull
#define FRESH	0x99ull
/* The end of a leaf of 2 MiB is cut. */
#define CUT	(AREA + 2 * MIB - PAGE)

#define SHARED_VA	(AREA + 64 * MIB)
#define USER_VA		(AREA + 96 * MIB)

static struct {
	struct space beside;	/* nobody changes it; all words are WORD in what it has at AREA */
	struct bo theirs;
	char their_tables[KERNEL_MEMORY_SIZE];
	char tables[KERNEL_MEMORY_SIZE];	/* of all, before the call */
	struct space space;
	struct bo bo;		/* all words are WORD; bound at AREA */
	struct bo shared;	/* of no address space, bound behind @bo, too */
	struct bo fresh;	/* not bound */
	uint64_t *memory;	/* of the process, two pages, which say FRESH */
	long va_nodes;
	int timeline;
	uint32_t in, out;
	int other;		/* a file that a call leaves things to, if it fails with its answer */
	uint32_t vm;		/* of that file */
	int err;		/* of the call */
} world;

static void before(void)
{
	struct drm_agate_vm_create arg = {};

	/* Those of before free their tables. */
	guest_wait_counter("jobs", 0);
	world.other = guest_open();
	assert_int_equal(guest_ioctl(world.other, DRM_IOCTL_AGATE_VM_CREATE, &arg), 0);
	world.vm = arg.vm_id;
	world.timeline = guest_timeline();
	world.in = guest_timeline_syncobj(world.space.fd, world.timeline);
	kernel_tables(world.tables);
}

/* Another driver has had it, for which it went to system memory: the next job brings it back. */
static void before_away(void)
{
	uint32_t handle;
	int dmabuf, vgem;

	before();
	vgem = stranger_open("vgem");
	dmabuf = dmabuf_export(&world.shared);
	assert_int_equal(dmabuf_try_import(vgem, dmabuf, &handle), 0);
	close(vgem);
	close(dmabuf);
	guest_job(&world.space.jobs, 0, AGATE_JOB_COMPUTE, 0, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = SHARED_VA, .size = 8, .value = WORD,
	}, sizeof(struct agate_compute_payload));
}

/* The memory has gone since the last job, and other memory has come: the next one looks for it. */
static void before_gone(void)
{
	before();
	user_map(&world.space, world.memory, USER_VA, 2 * PAGE);
	space_holds(&world.space, USER_VA, FRESH);
	assert_int_equal(madvise(world.memory, 2 * PAGE, MADV_DONTNEED), 0);
	guest_job(&world.space.jobs, 0, AGATE_JOB_COMPUTE, 0, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = USER_VA, .size = 2 * PAGE, .value = FRESH,
	}, sizeof(struct agate_compute_payload));
}

/* Nothing is left of the call but what it was to bind or to remove. */
static void after(void)
{
	guest_timeline_advance(world.timeline);
	/* What follows writes other jobs over the descriptor of one that still waits to run. */
	guest_wait_counter("jobs", 0);
	close(world.timeline);
	close(world.other);
	space_holds(&world.space, AREA, WORD);
	space_holds(&world.space, AREA + 4 * MIB - 8, WORD);
	space_holds(&world.space, SHARED_VA, WORD);
	guest_wait_counter("files", 1);
	guest_wait_counter("vms", 3);
	guest_wait_counter("bos", 8);
}

/* No byte of a table is another one than before the call. */
static void check_tables(void)
{
	static char now[KERNEL_MEMORY_SIZE];

	kernel_tables(now);
	assert_string_equal(now, world.tables);
}

/* The change waits for the timeline; if the call failed, there is none. */
static void after_change(uint64_t want)
{
	if (world.err)
		check_tables();
	else
		assert_true(kernel_tables_stay(world.tables));
	guest_timeline_advance(world.timeline);
	if (want)
		space_holds(&world.space, CUT, want);
	else
		space_is_hole(&world.space, CUT);
	if (world.err) {
		assert_int_equal(guest_counter("va_nodes"), world.va_nodes);
		check_tables();
	} else {
		space_map(&world.space, &world.bo, AREA);
	}
	assert_true(kernel_tables_stay(world.their_tables));
	space_holds(&world.beside, AREA, WORD);
	after();
}

static void after_map(void)
{
	after_change(world.err ? WORD : FRESH);
}

static void after_unmap(void)
{
	after_change(world.err ? WORD : 0);
}

static void after_gone(void)
{
	guest_timeline_advance(world.timeline);
	guest_wait_counter("jobs", 0);
	assert_int_equal(space_fill(&world.space, USER_VA, 2 * PAGE, FRESH), 1);
	assert_int_equal(world.memory[2 * PAGE / 8 - 1], FRESH);
	space_unmap(&world.space, USER_VA, 2 * PAGE);
	after();
}

static int call_vm_create(void)
{
	struct drm_agate_vm_create arg = {};

	return guest_ioctl(world.other, DRM_IOCTL_AGATE_VM_CREATE, &arg);
}

/* It allocates nothing: only the copy of its arguments fails. */
static int call_vm_destroy(void)
{
	return space_destroy(&(struct space){ .fd = world.other, .vm = world.vm });
}

static int call_map(void)
{
	struct drm_agate_vm_bind arg = space_part(&world.fresh, CUT, 2 * PAGE, 0, 0);

	world.err = space_bind(&world.space, arg, world.in, world.out);
	return world.err;
}

static int call_map_memory(void)
{
	struct drm_agate_vm_bind arg = user_part(world.memory, CUT, 2 * PAGE, 0);

	world.err = space_bind(&world.space, arg, world.in, world.out);
	return world.err;
}

static int call_unmap(void)
{
	world.err = space_bind(&world.space, space_gap(CUT, 2 * PAGE), world.in, world.out);
	return world.err;
}

static int call_submit(void)
{
	struct drm_agate_sync in = { .handle = world.in }, out = { .handle = world.out };
	struct drm_agate_submit arg = {
		.jc = world.space.jobs.va, .vm_id = world.space.vm,
		.in_syncs = (uintptr_t)&in, .in_sync_count = 1,
		.out_syncs = (uintptr_t)&out, .out_sync_count = 1,
	};

	return guest_ioctl(world.space.fd, DRM_IOCTL_AGATE_SUBMIT, &arg);
}

static int call_submit_gone(void)
{
	return call_submit();
}

static int call_create_bo(void)
{
	struct bo bo;

	return space_create(world.other, world.vm, 4 * PAGE, AGATE_BO_POPULATE, VRAM, &bo);
}

#define TEST(name, needs, checks)						\
	static void fail_##name(void **state)					\
	{									\
		const struct fail_nth_call it = { #name, needs, call_##name, checks }; \
										\
		(void)state;							\
		fail_nth_each(&it);						\
	}

TEST(vm_create, before, after)
TEST(vm_destroy, before, after)
TEST(map, before, after_map)
TEST(unmap, before, after_unmap)
TEST(submit, before_away, after)
TEST(map_memory, before, after_map)
TEST(submit_gone, before_gone, after_gone)
TEST(create_bo, before, after)

static int setup(void **state)
{
	struct space *space = &world.space;

	(void)state;
	inject_load();
	world.beside = space_on(guest_open());
	world.theirs = space_bo(&world.beside, 4 * PAGE, VRAM);
	space_map(&world.beside, &world.theirs, AREA);
	assert_int_equal(space_fill(&world.beside, AREA, world.theirs.size, WORD), 1);
	kernel_tables(world.their_tables);
	*space = space_on(world.beside.fd);
	world.bo = space_bo(space, 4 * MIB, VRAM);
	space_map(space, &world.bo, AREA);
	world.fresh = space_bo(space, 4 * PAGE, VRAM);
	space_map(space, &world.fresh, SHARED_VA);
	assert_int_equal(space_create(space->fd, 0, 4 * PAGE, AGATE_BO_NO_VA, VRAM, &world.shared), 0);
	assert_int_equal(space_fill(space, AREA, world.bo.size, WORD), 1);
	assert_int_equal(space_fill(space, SHARED_VA, world.fresh.size, FRESH), 1);
	space_map(space, &world.shared, SHARED_VA);
	assert_int_equal(space_fill(space, SHARED_VA, world.shared.size, WORD), 1);
	world.memory = memory(2 * PAGE);
	for (unsigned int i = 0; i < 2 * PAGE / 8; i++)
		world.memory[i] = FRESH;
	world.out = guest_syncobj(space->fd);
	world.va_nodes = guest_counter("va_nodes");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	guest_destroy(&world.bo);
	guest_destroy(&world.fresh);
	guest_destroy(&world.shared);
	munmap(world.memory, 2 * PAGE);
	space_end(&world.space);
	guest_destroy(&world.theirs);
	space_close(&world.beside);
	guest_assert_nothing_left();
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fail_vm_create),
		cmocka_unit_test(fail_vm_destroy),
		cmocka_unit_test(fail_map),
		cmocka_unit_test(fail_unmap),
		cmocka_unit_test(fail_submit),
		cmocka_unit_test(fail_map_memory),
		cmocka_unit_test(fail_submit_gone),
		cmocka_unit_test(fail_create_bo),
	};

	if (argc > 1)
		fail_nth_take_turn(atoi(argv[1]));
	return cmocka_run_group_tests_name("failnth-vm", tests, setup, teardown);
}
