// SPDX-License-Identifier: MIT
/*
 * BOs that are bound in several address spaces, or belong to other drivers: their users wait for
 * each other by themselves.
 */
#include "dmabuf.h"
#include "graded.h"
#include "user_memory.h"
#include "vm_client.h"

#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* One BO in two address spaces, of which one may only read it; jobs take turns by themselves. */
static void external(void **state)
{
	int fd = guest_open();
	struct space writer = space_on(fd), reader = space_on(fd);
	struct bo bo;

	(void)state;
	assert_int_equal(space_create(fd, 0, 2 * MIB, AGATE_BO_NO_VA, VRAM, &bo), 0);
	space_map(&writer, &bo, AREA);
	assert_int_equal(space_bind(&reader, space_part(&bo, AREA + MIB, 2 * MIB, 0,
							AGATE_VM_BIND_READONLY), 0, 0), 0);
	for (uint64_t value = 1; value < 20; value++) {
		int err;

		space_submit(&writer, &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = 2 * MIB, .value = value,
		}, 0, &err);
		assert_int_equal(err, 0);
		space_holds(&reader, AREA + 3 * MIB - 8, value);
	}
	assert_int_equal(space_fill(&reader, AREA + MIB, 8, 1), -EINVAL);
	space_end(&writer);
	space_holds(&reader, AREA + MIB, 19);
	guest_destroy(&bo);
	space_holds(&reader, AREA + MIB, 19);
	space_end(&reader);
	close(fd);
	guest_assert_nothing_left();
}

/* A job of another file, which no queue of this one orders, waits for the writer. */
static void waits_for_writer(void **state)
{
	struct space writer = space_on(guest_open()), reader = space_on(guest_open());
	struct agate_compute_payload copy = {
		.op = AGATE_COMPUTE_COPY, .dst = SEEN_VA, .src = AREA, .size = 8,
	};
	int timeline = guest_timeline(), err, dmabuf;
	struct bo bo, same;
	uint32_t seen;

	(void)state;
	assert_int_equal(space_create(writer.fd, 0, BLOCK, AGATE_BO_NO_VA, VRAM, &bo), 0);
	dmabuf = dmabuf_export(&bo);
	same = (struct bo){ .fd = reader.fd, .size = BLOCK };
	assert_int_equal(dmabuf_try_import(reader.fd, dmabuf, &same.handle), 0);
	space_map(&writer, &bo, AREA);
	space_map(&reader, &same, AREA);
	space_submit(&writer, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = 8, .value = 5,
	}, guest_timeline_syncobj(writer.fd, timeline), &err);
	assert_int_equal(err, 0);
	seen = space_submit(&reader, &copy, 0, &err);
	assert_int_equal(err, 0);
	usleep(20000);
	assert_false(space_signalled(reader.fd, seen));
	guest_timeline_advance(timeline);
	assert_int_equal(guest_fence_end(guest_sync_file(reader.fd, seen)), 1);
	assert_int_equal(*(volatile uint64_t *)reader.seen.cpu, 5);
	close(timeline);
	close(dmabuf);
	guest_destroy(&bo);
	guest_destroy(&same);
	space_end(&writer);
	space_end(&reader);
	close(writer.fd);
	close(reader.fd);
	guest_assert_nothing_left();
}

