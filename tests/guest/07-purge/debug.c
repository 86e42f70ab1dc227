// SPDX-License-Identifier: MIT
/* Lab 07, for the debug kernel: KASAN and lockdep look on, and every allocation fails once. */
#include "purge.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail_nth.h"

#define PURGE			"agate_backing_purge_locked"
#define MOST_ALLOCATIONS	60

static int label_it(const struct bo *bo)
{
	struct drm_agate_madvise arg = {
		.handle = bo->handle, .madv = AGATE_MADV_DONTNEED, .label = (uintptr_t)"text",
		.len = 4,
	};

	return guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg);
}

/* ---- A BO dies while the shrinker is at work -------------------------------------------- */

struct closing {
	struct aside aside;
	struct bo *bos;
	int n;
};

static void run_close(void *arg)
{
	struct closing *closing = arg;

	for (int i = 0; i < closing->n; i++) {
		munmap(closing->bos[i].cpu, closing->bos[i].size);
		guest_close_handle(closing->bos[i].fd, closing->bos[i].handle);
	}
}

/* The BOs @from to 3 are closed while the shrinker purges the first one. */
static void close_in_a_scan(int fd, int from, bool purged)
{
	struct bo bos[4];
	struct closing closing = { .bos = bos + from, .n = 4 - from };
	struct scanning scanning = { .file = look_at(false) };

	for (int i = 0; i < 4; i++) {
		bos[i] = full_bo(fd, 2, 33);
		dontneed(&bos[i]);
	}
	if (purged)
		inject_hold_return(PURGE, 1, INJECT_BOUND_MS);
	else
		inject_hold_entry(PURGE, 1, INJECT_BOUND_MS);
	scanning_start(&scanning);
	rule("a BO that nobody needs, and that has pages, can be purged");
	check_true(aside_is_held(&scanning.aside, PURGE), "a call of agate_backing_purge_locked()",
		   "the scan ends without it");
	rule("a BO that dies does not disturb a shrinker that is looking at it, or at the one before");
	aside_start(&closing.aside, run_close, &closing);
	aside_settle(&closing.aside);
	let_go(PURGE);
	aside_join(&scanning.aside);
	aside_join(&closing.aside);
	inject_clear();
	close(scanning.file);
	for (int i = 0; i < from; i++)
		guest_destroy(&bos[i]);
	check_equal(guest_counter("bos"), 0, "counter bos after the last GEM_CLOSE");
	check_listed(0, "after the last BO was closed");
}

#define SET_LABEL	"agate_gem_set_label_ioctl"

struct labelling {
	struct aside aside;
	const struct bo *bo;
	int err;
};

static void run_label(void *arg)
{
	struct labelling *labelling = arg;

	labelling->err = label_it(labelling->bo);
}

/* Another thread closes the handle in the middle of a call: its reference is the last one. */
static void close_in_a_call(int fd)
{
	struct bo bo = make_bo(fd, 1);
	struct labelling labelling = { .bo = &bo };

	inject_hold_return(SET_LABEL, 1, INJECT_BOUND_MS);
	aside_start(&labelling.aside, run_label, &labelling);
	rule("MADVISE calls agate_gem_set_label_ioctl() if the client gives a label");
	check_true(aside_is_held(&labelling.aside, SET_LABEL), "a call of that function",
		   "MADVISE ends without it");
	rule("MADVISE keeps its reference to the BO until it is done with it");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	let_go(SET_LABEL);
	aside_join(&labelling.aside);
	inject_clear();
	check_errno(labelling.err, 0, "MADVISE, when the handle is closed meanwhile");
	check_equal(guest_counter("bos"), 0, "counter bos after the last GEM_CLOSE");
	check_listed(0, "after the last BO was closed");
}

void test_closing(void **state)
{
	int fd = purge_open();

	(void)state;
	inject_load();
	close_in_a_scan(fd, 0, false);
	close_in_a_scan(fd, 0, true);
	close_in_a_scan(fd, 1, false);
	close_in_a_scan(fd, 3, true);
	close_in_a_call(fd);
	close(fd);
}

/* ---- A whole life ------------------------------------------------------------------------- */

