// SPDX-License-Identifier: MIT
/* Lab 02, steps 2 to 4: handles, who may use them, and what ends with them. */
#include "clients.h"
#include "gem.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CLOSE_BO	"agate_vm_close_bo"
#define LOOKUPS		5
#define MOST_OPEN	64
#define MANY_BOS	270
/* One in so many BOs that come and go is touched. */
#define TOUCHED		8
/* A size that no other test uses: a BO is known by its size while it has no name. */

/* Sizes and flags in turn, a heap among them. */
static struct bo make_some(int fd, unsigned int i)
{
	static const uint32_t flags[] = {
		0, AGATE_BO_NOEXEC, AGATE_BO_HEAP | AGATE_BO_NOEXEC, AGATE_BO_GPU_READONLY,
	};

	return make_bo(fd, (1 + i % 3) * PAGE, flags[i % 4]);
}

static void no_such_handle(int fd, uint32_t handle, const char *which)
{
	uint64_t offset;
	char what[64];

	snprintf(what, sizeof(what), "GET_BO_OFFSET of %s", which);
	check_errno(get_offset(fd, handle, &offset), ENOENT, what);
}

/* Each number has 32 bits, and all of them count. */
static void every_bit_counts(const struct bo *bo)
{
	const unsigned int live = list_bos(bo->fd, NULL, 0);
	char which[40];
	int err;

	for (unsigned int bit = 0; bit < 32; bit++) {
		const uint32_t other = bo->handle ^ 1u << bit;

		if (other <= live)
			continue;
		snprintf(which, sizeof(which), "%#x, and %#x is a handle", other, bo->handle);
		no_such_handle(bo->fd, other, which);
		err = set_label(bo->fd, other, "x", 1);
		/* SET_LABEL comes with step 4. */
		if (err != EOPNOTSUPP)
			check_errno(err, ENOENT, "SET_LABEL of a number that is no handle");
	}
}

/* More than a byte can count. */
static void each_finds_its_own(int fd)
{
	struct bo bo[MANY_BOS];
	uint64_t offset;

	for (unsigned int i = 0; i < MANY_BOS; i++)
		bo[i] = make_bo(fd, PAGE, i % 2 ? AGATE_BO_NOEXEC : 0);
	for (unsigned int i = 0; i < MANY_BOS; i++) {
		rule("agate_gem_lookup() finds the BO behind a handle of the file");
		check_errno(get_offset(fd, bo[i].handle, &offset), 0, "GET_BO_OFFSET");
		check_equal((int64_t)offset, (int64_t)bo[i].va, "the offset it gives");
	}
	for (unsigned int i = 0; i < MANY_BOS; i++)
		check_errno(guest_close_handle(fd, bo[i].handle), 0, "GEM_CLOSE");
}

void test_lookup(void **state)
{
	struct drm_agate_get_bo_offset padded;
	int fd = gem_open();
	unsigned int refs;
	uint64_t offset;
	FILE *watched;
	struct bo bo;

	(void)state;
	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, 2 * PAGE, 0);
	refs = listed(&bo).refs;

	rule("agate_gem_lookup() finds the BO behind a handle of the file");
	for (int i = 0; i < LOOKUPS; i++) {
		check_errno(get_offset(fd, bo.handle, &offset), 0, "GET_BO_OFFSET");
		check_equal((int64_t)offset, (int64_t)bo.va, "the offset it gives");
	}
	rule("a lookup takes one reference, which its caller puts: together they change nothing");
	check_equal(listed(&bo).refs, refs, "references after five lookups");

	rule("a number that is no handle of the file finds nothing");
	no_such_handle(fd, 0, "handle 0");
	no_such_handle(fd, bo.handle + 1, "the next number");
	no_such_handle(fd, NO_HANDLE, "the largest number");
	no_such_handle(fd, UINT32_MAX, "handle 0xffffffff");
	every_bit_counts(&bo);
	check_equal(listed(&bo).refs, refs, "references after lookups that found nothing");

	rule("a pad field that is not 0 is refused");
	padded = (struct drm_agate_get_bo_offset){ .handle = bo.handle, .pad = 1 };
	check_errno(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_BO_OFFSET, &padded), EINVAL,
		    "GET_BO_OFFSET with a pad of 1");
	each_finds_its_own(fd);
	watched = promises_watch();
	get_offset(fd, bo.handle, &offset);
	get_offset(fd, NO_HANDLE, &offset);
	set_label(fd, bo.handle, "x", 1);
	promises_kept(watched, " lookup ");
	close(fd);
}

/* CREATE_BO and GEM_CLOSE in another file, on a thread of their own. */
struct elsewhere {
	struct aside aside;
	int fd;
};

static void run_elsewhere(void *arg)
{
	struct elsewhere *elsewhere = arg;
	struct bo bo;

	if (!gem_create(elsewhere->fd, PAGE, 0, &bo))
		guest_close_handle(bo.fd, bo.handle);
}

