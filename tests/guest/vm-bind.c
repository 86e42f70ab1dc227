// SPDX-License-Identifier: MIT
/*
 * Address spaces whose owner chooses the ranges: what is bound where, in which order changes
 * take effect, and what happens to BOs that leave VRAM meanwhile.
 */
#include "guest.h"

#include <stdlib.h>
#include <unistd.h>

#define MIB		(1ull << 20)
#define BLOCK		(64 * 1024ull)	/* every card's memory can be divided so */
#define VRAM_SIZE	(64 * MIB)	/* as run.sh makes the card */
#define SYSTEM		(1u << DRM_AGATE_REGION_SYSTEM)
#define VRAM		(1u << DRM_AGATE_REGION_VRAM)

#define JOBS_VA		0x10000000ull
#define SEEN_VA		0x20000000ull
#define AREA		0x40000000ull	/* for what a test binds */

/* One address space; its jobs, and what they bring back, are private BOs in system memory. */
struct space {
	int fd;
	uint32_t vm;
	struct bo jobs;
	struct bo seen;
};

static int bind_syncs(const struct space *space, struct drm_agate_vm_bind arg, uint32_t in,
		      uint32_t out)
{
	struct drm_agate_sync in_sync = { .handle = in }, out_sync = { .handle = out };

	arg.vm_id = space->vm;
	arg.in_syncs = (uintptr_t)&in_sync;
	arg.in_sync_count = in != 0;
	arg.out_syncs = (uintptr_t)&out_sync;
	arg.out_sync_count = out != 0;
	return guest_ioctl(space->fd, DRM_IOCTL_AGATE_VM_BIND, &arg);
}

static struct drm_agate_vm_bind part(const struct bo *bo, uint64_t addr, uint64_t range,
				     uint64_t offset, uint32_t flags)
{
	return (struct drm_agate_vm_bind){
		.op = AGATE_VM_BIND_MAP, .handle = bo->handle, .addr = addr, .range = range,
		.offset = offset, .flags = flags,
	};
}

static void map(const struct space *space, const struct bo *bo, uint64_t addr)
{
	assert_int_equal(bind_syncs(space, part(bo, addr, bo->size, 0, 0), 0, 0), 0);
}

static struct drm_agate_vm_bind hole(uint64_t addr, uint64_t range)
{
	return (struct drm_agate_vm_bind){
		.op = AGATE_VM_BIND_UNMAP, .addr = addr, .range = range,
	};
}

static void unmap(const struct space *space, uint64_t addr, uint64_t range)
{
	assert_int_equal(bind_syncs(space, hole(addr, range), 0, 0), 0);
}

static int create(int fd, uint32_t vm, uint64_t size, uint32_t flags, uint32_t placement,
		  struct bo *bo)
{
	struct drm_agate_create_bo arg = {
		.size = size, .flags = flags, .placement = placement, .vm_id = vm,
		.caching = placement & VRAM ? AGATE_CACHING_WC : AGATE_CACHING_WB,
	};

	return guest_create_with(fd, &arg, bo);
}

static struct bo bo_of(const struct space *space, uint64_t size, uint32_t placement)
{
	struct bo bo;

	assert_int_equal(create(space->fd, space->vm, size, 0, placement, &bo), 0);
	assert_int_equal(bo.va, 0);
	return bo;
}

static struct bo mapped(const struct space *space, uint64_t size, uint64_t va)
{
	struct bo bo = bo_of(space, size, SYSTEM);

	guest_map(&bo);
	map(space, &bo, va);
	bo.va = va;
	return bo;
}

static struct space space_on(int fd)
{
	struct drm_agate_vm_create arg = {};
	struct space space = { .fd = fd };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_VM_CREATE, &arg), 0);
	assert_int_not_equal(arg.vm_id, 0);
	assert_true(arg.va_start <= JOBS_VA && arg.va_end > AREA);
	space.vm = arg.vm_id;
	space.jobs = mapped(&space, BLOCK, JOBS_VA);
	space.seen = mapped(&space, BLOCK, SEEN_VA);
	return space;
}

static int destroy(const struct space *space)
{
	struct drm_agate_vm_destroy arg = { .vm_id = space->vm };

	return guest_ioctl(space->fd, DRM_IOCTL_AGATE_VM_DESTROY, &arg);
}

