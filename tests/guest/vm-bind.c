// SPDX-License-Identifier: MIT
/*
 * Address spaces whose owner chooses the ranges: what is bound where, in which order changes
 * take effect, and what happens to BOs that leave VRAM meanwhile.
 */
#include "dmabuf.h"
#include "vm_client.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- What is where ----------------------------------------------------------------- */

static void two_addresses(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = space_bo(&space, 4 * MIB, VRAM);
	struct drm_agate_get_bo_offset offset = { .handle = bo.handle };

	(void)state;
	space_is_hole(&space, AREA);
	space_map(&space, &bo, AREA);
	space_holds(&space, AREA, 0);
	space_map_part(&space, &bo, AREA + 16 * MIB, 2 * MIB, 2 * MIB);
	assert_int_equal(space_fill(&space, AREA + 16 * MIB, 2 * MIB, 0x1234), 1);
	space_holds(&space, AREA + 2 * MIB, 0x1234);
	space_holds(&space, AREA + 2 * MIB - 8, 0);
	space_unmap(&space, AREA + 16 * MIB, 2 * MIB);
	space_is_hole(&space, AREA + 16 * MIB);
	space_holds(&space, AREA + 4 * MIB - 8, 0x1234);
	/* It has no address of the file's own. */
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_GET_BO_OFFSET, &offset), EINVAL);
	guest_destroy(&bo);
	/* The binding keeps it. */
	space_holds(&space, AREA + 4 * MIB - 8, 0x1234);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* A change of the middle leaves both sides, in blocks that the page table has to split. */
static void middle_goes(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = space_bo(&space, 8 * MIB, VRAM), other = space_bo(&space, BLOCK, SYSTEM);
	const uint64_t middle = AREA + 2 * MIB + 5 * BLOCK;

	(void)state;
	space_map(&space, &bo, AREA);
	for (uint64_t at = 0; at < 8 * MIB; at += BLOCK)
		assert_int_equal(space_fill(&space, AREA + at, 8, at), 1);
	space_unmap(&space, middle, 3 * BLOCK);
	space_is_hole(&space, middle);
	space_is_hole(&space, middle + 3 * BLOCK - 8);
	space_map(&space, &other, middle + BLOCK);
	assert_int_equal(space_fill(&space, middle + BLOCK, BLOCK, 0xfeed), 1);
	space_is_hole(&space, middle + 2 * BLOCK);
	for (uint64_t at = 0; at < 8 * MIB; at += BLOCK) {
		if (AREA + at < middle || AREA + at >= middle + 3 * BLOCK)
			space_holds(&space, AREA + at, at);
	}
	/* One call replaces the end of one, all of another, and the beginning of a third. */
	space_map_part(&space, &bo, middle - BLOCK, 5 * BLOCK, 0);
	for (uint64_t at = 0; at < 5 * BLOCK; at += BLOCK)
		space_holds(&space, middle - BLOCK + at, at);
	space_holds(&space, middle - 2 * BLOCK, middle - 2 * BLOCK - AREA);
	space_holds(&space, middle + 4 * BLOCK, middle + 4 * BLOCK - AREA);
	space_unmap(&space, AREA - MIB, 16 * MIB);
	space_is_hole(&space, AREA);
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
		space_unmap(space, AREA + first * BLOCK, count * BLOCK);
	else
		space_map_part(space, bo, AREA + first * BLOCK, count * BLOCK, from * BLOCK);
	for (unsigned int i = 0; i < count; i++)
		model[first + i] = goes ? -1 : (int)(from + i);
}