/* Closing a handle may have to wait for the GPU. */
static void close_holds_no_lock(int fd)
{
	struct elsewhere elsewhere = { .fd = guest_open() };
	bool held, walked = true, created = true;
	struct look look = { .size = PAGE };
	struct closing closing;
	struct bo bo;

	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, PAGE, 0);
	inject_hold_entry(CLOSE_BO, 1, INJECT_BOUND_MS);
	start_closing(&closing, &bo);
	held = aside_is_held(&closing.aside, CLOSE_BO);
	if (held) {
		start_look(&look, PAGE);
		aside_start(&elsewhere.aside, run_elsewhere, &elsewhere);
		aside_both_end(&look.aside, &walked, &elsewhere.aside, &created, STUCK_MS);
		let_go(CLOSE_BO);
		aside_join(&elsewhere.aside);
		aside_join(&look.aside);
	}
	close(elsewhere.fd);
	aside_join(&closing.aside);
	inject_clear();
	rule("gem_close() gives the address range back: agate_vm_close_bo()");
	check_true(held, "a call of agate_vm_close_bo()", "none");
	rule("gem_close() holds no lock when it calls agate_vm_close_bo(), which may wait for the GPU");
	check_true(walked, "others can have gem.lock", "debugfs waits for GEM_CLOSE");
	check_true(created, "CREATE_BO and GEM_CLOSE in another file go on",
		   "they wait for GEM_CLOSE");
}

/* One BO and no other: the next one would find what this one had left behind. */
static void check_end(int fd)
{
	FILE *watched = promises_watch();
	struct bo bo;

	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, PAGE, 0);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	promises_kept(watched, " ended ");
}

void test_close(void **state)
{
	int fd = gem_open();
	struct live before = live_now();
	FILE *watched;
	struct bo bo;

	(void)state;
	check_end(fd);
	for (int i = 0; i < 3; i++) {
		rule("CREATE_BO makes a BO and returns 0");
		bo = make_bo(fd, (1 + (uint64_t)i) * PAGE, i ? AGATE_BO_NOEXEC : 0);
		rule("with the last handle of an unused BO go its addresses, then the BO");
		check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
		check_live(&before);
		rule("a handle that was closed is no handle any more");
		check_errno(guest_close_handle(fd, bo.handle), EINVAL, "GEM_CLOSE once more");
		no_such_handle(fd, bo.handle, "the closed handle");
	}
	check_errno(guest_close_handle(fd, 0), EINVAL, "GEM_CLOSE of handle 0");
	check_errno(guest_close_handle(fd, NO_HANDLE), EINVAL, "GEM_CLOSE of no handle");
	check_live(&before);
	close_holds_no_lock(fd);
	check_handles_change_nothing();
	watched = promises_watch();
	for (int i = 0; i < 3; i++) {
		bo = make_bo(fd, PAGE, i ? AGATE_BO_NOEXEC | AGATE_BO_HEAP : 0);
		check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	}
	promises_kept(watched, " unlocked ");
	close(fd);
}

void test_other_file(void **state)
{
	int fd = gem_open(), other = guest_open();
	struct drm_agate_mmap_bo map;
	uint64_t offset;
	struct bo bo, own;

	(void)state;
	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, PAGE, 0);

	rule("a handle means something to the file that made it, and to no other");
	no_such_handle(other, bo.handle, "a handle of another file");
	map = (struct drm_agate_mmap_bo){ .handle = bo.handle };
	check_errno(guest_ioctl(other, DRM_IOCTL_AGATE_MMAP_BO, &map), ENOENT,
		    "MMAP_BO of a handle of another file");
	check_errno(guest_close_handle(other, bo.handle), EINVAL,
		    "GEM_CLOSE of a handle of another file");

	rule("two files number their BOs each for itself");
	own = make_bo(other, 3 * PAGE, 0);
	check_equal(own.handle, bo.handle, "the first handle of the other file");
	check_equal((int64_t)listed(&bo).size, PAGE, "size of the first file's BO");
	check_equal((int64_t)listed(&own).size, 3 * PAGE, "size of the other file's BO");
	check_errno(guest_close_handle(other, own.handle), 0, "GEM_CLOSE in the other file");
	check_errno(get_offset(fd, bo.handle, &offset), 0, "GET_BO_OFFSET in the first file");
	check_equal((int64_t)offset, (int64_t)bo.va, "the offset it gives");
	close(other);
	check_errno(get_offset(fd, bo.handle, &offset), 0, "GET_BO_OFFSET after the other's end");
	close(fd);
}

