// SPDX-License-Identifier: MIT
/* Lab 08: one thread imports while another one drops the last reference. */
#include "bo.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "dmabuf.h"

#define SIZE		(3 * PAGE)

/* A thread may wait for the other one so long, which may have to wait for it. */
#define BOUND_MS	1000

static struct agate_device *other_dev;
static struct agate_bo *other_bo;
static int other_fd, other_err;

static void unreference_other(void)
{
	agate_bo_unreference(other_bo);
}

static void import_other(void)
{
	other_err = agate_bo_import(other_dev, other_fd, &other_bo);
}

/* Whole: known to the kernel at its address, with a map that works. */
static void check_whole(struct agate_bo *bo, unsigned int references)
{
	void *cpu = NULL;

	lib_check_bo(bo, SIZE);
	check_equal(bo->refcnt, references, "refcnt");
	check_lib(agate_bo_mmap(bo, &cpu), 0, "agate_bo_mmap()");
	memset(cpu, 0xa5, SIZE);
}

static void check_all_closed(void)
{
	rule("each handle is closed once");
	check_equal(calls_refused(DRM_IOCTL_GEM_CLOSE), 0, "handles closed that were none");
	check_equal(lib_handles(), 0, "handles that are left");
	check_equal(calls_maps(), 0, "maps that are left");
}

/* The other thread has imported BO @far of @file whole; and nothing is left of either. */
static void other_is_whole(struct bo *far, int file)
{
	check_lib(other_err, 0, "agate_bo_import() in the other thread");
	check_whole(other_bo, 1);
	agate_bo_unreference(other_bo);
	guest_destroy(far);
	close(other_fd);
	close(file);
	check_all_closed();
}

/* An import fails, and closes its handle; another import of the dma-buf comes before that. */
static void import_beside_failure(struct agate_device *dev)
{
	struct agate_bo *imported = NULL;
	int file = guest_open(), err;
	struct bo far = guest_bo(file, SIZE, 0);

	other_fd = dmabuf_export(&far);
	calls_begin(agate_device_fd(dev));
	calls_fail(DRM_IOCTL_AGATE_GET_BO_OFFSET, 1, ENODEV);
	race_begin(DRM_IOCTL_GEM_CLOSE, CALL_BEFORE, import_other);
	err = agate_bo_import(dev, other_fd, &imported);
	race_end();
	check_lib(err, -ENODEV, "agate_bo_import() when GET_BO_OFFSET fails");
	rule("an import gives a whole BO, also while another import of the dma-buf fails");
	other_is_whole(&far, file);
}

/*
 * An import has no memory for the slot, and so no place where it could count closing up: another
 * import of the dma-buf must not come between the kernel's answer and the close.
 */
static void import_beside_no_slot(void)
{
	struct agate_device *dev = lib_open();
	struct agate_bo *imported = NULL;
	int file = guest_open(), err;
	struct bo far = guest_bo(file, SIZE, 0);

	other_dev = dev;
	other_fd = dmabuf_export(&far);
	calls_fail(CALL_ALLOC, 1, ENOMEM);
	calls_watch_memory(true);
	race_begin(DRM_IOCTL_GEM_CLOSE, CALL_BEFORE, import_other);
	err = agate_bo_import(dev, other_fd, &imported);
	calls_watch_memory(false);
	race_end();
	check_lib(err, -ENOMEM, "agate_bo_import() without memory for the first node");
	rule("an import gives a whole BO, also while another import of the dma-buf has no slot");
	other_is_whole(&far, file);
	lib_close(dev);
}

/* ---- Two threads close a handle of one number -------------------------------------- */

/* So long an import has time to take a BO that it must not take. */
#define TAKE_MS		600

static struct {
	pthread_t first, second, importer;
	sem_t at_close, may_close, asked, imported;
	atomic_int importing;	/* the importer's thread */
	struct agate_bo *bo;
	uint32_t handle;
	int err;
	bool begun;
} two;

