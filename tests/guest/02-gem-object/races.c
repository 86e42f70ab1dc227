// SPDX-License-Identifier: MIT
/*
 * Lab 02: a handle is public from the moment it exists.
 *
 * A gate holds CREATE_BO where another thread can get in its way; that thread knows
 * the number that it waits for, because a file's first handle is 1.
 */
#include "gem.h"

#include <stdio.h>
#include <unistd.h>

#define FIRST		1u
#define FIND		"agate_vm_find"
#define PUT		"agate_mapping_put"
#define HIDDEN		"agate_mappings_hidden"
/* Sizes that no other test uses: a BO is known by its size while it has no name. */
#define EARLY_PAGES	81
#define OTHER_PAGES	91
#define GUESSED_PAGES	141
#define INTERFERENCES	8u	/* which of three calls come */
#define FREE_ROUNDS	400u
#define GUESSES		4u

static uint64_t gpu_start(int fd)
{
	struct drm_agate_get_param arg = { .param = DRM_AGATE_PARAM_VA_START };

	check_errno(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg), 0, "GET_PARAM");
	return arg.value;
}

/* Start a CREATE_BO that is held when its handle exists. */
void hold_creation(struct creation *creation, int fd, uint64_t size, uint32_t flags)
{
	inject_hold_return(CREATE_HANDLE, 1, INJECT_BOUND_MS);
	start_creation(creation, fd, size, flags);
	if (aside_is_held(&creation->aside, CREATE_HANDLE))
		return;
	aside_join(&creation->aside);
	rule("CREATE_BO makes a BO and returns 0");
	check_errno(creation->err, 0, "CREATE_BO");
	broken("one drm_gem_handle_create() in CREATE_BO", "none");
}

/* CREATE_BO has published the handle and has not returned: what is it good for? */
void test_complete(void **state)
{
	struct drm_agate_madvise advice = { .handle = FIRST, .madv = AGATE_MADV_DONTNEED };
	struct creation creation;
	int fd = gem_open(), err, advised;
	struct look look;
	uint64_t va;

	(void)state;
	look.size = 3 * PAGE;
	hold_creation(&creation, fd, look.size, AGATE_BO_NOEXEC | AGATE_BO_GPU_READONLY);
	err = get_offset(fd, FIRST, &va);
	advised = guest_ioctl(fd, DRM_IOCTL_AGATE_MADVISE, &advice);
	start_look(&look, look.size);
	/* It has to wait for a CREATE_BO that holds gem.lock all the time: no mistake. */
	aside_ends(&look.aside, ASLEEP_MS);
	let_go(CREATE_HANDLE);
	aside_join(&look.aside);
	aside_join(&creation.aside);
	inject_clear();

	rule("CREATE_BO makes a BO and returns 0");
	check_errno(creation.err, 0, "CREATE_BO");
	rule("the handle is published last: a thread that guesses its number finds a complete BO");
	check_errno(err, 0, "GET_BO_OFFSET of a handle that has just appeared");
	check_equal((int64_t)va, (int64_t)creation.bo.va, "the offset it gives");
	check_true(look.found, "the BO in debugfs' list", "no such BO there");
	check_equal(look.bo.handles, 1, "its handles");
	if (strcmp(look.bo.flags, "noexec,gpu_readonly"))
		broken("flags \"noexec,gpu_readonly\"", "flags \"%s\"", look.bo.flags);
	rule("CREATE_BO sets no field of a BO any more once its handle exists");
	check_errno(advised, 0, "MADVISE of a handle that has just appeared");
	look = look_for(look.size);
	if (strcmp(look.bo.madv, "dontneed"))
		broken("madv=dontneed, as MADVISE had set it", "madv=%s", look.bo.madv);
	close(fd);
}

void check_label_of_a_guess(int fd)
{
	struct creation creation;
	struct look look;
	int err;

	hold_creation(&creation, fd, GUESSED_PAGES * PAGE, 0);
	err = set_label(fd, FIRST, "guessed", 7);
	let_go(CREATE_HANDLE);
	aside_join(&creation.aside);
	inject_clear();
	look = look_for(GUESSED_PAGES * PAGE);
	rule("CREATE_BO sets no field of a BO any more once its handle exists");
	check_errno(creation.err, 0, "CREATE_BO");
	check_errno(err, 0, "SET_LABEL of a handle that has just appeared");
	if (strcmp(look.bo.label, "guessed"))
		broken("label \"guessed\", as SET_LABEL had set it", "label \"%s\"", look.bo.label);
}

