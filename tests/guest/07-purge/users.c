// SPDX-License-Identifier: MIT
/* Lab 07, step 3: BOs that somebody still uses: other files, other drivers, the kernel, jobs. */
#include "purge.h"

#include "dmabuf.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define LABEL		"whose is it"
#define TEARDOWN	"agate_vm_try_teardown_bo"

/*
 * Nothing is taken of the only BO on the list.  The GPU keeps its entries as well: somebody may
 * be using them.
 */
static void check_passed_over(int file, const char *who)
{
	unsigned int calls;
	long taken;

	inject_count(TEARDOWN);
	taken = scan(file, ALL);
	calls = inject_hits(TEARDOWN);
	inject_clear();
	if (taken > 0)
		broken("nothing that scan_objects takes", "scan_objects has taken pages of %s", who);
	check_kept(file, who);
	rule("the GPU loses its entries only if the BO is idle and not shared: agate_vm_try_teardown_bo() comes after both questions");
	if (calls)
		broken("no call of agate_vm_try_teardown_bo()", "a call of it for %s", who);
}

/* ---- Shared ---------------------------------------------------------------------------- */

/* DONTNEED is refused, WILLNEED is not; and no label comes with a refusal. */
static void check_refused(const struct bo *bo, const char *who)
{
	struct drm_agate_madvise arg = {
		.handle = bo->handle, .madv = AGATE_MADV_DONTNEED,
		.label = (uintptr_t)LABEL, .len = sizeof(LABEL) - 1,
	};

	rule("DONTNEED is refused for a BO that is shared, or cannot be purged");
	check_errno(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg), EINVAL, who);
	rule("a call that fails changes neither the advice nor the label");
	check_true(!guest_debugfs_says("bos", LABEL), "the label that the BO had",
		   "the label that came with DONTNEED");
	check_errno(advise(bo, AGATE_MADV_DONTNEED, NULL), EINVAL, who);
	rule("WILLNEED is right for every BO, and retained is 1 as long as it was not purged");
	willneed(bo);
}

/* Advice comes first, and then somebody who wants the contents. */
static void check_not_taken(int file, const char *who)
{
	rule("a BO that is shared is not purged, also when the advice came first");
	check_passed_over(file, who);
}

static void two_files(int fd)
{
	struct bo bo = full_bo(fd, 4, 30), theirs, late;
	int other = guest_open(), dmabuf = dmabuf_export(&bo), file;

	theirs = dmabuf_import(other, dmabuf);
	check_refused(&bo, "DONTNEED by the file that made the BO, with a second file");
	check_refused(&theirs, "DONTNEED by a second file");
	close(dmabuf);
	check_refused(&theirs, "DONTNEED by a second file, without the dma-buf");
	guest_destroy(&bo);
	check_errno(guest_close_handle(other, theirs.handle), 0, "GEM_CLOSE");

	late = full_bo(fd, 3, 31);
	file = look_at(true);
	dontneed(&late);
	dmabuf = dmabuf_export(&late);
	check_not_taken(file, "a BO that was exported after DONTNEED");
	theirs = dmabuf_import(other, dmabuf);
	check_not_taken(file, "a BO that a second file has as well");
	check_full(late.cpu, 3, 31, "of a BO that is shared");
	/* The dma-buf lives on, alone. */
	guest_destroy(&late);
	check_errno(guest_close_handle(other, theirs.handle), 0, "GEM_CLOSE");
	check_not_taken(file, "a BO that only a dma-buf has");
	theirs = dmabuf_import(other, dmabuf);
	theirs.cpu = map_more(&theirs, 3);
	check_full(theirs.cpu, 3, 31, "of a BO that was imported again");
	check_refused(&theirs, "DONTNEED by a file that has imported the BO again");
	guest_destroy(&theirs);
	close(dmabuf);
	close(file);
	close(other);
}