/* A mapping keeps the file open. */
static void let_go(struct space *space)
{
	guest_destroy(&space->jobs);
	guest_destroy(&space->seen);
}

static void space_end(struct space *space)
{
	let_go(space);
	assert_int_equal(destroy(space), 0);
	assert_int_equal(destroy(space), ENOENT);
}

/* Submit one job: its sync object; the errno of SUBMIT in @err. */
static uint32_t submit(struct space *space, const struct agate_compute_payload *payload,
		       uint32_t in, int *err)
{
	struct drm_agate_sync in_sync = { .handle = in };
	struct drm_agate_sync out_sync = { .handle = guest_syncobj(space->fd) };
	struct drm_agate_submit arg = {
		.jc = space->jobs.va, .vm_id = space->vm,
		.in_syncs = (uintptr_t)&in_sync, .in_sync_count = in != 0,
		.out_syncs = (uintptr_t)&out_sync, .out_sync_count = 1,
	};

	guest_job(&space->jobs, 0, AGATE_JOB_COMPUTE, 0, payload, sizeof(*payload));
	*err = guest_ioctl(space->fd, DRM_IOCTL_AGATE_SUBMIT, &arg);
	return out_sync.handle;
}

/* Run one job to its end: 1, or its fence's error. */
static int run(struct space *space, const struct agate_compute_payload *payload)
{
	int err;
	uint32_t sync = submit(space, payload, 0, &err);

	assert_int_equal(err, 0);
	return guest_fence_end(guest_sync_file(space->fd, sync));
}

static int fill(struct space *space, uint64_t addr, uint64_t size, uint64_t value)
{
	return run(space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = addr, .size = size, .value = value,
	});
}

/* What the GPU reads at an address: 1 and the value, or the fence's error. */
static int look(struct space *space, uint64_t addr, uint64_t *value)
{
	int ret = run(space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = SEEN_VA, .src = addr, .size = 8,
	});

	*value = *(volatile uint64_t *)space->seen.cpu;
	return ret;
}

static void holds(struct space *space, uint64_t addr, uint64_t want)
{
	uint64_t value;

	assert_int_equal(look(space, addr, &value), 1);
	assert_int_equal(value, want);
}

static void is_hole(struct space *space, uint64_t addr)
{
	uint64_t value;

	assert_int_equal(look(space, addr, &value), -EINVAL);
}

/* ---- What is where ----------------------------------------------------------------- */

static void two_addresses(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = bo_of(&space, 4 * MIB, VRAM);
	struct drm_agate_get_bo_offset offset = { .handle = bo.handle };

	(void)state;
	is_hole(&space, AREA);
	map(&space, &bo, AREA);
	holds(&space, AREA, 0);
	assert_int_equal(bind_syncs(&space, part(&bo, AREA + 16 * MIB, 2 * MIB, 2 * MIB, 0), 0, 0),
			 0);
	assert_int_equal(fill(&space, AREA + 16 * MIB, 2 * MIB, 0x1234), 1);
	holds(&space, AREA + 2 * MIB, 0x1234);
	holds(&space, AREA + 2 * MIB - 8, 0);
	unmap(&space, AREA + 16 * MIB, 2 * MIB);
	is_hole(&space, AREA + 16 * MIB);
	holds(&space, AREA + 4 * MIB - 8, 0x1234);
	/* It has no address of the file's own. */
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_GET_BO_OFFSET, &offset), EINVAL);
	guest_destroy(&bo);
	/* The binding keeps it. */
	holds(&space, AREA + 4 * MIB - 8, 0x1234);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* A change of the middle leaves both sides, in blocks that the page table has to split. */
