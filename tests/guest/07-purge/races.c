// SPDX-License-Identifier: MIT
/* Lab 07: locks that others have, and clients that come in the middle of a purge. */
#include "purge.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PURGE		"agate_backing_purge_locked"
#define UNMAP		"unmap_mapping_range"
/* Of the kernel's side: it calls the driver's functions. */
#define SHRINKER	"purge_call_shrinker"

/*
 * Go on after @gate, up to the first lock that the shrinker gives back.  It may want that lock
 * again at once, and would usually get it; here those that wait are first.
 */
static void hand_over(struct scanning *scanning, const char *gate, struct aside *waiting)
{
	inject_hold_return("mutex_unlock", 1, INJECT_BOUND_MS);
	let_go(gate);
	if (!aside_is_held(&scanning->aside, "mutex_unlock"))
		return;
	aside_settle(waiting);
	let_go("mutex_unlock");
}

/*
 * The shrinker may run in a thread that has any of these locks, so it must not wait for one:
 * while a lock is taken it passes over the BOs that need it, and comes back later.
 */
static void try_one(int first, int second, const char *lock, bool may_skip_all)
{
	char what[96];
	long taken;

	tell(first, "hold %s", lock);
	rule("the shrinker waits for no lock: it tries them");
	taken = count(first);
	snprintf(what, sizeof(what), "threads that wait in count_objects while another one has %s",
		 lock);
	check_equal(look(first, "waited"), 0, what);
	check_true(taken >= 0, "pages, or 0", "another answer of count_objects");
	taken = scan(first, 2);
	snprintf(what, sizeof(what), "threads that wait in scan_objects while another one has %s",
		 lock);
	check_equal(look(first, "waited"), 0, what);
	told(first, "let-go");
	if (may_skip_all)
		return;
	check_enough(taken, 2);
	rule("the shrinker passes over a BO whose lock is taken, and goes on with the next one");
	check_purged(second, "the next BO");
	check_equal(taken, 2, "pages that were taken");
	check_kept(first, "a BO whose lock is taken");
}

static void try_lock(int fd, const char *lock, bool may_skip_all)
{
	struct bo bo = full_bo(fd, 3, 8), next, last;
	int first = look_at(true), second, third;

	dontneed(&bo);
	next = full_bo(fd, 2, 8);
	second = look_at(true);
	dontneed(&next);
	last = full_bo(fd, 4, 8);
	third = look_at(true);
	dontneed(&last);
	try_one(first, second, lock, may_skip_all);
	rule("a BO that the shrinker has passed over stays where it is, and is taken as soon as the lock is free");
	if (!is_purged(first))
		scan(first, 1);
	check_purged(first, "the BO whose lock was taken");
	check_kept(third, "a BO behind it");
	scan(first, ALL);
	check_purged(second, "the next BO");
	check_purged(third, "the last BO");
	close(third);
	close(second);
	close(first);
	guest_destroy(&bo);
	guest_destroy(&next);
	guest_destroy(&last);
}

/* A list that nobody can walk has nothing to give. */
static void try_list(int fd)
{
	struct bo bo = full_bo(fd, 3, 8);
	int file = look_at(true);

	dontneed(&bo);
	told(file, "hold purge");
	rule("the shrinker waits for no lock: it tries them");
	check_equal(count(file), 0, "pages that it counts while another thread has purge.lock");
	check_equal(look(file, "waited"), 0, "threads that wait in count_objects for purge.lock");
	check_equal(scan_answer(file, ALL), STOP,
		    "scan_objects while another thread has purge.lock; SHRINK_STOP is -1");
	check_equal(look(file, "waited"), 0, "threads that wait in scan_objects for purge.lock");
	told(file, "let-go");
	rule("a BO that the shrinker has passed over stays where it is, and is taken as soon as the lock is free");
	check_equal(count(file), 3, "pages that it counts");
	check_equal(scan(file, ALL), 3, "pages that it takes");
	close(file);
	guest_destroy(&bo);
}

void test_tries(void **state)
{
	int fd = purge_open();

	(void)state;
	try_lock(fd, "backing", false);
	/* These it may try as well, though it needs none of them. */
	try_lock(fd, "gem", true);
	try_lock(fd, "resv", true);
	try_list(fd);
	close(fd);
	check_nothing_left();
}

/* ---- A CPU ---------------------------------------------------------------------------- */

struct touch {
	struct aside aside;
	const volatile uint64_t *at;
	bool ok;
};

static void run_touch(void *arg)
{
	struct touch *touch = arg;

	touch->ok = can_read(touch->at);
}

