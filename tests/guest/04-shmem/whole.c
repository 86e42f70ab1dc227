// SPDX-License-Identifier: MIT
/* Lab 04, step 2: users of the whole BO. */
#include "shmem.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../kmod/topic.h"

#define TOPIC_FILE	"/sys/kernel/debug/agate_topic"
#define TABLES		64u

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
	told(file, "unpin");
	rule("with the last use all pages go back to the file");
	check_present(file, 0, "after the last unpin");
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
	check_nothing_left();
}

/* Users come and go in any order. */
struct users {
	struct bo bo;
	int file;
	unsigned int pages;
	unsigned int pins, vmaps, vmas;
	void *vma[4];
};

static const char *one_change(struct users *u, uint32_t which)
{
	switch (which) {
	case 0:
		if (u->pins < 4) {
			u->pins++;
			return "pin";
		}
		return NULL;
	case 1:
		return u->pins ? u->pins--, "unpin" : NULL;
	case 2:
		if (u->vmaps < 4) {
			u->vmaps++;
			return "vmap";
		}
		return NULL;
	default:
		return u->vmaps ? u->vmaps--, "vunmap" : NULL;
	}
}

static const char *one_vma(struct users *u, bool more, uint64_t *seed)
{
	if (more && u->vmas < 4) {
		u->vma[u->vmas] = map_more(&u->bo, u->pages);
		*word(u->vma[u->vmas++], draw(seed, u->pages)) = 5;
		return "mmap";
	}
	if (more || !u->vmas)
		return NULL;
	munmap(u->vma[--u->vmas], u->bo.size);
	return "munmap";
}

static void check_users(const struct users *u, long before, const char *last)
{
	char when[80];

	snprintf(when, sizeof(when), "after %s: %u pins, %u vmaps, %u VMAs", last, u->pins, u->vmaps,
		 u->vmas);
	if (u->pins || u->vmaps) {
		rule("as long as somebody uses the whole BO all of its pages are present");
		check_present(u->file, u->pages, when);
	} else if (!u->vmas) {
		rule("with the last use all pages go back to the file");
		check_present(u->file, 0, when);
	} else {
		rule("pages stay as long as there is any use");
		check_at_least(look(u->file, "resident"), before, when);
	}
	rule("the kernel's mapping shows the pages of the BO in their order");
	check_equal(look(u->file, "vmap_wrong"), 0, "pages that it shows elsewhere");
}

void test_uses(void **state)
{
	uint64_t seed = (uint64_t)param("SEED");
	int fd = shmem_open();
	struct users u = { .pages = 9 };

	(void)state;
	u.bo = make_bo(fd, u.pages);
	u.file = look_at_newest();
	for (unsigned int i = 0; i < 120; i++) {
		long before = look(u.file, "resident");
		uint32_t which = draw(&seed, 6);
		const char *what;

		if (which < 4) {
			what = one_change(&u, which);
			if (what)
				told(u.file, what);
		} else {
			what = one_vma(&u, which == 4, &seed);
		}
		if (what)
			check_users(&u, before, what);
	}
	while (u.vmas)
		one_vma(&u, false, &seed);
	close(u.file);
	check_errno(guest_close_handle(fd, u.bo.handle), 0, "GEM_CLOSE");
	close(fd);
	check_nothing_left();
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
	close(file);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(fd);
	check_nothing_left();
}