/* ---- Closed before CREATE_BO returns -------------------------------------- */

/*
 * A BO as another thread sees it while CREATE_BO is held; not @seen when CREATE_BO keeps
 * gem.lock.
 */
struct glimpse {
	struct look look;
	bool seen;
	long bos;
};

static void begin_glimpse(struct glimpse *glimpse, uint64_t size)
{
	start_look(&glimpse->look, size);
	glimpse->seen = aside_ends(&glimpse->look.aside, ASLEEP_MS);
	glimpse->bos = live_now().bos;
}

/* Listed with a reference; or at least it has not been freed, which counts it down. */
static void check_alive(struct glimpse *glimpse, const struct live *before, const char *when)
{
	const struct look *look = &glimpse->look;

	aside_join(&glimpse->look.aside);
	rule("whoever publishes a handle keeps a reference of its own until it is done");
	if (glimpse->seen && (look->found ? !look->bo.refs : glimpse->bos <= before->bos))
		broken("a BO with a reference while CREATE_BO uses it", "%s, %s",
		       look->found ? "a BO without one" : "no BO", when);
}

/* CREATE_BO may answer so for a BO whose handle was closed meanwhile. */
static void check_answer(const struct creation *creation, uint64_t start)
{
	rule("CREATE_BO whose handle is closed meanwhile gives EINVAL or ENOENT, or the address that it had");
	if (!creation->err)
		check_at_least((int64_t)creation->bo.va, (int64_t)start, "the offset");
	else if (creation->err != ENOENT)
		check_errno(creation->err, EINVAL, "CREATE_BO");
}

/* Freed, or, by a driver that frees nothing yet, without a reference. */
static void check_gone(uint64_t size)
{
	struct look look = look_for(size);

	rule("a BO that is closed before CREATE_BO returns leaves nothing");
	if (look.found)
		check_equal(look.bo.refs, 0, "references of a BO that nobody can name any more");
}

static void check_counts(const struct live *before)
{
	struct live now = live_now();

	rule("a BO that is closed before CREATE_BO returns leaves nothing");
	check_equal(now.handles, before->handles, "handles that are counted");
	check_equal(now.va_nodes, before->va_nodes, "address ranges");
}

/*
 * Close the handle of a CREATE_BO that is held; false when the driver makes GEM_CLOSE wait
 * for CREATE_BO, which then comes to its end.
 */
static bool close_held(struct creation *creation, struct closing *closing)
{
	const struct bo first = { .fd = creation->fd, .handle = FIRST };
	bool closed;

	start_closing(closing, &first);
	closed = aside_ends(&closing->aside, ASLEEP_MS);
	if (!closed) {
		note("GEM_CLOSE waits for CREATE_BO");
		let_go(CREATE_HANDLE);
		aside_join(&creation->aside);
		inject_clear();
	}
	aside_join(&closing->aside);
	if (closed && closing->err) {
		inject_clear();
		aside_join(&creation->aside);
	}
	rule("a handle can be closed as soon as it exists");
	check_errno(closing->err, 0, "GEM_CLOSE");
	return closed;
}

/* The handle is closed before CREATE_BO asks for the BO's address. */
static void close_early(int fd, uint64_t size)
{
	struct live before = live_now();
	struct glimpse closed, asked;
	struct creation creation;
	struct closing closing;
	bool asks;

	hold_creation(&creation, fd, size, 0);
	if (!close_held(&creation, &closing))
		return;
	inject_hold_entry(FIND, 1, INJECT_BOUND_MS);
	begin_glimpse(&closed, size);
	let_go(CREATE_HANDLE);
	asks = aside_is_held(&creation.aside, FIND);
	if (asks) {
		begin_glimpse(&asked, size);
		let_go(FIND);
	}
	aside_join(&creation.aside);
	inject_clear();

	check_alive(&closed, &before, "when its handle has just been closed");
	if (asks)
		check_alive(&asked, &before, "when CREATE_BO asks for its address");
	check_answer(&creation, gpu_start(fd));
	rule("one call makes one handle at most: CREATE_BO does not make a second one");
	check_true(!handle_exists(fd, FIRST), "no handle when the one of CREATE_BO was closed",
		   "CREATE_BO has made another one");
	check_gone(size);
	check_counts(&before);
}