static _Thread_local bool is_second;

/* The second thread's BO has the number of the one whose handle was just closed. */
static void *close_second(void *arg)
{
	is_second = true;
	two.err = agate_bo_create(other_dev, SIZE, 0, NULL, &two.bo);
	if (!two.err) {
		two.handle = agate_bo_handle(two.bo);
		two.err = agate_bo_export(two.bo, &other_fd);
		agate_bo_unreference(two.bo);
	}
	/* In case that it closed no handle. */
	sem_post(&two.at_close);
	return arg;
}

static void *import_second(void *arg)
{
	atomic_store(&two.importing, gettid());
	import_other();
	sem_post(&two.imported);
	return arg;
}

static void close_twice(unsigned long request, enum call_when when, void *arg)
{
	(void)arg;
	if (request == DRM_IOCTL_GEM_CLOSE && when == CALL_AFTER && !two.begun &&
	    pthread_equal(pthread_self(), two.first)) {
		two.begun = true;
		if (pthread_create(&two.second, NULL, close_second, NULL))
			abort();
		lib_wait(&two.at_close, BOUND_MS);
		if (pthread_create(&two.importer, NULL, import_second, NULL))
			abort();
		lib_wait_for(&two.asked, BOUND_MS, &two.importing);
	} else if (request == DRM_IOCTL_GEM_CLOSE && when == CALL_BEFORE && is_second) {
		sem_post(&two.at_close);
		lib_wait(&two.may_close, 4 * BOUND_MS);
	} else if (request == DRM_IOCTL_PRIME_FD_TO_HANDLE && when == CALL_AFTER) {
		sem_post(&two.asked);
	}
}

/*
 * A handle is closed, and another thread closes the BO that has got its number: closing is 2.  The
 * first thread is done, and the import of the second BO has to go on waiting.
 */
static void import_beside_two(struct agate_device *dev)
{
	struct agate_bo *bo = lib_bo(dev, SIZE, AGATE_ALLOC_SHARED);
	const uint32_t handle = agate_bo_handle(bo);

	memset(&two, 0, sizeof(two));
	sem_init(&two.at_close, 0, 0);
	sem_init(&two.may_close, 0, 0);
	sem_init(&two.asked, 0, 0);
	sem_init(&two.imported, 0, 0);
	two.first = pthread_self();
	calls_begin(agate_device_fd(dev));
	calls_hook(close_twice);
	agate_bo_unreference(bo);
	if (!two.begun)
		could_not_look("the last reference closes no handle");
	lib_wait_for(&two.imported, TAKE_MS, &two.importing);
	sem_post(&two.may_close);
	lib_join(two.second);
	lib_join(two.importer);
	calls_hook(NULL);
	check_lib(two.err, 0, "a creation and an export in the other thread");
	if (two.handle != handle)
		could_not_look("the kernel does not give the number out again");
	rule("an import waits as long as any thread is closing the handle: closing counts them all");
	check_lib(other_err, 0, "agate_bo_import()");
	check_whole(other_bo, 1);
	agate_bo_unreference(other_bo);
	close(other_fd);
	check_all_closed();
}

/* ---- The handle is another BO's by then ------------------------------------------- */

#define LATE_SIZE	(5 * PAGE)

static struct {
	pthread_t closer, importer;
	sem_t asked, made;
	atomic_int importing;	/* the importer's thread */
	struct agate_bo *late;
	bool begun, ended, answered;
} third;

static void *import_it(void *arg)
{
	atomic_store(&third.importing, gettid());
	import_other();
	return arg;
}

/*
 * The kernel answers an import with a handle, which is closed before the import goes on, and which
 * a new BO gets.
 */
