// SPDX-License-Identifier: MIT
/*
 * Lab 02: the list of BOs, which others walk at any time.  Gates hold a call where
 * somebody could meet a BO that is not complete yet, or not any more.
 */
#include "gem.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define CREATE_IOCTL	"agate_gem_create_ioctl"
#define CLOSE_IOCTL	"drm_gem_close_ioctl"
/* Sizes that no other test uses: a BO is known by its size while it has no name. */
#define CREATED_PAGES	41
#define RELEASED_PAGES	51
#define DESTROYED_PAGES	61
#define MOST_UNLOCKS	16u

/* ---- A BO joins the list ------------------------------------------------ */

static void check_complete(const struct look *look)
{
	check_equal(look->sizeless, 0, "BOs of 0 bytes on the list");
	if (!look->found)
		return;
	check_at_least(look->bo.refs, 1, "references of a BO that has just joined");
	if (strcmp(look->bo.flags, "noexec,gpu_readonly"))
		broken("flags \"noexec,gpu_readonly\"", "flags \"%s\"", look->bo.flags);
	if (look->bo.label[0])
		broken("no label", "label \"%s\"", look->bo.label);
	check_true(look->silent, "the gfp mask of step 1 on a BO that is listed", look->mask);
}

/*
 * CREATE_BO is held each time it has given a lock back, for the nth time in all: that
 * is when others can have the list.  False when it gave back fewer.
 */
static bool look_after_unlock(int fd, unsigned int nth, bool *listed)
{
	const uint64_t size = (CREATED_PAGES + nth) * PAGE;
	struct look look = { .size = size, .silent = -1 };
	struct creation creation;
	bool held;

	inject_within(CREATE_IOCTL);
	inject_hold_return("mutex_unlock", nth, INJECT_BOUND_MS);
	start_creation(&creation, fd, size, AGATE_BO_NOEXEC | AGATE_BO_GPU_READONLY);
	held = aside_is_held(&creation.aside, "mutex_unlock");
	if (held) {
		start_look(&look, size);
		/* It may have to wait, for a lock that CREATE_BO still has: that is no mistake. */
		if (!aside_ends(&look.aside, ASLEEP_MS))
			held = false;
		let_go("mutex_unlock");
		aside_join(&look.aside);
	}
	aside_join(&creation.aside);
	held = held && inject_hits("mutex_unlock") >= nth;
	inject_clear();
	rule("a BO joins gem.bos when it is complete");
	check_complete(&look);
	*listed = *listed || look.found;
	if (!creation.err)
		check_errno(guest_close_handle(fd, creation.bo.handle), 0, "GEM_CLOSE");
	return held;
}

/* All fields at once, of every kind of BO.  There may be no handles yet. */
static void every_kind_is_complete(int fd)
{
	FILE *watched = promises_watch();
	uint32_t flags[KINDS];
	unsigned int n = kinds(flags);
	struct bo bo;

	for (unsigned int i = 0; i < n; i++)
		if (!gem_create(fd, (CREATED_PAGES + i) * PAGE - i, flags[i], &bo))
			guest_close_handle(fd, bo.handle);
	if (!gem_create(fd, CREATED_PAGES * PAGE, AGATE_BO_CONTIGUOUS, &bo))
		guest_close_handle(fd, bo.handle);
	promises_kept(watched, " listed backing flags complete asked order ");
}

void test_listed_complete(void **state)
{
	unsigned int nth = 1;
	bool listed = false;
	int fd = gem_open();

	(void)state;
	check_bo_is_made(fd, CREATED_PAGES * PAGE, AGATE_BO_NOEXEC);
	while (look_after_unlock(fd, nth, &listed) && nth < MOST_UNLOCKS)
		nth++;
	rule("a BO joins gem.bos under gem.lock, before its first handle exists");
	check_true(listed, "the BO on the list when CREATE_BO has given gem.lock back",
		   "CREATE_BO never gave back a lock with its BO on the list");
	every_kind_is_complete(fd);
	close(fd);
}

/* ---- The list's lock ----------------------------------------------------- */

/* A call, and how many BOs the walk had come to when it returned. */
struct change {
	struct aside aside;
	int fd;
	struct bo bo;		/* to close */
	unsigned int hits;
	int err;
};

static void run_create(void *arg)
{
	struct change *change = arg;
	struct bo bo;

	change->err = gem_create(change->fd, PAGE, 0, &bo);
	change->hits = inject_hits("agate_gem_get_label");
}

static void run_close(void *arg)
{
	struct change *change = arg;

	change->err = guest_close_handle(change->fd, change->bo.handle);
	change->hits = inject_hits("agate_gem_get_label");
}

/*
 * debugfs walks the list under gem.lock, and is held at the first BO.  A BO that comes
 * or goes has to wait until the walk is over: then it has come to them all.
 */
