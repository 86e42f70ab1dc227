// SPDX-License-Identifier: MIT
/*
 * Jobs that run, fault or hang, and jobs whose owner is killed.
 */
#include "clients.h"
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define DATA		2048u		/* where jobs of a one-page BO write */
#define UNMAPPED	0xf0000000ull	/* inside the address space, in no BO */

static uint64_t word(const struct bo *bo, uint32_t offset)
{
	return *(volatile uint64_t *)((char *)bo->cpu + offset);
}

static uint32_t status(const struct bo *bo, uint32_t job)
{
	return *(volatile uint32_t *)((char *)bo->cpu + job);
}

static int run(const struct bo *bo, uint64_t jc)
{
	int err = guest_submit(bo->fd, jc, 0, &bo->handle, 1, 0);

	return err ? err : guest_wait(bo->fd, bo->handle, FOREVER);
}

/* A job whose next is itself: it runs until somebody stops it. */
static void make_cyclic(struct bo *bo)
{
	guest_job_write64(bo, 0, bo->va, bo->va + DATA, 1);
}

static void write_value(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	guest_job_write64(&bo, 0, 0, bo.va + DATA, 0x0123456789abcdefull);
	assert_int_equal(run(&bo, bo.va), 0);
	assert_int_equal(word(&bo, DATA), 0x0123456789abcdefull);
	assert_int_equal(status(&bo, 0), AGATE_EXC_DONE);
	guest_destroy(&bo);
	close(fd);
}

static void chain_in_order(void **state)
{
	enum { JOBS = 100, SIZE = 8 * PAGE };
	int fd = guest_open();
	struct bo bo = guest_bo(fd, SIZE, 0);

	(void)state;
	for (uint32_t i = 0; i < JOBS; i++)
		guest_job_write64(&bo, i * 128, i + 1 < JOBS ? bo.va + (i + 1) * 128 : 0,
				  bo.va + SIZE - 8, i + 1);
	assert_int_equal(run(&bo, bo.va), 0);
	assert_int_equal(word(&bo, SIZE - 8), JOBS);
	for (uint32_t i = 0; i < JOBS; i++)
		assert_int_equal(status(&bo, i * 128), AGATE_EXC_DONE);
	guest_destroy(&bo);
	close(fd);
}

static void both_slots(void **state)
{
	int fd = guest_open();
	struct bo a = guest_bo(fd, PAGE, 0), b = guest_bo(fd, PAGE, 0);

	(void)state;
	guest_job_write64(&a, 0, 0, a.va + DATA, 1);
	guest_job_write64(&b, 0, 0, b.va + DATA, 2);
	assert_int_equal(guest_submit(fd, a.va, 0, &a.handle, 1, 0), 0);
	assert_int_equal(guest_submit(fd, b.va, AGATE_JD_REQ_FS, &b.handle, 1, 0), 0);
	assert_int_equal(guest_wait(fd, b.handle, FOREVER), 0);
	assert_int_equal(guest_wait(fd, a.handle, FOREVER), 0);
	assert_int_equal(word(&a, DATA), 1);
	assert_int_equal(word(&b, DATA), 2);
	close(fd);
	munmap(a.cpu, a.size);
	munmap(b.cpu, b.size);
}

/* The GPU may not write to a BO that is read-only for it, and the file goes on. */
static void permission_fault(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0), ro = guest_bo(fd, PAGE, AGATE_BO_GPU_READONLY);
	uint32_t both[] = { bo.handle, ro.handle };

	(void)state;
	guest_job_write64(&bo, 0, 0, ro.va, ~0ull);
	assert_int_equal(guest_submit(fd, bo.va, 0, both, 2, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(word(&ro, 0), 0);
	guest_job_write64(&bo, 0, 0, bo.va + DATA, 5);
	assert_int_equal(run(&bo, bo.va), 0);
	assert_int_equal(word(&bo, DATA), 5);
	guest_destroy(&bo);
	guest_destroy(&ro);
	close(fd);
}

/* A fault outside any BO ends that job; the same file and others go on. */
static void translation_fault(void **state)
{
	int fd = guest_open(), other = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0), peer = guest_bo(other, PAGE, 0);

	(void)state;
	for (int i = 0; i < 3; i++) {
		guest_job_write64(&bo, 0, 0, UNMAPPED, 1);
		guest_job_write64(&peer, 0, 0, peer.va + DATA, 7 + (uint64_t)i);
		assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), 0);
		assert_int_equal(run(&peer, peer.va), 0);
		assert_int_equal(word(&peer, DATA), 7 + (uint64_t)i);
		assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
		assert_int_not_equal(status(&bo, 0), AGATE_EXC_DONE);
		guest_job_write64(&bo, 0, 0, bo.va + DATA, 9);
		assert_int_equal(run(&bo, bo.va), 0);
		assert_int_equal(word(&bo, DATA), 9);
	}
	guest_destroy(&bo);
	guest_destroy(&peer);
	close(fd);
	close(other);
}

