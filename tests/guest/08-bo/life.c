// SPDX-License-Identifier: MIT
/* Lab 08: the life of a BO: mapped, counted, freed, and its slot used again. */
#include "bo.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#define DELAY		AGATE_ALLOC_DELAY_MMAP
#define INVISIBLE	AGATE_ALLOC_INVISIBLE
#define SIZE		(3 * PAGE)
#define ROUNDS		300

static void *map_of(struct agate_bo *bo)
{
	void *cpu = NULL;

	check_lib(agate_bo_mmap(bo, &cpu), 0, "agate_bo_mmap()");
	check_true(cpu, "an address", "NULL");
	return cpu;
}

static int mapped_prot;
static struct agate_bo *first_slot;
static uint32_t refcnt_at_map;

static void note_map(unsigned long request, enum call_when when, void *arg)
{
	if (request == CALL_MMAP && when == CALL_BEFORE)
		mapped_prot = ((int *)arg)[0];
}

static void note_refcnt(unsigned long request, enum call_when when, void *arg)
{
	(void)arg;
	if (request == CALL_MMAP && when == CALL_BEFORE)
		refcnt_at_map = first_slot->refcnt;
}

void test_mapped(void **state)
{
	struct agate_device *dev = lib_open();
	struct agate_bo *bo, *heap;
	unsigned char *cpu;
	void *no = dev;

	(void)state;
	rule("a BO without INVISIBLE and DELAY_MMAP is mapped when it is made");
	/* The kernel gives the lowest number. */
	first_slot = agate_sparse_array_get(&dev->bo_map, 1);
	calls_hook(note_refcnt);
	bo = lib_bo(dev, SIZE, 0);
	calls_hook(NULL);
	check_equal(calls_made(CALL_MMAP), 1, "maps that were made");
	rule("agate_bo_create() sets refcnt to 1 as its last step");
	check_equal(refcnt_at_map, 0, "refcnt while the BO is being mapped");
	rule("agate_bo_mmap() finds the map that is there");
	cpu = map_of(bo);
	check_true(map_of(bo) == cpu, "the same address", "another one");
	check_equal(calls_made(CALL_MMAP), 1, "maps that were made");
	check_equal(calls_made(DRM_IOCTL_AGATE_MMAP_BO), 1, "calls of MMAP_BO");
	rule("all of the BO is mapped, for reading and writing");
	memset(cpu, 0x5a, SIZE);
	check_equal(cpu[SIZE - 1], 0x5a, "the last byte");
	rule("the map goes with the BO");
	agate_bo_unreference(bo);
	check_equal(calls_maps(), 0, "maps that are left");
	check_equal(lib_handles(), 0, "handles that are left");

	rule("a BO with DELAY_MMAP is mapped by the first agate_bo_mmap()");
	calls_begin(agate_device_fd(dev));
	bo = lib_bo(dev, SIZE, DELAY);
	check_equal(calls_made(CALL_MMAP), 0, "maps before agate_bo_mmap()");
	memset(map_of(bo), 1, SIZE);
	map_of(bo);
	check_equal(calls_made(CALL_MMAP), 1, "maps after it");
	agate_bo_unreference(bo);
	rule("a BO that was never mapped is not unmapped");
	bo = lib_bo(dev, SIZE, DELAY);
	agate_bo_unreference(bo);
	check_equal(calls_made(CALL_MUNMAP), 1, "maps that were removed");

	rule("an INVISIBLE BO is never mapped");
	calls_begin(agate_device_fd(dev));
	bo = lib_bo(dev, SIZE, INVISIBLE);
	heap = lib_bo(dev, 4 << 20, INVISIBLE | AGATE_ALLOC_GROWABLE);
	check_lib(agate_bo_mmap(bo, &no), -EINVAL, "agate_bo_mmap() of an INVISIBLE BO");
	check_lib(agate_bo_mmap(heap, &no), -EINVAL, "agate_bo_mmap() of a heap");
	check_equal(calls_made(CALL_MMAP), 0, "maps that were made");
	rule("a call that fails writes nothing through its out-parameters");
	check_true(no == dev, "*cpu as it was", "it changed");
	agate_bo_unreference(bo);
	agate_bo_unreference(heap);

	rule("a CPU_READONLY BO is mapped for reading only: the kernel refuses more");
	calls_hook(note_map);
	bo = lib_bo(dev, SIZE, AGATE_ALLOC_CPU_READONLY);
	check_equal(mapped_prot, PROT_READ, "PROT_ bits of the map");
	check_equal(*(unsigned char *)map_of(bo), 0, "its first byte");
	agate_bo_unreference(bo);
	calls_hook(NULL);
	lib_close(dev);
}