static void random_changes(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = space_bo(&space, SLOTS * BLOCK, VRAM);
	int model[SLOTS];

	(void)state;
	srand(11);
	space_map(&space, &bo, AREA + 64 * MIB);
	for (unsigned int i = 0; i < SLOTS; i++) {
		assert_int_equal(space_fill(&space, AREA + 64 * MIB + i * BLOCK, 8, i), 1);
		model[i] = -1;
	}
	for (unsigned int round = 0; round < 12; round++) {
		for (unsigned int i = 0; i < 10; i++)
			change_at_random(&space, &bo, model);
		for (unsigned int i = 0; i < SLOTS; i++) {
			if (model[i] < 0)
				space_is_hole(&space, AREA + i * BLOCK);
			else
				space_holds(&space, AREA + i * BLOCK, model[i]);
		}
	}
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* ---- Order ------------------------------------------------------------------------- */

/* A change waits for its in-sync, and a later job for the change. */
static void behind_a_fence(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = space_bo(&space, BLOCK, VRAM);
	int timeline = guest_timeline(), err;
	uint32_t in = guest_timeline_syncobj(space.fd, timeline), out = guest_syncobj(space.fd);
	uint32_t job;

	(void)state;
	assert_int_equal(space_bind(&space, space_part(&bo, AREA, BLOCK, 0, 0), in, out), 0);
	job = space_submit(&space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = BLOCK, .value = 7,
	}, 0, &err);
	assert_int_equal(err, 0);
	usleep(20000);
	assert_false(space_signalled(space.fd, out));
	assert_false(space_signalled(space.fd, job));
	guest_timeline_advance(timeline);
	assert_int_equal(guest_fence_end(guest_sync_file(space.fd, job)), 1);
	assert_true(space_signalled(space.fd, out));
	space_holds(&space, AREA, 7);
	close(timeline);
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* As many changes elsewhere as there were here: all that wait for nothing have been made then. */
static void let_changes_pass(struct space *beside, const struct bo *bo, unsigned int changes)
{
	uint32_t out = guest_syncobj(beside->fd);

	for (unsigned int i = 0; i <= changes; i++)
		assert_int_equal(space_bind(beside, space_part(bo, AREA, BLOCK, 0, 0), 0, out), 0);
	assert_int_equal(guest_fence_end(guest_sync_file(beside->fd, out)), 1);
}

/* What goes stays for the jobs before. */
static void behind_a_job(void **state)
{
	struct space space = space_on(guest_open()), beside = space_on(space.fd);
	struct bo bo = space_bo(&space, BLOCK, VRAM), other = space_bo(&space, BLOCK, VRAM);
	struct bo theirs = space_bo(&beside, BLOCK, VRAM);
	int timeline = guest_timeline(), err;
	uint32_t in = guest_timeline_syncobj(space.fd, timeline), job;

	(void)state;
	space_map(&space, &bo, AREA);
	space_map(&space, &bo, AREA + MIB);
	space_map(&space, &other, AREA + 4 * MIB);
	space_holds(&space, AREA + 4 * MIB, 0);
	job = space_submit(&space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = BLOCK, .value = 9,
	}, in, &err);
	assert_int_equal(err, 0);
	space_map(&space, &other, AREA);
	space_unmap(&space, AREA + MIB, BLOCK);
	space_map(&space, &bo, AREA + 2 * MIB);
	let_changes_pass(&beside, &theirs, 3);
	guest_timeline_advance(timeline);
	assert_int_equal(guest_fence_end(guest_sync_file(space.fd, job)), 1);
	space_holds(&space, AREA, 0);
	space_is_hole(&space, AREA + MIB);
	space_holds(&space, AREA + 2 * MIB, 9);
	close(timeline);
	guest_destroy(&bo);
	guest_destroy(&other);
	guest_destroy(&theirs);
	space_end(&beside);
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
			bos[s][i] = space_bo(&spaces[s], size, VRAM);
			space_map(&spaces[s], &bos[s][i], AREA + i * size);
		}
		for (unsigned int i = 0; i < COUNT; i++)
			assert_int_equal(space_fill(&spaces[s], AREA + i * size, size,
						    100 * s + i), 1);
	}
	for (unsigned int turn = 0; turn < 6; turn++) {
		struct space *space = &spaces[turn % SPACES];

		for (unsigned int i = 0; i < COUNT; i++) {
			space_holds(space, AREA + i * size, 100 * (turn % SPACES) + i);
			space_holds(space, AREA + (i + 1) * size - 8, 100 * (turn % SPACES) + i);
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

/*
 * A binding was cut at either end and in the middle: the rest of it comes back, to another place,
 * because something was beside it the first time.
 */
static void parts_come_back(void **state)
{
	int fd = guest_open();
	struct space space = space_on(fd), other = space_on(fd);
	struct bo beside = space_bo(&other, 4 * MIB, VRAM);
	struct bo bo = space_bo(&space, 40 * MIB, VRAM), instead = space_bo(&other, 40 * MIB, VRAM);
	const uint64_t gap = AREA + 20 * MIB + BLOCK, end = AREA + bo.size - BLOCK;

	(void)state;
	space_map(&other, &beside, AREA);
	space_holds(&other, AREA, 0);
	space_map(&space, &bo, AREA + 64 * MIB);
	for (uint64_t at = 0; at < bo.size; at += 4 * MIB)
		assert_int_equal(space_fill(&space, AREA + 64 * MIB + at, 4 * MIB, 1 + at), 1);
	space_unmap(&other, AREA, beside.size);
	guest_destroy(&beside);
	assert_int_equal(space_bind(&space, space_part(&bo, AREA, bo.size, 0,
						       AGATE_VM_BIND_READONLY), 0, 0), 0);
	space_unmap(&space, AREA + 64 * MIB, bo.size);
	space_unmap(&space, AREA, BLOCK);
	space_unmap(&space, end, BLOCK);
	space_unmap(&space, gap, MIB);
	for (unsigned int turn = 0; turn < 2; turn++) {
		const long moved = guest_gpu_counter("mover_bytes");

		space_map(&other, &instead, AREA);
		space_holds(&other, AREA, 0);
		space_holds(&space, AREA + BLOCK, 1);
		space_holds(&space, gap - 8, 1 + 20 * MIB);
		space_holds(&space, gap + MIB, 1 + 20 * MIB);
		space_holds(&space, end - 8, 1 + 36 * MIB);
		space_is_hole(&space, AREA);
		space_is_hole(&space, end);
		space_is_hole(&space, gap);
		space_is_hole(&space, gap + MIB - 8);
		/* Each has left VRAM for the other. */
		assert_true(guest_gpu_counter("mover_bytes") - moved >= (long)(80 * MIB));
		assert_int_equal(space_fill(&space, gap - BLOCK, 8, 0), -EINVAL);
		assert_int_equal(space_fill(&space, gap + MIB, 8, 0), -EINVAL);
	}
	guest_destroy(&bo);
	guest_destroy(&instead);
	space_end(&space);
	space_end(&other);
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
		bos[i] = space_bo(&space, 8 * MIB, VRAM);
		err = space_bind(&space, space_part(&bos[i], AREA + i * 8 * MIB, 8 * MIB, 0, 0),
				 0, 0);
		if (i < 7)
			assert_int_equal(err, 0);
	}
	assert_int_equal(err, ENOSPC);
	space_holds(&space, AREA, 0);
	for (unsigned int i = 0; i < 9; i++)
		guest_destroy(&bos[i]);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* A BO of no address space makes others leave when it is bound; all are back when a job begins. */
static void too_much_for_a_job(void **state)
{
	struct space space = space_on(guest_open());
	const uint64_t beside = AREA + 64 * MIB;
	struct bo bos[2];
	int err;

	(void)state;
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(space_create(space.fd, 0, 40 * MIB, AGATE_BO_NO_VA, VRAM, &bos[i]),
				 0);
	space_map(&space, &bos[0], AREA);
	assert_int_equal(space_fill(&space, AREA, 40 * MIB, 1), 1);
	for (unsigned int round = 0; round < 2; round++) {
		space_map(&space, &bos[1], beside);
		space_submit(&space, &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = 8, .value = 2,
		}, 0, &err);
		assert_int_equal(err, ENOSPC);
		space_unmap(&space, beside, 40 * MIB);
		space_holds(&space, AREA, 1);
	}
	for (unsigned int i = 0; i < 2; i++)
		guest_destroy(&bos[i]);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* ---- The end ----------------------------------------------------------------------- */

/* A file is closed with changes and jobs that still wait. */
static void closed_early(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = space_bo(&space, MIB, VRAM);
	int timeline = guest_timeline(), err;
	uint32_t in = guest_timeline_syncobj(space.fd, timeline);

	(void)state;
	space_map(&space, &bo, AREA);
	space_submit(&space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = MIB, .value = 9,
	}, in, &err);
	assert_int_equal(err, 0);
	space_unmap(&space, AREA, MIB / 2);
	space_let_go(&space);
	assert_int_equal(space_destroy(&space), 0);
	guest_timeline_advance(timeline);
	close(timeline);
	close(space.fd);
	guest_assert_nothing_left();
}

static void refuses(void **state)
{
	struct space space = space_on(guest_open()), other = space_on(space.fd);
	struct bo bo = space_bo(&space, MIB, VRAM), shmem = guest_bo(space.fd, MIB, 0);
	struct drm_agate_vm_create made = { .flags = ~AGATE_VM_LONG_RUNNING };
	struct drm_agate_vm_bind arg;
	uint32_t unsignalled = guest_syncobj(space.fd);
	int err;

	(void)state;
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_VM_CREATE, &made), EINVAL);
#define REFUSED(error, change) do {							\
		arg = space_part(&bo, AREA, MIB, 0, 0);					\
		change;									\
		assert_int_equal(space_bind(&space, arg, 0, 0), error);			\
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
	arg = space_part(&bo, AREA, MIB, 0, 0);
	assert_int_equal(space_bind(&other, arg, 0, 0), EPERM);
	assert_int_equal(space_bind(&space, arg, unsignalled, 0), EINVAL);
	assert_int_equal(space_bind(&space, arg, 12345, 0), ENOENT);
	assert_int_equal(space_bind(&space, arg, 0, 12345), ENOENT);
	space_is_hole(&space, AREA);
	assert_int_equal(space_create(space.fd, 12345, PAGE, 0, VRAM, &bo), ENOENT);
	assert_int_equal(space_create(space.fd, space.vm, PAGE, 0, 0, &bo), EINVAL);
	assert_int_equal(space_create(space.fd, 0, PAGE, AGATE_BO_NO_VA, 0, &bo), EINVAL);
	other.vm = 12345;
	space_submit(&other, &(struct agate_compute_payload){}, 0, &err);
	assert_int_equal(err, ENOENT);
	space_let_go(&space);
	space_let_go(&other);
	guest_destroy(&shmem);
	close(space.fd);
	guest_assert_nothing_left();
}