/*
 * A fault ends its own chain, and not the chain of the same file on the other slot:
 * that one runs until its time is up.
 */
static void fault_beside_innocent(void **state)
{
	const uint32_t slots[] = { 0, AGATE_JD_REQ_FS };
	int fd = guest_open();
	struct bo endless = guest_bo(fd, PAGE, 0), bad = guest_bo(fd, PAGE, 0);

	(void)state;
	for (int i = 0; i < 2; i++) {
		int innocent, guilty;

		make_cyclic(&endless);
		innocent = guest_submit_fence(&endless, slots[i]);
		guest_job_write64(&bad, 0, 0, UNMAPPED, 1);
		guilty = guest_submit_fence(&bad, slots[!i]);
		assert_int_equal(guest_fence_end(guilty), -EINVAL);
		assert_int_equal(guest_fence_end(innocent), -ETIME);
	}
	guest_destroy(&endless);
	guest_destroy(&bad);
	close(fd);
}

static void heap_grows(void **state)
{
	const uint64_t size = 10u << 20;
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0), heap;
	uint32_t both[2] = { bo.handle };
	long before, after;

	(void)state;
	assert_int_equal(guest_create(fd, size, AGATE_BO_HEAP | AGATE_BO_NOEXEC, &heap), 0);
	both[1] = heap.handle;
	before = guest_counter("pages");
	guest_job_write64(&bo, 0, bo.va + 128, heap.va, 1);
	guest_job_write64(&bo, 128, bo.va + 256, heap.va + (2u << 20) - 8, 2);
	guest_job_write64(&bo, 256, 0, heap.va + size - 8, 3);
	assert_int_equal(guest_submit(fd, bo.va, 0, both, 2, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(status(&bo, 256), AGATE_EXC_DONE);
	after = guest_counter("pages");
	/* Two chunks of 2 MiB, a spare one, and the page that holds the jobs. */
	assert_in_range(after - before, 3 * 512, 3 * 512 + 1);
	guest_destroy(&bo);
	guest_destroy(&heap);
	close(fd);
}

/* A BO closed while a job uses it stays until the job is done. */
static void close_while_busy(void **state)
{
	enum { SIZE = 64 * PAGE };
	int fd = guest_open();
	struct bo bo = guest_bo(fd, SIZE, 0), target = guest_bo(fd, PAGE, 0);
	uint32_t both[] = { bo.handle, target.handle };
	uint32_t jobs = SIZE / 128;

	(void)state;
	for (uint32_t i = 0; i < jobs; i++)
		guest_job_write64(&bo, i * 128, i + 1 < jobs ? bo.va + (i + 1) * 128 : 0,
				  target.va, i + 1);
	assert_int_equal(guest_submit(fd, bo.va, 0, both, 2, 0), 0);
	assert_int_equal(guest_close_handle(fd, target.handle), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(word(&target, 0), jobs);
	munmap(target.cpu, PAGE);
	guest_destroy(&bo);
	close(fd);
}

/* In- and out-syncs: a timeline point and a binary object order two jobs. */
static void syncs_order_jobs(void **state)
{
	int fd = guest_open();
	struct bo a = guest_bo(fd, PAGE, 0), b = guest_bo(fd, PAGE, 0);
	struct drm_syncobj_create timeline = { 0 }, binary = { 0 };
	struct drm_agate_sync first, second;
	struct drm_agate_submit submit;
	struct drm_syncobj_wait wait;

	(void)state;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &timeline), 0);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &binary), 0);
	first = (struct drm_agate_sync){ .handle = timeline.handle, .point = 4 };
	second = (struct drm_agate_sync){ .handle = binary.handle };
	guest_job_write64(&a, 0, 0, a.va + DATA, 1);
	guest_job_write64(&b, 0, 0, b.va + DATA, 2);

	submit = (struct drm_agate_submit){
		.jc = a.va, .bo_handles = (uintptr_t)&a.handle, .bo_handle_count = 1,
		.out_syncs = (uintptr_t)&first, .out_sync_count = 1,
	};
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_SUBMIT, &submit), 0);
	submit = (struct drm_agate_submit){
		.jc = b.va, .bo_handles = (uintptr_t)&b.handle, .bo_handle_count = 1,
		.requirements = AGATE_JD_REQ_FS,
		.in_syncs = (uintptr_t)&first, .in_sync_count = 1,
		.out_syncs = (uintptr_t)&second, .out_sync_count = 1,
	};
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_SUBMIT, &submit), 0);
	wait = (struct drm_syncobj_wait){
		.handles = (uintptr_t)&binary.handle, .count_handles = 1, .timeout_nsec = FOREVER,
	};
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait), 0);
	assert_int_equal(guest_wait(fd, a.handle, 0), 0);
	assert_int_equal(word(&a, DATA), 1);
	assert_int_equal(word(&b, DATA), 2);
	guest_destroy(&a);
	guest_destroy(&b);
	close(fd);
}