/* Users that stand on no list: another driver's attachment, and a mapping of the kernel. */
static void pinned(int fd, const char *use, const char *end)
{
	int shmem, file;
	struct bo bo = full_bo(fd, 5, 40);

	file = look_at(true);
	shmem = open("/sys/kernel/debug/agate_shmem", O_RDWR | O_CLOEXEC);
	if (shmem < 0)
		fail_msg("agate_shmem: %s", strerror(errno));
	told(shmem, use);
	check_refused(&bo, use[0] == 'p' ? "DONTNEED of a BO that another driver has pinned" :
		      "DONTNEED of a BO that the kernel has mapped");
	told(shmem, end);
	rule("when nobody else uses the BO any more, DONTNEED is right again");
	dontneed(&bo);
	told(shmem, use);
	check_not_taken(file, use[0] == 'p' ? "a BO that another driver has pinned" :
			"a BO that the kernel has mapped");
	check_full(bo.cpu, 5, 40, "of a BO that is pinned");
	told(shmem, end);
	rule("when nobody else uses the BO any more, the advice holds, and it can be purged");
	check_equal(scan(file, ALL), 5, "pages of the BO");
	close(shmem);
	close(file);
	guest_destroy(&bo);
}

static void not_purgeable(int fd)
{
	struct bo bo;

	if (guest_create(fd, 4 * PAGE, AGATE_BO_CONTIGUOUS, &bo))
		broken("a BO in one piece", "no memory for it");
	check_refused(&bo, "DONTNEED of a BO in one piece");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
}

/* Another driver's memory. */
static void imported(int fd)
{
	void *cpu;
	int dmabuf = dmabuf_of_memory(4 * PAGE, &cpu);
	struct bo bo = dmabuf_import(fd, dmabuf);

	check_refused(&bo, "DONTNEED of a BO that is another driver's memory");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	munmap(cpu, 4 * PAGE);
}

/* More names of one file: it gives up its own contents only. */
static void one_file_twice(int fd)
{
	struct bo bo = full_bo(fd, 3, 50);
	int file = look_at(true);

	told(file, "twice");
	rule("two handles of one file are one user: DONTNEED is right, and the BO can be purged");
	dontneed(&bo);
	check_equal(scan(file, ALL), 3, "pages of a BO to which one file has two handles");
	told(file, "once");
	close(file);
	guest_destroy(&bo);
}

/* As of a file that has closed its handle, while a job of its own still lists the BO. */
static void without_handles(int fd)
{
	struct bo bo = full_bo(fd, 3, 55);
	int file = look_at(true);

	told(file, "record");
	rule("a struct agate_vm_bo whose handles is 0 is no file that shares the BO: DONTNEED is right");
	dontneed(&bo);
	willneed(&bo);
	told(file, "no-record");
	close(file);
	guest_destroy(&bo);
}

#define SET_LABEL	"agate_gem_set_label_ioctl"

struct labelling {
	struct aside aside;
	struct bo bo;
	uint32_t retained;
	int err;
};

static void run_label(void *arg)
{
	struct labelling *labelling = arg;
	struct drm_agate_madvise call = {
		.handle = labelling->bo.handle, .madv = AGATE_MADV_DONTNEED, .retained = 77,
		.label = (uintptr_t)LABEL, .len = sizeof(LABEL) - 1,
	};

	labelling->err = guest_ioctl(labelling->bo.fd, DRM_IOCTL_AGATE_MADVISE, &call);
	labelling->retained = call.retained;
}

/* The label is there already: it is too late for an error. */
static void shared_in_the_call(int fd)
{
	struct labelling labelling = { .bo = full_bo(fd, 3, 60) };
	int file = look_at(true), dmabuf;

	inject_hold_return(SET_LABEL, 1, INJECT_BOUND_MS);
	aside_start(&labelling.aside, run_label, &labelling);
	rule("MADVISE calls agate_gem_set_label_ioctl() if the client gives a label");
	check_true(aside_is_held(&labelling.aside, SET_LABEL), "a call of that function",
		   "MADVISE ends without it");
	dmabuf = dmabuf_export(&labelling.bo);
	let_go(SET_LABEL);
	aside_join(&labelling.aside);
	inject_clear();
	rule("after the label nothing may fail: who begins to share the BO then is not refused, and the advice holds");
	check_errno(labelling.err, 0, "MADVISE with a label, while the BO is exported");
	check_equal(labelling.retained, 1, "retained");
	check_equal(look(file, "madv"), AGATE_MADV_DONTNEED, "bo->madv");
	check_not_taken(file, "a BO that was exported during MADVISE");
	close(dmabuf);
	close(file);
	guest_destroy(&labelling.bo);
}

