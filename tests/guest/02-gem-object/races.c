// SPDX-License-Identifier: MIT
/*
 * Lab 02: a handle is public from the moment it exists.
 *
 * Delays, put behind kernel functions of this process alone, hold a call where
 * another thread can get in its way; that thread knows the number it waits for,
 * because a file's first handle is 1.
 */
#include "gem.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST		1u

struct creator {
	int fd;
	uint64_t size;
	uint32_t flags;
	struct bo bo;
	int err;
	atomic_bool done;
};

static void *create_thread(void *arg)
{
	struct creator *creator = arg;

	creator->err = guest_create(creator->fd, creator->size, creator->flags, &creator->bo);
	atomic_store(&creator->done, true);
	return NULL;
}

/* Wait until the handle exists; false when the creator was through first. */
static bool in_the_window(struct creator *creator)
{
	while (!atomic_load(&creator->done))
		if (handle_exists(creator->fd, FIRST))
			return !atomic_load(&creator->done);
	return false;
}

/* What another thread saw of a BO whose CREATE_BO had not returned. */
struct seen {
	int err;
	uint64_t va;
	bool is_listed;
	struct listed bo;
};

/* False when the creator was through before all had been seen. */
static bool look_inside(struct creator *creator, unsigned int us, struct seen *seen)
{
	pthread_t thread;
	bool inside;

	inject_delay_return("drm_gem_handle_create", 1, us);
	start_aside(&thread, create_thread, creator);
	inside = in_the_window(creator);
	seen->err = get_offset(creator->fd, FIRST, &seen->va);
	seen->is_listed = find_listed(creator->fd, seen->va, &seen->bo);
	inside = inside && !atomic_load(&creator->done);
	pthread_join(thread, NULL);
	inject_clear();
	return inside;
}

/* CREATE_BO has published the handle and has not returned: what is it good for? */
void test_complete(void **state)
{
	struct creator creator;
	struct seen seen = { 0 };
	bool inside = false;

	(void)state;
	for (unsigned int i = 0; i < ATTEMPTS && !inside; i++) {
		creator = (struct creator){
			.fd = gem_open(), .size = 3 * PAGE,
			.flags = AGATE_BO_NOEXEC | AGATE_BO_GPU_READONLY,
		};
		inside = look_inside(&creator, WINDOW_US << i, &seen);
		close(creator.fd);
		rule("CREATE_BO makes a BO and returns 0");
		check_errno(creator.err, 0, "CREATE_BO");
	}

	rule("the handle is published last: who guesses its number finds a BO that is complete");
	check_true(inside, "the handle in use before CREATE_BO returns",
		   "no handle until then: the test could not look");
	check_errno(seen.err, 0, "GET_BO_OFFSET of a handle that has just appeared");
	check_equal((int64_t)seen.va, (int64_t)creator.bo.va, "the offset it gives");
	check_true(seen.is_listed, "the BO in debugfs' list", "no such BO there");
	check_equal((int64_t)seen.bo.size, 3 * PAGE, "its size");
	if (strcmp(seen.bo.flags, "noexec,gpu_readonly"))
		broken("flags \"noexec,gpu_readonly\"", "flags \"%s\"", seen.bo.flags);
}

enum early { TOO_LATE, CLOSED, CLOSED_AND_SEEN, NEVER_ASKS };

/*
 * Close the handle as soon as it exists, and count BOs while CREATE_BO is held where it
 * asks for the address of this one.  What was counted late in that time says nothing:
 * CREATE_BO may have come to its end without having told us yet.
 */
static enum early close_early(struct creator *creator, unsigned int us, struct live *during)
{
	bool asked = false, never;
	int err = ENOENT;
	pthread_t thread;
	int64_t late;

	inject_delay_return("drm_gem_handle_create", 1, us);
	inject_delay_entry("agate_vm_find", 1, us);
	start_aside(&thread, create_thread, creator);
	while (err && !atomic_load(&creator->done))
		err = guest_close_handle(creator->fd, FIRST);
	while (!asked && !atomic_load(&creator->done))
		asked = inject_hits("agate_vm_find");
	late = guest_deadline(0) + us * 500ll;
	*during = live_now();
	asked = asked && !atomic_load(&creator->done) && guest_deadline(0) < late;
	pthread_join(thread, NULL);
	never = !inject_hits("agate_vm_find");
	inject_clear();
	if (err)
		return TOO_LATE;
	if (never)
		return NEVER_ASKS;
	return asked ? CLOSED_AND_SEEN : CLOSED;
}

/*
 * The handle is closed before CREATE_BO asks for the BO's address: only the
 * caller's own reference keeps the BO.
 */
