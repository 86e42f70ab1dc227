// SPDX-License-Identifier: MIT
/* Lab 04, step 3: pages that the system takes, and a CPU that wants them just then. */
#include "shmem.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define INSERTS		"vmf_insert_pfn"
#define LIVES		64u
#define EMPTIES		"shmem_truncate_range"

static void check_purged(const struct bo *bo, int file, struct bo *jobs)
{
	uint64_t seen;

	rule("purge gives all pages back, and the contents with them");
	check_present(file, 0, "after it was purged");
	check_equal(look(file, "cached"), 0, "pages in the file of a purged BO");
	check_equal(look(file, "sgt"), 0, "backing.sgt is set");
	rule("when no page is held the file's mapping can be evicted again");
	check_equal(look(file, "unevictable"), 0, "unevictable");
	rule("a purged BO never gets pages again");
	if (bo->cpu)
		check_true(!can_read(word(bo->cpu, 1), &seen), "SIGBUS", "a page");
	check_errno(tell(file, "populate 0 4096"), EFAULT, "populate");
	check_errno(gpu_copy(jobs, bo, 64, 0), EFAULT, "SUBMIT");
	check_errno(tell(file, "pin"), EFAULT, "pin");
	check_errno(tell(file, "vmap"), EFAULT, "vmap");
	check_present(file, 0, "after calls that were refused");
	check_equal(look(file, "cached"), 0, "pages in the file after calls that were refused");
}

static void purge_one(bool mapped, bool used)
{
	int fd = shmem_open(), file;
	struct bo jobs, bo;
	long tables, pages, uses;

	rule("a job finds all pages of its BOs, whoever has touched them");
	jobs = guest_bo(fd, PAGE, 0);
	*word(jobs.cpu, 0) = 0;
	tables = guest_counter("sg_tables");
	pages = guest_counter("pages");
	bo = make_bo(fd, 7);
	file = look_at_newest();
	bo.cpu = map_more(&bo, 7);
	fill(&bo, 40);
	if (used) {
		check_errno(tell(file, "populate 0 4096"), 0, "populate");
		if (!mapped) {
			munmap(bo.cpu, bo.size);
			bo.cpu = NULL;
		}
	}
	uses = look(file, "uses");
	purge(&bo, file);
	if (uses > (mapped ? 1 : 0) && look(file, "uses") > (mapped ? 1 : 0))
		rule("a purge ends the table's use of the pages, together with the table");
	else
		rule("the VMAs of a purged BO still count: each close will take one use away");
	/* A program that counts elsewhere leaves pages_use alone. */
	if (uses)
		check_equal(look(file, "uses"), mapped, "pages_use of a purged BO");
	rule("purge gives all pages back, and the contents with them");
	check_equal(guest_counter("sg_tables"), tables, "counter sg_tables");
	check_equal(guest_counter("pages"), pages, "counter pages, which counts as before the BO had any");
	rule("a purge empties the BO's file, which stays until drm_gem_object_release()");
	check_equal(look(file, "file"), 1, "files of a purged BO");
	check_purged(&bo, file, &jobs);
	if (bo.cpu)
		munmap(bo.cpu, bo.size);
	close(file);
	rule("a purged BO dies as any other");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	guest_destroy(&jobs);
	close(fd);
	check_nothing_left();
}

/* A driver asks for memory by these; it may call some of them by way of others. */
static const char *const allocators[] = {
	"__kmalloc", "__kmalloc_node", "kmalloc_trace", "__kmalloc_cache", "kvmalloc_node",
	"__vmalloc", "vmalloc", "vzalloc", "__get_free_pages", "kmem_cache_alloc",
};

/* The system is short of memory when it purges. */
static void purge_without_memory(void)
{
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, 7);
	unsigned int calls = 0;

	file = look_at_newest();
	bo.cpu = map_more(&bo, 7);
	fill(&bo, 40);
	check_errno(tell(file, "populate 0 4096"), 0, "populate");
	inject_within("agate_backing_purge_locked");
	for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++)
		inject_count(allocators[i]);
	purge(&bo, file);
	for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++)
		calls += inject_hits(allocators[i]);
	inject_clear();
	rule("purge runs while the system is short of memory, so it allocates nothing");
	check_equal(calls, 0, "allocations by purge");
	close(file);
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
}

/* BO after BO is purged while a process maps it: the array goes at the latest with the BO. */
static void many_purged(void)
{
	int fd = shmem_open(), account = account_open();
	unsigned int kept;

	for (unsigned int i = 0; i < LIVES; i++) {
		struct bo bo = make_bo(fd, 3);
		int file = look_at_newest();
		uint64_t seen;

		bo.cpu = map_more(&bo, 3);
		check_true(can_read(word(bo.cpu, 1), &seen), "a page", "SIGBUS");
		purge(&bo, file);
		close(file);
		guest_destroy(&bo);
	}
	rule("a purged BO that dies gives all back, the array of its pages, too");
	kept = account_kept(account);
	if (kept >= LIVES)
		broken("no memory that stays", "%u pieces are left of %u purged BOs", kept, LIVES);
	close(account);
	close(fd);
}