static void middle_goes(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = bo_of(&space, 8 * MIB, VRAM), other = bo_of(&space, BLOCK, SYSTEM);
	const uint64_t middle = AREA + 2 * MIB + 5 * BLOCK;

	(void)state;
	map(&space, &bo, AREA);
	for (uint64_t at = 0; at < 8 * MIB; at += BLOCK)
		assert_int_equal(fill(&space, AREA + at, 8, at), 1);
	unmap(&space, middle, 3 * BLOCK);
	is_hole(&space, middle);
	is_hole(&space, middle + 3 * BLOCK - 8);
	map(&space, &other, middle + BLOCK);
	assert_int_equal(fill(&space, middle + BLOCK, BLOCK, 0xfeed), 1);
	is_hole(&space, middle + 2 * BLOCK);
	for (uint64_t at = 0; at < 8 * MIB; at += BLOCK) {
		if (AREA + at < middle || AREA + at >= middle + 3 * BLOCK)
			holds(&space, AREA + at, at);
	}
	/* One call replaces the end of one, all of another, and the beginning of a third. */
	assert_int_equal(bind_syncs(&space, part(&bo, middle - BLOCK, 5 * BLOCK, 0, 0), 0, 0), 0);
	for (uint64_t at = 0; at < 5 * BLOCK; at += BLOCK)
		holds(&space, middle - BLOCK + at, at);
	holds(&space, middle - 2 * BLOCK, middle - 2 * BLOCK - AREA);
	holds(&space, middle + 4 * BLOCK, middle + 4 * BLOCK - AREA);
	unmap(&space, AREA - MIB, 16 * MIB);
	is_hole(&space, AREA);
	guest_destroy(&bo);
	guest_destroy(&other);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* Random changes of a space of few slots, which a model remembers: -1 is a hole. */
#define SLOTS		48u

static void change_at_random(struct space *space, const struct bo *bo, int *model)
{
	unsigned int first = rand() % SLOTS, count = 1 + rand() % (SLOTS - first);
	unsigned int from = rand() % (SLOTS - count + 1);
	bool goes = rand() % 3 == 0;

	if (goes)
		unmap(space, AREA + first * BLOCK, count * BLOCK);
	else
		assert_int_equal(bind_syncs(space, part(bo, AREA + first * BLOCK, count * BLOCK,
							from * BLOCK, 0), 0, 0), 0);
	for (unsigned int i = 0; i < count; i++)
		model[first + i] = goes ? -1 : (int)(from + i);
}

static void random_changes(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = bo_of(&space, SLOTS * BLOCK, VRAM);
	int model[SLOTS];

	(void)state;
	srand(11);
	map(&space, &bo, AREA + 64 * MIB);
	for (unsigned int i = 0; i < SLOTS; i++) {
		assert_int_equal(fill(&space, AREA + 64 * MIB + i * BLOCK, 8, i), 1);
		model[i] = -1;
	}
	for (unsigned int round = 0; round < 12; round++) {
		for (unsigned int i = 0; i < 10; i++)
			change_at_random(&space, &bo, model);
		for (unsigned int i = 0; i < SLOTS; i++) {
			if (model[i] < 0)
				is_hole(&space, AREA + i * BLOCK);
			else
				holds(&space, AREA + i * BLOCK, model[i]);
		}
	}
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* ---- Order ------------------------------------------------------------------------- */

/* Has the fence of a sync object signalled? */
static bool signalled(int fd, uint32_t sync)
{
	struct drm_syncobj_wait arg = {
		.handles = (uintptr_t)&sync, .count_handles = 1, .timeout_nsec = 0,
	};

	return !guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &arg);
}

/* A change waits for its in-sync, and a later job for the change. */
static void behind_a_fence(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = bo_of(&space, BLOCK, VRAM);
	int timeline = guest_timeline(), err;
	uint32_t in = guest_timeline_syncobj(space.fd, timeline), out = guest_syncobj(space.fd);
	uint32_t job;

	(void)state;
	assert_int_equal(bind_syncs(&space, part(&bo, AREA, BLOCK, 0, 0), in, out), 0);
	job = submit(&space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = BLOCK, .value = 7,
	}, 0, &err);
	assert_int_equal(err, 0);
	usleep(20000);
	assert_false(signalled(space.fd, out));
	assert_false(signalled(space.fd, job));
	guest_timeline_advance(timeline);
	assert_int_equal(guest_fence_end(guest_sync_file(space.fd, job)), 1);
	assert_true(signalled(space.fd, out));
	holds(&space, AREA, 7);
	close(timeline);
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* What goes stays for the jobs before. */
static void behind_a_job(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = bo_of(&space, BLOCK, VRAM), other = bo_of(&space, BLOCK, VRAM);
	int timeline = guest_timeline(), err;
	uint32_t in = guest_timeline_syncobj(space.fd, timeline), job;

	(void)state;
	map(&space, &bo, AREA);
	map(&space, &bo, AREA + MIB);
	job = submit(&space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = BLOCK, .value = 9,
	}, in, &err);
	assert_int_equal(err, 0);
	map(&space, &other, AREA);
	unmap(&space, AREA + MIB, BLOCK);
	map(&space, &bo, AREA + 2 * MIB);
	guest_timeline_advance(timeline);
	assert_int_equal(guest_fence_end(guest_sync_file(space.fd, job)), 1);
	holds(&space, AREA, 0);
	is_hole(&space, AREA + MIB);
	holds(&space, AREA + 2 * MIB, 9);
	close(timeline);
	guest_destroy(&bo);
	guest_destroy(&other);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* ---- Memory ------------------------------------------------------------------------ */

/* Two address spaces take the VRAM from each other; what comes back is where it was bound. */
static void come_back(void **state)
{
	enum { SPACES = 2, COUNT = 5 };
	const uint64_t size = 8 * MIB;
	int fd = guest_open();
	struct space spaces[SPACES];
	struct bo bos[SPACES][COUNT];

	(void)state;
	for (unsigned int s = 0; s < SPACES; s++) {
		spaces[s] = space_on(fd);
		for (unsigned int i = 0; i < COUNT; i++) {
			bos[s][i] = bo_of(&spaces[s], size, VRAM);
			map(&spaces[s], &bos[s][i], AREA + i * size);
		}
		for (unsigned int i = 0; i < COUNT; i++)
			assert_int_equal(fill(&spaces[s], AREA + i * size, size, 100 * s + i), 1);
	}
	for (unsigned int turn = 0; turn < 6; turn++) {
		struct space *space = &spaces[turn % SPACES];

		for (unsigned int i = 0; i < COUNT; i++) {
			holds(space, AREA + i * size, 100 * (turn % SPACES) + i);
			holds(space, AREA + (i + 1) * size - 8, 100 * (turn % SPACES) + i);
		}
	}
	for (unsigned int s = 0; s < SPACES; s++) {
		for (unsigned int i = 0; i < COUNT; i++)
			guest_destroy(&bos[s][i]);
		space_end(&spaces[s]);
	}
	close(fd);
	guest_assert_nothing_left();
}

/* All that is bound has to be there at the same time. */
static void too_much(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bos[9];
	int err = 0;

	(void)state;
	for (unsigned int i = 0; i < 9; i++) {
		bos[i] = bo_of(&space, 8 * MIB, VRAM);
		err = bind_syncs(&space, part(&bos[i], AREA + i * 8 * MIB, 8 * MIB, 0, 0), 0, 0);
		if (i < 7)
			assert_int_equal(err, 0);
	}
	assert_int_equal(err, ENOSPC);
	holds(&space, AREA, 0);
	for (unsigned int i = 0; i < 9; i++)
		guest_destroy(&bos[i]);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* One BO in two address spaces, of which one may only read it; jobs take turns by themselves. */
static void external(void **state)
{
	int fd = guest_open();
	struct space writer = space_on(fd), reader = space_on(fd);
	struct bo bo;

	(void)state;
	assert_int_equal(create(fd, 0, 2 * MIB, AGATE_BO_NO_VA, VRAM, &bo), 0);
	map(&writer, &bo, AREA);
	assert_int_equal(bind_syncs(&reader, part(&bo, AREA + MIB, 2 * MIB, 0,
						  AGATE_VM_BIND_READONLY), 0, 0), 0);
	for (uint64_t value = 1; value < 20; value++) {
		int err;

		submit(&writer, &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = 2 * MIB, .value = value,
		}, 0, &err);
		assert_int_equal(err, 0);
		holds(&reader, AREA + 3 * MIB - 8, value);
	}
	assert_int_equal(fill(&reader, AREA + MIB, 8, 1), -EINVAL);
	space_end(&writer);
	holds(&reader, AREA + MIB, 19);
	guest_destroy(&bo);
	holds(&reader, AREA + MIB, 19);
	space_end(&reader);
	close(fd);
	guest_assert_nothing_left();
}

/* ---- The end ----------------------------------------------------------------------- */

/* A file is closed with changes and jobs that still wait. */
static void closed_early(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = bo_of(&space, MIB, VRAM);
	int timeline = guest_timeline(), err;
	uint32_t in = guest_timeline_syncobj(space.fd, timeline);

	(void)state;
	map(&space, &bo, AREA);
	submit(&space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = MIB, .value = 9,
	}, in, &err);
	assert_int_equal(err, 0);
	unmap(&space, AREA, MIB / 2);
	let_go(&space);
	assert_int_equal(destroy(&space), 0);
	guest_timeline_advance(timeline);
	close(timeline);
	close(space.fd);
	guest_assert_nothing_left();
}