/* Each call of a creation fails in turn. */
static void creation_fails(struct agate_device *dev)
{
	const struct agate_bo *slot = agate_sparse_array_get(&dev->bo_map, 1);
	static const struct {
		unsigned long request;
		int err;
		const char *what;
	} steps[] = {
		{ DRM_IOCTL_AGATE_CREATE_BO, ENOMEM, "CREATE_BO" },
		{ DRM_IOCTL_AGATE_CREATE_BO, ENOSPC, "CREATE_BO" },
		{ DRM_IOCTL_AGATE_SET_LABEL, ENOMEM, "SET_LABEL" },
		{ DRM_IOCTL_AGATE_MMAP_BO, ENODEV, "MMAP_BO" },
		{ CALL_MMAP, ENOMEM, "mmap()" },
		{ CALL_MMAP, EAGAIN, "mmap()" },
	};
	struct agate_bo *const untouched = (void *)&steps, *bo;
	char what[128], want[16];

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		bo = untouched;
		calls_begin(agate_device_fd(dev));
		calls_fail(steps[i].request, 1, steps[i].err);
		snprintf(what, sizeof(what), "agate_bo_create() when %s fails with %s", steps[i].what,
			 guest_errno_name(steps[i].err, want, sizeof(want)));
		rule("a creation whose %s fails gives the error of this step", steps[i].what);
		check_lib(agate_bo_create(dev, SIZE, 0, "victim", &bo), -steps[i].err, what);
		rule("a creation whose %s fails leaves nothing behind", steps[i].what);
		check_true(bo == untouched, "*bo as it was", "it changed");
		check_equal(calls_maps(), 0, "maps that are left");
		check_equal(lib_handles(), 0, "handles that are left");
		check_equal(calls_refused(DRM_IOCTL_GEM_CLOSE), 0, "handles that were closed twice");
		/* The kernel had given the lowest number. */
		check_true(!slot->dev, "a slot without a device", "the slot still has one");
	}
	rule("the slot of a creation that failed can be used again");
	bo = lib_bo(dev, SIZE, 0);
	lib_check_bo(bo, SIZE);
	agate_bo_unreference(bo);
}

void test_fails(void **state)
{
	struct agate_device *dev = lib_open(), *fresh;
	struct agate_bo *bo;
	void *cpu = dev;
	int err;

	(void)state;
	creation_fails(dev);

	/* The first BO of a device: the array has no node yet. */
	fresh = lib_open();
	calls_fail(CALL_ALLOC, 1, ENOMEM);
	bo = NULL;
	calls_watch_memory(true);
	err = agate_bo_create(fresh, SIZE, DELAY, NULL, &bo);
	calls_watch_memory(false);
	rule("a creation without memory for the slot gives ENOMEM, and closes the handle");
	check_lib(err, -ENOMEM, "agate_bo_create() without memory for the first node");
	check_equal(lib_handles(), 0, "handles that are left");
	agate_device_close(fresh);

	calls_begin(agate_device_fd(dev));
	rule("a map that fails is an error that the caller sees, and the next one may succeed");
	bo = lib_bo(dev, SIZE, DELAY);
	calls_fail(CALL_MMAP, 1, ENOMEM);
	check_lib(agate_bo_mmap(bo, &cpu), -ENOMEM, "agate_bo_mmap() when mmap() fails");
	calls_fail(DRM_IOCTL_AGATE_MMAP_BO, 1, ENODEV);
	check_lib(agate_bo_mmap(bo, &cpu), -ENODEV, "agate_bo_mmap() when MMAP_BO fails");
	check_true(cpu == dev, "*cpu as it was", "it changed");
	memset(map_of(bo), 1, SIZE);
	agate_bo_unreference(bo);
	lib_close(dev);
}