/* The kernel maps the newest BO by its funcs, and unmaps it. */
static void check_vmap(int fd)
{
	unsigned int used = 0, after = 0;
	int err = 0, n = 0;
	struct bo bo;
	FILE *file;

	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, PAGE, 0);
	inject_load();
	file = fopen("/sys/kernel/debug/agate_vmap", "re");
	if (file) {
		n = fscanf(file, "%d %u %u", &err, &used, &after);
		fclose(file);
	}
	assert_int_equal(n, 3);
	rule("vmap and vunmap hand on to agate_backing_vmap() and agate_backing_vunmap()");
	check_errno(-err, 0, "vmap of a BO");
	check_equal(used, 1, "users of the kernel's mapping after vmap");
	check_equal(after, 0, "users of the kernel's mapping after vunmap");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
}

void test_mapped(void **state)
{
	uint64_t pattern = (uint64_t)param("PATTERN");
	int fd = gem_open();
	struct live before = live_now(), named, unnamed;
	struct look look;
	volatile uint64_t *words;
	struct bo bo, next;

	(void)state;
	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, 2 * PAGE, 0);
	guest_map(&bo);
	named = live_now();
	words = bo.cpu;
	words[0] = pattern;
	words[PAGE / sizeof(*words)] = ~pattern;

	rule("the last handle is closed: a BO that is still mapped lives on, without a name");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	unnamed = named;
	unnamed.handles--;
	unnamed.va_nodes--;
	check_live(&unnamed);
	look = look_for(bo.size);
	check_true(look.found, "the BO in debugfs' list until it is freed", "it is not listed");
	check_equal(look.bo.handles, 0, "its handles");
	next = guest_bo(fd, 2 * PAGE, 0);
	memset(next.cpu, 0xee, 2 * PAGE);
	check_true(words[0] == pattern && words[PAGE / sizeof(*words)] == ~pattern,
		   "what was written through the mapping", "something else");
	guest_destroy(&next);

	check_still_purgeable();
	check_vmap(fd);

	rule("the BO goes with its last reference, here the mapping");
	munmap(bo.cpu, bo.size);
	check_live(&before);
	close(fd);
}

/* Open a file and make as many BOs, of every kind. */
static void make_handles(void *count)
{
	uint32_t flags[KINDS];
	unsigned int different = kinds(flags), n = *(unsigned int *)count;
	int fd = guest_try_open();
	struct bo bo;

	for (unsigned int i = 0; i < n; i++)
		gem_create(fd, (1 + i % 3) * PAGE, flags[i % different], &bo);
}

void test_file_close(void **state)
{
	unsigned int n = (unsigned int)param("OPEN"), in_child = KINDS + n;
	struct live before;
	int idle = gem_open(), fd;

	(void)state;
	before = live_now();
	fd = guest_open();
	rule("CREATE_BO makes a BO and returns 0");
	for (unsigned int i = 0; i < n && i < MOST_OPEN; i++)
		make_some(fd, i);
	rule("a file that is closed takes its handles with it: nothing is left of its BOs");
	close(fd);
	check_live(&before);

	rule("a process that ends leaves nothing, either, whatever the kind of its BOs");
	clients_end(make_handles, &in_child, false);
	check_live(&before);
	rule("a process that is killed leaves nothing, either, whatever the kind of its BOs");
	clients_end(make_handles, &in_child, true);
	check_live(&before);
	check_killed_inside();
	close(idle);
}

/* A BO that was touched has a file, and a page in it. */
static void touch_once(struct bo *bo)
{
	guest_map(bo);
	*(volatile char *)bo->cpu = 1;
	munmap(bo->cpu, bo->size);
}

/* Its highest handle. */
static uint32_t make_and_close(int fd, unsigned int count)
{
	uint32_t highest = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct bo bo;
		int err = gem_create(fd, (1 + i % 3) * PAGE, 0, &bo);

		if (!err && i % TOUCHED == 0)
			touch_once(&bo);
		if (!err)
			err = guest_close_handle(fd, bo.handle);
		if (err)
			broken("success", "errno %d in round %u", err, i);
		if (bo.handle > highest)
			highest = bo.handle;
	}
	return highest;
}

/* Objects go a little later than the call that ends them: files and inodes by RCU. */
void check_growth(long before, long limit)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	long growth = guest_slab_kb() - before;

	/* Rounds, not time: on a busy machine each of them takes longer. */
	for (int i = 0; i < 600 && growth > limit; i++) {
		nanosleep(&pause, NULL);
		growth = guest_slab_kb() - before;
	}
	if (growth > limit)
		broken("no growth of the kernel's memory (SUnreclaim)", "%ld KiB more", growth);
}

void test_many(void **state)
{
	unsigned int count = (unsigned int)param("COUNT");
	int fd = gem_open();
	struct live before = live_now();
	long slab;

	(void)state;
	rule("BOs that come and go leave no memory behind");
	make_and_close(fd, 200);
	slab = guest_slab_kb();
	check_equal(make_and_close(fd, count), 1, "the highest handle, one BO at a time");
	check_live(&before);
	/* Half a kilobyte each: less than a struct agate_bo, more than counting's noise. */
	check_growth(slab, (long)count / 2);
	close(fd);
}