/* ---- 1,000 jobs from 8 threads ---------------------------------------- */

enum { THREADS = 8, JOBS_EACH = 125 };

static void *many_jobs(void *arg)
{
	int fd = guest_try_open();
	struct bo bo;
	long good = 0;

	(void)arg;
	if (fd < 0 || guest_create(fd, PAGE, 0, &bo))
		return (void *)-1l;
	guest_map(&bo);
	for (uint64_t i = 0; i < JOBS_EACH; i++) {
		guest_job_write64(&bo, 0, 0, bo.va + DATA, i);
		if (guest_submit(fd, bo.va, i & 1 ? AGATE_JD_REQ_FS : 0, &bo.handle, 1, 0) ||
		    guest_wait(fd, bo.handle, FOREVER))
			break;
		good += word(&bo, DATA) == i && status(&bo, 0) == AGATE_EXC_DONE;
	}
	munmap(bo.cpu, bo.size);
	close(fd);
	return (void *)good;
}

static void thousand_jobs(void **state)
{
	(void)state;
	clients_run(THREADS, many_jobs, JOBS_EACH);
}

/* ---- Hangs ------------------------------------------------------------ */

static void hang_is_reset(void **state)
{
	int fd = guest_open(), other = guest_open();
	struct bo bad = guest_bo(fd, PAGE, 0), good = guest_bo(other, PAGE, 0);
	uint32_t slots[] = { 0, AGATE_JD_REQ_FS };

	(void)state;
	for (int i = 0; i < 2; i++) {
		make_cyclic(&bad);
		assert_int_equal(guest_submit(fd, bad.va, slots[i], &bad.handle, 1, 0), 0);
		assert_int_equal(guest_wait(fd, bad.handle, 0), EBUSY);
		assert_int_equal(guest_wait(fd, bad.handle, 1), ETIMEDOUT);
		/* The innocent jobs: one on the hung slot, one on the other. */
		for (int j = 0; j < 2; j++) {
			guest_job_write64(&good, 0, 0, good.va + DATA, 40 + (uint64_t)j);
			assert_int_equal(guest_submit(other, good.va, slots[j], &good.handle, 1, 0), 0);
			assert_int_equal(guest_wait(other, good.handle, FOREVER), 0);
			assert_int_equal(word(&good, DATA), 40 + j);
			assert_int_equal(status(&good, 0), AGATE_EXC_DONE);
		}
		assert_int_equal(guest_wait(fd, bad.handle, FOREVER), 0);
		/* The guilty file can go on, too. */
		guest_job_write64(&bad, 0, 0, bad.va + DATA, 50);
		assert_int_equal(run(&bad, bad.va), 0);
		assert_int_equal(word(&bad, DATA), 50);
	}
	guest_destroy(&bad);
	guest_destroy(&good);
	close(fd);
	close(other);
}