void test_references(void **state)
{
	const unsigned int more = (unsigned int)param("MORE");
	struct agate_device *dev = lib_open();
	struct agate_bo *bo = lib_bo(dev, SIZE, 0);

	(void)state;
	rule("agate_bo_reference() returns its BO");
	for (unsigned int i = 0; i < more; i++)
		check_true(agate_bo_reference(bo) == bo, "the BO", "another pointer");
	rule("a BO lives as long as it has a reference");
	for (unsigned int i = 0; i < more; i++) {
		agate_bo_unreference(bo);
		check_equal(calls_made(DRM_IOCTL_GEM_CLOSE), 0, "handles closed");
		check_equal(calls_maps(), 1, "its map");
	}
	rule("the last reference unmaps a BO, and closes its handle, once");
	agate_bo_unreference(bo);
	check_equal(calls_made(DRM_IOCTL_GEM_CLOSE), 1, "handles closed");
	check_equal(calls_refused(DRM_IOCTL_GEM_CLOSE), 0, "handles closed that were none");
	check_equal(calls_maps(), 0, "maps that are left");
	rule("agate_bo_unreference(NULL) does nothing");
	agate_bo_unreference(NULL);
	check_equal(calls_made(DRM_IOCTL_GEM_CLOSE), 1, "handles closed");

	rule("agate_bo_free() unmaps a BO and closes its handle, without a reference");
	check_lib(agate_bo_alloc(dev, SIZE, 0, "spare", &bo), 0, "agate_bo_alloc()");
	check_equal(bo->refcnt, 0, "references after agate_bo_alloc()");
	check_equal(calls_maps(), 0, "maps after agate_bo_alloc()");
	map_of(bo);
	agate_bo_free(bo);
	check_equal(calls_maps(), 0, "maps that are left");
	check_equal(lib_handles(), 0, "handles that are left");
	lib_close(dev);
}

/* The kernel reuses the number of a closed handle: nothing of the old BO may show. */
void test_slot_again(void **state)
{
	struct agate_device *dev = lib_open();
	struct agate_bo *bo = lib_bo(dev, SIZE, 0), *next;
	const uint32_t handle = agate_bo_handle(bo);
	int fd = -1;

	(void)state;
	rule("a slot that is used again has nothing of the BO before");
	agate_bo_mark_submitted(bo, AGATE_ACCESS_RW);
	bo->bound = true;
	if (!agate_bo_export(bo, &fd))
		close(fd);
	agate_bo_unreference(bo);
	check_true(!bo->dev, "a slot without a device", "the slot still has one");
	next = lib_bo(dev, PAGE, DELAY);
	check_equal(agate_bo_handle(next), handle, "the number, which the kernel gives out again");
	check_true(next == bo, "the same slot for the same handle", "another one");
	lib_check_bo(next, PAGE);
	lib_check_flags(next, DELAY);
	check_equal((int64_t)next->pending, 0, "work that nobody has waited for");
	check_true(!next->cpu, "no map yet", "the map of the BO before");
	check_true(!next->bound, "bound is false", "bound is still true, as for the BO before");
	check_equal(next->refcnt, 1, "refcnt");
	memset(map_of(next), 1, PAGE);
	agate_bo_unreference(next);
	lib_close(dev);
}

/* ---- Two threads, one number ----------------------------------------------- */

static struct agate_device *other_dev;
static struct agate_bo *other_bo;
static int other_err;

static void create_other(void)
{
	other_err = agate_bo_create(other_dev, 2 * PAGE, 0, NULL, &other_bo);
}

static void create_and_drop_other(void)
{
	create_other();
	if (!other_err)
		agate_bo_unreference(other_bo);
}

/* One BO's handle is just closed; another BO gets that number, and goes first. */
static void overtaken(struct agate_device *dev)
{
	struct agate_bo *bo = lib_bo(dev, SIZE, 0), *slot = bo;

	race_begin(DRM_IOCTL_GEM_CLOSE, CALL_AFTER, create_and_drop_other);
	agate_bo_unreference(bo);
	race_end();
	rule("when the threads have closed their handles the slot counts nobody who closes one");
	check_lib(other_err, 0, "agate_bo_create() in the other thread");
	check_equal(slot->closing, 0, "closing");
}

