// SPDX-License-Identifier: MIT
/* Lab 04, step 1: pages that a CPU touches. */
#include "shmem.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIVES		64u
#define BIG_PAGES	2048u		/* an array of four pages */
#define MORE_PAGES	0x10002u	/* more than 16 bits can count */
#define TABLE_SIZE	0x200000ul	/* bytes that one page table of a CPU maps */

void test_lazy(void **state)
{
	unsigned int pages = (unsigned int)param("PAGES"), at = (unsigned int)param("AT");
	int fd = shmem_open(), file;
	long before = guest_counter("pages");
	struct bo bo = make_bo(fd, pages);
	uint64_t seen = 1;

	(void)state;
	file = look_at_newest();
	rule("a VMA takes no page before a CPU touches one");
	check_equal(look(file, "cached"), 0, "pages in the file of a new BO");
	bo.cpu = map_more(&bo, pages);
	check_equal(look(file, "cached"), 0, "pages in the file of a BO that was just mapped");
	check_present(file, 0, "after mmap()");
	rule("a CPU that touches a page of a mapped BO finds it there");
	check_true(can_read(word(bo.cpu, at), &seen), "a page", "SIGBUS");
	rule("a page begins with zeros");
	check_equal((int64_t)seen, 0, "the first word of a new page");
	rule("a CPU's touch takes the page that it touches, and no other");
	check_present(file, 1, "after one touch");
	check_equal(look(file, "cached"), 1, "pages in the file after one touch");
	check_equal(guest_counter("pages"), before + 1, "counter pages");
	*word(bo.cpu, at) = 1;
	check_present(file, 1, "after a second touch of the same page");
	*word(bo.cpu, (at + 7) % pages) = 1;
	check_present(file, 2, "after a touch of another page");
	munmap(bo.cpu, bo.size);
	close(file);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(fd);
	rule("a BO that dies gives all back");
	check_nothing_left();
}

/* A touch that has to wait until another thread was held. */
struct racer {
	struct aside aside;
	const volatile uint64_t *at;
	atomic_bool begin;
	bool ok;
};

static void run_racer(void *arg)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct racer *racer = arg;

	while (!atomic_load(&racer->begin))
		nanosleep(&pause, NULL);
	racer->ok = can_copy(racer->at);
}

/*
 * Two CPUs touch a page at the same time.  A program that reads it without the lock, and stores
 * it without asking again, loses the reference that the other one has stored.
 */
static void two_touches(void)
{
	struct racer first = { .begin = true }, second = { .begin = false };
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, 4);
	bool held;

	file = look_at_newest();
	bo.cpu = map_more(&bo, 4);
	first.at = word(bo.cpu, 2);
	second.at = first.at;
	inject_hold_entry(INJECT_READS, 1, INJECT_BOUND_MS);
	/* The second one first: while a fault is held nobody makes another thread. */
	aside_start(&second.aside, run_racer, &second);
	aside_start(&first.aside, run_racer, &first);
	held = aside_is_held(&first.aside, INJECT_READS);
	atomic_store(&second.begin, true);
	aside_grace(&second.aside);
	if (held)
		let_go(INJECT_READS);
	aside_join(&first.aside);
	aside_join(&second.aside);
	inject_clear();
	rule("a CPU that touches a page of a mapped BO finds it there");
	check_true(first.ok && second.ok, "a page for two threads that touch it at the same time",
		   "SIGBUS");
	rule("two threads touch one page at the same time, and it is taken once: under backing.lock");
	/* The count first: check_present() would speak of the count alone. */
	check_equal(look(file, "resident"), 1,
		    "pages that are counted as present, after two touches of one page at the same time");
	check_present(file, 1, "after two touches of one page at the same time");
	munmap(bo.cpu, bo.size);
	check_present(file, 0, "after the last munmap()");
	done_with(fd, file, &bo);
}

static void touch_unneeded(void)
{
	int fd = shmem_open();
	struct bo bo = make_bo(fd, 4);
	uint64_t seen;
	bool ok;

	bo.cpu = map_more(&bo, 4);
	advise_dontneed(&bo);
	ok = can_read(word(bo.cpu, 2), &seen);
	if (!ok)
		check_not_purged();
	rule("a BO that is DONTNEED is used like any other until it is purged: bo->madv is 1, and not below 0");
	check_true(ok, "a page for a touch of a BO that is DONTNEED", "SIGBUS");
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
}

