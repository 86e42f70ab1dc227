// SPDX-License-Identifier: MIT
/* Lab 04, step 2: users of the whole BO. */
#include "shmem.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define TABLES		64u
#define MANY		80u		/* pages: more than the kernel takes up at a time */
#define HALF		16u		/* pages of a BO of which half comes */

/*
 * The kernel takes up new pages some at a time, and asks the file's mapping just then where they
 * belong.
 */
static void put_aside(void)
{
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, MANY);

	file = look_at_newest();
	told(file, "pin");
	rule("mapping_set_unevictable() comes before the first page is taken");
	check_equal(look(file, "evictable"), 0, "pinned pages that the kernel looks at for memory");
	told(file, "unpin");
	close(file);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(fd);
}

void test_pin(void **state)
{
	unsigned int pages = (unsigned int)param("PAGES");
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, pages);

	(void)state;
	file = look_at_newest();
	rule("pin makes the whole BO present, and keeps it");
	told(file, "pin");
	check_present(file, pages, "while it is pinned");
	told(file, "pin");
	told(file, "unpin");
	check_present(file, pages, "pinned twice, unpinned once");
	rule("the file's mapping is unevictable until the last user has gone");
	check_equal(look(file, "unevictable"), 1, "unevictable, pinned twice, unpinned once");
	rule("pin makes the whole BO present, and keeps it");
	told(file, "unpin");
	rule("with the last use all pages go back to the file");
	check_present(file, 0, "after the last unpin");
	check_dirty(file, "after the last unpin");
	rule("pin takes the pages that are missing, and leaves those of a VMA as they are");
	bo.cpu = map_more(&bo, pages);
	*word(bo.cpu, 1) = 77;
	told(file, "pin");
	check_present(file, pages, "pinned, with a VMA");
	told(file, "unpin");
	check_equal((int64_t)*word(bo.cpu, 1), 77, "a page of a VMA after unpin");
	rule("pages stay as long as there is any use");
	check_at_least(look(file, "held"), 1, "pages that are held for the VMA after unpin");
	munmap(bo.cpu, bo.size);
	check_present(file, 0, "after the last use");
	close(file);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(fd);
	put_aside();
	check_nothing_left();
	used_unneeded("pin", "unpin");
}

void test_sg_table(void **state)
{
	static const unsigned int most[] = { 1, 2, 3, 16, 1024 };
	unsigned int pages = (unsigned int)param("PAGES");
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, pages);

	(void)state;
	file = look_at_newest();
	rule("pin makes the whole BO present, and keeps it");
	told(file, "pin");
	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		char what[64];

		rule("get_sg_table makes a table of a pinned BO, which is the caller's");
		snprintf(what, sizeof(what), "a table with entries of at most %u pages", most[i]);
		check_errno(tell(file, "table %u", most[i] * PAGE), 0, what);
		rule("the table has each page in its place, not mapped for DMA, in entries of at most max_segment");
		check_equal(look(file, "table_wrong"), 0, "pages or entries that are wrong");
		check_present(file, pages, "with a table");
	}
	told(file, "unpin");
	rule("with the last use all pages go back to the file");
	check_present(file, 0, "after the last unpin");
	done_with(fd, file, &bo);
}

/*
 * Two ask for the kernel's mapping at the same time.  A program that makes it without the lock,
 * and does not ask again, makes two, and one of them is never undone.
 */