void test_purge(void **state)
{
	(void)state;
	purge_one(true, false);
	purge_one(false, true);
	purge_one(true, true);
	purge_without_memory();
	many_purged();
}

struct touch {
	struct aside aside;
	const volatile uint64_t *at;
	uint64_t seen;
	bool ok;
};

static void run_touch(void *arg)
{
	struct touch *touch = arg;

	touch->ok = can_read(touch->at, &touch->seen);
}

/*
 * It begins before the fault does: while a thread is held there nobody makes another one, which
 * changes the process's address space.
 */
struct shrinking {
	struct aside aside;
	atomic_bool begin;
};

static void run_shrink(void *arg)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct shrinking *shrinking = arg;

	while (!atomic_load(&shrinking->begin))
		nanosleep(&pause, NULL);
	for (int i = 0; i < 20; i++)
		shrink();
}

/* A mapped BO that nobody needs, of which one page is present; and what looks at it. */
static struct bo unneeded_bo(int fd, int *file)
{
	struct bo bo = make_bo(fd, 8);
	uint64_t seen;

	*file = look_at_newest();
	bo.cpu = map_more(&bo, 8);
	rule("a CPU that touches a page of a mapped BO finds it there");
	check_true(can_read(word(bo.cpu, 0), &seen), "a page", "SIGBUS");
	advise_dontneed(&bo);
	return bo;
}

/*
 * A purge is under way, and has the lock; a job and a CPU come just then.  A program that looks
 * at bo->madv before it has the lock finds a BO that is not purged yet.
 */
static void late_for_purge(void)
{
	struct shrinking shrinking = { .begin = true };
	struct command use = { .text = "populate 0 4096" };
	struct touch touch;
	int fd = shmem_open();
	struct bo bo = unneeded_bo(fd, &use.file);
	bool held;

	touch.at = word(bo.cpu, 5);
	inject_hold_entry(EMPTIES, 1, INJECT_BOUND_MS);
	aside_start(&shrinking.aside, run_shrink, &shrinking);
	held = aside_is_held(&shrinking.aside, EMPTIES);
	if (held) {
		/* The touch last: see struct shrinking. */
		aside_start(&use.aside, run_command, &use);
		aside_start(&touch.aside, run_touch, &touch);
		aside_grace(&use.aside);
		aside_grace(&touch.aside);
		let_go(EMPTIES);
		aside_join(&use.aside);
		aside_join(&touch.aside);
	}
	aside_join(&shrinking.aside);
	inject_clear();
	if (held) {
		rule("bo->madv is looked at under backing.lock: a purge may be under way until then");
		check_true(!touch.ok, "SIGBUS for a CPU that came during the purge", "a page");
		check_errno(use.err, EFAULT, "populate during the purge");
		rule("a purged BO never gets pages again");
		check_present(use.file, 0, "after a purge, and users that came during it");
	}
	close(use.file);
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
}

/*
 * A fault takes its page, or has it and is about to insert it; now the shrinker comes.  Either it
 * leaves the BO alone, or the process gets no page of it, and the BO has none.
 */
static void purge_in_fault(const char *gate)
{
	struct shrinking shrinking = { .begin = false };
	struct touch touch;
	int fd = shmem_open(), file;
	struct bo bo = unneeded_bo(fd, &file);
	uint64_t seen;
	bool held;

	touch.at = word(bo.cpu, 5);
	inject_hold_entry(gate, 1, INJECT_BOUND_MS);
	aside_start(&shrinking.aside, run_shrink, &shrinking);
	aside_start(&touch.aside, run_touch, &touch);
	held = aside_is_held(&touch.aside, gate);
	atomic_store(&shrinking.begin, true);
	aside_grace(&shrinking.aside);
	if (held)
		let_go(gate);
	aside_join(&touch.aside);
	aside_join(&shrinking.aside);
	inject_clear();
	if (guest_debugfs_says("bos", "madv=purged")) {
		rule("no purge comes between looking at bo->madv and inserting a page: a purged BO gets none");
		check_present(file, 0, "after a purge that came while a touch took its page");
	}
	rule("no purge comes between taking a page and inserting it: a purged BO shows no page");
	if (look(file, "cached") == 0 && can_read(touch.at, &seen))
		broken("SIGBUS, or a BO that is not purged", "a page of a BO that was purged");
	purge(&bo, file);
	rule("purge gives all pages back, and the contents with them");
	check_equal(look(file, "cached"), 0, "pages in the file of a purged BO");
	close(file);
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
}

/* Nobody else is there, and purge gives back what it has to. */
static void purge_alone(void)
{
	int fd = shmem_open(), file;
	struct bo bo = unneeded_bo(fd, &file);

	purge(&bo, file);
	rule("purge gives all pages back, and the contents with them");
	check_equal(look(file, "resident"), 0, "pages that are counted as present, after a purge");
	check_equal(look(file, "cached"), 0, "pages in the file of a purged BO");
	close(file);
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
}

void test_fault_purge(void **state)
{
	(void)state;
	purge_alone();
	purge_in_fault(INSERTS);
	purge_in_fault(INJECT_READS);
	late_for_purge();
}