/* Memory of another driver, with the fences that both sides put there. */
static void of_others(void **state)
{
	struct space space = space_on(guest_open());
	int vgem = stranger_open("vgem"), dmabuf, timeline = guest_timeline(), err;
	struct bo theirs = stranger_bo(vgem, 64, 256), bo;
	volatile uint64_t *words = theirs.cpu;
	struct pollfd writer = { .events = POLLIN };
	uint32_t job, fence;

	(void)state;
	words[0] = 0xabcd;
	dmabuf = dmabuf_export(&theirs);
	bo = dmabuf_import(space.fd, dmabuf);
	space_map_part(&space, &bo, AREA + MIB, PAGE, 0);
	space_map_part(&space, &bo, AREA, bo.size - PAGE, PAGE);
	guest_destroy(&bo);
	space_holds(&space, AREA + MIB, 0xabcd);
	job = space_submit(&space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = 8, .value = 0x77,
	}, guest_timeline_syncobj(space.fd, timeline), &err);
	assert_int_equal(err, 0);
	/* A reader of the dma-buf waits for the job that may write it. */
	writer.fd = dmabuf;
	assert_int_equal(poll(&writer, 1, 0), 0);
	guest_timeline_advance(timeline);
	assert_int_equal(poll(&writer, 1, 10000), 1);
	assert_true(space_signalled(space.fd, job));
	assert_int_equal(words[PAGE / 8], 0x77);
	/* And the other way round. */
	/* It writes. */
	fence = stranger_attach_fence(vgem, theirs.handle, 1);
	job = space_submit(&space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = 8, .value = 0x78,
	}, 0, &err);
	assert_int_equal(err, 0);
	usleep(20000);
	assert_false(space_signalled(space.fd, job));
	assert_int_equal(stranger_signal_fence(vgem, fence), 0);
	assert_int_equal(guest_fence_end(guest_sync_file(space.fd, job)), 1);
	assert_int_equal(words[PAGE / 8], 0x78);
	guest_destroy(&theirs);
	close(dmabuf);
	close(timeline);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
	close(vgem);
	stranger_unload("vgem");
}

/* A BO that is bound for reading alone has no writer. */
static void no_writer(void **state)
{
	struct space space = space_on(guest_open());
	int timeline = guest_timeline(), err;
	struct bo bo;

	(void)state;
	assert_int_equal(space_create(space.fd, 0, BLOCK, AGATE_BO_NO_VA, VRAM, &bo), 0);
	assert_int_equal(space_bind(&space, space_part(&bo, AREA, BLOCK, 0,
						       AGATE_VM_BIND_READONLY), 0, 0), 0);
	space_submit(&space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = SEEN_VA, .src = AREA, .size = 8,
	}, guest_timeline_syncobj(space.fd, timeline), &err);
	assert_int_equal(err, 0);
	assert_int_equal(guest_wait_writers(space.fd, bo.handle, guest_deadline(5000)), 0);
	assert_int_equal(guest_wait(space.fd, bo.handle, 0), EBUSY);
	guest_timeline_advance(timeline);
	assert_int_equal(guest_wait(space.fd, bo.handle, FOREVER), 0);
	close(timeline);
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* A call of SUBMIT in a thread of its own. */
struct submitter {
	struct space *space;
	struct bo *jobs;
	const struct bo *bo;
	pthread_t thread;
	bool ended;
	int err;
};

/* A job in the file's own address space, which lists a BO. */
static void *submit_listed(void *arg)
{
	struct submitter *s = arg;
	const struct agate_compute_payload payload = {
		.op = AGATE_COMPUTE_FILL, .dst = s->bo->va, .size = 8, .value = 1,
	};
	const uint32_t handles[] = { s->jobs->handle, s->bo->handle };

	guest_job(s->jobs, 0, AGATE_JOB_COMPUTE, 0, &payload, sizeof(payload));
	s->err = guest_submit(s->jobs->fd, s->jobs->va, 0, handles, 2, 0);
	return NULL;
}