void test_shared(void **state)
{
	int fd = purge_open(), file;
	struct bo bo = full_bo(fd, 2, 12);

	(void)state;
	/* Nobody else has this one. */
	file = look_at(true);
	rule("when nobody else uses the BO, DONTNEED is right, and it can be purged");
	dontneed(&bo);
	check_equal(scan(file, ALL), 2, "pages of the BO");
	close(file);
	guest_destroy(&bo);
	not_purgeable(fd);
	pinned(fd, "pin", "unpin");
	pinned(fd, "vmap", "vunmap");
	two_files(fd);
	one_file_twice(fd);
	without_handles(fd);
	shared_in_the_call(fd);
	imported(fd);
	close(fd);
	check_nothing_left();
}

/* ---- Busy ------------------------------------------------------------------------------- */

static void check_busy(int file, const char *why)
{
	rule("a BO that is busy is not purged: while a job counts in gpu_users, and while the reservation has a fence, of any usage, that has not signalled");
	check_passed_over(file, why);
}

/* Each reason alone; and without it the BO goes. */
static void one_reason(int fd, const char *begin, const char *end, const char *why)
{
	struct bo bo = full_bo(fd, 3, 90);
	int file = look_at(true);

	dontneed(&bo);
	told(file, begin);
	check_busy(file, why);
	told(file, end);
	rule("a BO that is not busy any more can be purged");
	check_equal(scan(file, ALL), 3, "pages of the BO");
	close(file);
	guest_destroy(&bo);
}

/* A job that waits in its queue, and needs the BO later. */
static void queued_job(int fd)
{
	int timeline = guest_timeline(), file;
	uint32_t gate = guest_timeline_syncobj(fd, timeline);
	struct bo jobs = guest_bo(fd, PAGE, 0), bo = full_bo(fd, 4, 95);
	const struct agate_compute_payload copy = {
		.op = AGATE_COMPUTE_COPY, .dst = bo.va + 128, .src = bo.va, .size = 8,
	};
	const uint32_t handles[] = { jobs.handle, bo.handle };

	file = look_at(true);
	guest_job(&jobs, 0, AGATE_JOB_COMPUTE, 0, &copy, sizeof(copy));
	check_errno(guest_submit_bos(fd, jobs.va, 0, handles, NULL, 2, gate), 0, "SUBMIT");
	rule("DONTNEED is right while jobs still use the BO");
	dontneed(&bo);
	check_busy(file, "a BO of a job that waits in its queue");
	guest_timeline_advance(timeline);
	check_errno(guest_wait(fd, bo.handle, FOREVER), 0, "WAIT_BO");
	rule("a job finds all pages of its BOs, whatever the advice");
	check_full(bo.cpu, 4, 95, "after the job");
	check_equal(*(volatile int64_t *)((char *)bo.cpu + 128), 95, "what the job has copied");
	guest_wait_counter("jobs", 0);
	rule("a BO that is not busy any more can be purged");
	check_equal(scan(file, ALL), 4, "pages of the BO");
	close(file);
	guest_destroy(&bo);
	guest_destroy(&jobs);
	close(timeline);
}

/* It is the next one again as soon as it is idle. */
static void keeps_its_place(int fd)
{
	struct bo oldest = full_bo(fd, 3, 70), others[2];
	int file = look_at(true);
	long taken;

	dontneed(&oldest);
	for (unsigned int i = 0; i < 2; i++) {
		others[i] = full_bo(fd, 3, 71 + i);
		dontneed(&others[i]);
	}
	told(file, "use");
	taken = scan(file, 3);
	check_enough(taken, 3);
	rule("a BO that the shrinker has passed over stays where it is");
	check_equal(taken, 3, "pages of the second BO, while the first one is busy");
	check_kept(file, "a BO that is busy");
	told(file, "unuse");
	check_equal(scan(file, 1), 3, "pages of the first BO, which is idle now");
	check_purged(file, "the BO that was advised first");
	close(file);
	guest_destroy(&oldest);
	guest_destroy(&others[0]);
	guest_destroy(&others[1]);
}

#define REASONS	5

/*
 * Each is passed over for a reason of its own, and a last one only shows whether those before
 * it have moved.  The file that has pinned the first one.
 */