static void two_vmaps(void)
{
	struct command first = { .text = "vmap-unreserved" }, second = first;
	int fd = shmem_open();
	struct bo bo = make_bo(fd, 5);

	first.file = look_at_newest();
	second.file = look_at_newest();
	/* The injection module itself calls vmap(). */
	inject_within("agate_backing_vmap");
	inject_hold_entry("vmap", 1, INJECT_BOUND_MS);
	aside_start(&first.aside, run_command, &first);
	if (aside_is_held(&first.aside, "vmap")) {
		aside_start(&second.aside, run_command, &second);
		aside_grace(&second.aside);
		let_go("vmap");
		aside_join(&second.aside);
	} else {
		/* It maps in another way. */
		run_command(&second);
	}
	aside_join(&first.aside);
	inject_clear();
	rule("vmap maps the whole BO");
	check_errno(first.err, 0, "the first of two vmaps at the same time");
	check_errno(second.err, 0, "the second of two vmaps at the same time");
	check_maps(first.file);
	check_maps(second.file);
	rule("two that ask for the kernel's mapping at the same time share one, which is one user of the pages");
	check_equal(look(first.file, "uses"), 1, "pages_use after two vmaps at the same time");
	told(first.file, "vunmap");
	told(second.file, "vunmap");
	check_present(first.file, 0, "after the last vunmap of two vmaps at the same time");
	close(first.file);
	done_with(fd, second.file, &bo);
}

/* A user of the mapping finds the pages of the BO to the last moment. */
static void mapping_goes_first(void)
{
	struct command last = { .text = "vunmap" };
	int fd = shmem_open();
	struct bo bo = make_bo(fd, 5);
	long before, then = -1;

	last.file = look_at_newest();
	told(last.file, "vmap");
	before = guest_counter("pages");
	inject_within("agate_backing_vunmap");
	inject_hold_entry("vunmap", 1, INJECT_BOUND_MS);
	aside_start(&last.aside, run_command, &last);
	if (aside_is_held(&last.aside, "vunmap")) {
		then = guest_counter("pages");
		let_go("vunmap");
	}
	aside_join(&last.aside);
	inject_clear();
	check_errno(last.err, 0, "vunmap");
	rule("the last vunmap takes away the mapping first, and then its use of the pages");
	if (then >= 0)
		check_equal(then, before, "counter pages, when the mapping goes");
	done_with(fd, last.file, &bo);
}

void test_vmap(void **state)
{
	unsigned int pages = (unsigned int)param("PAGES");
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, pages);
	long uses;

	(void)state;
	file = look_at_newest();
	bo.cpu = map_more(&bo, pages);
	fill(&bo, 300);
	rule("vmap maps the whole BO");
	told(file, "vmap");
	check_present(file, pages, "while the kernel maps it");
	check_maps(file);
	rule("a mapping of the kernel and a VMA show the same bytes");
	for (unsigned int i = 0; i < pages; i++) {
		check_errno(tell(file, "peek %u", i), 0, "peek");
		check_equal(look(file, "peeked"), 300 + i, "a word that the VMA wrote");
		check_errno(tell(file, "poke %u %u", i, 800 + i), 0, "poke");
		check_equal((int64_t)*word(bo.cpu, i), 800 + i, "a word that the kernel wrote");
	}
	rule("one mapping serves all users of it, and stays until the last one has gone");
	uses = look(file, "uses");
	told(file, "vmap");
	told(file, "vmap");
	check_maps(file);
	rule("the kernel's mapping counts once in pages_use, however many have asked for it");
	check_equal(look(file, "uses"), uses, "pages_use after two more vmaps");
	rule("one mapping serves all users of it, and stays until the last one has gone");
	told(file, "vunmap");
	told(file, "vunmap");
	munmap(bo.cpu, bo.size);
	check_present(file, pages, "mapped thrice, unmapped twice");
	check_errno(tell(file, "peek 2"), 0, "peek");
	check_equal(look(file, "peeked"), 802, "a word in the kernel's mapping");
	told(file, "vunmap");
	rule("the last user that goes takes the mapping along: vunmap()");
	check_equal(look(file, "vmap_left"), 0, "mappings of the kernel that still show the BO");
	rule("with the last use all pages go back to the file");
	check_present(file, 0, "after the last vunmap");
	check_dirty(file, "after the last vunmap");
	rule("vmap works again after the last vunmap, and shows what was there");
	told(file, "vmap");
	check_errno(tell(file, "peek 3"), 0, "peek");
	check_equal(look(file, "peeked"), 803, "a word in a new mapping of the kernel");
	rule("vunmap undoes one vmap, and leaves the pages of an importer");
	told(file, "pin");
	told(file, "vunmap");
	check_present(file, pages, "pinned, after the last vunmap");
	told(file, "unpin");
	check_present(file, 0, "after the last vunmap, and the last unpin");
	done_with(fd, file, &bo);
	used_unneeded("vmap", "vunmap");
	two_vmaps();
	mapping_goes_first();
}

