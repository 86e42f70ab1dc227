// SPDX-License-Identifier: MIT
/*
 * Heaps that grow while memory is short.  A thread that waits for memory may wait for the job
 * that has touched the heap, so the driver grows it without waiting: from the memory that the
 * kernel has at once, and from a reserve that SUBMIT has filled.
 */
#include "graded.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#define CHUNK		(2u << 20)
#define HEAP_CHUNKS	4u

/* A file with a page for jobs, and a heap. */
struct client {
	int fd;
	struct bo jobs, heap;
};

static struct client client_with(uint64_t size)
{
	struct client c = { .fd = guest_open() };

	c.jobs = guest_bo(c.fd, PAGE, 0);
	assert_int_equal(guest_create(c.fd, size, AGATE_BO_HEAP | AGATE_BO_NOEXEC, &c.heap), 0);
	return c;
}

static struct client client_begin(void)
{
	return client_with(HEAP_CHUNKS * CHUNK);
}

static void client_end(struct client *c)
{
	assert_int_equal(guest_close_handle(c->fd, c->heap.handle), 0);
	guest_destroy(&c->jobs);
	close(c->fd);
	guest_assert_nothing_left();
}

/* Submit the chain at the page's begin, after a sync object (0: none); returns its fence. */
static int submit_after(struct client *c, uint32_t in_sync)
{
	const uint32_t handles[] = { c->jobs.handle, c->heap.handle };
	const struct drm_agate_sync in = { .handle = in_sync };
	const struct drm_agate_sync out = { .handle = guest_syncobj(c->fd) };
	struct drm_agate_submit arg = {
		.jc = c->jobs.va, .bo_handles = (uintptr_t)handles, .bo_handle_count = 2,
		.in_syncs = (uintptr_t)&in, .in_sync_count = in_sync ? 1 : 0,
		.out_syncs = (uintptr_t)&out, .out_sync_count = 1,
	};

	assert_int_equal(guest_ioctl(c->fd, DRM_IOCTL_AGATE_SUBMIT, &arg), 0);
	return guest_sync_file(c->fd, out.handle);
}

/* A chain that writes to that many chunks, from the given one on. */
static void make_chain(struct client *c, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		guest_job_write64(&c->jobs, i * 128, i + 1 < count ? c->jobs.va + (i + 1) * 128 : 0,
				  c->heap.va + (uint64_t)(first + i) * CHUNK, 1);
}

static int touch(struct client *c, uint32_t first, uint32_t count)
{
	make_chain(c, first, count);
	return guest_fence_end(submit_after(c, 0));
}

/* While faults are served, the kernel has no page. */
static void no_pages_for_faults(void)
{
	inject_anybody(true);
	inject_within("agate_fault_serve");
	inject_fail_null("__alloc_pages", 0);
}

/* Each job may grow the heap by one chunk, whatever the kernel has; a greedy one ends. */
static void grows_from_its_reserve(void **state)
{
	struct client c = client_begin();

	(void)state;
	no_pages_for_faults();
	assert_int_equal(touch(&c, 0, 1), 1);
	assert_true(inject_hits("__alloc_pages") > 0);
	assert_int_equal(touch(&c, 1, 2), -ENOMEM);
	/* The chain that ended has used the reserve up, and the next job has a new one. */
	assert_int_equal(touch(&c, 2, 1), 1);
	assert_int_equal(touch(&c, 0, 4), 1);
	inject_clear();
	assert_int_equal(touch(&c, 0, HEAP_CHUNKS), 1);
	client_end(&c);
}

/* The spare memory of a heap that has grown to its full size is a part of it. */
static void nothing_spare_at_last(void **state)
{
	struct client c = client_begin();
	const long before = guest_counter("pages");

	(void)state;
	assert_int_equal(touch(&c, 0, 1), 1);
	/* That chunk, a spare one, and the page with the jobs. */
	assert_in_range(guest_counter("pages") - before, 1024, 1025);
	assert_int_equal(touch(&c, 0, HEAP_CHUNKS), 1);
	assert_int_equal(touch(&c, 0, HEAP_CHUNKS), 1);
	assert_in_range(guest_counter("pages") - before, HEAP_CHUNKS * 512, HEAP_CHUNKS * 512 + 1);
	client_end(&c);
}