/* The page tables are empty, the pages not gone yet; a CPU touches one. */
static void touch_in_a_purge(int fd, bool early)
{
	const char *gate = early ? UNMAP : PURGE;
	struct bo bo = full_bo(fd, 6, 3);
	struct scanning scanning = { .file = look_at(true) };
	struct touch touch = { .at = word(bo.cpu, 4) };

	dontneed(&bo);
	inject_within(SHRINKER);
	if (early)
		inject_hold_return(gate, 1, INJECT_BOUND_MS);
	else
		inject_hold_entry(gate, 1, INJECT_BOUND_MS);
	scanning_start(&scanning);
	rule("a BO that nobody needs, and that has pages, can be purged");
	check_true(aside_is_held(&scanning.aside, gate),
		   early ? "a call of unmap_mapping_range(), by drm_vma_node_unmap()" :
		   "a call of agate_backing_purge_locked()", "the scan ends without it");
	aside_start(&touch.aside, run_touch, &touch);
	aside_settle(&touch.aside);
	hand_over(&scanning, gate, &touch.aside);
	aside_join(&touch.aside);
	aside_join(&scanning.aside);
	inject_clear();
	check_purged(scanning.file, "the BO");
	rule("from the moment at which the page tables are emptied no page comes back");
	check_true(!can_read(touch.at), "SIGBUS", "a page of a BO that was purged");
	check_true(!touch.ok, "SIGBUS", "a page, for a CPU that touched the BO during the purge");
	close(scanning.file);
	guest_destroy(&bo);
}

void test_fault_race(void **state)
{
	int fd = purge_open();

	(void)state;
	touch_in_a_purge(fd, true);
	touch_in_a_purge(fd, false);
	close(fd);
	check_nothing_left();
}

/* ---- Advice --------------------------------------------------------------------------- */

struct advising {
	struct aside aside;
	struct bo bo;
	uint32_t madv;
	const char *label;
	uint32_t retained;
	int err;
};

static void run_advise(void *arg)
{
	struct advising *a = arg;
	struct drm_agate_madvise call = {
		.handle = a->bo.handle, .madv = a->madv, .retained = 77,
		.label = (uintptr_t)a->label, .len = a->label ? 4 : 0,
	};

	a->err = guest_ioctl(a->bo.fd, DRM_IOCTL_AGATE_MADVISE, &call);
	a->retained = call.retained;
}

/* @taken: pages that scan_objects has taken from the BO.  They do not come back. */
static void check_answer(const struct advising *a, int file, long taken, const char *when)
{
	bool purged;

	check_errno(a->err, 0, "MADVISE");
	rule("a purged BO stays purged, whatever userspace advises: bo->madv stays -1");
	if (taken > 0 && !is_purged(file))
		broken("-1 in bo->madv, which the purge has written",
		       "advice that MADVISE has written over it, %s", when);
	/* Nobody may take what was promised. */
	if (a->madv == AGATE_MADV_WILLNEED)
		scan(file, ALL);
	purged = is_purged(file);
	rule("retained tells the truth: after WILLNEED and 1 the pages stay, and they are gone where it is 0");
	if (a->retained && purged)
		broken("retained 0, or a BO that is not purged", "retained 1 and no pages, %s", when);
	if (!a->retained && !purged)
		broken("retained 1, or a BO that is purged", "retained 0 and all pages, %s", when);
}

/* A purge has begun, and is not done yet. */
static void advise_in_a_purge(int fd)
{
	struct advising advising = { .bo = full_bo(fd, 4, 6), .madv = AGATE_MADV_WILLNEED };
	struct scanning scanning = { .file = look_at(true) };
	long refs, more;

	dontneed(&advising.bo);
	refs = look(scanning.file, "refs");
	inject_hold_entry(PURGE, 1, INJECT_BOUND_MS);
	scanning_start(&scanning);
	rule("a BO that nobody needs, and that has pages, can be purged");
	check_true(aside_is_held(&scanning.aside, PURGE), "a call of agate_backing_purge_locked()",
		   "the scan ends without it");
	more = look(scanning.file, "refs") - refs;
	aside_start(&advising.aside, run_advise, &advising);
	aside_settle(&advising.aside);
	let_go(PURGE);
	aside_join(&advising.aside);
	aside_join(&scanning.aside);
	inject_clear();
	rule("the shrinker takes no reference to a BO: to put the last one waits for locks");
	check_equal(more, 0, "references that the shrinker has while it purges the BO");
	check_answer(&advising, scanning.file, scanning.taken, "when WILLNEED comes during a purge");
	check_listed(0, "after a purge");
	close(scanning.file);
	guest_destroy(&advising.bo);
}