/* ---- Failures ----------------------------------------------------------------- */

/* A VMA has touched a page, and a call that wanted all failed: nothing has changed for the VMA. */
static void check_others(const struct bo *bo, int file)
{
	long held;

	check_equal((int64_t)*word(bo->cpu, 0), 55, "a page of a VMA");
	rule("a use that fails disturbs nobody: the pages of a VMA stay");
	held = look(file, "held");
	check_at_least(held, 1, "pages that are held for a VMA");
	rule("each page that is there is counted, also one that came before the call failed");
	check_equal(look(file, "resident"), held,
		    "pages that are counted as present, with a VMA, after a call that failed");
	rule("the file's mapping is unevictable until the last user has gone, also when a call fails");
	check_equal(look(file, "unevictable"), 1, "unevictable, with pages that a VMA holds");
}

/*
 * Half of the pages came, and then there was none; somebody may use some of them already.  Shmem
 * has reasons of its own, and the program hears of memory.
 */
static void half_of(const char *command, const char *undo, unsigned int nth, bool mapped)
{
	const unsigned int pages = HALF;
	int fd = shmem_open(), file;
	char what[64];
	struct bo bo = make_bo(fd, pages);

	file = look_at_newest();
	if (mapped) {
		bo.cpu = map_more(&bo, pages);
		*word(bo.cpu, 0) = 55;
		rule("a CPU's touch takes the page that it touches, and no other");
		check_present(file, 1, "after one touch");
	}
	inject_fail(INJECT_READS, nth, mapped ? ENOSPC : ENOMEM);
	rule("a user of the whole BO for whom a page is missing gets ENOMEM");
	check_errno(tell(file, "%s", command), ENOMEM, command);
	inject_clear();
	rule("a use that fails is no use: nobody holds its pages");
	if (mapped) {
		check_others(&bo, file);
		rule("a use that fails is no use: nobody holds its pages");
		munmap(bo.cpu, bo.size);
	}
	check_present(file, 0, "after a failure, with no user left");
	check_equal(look(file, "pins"), 0, "pins");
	rule("after a failure the next call works");
	told(file, command);
	check_maps(file);
	rule("after a failure the next call works");
	snprintf(what, sizeof(what), "after a %s that gave 0, behind one that failed", command);
	check_present(file, pages, what);
	told(file, undo);
	check_present(file, 0, "after the last use");
	done_with(fd, file, &bo);
}

/* A use that a failure has left behind shows when the next user goes. */
static void check_no_use(struct bo *bo, int file, const char *command)
{
	char when[64];

	snprintf(when, sizeof(when), "after a VMA, behind a failure of %s", command);
	rule("a use that fails is no use: nobody holds its pages");
	bo->cpu = map_more(bo, HALF);
	*word(bo->cpu, 0) = 66;
	munmap(bo->cpu, bo->size);
	check_present(file, 0, when);
}

static void without_file(const char *command, const char *undo)
{
	int fd = shmem_open(), file, err;
	struct bo bo = make_bo(fd, HALF);
	unsigned int hits;

	file = look_at_newest();
	inject_fail("shmem_file_setup", 1, ENOSPC);
	err = tell(file, "%s", command);
	hits = inject_hits("shmem_file_setup");
	inject_clear();
	rule("a user of the whole BO for whom there is no file gets ENOMEM");
	check_errno(err, hits ? ENOMEM : 0, command);
	/* A program may have made the file before. */
	if (!err && undo)
		told(file, undo);
	if (err || undo)
		check_no_use(&bo, file, command);
	done_with(fd, file, &bo);
}