/* VM_BIND with arrays as they are in @arg. */
static int bind_as_is(const struct space *space, struct drm_agate_vm_bind arg)
{
	arg.vm_id = arg.vm_id ? arg.vm_id : space->vm;
	return guest_ioctl(space->fd, DRM_IOCTL_AGATE_VM_BIND, &arg);
}

static void refuses_fields(void **state)
{
	struct space space = space_on(guest_open());
	struct drm_agate_sync sync = { .handle = guest_syncobj(space.fd) };
	struct bo bo = space_bo(&space, MIB, VRAM);
	const struct drm_agate_vm_bind good = space_part(&bo, AREA, MIB, 0, 0);
	struct drm_agate_vm_bind arg;

	(void)state;
	/* One field of a good call is wrong. */
#define REFUSED(error, call, change) do {						\
		arg = call;								\
		change;									\
		assert_int_equal(bind_as_is(&space, arg), error);			\
	} while (0)
	REFUSED(EINVAL, space_gap(AREA, MIB), arg.flags = AGATE_VM_BIND_READONLY);
	REFUSED(EINVAL, space_gap(AREA, MIB), arg.handle = bo.handle);
	REFUSED(EINVAL, space_gap(AREA, MIB), arg.offset = BLOCK);
	REFUSED(EINVAL, space_gap(AREA, MIB), arg.range = 1ull << 32);
	REFUSED(EINVAL, space_gap(AREA, MIB), arg.op = UINT32_MAX);
	REFUSED(EINVAL, good, arg.flags = UINT32_MAX);
	REFUSED(EINVAL, good, arg.range += 1ull << 32);
	REFUSED(EINVAL, good, arg.offset = -BLOCK);
	REFUSED(EINVAL, good, arg.offset = 1ull << 32);
	REFUSED(ENOENT, good, arg.handle = 0);
	REFUSED(ENOENT, good, arg.vm_id = 12345);
	REFUSED(ENOENT, good, arg.vm_id = UINT32_MAX);
	REFUSED(EINVAL, good, arg.in_sync_count = AGATE_SUBMIT_MAX_SYNCS + 1);
	REFUSED(EINVAL, good, arg.out_sync_count = UINT32_MAX);
	REFUSED(EFAULT, good, arg.in_sync_count = 1);
	REFUSED(EFAULT, good, arg.out_sync_count = 1; arg.out_syncs = UINT64_MAX);
	sync.pad = 1;
	REFUSED(EINVAL, good, arg.in_sync_count = 1; arg.in_syncs = (uintptr_t)&sync);
	REFUSED(EINVAL, good, arg.out_sync_count = 1; arg.out_syncs = (uintptr_t)&sync);