/* A BO of many pages, of which hardly one is there. */
static void touch_far(void)
{
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, MORE_PAGES);
	uint64_t seen;

	file = look_at_newest();
	bo.cpu = map_more(&bo, MORE_PAGES);
	*word(bo.cpu, 1) = 11;
	rule("a CPU that touches a page of a mapped BO finds it there, whatever the page's number is");
	check_true(can_read(word(bo.cpu, MORE_PAGES - 1), &seen), "the last page of a BO of 256 MiB",
		   "SIGBUS");
	check_equal((int64_t)seen, 0, "the first word of a new page");
	*word(bo.cpu, MORE_PAGES - 1) = 22;
	check_equal((int64_t)*word(bo.cpu, 1), 11, "page 1, after a touch of page 65537");
	check_present(file, 2, "after touches of two pages of a BO of 256 MiB");
	munmap(bo.cpu, bo.size);
	check_present(file, 0, "after the last munmap()");
	done_with(fd, file, &bo);
}

/* Touches all pages, in an order that STRIDE decides; the number of pages is a prime. */
void test_touch(void **state)
{
	const unsigned int pages = 61;
	unsigned int stride = (unsigned int)param("STRIDE"), i, page;
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, pages);
	void *other;
	uint64_t seen;

	(void)state;
	file = look_at_newest();
	bo.cpu = map_more(&bo, pages);
	for (i = 0, page = 0; i < pages; i++, page = (page + stride) % pages) {
		rule("a CPU that touches a page of a mapped BO finds it there");
		check_true(can_read(word(bo.cpu, page), &seen), "a page", "SIGBUS");
		rule("a page begins with zeros");
		check_equal((int64_t)seen, 0, "the first word of a page");
		*word(bo.cpu, page) = 1000 + page;
		rule("a CPU's touch takes the page that it touches, and no other");
		check_present(file, i + 1, "after as many touches");
	}
	rule("each page of a VMA shows the page of the BO with that index");
	check_filled(bo.cpu, pages, 1000, "in the first VMA");
	other = map_more(&bo, pages);
	/* From the end: no neighbours are in the way. */
	for (i = pages; i-- > 0;)
		check_equal((int64_t)*word(other, i), 1000 + i, "a page of a second VMA");
	munmap(other, bo.size);
	other = map_more(&bo, pages);
	munmap(other, PAGE);
	check_filled((char *)other + PAGE, pages - 1, 1001, "in a VMA that begins with page 1");
	munmap((char *)other + PAGE, bo.size - PAGE);
	check_present(file, pages, "after all touches");
	close(file);
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
	touch_far();
	touch_unneeded();
	two_touches();
}

/* Pages that are present may be mapped together with the one that was touched. */
void test_neighbours(void **state)
{
	static const unsigned int present[] = { 0, 1, 2, 5, 6, 30, 31 };
	const unsigned int pages = 32, n = sizeof(present) / sizeof(present[0]);
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, pages);
	uint64_t seen;
	void *other;

	(void)state;
	file = look_at_newest();
	bo.cpu = map_more(&bo, pages);
	rule("a CPU that touches a page of a mapped BO finds it there");
	check_true(can_read(word(bo.cpu, 0), &seen), "a page", "SIGBUS");
	for (unsigned int i = 0; i < n; i++)
		*word(bo.cpu, present[i]) = 500 + present[i];
	other = map_more(&bo, pages);
	rule("a touch maps only pages that are present: it takes none but its own");
	check_equal((int64_t)*word(other, 0), 500, "page 0 in a second VMA");
	check_present(file, n, "after a touch of a page that was present");
	rule("each page of a VMA shows the page of the BO with that index");
	for (unsigned int i = 0; i < n; i++)
		check_equal((int64_t)*word(other, present[i]), 500 + present[i],
			    "a page that was present, in a second VMA");
	check_present(file, n, "after touches of pages that were present");
	check_equal((int64_t)*word(other, 3), 0, "a page that nobody had touched");
	check_present(file, n + 1, "after a touch of one more");
	munmap(other, bo.size);

	/* A VMA that ends before the BO does, and before the pages that are present do. */
	other = map_more(&bo, 2);
	check_equal((int64_t)*word(other, 0), 500, "page 0 in a short VMA");
	check_equal((int64_t)*word(other, 1), 501, "page 1 in a short VMA");
	munmap(other, 2 * PAGE);
	close(file);
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
}

static void wait_for_byte(int from)
{
	char byte;

	if (read(from, &byte, 1) < 0)
		_exit(1);
}

/* A child inherits the VMA, and keeps it until its pipe is closed. */
static pid_t child_that_keeps(int keep[2])
{
	pid_t child;

	if (pipe(keep))
		fail_msg("pipe");
	child = fork();
	if (child)
		return child;
	close(keep[1]);
	wait_for_byte(keep[0]);
	_exit(0);
}