static int pass_over_each(int fd, struct bo *bos, int *files)
{
	static const char *const begin[REASONS] = { NULL, "use", NULL, "fence 2", "use" };
	int shmem = -1;

	for (int i = 0; i < REASONS; i++) {
		bos[i] = i == 2 ? make_bo(fd, 3) : full_bo(fd, 3, 80);
		files[i] = look_at(true);
		dontneed(&bos[i]);
		if (begin[i])
			told(files[i], begin[i]);
		if (i)
			continue;
		/* The file is about the BO that is the newest now. */
		shmem = open("/sys/kernel/debug/agate_shmem", O_RDWR | O_CLOEXEC);
		if (shmem < 0)
			fail_msg("agate_shmem: %s", strerror(errno));
		told(shmem, "pin");
	}
	return shmem;
}

/* Those that are passed over together do not change places with each other. */
static void keep_their_order(int fd)
{
	static const char *const names[REASONS] = {
		"the first BO, which was pinned", "the second BO, which a job counted",
		"the third BO, which had no pages", "the fourth BO, which had a fence",
		"the fifth BO, which a job counted",
	};
	int files[REASONS], shmem;
	struct bo bos[REASONS], last;
	long taken;

	shmem = pass_over_each(fd, bos, files);
	last = full_bo(fd, 5, 81);
	dontneed(&last);
	rule("the shrinker passes over BOs that stay, and goes on with the next one");
	check_equal(scan(files[0], ALL), 5, "pages of the last BO, which nobody uses");
	for (int i = 0; i < REASONS; i++)
		check_kept(files[i], names[i]);
	told(shmem, "unpin");
	told(files[1], "unuse");
	bos[2].cpu = map_more(&bos[2], 3);
	check_true(can_read(word(bos[2].cpu, 0)), "a page", "SIGBUS");
	told(files[3], "signal");
	told(files[4], "unuse");
	for (int i = 0; i < REASONS; i++) {
		taken = scan(files[0], 1);
		check_enough(taken, i == 2 ? 1 : 3);
		rule("a BO that the shrinker has passed over stays where it is");
		check_at_least(taken, 1, "pages of one BO");
		check_purged(files[i], names[i]);
		for (int k = i + 1; k < REASONS; k++)
			check_kept(files[k], names[k]);
	}
	close(shmem);
	for (int i = 0; i < REASONS; i++) {
		close(files[i]);
		guest_destroy(&bos[i]);
	}
	guest_destroy(&last);
}

void test_busy(void **state)
{
	int fd = purge_open();

	(void)state;
	one_reason(fd, "use", "unuse", "a BO that a job counts in gpu_users");
	one_reason(fd, "fence 0", "signal", "a BO with a fence of DMA_RESV_USAGE_KERNEL");
	one_reason(fd, "fence 1", "signal", "a BO with a fence of a writer");
	one_reason(fd, "fence 2", "signal", "a BO with a fence of a reader");
	one_reason(fd, "fence 3", "signal", "a BO with a fence of DMA_RESV_USAGE_BOOKKEEP");
	keeps_its_place(fd);
	keep_their_order(fd);
	queued_job(fd);
	close(fd);
	check_nothing_left();
}

/* ---- The GPU ------------------------------------------------------------------------------ */

#define PURGE		"agate_backing_purge_locked"
#define UNMAP		"unmap_mapping_range"

/* In the moment in which the pages go the GPU has no entry that leads to them. */
static void entries_first(struct bo *jobs)
{
	struct scanning scanning;
	struct bo bo = make_bo(jobs->fd, 3);
	long active;

	/* No process has mapped it. */
	scanning.file = look_at(true);
	rule("a job makes the entries of its BOs");
	check_errno(gpu_copy(jobs, &bo, 16, 8, 0), 0, "SUBMIT");
	check_errno(guest_wait(jobs->fd, bo.handle, FOREVER), 0, "WAIT_BO");
	guest_wait_counter("jobs", 0);
	check_equal(look(scanning.file, "active"), 1, "mappings of the GPU with entries");
	dontneed(&bo);
	inject_hold_entry(PURGE, 1, INJECT_BOUND_MS);
	scanning_start(&scanning);
	rule("a BO that a job has used, and that nobody needs, can be purged");
	check_true(aside_is_held(&scanning.aside, PURGE), "a call of agate_backing_purge_locked()",
		   "the scan ends without it");
	active = look(scanning.file, "active");
	let_go(PURGE);
	aside_join(&scanning.aside);
	inject_clear();
	rule("before the pages go the GPU loses its entries: agate_vm_try_teardown_bo()");
	check_true(active <= 0, "no entries of the GPU when the pages go", "entries");
	check_equal(scanning.taken, 3, "pages that were taken");
	rule("a job that names a purged BO is refused");
	check_errno(gpu_copy(jobs, &bo, 16, 8, 0), EFAULT, "SUBMIT");
	close(scanning.file);
	check_errno(guest_close_handle(jobs->fd, bo.handle), 0, "GEM_CLOSE");
}