#undef REFUSED
	space_is_hole(&space, AREA);
	/* Nobody looks at the pointer of an array without entries. */
	arg = good;
	arg.in_syncs = UINT64_MAX;
	assert_int_equal(bind_as_is(&space, arg), 0);
	space_holds(&space, AREA, 0);
	space_end(&space);
	assert_int_equal(bind_as_is(&space, good), ENOENT);
	guest_destroy(&bo);
	close(space.fd);
	guest_assert_nothing_left();
}

static void bad_argument_pointers(void **state)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_AGATE_VM_CREATE, DRM_IOCTL_AGATE_VM_DESTROY, DRM_IOCTL_AGATE_VM_BIND,
		DRM_IOCTL_AGATE_QUERY_REGIONS, DRM_IOCTL_AGATE_FLIP,
	};

	(void)state;
	guest_refuses_bad_pointers(requests, sizeof(requests) / sizeof(requests[0]));
	guest_assert_nothing_left();
}

/* The fields of other calls that name an address space. */
static void refuses_names(void **state)
{
	struct space space = space_on(guest_open());
	struct drm_agate_vm_destroy end = { .vm_id = space.vm, .pad = 1 };
	struct drm_agate_create_bo create = {
		.size = PAGE, .placement = SYSTEM, .vm_id = space.vm, .pad = 1,
	};
	struct drm_agate_submit submit = { .jc = JOBS_VA, .vm_id = space.vm };
	struct bo bo = space_bo(&space, PAGE, SYSTEM);
	struct drm_agate_vm_create begin = { 0 };
	int other = guest_open(), dmabuf;

	(void)state;
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_VM_DESTROY, &end), EINVAL);
	end.pad = 0;
	assert_int_equal(guest_ioctl(other, DRM_IOCTL_AGATE_VM_DESTROY, &end), ENOENT);
	end.vm_id = 0;
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_VM_DESTROY, &end), ENOENT);
	/* Even after that nobody gets the name that is none. */
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_VM_CREATE, &begin), 0);
	assert_int_not_equal(begin.vm_id, 0);
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_CREATE_BO, &create), EINVAL);
	create.pad = 0;
	assert_int_equal(guest_ioctl(other, DRM_IOCTL_AGATE_CREATE_BO, &create), ENOENT);
	assert_int_equal(dmabuf_try_export(space.fd, bo.handle, DRM_RDWR, &dmabuf), EPERM);
	assert_int_equal(guest_ioctl(other, DRM_IOCTL_AGATE_SUBMIT, &submit), ENOENT);
	submit.flags = 1;
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_SUBMIT, &submit), EINVAL);
	submit.flags = 0;
	submit.bo_handle_count = 1;
	submit.bo_handles = (uintptr_t)&bo.handle;
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_SUBMIT, &submit), EINVAL);
	guest_destroy(&bo);
	space_end(&space);
	close(other);
	close(space.fd);
	guest_assert_nothing_left();
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(two_addresses, guest_teardown),
		cmocka_unit_test_teardown(middle_goes, guest_teardown),
		cmocka_unit_test_teardown(random_changes, guest_teardown),
		cmocka_unit_test_teardown(behind_a_fence, guest_teardown),
		cmocka_unit_test_teardown(behind_a_job, guest_teardown),
		cmocka_unit_test_teardown(come_back, guest_teardown),
		cmocka_unit_test_teardown(parts_come_back, guest_teardown),
		cmocka_unit_test_teardown(too_much, guest_teardown),
		cmocka_unit_test_teardown(too_much_for_a_job, guest_teardown),
		cmocka_unit_test_teardown(closed_early, guest_teardown),
		cmocka_unit_test_teardown(refuses, guest_teardown),
		cmocka_unit_test_teardown(refuses_fields, guest_teardown),
		cmocka_unit_test_teardown(refuses_names, guest_teardown),
		cmocka_unit_test_teardown(bad_argument_pointers, guest_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("vm-bind", tests, NULL, NULL);
}