/* BO after BO, touched once: what the driver itself asks for goes with each of them. */
static void many_lives(void)
{
	int fd = shmem_open(), account = account_open();
	unsigned int kept;

	for (unsigned int i = 0; i < LIVES; i++) {
		struct bo bo = make_bo(fd, 3);
		uint64_t seen;

		bo.cpu = map_more(&bo, 3);
		check_true(can_read(word(bo.cpu, 1), &seen), "a page", "SIGBUS");
		munmap(bo.cpu, bo.size);
		check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	}
	rule("a BO that dies gives all back, the array of its pages, too");
	kept = account_kept(account);
	if (kept >= LIVES)
		broken("no memory that stays", "%u pieces are left of %u BOs", kept, LIVES);
	close(account);
	close(fd);
}

void test_given_back(void **state)
{
	const unsigned int pages = 20;
	int fd = shmem_open(), file, keep[2];
	long before = guest_counter("pages");
	struct bo bo = make_bo(fd, pages);
	void *other;
	pid_t child;

	(void)state;
	file = look_at_newest();
	bo.cpu = map_more(&bo, pages);
	fill(&bo, 9000);
	rule("pages stay as long as one VMA is there");
	other = map_more(&bo, pages);
	/* In the middle: one VMA becomes two. */
	munmap((char *)bo.cpu + 8 * PAGE, 4 * PAGE);
	check_present(file, pages, "after munmap() of a part");
	check_filled(bo.cpu, 8, 9000, "after munmap() of a part behind it");
	munmap(bo.cpu, 8 * PAGE);
	munmap((char *)bo.cpu + 12 * PAGE, 8 * PAGE);
	check_present(file, pages, "after munmap() of the first of two VMAs");
	child = child_that_keeps(keep);
	munmap(other, bo.size);
	check_present(file, pages, "with a VMA in a child only");
	close(keep[1]);
	waitpid(child, NULL, 0);
	close(keep[0]);
	rule("with the last VMA all pages go back to the file");
	check_present(file, 0, "after the last munmap()");
	check_equal(guest_counter("pages"), before, "counter pages");
	rule("the file keeps the contents of the pages that it gets back");
	check_equal(look(file, "cached"), pages, "pages in the file after the last munmap()");
	bo.cpu = map_more(&bo, pages);
	check_filled(bo.cpu, 1, 9000, "in a later VMA");
	rule("a CPU's touch takes the page that it touches, and no other");
	check_present(file, 1, "after one touch in a later VMA");
	rule("the file keeps the contents of the pages that it gets back");
	check_filled(bo.cpu, pages, 9000, "in a later VMA");
	close(file);
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
	many_lives();
}

/*
 * A page that is not dirty can be read again, as far as the kernel knows: it drops it.  Nobody
 * but the driver knows that processes have written there.
 */
void test_kept(void **state)
{
	const unsigned int pages = 24;
	uint64_t salt = (uint64_t)param("SALT");
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, pages);

	(void)state;
	file = look_at_newest();
	bo.cpu = map_more(&bo, pages);
	fill(&bo, salt);
	rule("while pages are held the file's mapping is unevictable: mapping_set_unevictable()");
	check_equal(look(file, "unevictable"), 1, "unevictable");
	rule("the kernel leaves pages alone that the driver holds");
	drop_page_caches();
	check_filled(bo.cpu, pages, salt, "while it is mapped");
	check_present(file, pages, "while it is mapped");
	munmap(bo.cpu, bo.size);
	rule("pages go back as dirty: what was written to them is kept");
	check_equal(look(file, "clean"), 0, "pages in the file that are not dirty");
	drop_page_caches();
	check_equal(look(file, "cached"), pages, "pages in the file after the kernel has dropped clean ones");
	bo.cpu = map_more(&bo, pages);
	check_filled(bo.cpu, pages, salt, "after the kernel has dropped clean pages");
	rule("while pages are held the file's mapping is unevictable, also the second time");
	check_equal(look(file, "unevictable"), 1, "unevictable, with a later VMA");
	munmap(bo.cpu, bo.size);
	rule("pages go back as accessed: they were used just now");
	check_equal(look(file, "unaccessed"), 0, "pages in the file that count as unused");
	rule("when no page is held the file's mapping can be evicted again");
	check_equal(look(file, "unevictable"), 0, "unevictable");
	done_with(fd, file, &bo);
}

static void fail_once(const char *symbol, bool null)
{
	if (null)
		inject_fail_null(symbol, 1);
	else
		inject_fail(symbol, 1, ENOMEM);
}