/* The shrinker is at work with one BO, and will come to the next. */
static void advise_the_next(int fd)
{
	struct bo first = full_bo(fd, 2, 6);
	struct scanning scanning = { .file = look_at(true) };
	struct advising advising = { .bo = full_bo(fd, 4, 6), .madv = AGATE_MADV_WILLNEED };
	int file = look_at(true);
	bool together;

	dontneed(&first);
	dontneed(&advising.bo);
	inject_hold_entry(PURGE, 1, INJECT_BOUND_MS);
	scanning_start(&scanning);
	rule("a BO that nobody needs, and that has pages, can be purged");
	check_true(aside_is_held(&scanning.aside, PURGE), "a call of agate_backing_purge_locked()",
		   "the scan ends without it");
	rule("purge.lock protects the list: a BO does not leave it while the shrinker walks there");
	aside_start(&advising.aside, run_advise, &advising);
	aside_settle(&advising.aside);
	together = stays_locked(file, "backing");
	let_go(PURGE);
	aside_join(&scanning.aside);
	aside_join(&advising.aside);
	inject_clear();
	check_answer(&advising, file, scanning.taken - 2,
		     "when WILLNEED comes while the shrinker purges another BO");
	rule("the advice and the list change together: MADVISE keeps backing.lock while it waits for purge.lock");
	check_true(together, "backing.lock of the BO taken, while MADVISE waits for purge.lock",
		   "backing.lock free");
	close(file);
	close(scanning.file);
	guest_destroy(&first);
	guest_destroy(&advising.bo);
}

struct closing {
	struct aside aside;
	struct bo bo;
	int err;
};

static void run_close(void *arg)
{
	struct closing *closing = arg;

	munmap(closing->bo.cpu, closing->bo.size);
	closing->err = guest_close_handle(closing->bo.fd, closing->bo.handle);
}

#define RELEASE	"agate_backing_release"

/*
 * A BO was purged, and dies while the shrinker is at work with the next one.
 * agate_purge_forget() has to wait, and the memory goes after it.
 */
static void close_in_a_scan(int fd)
{
	struct closing closing = { .bo = full_bo(fd, 2, 9) };
	struct bo next = full_bo(fd, 2, 9);
	struct scanning scanning = { .file = look_at(false) };
	unsigned int released;
	bool closed;

	dontneed(&closing.bo);
	dontneed(&next);
	inject_count(RELEASE);
	inject_hold_entry(PURGE, 2, INJECT_BOUND_MS);
	scanning_start(&scanning);
	rule("a BO that nobody needs, and that has pages, can be purged");
	check_true(aside_is_held(&scanning.aside, PURGE), "two calls of agate_backing_purge_locked()",
		   "the scan ends without them");
	rule("agate_purge_forget() looks at the list under purge.lock: as long as a shrinker is at work it does not return");
	aside_start(&closing.aside, run_close, &closing);
	aside_settle(&closing.aside);
	released = inject_hits(RELEASE);
	closed = atomic_load(&closing.aside.done);
	let_go(PURGE);
	aside_join(&scanning.aside);
	aside_join(&closing.aside);
	check_true(!released, "agate_purge_forget() waits for purge.lock, which the shrinker has",
		   "it has returned while the shrinker is at work, for a BO that was purged");
	rule("the shrinker takes no reference to a BO: to put the last one waits for locks");
	check_true(!closed, "the BO dies in the thread that closes it, which waits for the shrinker",
		   "GEM_CLOSE has ended, and the BO is left to the shrinker");
	check_equal(inject_hits(RELEASE), 1, "calls of agate_backing_release(), when the scan has ended");
	inject_clear();
	check_errno(closing.err, 0, "GEM_CLOSE");
	check_equal(scanning.taken, 4, "pages that were taken");
	check_listed(0, "after the scan");
	close(scanning.file);
	guest_destroy(&next);
}

/* A purge comes while the label is set. */
static void purge_in_advice(int fd, uint32_t madv)
{
	struct advising advising = { .bo = full_bo(fd, 4, 6), .madv = madv, .label = "text" };
	int file = look_at(true);
	long taken;

	dontneed(&advising.bo);
	inject_hold_return("agate_gem_set_label_ioctl", 1, INJECT_BOUND_MS);
	aside_start(&advising.aside, run_advise, &advising);
	rule("MADVISE calls agate_gem_set_label_ioctl() if the client gives a label");
	check_true(aside_is_held(&advising.aside, "agate_gem_set_label_ioctl"),
		   "a call of that function", "MADVISE ends without it");
	taken = scan(file, ALL);
	let_go("agate_gem_set_label_ioctl");
	aside_join(&advising.aside);
	inject_clear();
	check_answer(&advising, file, taken, "when the purge comes during the call");
	close(file);
	guest_destroy(&advising.bo);
	check_listed(0, "after a purge");
}