static void outdate(unsigned long request, enum call_when when, void *arg)
{
	(void)arg;
	if (request == DRM_IOCTL_GEM_CLOSE && pthread_equal(pthread_self(), third.closer)) {
		if (when == CALL_BEFORE && !third.begun) {
			third.begun = true;
			if (pthread_create(&third.importer, NULL, import_it, NULL))
				abort();
			lib_wait_for(&third.asked, BOUND_MS, &third.importing);
		} else if (when == CALL_AFTER && !third.ended) {
			third.ended = true;
			other_err = agate_bo_create(other_dev, LATE_SIZE, 0, NULL, &third.late);
			sem_post(&third.made);
		}
	} else if (request == DRM_IOCTL_PRIME_FD_TO_HANDLE && when == CALL_AFTER && !third.answered) {
		third.answered = true;
		sem_post(&third.asked);
		lib_wait(&third.made, BOUND_MS);
	}
}

static void import_outdated(struct agate_device *dev)
{
	struct agate_bo *bo = lib_bo(dev, SIZE, 0);

	memset(&third, 0, sizeof(third));
	sem_init(&third.asked, 0, 0);
	sem_init(&third.made, 0, 0);
	third.closer = pthread_self();
	check_lib(agate_bo_export(bo, &other_fd), 0, "agate_bo_export()");
	calls_begin(agate_device_fd(dev));
	calls_hook(outdate);
	agate_bo_unreference(bo);
	calls_hook(NULL);
	if (!third.begun)
		could_not_look("the last reference closes no handle");
	lib_join(third.importer);
	rule("an import gives the BO of its dma-buf, also when a new BO has got the handle meanwhile");
	check_lib(other_err, 0, "agate_bo_import()");
	check_true(other_bo != third.late, "the dma-buf's BO", "the BO that another thread has just made");
	check_whole(other_bo, 1);
	rule("a BO whose handle belonged to another one before is a BO of its own");
	check_equal(third.late->size, LATE_SIZE, "size");
	check_equal(third.late->refcnt, 1, "refcnt");
	check_true(!(third.late->flags & AGATE_ALLOC_SHARED), "not SHARED", "SHARED");
	agate_bo_unreference(other_bo);
	agate_bo_unreference(third.late);
	close(other_fd);
	check_all_closed();
}

/*
 * The dma-buf was made without the library, which does not know that the BO is shared: it is on
 * its way to the cache, without a reference, when another thread imports it; or agate_bo_free()
 * has wiped its slot, and is about to close its handle.
 */
static void import_unknown(struct agate_device *dev, unsigned long request, const char *text)
{
	struct agate_bo *bo = lib_bo(dev, SIZE, 0);
	const uint32_t handle = agate_bo_handle(bo);
	int fd = agate_device_fd(dev);

	if (dmabuf_try_export(fd, handle, DRM_RDWR, &other_fd))
		could_not_look("a BO cannot be exported");
	calls_begin(fd);
	rule("%s", text);
	race_begin(request, CALL_BEFORE, import_other);
	agate_bo_unreference(bo);
	race_end();
	check_lib(other_err, 0, "agate_bo_import()");
	check_whole(other_bo, 1);
	agate_bo_unreference(other_bo);
	close(other_fd);
	check_all_closed();
}