/*
 * The number is another BO's when CREATE_BO finds that its BO was closed.  That BO has
 * another address: it is larger than the gap in front of @next.
 */
static void number_taken(int fd)
{
	struct creation creation, other, next;
	struct closing closing;
	uint64_t offset = 0, had = 0;
	int err;

	hold_creation(&creation, fd, (EARLY_PAGES + 1) * PAGE, 0);
	err = get_offset(fd, FIRST, &had);
	start_creation(&next, fd, PAGE, 0);
	aside_ends(&next.aside, ASLEEP_MS);
	if (!close_held(&creation, &closing)) {
		aside_join(&next.aside);
		return;
	}
	start_creation(&other, fd, OTHER_PAGES * PAGE, 0);
	/* It has to wait for a CREATE_BO that holds gem.lock all the time. */
	if (!aside_ends(&other.aside, ASLEEP_MS))
		note("CREATE_BO holds a lock while it publishes the handle");
	let_go(CREATE_HANDLE);
	aside_join(&creation.aside);
	aside_join(&other.aside);
	aside_join(&next.aside);
	inject_clear();

	rule("a thread that guesses a handle's number finds a complete BO");
	check_errno(err, 0, "GET_BO_OFFSET of a handle that has just appeared");
	rule("CREATE_BO makes a BO and returns 0");
	check_errno(next.err, 0, "CREATE_BO");
	check_errno(other.err, 0, "CREATE_BO");
	check_equal(other.bo.handle, FIRST, "the handle of the BO after it");
	check_answer(&creation, gpu_start(fd));
	rule("CREATE_BO answers with the address of its own BO, not of one that got its number");
	if (!creation.err)
		check_equal((int64_t)creation.bo.va, (int64_t)had, "the offset");
	rule("CREATE_BO never closes a number: by then it may be another BO's");
	err = get_offset(fd, FIRST, &offset);
	check_errno(err, 0, "GET_BO_OFFSET of the BO that got the number");
	check_equal((int64_t)offset, (int64_t)other.bo.va, "the offset it gives");
	check_errno(guest_close_handle(fd, FIRST), 0, "GEM_CLOSE");
	check_gone((EARLY_PAGES + 1) * PAGE);
}

static void run_hide(void *unused)
{
	FILE *file = fopen("/sys/kernel/debug/agate_hide", "re");

	(void)unused;
	if (file) {
		fgetc(file);
		fclose(file);
	}
}

/*
 * Another thread has mappings_lock, and has emptied bo->vm_bos for a moment, when
 * CREATE_BO asks for the address: a CREATE_BO that does not wait for the lock finds none.
 */
static void mappings_hidden(int fd)
{
	struct aside hiding;
	struct creation creation;
	uint64_t offset = 0;
	int err;

	inject_load();
	hold_creation(&creation, fd, (EARLY_PAGES + 2) * PAGE, 0);
	inject_hold_entry(HIDDEN, 1, INJECT_BOUND_MS);
	aside_start(&hiding, run_hide, NULL);
	/* It has to wait for a CREATE_BO that holds gem.lock all the time: no mistake. */
	aside_ends(&hiding, ASLEEP_MS);
	if (inject_await_held(HIDDEN, 0)) {
		let_go(CREATE_HANDLE);
		aside_ends(&creation.aside, ASLEEP_MS);
		let_go(HIDDEN);
	} else {
		note("CREATE_BO holds a lock while it publishes the handle");
		inject_clear();
	}
	aside_join(&hiding);
	aside_join(&creation.aside);
	inject_clear();
	err = get_offset(fd, FIRST, &offset);

	rule("bo->vm_bos is read under mappings_lock: CREATE_BO waits for whoever has it");
	check_errno(creation.err, 0, "CREATE_BO while another thread has mappings_lock");
	check_errno(err, 0, "GET_BO_OFFSET");
	check_equal((int64_t)creation.bo.va, (int64_t)offset, "the offset");
	check_errno(guest_close_handle(fd, FIRST), 0, "GEM_CLOSE");
}

void test_closed_early(void **state)
{
	int fd = gem_open();

	(void)state;
	close_early(fd, EARLY_PAGES * PAGE);
	number_taken(fd);
	mappings_hidden(fd);
	close(fd);
}

/* ---- For the debug kernel: KASAN judges ------------------------------------ */

struct guesser {
	struct aside aside;
	int fd;
	atomic_bool stop;
	/* What went wrong first; read when the thread has ended. */
	const char *call;
	int err;
};