/* MMU notifiers may wait for somebody who needs mappings_lock. */
static void unmapped_without_lock(struct bo *jobs)
{
	struct scanning scanning;
	struct bo bo = used_bo(jobs, 3, 17);
	bool locked, open;

	scanning.file = look_at(true);
	dontneed(&bo);
	inject_hold_entry(UNMAP, 1, INJECT_BOUND_MS);
	scanning_start(&scanning);
	rule("the page tables of all processes lose the BO before its pages go");
	check_true(aside_is_held(&scanning.aside, UNMAP), "a call of unmap_mapping_range(), by drm_vma_node_unmap()",
		   "the scan ends without it");
	locked = stays_locked(scanning.file, "mappings");
	open = !look(scanning.file, "backing");
	let_go(UNMAP);
	aside_join(&scanning.aside);
	inject_clear();
	rule("while the page tables of processes are emptied, mappings_lock is free, and backing.lock is taken");
	check_true(!locked, "mappings_lock free", "mappings_lock taken");
	check_true(!open, "backing.lock taken", "backing.lock free");
	close(scanning.file);
	guest_destroy(&bo);
}

#define NOT_TORN_DOWN \
	"when agate_vm_try_teardown_bo() gives false, the GPU may still reach the pages: they stay"

/* Where the GPU may still reach the pages, they stay. */
static void not_torn_down(struct bo *jobs)
{
	static const char *const locks[] = { "mappings", "pt" };
	struct bo bo = used_bo(jobs, 3, 17);
	int file = look_at(true);

	dontneed(&bo);
	for (int i = 0; i < 2; i++) {
		tell(file, "hold %s", locks[i]);
		rule(i ? NOT_TORN_DOWN : "the shrinker waits for no lock: it tries them");
		check_equal(scan(file, ALL), 0, i ? "pages that it takes, while another thread has pt_lock" :
			    "pages that it takes, while another thread has mappings_lock");
		check_equal(look(file, "waited"), 0, i ? "threads that wait for pt_lock" :
			    "threads that wait for mappings_lock");
		check_kept(file, "a BO whose lock is taken");
		told(file, "let-go");
	}
	inject_fail_null(TEARDOWN, 0);
	rule(NOT_TORN_DOWN);
	check_equal(scan(file, ALL), 0, "pages that it takes");
	check_at_least(inject_hits(TEARDOWN), 1, "calls of agate_vm_try_teardown_bo()");
	inject_clear();
	check_kept(file, "a BO that the GPU may still reach");
	check_full(bo.cpu, 3, 17, "of a BO that the GPU may still reach");
	rule("the next job makes entries again that were removed");
	check_errno(gpu_copy(jobs, &bo, 32, 0, 0), 0, "SUBMIT");
	check_errno(guest_wait(jobs->fd, bo.handle, FOREVER), 0, "WAIT_BO");
	check_equal(*(volatile int64_t *)((char *)bo.cpu + 32), 17, "what the job has copied");
	guest_wait_counter("jobs", 0);
	rule("what the shrinker has passed over it takes as soon as the lock is free");
	check_equal(scan(file, ALL), 3, "pages of the BO");
	close(file);
	guest_destroy(&bo);
}

void test_gpu(void **state)
{
	int fd = purge_open();
	struct bo jobs = guest_bo(fd, PAGE, 0);

	(void)state;
	entries_first(&jobs);
	unmapped_without_lock(&jobs);
	not_torn_down(&jobs);
	guest_destroy(&jobs);
	close(fd);
	check_nothing_left();
}