static void refuses(void **state)
{
	struct space space = space_on(guest_open()), other = space_on(space.fd);
	struct bo bo = bo_of(&space, MIB, VRAM), shmem = guest_bo(space.fd, MIB, 0);
	struct drm_agate_vm_create made = { .flags = 1 };
	struct drm_agate_vm_bind arg;
	uint32_t unsignalled = guest_syncobj(space.fd);
	int err;

	(void)state;
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_VM_CREATE, &made), EINVAL);
#define REFUSED(error, change) do {							\
		arg = part(&bo, AREA, MIB, 0, 0);					\
		change;									\
		assert_int_equal(bind_syncs(&space, arg, 0, 0), error);			\
	} while (0)
	REFUSED(EINVAL, arg.op = 2);
	REFUSED(EINVAL, arg.flags = 4);
	REFUSED(EINVAL, arg.range = 0);
	REFUSED(EINVAL, arg.addr += 8);
	REFUSED(EINVAL, arg.range -= 8);
	REFUSED(EINVAL, arg.offset = 8);
	REFUSED(EINVAL, arg.offset = BLOCK);
	REFUSED(EINVAL, arg.offset = MIB);
	REFUSED(EINVAL, arg.range = 2 * MIB);
	REFUSED(EINVAL, arg.range = -BLOCK);
	REFUSED(EINVAL, arg.addr = 0);
	REFUSED(EINVAL, arg.addr = (4ull << 30) - BLOCK);
	REFUSED(EINVAL, arg.addr = -BLOCK);
	REFUSED(EINVAL, arg.op = AGATE_VM_BIND_UNMAP);
	REFUSED(ENOENT, arg.handle = 12345);
	REFUSED(EINVAL, arg.handle = shmem.handle);