void test_import_races(void **state)
{
	static const struct {
		unsigned long request;
		enum call_when when;
		const char *what;
	} moments[] = {
		{ CALL_MUNMAP, CALL_BEFORE, "before it is unmapped" },
		{ DRM_IOCTL_GEM_CLOSE, CALL_BEFORE, "before its handle is closed" },
		{ DRM_IOCTL_GEM_CLOSE, CALL_AFTER, "after its handle was closed" },
	};
	struct agate_device *dev = lib_open();
	struct agate_bo *imported = NULL;

	(void)state;
	other_dev = dev;
	/* The kernel has said which handle it is, and then the BO's owner drops it. */
	other_bo = lib_bo(dev, SIZE, 0);
	check_lib(agate_bo_export(other_bo, &other_fd), 0, "agate_bo_export()");
	race_begin(DRM_IOCTL_PRIME_FD_TO_HANDLE, CALL_AFTER, unreference_other);
	other_err = agate_bo_import(dev, other_fd, &imported);
	race_end();
	rule("an import gives a whole BO, also when its owner drops the BO meanwhile");
	check_lib(other_err, 0, "agate_bo_import()");
	check_whole(imported, 1);
	agate_bo_unreference(imported);
	check_all_closed();

	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		struct agate_bo *bo = lib_bo(dev, SIZE, 0);

		close(other_fd);
		check_lib(agate_bo_export(bo, &other_fd), 0, "agate_bo_export()");
		rule("an import gives a whole BO, also while the last reference goes, %s",
		     moments[i].what);
		race_begin(moments[i].request, moments[i].when, import_other);
		agate_bo_unreference(bo);
		race_end();
		check_lib(other_err, 0, "agate_bo_import()");
		check_whole(other_bo, 1);
		agate_bo_unreference(other_bo);
		check_all_closed();
	}
	close(other_fd);
	import_unknown(dev, CALL_MUNMAP, "an import gives a whole BO, also while the last reference "
		       "goes of one that was exported without the library");
	import_unknown(dev, DRM_IOCTL_GEM_CLOSE, "agate_bo_free() counts closing, as the last "
		       "unreference does: an import waits until the handle is closed");
	import_beside_failure(dev);
	import_outdated(dev);
	import_beside_two(dev);
	lib_close(dev);
	import_beside_no_slot();
}

static void import_and_drop(void)
{
	import_other();
	if (!other_err)
		agate_bo_unreference(other_bo);
}

static void import_and_keep(void)
{
	import_other();
}

static struct {
	struct agate_bo *bo;
	uint32_t refcnt;
	bool seen, filled, closing;
} at_lock;

/* This thread asks for the map lock, so it does not have it: what has it done by now? */
static void note_lock(unsigned long request, enum call_when when, void *arg)
{
	if (request != CALL_LOCK || when != CALL_BEFORE || at_lock.seen ||
	    arg != &other_dev->bo_map_lock)
		return;
	at_lock.seen = true;
	at_lock.refcnt = at_lock.bo->refcnt;
	at_lock.filled = at_lock.bo->dev;
	at_lock.closing = at_lock.bo->closing;
}

static void look_at_lock(struct agate_bo *bo, void (*end)(struct agate_bo *bo))
{
	memset(&at_lock, 0, sizeof(at_lock));
	at_lock.bo = bo;
	calls_hook(note_lock);
	calls_watch_locks(true);
	end(bo);
	calls_watch_locks(false);
	calls_hook(NULL);
}

/* Others may see what a thread does before it has the lock. */
static void before_the_lock(struct agate_device *dev)
{
	struct agate_bo *bo;

	look_at_lock(lib_bo(dev, SIZE, AGATE_ALLOC_SHARED), agate_bo_unreference);
	rule("the count goes from 1 to 0 under bo_map_lock");
	if (at_lock.seen && at_lock.refcnt != 1)
		broken("refcnt 1 until the thread has the lock",
		       "refcnt %u while the thread asks for the lock", at_lock.refcnt);
	check_lib(agate_bo_alloc(dev, SIZE, 0, NULL, &bo), 0, "agate_bo_alloc()");
	look_at_lock(bo, agate_bo_free);
	rule("a slot is wiped, and closing counted up, under bo_map_lock");
	if (at_lock.seen && !at_lock.filled)
		broken("a BO in its slot until agate_bo_free() has the lock",
		       "the slot is wiped while agate_bo_free() asks for the lock");
	check_true(!at_lock.closing, "closing 0 until agate_bo_free() has the lock",
		   "closing is counted up already while it asks for the lock");
	check_all_closed();
}

/*
 * The owner drops the last reference, and waits for a lock, the map lock most likely.  An
 * import comes first, and its owner may drop that reference at once.
 */