void test_closing(void **state)
{
	static const struct {
		unsigned long request;
		enum call_when when;
		const char *what;
	} moments[] = {
		{ DRM_IOCTL_GEM_CLOSE, CALL_AFTER, "right after GEM_CLOSE" },
		{ DRM_IOCTL_GEM_CLOSE, CALL_BEFORE, "right before GEM_CLOSE" },
		{ CALL_MUNMAP, CALL_AFTER, "right after munmap()" },
	};
	struct agate_device *dev = lib_open();

	(void)state;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		struct agate_bo *bo = lib_bo(dev, SIZE, 0);

		other_dev = dev;
		other_bo = NULL;
		/* It is known before an assertion of the library's can end the test. */
		rule("a BO that is made %s of another one is whole", moments[i].what);
		race_begin(moments[i].request, moments[i].when, create_other);
		agate_bo_unreference(bo);
		race_end();
		check_lib(other_err, 0, "agate_bo_create() in the other thread");
		lib_check_bo(other_bo, 2 * PAGE);
		check_equal(other_bo->refcnt, 1, "refcnt");
		memset(map_of(other_bo), 0xa5, 2 * PAGE);
		agate_bo_unreference(other_bo);
		rule("each handle is closed once");
		check_equal(calls_refused(DRM_IOCTL_GEM_CLOSE), 0, "handles closed that were none");
		check_equal(lib_handles(), 0, "handles that are left");
	}
	overtaken(dev);
	lib_close(dev);
}

/* ---- The way into the cache --------------------------------------------------- */

static unsigned int maps_at_advice;
static bool locked_at_advice;
static pthread_mutex_t *map_lock;

static void note_advice(unsigned long request, enum call_when when, void *arg)
{
	const struct drm_agate_madvise *advice = arg;

	if (request == DRM_IOCTL_AGATE_MADVISE && when == CALL_BEFORE &&
	    advice->madv == AGATE_MADV_DONTNEED) {
		maps_at_advice = calls_maps();
		/* There is one thread: who else should have the lock? */
		locked_at_advice = pthread_mutex_trylock(map_lock) != 0;
		if (!locked_at_advice)
			pthread_mutex_unlock(map_lock);
	}
}

/* A job that uses the BO has not ended yet when its last reference goes. */
static void busy_in_the_cache(struct agate_device *dev)
{
	struct agate_bo *bo = lib_bo(dev, SIZE, DELAY), *jobs = lib_bo(dev, PAGE, 0);
	const int timeline = guest_timeline();

	lib_submit(jobs, bo, AGATE_ACCESS_RW, timeline);
	agate_bo_unreference(bo);
	rule("a BO takes its record of pending work into the cache: the job may still write to it");
	if (!bo->dev)
		note("a BO that a job uses did not go into the cache, so nobody looked at its record");
	else if (!(bo->pending & AGATE_ACCESS_WRITE))
		broken("pending: the bit of jobs that write the BO",
		       "pending: not this bit, so the next owner takes the BO for idle");
	guest_timeline_advance(timeline);
	check_lib(agate_bo_wait(jobs, FOREVER, true), 0, "agate_bo_wait()");
	close(timeline);
	agate_bo_unreference(jobs);
}