static void both_slots_hang(void **state)
{
	int fd = guest_open();
	struct bo a = guest_bo(fd, PAGE, 0), b = guest_bo(fd, PAGE, 0);

	(void)state;
	make_cyclic(&a);
	make_cyclic(&b);
	assert_int_equal(guest_submit(fd, a.va, 0, &a.handle, 1, 0), 0);
	assert_int_equal(guest_submit(fd, b.va, AGATE_JD_REQ_FS, &b.handle, 1, 0), 0);
	assert_int_equal(guest_wait(fd, a.handle, FOREVER), 0);
	assert_int_equal(guest_wait(fd, b.handle, FOREVER), 0);
	guest_job_write64(&a, 0, 0, a.va + DATA, 3);
	assert_int_equal(run(&a, a.va), 0);
	assert_int_equal(word(&a, DATA), 3);
	guest_destroy(&a);
	guest_destroy(&b);
	close(fd);
}

/* ---- Killed clients --------------------------------------------------- */

/* The child submits an endless chain (and queues more behind it), then waits. */
static void child_hangs(int ready)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0), next = guest_bo(fd, PAGE, 0);

	make_cyclic(&bo);
	guest_job_write64(&next, 0, 0, next.va + DATA, 1);
	if (guest_submit(fd, bo.va, 0, &bo.handle, 1, 0) ||
	    guest_submit(fd, next.va, 0, &next.handle, 1, 0) ||
	    write(ready, "", 1) != 1)
		_exit(1);
	guest_wait(fd, next.handle, FOREVER);
	_exit(2);
}

static void killed_in_mid_job(void **state)
{
	struct bo bo;
	int fd;

	(void)state;
	for (int i = 0; i < 3; i++)
		clients_kill(child_hangs);
	fd = guest_open();
	bo = guest_bo(fd, PAGE, 0);
	guest_job_write64(&bo, 0, 0, bo.va + DATA, 6);
	assert_int_equal(run(&bo, bo.va), 0);
	assert_int_equal(word(&bo, DATA), 6);
	guest_destroy(&bo);
	close(fd);
}

/* More files than the GPU has address spaces, all with work. */
static void more_files_than_address_spaces(void **state)
{
	enum { FILES = 20 };
	struct bo bo[FILES];
	int fd[FILES];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < FILES; i++) {
			if (!round) {
				fd[i] = guest_open();
				bo[i] = guest_bo(fd[i], PAGE, 0);
			}
			guest_job_write64(&bo[i], 0, 0, bo[i].va + DATA, (uint64_t)(i + 100 * round));
			assert_int_equal(guest_submit(fd[i], bo[i].va, 0, &bo[i].handle, 1, 0), 0);
		}
		for (int i = 0; i < FILES; i++) {
			assert_int_equal(guest_wait(fd[i], bo[i].handle, FOREVER), 0);
			assert_int_equal(word(&bo[i], DATA), i + 100 * round);
		}
	}
	for (int i = 0; i < FILES; i++) {
		guest_destroy(&bo[i]);
		close(fd[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(write_value, guest_teardown),
		cmocka_unit_test_teardown(chain_in_order, guest_teardown),
		cmocka_unit_test_teardown(both_slots, guest_teardown),
		cmocka_unit_test_teardown(syncs_order_jobs, guest_teardown),
		cmocka_unit_test_teardown(permission_fault, guest_teardown),
		cmocka_unit_test_teardown(translation_fault, guest_teardown),
		cmocka_unit_test_teardown(fault_beside_innocent, guest_teardown),
		cmocka_unit_test_teardown(heap_grows, guest_teardown),
		cmocka_unit_test_teardown(close_while_busy, guest_teardown),
		cmocka_unit_test_teardown(more_files_than_address_spaces, guest_teardown),
		cmocka_unit_test_teardown(thousand_jobs, guest_teardown),
		cmocka_unit_test_teardown(hang_is_reset, guest_teardown),
		cmocka_unit_test_teardown(both_slots_hang, guest_teardown),
		cmocka_unit_test_teardown(killed_in_mid_job, guest_teardown),
	};

	return cmocka_run_group_tests_name("jobs", tests, NULL, NULL);
}