static void allow(struct guesser *guesser, const char *call, int err, int allowed)
{
	if (err && err != allowed && !guesser->call) {
		guesser->call = call;
		guesser->err = err;
	}
}

/* Use a number that may be a handle; which of the calls come is up to @which. */
static void guess(struct guesser *guesser, uint32_t handle, unsigned int which)
{
	int fd = guesser->fd;
	uint64_t offset;

	if (which & 1)
		allow(guesser, "GET_BO_OFFSET", get_offset(fd, handle, &offset), ENOENT);
	if (which & 2)
		allow(guesser, "SET_LABEL", set_label(fd, handle, "guess", 5), ENOENT);
	if (which & 4)
		allow(guesser, "GEM_CLOSE", guest_close_handle(fd, handle), EINVAL);
}

struct interference {
	struct aside aside;
	struct guesser *guesser;
	unsigned int which;
};

static void run_interference(void *arg)
{
	struct interference *i = arg;

	guess(i->guesser, FIRST, i->which);
}

/* Each kind of interference, in a window that a gate holds open. */
static void race_in_windows(struct guesser *guesser)
{
	struct interference other = { .guesser = guesser };
	struct creation creation;

	for (other.which = 0; other.which < INTERFERENCES; other.which++) {
		hold_creation(&creation, guesser->fd, PAGE, 0);
		aside_start(&other.aside, run_interference, &other);
		aside_ends(&other.aside, ASLEEP_MS);
		let_go(CREATE_HANDLE);
		aside_join(&creation.aside);
		aside_join(&other.aside);
		inject_clear();
		rule("CREATE_BO survives every use and every close of its handle before it returns");
		if (other.which & 4) {
			check_answer(&creation, gpu_start(guesser->fd));
		} else {
			check_errno(creation.err, 0, "CREATE_BO");
			check_errno(guest_close_handle(guesser->fd, FIRST), 0, "GEM_CLOSE");
		}
	}
}

/* The handle is closed when CREATE_BO has put the mapping: the range goes at once. */
static void race_behind_put(struct guesser *guesser)
{
	struct interference other = { .guesser = guesser, .which = 4 };
	struct creation creation;

	inject_within("agate_gem_create_ioctl");
	inject_hold_return(PUT, 1, INJECT_BOUND_MS);
	start_creation(&creation, guesser->fd, PAGE, 0);
	if (aside_is_held(&creation.aside, PUT)) {
		aside_start(&other.aside, run_interference, &other);
		aside_ends(&other.aside, ASLEEP_MS);
		let_go(PUT);
		aside_join(&other.aside);
	}
	aside_join(&creation.aside);
	inject_clear();
	guest_close_handle(guesser->fd, FIRST);
	rule("CREATE_BO survives every use and every close of its handle before it returns");
	check_answer(&creation, gpu_start(guesser->fd));
}

static void run_guesses(void *arg)
{
	struct guesser *guesser = arg;

	for (unsigned int i = 0; !atomic_load(&guesser->stop); i++)
		guess(guesser, 1 + i % GUESSES, 7);
}

/* And whatever happens when nobody holds anybody. */
static void race_freely(struct guesser *guesser, struct guesser *creator)
{
	struct bo bo;
	int err;

	both_processors();
	aside_start(&guesser->aside, run_guesses, guesser);
	for (unsigned int i = 0; i < FREE_ROUNDS; i++) {
		err = gem_create(creator->fd, PAGE, 0, &bo);
		if (!err)
			allow(creator, "GEM_CLOSE", guest_close_handle(bo.fd, bo.handle), EINVAL);
		else if (err != ENOENT)
			allow(creator, "CREATE_BO", err, EINVAL);
	}
	atomic_store(&guesser->stop, true);
	aside_join(&guesser->aside);
}

void test_race(void **state)
{
	struct guesser guesser = { .fd = gem_open() }, creator = { .fd = guesser.fd };
	struct live before = live_now();

	(void)state;
	race_in_windows(&guesser);
	race_behind_put(&guesser);
	race_freely(&guesser, &creator);
	rule("a call whose BO another thread closes succeeds, or says that there is none");
	if (guesser.call)
		check_errno(guesser.err, 0, guesser.call);
	if (creator.call)
		check_errno(creator.err, 0, creator.call);
	rule("CREATE_BO survives every use and every close of its handle before it returns");
	check_live(&before);
	close(creator.fd);
}