#undef REFUSED
	assert_int_equal(bind_syncs(&other, part(&bo, AREA, MIB, 0, 0), 0, 0), EPERM);
	assert_int_equal(bind_syncs(&space, part(&bo, AREA, MIB, 0, 0), unsignalled, 0), EINVAL);
	assert_int_equal(bind_syncs(&space, part(&bo, AREA, MIB, 0, 0), 12345, 0), ENOENT);
	assert_int_equal(bind_syncs(&space, part(&bo, AREA, MIB, 0, 0), 0, 12345), ENOENT);
	is_hole(&space, AREA);
	assert_int_equal(create(space.fd, 12345, PAGE, 0, VRAM, &bo), ENOENT);
	assert_int_equal(create(space.fd, space.vm, PAGE, 0, 0, &bo), EINVAL);
	assert_int_equal(create(space.fd, 0, PAGE, AGATE_BO_NO_VA, 0, &bo), EINVAL);
	other.vm = 12345;
	submit(&other, &(struct agate_compute_payload){}, 0, &err);
	assert_int_equal(err, ENOENT);
	let_go(&space);
	let_go(&other);
	guest_destroy(&shmem);
	close(space.fd);
	guest_assert_nothing_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(two_addresses, guest_teardown),
		cmocka_unit_test_teardown(middle_goes, guest_teardown),
		cmocka_unit_test_teardown(random_changes, guest_teardown),
		cmocka_unit_test_teardown(behind_a_fence, guest_teardown),
		cmocka_unit_test_teardown(behind_a_job, guest_teardown),
		cmocka_unit_test_teardown(come_back, guest_teardown),
		cmocka_unit_test_teardown(too_much, guest_teardown),
		cmocka_unit_test_teardown(external, guest_teardown),
		cmocka_unit_test_teardown(closed_early, guest_teardown),
		cmocka_unit_test_teardown(refuses, guest_teardown),
	};

	return cmocka_run_group_tests_name("vm-bind", tests, NULL, NULL);
}