/* One in an address space, which has all that is bound there. */
static void *submit_bound(void *arg)
{
	struct submitter *s = arg;

	space_submit(s->space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = 8, .value = 2,
	}, 0, &s->err);
	__atomic_store_n(&s->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static void submitter_end(struct submitter *submitter)
{
	assert_int_equal(pthread_join(submitter->thread, NULL), 0);
	assert_int_equal(submitter->err, 0);
}

/*
 * Another call holds the BO that was bound as number @n: a SUBMIT tries the root, the @n before it
 * and this one, and does not end before it has that.
 */
static void waits_for_lock(struct space *space, struct bo *jobs, const struct bo *bo,
			   unsigned int n)
{
	struct submitter holds = { .jobs = jobs, .bo = bo }, waits = { .space = space };
	const int64_t end = guest_deadline(10000);

	inject_hold_entry("agate_ttm_bump", 1, INJECT_BOUND_MS);
	assert_int_equal(pthread_create(&holds.thread, NULL, submit_listed, &holds), 0);
	assert_true(inject_await_held("agate_ttm_bump", 10000));
	inject_count("agate_exec_lock");
	assert_int_equal(pthread_create(&waits.thread, NULL, submit_bound, &waits), 0);
	while (inject_hits("agate_exec_lock") < n + 2) {
		assert_false(__atomic_load_n(&waits.ended, __ATOMIC_ACQUIRE));
		assert_true(guest_deadline(0) < end);
	}
	assert_false(__atomic_load_n(&waits.ended, __ATOMIC_ACQUIRE));
	assert_true(inject_let_go("agate_ttm_bump"));
	submitter_end(&holds);
	submitter_end(&waits);
	inject_clear();
}

/* A SUBMIT holds each external BO that is bound, whichever it is. */
static void all_locked(void **state)
{
	enum { COUNT = 3 };
	struct space space = space_on(guest_open());
	struct bo jobs = guest_bo(space.fd, PAGE, 0), bos[COUNT];

	(void)state;
	for (unsigned int i = 0; i < COUNT; i++) {
		assert_int_equal(space_create(space.fd, 0, BLOCK, 0, SYSTEM, &bos[i]), 0);
		space_map(&space, &bos[i], AREA + i * MIB);
	}
	for (unsigned int i = 0; i < COUNT; i++)
		waits_for_lock(&space, &jobs, &bos[i], i);
	for (unsigned int i = 0; i < COUNT; i++)
		guest_destroy(&bos[i]);
	guest_destroy(&jobs);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/*
 * All DMA is bounced, so the GPU sees no memory of the system where it lies.  Address spaces whose
 * owner chooses the ranges use none then, and neither do BOs with a placement.
 */
static void out_of_reach(void **state)
{
	struct space space = { .fd = guest_open() };
	struct drm_agate_vm_create made = { 0 };
	struct drm_agate_flip flip = {
		.width = 16, .height = 16, .stride = 64, .format = AGATE_FORMAT_R8G8B8A8,
	};
	int vgem = stranger_open("vgem"), dmabuf;
	struct bo theirs = stranger_bo(vgem, 64, 64), bo;
	uint64_t *at = memory(BLOCK);

	(void)state;
	assert_true(dma_is_bounced());
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_VM_CREATE, &made), 0);
	space.vm = made.vm_id;
	dmabuf = dmabuf_export(&theirs);
	bo = dmabuf_import(space.fd, dmabuf);
	assert_int_equal(space_bind(&space, space_part(&bo, AREA, PAGE, 0, 0), 0, 0), EOPNOTSUPP);
	guest_destroy(&bo);
	assert_int_equal(space_bind(&space, user_part(at, AREA, BLOCK, 0), 0, 0), EOPNOTSUPP);
	bo = space_bo(&space, BLOCK, SYSTEM);
	assert_int_equal(space_bind(&space, space_part(&bo, AREA, BLOCK, 0, 0), 0, 0), EOPNOTSUPP);
	guest_destroy(&bo);
	assert_int_equal(space_create(space.fd, space.vm, BLOCK, AGATE_BO_POPULATE, SYSTEM, &bo),
			 EOPNOTSUPP);
	assert_int_equal(space_create(space.fd, 0, BLOCK, 0, SYSTEM, &bo), 0);
	assert_int_equal(guest_submit(space.fd, bo.va, 0, &bo.handle, 1, 0), EOPNOTSUPP);
	flip.handle = bo.handle;
	assert_int_equal(guest_ioctl(space.fd, DRM_IOCTL_AGATE_FLIP, &flip), EOPNOTSUPP);
	guest_destroy(&bo);
	/* VRAM is where it lies. */
	bo = space_bo(&space, BLOCK, VRAM);
	space_map(&space, &bo, AREA);
	guest_destroy(&bo);
	guest_destroy(&theirs);
	assert_int_equal(space_destroy(&space), 0);
	munmap(at, BLOCK);
	close(dmabuf);
	close(space.fd);
	guest_assert_nothing_left();
	close(vgem);
	stranger_unload("vgem");
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(external, guest_teardown),
		cmocka_unit_test_teardown(waits_for_writer, guest_teardown),
		cmocka_unit_test_teardown(of_others, guest_teardown),
		cmocka_unit_test_teardown(no_writer, guest_teardown),
		cmocka_unit_test_teardown(all_locked, guest_teardown),
		cmocka_unit_test_teardown(out_of_reach, guest_teardown),
	};

	/* That one is for another guest. */
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	else
		cmocka_set_skip_filter("out_of_reach");
	return cmocka_run_group_tests_name("vm-shared", tests, NULL, NULL);
}