/* The last chunk is shorter than the spare one was, or is the only one. */
static void odd_sizes(void **state)
{
	static const uint32_t pages[] = { 1, 3, 511, 513, 768, 1024, 1025 };

	(void)state;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		struct client c = client_with(pages[i] * PAGE);
		const uint32_t chunks = (pages[i] + 511) / 512;
		const long before = guest_counter("pages");

		assert_int_equal(touch(&c, 0, chunks), 1);
		/* The page with the jobs was there if it was written to already. */
		assert_in_range(guest_counter("pages") - before, pages[i], pages[i] + 1);
		client_end(&c);
	}
}

/* SUBMIT waits for table pages, but not under a lock that the faults' thread needs. */
static void tables_wait_outside(void **state)
{
	int fd = guest_open();
	struct bo bo;

	(void)state;
	inject_within("agate_pgtable_map");
	inject_fail_null("__alloc_pages", 0);
	/* The first tables of a new file. */
	bo = guest_bo(fd, PAGE, 0);
	guest_job_write64(&bo, 0, 0, bo.va + 2048, 1);
	assert_int_equal(guest_fence_end(guest_submit_fence(&bo, 0)), 1);
	assert_true(inject_hits("__alloc_pages") > 0);
	inject_clear();
	guest_destroy(&bo);
	close(fd);
	guest_assert_nothing_left();
}

static int advise(const struct bo *bo, uint32_t madv, uint32_t *retained)
{
	struct drm_agate_madvise arg = { .handle = bo->handle, .madv = madv };
	int err = guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg);

	*retained = arg.retained;
	return err;
}

/* The shrinker takes a part of the unneeded pages each time. */
static void press(long until)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	for (int i = 0; i < 100 && guest_counter("pages") > until; i++)
		assert_int_equal(write(fd, "2", 1), 1);
	close(fd);
}

/* A heap that nobody needs goes with its spare memory, and is nobody's any more. */
static void purged(void **state)
{
	const uint32_t prime_flags = DRM_CLOEXEC | DRM_RDWR;
	struct client c = client_begin();
	const long before = guest_counter("pages");
	struct drm_agate_mmap_bo map = { .handle = c.heap.handle };
	struct drm_prime_handle prime = { .handle = c.heap.handle, .flags = prime_flags };
	uint32_t handles[] = { c.jobs.handle, c.heap.handle }, retained;

	(void)state;
	assert_int_equal(touch(&c, 0, 2), 1);
	assert_int_equal(advise(&c.heap, AGATE_MADV_DONTNEED, &retained), 0);
	assert_int_equal(retained, 1);
	press(before + 1);
	assert_in_range(guest_counter("pages") - before, 0, 1);
	assert_int_equal(advise(&c.heap, AGATE_MADV_WILLNEED, &retained), 0);
	assert_int_equal(retained, 0);
	assert_int_equal(guest_submit(c.fd, c.jobs.va, 0, handles, 2, 0), EFAULT);
	assert_int_equal(guest_ioctl(c.fd, DRM_IOCTL_AGATE_MMAP_BO, &map), EINVAL);
	assert_int_not_equal(guest_ioctl(c.fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	client_end(&c);
}

static void *submit_again(void *arg)
{
	struct client *c = arg;

	close(submit_after(c, 0));
	return NULL;
}

/*
 * A job touches the heap while a thread has the lock under which memory for the heap is
 * allocated: that thread may be waiting for this very job.
 */
static void grows_while_somebody_allocates(void **state)
{
	struct client c = client_begin();
	int timeline = guest_timeline(), fence;
	pthread_t thread;

	(void)state;
	make_chain(&c, 0, 2);
	fence = submit_after(&c, guest_timeline_syncobj(c.fd, timeline));

	inject_within("heap_reserve");
	inject_hold_entry("mutex_unlock", 1, INJECT_BOUND_MS);
	assert_int_equal(pthread_create(&thread, NULL, submit_again, &c), 0);
	assert_true(inject_await_held("mutex_unlock", INJECT_BOUND_MS));

	guest_timeline_advance(timeline);
	assert_int_equal(guest_fence_end(fence), 1);
	/* It was held until now, so nobody has waited for it. */
	assert_true(inject_let_go("mutex_unlock"));
	pthread_join(thread, NULL);
	inject_clear();
	close(timeline);
	client_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_from_its_reserve),
		cmocka_unit_test(nothing_spare_at_last),
		cmocka_unit_test(odd_sizes),
		cmocka_unit_test(tables_wait_outside),
		cmocka_unit_test(grows_while_somebody_allocates),
		cmocka_unit_test(purged),
	};

	return cmocka_run_group_tests_name("heaps", tests, NULL, NULL);
}