/* The pages went back with the last user, and somebody else wants them in vain. */
static void contents_stay(void)
{
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, HALF);

	file = look_at_newest();
	bo.cpu = map_more(&bo, HALF);
	fill(&bo, 7000);
	munmap(bo.cpu, bo.size);
	inject_fail(INJECT_READS, HALF / 2, ENOMEM);
	rule("a user of the whole BO for whom a page is missing gets ENOMEM");
	check_errno(tell(file, "pin"), ENOMEM, "pin");
	inject_clear();
	rule("a use that fails leaves the contents as they are");
	bo.cpu = map_more(&bo, HALF);
	check_filled(bo.cpu, HALF, 7000, "after a pin that failed");
	munmap(bo.cpu, bo.size);
	done_with(fd, file, &bo);
}

/* Is the BO @used by somebody else, who keeps all pages? */
static void no_mapping(int file, bool used)
{
	/* The injection module itself calls vmap(). */
	inject_within("agate_backing_vmap");
	inject_fail_null("vmap", 1);
	rule("when the kernel has no room for a mapping vmap gives ENOMEM");
	if (!tell(file, "vmap")) {
		/* In another way than by vmap(). */
		check_equal(inject_hits("vmap"), 0, "calls of vmap() that failed");
		told(file, "vunmap");
	}
	inject_clear();
	rule("a use that fails is no use: nobody holds its pages");
	check_present(file, used ? HALF : 0, "after a vmap that failed");
	rule("after a failure the next call works");
	told(file, "vmap");
	check_maps(file);
	rule("after a failure the next call works");
	check_present(file, HALF, "after a vmap that gave 0, behind one that failed");
	told(file, "vunmap");
	check_present(file, used ? HALF : 0, "after the last vunmap");
}

/* Tables fail, again and again; the injection module counts the memory that stays. */
static void no_table(int file)
{
	unsigned int kept;
	int account;

	told(file, "pin");
	account = account_open();
	inject_fail("sg_alloc_table_from_pages_segment", 0, ENOMEM);
	rule("without memory for its entries get_sg_table gives ENOMEM");
	for (unsigned int i = 0; i < TABLES; i++)
		if (tell(file, "table 4096") != ENOMEM && inject_hits("sg_alloc_table_from_pages_segment"))
			check_errno(tell(file, "table 4096"), ENOMEM, "get_sg_table");
	inject_clear();
	rule("a table that could not be made is freed");
	kept = account_kept(account);
	if (kept >= TABLES)
		broken("no memory that stays", "%u pieces are left of %u tables", kept, TABLES);
	close(account);
	rule("a table is no user of the pages, and one that could not be made takes none away");
	check_present(file, HALF, "pinned, after tables that could not be made");
	told(file, "unpin");
	check_present(file, 0, "after the last unpin");
}

void test_half(void **state)
{
	int fd, file;
	struct bo bo;

	(void)state;
	half_of("pin", "unpin", 9, false);
	half_of("pin", "unpin", 1, false);
	half_of("pin", "unpin", 9, true);
	half_of("vmap", "vunmap", 7, false);
	half_of("vmap", "vunmap", 7, true);
	without_file("pin", "unpin");
	without_file("vmap", "vunmap");
	without_file("populate 0 4096", NULL);
	contents_stay();
	fd = shmem_open();
	bo = make_bo(fd, HALF);
	file = look_at_newest();
	no_mapping(file, false);
	told(file, "pin");
	no_mapping(file, true);
	told(file, "unpin");
	no_table(file);
	done_with(fd, file, &bo);
}