void test_cached(void **state)
{
	struct agate_device *dev = lib_open_cached();
	struct agate_bo_cache_stats stats;
	struct agate_bo *bo;
	int fd = -1;

	(void)state;
	if (agate_bo_cache_get_stats(dev, &stats))
		broken("a library with a cache, which is lab 09's", "EOPNOTSUPP");
	rule("a BO goes into the cache without a map");
	bo = lib_bo(dev, SIZE, 0);
	maps_at_advice = 0;
	locked_at_advice = false;
	map_lock = &dev->bo_map_lock;
	calls_hook(note_advice);
	agate_bo_unreference(bo);
	calls_hook(NULL);
	check_equal(maps_at_advice, 0, "maps when the kernel hears DONTNEED");
	agate_bo_cache_get_stats(dev, &stats);
	check_equal((int64_t)stats.puts, 1, "BOs that went into the cache");
	check_equal(calls_made(DRM_IOCTL_GEM_CLOSE), 0, "handles closed");
	rule("agate_bo_cache_put() is called without bo_map_lock");
	check_true(!locked_at_advice, "bo_map_lock is free while the BO goes into the cache",
		   "bo_map_lock is taken: the cache takes a lock of its own, and may free BOs");

	rule("a BO from the cache is like a new one: a map if its flags say so, one reference");
	calls_begin(agate_device_fd(dev));
	bo = lib_bo(dev, SIZE, 0);
	check_equal(calls_made(DRM_IOCTL_AGATE_CREATE_BO), 0, "calls of CREATE_BO");
	check_equal(calls_made(CALL_MMAP), 1, "maps that were made");
	check_equal(bo->refcnt, 1, "refcnt");
	memset(map_of(bo), 3, SIZE);
	agate_bo_unreference(bo);

	rule("a BO from the cache may be larger than asked for, and keeps its size");
	bo = lib_bo(dev, SIZE - PAGE, 0);
	if (calls_made(DRM_IOCTL_AGATE_CREATE_BO))
		could_not_look("the cache does not have the BO that it was given");
	check_equal((int64_t)agate_bo_size(bo), SIZE, "agate_bo_size() of a BO of 3 pages");
	check_equal(calls_maps(), 1, "maps");

	rule("a creation from the cache that fails frees the BO");
	agate_bo_unreference(bo);
	calls_fail(CALL_MMAP, 1, ENOMEM);
	check_lib(agate_bo_create(dev, SIZE, 0, NULL, &bo), -ENOMEM, "agate_bo_create() without a map");
	check_equal(lib_handles(), 0, "handles that are left");

	rule("a SHARED BO never goes into the cache");
	agate_bo_cache_get_stats(dev, &stats);
	bo = lib_bo(dev, SIZE, AGATE_ALLOC_SHARED);
	agate_bo_unreference(bo);
	check_equal(lib_handles(), 0, "handles that are left");
	bo = lib_bo(dev, SIZE, 0);
	if (!agate_bo_export(bo, &fd))
		close(fd);
	agate_bo_unreference(bo);
	if (fd >= 0)
		check_equal(lib_handles(), 0, "handles of an exported BO that are left");

	busy_in_the_cache(dev);
	rule("a library without a cache gives BOs back to the kernel");
	agate_bo_cache_trim(dev);
	dev->has_cache = false;
	calls_begin(agate_device_fd(dev));
	bo = lib_bo(dev, SIZE, 0);
	agate_bo_unreference(bo);
	check_equal(calls_made(DRM_IOCTL_GEM_CLOSE), 1, "handles closed");
	check_equal(calls_made(DRM_IOCTL_AGATE_MADVISE), 0, "advice to the kernel");
	dev->has_cache = true;
	lib_close(dev);
}

/* ---- Eight threads ------------------------------------------------------------ */

static struct agate_bo *shared_bo;
static unsigned int failures;
static void *map_seen[LIB_THREADS];

static void use_shared(unsigned int thread, void *arg)
{
	(void)arg;
	if (agate_bo_mmap(shared_bo, &map_seen[thread]))
		__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < ROUNDS; i++)
		agate_bo_unreference(agate_bo_reference(shared_bo));
	agate_bo_unreference(shared_bo);
}

static void map_other(void)
{
	map_seen[1] = NULL;
	if (agate_bo_mmap(shared_bo, &map_seen[1]))
		failures++;
}

void test_threads(void **state)
{
	struct agate_device *dev = lib_open();

	(void)state;
	rule("two threads that map a BO at the same time get the same map, and it is the only one");
	for (unsigned int i = 0; i < 2; i++) {
		shared_bo = lib_bo(dev, SIZE, DELAY);
		race_begin(CALL_MMAP, i ? CALL_AFTER : CALL_BEFORE, map_other);
		map_seen[0] = map_of(shared_bo);
		race_end();
		check_equal(failures, 0, "calls of agate_bo_mmap() that failed");
		check_true(map_seen[0] == map_seen[1], "one address", "two");
		check_equal(calls_maps(), 1, "maps of the BO");
		agate_bo_unreference(shared_bo);
	}
	for (unsigned int round = 0; round < 20; round++) {
		shared_bo = lib_bo(dev, SIZE, DELAY);
		for (unsigned int t = 1; t < LIB_THREADS; t++)
			agate_bo_reference(shared_bo);
		calls_begin(agate_device_fd(dev));
		crowd(use_shared, NULL);
		rule("two threads that map a BO at the same time get the same map, and it is the only one");
		check_equal(failures, 0, "calls of agate_bo_mmap() that failed");
		for (unsigned int t = 1; t < LIB_THREADS; t++)
			check_true(map_seen[t] == map_seen[0], "one address", "two");
		rule("whichever thread drops the last reference, the BO goes once");
		check_equal(calls_made(DRM_IOCTL_GEM_CLOSE), 1, "handles closed");
		check_equal(lib_handles(), 0, "handles that are left");
	}
	lib_close(dev);
}
