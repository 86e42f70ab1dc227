// SPDX-License-Identifier: MIT
/* Lab 04, step 2: the count of users, also where they come and go at the same time. */
#include "shmem.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

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
	check_maps(u->file);
}

/* A VMA, and what a thread does with it. */
struct counted {
	struct aside aside;
	const struct bo *bo;
	void *vma;
	bool ok;
};

static void run_mmap(void *arg)
{
	struct counted *counted = arg;

	counted->vma = map_more(counted->bo, 2);
}

static void run_munmap(void *arg)
{
	struct counted *counted = arg;

	munmap(counted->vma, 2 * PAGE);
}

static void run_copy(void *arg)
{
	struct counted *counted = arg;

	counted->ok = can_copy(word(counted->vma, 1));
}

/* A pin has the lock, and a VMA's user gets a signal while it waits for that. */
static void signalled(bool goes)
{
	struct command pin = { .text = "pin" };
	struct counted vma = { .ok = true };
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, 6);

	vma.bo = &bo;
	pin.file = look_at_newest();
	file = look_at_newest();
	run_mmap(&vma);
	inject_hold_entry(INJECT_READS, 3, INJECT_BOUND_MS);
	aside_start(&pin.aside, run_command, &pin);
	if (aside_is_held(&pin.aside, INJECT_READS)) {
		aside_start(&vma.aside, goes ? run_munmap : run_copy, &vma);
		aside_signal(&vma.aside);
		aside_grace(&vma.aside);
		let_go(INJECT_READS);
		aside_join(&vma.aside);
	} else if (goes) {
		run_munmap(&vma);
	}
	aside_join(&pin.aside);
	inject_clear();
	rule("pin makes the whole BO present, and keeps it");
	check_errno(pin.err, 0, "pin");
	told(pin.file, "unpin");
	rule("no operation ends early because of a signal: it waits for backing.lock");
	check_true(vma.ok, "a page for a touch that got a signal while it waited for the lock",
		   "SIGBUS");
	if (!goes)
		run_munmap(&vma);
	check_present(file, 0, goes ? "after an unpin, and a munmap() that got a signal while it waited" :
				      "after the last use");
	close(pin.file);
	done_with(fd, file, &bo);
}

/*
 * A user of the whole BO waits for the lock in its own function; the frame's part of the same
 * call has had the lock before, and has just given it back.
 */
static void signalled_whole(const char *text, const char *outer, const char *undo)
{
	struct command user = { .text = text };
	struct counted touch = { 0 };
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, 6);
	bool held = false;
	char what[80];

	touch.bo = &bo;
	user.file = look_at_newest();
	file = look_at_newest();
	run_mmap(&touch);
	inject_hold_entry(INJECT_READS, 1, INJECT_BOUND_MS);
	inject_within(outer);
	inject_hold_return("mutex_unlock", 1, INJECT_BOUND_MS);
	aside_start(&user.aside, run_command, &user);
	if (aside_is_held(&user.aside, "mutex_unlock")) {
		aside_start(&touch.aside, run_copy, &touch);
		held = aside_is_held(&touch.aside, INJECT_READS);
		let_go("mutex_unlock");
		aside_signal(&user.aside);
		aside_grace(&user.aside);
		if (held)
			let_go(INJECT_READS);
		aside_join(&touch.aside);
	}
	aside_join(&user.aside);
	inject_clear();
	rule("no operation ends early because of a signal: it waits for backing.lock");
	snprintf(what, sizeof(what), "a %s that got a signal while it waited for the lock", text);
	check_errno(user.err, 0, what);
	told(user.file, undo);
	run_munmap(&touch);
	close(user.file);
	done_with(fd, file, &bo);
}

/* A pin takes pages, and has the lock; a VMA comes or goes just then. */
static void counted_locked(bool comes)
{
	struct command pin = { .text = "pin" };
	struct counted vma = { 0 };
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, 6);
	bool held, done = false, locked = false;

	vma.bo = &bo;
	pin.file = look_at_newest();
	file = look_at_newest();
	if (!comes)
		run_mmap(&vma);
	inject_hold_entry(INJECT_READS, 3, INJECT_BOUND_MS);
	aside_start(&pin.aside, run_command, &pin);
	held = aside_is_held(&pin.aside, INJECT_READS);
	if (held) {
		aside_start(&vma.aside, comes ? run_mmap : run_munmap, &vma);
		aside_grace(&vma.aside);
		done = atomic_load(&vma.aside.done);
		locked = tell(file, "free") == EBUSY;
		let_go(INJECT_READS);
		aside_join(&vma.aside);
	}
	aside_join(&pin.aside);
	inject_clear();
	rule("users are counted under backing.lock: a VMA that comes or goes waits for it");
	if (locked)
		check_true(!done, comes ? "an mmap() that waits" : "a munmap() that waits",
			   "one that did not, while a pin had the lock");
	rule("pin makes the whole BO present, and keeps it");
	check_errno(pin.err, 0, "pin");
	check_present(file, 6, "after a pin, and a VMA that came or went meanwhile");
	told(pin.file, "unpin");
	/* It came, or there was no moment for it to go. */
	if (comes == held)
		run_munmap(&vma);
	rule("with the last use all pages go back to the file");
	check_present(file, 0, "after the last use");
	close(pin.file);
	done_with(fd, file, &bo);
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
	done_with(fd, u.file, &u.bo);
	counted_locked(true);
	counted_locked(false);
	signalled(false);
	signalled(true);
	signalled_whole("pin", "agate_backing_pin", "unpin");
	signalled_whole("vmap", "agate_backing_vmap", "vunmap");
}