void test_revived(void **state)
{
	static const enum call_when when[] = { CALL_BEFORE, CALL_AFTER };
	struct agate_device *dev = lib_open();

	(void)state;
	other_dev = dev;
	for (size_t i = 0; i < 2; i++) {
		struct agate_bo *bo = lib_bo(dev, SIZE, 0);

		check_lib(agate_bo_export(bo, &other_fd), 0, "agate_bo_export()");
		/* It is known before a bug of the library can end the test. */
		rule("a BO that is imported and dropped while its last reference goes is freed once");
		calls_watch_locks(true);
		race_begin(CALL_LOCK, when[i], import_and_drop);
		agate_bo_unreference(bo);
		calls_watch_locks(false);
		race_end();
		check_lib(other_err, 0, "agate_bo_import()");
		check_all_closed();
		close(other_fd);

		bo = lib_bo(dev, SIZE, 0);
		check_lib(agate_bo_export(bo, &other_fd), 0, "agate_bo_export()");
		rule("a BO that is imported while its last reference goes has the import's reference");
		calls_watch_locks(true);
		race_begin(CALL_LOCK, when[i], import_and_keep);
		agate_bo_unreference(bo);
		calls_watch_locks(false);
		race_end();
		check_lib(other_err, 0, "agate_bo_import()");
		check_whole(other_bo, 1);
		agate_bo_unreference(other_bo);
		check_all_closed();
		close(other_fd);
	}
	before_the_lock(dev);
	lib_close(dev);
}

/* ---- Who waits for a close ------------------------------------------------------ */

static struct agate_bo *spare;

static void drop_spare(void)
{
	agate_bo_unreference(spare);
}

static void create_and_drop(void)
{
	other_err = agate_bo_create(other_dev, SIZE, 0, NULL, &other_bo);
	if (!other_err)
		agate_bo_unreference(other_bo);
}

/* One BO is being closed, and another thread does something else. */
static void close_beside(struct agate_device *dev, unsigned long request, void (*run)(void),
			 const char *what)
{
	struct agate_bo *bo = lib_bo(dev, SIZE, 0);
	bool in_time;

	spare = lib_bo(dev, SIZE, 0);
	other_err = 0;
	race_begin(request, CALL_BEFORE, run);
	race_patience(BOUND_MS);
	agate_bo_unreference(bo);
	in_time = race_end();
	check_lib(other_err, 0, what);
	rule("while a BO is unmapped and its handle closed, nobody waits who does not want it");
	if (!in_time)
		broken("a call that does not wait", "%s waits for %s of a BO that it does not want",
		       what, request == CALL_MUNMAP ? "munmap()" : "GEM_CLOSE");
	if (run != drop_spare)
		agate_bo_unreference(spare);
}

void test_nobody_waits(void **state)
{
	static const struct {
		void (*run)(void);
		const char *what;
	} others[] = {
		{ import_and_drop, "an import of another BO" },
		{ drop_spare, "the end of another BO" },
		{ create_and_drop, "a creation" },
	};
	struct agate_device *dev = lib_open();
	const bool has_cache = dev->has_cache;
	int file = guest_open();
	struct bo far = guest_bo(file, SIZE, 0);

	(void)state;
	other_dev = dev;
	other_fd = dmabuf_export(&far);
	for (size_t i = 0; i < 2 * sizeof(others) / sizeof(others[0]); i++) {
		/* The cache does not want these BOs, and then it is not there. */
		dev->has_cache = has_cache && i % 2;
		close_beside(dev, CALL_MUNMAP, others[i / 2].run, others[i / 2].what);
		close_beside(dev, DRM_IOCTL_GEM_CLOSE, others[i / 2].run, others[i / 2].what);
	}
	dev->has_cache = has_cache;
	guest_destroy(&far);
	close(other_fd);
	close(file);
	lib_close(dev);
}