static void touch_without(struct bo *bo, int file, const char *symbol, bool null)
{
	unsigned int hits;
	uint64_t seen;
	bool ok;

	fail_once(symbol, null);
	ok = can_read(word(bo->cpu, 3), &seen);
	hits = inject_hits(symbol);
	inject_clear();
	rule("a CPU that touches a page for which there is no memory gets SIGBUS");
	if (hits)
		check_true(!ok, "SIGBUS", "the touch went well, or was made again and again");
	rule("a touch that fails leaves no page, and the next one works");
	if (hits)
		check_present(file, 0, "after a touch that failed");
	check_true(can_read(word(bo->cpu, 3), &seen), "a page", "SIGBUS");
	check_present(file, 1, "after a touch that worked");
}

/* The touch that failed was the only one. */
static void touch_in_vain(int fd, const char *symbol, bool null)
{
	struct bo bo = make_bo(fd, 8);
	int file = look_at_newest();
	uint64_t seen;

	bo.cpu = map_more(&bo, 8);
	fail_once(symbol, null);
	can_read(word(bo.cpu, 3), &seen);
	inject_clear();
	munmap(bo.cpu, bo.size);
	check_present(file, 0, "after munmap(), behind a touch that failed");
	rule("when no page is held the file's mapping can be evicted");
	check_equal(look(file, "unevictable"), 0, "unevictable, behind a touch that failed");
	close(file);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
}

/*
 * kvcalloc() takes the array elsewhere when kmalloc() has no room for it, and kfree() cannot free
 * it then.  A program that asks kmalloc() alone gives SIGBUS.
 */
static void big_array(int fd)
{
	struct bo bo = make_bo(fd, BIG_PAGES);
	int file = look_at_newest();
	uint64_t seen;
	bool ok;

	bo.cpu = map_more(&bo, BIG_PAGES);
	inject_within("kvmalloc_node");
	inject_fail_null("__kmalloc_node", 1);
	ok = can_read(word(bo.cpu, BIG_PAGES - 1), &seen);
	inject_clear();
	rule("an array that kvcalloc() made is freed by kvfree(), wherever it lies");
	if (ok)
		check_present(file, 1, "with an array that kmalloc() had no room for");
	munmap(bo.cpu, bo.size);
	check_present(file, 0, "after munmap()");
	close(file);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
}

/* A VMA where the process has no page table yet. */
static void *map_alone(const struct bo *bo, void **around)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };
	char *at;
	void *cpu;

	check_errno(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MMAP_BO, &arg), 0, "MMAP_BO");
	at = mmap(NULL, 3 * TABLE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		fail_msg("mmap()");
	*around = at;
	at += TABLE_SIZE - (uintptr_t)at % TABLE_SIZE;
	cpu = mmap(at, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, bo->fd,
		   (off_t)arg.offset);
	check_errno(cpu == MAP_FAILED ? errno : 0, 0, "mmap()");
	return cpu;
}

/* The page is there, and the kernel has no memory for the process's page table: once. */
static void no_page_table(int fd)
{
	struct bo bo = make_bo(fd, 4);
	int file = look_at_newest();
	unsigned int hits, told_of;
	uint64_t seen;
	void *around;
	bool ok;

	bo.cpu = map_alone(&bo, &around);
	inject_fail("__pte_alloc", 1, ENOMEM);
	inject_count("pagefault_out_of_memory");
	ok = can_read(word(bo.cpu, 2), &seen);
	hits = inject_hits("__pte_alloc");
	told_of = inject_hits("pagefault_out_of_memory");
	inject_clear();
	rule("a fault returns what vmf_insert_pfn() returns: VM_FAULT_OOM without a page table");
	if (hits) {
		check_true(ok, "a page: the kernel frees memory, and makes the fault again", "SIGBUS");
		check_true(told_of, "a kernel that was told of VM_FAULT_OOM", "one that was not");
	}
	munmap(around, 3 * TABLE_SIZE);
	check_present(file, 0, "after munmap()");
	close(file);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
}

void test_no_page(void **state)
{
	static const struct {
		const char *symbol;
		bool null;
	} fails[] = {
		{ "shmem_file_setup", false },
		{ INJECT_READS, false },
		{ "kvmalloc_node", true },
	};
	int fd = shmem_open();

	(void)state;
	for (size_t i = 0; i < sizeof(fails) / sizeof(fails[0]); i++) {
		struct bo bo = make_bo(fd, 8);
		int file = look_at_newest();

		bo.cpu = map_more(&bo, 8);
		touch_without(&bo, file, fails[i].symbol, fails[i].null);
		munmap(bo.cpu, bo.size);
		check_present(file, 0, "after munmap()");
		close(file);
		check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
		touch_in_vain(fd, fails[i].symbol, fails[i].null);
	}
	big_array(fd);
	no_page_table(fd);
	close(fd);
	rule("a touch that fails leaves nothing behind");
	check_nothing_left();
}