void test_closed_early(void **state)
{
	enum early early = TOO_LATE;

	(void)state;
	for (unsigned int i = 0; i < ATTEMPTS && early <= CLOSED; i++) {
		struct creator creator = { .fd = gem_open(), .size = PAGE };
		struct live before = live_now(), during;

		early = close_early(&creator, WINDOW_US << i, &during);
		rule("CREATE_BO makes a BO and returns 0");
		if (early == TOO_LATE)
			check_errno(creator.err, 0, "CREATE_BO");
		rule("who publishes a handle keeps a reference of its own until it is done");
		if (early == CLOSED_AND_SEEN)
			check_equal(during.bos, before.bos + 1,
				    "BOs alive while CREATE_BO uses one that was closed already");
		rule("CREATE_BO of a handle that is closed already succeeds, or gives EINVAL");
		if (creator.err && creator.err != EINVAL && creator.err != ENOENT)
			check_errno(creator.err, EINVAL, "CREATE_BO");
		rule("a BO that is closed before CREATE_BO returns leaves nothing");
		if (early != TOO_LATE)
			check_live(&before);
		close(creator.fd);
	}
}

/* ---- The list ---------------------------------------------------------- */

static void *read_thread(void *arg)
{
	atomic_bool *done = arg;
	char path[64], text[512];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%d/bos", guest_minor());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, text, sizeof(text)) > 0)
		;
	close(fd);
	atomic_store(done, true);
	return NULL;
}

struct closer {
	struct bo bo;
	unsigned int hits;
	int err;
};

/* What the reader has come to when the call returns. */
static void *close_thread(void *arg)
{
	struct closer *closer = arg;

	closer->err = guest_close_handle(closer->bo.fd, closer->bo.handle);
	closer->hits = inject_hits("agate_gem_get_label");
	return NULL;
}

struct walk {
	struct closer closer;
	unsigned int all;	/* BOs that the walk comes to */
	unsigned int hits;	/* those it had come to when CREATE_BO returned */
};

/*
 * debugfs walks the list under gem.lock, and is held at the first BO.  A BO that
 * comes or goes has to wait until the walk is over: then it has come to them all.
 * False when it was over before the others began.
 */
static bool change_while_walked(struct walk *walk, int other, unsigned int us)
{
	atomic_bool done = false;
	pthread_t reader, closing;
	bool in_time;

	inject_delay_entry("agate_gem_get_label", 1, us);
	start_aside(&reader, read_thread, &done);
	while (!inject_hits("agate_gem_get_label") && !atomic_load(&done))
		;
	in_time = inject_hits("agate_gem_get_label") < walk->all;
	start_here(&closing, close_thread, &walk->closer);
	make_bo(other, PAGE, 0);
	walk->hits = inject_hits("agate_gem_get_label");
	pthread_join(closing, NULL);
	pthread_join(reader, NULL);
	inject_clear();
	return in_time;
}

void test_list_lock(void **state)
{
	int fd = gem_open(), other = guest_open();
	bool in_time = false;
	struct walk walk;

	(void)state;
	for (unsigned int i = 1; i < ATTEMPTS && !in_time; i++) {
		rule("CREATE_BO makes a BO and returns 0");
		make_bo(fd, PAGE, 0);
		walk = (struct walk){ .closer = { .bo = make_bo(fd, PAGE, 0) } };
		walk.all = (unsigned int)live_now().bos;
		in_time = change_while_walked(&walk, other, WINDOW_US << i);

		rule("gem.lock protects the list: no BO on it is freed while somebody walks it");
		check_errno(walk.closer.err, 0, "GEM_CLOSE");
		check_at_least(walk.closer.hits, walk.all,
			       "BOs that debugfs had come to when GEM_CLOSE returned");
		rule("gem.lock protects the list: no BO joins it while somebody walks it");
		check_at_least(walk.hits, walk.all,
			       "BOs that debugfs had come to when CREATE_BO returned");
	}
	close(other);
	close(fd);
}

/* ---- For the debug kernel ----------------------------------------------- */

/*
 * Nothing goes wrong here; lockdep sees in which order locks are taken, and knows
 * what could.
 */
void test_locks(void **state)
{
	int fd = gem_open();
	struct live before = live_now();
	atomic_bool done = false;
	struct bo bo, mapped;
	pthread_t reader;

	(void)state;
	rule("locks are taken in the order that kernel/agate_device.h states");
	bo = make_bo(fd, 2 * PAGE, 0);
	check_errno(set_label(fd, bo.handle, "locks", 5), 0, "SET_LABEL");
	mapped = guest_bo(fd, PAGE, 0);
	memset(mapped.cpu, 1, PAGE);
	start_here(&reader, read_thread, &done);
	pthread_join(reader, NULL);
	check_errno(guest_close_handle(fd, mapped.handle), 0, "GEM_CLOSE");
	munmap(mapped.cpu, mapped.size);
	check_errno(set_label(fd, bo.handle, "again", 5), 0, "SET_LABEL");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	check_live(&before);
	close(fd);
}