void test_vmap(void **state)
{
	unsigned int pages = (unsigned int)param("PAGES");
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, pages);

	(void)state;
	file = look_at_newest();
	bo.cpu = map_more(&bo, pages);
	fill(&bo, 300);
	rule("vmap maps the whole BO");
	told(file, "vmap");
	check_present(file, pages, "while the kernel maps it");
	rule("a mapping of the kernel and a VMA show the same bytes");
	check_equal(look(file, "vmap_wrong"), 0, "pages that the kernel's mapping shows elsewhere");
	for (unsigned int i = 0; i < pages; i++) {
		check_errno(tell(file, "peek %u", i), 0, "peek");
		check_equal(look(file, "peeked"), 300 + i, "a word that the VMA wrote");
		check_errno(tell(file, "poke %u %u", i, 800 + i), 0, "poke");
		check_equal((int64_t)*word(bo.cpu, i), 800 + i, "a word that the kernel wrote");
	}
	rule("one mapping serves all users of it, and stays until the last one has gone");
	told(file, "vmap");
	told(file, "vmap");
	told(file, "vunmap");
	told(file, "vunmap");
	munmap(bo.cpu, bo.size);
	check_present(file, pages, "mapped thrice, unmapped twice");
	check_errno(tell(file, "peek 2"), 0, "peek");
	check_equal(look(file, "peeked"), 802, "a word in the kernel's mapping");
	told(file, "vunmap");
	rule("with the last use all pages go back to the file");
	check_present(file, 0, "after the last vunmap");
	rule("vmap works again after the last vunmap, and shows what was there");
	told(file, "vmap");
	check_errno(tell(file, "peek 3"), 0, "peek");
	check_equal(look(file, "peeked"), 803, "a word in a new mapping of the kernel");
	told(file, "vunmap");
	check_present(file, 0, "after the last vunmap");
	close(file);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(fd);
	check_nothing_left();
}

/* ---- Failures ----------------------------------------------------------------- */

/* Half of the pages came, and then there was none; somebody may use some of them already. */
static void half_of(const char *command, const char *undo, unsigned int nth, bool mapped)
{
	const unsigned int pages = 16;
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, pages);

	file = look_at_newest();
	if (mapped) {
		bo.cpu = map_more(&bo, pages);
		*word(bo.cpu, 0) = 55;
	}
	inject_fail("shmem_read_mapping_page_gfp", nth, ENOMEM);
	rule("a user of the whole BO for whom a page is missing gets ENOMEM");
	check_errno(tell(file, "%s", command), ENOMEM, command);
	inject_clear();
	rule("a use that fails is no use: nobody holds its pages");
	if (mapped) {
		check_equal((int64_t)*word(bo.cpu, 0), 55, "a page of a VMA");
		rule("a use that fails disturbs nobody: the pages of a VMA stay");
		check_at_least(look(file, "held"), 1, "pages that are held for a VMA");
		rule("a use that fails is no use: nobody holds its pages");
		munmap(bo.cpu, bo.size);
	}
	check_present(file, 0, "after a failure, with no user left");
	check_equal(look(file, "pins"), 0, "pins");
	rule("after a failure the next call works");
	told(file, command);
	check_present(file, pages, "after a call that worked");
	told(file, undo);
	check_present(file, 0, "after the last use");
	close(file);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(fd);
	check_nothing_left();
}

static void no_mapping(int file)
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
	check_present(file, 0, "after a vmap that failed");
	rule("after a failure the next call works");
	told(file, "vmap");
	told(file, "vunmap");
	check_present(file, 0, "after the last use");
}

static uint32_t account(int topic, enum topic_op op)
{
	struct topic_call call = { .op = op };

	if (ioctl(topic, TOPIC_CALL, &call) || call.result)
		fail_msg(TOPIC_FILE ": %s", strerror(call.result ? -call.result : errno));
	return call.value;
}

/* Tables fail, again and again; the injection module counts the memory that stays. */
static void no_table(int file)
{
	int topic = open(TOPIC_FILE, O_RDWR | O_CLOEXEC);

	if (topic < 0)
		fail_msg(TOPIC_FILE ": %s", strerror(errno));
	told(file, "pin");
	account(topic, TOPIC_ACCOUNT);
	inject_fail("sg_alloc_table_from_pages_segment", 0, ENOMEM);
	rule("without memory for its entries get_sg_table gives ENOMEM");
	for (unsigned int i = 0; i < TABLES; i++)
		if (tell(file, "table 4096") != ENOMEM && inject_hits("sg_alloc_table_from_pages_segment"))
			check_errno(tell(file, "table 4096"), ENOMEM, "get_sg_table");
	inject_clear();
	rule("a table that could not be made is freed");
	if (account(topic, TOPIC_KEPT) >= TABLES)
		broken("no memory that stays", "%u pieces are left of %u tables",
		       account(topic, TOPIC_KEPT), TABLES);
	told(file, "unpin");
	close(topic);
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
	fd = shmem_open();
	bo = make_bo(fd, 16);
	file = look_at_newest();
	no_mapping(file);
	no_table(file);
	close(file);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(fd);
	check_nothing_left();
}