void test_advice_race(void **state)
{
	int fd = purge_open();

	(void)state;
	advise_in_a_purge(fd);
	/* First: a list that a BO leaves at any time may lead the shrinker anywhere. */
	close_in_a_scan(fd);
	advise_the_next(fd);
	purge_in_advice(fd, AGATE_MADV_WILLNEED);
	purge_in_advice(fd, AGATE_MADV_DONTNEED);
	close(fd);
	check_nothing_left();
}

/* ---- Jobs ----------------------------------------------------------------------------- */

struct submitting {
	struct aside aside;
	struct bo jobs;
	struct bo bo;
	int err;
};

static void run_submit(void *arg)
{
	struct submitting *s = arg;

	s->err = gpu_copy(&s->jobs, &s->bo, 64, 0, 0);
}

/* The job has all pages, or is refused. */
static void check_job(const struct submitting *s, int file, const char *when)
{
	rule("a job finds all pages of its BOs, or SUBMIT gives EFAULT: no purge comes in between");
	if (is_purged(file)) {
		check_errno(s->err, EFAULT, "SUBMIT");
		return;
	}
	check_errno(s->err, 0, "SUBMIT");
	check_errno(guest_wait(s->bo.fd, s->bo.handle, FOREVER), 0, "WAIT_BO");
	check_full(s->bo.cpu, 4, 60, when);
	check_equal(*(volatile int64_t *)((char *)s->bo.cpu + 64), 60, "what the job has copied");
}

#define TEARDOWN	"agate_vm_try_teardown_bo"

/* The GPU's entries are gone, the pages not yet: a job would bring the entries back. */
static void submit_in_a_purge(int fd, bool late)
{
	struct submitting submitting = { .jobs = guest_bo(fd, PAGE, 0) };
	const char *gate = late ? UNMAP : TEARDOWN;
	struct scanning scanning;
	bool locked;

	submitting.bo = used_bo(&submitting.jobs, 4, 60);
	scanning.file = look_at(true);
	dontneed(&submitting.bo);
	inject_within(SHRINKER);
	inject_hold_return(gate, 1, INJECT_BOUND_MS);
	scanning_start(&scanning);
	rule("before the pages go the GPU loses its entries, and then the processes lose theirs");
	check_true(aside_is_held(&scanning.aside, gate),
		   late ? "a call of unmap_mapping_range(), by drm_vma_node_unmap()" :
		   "a call of agate_vm_try_teardown_bo()", "the scan ends without it");
	aside_start(&submitting.aside, run_submit, &submitting);
	aside_settle(&submitting.aside);
	locked = look(scanning.file, "backing");
	hand_over(&scanning, gate, &submitting.aside);
	aside_join(&submitting.aside);
	aside_join(&scanning.aside);
	inject_clear();
	rule("the shrinker holds backing.lock from its first look at a BO to its purge");
	check_true(locked, "backing.lock taken", "backing.lock free");
	check_job(&submitting, scanning.file, "after a job that came during a purge");
	close(scanning.file);
	guest_destroy(&submitting.bo);
	guest_destroy(&submitting.jobs);
}

#define POPULATE	"agate_mapping_populate"

/* The job counts in gpu_users, and is about to ask for the pages; no fence stands for it yet. */
static void purge_in_a_submit(int fd)
{
	struct submitting submitting = { .jobs = guest_bo(fd, PAGE, 0) };
	int file;

	submitting.bo = used_bo(&submitting.jobs, 4, 60);
	file = look_at(true);
	dontneed(&submitting.bo);
	/* One call for the BO with the job, one for this BO. */
	inject_hold_return(POPULATE, 2, INJECT_BOUND_MS);
	aside_start(&submitting.aside, run_submit, &submitting);
	if (!aside_is_held(&submitting.aside, POPULATE))
		could_not_look("SUBMIT has ended without %s()", POPULATE);
	rule("a BO that a job counts in gpu_users is not purged");
	check_equal(scan(file, ALL), 0, "pages that it takes");
	check_kept(file, "a BO that SUBMIT is about to use");
	let_go(POPULATE);
	aside_join(&submitting.aside);
	inject_clear();
	check_job(&submitting, file, "after a job during which the shrinker came");
	close(file);
	guest_destroy(&submitting.bo);
	guest_destroy(&submitting.jobs);
}

void test_submit_race(void **state)
{
	int fd = purge_open();

	(void)state;
	submit_in_a_purge(fd, false);
	submit_in_a_purge(fd, true);
	purge_in_a_submit(fd);
	close(fd);
	check_nothing_left();
}