static void change_while_walked(struct change *creating, struct change *closing)
{
	struct look look;

	inject_hold_entry("agate_gem_get_label", 1, INJECT_BOUND_MS);
	start_look(&look, PAGE);
	if (!aside_is_held(&look.aside, "agate_gem_get_label"))
		broken("debugfs comes to the BOs on the list", "it saw none");
	hurry(CLOSE_IOCTL);
	hurry(CREATE_IOCTL);
	aside_start(&closing->aside, run_close, closing);
	aside_ends(&closing->aside, ASLEEP_MS);
	aside_start(&creating->aside, run_create, creating);
	aside_ends(&creating->aside, ASLEEP_MS);
	let_go("agate_gem_get_label");
	aside_join(&closing->aside);
	aside_join(&creating->aside);
	aside_join(&look.aside);
	inject_clear();
}

void test_list_lock(void **state)
{
	int fd = gem_open(), other = guest_open();
	struct change closing = { .fd = fd }, creating = { .fd = other };
	unsigned int all;

	(void)state;
	rule("CREATE_BO makes a BO and returns 0");
	make_bo(fd, PAGE, 0);
	closing.bo = make_bo(fd, PAGE, 0);
	all = look_for(PAGE).all;
	check_at_least(all, 2, "BOs on the list");
	change_while_walked(&creating, &closing);

	rule("gem.lock protects the list: no BO on it is freed while somebody walks it");
	check_errno(closing.err, 0, "GEM_CLOSE");
	check_at_least(closing.hits, all, "BOs that debugfs had visited when GEM_CLOSE returned");
	rule("no wait for a lock gives up: CREATE_BO waits until it has gem.lock");
	check_errno(creating.err, 0, "CREATE_BO, which got no signal");
	rule("gem.lock protects the list: no BO joins it while somebody walks it");
	check_at_least(creating.hits, all, "BOs that debugfs had visited when CREATE_BO returned");
	check_killed_closer(fd);
	check_interrupted_creates(fd);
	close(other);
	close(fd);
}

/* ---- A BO leaves the list ------------------------------------------------ */

/* A BO that has pages, and waits on the list of those that can be purged. */
static struct bo make_purgeable(int fd, uint64_t size)
{
	struct bo bo;

	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, size, 0);
	guest_map(&bo);
	memset(bo.cpu, 1, PAGE);
	munmap(bo.cpu, bo.size);
	bo.cpu = NULL;
	advise(&bo, AGATE_MADV_DONTNEED);
	return bo;
}

void test_release_order(void **state)
{
	const uint64_t size = RELEASED_PAGES * PAGE;
	int fd = gem_open();
	struct live before = live_now();
	bool held, could_walk = false;
	struct look look = { .found = false };
	struct closing closing;
	unsigned int forgotten;
	FILE *watched;
	struct bo bo;

	(void)state;
	bo = make_purgeable(fd, size);
	inject_count("agate_purge_forget");
	inject_hold_entry("agate_backing_release", 1, INJECT_BOUND_MS);
	start_closing(&closing, &bo);
	held = aside_is_held(&closing.aside, "agate_backing_release");
	forgotten = inject_hits("agate_purge_forget");
	if (held) {
		start_look(&look, size);
		/* A free that has gem.lock all the time breaks promise "outer", and not this one. */
		could_walk = aside_ends(&look.aside, ASLEEP_MS);
		let_go("agate_backing_release");
		aside_join(&look.aside);
	}
	aside_join(&closing.aside);
	inject_clear();

	rule("gem_free() gives the BO's pages back: agate_backing_release()");
	check_errno(closing.err, 0, "GEM_CLOSE");
	check_true(held, "a call of agate_backing_release() when the last reference goes", "none");
	rule("the list of purgeable BOs forgets a BO before its pages go: agate_purge_forget()");
	check_equal(forgotten, 1, "calls of agate_purge_forget() before agate_backing_release()");
	rule("a BO stays in gem.bos until its pages are released: removal must find it to unmap it");
	check_true(!could_walk || look.found, "the BO on the list when agate_backing_release() begins",
		   "it has left the list");
	rule("a BO that was freed is on no list");
	check_live(&before);
	check_true(!look_for(size).found, "a list without the BO", "the BO is listed");
	shrink();
	watched = promises_watch();
	live_and_die(fd);
	end_everywhere(fd);
	promises_kept(watched, " flags complete ended free outer names ");
	check_live(&before);
	close(fd);
}

/* ---- For the debug kernel: what is left of the BO's locks ----------------- */