static void one_life(struct bo *jobs, unsigned int pages, bool again)
{
	struct bo bo = used_bo(jobs, pages, 5), heap;
	int file = look_at(true);

	rule("the order of the locks is that of kernel/agate_device.h, also where memory is reclaimed");
	check_errno(guest_create(jobs->fd, 4 << 20, AGATE_BO_HEAP | AGATE_BO_NOEXEC, &heap), 0,
		    "CREATE_BO of a heap");
	heap.cpu = NULL;
	told(file, "order");
	dontneed(&heap);
	dontneed(&bo);
	count(file);
	if (again) {
		willneed(&bo);
		check_errno(gpu_copy(jobs, &bo, 32, 0, 0), 0, "SUBMIT");
		check_errno(guest_wait(jobs->fd, bo.handle, FOREVER), 0, "WAIT_BO");
		guest_wait_counter("jobs", 0);
		dontneed(&bo);
	}
	check_equal(scan(file, 1), pages, "pages that were taken");
	advised(&bo, AGATE_MADV_DONTNEED, false, "DONTNEED after the purge");
	shrink();
	close(file);
	guest_destroy(&bo);
	check_errno(guest_close_handle(jobs->fd, heap.handle), 0, "GEM_CLOSE");
}

void test_lives(void **state)
{
	int fd = purge_open(), file;
	struct bo jobs = guest_bo(fd, PAGE, 0), last;

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		one_life(&jobs, 2 + 9 * i, i & 1);
	guest_destroy(&jobs);
	/* The device goes first. */
	last = full_bo(fd, 4, 2);
	file = look_at(true);
	dontneed(&last);
	close(file);
	check_errno(device_unbind(), 0, "unbinding the device");
	shrink();
	munmap(last.cpu, last.size);
	close(fd);
	check_errno(device_bind(), 0, "binding the device");
	fd = purge_open();
	close(fd);
	rule("a BO dies as any other, also one that nobody needs");
	check_nothing_left();
}

/* ---- Allocations ---------------------------------------------------------------------------- */

static void failing_advice(int fail_nth, int fd)
{
	bool hit = true;

	for (int n = 1; hit && n < MOST_ALLOCATIONS; n++) {
		struct bo bo = full_bo(fd, 1, 1);
		int file = look_at(true), err;
		char what[64];

		fail_nth_arm(fail_nth, n);
		err = label_it(&bo);
		hit = fail_nth_fired(fail_nth);
		snprintf(what, sizeof(what), "MADVISE, failure number %d", n);
		rule("whichever allocation or copy fails, MADVISE says so, or works all the same");
		if (err && err != ENOMEM && err != EFAULT)
			check_errno(err, ENOMEM, what);
		rule("a call that fails changes neither the advice nor the label");
		/* EFAULT may also mean that the core could not copy the answer. */
		if (err != EFAULT) {
			check_equal(look(file, "madv"),
				    err ? AGATE_MADV_WILLNEED : AGATE_MADV_DONTNEED, "bo->madv");
			check_equal(count(file), err ? 0 : 1, "pages that the shrinker counts");
		}
		close(file);
		guest_destroy(&bo);
	}
	rule("a call comes to its end once nothing fails any more");
	check_true(!hit, "success in the end", "failures without end");
}

/* The kernel is out of memory, and asks for some. */
static void shrinker_allocates_nothing(int fail_nth, int fd)
{
	struct bo jobs = guest_bo(fd, PAGE, 0), bo = used_bo(&jobs, 20, 1);
	int file = look_at(true), err;
	bool hit;

	dontneed(&bo);
	rule("the shrinker allocates nothing");
	/* The first copy of the command itself would fail otherwise. */
	for (int n = 1; n < 4; n++) {
		fail_nth_arm(fail_nth, n);
		err = tell(file, "count");
		hit = fail_nth_fired(fail_nth);
		if (hit && err)
			continue;
		check_true(!hit, "no allocation in count_objects", "an allocation");
		break;
	}
	for (int n = 1; n < 4; n++) {
		fail_nth_arm(fail_nth, n);
		err = tell(file, "scan %u", ALL);
		hit = fail_nth_fired(fail_nth);
		if (hit && err)
			continue;
		check_true(!hit, "no allocation in scan_objects", "an allocation");
		break;
	}
	check_equal(look(file, "result"), 20, "pages that it has taken without memory");
	close(file);
	guest_destroy(&bo);
	guest_destroy(&jobs);
}

void test_allocations(void **state)
{
	int fail_nth, fd = purge_open();

	(void)state;
	fail_nth = fail_nth_open();
	failing_advice(fail_nth, fd);
	shrinker_allocates_nothing(fail_nth, fd);
	close(fail_nth);
	close(fd);
	rule("whichever allocation fails, nothing is left");
	check_nothing_left();
}