/* Mutexes that are initialised inside @symbol, in a CREATE_BO for each kind of BO. */
static unsigned int mutexes_made(int fd, const char *symbol)
{
	struct bo bo[KINDS];
	unsigned int made, n;

	inject_within(symbol);
	inject_count("__mutex_init");
	n = make_and_use(fd, LIFE_NEW, bo);
	made = inject_hits("__mutex_init");
	inject_clear();
	close_kinds(bo, n);
	return made;
}

/*
 * A shmem file has a mutex of its own, which the kernel never destroys, and CREATE_BO may make the
 * file; all others are the BO's, its dma_resv's among them.
 */
static void count_mutexes(int fd)
{
	unsigned int made, destroyed, n;
	struct bo bo[KINDS];

	made = mutexes_made(fd, CREATE_IOCTL);
	made -= mutexes_made(fd, "shmem_file_setup");
	n = make_and_use(fd, LIFE_PURGED, bo);
	inject_within(CLOSE_IOCTL);
	inject_count("mutex_destroy");
	close_kinds(bo, n);
	destroyed = inject_hits("mutex_destroy");
	inject_clear();
	rule("every mutex of a BO, whatever its kind, is destroyed with it: its own three, and the one "
	     "of its dma_resv, which drm_gem_object_release() destroys");
	check_equal(destroyed, made, "mutexes that were destroyed, that of the dma_resv among them");
}

/* GEM_CLOSE is held before the nth mutex_destroy(); false when there are fewer. */
static bool look_after_destroy(int fd, unsigned int nth)
{
	const uint64_t size = (DESTROYED_PAGES + nth) * PAGE;
	struct look look = { .size = size };
	bool held, could_walk = false;
	struct closing closing;
	struct bo bo;

	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, size, 0);
	inject_within(CLOSE_IOCTL);
	inject_hold_entry("mutex_destroy", nth, INJECT_BOUND_MS);
	start_closing(&closing, &bo);
	held = aside_is_held(&closing.aside, "mutex_destroy");
	if (held) {
		start_look(&look, size);
		could_walk = aside_ends(&look.aside, ASLEEP_MS);
		let_go("mutex_destroy");
		aside_join(&look.aside);
	}
	aside_join(&closing.aside);
	inject_clear();
	check_errno(closing.err, 0, "GEM_CLOSE");
	rule("a BO's mutexes, its dma_resv's too, are destroyed when no list leads to it any more");
	check_true(!could_walk || !look.found, "a list without the BO when a mutex of it goes",
		   "the BO still listed");
	return held;
}

/*
 * A mapping keeps a BO and its file after the driver has let go of the device: they go
 * when all topics have ended.
 */
static struct bo make_unnamed(void)
{
	int fd = gem_open();
	struct bo bo;

	rule("CREATE_BO makes a BO and returns 0");
	bo = guest_bo(fd, DESTROYED_PAGES * PAGE, 0);
	memset(bo.cpu, 1, PAGE);
	advise(&bo, AGATE_MADV_DONTNEED);
	close(fd);
	return bo;
}

/* The last reference goes while the driver has let go of the device: no topic is there. */
static void free_without_topics(const struct bo *bo, unsigned int *forgotten,
				unsigned int *released)
{
	inject_count("agate_purge_forget");
	inject_count("agate_backing_release");
	munmap(bo->cpu, bo->size);
	*forgotten = inject_hits("agate_purge_forget");
	*released = inject_hits("agate_backing_release");
	inject_clear();
}

/* The device comes back as another struct agate_device, while a BO of the old one lives. */
static void outlive_the_device(void)
{
	struct bo first = make_unnamed(), second = make_unnamed();
	unsigned int forgotten, released;
	FILE *watched = promises_watch();
	struct live before;
	int fd;

	rule("a BO may outlive the topic, and gem.lock with it");
	check_errno(device_unbind(), 0, "unbinding the device");
	free_without_topics(&first, &forgotten, &released);
	rule("a BO may outlive its device");
	check_errno(device_bind(), 0, "binding the device");
	rule("a BO that outlives the topics ends as any other: gem_free() asks for no topic");
	check_equal(forgotten, 1, "calls of agate_purge_forget()");
	check_equal(released, 1, "calls of agate_backing_release()");
	promises_kept(watched, " listed free ");
	fd = gem_open();
	rule("agate_gem_topic_init() gets each device ready, each time it comes");
	check_bo_is_made(fd, DESTROYED_PAGES * PAGE, 0);
	before = live_now();
	munmap(second.cpu, second.size);
	rule("a BO belongs to the device that it was made for: to_agate_device(obj->dev)");
	check_live(&before);
	close(fd);
}

void test_destroyed(void **state)
{
	int fd = gem_open();
	struct live before = live_now();
	unsigned int nth = 1;

	(void)state;
	count_mutexes(fd);
	while (look_after_destroy(fd, nth) && nth < MOST_UNLOCKS)
		nth++;
	check_live(&before);
	close(fd);
	outlive_the_device();
}
